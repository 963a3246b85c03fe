"""Tables as HTML, and as files with the same figures."""

from __future__ import annotations

import csv
import html
import io
import json
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from perfledger.ingest.common.words import LANGUAGES, own, phrase
from perfledger.ingest.site import table_metrics
from perfledger.ingest.site.render import prose, table_files
from perfledger.ingest.site.render.html_table import Writer
from perfledger.ingest.site.render.table import Cell, Column, Entry, Link, Rest, Table, TableError, View, absent, cell
from perfledger.ingest.site.result_tables import comparison, scaling
from perfledger.schema.records import Run
from tests import builders
from tests.builders import edited, run
from tests.site.tabled import plain, tables_in
from tests.site.test_result_tables import parts

KINDS = ("csv", "json")


def written(table: Table, language: str = "en") -> str:
    return str(Writer(own(), language, lambda page: f"../{page}").table(table))


def filed(table: Table, language: str = "en") -> tuple[list[dict[str, str]], list[dict[str, Any]]]:
    """Return a table's rows as its CSV and its JSON have them."""
    flat = table_files.flat(table, own(), language)
    records = json.loads(flat.json({"name": "x"}))["data"]
    return list(csv.DictReader(io.StringIO(flat.csv().decode()))), records


def numbered(texts: Sequence[str]) -> list[tuple[str, str, str]]:
    """Return, for each number of a column, the padding to its left, its text and the padding to its right."""
    table = Table((Column("run"), Column("figure", True)), tuple((cell("r"), cell(each)) for each in texts))
    found = re.findall(r'<td class="pl-n"[^>]*>(?:<span class="pl-v"([^>]*)>)?([^<]*)', written(table))
    sides = [[re.search(rf'data-{side}="([^"]*)"', given) for side in "lr"] for given, _ in found]
    return [
        (left[1] if left else "", html.unescape(text), right[1] if right else "")
        for (left, right), (_, text) in zip(sides, found, strict=True)
    ]


def test_the_points_of_a_column_stand_below_each_other() -> None:
    found = numbered(["14.2", "1,234", "0.0031", "7", "12,345.6"])
    shapes = {re.sub(r"\d", "0", f"{left}{text}{right}").partition(".")[0] for left, text, right in found}
    assert shapes == {"00,000"}
    assert {len((text + right).partition(".")[2]) for _, text, right in found} == {4}
    assert found[0] == ("00,0", "14.2", "000")


def test_signs_and_units_keep_the_point_in_its_place() -> None:
    found = numbered(["−5.0%", "12.25%", "+3%"])
    assert {len((left + text).partition(".")[0].rstrip("%")) for left, text, _ in found} == {2}
    assert [right for _, _, right in found] == ["0", "", ".00"]


def test_an_absent_figure_is_filled_up_too() -> None:
    table = Table((Column("a"), Column("b", True)), ((cell("x"), cell("1,234")), (cell("y"), absent("why"))))
    assert '<span class="pl-v" data-l="0,00">—</span>' in written(table)


def test_files_have_figures_before_rounding_and_what_stands_beside_them() -> None:
    entry = Entry("14.2", "runs/a.md", ("±1.0%",), (Link("1", "runs/a.md"),), value=14.2345678901, details=(
        ("spread", 0.0101), ("version", "1.10"), ("runs", "a b"), ("round", None),
    ))  # fmt: skip
    table = Table((Column(phrase("table.devices"), True), Column("Py|Torch", True)), ((cell("1,024"), Cell((entry,))),))
    (line,), (record,) = filed(table)
    assert line == {
        "devices": "1024", "py_torch": "14.2345678901", "py_torch_spread": "0.0101", "py_torch_version": "1.10",
        "py_torch_runs": "a b",
    }  # fmt: skip
    assert record["py_torch"] == 14.2345678901
    assert record["py_torch_version"] == "1.10", "a version is no number"
    assert record["devices"] == 1024


def test_a_word_among_numbers_is_a_note() -> None:
    table = Table((Column("case"), Column("speed", True)), ((cell("x"), cell("OOM")), (cell("y"), cell("3"))))
    lines, records = filed(table)
    assert lines[0] == {"case": "x", "speed": "", "speed_note": "OOM"}
    assert [each["speed"] for each in records] == [None, 3]


