"""The audit: the log and the rule of a published figure, on made-up runs and on public logs."""

from __future__ import annotations

import csv
import io
import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from made_logs import run_json, seg
from made_trees import ROOT, Called, write_run
from msgspec.structs import replace
from test_published_figures import GOOD, folder

from perfledger.ingest.published import audit, publications
from perfledger.ingest.published.audit import Audited
from perfledger.ingest.published.publications import Publications, Published
from perfledger.schema.records import Run
from tests import builders
from tests.builders import edited
from tests.corpus import corpus as corpus_path
from tests.corpus import expected as rows_of

RECORD = ROOT / "raw_logs" / "published" / "recomputed" / "paddle-perf.jsonl"


#: The facts of the figure's case that the audit compares.
CASE: dict[str, Any] = {
    "model": "DeepLabV3+", "framework": "PaddlePaddle", "hardware": "made-up", "precision": "fp32", "devices": 1,
}  # fmt: skip


def run(path: str, *, audited: dict[str, Any] | None = None, case: dict[str, Any] | None = None, **figures: Any) -> Run:
    """Return a run with the fields that the audit reads; a figure is a value or a whole entry."""
    extra = {"audit": {name: figure(value) for name, value in audited.items()}} if audited else {}
    return builders.run(
        path, path=path, sha256=path, case=CASE | (case or {}),
        figures={name: figure(value) for name, value in figures.items()}, **extra,
    )  # fmt: skip


