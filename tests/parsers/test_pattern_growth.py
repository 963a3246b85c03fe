"""The time of each pattern grows linearly with the text, because a line of a log may have 8 MiB."""

from __future__ import annotations

import importlib
import inspect
import itertools
import json
import pkgutil
import re
import time
from collections import deque
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import hostile
import pytest

import perfledger.parsers as parsers
from perfledger.parsers.contract import Format, Rows
from perfledger.parsers.engine import openings
from perfledger.parsers.engine.registry import formats
from perfledger.parsers.engine.scan import unstyled
from perfledger.schema.redaction.rules import every_rule

#: Size of a text that shows which patterns take longer than noise, and are measured.
SMALL, NOISE_SECONDS = 4_000, 0.0002
#: Least time of a quadratic pattern on the largest text if it was slow on the small one.
SLOW_SECONDS = 0.03
#: Sizes of texts, larger than every bounded gap. For 4 times the text a linear pattern takes 4 times as long, and a
#: quadratic one 16 times.
SIZES, MOST_GROWTH = (24_000, 96_000), 8.0
ATTACKS = Path(__file__).resolve().parents[3] / "shared" / "trust" / "patterns.json"


class Used(NamedTuple):
    """A pattern, and the method that the code applies to a text."""

    pattern: Any
    method: str = "finditer"

    def apply(self, text: Any) -> None:
        found = getattr(self.pattern, self.method)(text)
        if self.method == "finditer":
            deque(found, maxlen=0)


def of_format(each: Format) -> Iterator[Used]:
    pauses = dict.fromkeys(pause for reading in each.readings for pause in reading.pauses)
    found: list[Any] = [one.finder for one in each.readings]
    found += [one.regex for one in (*each.facts, *pauses)]
    found += [one.regex for one in (each.start_clue, each.before_start_clue, each.end_clue) if one]
    found += [clue.regex for one in each.readings if one.where for clue in one.where.clues()]
    yield from map(Used, found)


def of_module(name: str) -> Iterator[Used]:
    """Yield the patterns of a module; a pattern that the code only matches at a place is not searched here."""
    module = importlib.import_module(name)
    source = inspect.getsource(module)
    for variable, value in vars(module).items():
        methods = set(re.findall(rf"\b{variable}\.(match|fullmatch|search|findall|finditer|split|subn?)\b", source))
        anchored = methods and methods <= {"match", "fullmatch"}
        for pattern in value if isinstance(value, tuple) else (value,):
            if isinstance(pattern, re.Pattern):
                yield Used(pattern, max(methods) if anchored else "finditer")


#: Number of tests that share the hundreds of patterns of redaction.
REDACTION_PARTS = 9


def of_redaction() -> Iterator[Used]:
    yield from (Used(regex) for rule in every_rule().rules for regex in rule.regexes)
    yield from (Used(re.compile(rule.hint), "search") for rule in every_rule().rules if rule.hint)
    yield from (
        used for name in ("redact", "shapes", "views") for used in of_module(f"perfledger.schema.redaction.{name}")
    )


OWNERS: dict[str, Callable[[], Iterator[Used]]] = {each.id: lambda each=each: of_format(each) for each in formats()}  # type: ignore[misc]
OWNERS |= {
    each.name: lambda name=each.name: of_module(name)  # type: ignore[misc]
    for each in pkgutil.walk_packages(parsers.__path__, "parsers.")
    if each.name.startswith(("perfledger.parsers.engine.", "perfledger.parsers.telemetry."))
}
OWNERS |= {
    f"redaction {part}": lambda part=part: itertools.islice(of_redaction(), part, None, REDACTION_PARTS)  # type: ignore[misc]
    for part in range(REDACTION_PARTS)
}
OWNERS["launchers"] = lambda: iter([Used(openings.launch())])


@cache
def known_attacks() -> tuple[dict[str, str], ...]:
    """Return attacks that once worked, if their file exists."""
    return tuple(each["attack"] for each in json.loads(ATTACKS.read_text())) if ATTACKS.exists() else ()


