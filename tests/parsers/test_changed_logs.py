"""A changed log gives the figure of the original log or none: one property for all formats and changes."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest

from perfledger.ingest.compute.measurement import measured
from perfledger.ingest.compute.one_run import one_run
from perfledger.parsers.engine.read import read
from perfledger.parsers.engine.scan import ScanError
from perfledger.parsers.engine.session import Session
from perfledger.schema.records import Figure, NoFigure
from tests.parsers import golden

Lines = list[bytes]
#: A change of a log: it gets the lines, the numbers of lines with records, and a random generator.
Change = Callable[[Lines, list[int], random.Random], Lines]

#: Largest relative difference from the figure of the original log.
TOLERANCE = 0.02


def drop(lines: Lines, records: list[int], rng: random.Random) -> Lines:
    gone = set(rng.sample(records, max(1, len(records) // 5)))
    return [line for number, line in enumerate(lines, 1) if number not in gone]


def drop_a_third(lines: Lines, records: list[int], rng: random.Random) -> Lines:
    return lines[: records[len(records) // 3] - 1] + lines[records[2 * len(records) // 3] - 1 :]


def repeat(lines: Lines, records: list[int], rng: random.Random) -> Lines:
    return [each for number, line in enumerate(lines, 1) for each in [line] * (1 + (number in records))]


def repeat_some(lines: Lines, records: list[int], rng: random.Random) -> Lines:
    return repeat(lines, rng.sample(records, max(1, len(records) // 5)), rng)


def reverse(lines: Lines, records: list[int], rng: random.Random) -> Lines:
    first, last = records[0] - 1, records[-1]
    return lines[:first] + lines[first:last][::-1] + lines[last:]


def append(lines: Lines, records: list[int], rng: random.Random) -> Lines:
    return lines + rng.choice(sorted(LOGS.values())).read_bytes().split(b"\n")


def interleave(lines: Lines, records: list[int], rng: random.Random) -> Lines:
    return [line for line in lines for _ in range(2)]


def damage(lines: Lines, records: list[int], rng: random.Random) -> Lines:
    """Change one digit of a record, but not of the last one, since no later record could contradict it."""
    row = rng.choice(records[1:-1] or records) - 1
    line = bytearray(lines[row])
    digits = [place for place, byte in enumerate(line) if chr(byte).isdigit()]
    if digits:
        place = rng.choice(digits)
        line[place] = ord("0") + (line[place] - ord("0") + rng.randint(1, 9)) % 10
    return [*lines[:row], bytes(line), *lines[row + 1 :]]


def cut(lines: Lines, records: list[int], rng: random.Random) -> Lines:
    """Cut the log within the record that is two thirds through it."""
    return b"\n".join(lines[: records[2 * len(records) // 3]])[: -rng.randint(1, 60)].split(b"\n")


def head(lines: Lines, records: list[int], rng: random.Random) -> Lines:
    return [b"# my run", b"", b"$ python train.py", b"", *lines]


#: Number of tries of each change with each log.
CHANGES: dict[Change, int] = {
    drop: 5, drop_a_third: 1, repeat: 1, repeat_some: 1, reverse: 1, append: 1, interleave: 1, damage: 5, cut: 5,
    head: 1,
}  # fmt: skip
#: Formats whose figure a change may move further. A missing or repeated line cannot be detected if lines print seconds
#: without steps, or running means. A wrong digit cannot be detected in the only samples or seconds of an epoch, bar or
#: summary.
MOVED = {
    damage: {
        "dlperf.megatron", "frameworks.autoresearch", "frameworks.big_vision", "frameworks.coqui", "frameworks.dlrm",
        "frameworks.edm",
        "frameworks.gaussian_splatting", "frameworks.hf_notebook", "frameworks.keras_losses",
        "frameworks.llama_recipes", "frameworks.mindspeed", "frameworks.openrlhf_bars", "frameworks.orbit",
        "frameworks.rl_seconds", "frameworks.tf_object_detection", "frameworks.verl_sft", "frameworks.yolov6",
        "ngc.pytorch_bert_squad", "ngc.pytorch_bert_squad_steps", "ngc.pytorch_ssd", "ngc.tensorflow2_electra",
        "paddle.nlp_uie",
    },
    repeat_some: {
        "frameworks.chinese_clip", "frameworks.mindcv", "frameworks.verl_sft", "ngc.pytorch_bert",
    },
    drop: {
        "frameworks.edm", "frameworks.mindcv", "frameworks.openpi", "frameworks.openrlhf_bars", "frameworks.swin",
    },
    drop_a_third: {
        "frameworks.edm", "frameworks.openpi", "frameworks.swin", "frameworks.timm", "frameworks.torchtune",
    },
    cut: {
        "frameworks.torchtune",
    },
}  # fmt: skip
#: Reasons that are about the whole log and name no line.
WITHOUT_LINE = {"no_records", "not_settled", "too_few_records", "too_short"}
LOGS = {path.parent.name: path for path in golden.logs()}


class Answer(NamedTuple):
    """Result of a session: format, figure or None, extreme speeds of its records, and the reason without a figure."""

    format: str
    figure: float | None
    slowest: float
    fastest: float
    reason: str


def answers(data: bytes, case: dict[str, int], path: Path) -> list[Answer]:
    path.write_bytes(data)
    try:
        sessions = read(path).sessions
    except ScanError:
        return []
    with np.errstate(all="ignore"):  # Numbers may be damaged.
        return [answer_of(session, case) for session in sessions]


def answer_of(session: Session, case: dict[str, int]) -> Answer:
    found = measured(session, {name: fact.value for name, fact in session.facts.items()} | case)
    other = one_run(session)
    values = np.array([]) if found.intervals is None else found.intervals.speed
    values = values[np.isfinite(values)]
    slowest, fastest = (float(values.min()), float(values.max())) if len(values) else (np.inf, -np.inf)
    figure, reason = None, ""
    if isinstance(found.headline, Figure) and other is None:
        figure = found.headline.value
    elif isinstance(found.headline, NoFigure) and other is None and "line" not in found.headline.reason.args:
        reason = found.headline.reason.code
    return Answer(session.format.id, figure, slowest, fastest, reason)


def record_lines(data: bytes, path: Path) -> list[int]:
    path.write_bytes(data)
    records = read(path).sessions[0].records
    steps = next((each for each in records if len(each) and each.reading.span != "run"), records[0])
    return sorted(set(steps.lines(range(len(steps)))))


@pytest.mark.parametrize("format_id", LOGS)
@pytest.mark.parametrize("change", CHANGES, ids=lambda each: each.__name__)
def test_a_changed_log_gives_the_original_figure_or_none(format_id: str, change: Change, tmp_path: Path) -> None:
    """Golden logs have few, different records, so a figure between the speeds of the records is right, too."""
    data, path = LOGS[format_id].read_bytes(), tmp_path / "train.log"
    (first, *_) = golden.table(golden.GOLDEN / format_id / "figures.csv")
    case = {name: int(first[name]) for name in golden.NUMBERS if first.get(name)}
    whole = [each for each in answers(data, case, path) if each.figure is not None]
    records = record_lines(data, path)
    moved = []
    for n in range(CHANGES[change]):
        rng = random.Random(f"{format_id} {change.__name__} {n}")
        for each in answers(b"\n".join(change(data.split(b"\n"), records, rng)), case, path):
            if each.figure is None:
                # The facts of the case are those of the changed log.
                assert each.format != format_id or each.reason in {"", *WITHOUT_LINE}
            elif whole and each.format == format_id and not any(is_near(each.figure, known) for known in whole):
                moved.append(each.figure)
    if format_id in MOVED.get(change, ()):
        assert moved, "the change no longer moves the figure: remove the format from MOVED"
    else:
        assert not moved


def is_near(figure: float, whole: Answer) -> bool:
    assert whole.figure is not None
    between = whole.slowest * (1 - TOLERANCE) <= figure <= whole.fastest * (1 + TOLERANCE)
    return between or figure == pytest.approx(whole.figure, rel=TOLERANCE)
