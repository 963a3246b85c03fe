"""Public logs: one of our rules gives the expected figure of each row of their table."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache

import pytest

from perfledger.ingest.compute import rules
from perfledger.parsers.engine.read import Log, read
from perfledger.parsers.engine.session import Session
from perfledger.schema.records import Figure
from tests.corpus import corpus, expected


@dataclass(frozen=True)
class How:
    """Our figure for a row.

    `format` must claim the log. `rule` gives the figure of the session with the most records. `case` has facts that the
    log does not state; `None` removes a fact, so that the figure stays per device.
    """

    format: str
    rule: str = "median"
    case: dict[str, int | None] = field(default_factory=dict)
    within: float = 0.01


#: Figures by folder and beginning of the name; a row without an entry fails.
ROWS = {
    "ppcls/robinbg": How("paddle.clas_dygraph"),
    # The log states two devices, and the row counts one.
    "paddledet/intflow": How("frameworks.paddle_detection", case={"devices": None}),
    "paddleocr/Saifulkamil": How("frameworks.paddle_ocr"),
    "tf_cnn_benchmarks/lambdal": How("frameworks.tf_cnn_benchmarks", "reported"),
    "tf_estimator/BoyDun": How("frameworks.tf_estimator"),
    "fairseq/mlcommons": How("frameworks.fairseq_old"),
    "megatron/bigscience": How("dlperf.megatron"),
    "deepspeed/microsoft": How("dlperf.deepspeed"),
    "mxnet/zmonoid": How("frameworks.mxnet_fit"),
    # Speeds of this run alternate between two levels, so the median depends on the number of skipped records.
    "mxnet/dmlc": How("dlperf.gluon_cv", "median:skip=1"),
    "dle_dllogger/gkebe": How("frameworks.dllogger", "reported"),
    # The row treats the timing of these two as a mean since the start, but it covers five steps. Ours uses clocks.
    "nemo_lightning/AI-Hypercomputer__gpu-recipes__llama3": How("frameworks.nemo"),
    "nemo_lightning/AI-Hypercomputer__gpu-recipes__dllogger": How("frameworks.nemo"),
    "hf_trainer/bigscience": How("frameworks.hf_trainer", "reported"),
    # The last record before the end, instead of the line of the validation at the end.
    "nanogpt_style/lolrazh": How("frameworks.modded_nanogpt", "sustained:skip=0"),
    "mlperf/mlcommons__training_results_v1.0": How("frameworks.mlperf"),
    "mlperf/mlcommons__training_results_v4.0": How("frameworks.mlperf"),
    # The rest of the log has only MLPerf's lines.
    "hugectr/mlcommons": How("frameworks.mlperf"),
}


#: Rows without high confidence that agree with our figure.
ROWS |= {
    # The row counts all devices of the machine, and the log states that two were used.
    "dle_dllogger/ide8": How("frameworks.nvlog", "reported"),
    "mlperf/mlcommons__training_results_v2.0": How("frameworks.mlperf"),
    "mlperf/mlcommons__training_results_v0.5": How("frameworks.mlperf", "median:skip=0"),
}


def rows() -> dict[str, dict[str, str]]:
    """Return the rows by their file."""
    return {each["file"]: each for each in expected("expected-public")}


def row_of(beginning: str) -> dict[str, str]:
    (found,) = (each for name, each in rows().items() if name.startswith(beginning))
    return found


@cache
def log_of(file: str) -> Log:
    return read(corpus("public") / file)


def longest(log: Log) -> Session:
    return max(log.sessions, key=lambda each: max(map(len, each.records)))


def case_of(session: Session, how: How) -> dict[str, int | str]:
    stated = {name: each.value for name, each in session.facts.items()} | how.case
    return {name: value for name, value in stated.items() if value is not None}


def test_every_row_has_an_entry() -> None:
    assert [name for name in rows() if not name.startswith(tuple(ROWS))] == []


@pytest.mark.parametrize("beginning", ROWS)
def test_the_figure_of_a_row_is_the_expected_one(beginning: str) -> None:
    row, how = row_of(beginning), ROWS[beginning]
    log = log_of(row["file"])
    assert [each.format.id for each in log.claims] == [how.format]
    session = longest(log)
    found = rules.figure(how.rule, session, case_of(session, how))
    assert isinstance(found, Figure), found
    assert found.value == pytest.approx(float(row["throughput"]), rel=how.within)


@pytest.mark.parametrize(
    ("beginning", "starts", "with_records"),
    [("ppcls/robinbg", 20, 5), ("paddledet/intflow", 14, 13), ("paddleocr/Saifulkamil", 22, 16)],
)
def test_appended_logs_have_the_expected_sessions(beginning: str, starts: int, with_records: int) -> None:
    """A start without a step is a session without a figure."""
    sessions = log_of(row_of(beginning)["file"]).sessions
    assert len(sessions) == starts
    assert sum(any(map(len, each.records)) for each in sessions) == with_records
    assert all(
        each.ending.outcome in ("failed", "oom", "unread") for each in sessions if not any(map(len, each.records))
    )
