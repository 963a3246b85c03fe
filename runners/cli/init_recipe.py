"""`init-recipe`: drafts a recipe from a command that works, with a question for each fact that it does not state."""

from __future__ import annotations

import json
import re
import shlex
import shutil
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import click

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
    "iterations": "max_steps max_train_steps num_steps steps max_iters train_iters iters iterations",
    "sequence_length": "sequence_length seq_length seq_len max_seq_len max_seq_length block_size",
}
#: Names of options of launchers, and of trainers that start their own processes.
_PER_NODE = "nproc_per_node num_gpus gpus devices num_processes"
_NODES = "nnodes num_nodes"
_VARIABLE = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)=(.*)", re.DOTALL)
_ASSIGNED = re.compile(r"([-+]{0,2}[\w.-]+=)(.*)", re.DOTALL)
_PYTHON = re.compile(r"(?:.*/)?python[0-9.]*")
#: Begins the remark of a line that wants an answer.
_QUESTION = "# ? "


@click.command("init-recipe", context_settings={"allow_interspersed_args": False})
@click.argument("command", nargs=-1, required=True, metavar="-- COMMAND...")
@click.option(
    "--log", metavar="FILE", type=click.Path(exists=True, dir_okay=False, path_type=Path), help="A log of it."
)
def init_recipe(command: tuple[str, ...], log: Path | None) -> int:
    """Draft a recipe from a command that works, named like its script.

    Example: init-recipe --log train.log -- torchrun --nproc_per_node 8 train.py --batch 32. Facts that the command does
    not state are left blank, with a question; a log answers some of them. Nothing is run, and no file is replaced.
    """
    facts = read(command)
    path = Path(f"{facts.name}.toml")
    drafted = [*lines(facts, figure_of(log) if log else None)]
    try:
        with path.open("x", encoding="utf-8") as stream:
            stream.writelines(f"{line}\n" for line in drafted)
    except OSError as error:
        raise RunnerError(f"{path}: {error.strerror}; rename that file") from None
    for number, line in enumerate(drafted, start=1):
        if question := line.partition(_QUESTION)[2]:
            print(f"{path}:{number}: {question}")
    print(as_called(f"next: python -m runners run {path} --smoke"))
    return COMPLETED


class CommandOption(NamedTuple):
    """An option of a command: its plain name, its value, and the word that contains the value, after `before`."""

    name: str
    value: str
    word: int
    before: str = ""


class CommandFacts(NamedTuple):
    """The facts that a command states: 0 or an empty text for each that it does not state.

    `words` are those of the trainer, with slots for the `numbers`. `options` are those of its launcher.
    """

    words: Sequence[str]
    variables: Mapping[str, str]
    numbers: Mapping[str, int]
    shape: str
    launcher: str
    options: Sequence[str]

    @property
    def start(self) -> Path:
        """The file that the trainer starts; it need not exist here."""
        words = [each for each in self.words if not _PYTHON.fullmatch(each)]
        if "-m" in words[:-1]:
            return Path(words[words.index("-m") + 1].replace(".", "/") + ".py")
        return Path(next((each for each in words if each.endswith((".py", ".sh"))), next(iter(words), "mine")))

    @property
    def sent(self) -> list[Path]:
        """The files or the folder that a host needs of it, if they lie below the present folder."""
        if self.start.is_absolute() or ".." in self.start.parts or not self.start.exists():
            return []
        if self.start.parent != Path():
            return [self.start.parent]
        # Its modules are in the present folder, too, with other things.
        return sorted(Path().glob("*.py")) if self.start.suffix == ".py" else [self.start]

    @property
    def name(self) -> str:
        """A name for the recipe, like that of the file."""
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
    stated = list(options(trainer))
    slots = {slot: found for slot, names in _SLOTS.items() if (found := _number(stated, names))}
    taken = list(options(own)) if start else stated
    nodes = (_count(_number(taken, _NODES)) if start else 0) or 1
    devices = _count(_number(taken, _PER_NODE)) or (0 if start else 1)
    if (processes := _number(stated, _PER_NODE)) and processes.value.isdecimal() and not start:
        slots["devices_per_node"] = processes
    return CommandFacts(
        words=_with_slots(trainer, slots),
        variables=variables,
        numbers={slot: _count(each) for slot, each in slots.items()},
        shape=f"{nodes}n{devices}d" if devices else "",
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


def _number(stated: Sequence[CommandOption], names: str) -> CommandOption | None:
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


def _line(key: str, value: Scalar | Sequence[Scalar], remark: str = "") -> str:
    return f"{key} = {json.dumps(value, ensure_ascii=False)}" + (f"  # {remark}" if remark else "")


def _known(key: str, value: Scalar | Sequence[Scalar], question: str, blank: Scalar | Sequence[Scalar] = "") -> str:
    """Return the line of a key; if its value is unknown, a blank that no recipe may have, and a question."""
    return _line(key, value) if value else f"{_line(key, blank)}  {_QUESTION}{question}"


def lines(facts: CommandFacts, log: RunFigure | None) -> Iterator[str]:
    """Yield the lines of a recipe; `log` is the figure of a log that the command printed, if one was named."""
    numbers = facts.numbers
    yield "# Drafted by init-recipe; a line with a question wants an answer."
    yield _line(
        "suite", facts.name, "the page of its results, and the folder of its logs; recipes of one model share it"
    )
    yield _known("model", (log.model if log else "") or "", "which model does it train, as readers know it?")
    yield _known("framework", "", "which framework, such as PyTorch?")
    device = "gpu" if any(map(shutil.which, ("nvidia-smi", "amd-smi", "npu-smi"))) else "cpu"
    yield _line("device", device, "a guess, by the programs of this machine: cpu or gpu")
    steps = "how many steps does it take? Put {iterations} into the command"
    yield _known("iterations", numbers.get("iterations", 0), steps, 0)
    yield _line("command", facts.words)
    if facts.launcher != "plain":
        yield from ("", "[launcher]", _line("name", facts.launcher))
        if facts.options:
            yield _line("arguments", (), f"add what it needs of: {shlex.join(facts.options)}")
    yield from ("", "[records]")
    which = "which format does its log have? init-recipe --log FILE finds out"
    yield _known("format", (log.format if log else "") or "", which)
    yield _line("at_least", max(log.records // 2, 1) if log else 10, "records that the log of a run must have")
    if log and log.value is None:
        yield f"{_QUESTION}of the log, python -m ingest says: {log.reason}"
    yield from ("", "[matrix]")
    yield _known("shape", facts.shape, "how many nodes, and devices of each node, such as 1n8d?")
    samples = "how many samples per device and step? Put {batch_size} into the command"
    yield _known("batch_size", [numbers["batch_size"]] if "batch_size" in numbers else [], samples, [0])
    yield _known("precision", "", f"which of {', '.join(PRECISIONS)}?")
    if length := numbers.get("sequence_length"):
        yield from ("", "[options]", _line("sequence_length", length))
    # Without those that choose devices, which the runner sets.
    variables = {name: text for name, text in facts.variables.items() if not name.endswith("_VISIBLE_DEVICES")}
    yield from ("", "[environment_variables]") if variables else ()
    for name, text in variables.items():
        yield f"{_QUESTION}run it with --secret {name}" if secret_fault(name, text) else _line(name, text)
    if facts.sent:
        yield from ("", "[files]  # it runs in a folder with these alone: add what else it reads")
        yield from (_line(json.dumps(str(each)), str(each)) for each in facts.sent)


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