def test_several_figures_in_a_cell_are_numbered() -> None:
    figures = Cell(
        tuple(Entry(str(n), value=n, details=(("precision", word),)) for n, word in ((1, "amp"), (2, "fp16")))
    )
    table = Table((Column("case"), Column("speed", True)), ((cell("x"), figures), (cell("y"), cell("3"))))
    lines, _ = filed(table)
    assert lines[0] == {
        "case": "x", "speed": "1", "speed_precision": "amp", "speed_2": "2", "speed_2_precision": "fp16",
    }  # fmt: skip
    assert lines[1] == {"case": "y", "speed": "3", "speed_precision": "", "speed_2": "", "speed_2_precision": ""}


def test_an_absent_figure_is_empty_and_says_why() -> None:
    table = Table(
        (Column("case"), Column("speed", True)), ((cell("x"), absent("too few records")), (cell("y"), cell("3")))
    )
    lines, records = filed(table)
    assert lines[0] == {"case": "x", "speed": "", "speed_note": "too few records"}
    assert records[0] == {"case": "x", "speed": None, "speed_note": "too few records"}
    assert records[1]["speed_note"] is None


@pytest.mark.parametrize("text", ["=1+1", "+1", "-1 x", "@SUM(A1)", '=HYPERLINK("http://x")'])
def test_no_text_becomes_a_formula_of_a_spreadsheet(text: str) -> None:
    (line,), (record,) = filed(Table((Column("case"), Column("n", True)), ((cell(text), cell("-5", value=-5)),)))
    assert line["case"] == f"'{text}"
    assert line["n"] == "-5"
    assert record["case"] == text


def test_keys_are_the_same_in_both_languages_and_each_once() -> None:
    columns = (Column(phrase("table.devices")), Column("A b"), Column("a-B"), Column("模型"), Column("x", key="own"))
    table = Table(columns, (tuple(cell(str(n)) for n in range(5)),))
    keys = [list(filed(table, each)[0][0]) for each in LANGUAGES]
    assert keys[0] == keys[1]
    assert len(set(keys[0])) == 5
    assert keys[0][:3] + keys[0][4:] == ["devices", "a_b", "a_b__2", "own"]


def test_pandas_reads_the_files() -> None:
    pandas = pytest.importorskip("pandas")
    table = Table((Column("case"), Column("speed", True)), ((cell("x"), cell("1.5")), (cell("y"), absent(None))))
    text = table_files.flat(table, own(), "en").json({"name": "t"}).decode()
    frame = pandas.read_json(io.StringIO(text), orient="table")
    assert frame["speed"].tolist()[0] == 1.5
    assert frame["speed"].isna().tolist() == [False, True]
    assert frame["case"].tolist() == ["x", "y"]


VIEWS = (View("throughput", "Throughput", "images/s", "higher"), View("memory", "Memory", "MiB", "lower"))


def test_a_view_without_a_figure_shows_none_of_another_view() -> None:
    switched = (Column("case"), Column("speed", True, switched=True))
    table = Table(switched, ((cell("x"), cell("3")),), views=VIEWS)
    page = written(table)
    assert page.count(">3<") == 1
    assert re.search(r'data-view="memory" hidden><span class="pl-absent">—', page)
    assert filed(table)[1] == [{"case": "x", "speed": 3, "speed_memory": None}]


def test_a_note_of_all_views_is_given_once_in_the_files() -> None:
    content = Cell(note="no run", views=(("memory", absent("no run")),))
    table = Table((Column("case"), Column("speed", True, switched=True)), ((cell("x"), content),), views=VIEWS)
    assert filed(table)[1] == [{"case": "x", "speed": None, "speed_note": "no run", "speed_memory": None}]


def test_notes_are_seen_in_the_views_that_refer_to_them() -> None:
    content = Cell(note="no run", views=(("memory", absent("not printed")),))
    table = Table((Column("case"), Column("speed", True, switched=True)), ((absent("odd"), content),), views=VIEWS)
    page = written(table)
    assert [each.split("-")[-1] for each in re.findall(r'<li id="(\S+)"', page)] == ["a", "b", "c"]
    assert re.search(r'<li id="\S+-a"><sup>a</sup> odd', page)
    assert re.search(r'<li id="\S+-b" data-view="throughput"><sup>b</sup> no run', page)
    assert re.search(r'<li id="\S+-c" data-view="memory" hidden><sup>c</sup> not printed', page)
    for name in re.findall(r'href="#(f[nr]-[^"]+)"', page):
        assert page.count(f' id="{name}"') == 1


