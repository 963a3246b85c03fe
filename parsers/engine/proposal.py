"""Propose templates for a log that no format reads: its lines that repeat with changing numbers."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path

from perfledger.parsers.contract.template import CLOCK, UNITS
from perfledger.parsers.engine.scan import Noise, chunks

#: Bytes of a log that are searched for lines.
_HEAD = 8 << 20
#: Fewest lines of a proposal; they differ only in their numbers.
_FEWEST_LINES = 3
#: Share of the lines between which the step grows by the usual amount.
_MOSTLY = 0.7
#: Lines that are longer are not proposed: dumps of a configuration or of a table.
_LONGEST_LINE = 1000
#: The name of a number that is not quoted.
SKIPPED = "_"
#: The name of a date and time.
_CLOCK_NAME = "clock"
#: Columns whose units a template converts.
_WITH_UNIT = frozenset({"step_seconds", "reader_seconds", "duration", "seconds", "memory"})
#: Columns that give the speed of a record.
TIMED = frozenset({"throughput", "step_seconds", "steps_per_second", "duration", "elapsed"})
#: Sample lines of a proposal.
_SHOWN = 3
#: A clock, a length of time such as `1:02:03`, or a number that is not a part of a word.
_NUMBER = re.compile(
    rb"(?P<clock>(?<![\w:])%s(?![\w:]))|(?P<length>(?<![\w:])[0-9]++(?::[0-9]{2}){1,2}(?![\w:]))"
    rb"|(?<![A-Za-z0-9_])[-+]?(?:[0-9]++(?:,[0-9]{3})*+(?:\.[0-9]++)?(?:[eE][-+]?[0-9]++)?|nan|inf)(?![0-9A-Za-z_]*[0-9])"
    % CLOCK
)
_WORD = re.compile(r"[A-Za-z][A-Za-z0-9_./]*")
#: Pattern of the word before a number, by column.
_BY_LABEL = {
    "epoch": r"epochs?|ep",
    "step": r"(?:global_|train_)?steps?|iter(?:ation)?s?|it|batch|update",
    "loss": r"(?:train(?:ing)?_|total_)?loss|lm_loss",
    "accuracy": r"acc(?:uracy)?|top-?1",
    "throughput": r"ips|tps|wps|throughput|speed|\w*_per_s(?:ec(?:ond)?)?|tok(?:en)?s?/s(?:ec)?|\w+/s(?:ec)?",
    "step_seconds": r"time|dt|\w*step_time|time_per_\w+|batch_(?:time|cost)|\w+_ms|\w+_seconds|sec",
    "reader_seconds": r"data(?:_time)?|reader_cost|data_load\w*",
    "memory": r"\w*mem(?:ory)?\w*",
    "flops": r"tflops?(?:/s)?",
}
#: Pattern of the unit after a number, by column.
_BY_UNIT = {
    "steps_per_second": r"(?:it|iter|step|batch|update)(?:s|es)?/s(?:ec)?\b",
    "throughput": r"[a-z]*(?:/|_per_| per )s(?:ec(?:ond)?)?\b",
    "step_seconds": r"(?:m?s|sec)/(?:it|iter|iteration|step|batch|update)\b|(?:ms|us|s|sec|seconds)\b(?!/)",
    "memory": r"[GMK]i?B\b",
    "flops": r"TFLOPs?\b",
}
#: A pattern without a match.
_NEVER = r"(?!)"
#: Units that no template converts: such a number is not proposed as seconds or MiB.
_OTHER_UNIT = re.compile(r" ?(?:min|minutes?|h|hrs?|hours?|days?|[GMK])\b|[A-Za-z]")
#: A unit in the label before a number, such as `took_ms:` or `time (ms):`.
_UNIT_OF_LABEL = re.compile(r"[_( ](ms|us|[MG]i?B)[)\"']*+ ?[:=] ?$")
#: The letter of a shortened number, such as `107K`.
_SHORTENED = re.compile(r"[KMBT](?![A-Za-z])")
#: The unit of a speed by the word after it.
_SPEED_UNITS = {
    "tokens/s": r"\btok",
    "images/s": r"\bim(?:a)?g",
    "sequences/s": r"\bseq",
    "words/s": r"\bword",
    "samples/s": r"",
}


@dataclass(frozen=True)
class Number:
    """A number of a line.

    Attributes:
        before: text before it.
        after: text after it.
        printed: its printed values in some lines.
        name: the likely column, or `_`.
    """

    before: str
    after: str
    printed: tuple[str, ...]
    name: str

    @property
    def changes(self) -> bool:
        """Return whether lines print different numbers."""
        return len(set(self.printed)) > 1


@dataclass(frozen=True)
class Proposal:
    """Lines that differ only in their numbers, and these numbers."""

    lines: int
    samples: tuple[str, ...]
    numbers: tuple[Number, ...]

    @property
    def unit(self) -> str:
        """Return the unit of the printed speed, or `samples/s`."""
        after = " ".join(f"{each.before[-20:]} {each.after[:12]}" for each in self.numbers if each.name == "throughput")
        return next(unit for unit, word in _SPEED_UNITS.items() if re.search(word, after))

    def template(self, names: Sequence[str]) -> str:
        """Return the template of the lines, with a name per number; numbers called `_` are not quoted.

        It begins with the last text of letters before the first name, and ends with the unit after the last.
        """
        named = [at for at, name in enumerate(names) if name != SKIPPED]
        written = _beginning(self.numbers, named[0]) if named else ""
        for at in range(named[0] if named else 0, named[-1] + 1 if named else 0):
            written += _slot(names[at], self.numbers[at])
            text = self.numbers[at].after
            written += _literal(text, names[at]) if at < named[-1] else _end(names[at], text)
        return written


def proposals(path: Path) -> list[Proposal]:
    """Return proposals for the lines that a log may print per step, the likeliest first.

    Raises:
        ScanError: the log cannot be read.
    """
    groups: dict[tuple[str, ...], list[bytes]] = defaultdict(list)
    for line in _lines(path):
        if (found := list(_NUMBER.finditer(line))) and len(line) <= _LONGEST_LINE:
            groups[_texts(line, found)].append(line)
    found_groups = ((texts, lines) for texts, lines in groups.items() if len(lines) >= _FEWEST_LINES)
    made = [_proposal(texts, lines) for texts, lines in found_groups]
    return sorted((each for each in made if any(one.changes for one in each.numbers)), key=_likelihood, reverse=True)


def _lines(path: Path) -> Iterable[bytes]:
    size = 0
    for chunk in chunks(path, Noise()):
        yield from re.split(rb"[\r\n]+", chunk.text)
        size += chunk.bytes
        if size >= _HEAD:
            return


def _texts(line: bytes, numbers: Sequence[re.Match[bytes]]) -> tuple[str, ...]:
    """Return the text between the numbers: a single blank next to a number, since padding changes, else one or two."""
    edges = [0, *(at for each in numbers for at in each.span()), len(line)]
    parts = (line[begin:end].decode("utf-8", "replace") for begin, end in zip(edges[::2], edges[1::2], strict=True))
    return tuple(re.sub(r"^[ \t]+|[ \t]+$", " ", re.sub(r"(?=[ \t]{2}|\t)[ \t]+", "  ", each)) for each in parts)


def _proposal(texts: tuple[str, ...], lines: Sequence[bytes]) -> Proposal:
    samples = [each.decode("utf-8", "replace") for each in lines]
    matches = [list(_NUMBER.finditer(each)) for each in lines]
    numbers: list[Number] = []
    for at in range(len(texts) - 1):
        printed = tuple(found[at][0].decode() for found in matches)
        kind = matches[0][at].lastgroup or ""
        before = numbers[-1].name if numbers else ""
        numbers.append(
            Number(texts[at], texts[at + 1], printed, _guess(texts[at], texts[at + 1], printed, kind, before))
        )
    return Proposal(len(lines), tuple(samples[:_SHOWN]), _once(numbers))


def _guess(before: str, after: str, printed: Sequence[str], kind: str, previous: str) -> str:
    """Return the column that a number may be, by the text around it; `_` if it is unknown."""
    if kind:
        return _CLOCK_NAME if kind == _CLOCK_NAME else SKIPPED
    if before.strip() in ("/", "of") and previous in ("step", "epoch"):
        return f"total_{previous}s"
    words = _WORD.findall(re.sub(r"\([a-zA-Z/]+\)", "", before))
    label = words[-1].lower() if words else ""
    found = next((name for name, pattern in _BY_LABEL.items() if re.fullmatch(pattern, label)), SKIPPED)
    short = _SHORTENED.match(after)
    for name, pattern in _BY_UNIT.items():
        if re.match(rf" ?(?:{pattern})", after[short.end() :] if short and name == "throughput" else after):
            if name == "step_seconds" and re.search(r"eta|elapsed|total", before.lower()):
                return SKIPPED
            return found if name == "step_seconds" and found == "reader_seconds" else name
    if found in _WITH_UNIT and _OTHER_UNIT.match(after):
        return SKIPPED
    whole = all(re.fullmatch(r"[0-9]+", each) for each in printed)
    return SKIPPED if found in ("step", "epoch") and not whole else found


def _once(numbers: Sequence[Number]) -> tuple[Number, ...]:
    """Keep the first number of each name, and the clock only if it is the line's only source of time."""
    numbers = _with_step([_since_start(each) for each in numbers])
    names = {each.name for each in numbers}
    seen = {_CLOCK_NAME} if names & TIMED else set[str]()
    made = []
    for each in numbers:
        made.append(replace(each, name=SKIPPED) if each.name in seen else each)
        seen |= {each.name} - {SKIPPED}
    return tuple(made)


