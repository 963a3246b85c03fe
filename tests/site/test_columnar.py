"""Results and runs as Parquet: the same values as the JSON, and the queries of the page of data, which are run."""

from __future__ import annotations

import io
import json
import re
import textwrap
from collections import Counter, defaultdict
from itertools import pairwise
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import pytest
from msgspec.structs import replace
from pyarrow import parquet

from perfledger.ingest.common import problems
from perfledger.ingest.common.words import LANGUAGES, own
from perfledger.ingest.site.data import columnar, results
from perfledger.ingest.site.data.problems import document
from perfledger.ingest.site.model import Site, site_of_runs
from perfledger.schema.records import Problem
from tests import builders


@pytest.fixture(scope="module")
def site() -> Site:
    repeats = [builders.run(f"repeat-{at}", speed=300.0 + at**2, batch_size=32, repeat=at) for at in range(1, 5)]
    wrong = [
        replace(each, problems=(Problem(code, each.path),) * times)
        for each, code, times in zip(repeats, ("too_few", "cut_line", "too_few"), (1, 2, 1), strict=False)
    ]
    given = [*builders.runs(), *wrong, *repeats[len(wrong) :]]
    return site_of_runs(given)


@pytest.fixture(scope="module")
def data(site: Site, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write both files where the queries look for them, and return the folder above."""
    folder = tmp_path_factory.mktemp("columnar")
    for path, content in columnar.files(site, results.records(site, own()), own()).items():
        (folder / "docs" / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / "docs" / path).write_bytes(content)
    return folder


def rows(data: Path, path: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = parquet.read_table(data / "docs" / path).to_pylist()
    return found


def test_results_are_those_of_the_json(site: Site, data: Path) -> None:
    found = {each["id"]: each for each in rows(data, columnar.RESULTS)}
    document = json.loads(results.document(results.records(site, own())))["results"]
    assert len(found) == len(document) > 5
    for each in document:
        row = found[each["id"]]
        for name in ("model", "framework", "devices", "batch_size", "value", "low", "spread", "repeats", "unit"):
            assert row[name] == each[name], (each["id"], name)
        assert row["runs"] == [run["id"] for run in each["runs"]]


def test_runs_are_those_of_the_ledger(site: Site, data: Path) -> None:
    found = {each["id"]: each for each in rows(data, columnar.RUNS)}
    assert list(found) == [run.id for run in site.runs]
    for run in site.runs:
        row, figure = found[run.id], run.figure(run.rule)
        assert (row["path"], row["sha256"], row["outcome"], row["published"]) == (
            run.path, run.sha256, run.outcome, run.published,
        )  # fmt: skip
        assert (row["model"], row["devices"], row["batch_size"]) == (
            run.case.model, run.case.devices, run.case.batch_size,
        )  # fmt: skip
        assert row["value"] == (figure.value if figure and figure.scope == "job" else None)
        assert row["problems"] == [each.code for each in run.problems]
    assert any(row["value"] is None for row in found.values())


def test_columns_have_types(data: Path) -> None:
    schema = parquet.read_schema(data / "docs" / columnar.RUNS)
    assert {name: str(schema.field(name).type) for name in ("devices", "value", "published", "problems")} == {
        "devices": "int64", "value": "double", "published": "bool", "problems": "list<element: string>",
    }  # fmt: skip
    assert schema.metadata[b"perfledger"] == b"1"


def test_problems_of_many_logs_are_those_of_few(monkeypatch: pytest.MonkeyPatch) -> None:
    reason = {"reason": {"code": "too_few_records", "args": {"records": 2, "needed": 3}}}
    found = (Problem("empty", "a.log"), Problem("empty", "b.log", 3), Problem("too_few", "c.log", 0, reason))
    site, known = site_of_runs(builders.runs(), found), own()
    assert problems.TABLE not in columnar.files(site, [], known)
    monkeypatch.setattr(problems, "MANY_LOGS", len({run.path for run in site.runs}) - 1)
    table = parquet.read_table(io.BytesIO(columnar.files(site, [], known)[problems.TABLE]))
    assert str(table.schema.field("line").type) == "int64"
    rows = table.to_pylist()
    for row in rows:
        row |= {"args": json.loads(row["args"]), "said": {each: row.pop(f"said_{each}") for each in LANGUAGES}}
    assert rows == [json.loads(each) for each in document(site.all_problems, known).splitlines()]
    assert {each["code"] for each in rows} >= {"empty", "too_few"}


def test_the_bytes_are_the_same_twice(site: Site) -> None:
    found = results.records(site, own())
    assert columnar.files(site, found, own()) == columnar.files(site, found, own())


def test_a_site_without_results_has_empty_files() -> None:
    empty = columnar.files(site_of_runs(()), [], own())
    assert set(empty) == {columnar.RESULTS, columnar.RUNS}


def blocks(pages: Path, language: str, kind: str) -> str:
    """Return the code of the queries as a page of the site shows it."""
    template = Path(__file__).resolve().parents[2] / "report_templates" / "pages" / "_queries.md.j2"
    page = (pages / language / "data.md").read_text("utf-8")
    (found,) = re.findall(rf"```{kind}\n(.*?)```", template.read_text("utf-8"), re.DOTALL)
    code = textwrap.dedent(found)
    shown = " ".join(page.split())
    assert [line for line in code.splitlines() if " ".join(line.split()) not in shown] == []
    return code


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_queries_of_the_page_answer_alike(
    real_pages: Path, data: Path, site: Site, monkeypatch: pytest.MonkeyPatch, language: str
) -> None:
    monkeypatch.chdir(data)
    told: dict[str, Any] = {}
    exec(blocks(real_pages, language, "python"), told)
    fastest, widest, problems = (
        duckdb.sql(each).fetchall() for each in blocks(real_pages, language, "sql").split(";") if each.strip()
    )
    # Against the results, computed here once more.
    best: dict[tuple[Any, ...], tuple[float, str | None]] = defaultdict(lambda: (0.0, None))
    for each in results.records(site, own()):
        if each.value and each.devices:
            key = (each.model, each.hardware, each.precision, each.unit)
            best[key] = max(best[key], (each.value / each.devices, each.framework), key=lambda one: one[0])
    expected = sorted((*key[:3], name, value, key[3]) for key, (value, name) in best.items())
    assert len(expected) > 1
    assert sorted(fastest) == expected
    assert sorted(told["fastest"].itertuples(index=False, name=None)) == expected
    spreads = [(row[0], row[1], pytest.approx(row[2])) for row in widest]
    assert [tuple(row) for row in told["widest"].itertuples(index=False, name=None)] == spreads
    assert spreads
    assert all(one[2] >= two[2] for one, two in pairwise(widest))
    counted = Counter(code for run in site.runs for code in {each.code for each in run.problems})
    assert dict(problems) == dict(counted) == told["problems"].to_dict()
    assert counted
    assert isinstance(told["runs"], pd.DataFrame)