def figure(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else builders.figure(value, "samples/s")


@pytest.fixture
def row(tmp_path: Path) -> Published:
    """Return a figure of 20.5 samples/s that names `logs/one.log`."""
    (found,) = publications.read([folder(tmp_path / "published", [GOOD])]).rows
    return found


def audited(row: Published, *runs: Any, recorded: tuple[Any, ...] = ()) -> Audited:
    (found,) = audit.audit(Publications((row,), recorded=recorded), runs)
    return found


def test_a_figure_of_its_log_is_reproduced(row: Published) -> None:
    found = audited(row, run("tree/logs/one.log", sustained=20.52, mean=20.5))
    assert found.verdict == audit.REPRODUCED
    assert found.house is not None
    assert found.house.difference == pytest.approx(20.52 / 20.5 - 1)
    assert found.closest is not None
    assert (found.closest.rule, found.closest.difference) == ("mean", 0.0)


@pytest.mark.parametrize(("value", "verdict"), [(20.5205, audit.REPRODUCED), (20.5206, audit.UNSUPPORTED)])
def test_the_tolerance_is_a_thousandth(row: Published, value: float, verdict: str) -> None:
    assert audited(row, run("logs/one.log", sustained=value)).verdict == verdict
    assert audited(row, run("logs/one.log", sustained=41 - value)).verdict == verdict


def test_a_rule_of_the_source_is_named_before_other_rules_that_reproduce_the_figure(row: Published) -> None:
    given = run("tree/logs/one.log", sustained=30.0, mean=20.5, audited={"mean:skip=2": 20.5})
    found = audited(row, given)
    assert found.verdict == audit.OTHER_RULE
    assert found.closest is not None
    assert found.closest.rule == "mean:skip=2"


def test_a_figure_may_belong_to_another_log_of_the_same_case(row: Published) -> None:
    found = audited(row, run("tree/logs/one.log", sustained=30.0), run("tree/logs/two.log", sustained=9.0, mean=20.5))
    assert found.verdict == audit.OTHER_LOG
    assert found.other is not None
    assert (found.other.run.path, found.other.rule) == ("tree/logs/two.log", "mean")


OTHERS = [
    {"model": "BERT-base"}, {"framework": "PyTorch"}, {"hardware": "V100"}, {"hardware": None}, {"precision": "amp"},
    {"precision": None}, {"devices": 8}, {"devices": None},
]  # fmt: skip


@pytest.mark.parametrize("case", OTHERS, ids=str)
def test_a_log_of_another_case_does_not_explain_a_figure(row: Published, case: dict[str, Any]) -> None:
    other = run("tree/logs/two.log", sustained=20.5, case=case)
    assert audited(row, run("tree/logs/one.log", sustained=30.0), other).verdict == audit.UNSUPPORTED


def test_fp32_that_may_be_tf32_is_the_case_of_a_tables_fp32(row: Published) -> None:
    other = run("tree/logs/two.log", mean=20.5, case={"precision": "fp32_tf32", "hardware": "Made-Up"})
    assert audited(row, run("tree/logs/one.log", sustained=30.0), other).verdict == audit.OTHER_LOG


def test_the_same_bytes_are_not_another_log(row: Published) -> None:
    one, two = run("tree/logs/one.log", sustained=30.0), run("tree/logs/two.log", sustained=20.5)
    assert audited(row, one, replace(two, sha256=one.sha256)).verdict == audit.UNSUPPORTED


@pytest.mark.parametrize(("fact", "verdict"), [("nodes", audit.OTHER_LOG), ("framework_version", audit.UNSUPPORTED)])
def test_a_log_that_contradicts_its_name_is_another_one(row: Published, fact: str, verdict: str) -> None:
    problem = {"code": "contradiction", "path": "a", "line": 1, "args": {"fact": fact, "first": "8", "second": "16"}}
    given = edited(run("tree/logs/one.log", sustained=30.0), problems=[problem])
    assert audited(row, given).verdict == verdict


@pytest.mark.parametrize("path", ["tree/logs/other.log", "tree/logs/zone.log", "one.log", "logs/one.log/train.log"])
def test_the_whole_name_of_a_log_must_match(row: Published, path: str) -> None:
    assert audited(row, run(path, sustained=20.5)).verdict == audit.NO_LOG


def test_a_log_read_now_takes_precedence_over_a_record(row: Published) -> None:
    live, old = run("here/logs/one.log", sustained=20.5), run("there/logs/one.log", sustained=30.0)
    assert audited(row, recorded=(old,)).recorded
    found = audited(row, live, recorded=(replace(old, sha256=live.sha256),))
    assert (found.verdict, found.recorded) == (audit.REPRODUCED, False)


def test_a_changed_log_takes_precedence_over_its_record(row: Published) -> None:
    """The recorded log reproduces the figure. The current log with that name does not, and it decides."""
    live, old = run("here/logs/one.log", sustained=30.0), run("there/logs/one.log", sustained=20.5)
    found = audited(row, live, recorded=(old,))
    assert found.run is not None
    assert (found.run.path, found.recorded) == ("here/logs/one.log", False)
    assert found.verdict != audit.REPRODUCED


def test_figures_of_one_case_disagree_if_they_differ_by_more_than_rounding(row: Published) -> None:
    def also(**change: Any) -> Published:
        text = change.pop("printed", row.printed)
        return replace(row, printed=text, value=float(text), place="other.md", **change)

    assert audit.disagreements([row, also(printed="20.5"), also(printed="20.501"), also(printed="20.504")]) == []
    assert audit.disagreements([row, also(printed="21", devices=2), also(printed="21", options={})]) == []
    assert audit.disagreements([row, also(printed="21", source="Other")]) == []
    (found,) = audit.disagreements([row, also(printed="22"), also(printed="20.5")])
    assert [each.printed for each in found] == ["20.50", "22"]


@pytest.mark.parametrize(
    ("one", "two", "same"),
    [
        ("158.6111", "158.611", True),
        ("158.6119", "158.611", True),  # truncated, not rounded
        ("158.6119", "158.612", True),
        ("158.6131", "158.612", False),
        ("16142.9", "16142.92", True),
        ("243", "243.58", True),
        ("243", "244", False),
        ("243.1", "244", False),
        ("158.611", "158.612", False),
        ("1200", "1201", False),
        ("9" * 300, "9" * 300 + ".25", True),
    ],
)
def test_rounded_or_truncated_figures_are_the_same(row: Published, one: str, two: str, same: bool) -> None:
    first, second = (replace(row, printed=each, value=float(each)) for each in (one, two))
    assert audit.same(first, second) is audit.same(second, first) is same


def test_disagreements_of_the_published_figures_are_the_known_ones() -> None:
    """We read these pages. The front page differs from the models' pages, and two tables of one page differ."""
    found = audit.disagreements(publications.read([ROOT / "raw_logs" / "published"]).rows)
    printed = {tuple(each.printed for each in one) for one in found}
    assert {("590188.7", "385625.7"), ("678315.9", "682820.5"), ("194040.4", "183830.0")} <= printed
    assert {("60.95", "243"), ("203.2", "61.0"), ("11233.92", "11331.93")} <= printed
    assert sum(each[0].place.startswith("README.md (root)") for each in found) == 28
    # On two pages the scripts' outputs are older than the tables above them, for five and three numbers of devices.
    # The folder of the second output names model_parallel; the table of partial_fc (1933.88) is another case.
    assert {("3089.74", "2478.59"), ("1921.87", "1925.59")} <= printed
    assert len(found) == 28 + 6 + 5 + 3


def test_two_of_689_published_speed_ups_do_not_follow_from_their_figures() -> None:
    found = audit.slips(publications.read([ROOT / "raw_logs" / "published"]).rows)
    wrong = {(each.row.printed, each.row.speedup, round(each.computed, 2)) for each in found}
    assert wrong == {("14822.31", "27.33", 27.23), ("10633.22", "10.2", 10.28)}


# --- public logs --------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def fresh(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write the record of the corpus again, next to a copy of the published figures."""
    import contextlib

    from perfledger.ingest.cli import main

    tree, record = corpus_path("paddle-perf"), tmp_path_factory.mktemp("audit") / "published"
    record.mkdir()
    for path in (ROOT / "raw_logs" / "published").iterdir():
        if path.is_file():
            (record / path.name).write_bytes(path.read_bytes())
    file = record / "recomputed" / "new.jsonl"
    with contextlib.redirect_stderr(io.StringIO()):
        main(["audit", str(tree), "--layout", "paddle-perf", "--to", str(file)])
    return file


@pytest.fixture(scope="module")
def corpus(fresh: Path) -> list[Audited]:
    """Return the verdicts over the corpus."""
    found = publications.read([fresh.parent.parent])
    assert len(found.recorded) >= 82
    return list(audit.audit(found, []))


def expected() -> dict[str, dict[str, str]]:
    return {each["path"]: each for each in rows_of("expected-paddle-perf")}


def known_rules(found: list[Audited]) -> list[tuple[Audited, dict[str, str]]]:
    """Pair figures whose logs we have with the expected rules, without the front page, whose figures are old."""
    table = expected()
    kept = [(each, table[each.row.log]) for each in found if each.run and "(root)" not in each.row.place]
    assert len(kept) >= 130
    return kept


def test_a_figure_that_no_rule_computes_is_not_reproduced(corpus: list[Audited]) -> None:
    tried = 0
    for each, known in known_rules(corpus):
        if known["rel_err"] and abs(float(known["rel_err"])) > audit.TOLERANCE:
            tried += 1
            assert each.verdict in (audit.UNSUPPORTED, audit.OTHER_LOG), (each.row.log, each.row.printed)
    assert tried >= 30


def test_the_models_usual_rule_gives_all_digits_of_its_figure(corpus: list[Audited]) -> None:
    tried = 0
    for each, known in known_rules(corpus):
        if known["rule_kind"] == "family rule" and _is_closest(each, known):
            assert each.closest is not None
            tried += 1
            assert abs(each.closest.difference) <= abs(float(known["rel_err"])) + 2e-6, (each.row.log, each.closest)
    assert tried >= 100


def _is_closest(each: Audited, known: dict[str, str]) -> bool:
    printed = [float(value) for value in known["published"].split("; ")]
    closest = min(printed, key=lambda value: abs(float(known["rule_value"]) / value - 1))
    return each.row.value == pytest.approx(closest, rel=1e-4)


def test_the_figure_of_the_amp_log_belongs_to_that_log(corpus: list[Audited]) -> None:
    (found,) = [each for each in corpus if each.row.printed == "385625.7"]
    assert found.verdict == audit.OTHER_LOG
    assert found.other is not None
    assert str(found.other.run.path).endswith("pytorch_gpu32_amp_bs5120")


def test_a_log_of_sixteen_nodes_does_not_support_a_figure_of_eight(corpus: list[Audited]) -> None:
    found = {each.verdict for each in corpus if each.row.log == "Word2Vec/logs/W2V_DataLoader_16Thread_8Node"}
    assert found == {audit.OTHER_LOG}


def test_a_figure_and_its_log_have_the_same_case(corpus: list[Audited]) -> None:
    """Tables and logs state the same facts, except in a log that contradicts its name."""
    names = ("model", "framework", "hardware", "nodes", "devices", "batch_size", "precision")
    tried = 0
    for each in corpus:
        if each.run and not audit.contradictions(each.run):
            tried += 1
            case = each.run.case
            assert {name: getattr(case, name) for name in names} == {name: getattr(each.row, name) for name in names}
    assert tried >= 180


def test_every_available_log_has_a_figure(corpus: list[Audited]) -> None:
    assert [each.row.log for each in corpus if each.verdict == audit.NO_FIGURE] == []


def test_the_record_equals_the_figures_of_the_logs(fresh: Path) -> None:
    """To renew the record, run `python -m ingest audit TREE --layout paddle-perf --to RECORD` and commit it."""
    now = [json.loads(line) for line in fresh.read_text("utf-8").splitlines()]
    kept = [json.loads(line) for line in RECORD.read_text("utf-8").splitlines()]
    assert [each["path"] for each in now] == [each["path"] for each in kept]
    for one, other in zip(now, kept, strict=True):
        assert one == other, one["path"]


def test_the_record_contains_no_lines_of_logs() -> None:
    lines = RECORD.read_text("utf-8").splitlines()
    assert len(lines) >= 82
    for line in lines:
        found = json.loads(line)
        assert set(found) <= {
            "path", "session", "sha256", "format", "outcome", "observations", "case", "figures", "audit", "problems",
        }  # fmt: skip
        assert "arithmetic" not in line
    assert lines == sorted(lines, key=lambda line: (json.loads(line)["path"], json.loads(line)["session"]))


def test_the_public_site_has_verdicts_without_logs() -> None:
    """Figures have a verdict from the record, although their logs are not in the repository."""
    found = audit.audit(publications.read([ROOT / "raw_logs" / "published"]), [])
    perf = Counter(each.verdict for each in found if each.row.source == "PaddlePaddle/Perf")
    assert perf[audit.REPRODUCED] + perf[audit.OTHER_RULE] >= 120
    assert perf[audit.UNSUPPORTED] + perf[audit.OTHER_LOG] >= 50
    assert {each.verdict for each in found if each.row.source == "DLPerf"} == {audit.NO_LOG}


# --- the command --------------------------------------------------------------------------------------------------


@pytest.fixture
def logs(tmp_path: Path) -> Path:
    """Write a log of twelve records, 10 to 21 samples/s, and a figure, the mean of all but the first two."""
    write_run(tmp_path / "tree", "logs", seg([10.0 + i for i in range(12)]), run=run_json())
    mean = sum(12.0 + i for i in range(10)) / 10
    folder(tmp_path / "tree" / "published", [GOOD | {"log": "logs/train.log", "value": f"{mean:.2f}"}])
    return tmp_path / "tree"


def only_row(docs: Path) -> dict[str, str]:
    """Return the one figure of the audit's table."""
    text = (docs / "data" / "audit.csv").read_text("utf-8")
    (found,) = csv.DictReader(io.StringIO(text, newline=""))
    return found


def test_rules_of_the_source_are_computed_when_the_log_is_read(
    logs: Path, tmp_path: Path, ingest: Callable[..., Called]
) -> None:
    done = ingest(logs, "--json", "--out", tmp_path / "docs")
    assert done.code == 0, done.err
    assert done.lines[0]["audit"]["mean:skip=2"]["value"] == 16.5
    found = only_row(tmp_path / "docs")
    assert (found["verdict"], found["rule"], found["difference"]) == (audit.OTHER_RULE, "mean:skip=2", "0.000000")
    assert (found["published"], found["read"], found["records"]) == ("16.50", "here", "12")
    page = (tmp_path / "docs" / "en" / "runs" / "logs.md").read_text("utf-8")
    assert "mean:skip=2" in page


def test_a_changed_rule_is_computed_for_an_unchanged_log(
    logs: Path, tmp_path: Path, ingest: Callable[..., Called]
) -> None:
    ingest(logs, "--out", tmp_path / "docs")
    sources = logs / "published" / "sources.toml"
    sources.write_text(sources.read_text("utf-8").replace("mean:skip=2", "mean:skip=3"), "utf-8")
    done = ingest(logs, "--json", "--out", tmp_path / "docs")
    assert list(done.lines[0]["audit"]) == ["mean:skip=3"]
    found = only_row(tmp_path / "docs")
    assert (found["verdict"], found["rule"]) != (audit.OTHER_RULE, "mean:skip=2")


def test_a_record_replaces_missing_logs(logs: Path, tmp_path: Path, ingest: Callable[..., Called]) -> None:
    record = logs / "published" / "recomputed" / "elsewhere.jsonl"
    done = ingest("audit", logs, "--to", record)
    assert done.code == 0, done.err
    assert not (tmp_path / "docs").exists()
    first = record.read_bytes()
    ingest("audit", logs, "--to", record)
    assert record.read_bytes() == first
    for name in ("train.log", "run.json"):
        (logs / "logs" / name).unlink()
    write_run(logs, "other", seg([3.0] * 9), run=run_json(model="FastSCNN"))
    assert ingest(logs, "--out", tmp_path / "docs").code == 0
    found = only_row(tmp_path / "docs")
    assert (found["verdict"], found["read"], found["rule"]) == (audit.OTHER_RULE, "recorded", "mean:skip=2")


@pytest.mark.parametrize(
    ("file", "said"),
    [
        ("published/recomputed/perf.csv", "give FOLDER/recomputed/NAME.jsonl"),
        ("published/perf.jsonl", "give FOLDER/recomputed/NAME.jsonl"),
        ("nowhere/recomputed/perf.jsonl", "holds no sources.toml"),
    ],
)
def test_a_record_needs_a_published_folder(logs: Path, ingest: Callable[..., Called], file: str, said: str) -> None:
    done = ingest("audit", logs, "--to", logs / file)
    assert done.code == 2
    assert said in done.err
    assert not (logs / file).exists()


def test_logs_that_do_not_confirm_dali_are_listed() -> None:
    """The source claims DALI for all logs. Those of TensorFlow state no, and some others do not mention it."""
    known = publications.read([ROOT / "raw_logs" / "published"])
    found = audit.unconfirmed(audit.audit(known, []), known.sources)
    assert Counter((each.row.framework, each.row.precision, each.stated) for each in found) == {
        ("NGC TensorFlow", "fp32", "no"): 2, ("NGC TensorFlow", "amp", "no"): 2,
        ("NGC TensorFlow", "fp32", ""): 1, ("NGC TensorFlow", "amp", ""): 1, ("PaddlePaddle", "fp32", ""): 3,
    }  # fmt: skip