def _since_start(number: Number) -> Number:
    """Call a time that only grows `elapsed`: it runs since the start."""
    times = (
        [float(each.replace(",", "")) for each in number.printed] if number.name in ("step_seconds", "duration") else []
    )
    grows = len(times) > 1 and all(before < each for before, each in pairwise(times))
    return replace(number, name="elapsed") if grows else number


def _with_step(numbers: Sequence[Number]) -> Sequence[Number]:
    """Name a number `step` if no label does: the first one that grows by one amount; `total_steps` may follow it."""
    if any(each.name == "step" for each in numbers):
        return numbers
    for at, each in enumerate(numbers):
        if each.name in (SKIPPED, "epoch") and _counts(each.printed):
            made = [*numbers[:at], replace(each, name="step"), *numbers[at + 1 :]]
            if at + 1 < len(made) and made[at + 1].before.strip() in ("/", "of"):
                made[at + 1] = replace(made[at + 1], name="total_steps")
            return made
    return numbers


def _counts(printed: Sequence[str]) -> bool:
    """Return whether numbers are whole, and most grow by the same amount."""
    if not all(each.isdigit() for each in printed):
        return False
    gaps = [int(each) - int(before) for before, each in pairwise(printed)]
    usual = max(set(gaps), key=gaps.count)
    return usual > 0 and gaps.count(usual) >= _MOSTLY * len(gaps)