def test_names_and_notes_are_unique_within_a_page() -> None:
    writer = Writer(own(), "en", lambda page: page)
    table = Table((Column("a"),), ((absent("why"),),), name="runs")
    page = "".join(str(writer.table(table)) for _ in range(3))
    ids = re.findall(r' id="([^"]+)"', page)
    assert len(ids) == len(set(ids)) == 9
    assert re.findall(r'data-name="([^"]+)"', page) == ["runs-1", "runs-2", "runs-3"]


def repeated(framework: str, speeds: Sequence[float], **found: Sequence[float]) -> list[Run]:
    """Return runs of one case, with further figures of each."""
    return [
        run(
            f"resnet50-{framework.lower()}-{n}", framework=framework, speed=speed, repeat=n,
            metrics={name: {"value": values[n], "unit": "", "source": "log"} for name, values in found.items()},
        )
        for n, speed in enumerate(speeds)
    ]  # fmt: skip


def bests(runs: list[Run], view: str) -> list[str]:
    """Return the frameworks that are marked as best in a view."""
    site, suite, rows = parts(runs)
    table = comparison(site, suite, rows)
    at = {
        column.title: dict(content.views).get(view, content)
        for column, content in zip(table.columns, table.rows[0], strict=True)
    }
    return [str(title) for title, content in at.items() if any(each.best for each in content.entries)]


def test_the_best_of_a_row_follows_the_direction_of_the_view() -> None:
    runs = repeated("PyTorch", (100.0, 101.0, 100.5), latency=(640.0, 641.0, 640.5), memory=(9000.0, 9001.0, 9000.5))
    runs += repeated("TensorFlow", (90.0, 91.0, 90.5), latency=(700.0, 701.0, 700.5), memory=(8000.0, 8001.0, 8000.5))
    assert bests(runs, "throughput") == ["PyTorch"]
    assert bests(runs, "latency") == ["PyTorch"]
    assert bests(runs, "memory") == ["TensorFlow"]


def test_a_lead_within_the_spread_is_not_marked_in_any_view() -> None:
    runs = repeated("PyTorch", (100.0, 120.0, 110.0), memory=(9000.0, 7000.0, 8000.0))
    runs += repeated("TensorFlow", (90.0, 110.0, 100.0), memory=(8000.0, 8001.0, 8000.5))
    assert bests(runs, "throughput") == bests(runs, "memory") == []
    assert bests([*runs[:1], *runs[2:3]], "throughput") == [], "one run says nothing about its spread"


def test_the_best_is_ahead_of_every_other_not_only_of_the_second() -> None:
    runs = (
        repeated("PyTorch", (100.0, 101.0, 100.5))
        + repeated("TensorFlow", (95.0, 96.0, 95.5))
        + repeated("MXNet", (60.0, 105.0, 82.5))
    )
    assert bests(runs, "throughput") == []


def test_memory_that_was_measured_differently_is_not_ranked() -> None:
    runs = repeated("PyTorch", (100.0, 101.0, 100.5), memory=(9000.0, 9001.0, 9000.5))
    runs += repeated("TensorFlow", (90.0, 91.0, 90.5), memory=(8000.0, 8001.0, 8000.5))
    runs[3:] = [edited(each, metrics={"memory": {"source": "telemetry"}}) for each in runs[3:]]
    assert bests(runs, "memory") == []


def test_frameworks_that_ran_another_workload_are_not_ranked() -> None:
    """Both state the number of threads, or clipping, and disagree. What only tunes the same work is no difference."""
    for value in ("threads", "clip"):
        runs = repeated("PyTorch", (100.0, 101.0, 100.5)) + repeated("TensorFlow", (90.0, 91.0, 90.5))
        for number, each in enumerate(runs):
            torch = each.case.framework == "PyTorch"
            options = {value: (8 if torch else 1) if value == "threads" else torch}
            runs[number] = edited(each, case={"options": options})
        assert bests(runs, "throughput") == [], value
    runs = repeated("PyTorch", (100.0, 101.0, 100.5)) + repeated("TensorFlow", (90.0, 91.0, 90.5))
    runs[:3] = [edited(each, case={"options": {"xla": True}}) for each in runs[:3]]
    assert bests(runs, "throughput") == ["PyTorch"]
    runs[3:] = [edited(each, case={"options": {"xla": False}}) for each in runs[3:]]
    assert bests(runs, "throughput") == ["PyTorch"]


