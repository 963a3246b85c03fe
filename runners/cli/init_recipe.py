"""`init-recipe`: drafts a recipe from a command that works, with a question for each fact that it does not state."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import click
from msgspec import Struct

from perfledger import as_called
from perfledger.runners import ingest_link
from perfledger.runners.batch import COMPLETED
from perfledger.runners.job import RunnerError, Scalar
from perfledger.runners.recipes import secret_fault
from perfledger.schema.figures import RunFigure
from perfledger.schema.vocabulary import PRECISIONS

#: Launchers by the words that start them.
_LAUNCHERS: Mapping[str, str] = {
    "torchrun": "torchrun",
    "python -m torch.distributed.run": "torchrun",
    "python -m torch.distributed.launch": "torch.distributed.launch",
    "python -m paddle.distributed.launch": "paddle",
    "python -m oneflow.distributed.launch": "oneflow",
    "deepspeed": "deepspeed",
    "horovodrun": "horovodrun",
    "mpirun": "mpirun",
}
#: Names of options by the slot that their number becomes; names come from trainers of our formats, the clearest first.
_SLOTS: Mapping[str, str] = {
    "batch_size": "per_device_train_batch_size micro_batch_size batch_size train_batch_size batch bs b",
    "global_batch_size": "global_batch_size total_batch_size",
    "iterations": "max_steps max_train_steps num_steps steps max_iters train_iters iters iterations",
    "sequence_length": "sequence_length seq_length seq_len max_seq_len max_seq_length block_size",
}
#: Names of options of launchers, and of trainers that start their own processes.
_PER_NODE = "nproc_per_node num_gpus gpus devices num_processes"
_OF_JOB = "np n"
_NODES = "nnodes num_nodes h host"
_OF_PRECISION = "precision mixed_precision dtype torch_dtype amp_dtype"
_OF_DEVICE = "device device_type accelerator"
#: Precisions by the words that trainers have for them.
_PRECISIONS: Mapping[str, str] = {
    **{name: name for name in PRECISIONS},
    "float32": "fp32",
    "float16": "fp16",
    "bfloat16": "bf16",
}
_VARIABLE = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)=(.*)", re.DOTALL)
_ASSIGNED = re.compile(r"([-+]{0,2}[\w.-]+=)(.*)", re.DOTALL)
_PYTHON = re.compile(r"(?:.*/)?python[0-9.]*")


@click.command("init-recipe", context_settings={"allow_interspersed_args": False})
@click.argument("command", nargs=-1, required=True, metavar="-- COMMAND...")
@click.option(
    "--log", metavar="FILE", type=click.Path(exists=True, dir_okay=False, path_type=Path), help="A log of it."
)
@click.option("--to", metavar="FILE", type=click.Path(path_type=Path), help="The recipe.  [default: by the script]")
def init_recipe(command: tuple[str, ...], log: Path | None, to: Path | None) -> int:
    """Draft a recipe from a command that works.

    Example: init-recipe --log train.log -- torchrun --nproc_per_node 8 train.py --batch 32. Facts that the command does
    not state are left blank, with a question; a log answers some of them. Nothing is run, and no file is replaced.
    """
    facts = read(command)
    path = to or Path(f"{facts.name}.toml")
    if path.suffix != ".toml":
        raise RunnerError(f"--to {path}: the name of a recipe ends in .toml")
    drafted = [
        DraftLine("", None, "Drafted by init-recipe; lines with a ? want an answer."),
        *lines(facts, figure_of(log) if log else None, path.parent),
    ]
    try:
        with path.open("x", encoding="utf-8") as stream:
            stream.writelines(f"{each.text()}\n" for each in drafted)
    except OSError as error:
        raise RunnerError(f"{path}: {error.strerror}; give --to another file") from None
    for number, each in enumerate(drafted, start=1):
        if each.is_question:
            print(f"{path}:{number}: {each.remark}")
    print(as_called(f"next: python -m runners run {shlex.quote(str(path))} --smoke"))
    return COMPLETED


class CommandOption(Struct, frozen=True):
    """An option of a command: its plain name, its value, and the word that contains the value, after `before`."""

    name: str
    value: str
    word: int
    before: str = ""


class CommandFacts(Struct, frozen=True):
    """The facts that a command states: 0 or an empty text for each that it does not state.

    `words` are those of the trainer, with slots for the `numbers`. `options` are those of its launcher.
    """

    words: Sequence[str]
    variables: Mapping[str, str]
    numbers: Mapping[str, int]
    shape: str
    precision: str
    device: str
    launcher: str
    options: Sequence[str]

    @property
    def start(self) -> Path:
        """The file that the trainer starts, or the package of its module; it need not exist here."""
        words = [each for each in self.words if not _PYTHON.fullmatch(each)]
        if "-m" in words[:-1]:
            package = Path(words[words.index("-m") + 1].partition(".")[0])
            return package if package.is_dir() else package.with_suffix(".py")
        return Path(next((each for each in words if each.endswith((".py", ".sh"))), next(iter(words), "mine")))

    @property
    def sent(self) -> list[Path]:
        """The files or the folder that a host needs of it, if they lie below the present folder."""
        if self.start.is_absolute() or ".." in self.start.parts or not self.start.exists():
            return []
        if self.start.parent == Path() and self.start.suffix == ".py":
            # Its modules are in the present folder, too, with other things.
            return sorted(Path().glob("*.py"))
        return [self.start.parent if self.start.is_file() and self.start.parent != Path() else self.start]

    @property
    def name(self) -> str:
        """A name for the recipe, like that of the file or package."""
        return re.sub(r"[^a-z0-9]+", "-", self.start.stem.lower()).strip("-") or "mine"


def read(command: Sequence[str]) -> CommandFacts:
    """Return what a command states.

    Raises:
        RunnerError: it has no trainer.
    """
    words, variables = list(command), dict[str, str]()
    while words and (words[0] == "env" or _VARIABLE.fullmatch(words[0])):
        if assigned := _VARIABLE.fullmatch(words.pop(0)):
            variables[assigned[1]] = assigned[2]
    plain = " ".join(["python" if _PYTHON.fullmatch(each) else Path(each).name for each in words[:1]] + words[1:])
    start = next((each for each in _LAUNCHERS if f"{plain} ".startswith(f"{each} ")), "")
    words = words[len(start.split()) :]
    begin = next((at for at, word in enumerate(words) if _starts_trainer(word)), len(words)) if start else 0
    own, trainer = words[:begin], words[begin:]
    if not trainer:
        raise RunnerError("init-recipe: give the command that works after --, as in -- python train.py --batch 32")
    if start and not _PYTHON.fullmatch(trainer[0]):
        trainer = ["python", *(["-m", *trainer[1:]] if trainer[0] in ("-m", "--module") else trainer)]
    stated, taken = list(options(trainer)), list(options(own if start else trainer))
    per_node, of_job = _found(taken, _PER_NODE), _found(taken, _OF_JOB) if start else None
    nodes = _found(taken, _NODES) if start else None
    several = _count(nodes) or 1
    devices = _count(per_node) or _count(of_job) // several or (0 if start else 1)
    slots = {slot: found for slot, names in _SLOTS.items() if (found := _found(stated, names))}
    if "batch_size" in slots:
        slots.pop("global_batch_size", None)
    if per_node and per_node.value.isdecimal() and not start:
        slots["devices_per_node"] = per_node
    return CommandFacts(
        words=_with_slots(trainer, slots),
        variables=variables,
        numbers={slot: _count(each) for slot, each in slots.items()},
        shape=f"{several}n{devices}d" if devices else "",
        precision=_precision(stated, trainer),
        device=_device(stated),
        launcher=_LAUNCHERS.get(start, "plain"),
        options=own,
    )


def options(words: Sequence[str]) -> Iterator[CommandOption]:
    """Yield the options of a command that have a value: `--name value`, `--name=value`, and `name=value`."""
    for at, word in enumerate(words):
        if assigned := _ASSIGNED.fullmatch(word):
            yield CommandOption(_plain(assigned[1]), assigned[2], at, assigned[1])
        elif word.startswith("-") and at + 1 < len(words) and not words[at + 1].startswith("-"):
            yield CommandOption(_plain(word), words[at + 1], at + 1)


def _plain(name: str) -> str:
    return name.strip("-+=").rpartition(".")[2].replace("-", "_").lower()


def _starts_trainer(word: str) -> bool:
    return word.endswith(".py") or word in ("-m", "--module") or bool(_PYTHON.fullmatch(word))


def _found(stated: Sequence[CommandOption], names: str) -> CommandOption | None:
    """Return the option with the first of the names whose value is a number."""
    return next((each for name in names.split() for each in stated if each.name == name and _count(each)), None)


def _count(option: CommandOption | None) -> int:
    """Return the number that an option states, or the number of entries of `0,1,2`; 0 for words such as `auto`."""
    value = option.value if option else ""
    return len(value.split(",")) if "," in value else int(value) if value.isdecimal() else 0


def _with_slots(words: Sequence[str], slots: Mapping[str, CommandOption]) -> list[str]:
    found = [each.replace("{", "{{").replace("}", "}}") for each in words]
    for slot, option in slots.items():
        found[option.word] = f"{option.before}{{{slot}}}"
    return found


def _precision(stated: Sequence[CommandOption], words: Sequence[str]) -> str:
    """Return the precision that options state, as in `--dtype bfloat16` and `--bf16`; empty if none does."""
    values = [each.value for each in stated if each.name in _OF_PRECISION.split()]
    flags = [_plain(each) for each in words if each.startswith("--") and each not in {f"--{o.name}" for o in stated}]
    return next((_PRECISIONS[each] for each in (*values, *flags) if each in _PRECISIONS), "")


def _device(stated: Sequence[CommandOption]) -> str:
    values = {each.value.partition(":")[0] for each in stated if each.name in _OF_DEVICE.split()}
    return "cpu" if "cpu" in values else "gpu" if values & {"cuda", "gpu"} else ""


class DraftLine(Struct, frozen=True):
    """A line of a recipe: a key with its value and a remark, or the head of a table, which has no value."""

    key: str = ""
    value: Scalar | Sequence[Scalar] | None = None
    remark: str = ""
    is_question: bool = False

    def text(self) -> str:
        """Return the line as TOML."""
        left = self.key if self.value is None else f"{self.key} = {_toml(self.value)}"
        return f"{left}  # {'? ' if self.is_question else ''}{self.remark}".lstrip() if self.remark else left


def _toml(value: Scalar | Sequence[Scalar]) -> str:
    return json.dumps(value, ensure_ascii=False)


def _known(
    key: str, value: Scalar | Sequence[Scalar], question: str, blank: Scalar | Sequence[Scalar] = ""
) -> DraftLine:
    """Return the line of a key; if its value is unknown, a blank that no recipe may have, and a question."""
    return DraftLine(key, value) if value else DraftLine(key, blank, question, is_question=True)


def lines(facts: CommandFacts, log: RunFigure | None, folder: Path) -> Iterator[DraftLine]:
    """Yield the lines of a recipe.

    Args:
        facts: of the command.
        log: the figure of a log that the command printed, if one was named.
        folder: that of the recipe's file; paths of files begin there.
    """
    yield DraftLine(
        "suite", facts.name, "the page of its results, and the folder of its logs; recipes of one model share it"
    )
    yield _known("model", (log.model if log else "") or "", "which model does it train, as readers know it?")
    yield _known("framework", "", "which framework, such as PyTorch?")
    device = facts.device or ("gpu" if any(map(shutil.which, ("nvidia-smi", "amd-smi", "npu-smi"))) else "cpu")
    yield DraftLine("device", device, "" if facts.device else "a guess, by the programs of this machine: cpu or gpu")
    steps = "how many steps does it take? Put {iterations} into the command"
    yield _known("iterations", facts.numbers.get("iterations", 0), steps, 0)
    yield DraftLine("command", facts.words)
    if facts.launcher != "plain":
        yield from (DraftLine(), DraftLine("[launcher]"), DraftLine("name", facts.launcher))
        if facts.options:
            yield DraftLine("arguments", (), f"add what it needs of: {shlex.join(facts.options)}")
    yield from (DraftLine(), DraftLine("[records]"), *_record_lines(log))
    yield from (DraftLine(), DraftLine("[matrix]"), *_matrix_lines(facts))
    if length := facts.numbers.get("sequence_length"):
        yield from (DraftLine(), DraftLine("[options]"), DraftLine("sequence_length", length))
    yield from _variable_lines(facts.variables)
    if facts.sent:
        what = "it runs in a folder with these alone: add what else it reads"
        yield from (DraftLine(), DraftLine("[files]", None, what))
        yield from (DraftLine(_toml(str(each)), os.path.relpath(each, folder)) for each in facts.sent)


def _record_lines(log: RunFigure | None) -> Iterator[DraftLine]:
    if log is None:
        yield DraftLine(
            "format", "", "which format does its log have? init-recipe --log FILE finds out", is_question=True
        )
        yield DraftLine("at_least", 10, "records that the log of a run must have")
        return
    yield DraftLine("format", log.format or "")
    yield DraftLine("at_least", max(log.records // 2, 1), f"half of the {log.records} records of the log")
    if log.value is None:
        yield DraftLine("", None, f"of the log, python -m ingest says: {log.reason}", is_question=True)


def _matrix_lines(facts: CommandFacts) -> Iterator[DraftLine]:
    nodes, devices = map(int, re.findall(r"\d+", facts.shape)) if facts.shape else (1, 1)
    batch_size = facts.numbers.get("batch_size") or facts.numbers.get("global_batch_size", 0) // (nodes * devices)
    question = "how many samples per device and step? Put {batch_size} into the command"
    yield _known("shape", facts.shape, "how many nodes, and devices of each node, such as 1n8d?")
    yield _known("batch_size", [batch_size] if batch_size else [], question, [0])
    yield _known("precision", facts.precision, f"which of {', '.join(PRECISIONS)}?")


def _variable_lines(variables: Mapping[str, str]) -> Iterator[DraftLine]:
    """Yield the variables of a command, without secrets and those that choose devices, which the runner sets."""
    shown = {name: value for name, value in variables.items() if not name.endswith("_VISIBLE_DEVICES")}
    yield from (DraftLine(), DraftLine("[environment_variables]")) if shown else ()
    for name, value in shown.items():
        is_secret = bool(secret_fault(name, value))
        yield (
            DraftLine("", None, f"run it with --secret {name}", is_question=True)
            if is_secret
            else DraftLine(name, value)
        )


def figure_of(log: Path) -> RunFigure:
    """Return the figure of a log.

    Raises:
        RunnerError: no format reads it.
    """
    found = next((each for each in ingest_link.ask_ingest(log.absolute()).runs if each.format), None)
    if found is None:
        remedy = f"python -m ingest new-format NAME {shlex.quote(str(log))} drafts a format"
        raise RunnerError(f"--log {log}: no format reads it; {remedy}")
    return found
