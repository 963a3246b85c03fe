"""What happens to a log on its way must change no figure: line ends, rank tags, a lost head, a cut in its last line.

Tried on the golden log of every format.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from ingest.compute.frame import begun_anew
from parsers.engine.read import Log, read
from parsers.engine.registry import formats

GOLDEN = Path(__file__).resolve().parents[1] / "golden"
FORMATS = [each.id for each in formats()]
#: Printers that do not announce themselves, or not in this log; that a second run has begun is told by their steps.
SILENT = {
    "dlperf.gluon_nlp_bert", "dlperf.mindspore", "dlperf.paddle_plsc", "dlperf.paddle_resnet50", "dlperf.partial_fc",
    "dlperf.pytorch_examples", "dlperf.tensorflow2_bert", "dlperf.tensorflow2_resnet50", "frameworks.dllogger",
    "frameworks.nemo",
    "ngc.mxnet_resnet50_speed", "ngc.tensorflow_bert", "paddle.nlp_bert", "paddle.seg",
}  # fmt: skip
#: Of these not even that: they print no step, or steps of their own kind.
MUTE = {"frameworks.nvlog"}
Rows = list[tuple[tuple[str, float], ...]]


def golden(format_id: str) -> bytes:
    (path,) = (each for each in (GOLDEN / format_id).iterdir() if each.suffix != ".csv")
    return path.read_bytes()


def log_of(text: bytes, folder: Path) -> Log:
    path = folder / "train.log"
    path.write_bytes(text)
    return read(path)


def rows(log: Log) -> Rows:
    """Every record of every reading, in order, as what its columns hold. NaN is left out: it equals nothing."""
    found: Rows = []
    for session in log.sessions:
        for records in session.records:
            names = [each for each in COLUMNS if each in records]
            columns = [records[each].tolist() for each in names]
            found += [
                tuple((name, value) for name, value in zip(names, row, strict=True) if not math.isnan(value))
                for row in zip(*columns, strict=True)
            ]
    return found


COLUMNS = ("epoch", "step", "throughput", "step_seconds", "steps_per_second", "duration", "samples", "clock", "loss")


@pytest.fixture(params=FORMATS)
def case(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[str, bytes, Rows]:
    """Return a format, its golden log, and the records of that log."""
    text = golden(request.param)
    found = rows(log_of(text, tmp_path))
    assert found
    return request.param, text, found


def tagged(text: bytes, by: bytes = b"[1,0]<stdout>:") -> bytes:
    return b"".join(by + each for each in text.splitlines(keepends=True))


@pytest.mark.parametrize(
    "carried",
    [
        lambda text: text.replace(b"\r\n", b"\n").replace(b"\n", b"\r\n"),
        tagged,
        lambda text: tagged(text, b"0: "),
        lambda text: tagged(text, b"node-1: "),
        lambda text: tagged(text, b"2026-11-20T01:02:03.123456789Z "),
        lambda text: b"some launcher says hello\n\n" + text,
        lambda text: text + b"\nsome launcher says good-bye\n",
    ],
    ids=["line ends", "tags", "labels of srun", "hosts", "stamps", "a head", "a tail"],
)
def test_transport_changes_no_records(
    case: tuple[str, bytes, Rows], carried: Callable[[bytes], bytes], tmp_path: Path
) -> None:
    format_id, text, expected = case
    log = log_of(carried(text), tmp_path)
    assert [each.format.id for each in log.claims] == [format_id]
    assert rows(log) == expected


def told(found: dict[str, float], by: dict[str, float]) -> bool:
    """Whether one record says what another does, to the sixth decimal, beyond which a cut is let pass."""
    return all(math.isclose(value, by.get(name, math.nan), rel_tol=2e-6) for name, value in found.items())


def test_cut_file_yields_no_other_number(case: tuple[str, bytes, Rows], tmp_path: Path) -> None:
    """Wherever in its last two hundred bytes a log is cut, its records are those of the whole, less the last ones."""
    format_id, text, expected = case
    for end in range(max(1, len(text) - 200), len(text)):
        log = log_of(text[:end], tmp_path)
        assert [each.format.id for each in log.claims] == [format_id], text[:end][-80:]
        known = [dict(each) for each in expected]
        for found in map(dict, rows(log)):
            # A loss or an accuracy that stands behind the figure may be lost with the end of the line.
            assert any(told(found, each) for each in known), (found, text[:end][-80:])


def test_two_runs_in_one_file(case: tuple[str, bytes, Rows], tmp_path: Path) -> None:
    """A run that is appended to another is one of its own, where its printer announces itself."""
    format_id, text, expected = case
    log = log_of(text + text, tmp_path)
    if len(log.sessions) == 1:
        assert format_id in SILENT | MUTE
        told = [begun_anew(each) for each in log.sessions[0].records if each.reading.span != "run"]
        assert format_id in MUTE or any(each is not None for each in told)
        return
    assert len(log.sessions) == 2
    assert all(rows(replace(log, sessions=(each,))) == expected for each in log.sessions)
