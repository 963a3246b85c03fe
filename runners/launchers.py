"""Launchers: how one trainer becomes a process per device. Each builds words around the trainer's and nothing else."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from runners import slots
from runners.argv import Late, Word, word
from runners.case import Case, environment_variables
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
    filling = slots.filling(recipe, case.slots, data)
    arguments = [each for text in recipe.launcher.arguments for each in slots.words(filling, text)]
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
    logs = [*_literal("--log_dir"), (Late("ranks"),), *_literal("--redirects", others)] if others else []
    # Without --no_python it would take the trainer for a Python file, and a module or a program is none.
    return [
        *_literal("torchrun"),
        *_torch_job(start),
        *logs,
        *start.arguments,
        *_literal("--no_python"),
        *start.trainer,
    ]


def _torch_distributed_launch(start: Start) -> list[Word]:
    """What torchrun was before PyTorch 1.9; it adds `--local_rank=N` to the trainer, and all ranks print together."""
    head = [*_literal(start.recipe.setup.python, "-m", "torch.distributed.launch"), *_torch_job(start)]
    return [*head, *start.arguments, *_literal("--no_python"), *start.trainer]


def _torch_job(start: Start) -> list[Word]:
    """Underscores: spelled with dashes they are unknown before PyTorch 2.0."""
    return [
        *_literal("--nnodes", str(start.case.nodes), "--nproc_per_node", str(start.case.devices_per_node)),
        *[word("--node_rank"), (Late("node_rank"),)],
        *[word("--master_addr"), (Late("master_address"),), word("--master_port"), (Late("master_port"),)],
    ]


def _paddle(start: Start) -> list[Word]:
    """`--ips` and `--gpus` are understood by Paddle 2.0 to 3.x; the first worker of a node prints here too."""
    gpus = ",".join(map(str, range(start.case.devices_per_node)))
    head = _literal(start.recipe.setup.python, "-m", "paddle.distributed.launch", "--gpus", gpus)
    places = [word("--ips"), (Late("hosts"),), word("--log_dir"), (Late("ranks"),)]
    return [*head, *places, *start.arguments, *_python_file(start)]


def _oneflow(start: Start) -> list[Word]:
    head = _literal(start.recipe.setup.python, "-m", "oneflow.distributed.launch")
    return [*head, *_torch_job(start), *start.arguments, *_python_file(start)]


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
    """It hands on a few variables only, so that `env` sets them where the rank is."""
    case = start.case
    hosts = [*_literal("--hostfile"), (Late("hostfile"),), *_literal("--num_nodes", str(case.nodes))]
    place = [word("--master_addr"), (Late("master_address"),), word("--master_port"), (Late("master_port"),)]
    head = [word("deepspeed"), *(hosts if case.nodes > 1 else []), *_literal("--num_gpus", str(case.devices_per_node))]
    variables: list[Word] = [(f"{name}=", *value) for name, value in start.variables.items()]
    return [*head, *place, *start.arguments, *_literal("--no_python", "env"), *variables, *start.trainer]


def _python_file(start: Start) -> list[Word]:
    """The trainer without its interpreter, for a launcher that starts Python files only."""
    first, *rest = start.trainer
    rest = rest[1:] if rest[:1] == [word("-u")] else rest
    if not str(first[0]).startswith("python") or not rest or str(rest[0][0]).startswith("-"):
        raise RunnerError(
            f"recipe {start.recipe.name}: `launcher.name` is {start.recipe.launcher.name!r}, which starts Python files "
            "only; let `command` begin with python and the file"
        )
    return rest


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
