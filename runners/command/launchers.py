"""Launchers: how one trainer becomes a process per device. Each builds words around the trainer's and nothing else."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from runners.cases import slots
from runners.cases.case import Case, environment_variables, filling
from runners.cases.recipe import Recipe
from runners.command.argv import Late, Word, literal, word
from runners.command.trainer import Start, check_remote_shell, python_part


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
    return LAUNCHERS[used(recipe, case)].build(start)


def on_every_node(recipe: Recipe, case: Case) -> bool:
    """Whether each node starts its own part; otherwise the first one starts the ranks of all."""
    return LAUNCHERS[used(recipe, case)].every_node


def used(recipe: Recipe, case: Case) -> str:
    """The launcher of a case: the recipe's, or `plain` for one device that needs none."""
    return recipe.launcher.name if case.devices > 1 or recipe.launcher.always else "plain"


def _plain(start: Start) -> list[Word]:
    return list(start.trainer)


def _torchrun(start: Start) -> list[Word]:
    """The first rank of a node prints as without a launcher; what the others print goes to a file each."""
    others = ",".join(f"{rank}:3" for rank in range(1, start.case.devices_per_node))
    logs = [word("--log_dir"), (Late("ranks"),), *literal("--redirects", others)] if others else []
    # Without --no_python it would take the trainer for a Python file, and a module or a program is none.
    return [word("torchrun"), *_ranks(start), *logs, *start.arguments, word("--no_python"), *start.trainer]


def _torch_distributed_launch(start: Start) -> list[Word]:
    """What torchrun was before PyTorch 1.9; it adds `--local_rank=N` to the trainer, and all ranks print together."""
    head = literal(start.recipe.setup.python, "-m", "torch.distributed.launch")
    return [*head, *_ranks(start), *start.arguments, *python_part(start, "--module")]


def _oneflow(start: Start) -> list[Word]:
    """Its own logs bear the names of host and user, and none is asked for; all ranks print together."""
    head = literal(start.recipe.setup.python, "-m", "oneflow.distributed.launch")
    return [*head, *_ranks(start), *start.arguments, *python_part(start, "--module")]


def _ranks(start: Start) -> list[Word]:
    """Underscores: with dashes these are unknown before PyTorch 2.0, and to OneFlow."""
    size = literal("--nnodes", str(start.case.nodes), "--nproc_per_node", str(start.case.devices_per_node))
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
    workers = literal(*(gpus if start.recipe.device == "gpu" else count), "--log_dir")
    head = [*me, *literal(start.recipe.setup.python, "-m", "paddle.distributed.launch"), *all_nodes, *workers]
    # A folder of its own, of which a node keeps nothing but the logs: see `host/outcome.sh`.
    return [*head, (Late("ranks"), "/paddle"), *start.arguments, *python_part(start)]


def _mpirun(start: Start) -> list[Word]:
    """Open MPI. `--allow-run-as-root` changes nothing for others; `--tag-output` says of each line whose it is."""
    head = literal("mpirun", "--allow-run-as-root", "--tag-output", "-np", str(start.case.devices), "-H")
    variables = [each for name in start.variables for each in literal("-x", name)]
    return [*head, (Late("host_slots"),), *variables, *start.arguments, *start.trainer]


def _horovodrun(start: Start) -> list[Word]:
    """It hands on the variables by itself, and tags lines with their rank."""
    head = literal("horovodrun", "-np", str(start.case.devices), "-H")
    return [*head, (Late("host_slots"),), *start.arguments, *start.trainer]


def _deepspeed(start: Start) -> list[Word]:
    """It adds `--local_rank=N` to the trainer."""
    nodes, per_node = str(start.case.nodes), str(start.case.devices_per_node)
    hosts: list[Word] = [word("--hostfile"), (Late("hostfile"),), *literal("--num_nodes", nodes)]
    if start.case.nodes > 1:
        check_remote_shell(start)
    head = [word("deepspeed"), *(hosts if start.case.nodes > 1 else []), *literal("--num_gpus", per_node)]
    return [*head, *_meeting_point(), *start.arguments, *python_part(start, "--module")]


def _meeting_point() -> list[Word]:
    return [word("--master_addr"), (Late("master_address"),), word("--master_port"), (Late("master_port"),)]


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