def texts(pattern: Any, size: int) -> list[Any]:
    if isinstance(pattern, Rows):
        return texts_of_rows(pattern, size)
    is_bytes = isinstance(pattern.pattern, bytes)
    source = pattern.pattern.decode("latin1") if is_bytes else pattern.pattern
    found = [*hostile.texts(source, size, examples=2, cuts=5)]
    literal = re.sub(r"\W", "", source)
    found += [
        each["prefix"] + each["repeat"] * (size // len(each["repeat"])) + each["suffix"]
        for each in known_attacks()
        if re.sub(r"\W", "", each["repeat"])[:8] in literal
    ]
    return [each.encode("latin1") if is_bytes else each for each in found]


def texts_of_rows(rows: Rows, size: int) -> list[bytes]:
    """Return texts of lines that begin like rows: without an end, nested, or with other formats' text."""
    begin = rows.prefix.removeprefix("^").encode()
    keys = b", ".join(b'"%s": 1' % path.split("|")[0].rstrip("?").encode() for _, path in rows.columns)
    inside = [keys + b"}\n", keys + b"}", b"'a': (", b'"a": {', b"'", b"\\'", b"nan, "]
    parts = [begin, b"\n" + begin, *(begin + each for each in inside), b"[", b"}"]
    return [
        prefix + part * (size // len(part)) + end for prefix in (b"", begin) for part in parts for end in (b"", b"}")
    ]


def seconds(apply: Callable[[Any], object], text: Any, repeats: int) -> float:
    """Return the smallest CPU time of several measurements, since noise only adds time."""
    taken = []
    for _ in range(repeats):
        begun = time.process_time()
        apply(text)
        taken.append(time.process_time() - begun)
    return min(taken)


def slowest_texts(used: Used, size: int) -> list[int]:
    """Return the numbers of the slowest texts that take longer than noise."""
    taken = {
        at: seconds(used.apply, text, 2)
        for at, text in enumerate(texts(used.pattern, size))
        if seconds(used.apply, text, 1) > NOISE_SECONDS
    }
    return sorted((at for at in taken if taken[at] > NOISE_SECONDS), key=taken.__getitem__)[-2:]


def _grows_on(used: Used, at: int, size: int, taken: float) -> bool:
    """Return whether the next text takes too long as well, which a busy machine hardly causes twice."""
    return seconds(used.apply, texts(used.pattern, 4 * size)[at], 1) > MOST_GROWTH * taken


@cache
def growth(used: Used, small_size: int = SMALL, sizes: tuple[int, int] = SIZES) -> tuple[float, str]:
    """Return the ratio of times for four times a text, and its beginning, or 0 if no text shows bad growth."""
    for at in slowest_texts(used, small_size):
        small, large = (texts(used.pattern, size)[at] for size in sizes)
        before, after = seconds(used.apply, small, 2), seconds(used.apply, large, 1)
        if after > max(SLOW_SECONDS, MOST_GROWTH * before) and (after > 0.3 or _grows_on(used, at, sizes[1], after)):
            return after / before, repr(small[:120])
    return 0.0, ""


@pytest.mark.parametrize("owner", OWNERS)
def test_time_grows_linearly_with_the_text(owner: str) -> None:
    runaway = [
        f"{getattr(used.pattern, 'pattern', used.pattern)!r}: {ratio:.0f} times the time for 4 times the text {text}. "
        "Let its gap end where the pattern begins again (parsers.contract.up_to), or bound it."
        for used in OWNERS[owner]()
        for ratio, text in [growth(used)]
        if ratio
    ]
    assert runaway == []


@pytest.mark.parametrize("pattern", [rb"begin [^\n]*?end", rb"a\[[^\]\n]*+\]x"])
def test_a_quadratic_pattern_is_found(pattern: bytes) -> None:
    ratio, _ = growth(Used(re.compile(pattern, re.MULTILINE)), 2_000, (8_000, 32_000))
    assert ratio


def test_nested_backspaces_are_applied_in_linear_time() -> None:
    small, large = (b"a" * size + b"\x08" * size for size in SIZES)
    assert unstyled(large) == large.strip(b"\x08")
    assert seconds(unstyled, large, 3) < MOST_GROWTH * max(seconds(unstyled, small, 3), NOISE_SECONDS)