def test_a_view_shows_its_figure_though_there_is_no_throughput() -> None:
    runs = repeated("PyTorch", (100.0, 101.0, 100.5), latency=(640.0, 641.0, 640.5))
    runs += repeated("TensorFlow", (90.0, 91.0, 90.5), latency=(600.0, 601.0, 600.5))
    figures = {"sustained": builders.absent("not_stated", missing="summary")}
    runs[3:] = [edited(each, figures=figures) for each in runs[3:]]
    site, suite, rows = parts(runs)
    (line,) = comparison(site, suite, rows).rows
    tensorflow = next(each for each in line[2:] if not each.entries)
    assert tensorflow.note
    assert [entry.value for entry in dict(tensorflow.views)["latency"].entries] == [600.5]
    assert bests(runs, "latency") == ["TensorFlow"]


def test_a_speed_up_is_as_uncertain_as_its_baseline() -> None:
    """1 device: 100 to 130, 8 devices: 800. So the speed-up is between 6.2 and 8, and 7.5 of another is no better."""
    runs = [
        run(f"resnet50-{framework}-{devices}-{n}", framework=framework, devices=devices, speed=speed, repeat=n)
        for framework, devices, speeds in (
            ("PyTorch", 1, (100.0, 130.0, 115.0)), ("PyTorch", 8, (800.0, 801.0, 800.5)),
            ("TensorFlow", 1, (100.0, 100.1, 100.05)), ("TensorFlow", 8, (750.0, 751.0, 750.5)),
        )
        for n, speed in enumerate(speeds)
    ]  # fmt: skip
    site, suite, rows = parts(runs)
    (torch,) = [row for row in rows if row.framework == "PyTorch" and row.devices == 8]
    found = table_metrics.measured(site, torch, "speedup")
    assert found
    assert (round(found.low, 3), round(found.high, 3)) == (round(800 / 130, 3), round(801 / 100, 3))
    table = scaling(site, suite, rows)
    assert table
    (line,) = table.rows
    for content in line[2:]:
        (efficiency,), (speedup,) = content.entries, dict(content.views)["speedup"].entries
        assert not efficiency.best
        assert not speedup.best
        assert efficiency.value == pytest.approx(speedup.value / 8)


def test_fifty_repeats_do_not_wreck_a_cell() -> None:
    runs = repeated("PyTorch", [100.0 + n / 10 for n in range(50)])
    site, suite, rows = parts(runs)
    table = comparison(site, suite, rows)
    (row,) = tables_in(written(table))[0][1:]
    assert "n=50" in row[2]
    assert row[2].count("](") == 1, "it leads to the run nearest to the median, which names the others"
    (line,), _ = filed(table)
    assert line["pytorch_repeats"] == "50"
    assert line["pytorch_runs"].count(" ") == 20
    assert line["pytorch_runs"].endswith(" …")


def test_units_stand_in_the_head_of_every_view() -> None:
    runs = repeated("PyTorch", (100.0, 101.0), memory=(9000.0, 9001.0))
    site, suite, rows = parts(runs)
    assert plain(written(comparison(site, suite, rows)))[0][2] == "PyTorch images/s ↑"
    assert 'data-unit="MiB" data-view="memory" hidden>MiB ↓<' in written(comparison(site, suite, rows))


def test_a_row_of_another_length_than_the_head_fails_with_the_name_of_the_table() -> None:
    columns = (Column("case"), Column(phrase("table.devices"), True))
    with pytest.raises(TableError, match=r"table 'results': row 2 has 1 cells, but there are 2 columns \(case, table"):
        Table(columns, ((cell("x"), cell("1")), (cell("y"),)), name="results")


