"""Launchers: how one trainer becomes a process per device. Each builds words around the trainer's and nothing else."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from runners import slots
from runners.argv import Late, Word, word
from runners.case import Case, environment_variables, filling
from runners.errors import RunnerError
from runners.recipe import Recipe


@dataclass(frozen=True)
class Start:
    """What is to be started: the trainer's words, the launcher's further arguments, and the variables set for both."""

    recipe: Recipe
    case: Case
    trainer: Sequence[Word]
    arguments: Sequence[Word]
    variables: Mapping[str, Word]


@dataclass(frozen=True)
class Launcher:
    """`every_node`: it is started on each node, and not on the first alone to start the others by itself."""

    build: Callable[[Start], list[Word]]
    every_node: bool


def launched(recipe: Recipe, case: Case, words: Sequence[Word], data: str = "") -> list[Word]:
    """The trainer's words under the recipe's launcher; as they are for one device, unless the launcher is `always`.

    Raises RunnerError where the launcher cannot start such a trainer, and where a slot has no value.
    """
    filled = filling(recipe, case, data)
    arguments = [each for text in recipe.launcher.arguments for each in slots.words(filled, text)]
    start = Start(recipe, case, words, arguments, environment_variables(recipe, case, data))
    return LAUNCHERS[_name(recipe, case)].build(start)


def on_every_node(recipe: Recipe, case: Case) -> bool:
    """Whether each node starts its own part; otherwise the first one starts the ranks of all."""
    return LAUNCHERS[_name(recipe, case)].every_node


def _name(recipe: Recipe, case: Case) -> str:
    return recipe.launcher.name if case.devices > 1 or recipe.launcher.always else "plain"


def _plain(start: Start) -> list[Word]:
    return list(start.trainer)


def _torchrun(start: Start) -> list[Word]:
    """The first rank of a node prints as without a launcher; what the others print goes to a file each."""
    others = ",".join(f"{rank}:3" for rank in range(1, start.case.devices_per_node))
    logs = [word("--log_dir"), (Late("ranks"),), *_literal("--redirects", others)] if others else []
    # Without --no_python it would take the trainer for a Python file, and a module or a program is none.
    return [word("torchrun"), *_ranks(start), *logs, *start.arguments, word("--no_python"), *start.trainer]


def _torch_distributed_launch(start: Start) -> list[Word]:
    """What torchrun was before PyTorch 1.9; it adds `--local_rank=N` to the trainer, and all ranks print together."""
    head = _literal(start.recipe.setup.python, "-m", "torch.distributed.launch")
    return [*head, *_ranks(start), *start.arguments, *_python(start, "--module")]


def _oneflow(start: Start) -> list[Word]:
    """Its own logs bear the names of host and user, and none is asked for; all ranks print together."""
    head = _literal(start.recipe.setup.python, "-m", "oneflow.distributed.launch")
    return [*head, *_ranks(start), *start.arguments, *_python(start, "--module")]


def _ranks(start: Start) -> list[Word]:
    """Underscores: with dashes these are unknown before PyTorch 2.0, and to OneFlow."""
    size = _literal("--nnodes", str(start.case.nodes), "--nproc_per_node", str(start.case.devices_per_node))
    return [*size, word("--node_rank"), (Late("node_rank"),), *_meeting_point()]


def _paddle(start: Start) -> list[Word]:
    """`--ips`, `--gpus` and `--log_dir` are known to Paddle 2.0 to 2.6; the first worker of a node prints here too.

    A node finds its rank by its own address among `--ips`, and from 2.3 takes itself for the first where it does not:
    `POD_IP` tells it. Without GPUs `--gpus` ends in an error, and `--nproc_per_node` counts the workers.
    """
    per_node = start.case.devices_per_node
    gpus, count = ("--gpus", ",".join(map(str, range(per_node)))), ("--nproc_per_node", str(per_node))
    alone = start.case.nodes == 1
    me: list[Word] = [] if alone else [word("env"), ("POD_IP=", Late("address"))]
    all_nodes: list[Word] = [] if alone else [word("--ips"), (Late("addresses"),)]
    workers = _literal(*(gpus if start.recipe.device == "gpu" else count), "--log_dir")
    head = [*me, *_literal(start.recipe.setup.python, "-m", "paddle.distributed.launch"), *all_nodes, *workers]
    # A folder of its own, of which a node keeps nothing but the logs: see `host/outcome.sh`.
    return [*head, (Late("ranks"), "/paddle"), *start.arguments, *_python(start)]


def _mpirun(start: Start) -> list[Word]:
    """Open MPI. `--allow-run-as-root` changes nothing for others; `--tag-output` says of each line whose it is."""
    head = _literal("mpirun", "--allow-run-as-root", "--tag-output", "-np", str(start.case.devices), "-H")
    variables = [each for name in start.variables for each in _literal("-x", name)]
    return [*head, (Late("host_slots"),), *variables, *start.arguments, *start.trainer]


def _horovodrun(start: Start) -> list[Word]:
    """It hands on the variables by itself, and tags lines with their rank."""
    head = _literal("horovodrun", "-np", str(start.case.devices), "-H")
    return [*head, (Late("host_slots"),), *start.arguments, *start.trainer]


def _deepspeed(start: Start) -> list[Word]:
    """It adds `--local_rank=N` to the trainer."""
    nodes, per_node = str(start.case.nodes), str(start.case.devices_per_node)
    hosts: list[Word] = [word("--hostfile"), (Late("hostfile"),), *_literal("--num_nodes", nodes)]
    if start.case.nodes > 1:
        _check_remote_shell(start)
    head = [word("deepspeed"), *(hosts if start.case.nodes > 1 else []), *_literal("--num_gpus", per_node)]
    return [*head, *_meeting_point(), *start.arguments, *_python(start, "--module")]


def _check_remote_shell(start: Start) -> None:
    """Refuses what DeepSpeed would change on its way to other nodes: it puts words before a shell there unquoted.

    Source: `PDSHRunner` and `EXPORT_ENVS` of `deepspeed/launcher`, 0.9.5.
    """
    for name, value in start.variables.items():
        if not name.startswith(("NCCL", "PYTHON", "MV2", "UCX", "MLFLOW")) or not _harmless(value):
            raise _fault(
                start, f"does not hand on the variable {name} as it is; set it on the hosts, in ~/.deepspeed_env"
            )
    for each in start.trainer:
        if any("'" in part for part in each if isinstance(part, str)) or (_is_option(each) and not _harmless(each)):
            raise _fault(start, f"does not hand on {each[0]!r} as it is; let the trainer read it from a file")


def _harmless(each: Word) -> bool:
    return all(isinstance(part, Late) or re.fullmatch(r"[A-Za-z0-9_@%+=:,./-]*", part) for part in each)


def _python(start: Start, module: str = "") -> list[Word]:
    """The trainer for a launcher that puts the interpreter in front by itself; `module` is its option for `-m`."""
    first, *rest = start.trainer
    rest = rest[1:] if rest[:1] == [word("-u")] else rest
    if re.match(r"(.*/)?python[0-9.]*$", str(first[0])) and rest:
        if not _is_option(rest[0]):
            return rest
        if module and rest[0] == word("-m"):
            return [word(module), *rest[1:]]
    raise _fault(start, f"starts Python files{' and modules' if module else ''} only; let `command` begin with python")


def _is_option(each: Word) -> bool:
    return isinstance(each[0], str) and each[0].startswith("-")


def _fault(start: Start, why: str) -> RunnerError:
    return RunnerError(f"recipe {start.recipe.name}: `launcher.name` is {start.recipe.launcher.name!r}, which {why}")


def _meeting_point() -> list[Word]:
    return [word("--master_addr"), (Late("master_address"),), word("--master_port"), (Late("master_port"),)]


def _literal(*texts: str) -> list[Word]:
    return [word(text) for text in texts]


LAUNCHERS: Mapping[str, Launcher] = {
    "plain": Launcher(_plain, every_node=True),
    "torchrun": Launcher(_torchrun, every_node=True),
    "torch.distributed.launch": Launcher(_torch_distributed_launch, every_node=True),
    "paddle": Launcher(_paddle, every_node=True),
    "oneflow": Launcher(_oneflow, every_node=True),
    "mpirun": Launcher(_mpirun, every_node=False),
    "horovodrun": Launcher(_horovodrun, every_node=False),
    "deepspeed": Launcher(_deepspeed, every_node=False),
}
