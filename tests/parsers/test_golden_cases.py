"""Cases: small logs next to the golden log of their format, and their expected readings; see tests/golden/README.md.

`pytest tests/parsers/test_golden_cases.py -k paddle.clas_dygraph` runs one format.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from golden import GOLDEN, cases_of, evaluate, log_of

from perfledger.ingest.compute import rules
from perfledger.ingest.compute.measurement import measured
from perfledger.ingest.compute.metrics import metrics
from perfledger.ingest.compute.one_run import one_run
from perfledger.ingest.read.beside import PathFacts
from perfledger.ingest.read.run_json import RunJsonFile
from perfledger.ingest.record.run_facts import facts_of as facts_of_run
from perfledger.parsers.engine.read import read
from perfledger.parsers.engine.session import Session
from perfledger.parsers.engine.table import SessionRecords
from perfledger.schema.records import Facts, Figure, MetricFigure, NoFigure, Reason, Witness

Table = Mapping[str, Any]
FORMATS = sorted(path.name for path in GOLDEN.iterdir() if path.is_dir())
NAMES = re.compile(r"(?m)^\[([^\]\n]+)\]$")
CASES = [
    f"{format_id}/{name}"
    for format_id in FORMATS
    for name in NAMES.findall((GOLDEN / format_id / "cases.toml").read_text())
]
#: Largest relative difference of a value from the one by hand, unless the case allows more.
WITHIN = 1e-6
#: Fields of a figure that a case may state in addition to its value.
OF_FIGURES = ("used", "skipped", "first_line", "last_line", "unit", "scope")


def files_of(format_id: str) -> list[Path]:
    """Return the logs of a folder except the golden one."""
    others = {"cases.toml", "samples.toml", "records.csv", "facts.csv", "figures.csv", log_of(format_id).name}
    return sorted(path for path in (GOLDEN / format_id).iterdir() if path.name not in others)


@pytest.mark.parametrize("name", CASES)
def test_case(name: str) -> None:
    format_id, _, case = name.partition("/")
    (path,) = (GOLDEN / format_id).glob(f"{case}.*")
    check_case(format_id, case, path)


def check_case(format_id: str, case: str, path: Path) -> None:
    expected, log = cases_of(format_id)[case], read(path)
    assert [each.format.id for each in log.claims] == expected.get("claimed_by", [format_id])
    sessions = expected.get("sessions", [expected] if log.claims else [])
    assert len(log.sessions) == len(sessions)
    for session, table in zip(log.sessions, sessions, strict=True):
        stated = {key: each.value for key, each in session.facts.items()}
        for key, check in CHECKS.items():
            if key in table:
                check(session, stated, table)


@pytest.mark.parametrize("format_id", FORMATS)
def test_line_ends_of_windows_change_nothing(format_id: str, tmp_path: Path) -> None:
    """Two cases of each format are enough, because the same code reads the logs of all formats."""
    for case in list(cases_of(format_id))[:2]:
        (path,) = (GOLDEN / format_id).glob(f"{case}.*")
        other = tmp_path / path.name
        other.write_bytes(re.sub(rb"\r*\n", b"\r\n", path.read_bytes()))
        check_case(format_id, case, other)


def case_of(facts: Facts, *tables: Table) -> Facts:
    """Return the facts of the log and the additional ones of the innermost table."""
    added = next((each["case"] for each in tables if "case" in each), {})
    left_out = next((each["without"] for each in tables if "without" in each), ())
    return {name: value for name, value in facts.items() if name not in left_out} | added


def check_figure(session: Session, facts: Facts, table: Table) -> None:
    for each in listed(table["figure"]):
        compare(rules.figure(each["rule"], session, case_of(facts, each, table)), each)


def check_headline(session: Session, facts: Facts, table: Table) -> None:
    """Compare the published figure, or the figure under a rule, after the checks of all witnesses."""
    for each in listed(table["headline"]):
        found = measured(session, case_of(facts, each, table))
        compare(found.figures[each.get("rule", found.rule)], each)


def check_untimed(session: Session, facts: Facts, table: Table) -> None:
    reason = measured(session, case_of(facts, table)).untimed
    compare_reason(reason, table["untimed"])


def check_witnesses(session: Session, facts: Facts, table: Table) -> None:
    found = {each.kind: each for each in measured(session, case_of(facts, table)).witnesses}
    if table["witnesses"] == "none":
        assert not found
        return
    for kind, expected in table["witnesses"].items():
        compare_witness(found[kind], {"verdict": expected} if isinstance(expected, str) else expected)


def check_metrics(session: Session, facts: Facts, table: Table) -> None:
    for each in listed(table["metrics"]):
        case = case_of(facts, each, table)
        found = metrics(session, case, rules.figure(rules.HEADLINE, session, case))
        for name in each.keys() - {"case", "without"}:
            compare_metric(found.get(name), each[name])


def check_problem(session: Session, facts: Facts, table: Table) -> None:
    found, expected = one_run(session), table["problem"]
    assert found == (None if expected == "none" else (expected["line"], Reason(expected["code"], expected["args"])))


def check_run(session: Session, facts: Facts, table: Table) -> None:
    """Compare the facts of the run, also facts that follow from several facts of the log; an empty one is absent."""
    found = facts_of_run(session, RunJsonFile(), PathFacts("perfledger"))
    assert {name: found.value(name) or "" for name in table["run"]} == table["run"]


def check_contradictions(session: Session, facts: Facts, table: Table) -> None:
    found = facts_of_run(session, RunJsonFile(), PathFacts("perfledger")).contradictions
    assert [[each.fact, each.first.value, each.second.value] for each in found] == table["contradictions"]


def check_facts(session: Session, facts: Facts, table: Table) -> None:
    assert {name: facts.get(name) for name in table["facts"]} == table["facts"]


def check_absent(session: Session, facts: Facts, table: Table) -> None:
    assert not facts.keys() & set(table["absent"])


def check_all_facts(session: Session, facts: Facts, table: Table) -> None:
    assert facts == table["all_facts"]


def check_records(session: Session, facts: Facts, table: Table) -> None:
    for each in table["records"]:
        records = session.records[each.get("reading", 0)]
        for name in each.keys() - {"reading"}:
            compare_records(records, name, each[name])


def check_attribute(of: Callable[[Session], object], key: str, session: Session, facts: Facts, table: Table) -> None:
    assert of(session) == table[key]


CHECKS: Mapping[str, Callable[[Session, Facts, Table], None]] = {
    "figure": check_figure,
    "headline": check_headline,
    "untimed": check_untimed,
    "witnesses": check_witnesses,
    "metrics": check_metrics,
    "problem": check_problem,
    "run": check_run,
    "contradictions": check_contradictions,
    "facts": check_facts,
    "absent": check_absent,
    "all_facts": check_all_facts,
    "records": check_records,
    "outcome": partial(check_attribute, lambda session: session.ending.outcome, "outcome"),
    "framework": partial(check_attribute, lambda session: session.format.framework, "framework"),
    "first_line": partial(check_attribute, lambda session: session.first_line, "first_line"),
}


def listed(tables: Table | Sequence[Table]) -> Sequence[Table]:
    return [tables] if isinstance(tables, Mapping) else tables


def is_close(found: float, expected: Table) -> bool:
    return math.isclose(found, expected["value"], rel_tol=expected.get("within", WITHIN))


def compare(found: Figure | NoFigure, expected: Table) -> None:
    if "withheld" in expected:
        assert isinstance(found, NoFigure), found
        compare_reason(found.reason, {"code": expected["withheld"], **expected.get("args", {})})
        return
    assert isinstance(found, Figure), found
    assert "value" not in expected or is_close(found.value, expected), found
    assert {name: getattr(found, name) for name in OF_FIGURES if name in expected} == {
        name: expected[name] for name in OF_FIGURES if name in expected
    }, found


def compare_reason(found: Reason | None, expected: str | Table) -> None:
    """Compare the code of a reason and some of its arguments; an empty one is absent."""
    if expected == "none":
        assert found is None
        return
    assert found is not None
    wanted = {"code": expected} if isinstance(expected, str) else expected
    assert {name: found.code if name == "code" else found.args.get(name, "") for name in wanted} == wanted


def compare_witness(found: Witness, expected: Table) -> None:
    reason = found.reason or Reason("")
    for name, wanted in expected.items():
        assert {"code": reason.code, **reason.args}.get(name, getattr(found, name, None)) == wanted, found


def compare_metric(found: MetricFigure | None, expected: Table) -> None:
    if expected.get("absent"):
        assert found is None
        return
    assert found is not None
    if "withheld" in expected:
        compare_reason(found.reason, {"code": expected["withheld"], **expected.get("args", {})})
    if "value" in expected:
        assert found.value is not None, found
        assert is_close(found.value, expected), found
    if "first" in expected:
        assert found.first == expected["first"]


def compare_records(records: SessionRecords, name: str, expected: Any) -> None:
    if name == "count":
        assert len(records) == expected
    elif name == "has":
        assert set(expected) <= set(records.columns)
    elif name == "lacks":
        assert not set(expected) & set(records.columns)
    elif name == "lines":
        assert records.lines(range(len(records))) == expected
    else:
        found = getattr(records, name)() if name in ("ranks", "stamps") else records[name]
        assert found.tolist() == pytest.approx(expected, nan_ok=True), name


def test_every_log_has_a_case_and_every_case_a_log() -> None:
    logs = {f"{format_id}/{path.stem}" for format_id in FORMATS for path in files_of(format_id)}
    assert sorted(logs - set(CASES)) == [], "logs that cases.toml does not name"
    assert sorted(set(CASES) - logs) == [], "cases without a log"


def values(table: Any, path: str) -> Iterator[tuple[str, Table]]:
    """Yield every table that has a value, by its path."""
    items = table.items() if isinstance(table, dict) else enumerate(table) if isinstance(table, list) else ()
    if isinstance(table, dict) and "value" in table:
        yield path, table
    for name, each in items:
        if name != "args":
            yield from values(each, f"{path}.{name}")


@pytest.mark.parametrize("format_id", FORMATS)
def test_values_are_computed_by_hand(format_id: str) -> None:
    for name, case in cases_of(format_id).items():
        assert case["says"].endswith("."), f"{format_id}/{name}: `says` is a sentence"
        for path, table in values(case, name):
            hand = table.get("hand", "")
            at = f"tests/golden/{format_id}/cases.toml, {path}"
            assert hand, f"{at}: work the value out from the log and write the arithmetic into `hand`"
            assert math.isclose(evaluate(hand), table["value"], rel_tol=WITHIN), f"{at}: {hand}"