def _likelihood(proposal: Proposal) -> tuple[bool, bool, int]:
    names = {each.name for each in proposal.numbers}
    return bool(names & TIMED), "step" in names or "epoch" in names, proposal.lines


def _beginning(numbers: Sequence[Number], first: int) -> str:
    """Return the text before a number, from its first letter or bracket on."""
    text = re.sub(r"^[^\w\[({<|'\"]+", "", numbers[first].before)
    return _literal(text, "")


def _slot(name: str, number: Number) -> str:
    if name in (SKIPPED, _CLOCK_NAME):
        return f"{{{name}}}"
    if any("," in each for each in number.printed):
        return f"{{{name}:,}}"
    if name == "throughput" and _SHORTENED.match(number.after):
        return f"{{{name}:short}}"
    unit = _unit(name, number.after)
    if not unit and name in _WITH_UNIT and (label := _UNIT_OF_LABEL.search(number.before)):
        unit = f"in {label[1]}"
    return f"{{{name}:{unit}}}" if unit else f"{{{name}}}"


def _literal(text: str, name: str) -> str:
    """Return text with doubled braces, without the unit that the slot of that name before it contains."""
    unit = _unit(name, text)
    if unit:
        text = text.lstrip(" ").removeprefix(unit)
    elif name == "throughput" and _SHORTENED.match(text):
        text = text[1:]
    return text.replace("{", "{{").replace("}", "}}")


def _unit(name: str, after: str) -> str:
    """Return the unit of a time or memory size if a template converts it, else an empty string."""
    found = re.match(r" ?([A-Za-z]+)(?!\w)", after)
    return found[1] if found and name in _WITH_UNIT and found[1] in UNITS else ""


def _end(name: str, after: str) -> str:
    """Return the unit after the last number of the template, or the text that is glued to it."""
    if name == "throughput" and _SHORTENED.match(after):
        after = after[1:]
    pattern = r" ?[A-Za-z]+(?:/\w+)?" if _unit(name, after) else _BY_UNIT.get(name, _NEVER)
    found = re.match(rf" ?(?:{pattern})", after) or re.match(r"[^\s\w]+(?:\w+(?:/\w+)?)?", after)
    return _literal(found[0], name) if found else ""