def test_a_table_of_sentences_is_searched_and_has_files_too() -> None:
    table = prose.table("|File|Holds|\n|---|---|\n|[`a.json`](../a.json)|*every* result & more|\n")
    page = written(table)
    assert page.startswith('<div class="pl-table">\n'), "it is not left out of the search"
    assert '<td><a href="../a.json"><code>a.json</code></a></td>\n<td><em>every</em> result &amp; more</td>' in page
    assert filed(table)[0] == [{"column_1": "a.json", "column_2": "every result & more"}]
    with pytest.raises(TableError, match=r"'text': row 1 has 1 cells"):
        prose.table("|a|b|\n|---|---|\n|c|\n")


def test_files_lie_beside_the_page() -> None:
    places = {"index.md": "tables", "models/index.md": "models/tables", "runs/one-1.md": "runs/one-1/tables"}
    assert {page: table_files.folder(page) for page in places} == places
    writer = Writer(own(), "en", str, "runs/one-1.md")
    page = writer.table(Table((Column("a"),), (), caption="What it holds"))
    assert 'href="one-1/tables/table-1.csv" download' in page
    assert '<p class="pl-caption" id="table-1-caption">What it holds</p>' in page
    assert '<table class="pl-grid" aria-labelledby="table-1-caption" data-name="table-1" id="table-1">' in page


def test_tables_on_the_pages_of_a_run_have_no_files_of_their_own(whole: Path) -> None:
    pages = [page for page in whole.rglob("runs/*/**/index.html") if 'class="pl-grid"' in page.read_text("utf-8")]
    assert len(pages) > 10
    assert not [page for page in pages if "pl-files" in page.read_text("utf-8")]
    assert not [*whole.rglob("runs/*/**/tables")]


def test_a_table_with_rows_on_another_page_has_the_files_of_that_one() -> None:
    writer = Writer(own(), "en", str, "models/a/index.md")
    rows = tuple((cell(str(each)),) for each in range(5))
    table = Table((Column("a"),), rows, rest=Rest(3, "models/a/all-results.md"))
    page = writer.table(table)
    assert 'href="all-results/tables/table-1.csv" download' in page
    assert writer.filed == {}
    assert 'href="tables/table-2.csv" download' in writer.table(replace(table, rest=None))
    assert list(writer.filed) == ["table-2"]


def test_every_table_has_a_file_next_to_its_page_or_to_the_page_with_the_whole_table(whole: Path) -> None:
    tables = elsewhere = 0
    for page in (each for each in whole.rglob("*.html") if "runs" not in each.parent.parts[:-1]):
        text = page.read_text("utf-8")
        names = re.findall(r'<table class="pl-grid"[^>]* data-name="([^"]+)"', text)
        # Those of the front page and of the hardware are made of figures that results.csv has.
        without = text.count('<table class="pl-shares"') + text.count('id="pl-matrix-table"')
        assert len(names) == len(set(names)) == text.count("<table") - without, page
        for name in names:
            for kind in KINDS:
                found = re.search(rf'href="((?:all-results/)?tables/{name}.{kind})" download', text)
                assert found
                assert (page.parent / found[1]).is_file()
                elsewhere += found[1].startswith("all-results")
        tables += len(names)
    assert tables > 40
    assert elsewhere


def test_files_say_what_the_page_shows(whole: Path) -> None:
    page = (whole / "models" / "resnet50" / "index.html").read_text("utf-8")
    page = "<table" + page.partition('data-name="comparison-1"')[2].partition("</table>")[0] + "</table>"
    rows = {row[0].split()[0] + row[1]: row for row in tables_in(page)[0]}
    file = whole / "models" / "resnet50" / "all-results" / "tables" / "comparison-1.csv"
    seen = 0
    for line in csv.DictReader(io.StringIO(file.read_text("utf-8"))):
        row = rows[line["devices"] + line["batch_size"]]
        for index, framework in ((2, "paddlepaddle"), (3, "tensorflow"), (4, "pytorch")):
            shown = re.match(r"(?:\*\*)?\[([\d,.]+)\]", row[index])
            assert bool(shown) == bool(line[framework]), row
            if shown:
                assert float(shown[1].replace(",", "")) == pytest.approx(float(line[framework]), rel=0.005)
                assert line[f"{framework}_repeats"] == re.findall(r"n=(\d+)", row[index])[0]
                seen += 1
            else:
                assert row[index] == "—" or ("OOM" in row[index] and line[f"{framework}_note"] == "OOM")
    assert seen == 7
