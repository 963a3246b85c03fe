"""Reports of published figures: every declaration builds, cells are what the tables say, and mistakes are named."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any, get_args

import pytest
from msgspec import structs

from perfledger.ingest.common import words
from perfledger.ingest.common.toml_file import FileError
from perfledger.ingest.published import publications
from perfledger.ingest.published.declarations import SECTIONS, Form, Report, ReportError, Speedup, reports
from perfledger.ingest.published.publications import Publications, Published
from perfledger.ingest.published.slices import Cut, Slice, SliceFigure, cut, slices
from perfledger.ingest.site import builder
from perfledger.ingest.site import published_tables as tables
from perfledger.ingest.site.model import Site, site_of_runs, suites
from perfledger.ingest.site.pages import reports as report_pages
from perfledger.ingest.site.render import drawing, jinja
from perfledger.ingest.site.render.chart import Chart
from perfledger.ingest.site.render.scale import shortened
from perfledger.ingest.site.render.table import Cell, Table
from perfledger.ingest.site.report_charts import slice_charts
from tests import builders
from tests.site.tabled import rows_in

ROOT = Path(__file__).resolve().parents[2]
#: The title of a dot of a chart.
POINTED = r'class="pl-mark[^>]*><title>([^<]*)</title>(?:(?!</[ag]>).)*class="pl-dot'
ALL = reports()
LANGUAGES = ("en", "zh")


@cache
def figures() -> Publications:
    """Return the published figures of this project."""
    found = publications.read([ROOT / "raw_logs" / "published"])
    assert len(found.rows) > 2900
    assert not found.problems
    return found


@cache
def cuts() -> dict[str, Cut]:
    return {each.id: cut(each, [row for row in figures().rows if row.source == each.source]) for each in ALL}


def cut_of(report: Report) -> Cut:
    return cuts()[report.id]


def charts_of(report: Report, found: Cut) -> list[Chart]:
    """Return all charts of a report."""
    parts = [(of_block, part) for of_block in found.slices for part in of_block]
    return [chart for each, part in parts for chart in slice_charts(report, each, part, found.common)]


def named(identifier: str) -> Report:
    return next(each for each in ALL if each.id == identifier)


def site_of(publications: Publications) -> Site:
    return Site((), (), suites(), lambda _: (), publications)


@cache
def markdown() -> dict[tuple[str, str], str]:
    """Return every page of the reports, by language and path."""
    known = words.load()
    return {
        (language, page.path): rendered
        for page in report_pages.pages(site_of(figures()))
        for language, rendered in zip(LANGUAGES, jinja.rendered(known, page), strict=True)
    }


def texts(cell: Cell) -> list[str]:
    """Return the texts of a cell's entries, with numbers without separators."""
    return [str(entry.text).replace(",", "") for entry in cell.entries]


def one(**given: Any) -> Published:
    """Return a made-up figure; none of these was published anywhere."""
    made = {
        "source": "Made up", "place": "page.md", "line": "", "log": "", "model": "Test net", "framework": "Alpha",
        "framework_source": "", "hardware": "Test GPU", "nodes": 1, "devices": 1, "batch_size": 8, "precision": "fp32",
        "options": {}, "metric": "throughput", "unit": "images/s", "printed": "10.5", "value": 10.5,
        "state": "measured", "speedup": "", "note": "", "file": "published/made.csv", "row": 2,
    }  # fmt: skip
    if "value" in given and "printed" not in given:
        given["printed"] = str(given["value"])
    return Published(**{**made, **given})


HEAD = """
source = "Made up"
section = "summary"
order = 1
title = { en = "Made", zh = "示例" }
description = { en = "Made.", zh = "示例。" }
"""


def declared(folder: Path, text: str, *, head: str = HEAD, shared: str = "") -> Report:
    (folder / "made.toml").write_text(head + text, "utf-8")
    (folder / "_shared.toml").write_text(shared, "utf-8")
    return reports(folder)[0]


def sliced(folder: Path, text: str, rows: Sequence[Published]) -> list[Slice]:
    return slices(declared(folder, f"[[block]]\n{text}").blocks[0], rows)


def tabled(folder: Path, text: str, rows: Sequence[Published]) -> Table:
    found = sliced(folder, text, rows)
    assert len(found) == 1
    return tables.of_slice(found[0])


def test_the_declaration_that_contributing_shows_is_one(tmp_path: Path) -> None:
    blocks = re.findall(r"```toml\n(.*?)```", (ROOT / "docs/contributing/figures.md").read_text("utf-8"), re.DOTALL)
    (shown,) = (each for each in blocks if "[[block]]" in each)
    report = declared(tmp_path, shown, head="")
    rows = [row for row in figures().rows if row.source == report.source]
    assert any(part.rows for parts in cut(report, rows).slices for part in parts)


# --- the declarations of this project ---------------------------------------------------------------------------------


def test_every_source_has_reports_and_every_report_a_source() -> None:
    assert {each.source for each in ALL} == set(figures().sources)
    assert len(ALL) > 40
    assert {each.section for each in ALL} == set(SECTIONS)


def test_every_published_figure_is_in_a_report() -> None:
    """New figures need a declaration of their place."""
    shown = {id(row) for report in ALL for row in cut_of(report).rows}
    assert not [f"{row.file}:{row.row}" for row in figures().rows if id(row) not in shown]


@pytest.mark.parametrize("report", ALL, ids=lambda each: each.id)
def test_cells_are_the_figures_of_the_tables(report: Report) -> None:
    found = [(block, part) for block, parts in zip(report.blocks, cut_of(report).slices, strict=True) for part in parts]
    assert found
    for block, part in found:
        table = tables.of_slice(part)
        keys = len(part.keys)
        assert len(table.rows) == len(part.rows)
        assert len(table.columns) == keys + len(part.columns), block.place
        for (row, column), there in part.cells.items():
            said = texts(table.rows[row][keys + column])
            wanted = [_state_or_figure(each) for each in there]
            assert [state_in(each) or each for each in said] == [each for each in wanted if each], block.place
            assert all(each.row.value is None or float(each.row.printed) == each.row.value for each in there)


def _state_or_figure(each: SliceFigure) -> str | None:
    """Return what a cell names of a figure; empty for one that was not measured, unless something is next to it."""
    if each.row.state == "not_measured":
        return "—" if each.beside else None
    return each.row.printed if each.row.state == "measured" else each.row.state


def state_in(text: str) -> str | None:
    """Return the state that a cell names instead of a figure."""
    return next((each for each in ("oom", "pending") if each in text), None)


@pytest.mark.parametrize("report", ALL, ids=lambda each: each.id)
@pytest.mark.parametrize("language", LANGUAGES)
def test_a_report_says_whose_figures_they_are(report: Report, language: str) -> None:
    text = markdown()[language, f"reports/{report.id}.md"]
    source = figures().sources[report.source]
    head = text.partition("\n<h2")[0]
    assert f'<a href="{source.address}">' in head
    unknown = {"en": "date unknown", "zh": "日期不详"}[language]
    assert (report.date or str(source.year or unknown)) in head
    assert source.commit in head
    assert {"en": "Published by others", "zh": "第三方公布"}[language] in head


def test_every_table_and_chart_of_a_report_is_open() -> None:
    """Without plans a page has no recipes, its only fold."""
    assert [path for (_, path), text in markdown().items() if "<details" in text] == []


def test_commands_of_reports_are_shell_that_can_be_copied() -> None:
    steps = [step for each in ALL for block in each.blocks for step in block.code]
    assert len(steps) > 30
    for step in steps:
        subprocess.run(["bash", "-n"], input=step.shell, text=True, check=True, capture_output=True)
    page = markdown()["zh", "reports/perf-deeplabv3p-pending.md"]
    assert re.search(r"<pre[^>]*><code>wget https://\S+cityscapes\.tar&#10;echo ", page)


def test_the_index_lists_every_report() -> None:
    for language in LANGUAGES:
        text = markdown()[language, "reports/index.md"]
        assert not [each.id for each in ALL if f'<a href="{each.id}.md">' not in text]


ROUND = {1: (8, "images/s"), 2: (8, "images/s"), 3: (6, "sequences/s"), 4: (6, "sequences/s"), 5: (7, "sequences/s"),
         6: (7, "sequences/s")}  # fmt: skip


def matrices() -> list[tuple[int, Slice]]:
    found = named("dlperf-round")
    return list(enumerate((parts[0] for parts in cut_of(found).slices if parts), 1))


def test_the_round_has_its_six_matrices() -> None:
    assert {n: (len(part.columns), part.figures[0].row.unit) for n, part in matrices()} == ROUND
    for _, part in matrices():
        assert [head.values for head in part.rows] == [(("devices", each),) for each in ("1x1", "1x8", "2x16", "4x32")]
        assert len(part.figures) == len(part.rows) * len(part.columns)


def test_the_round_has_its_twelve_figures() -> None:
    found = charts_of(named("dlperf-round"), cut_of(named("dlperf-round")))
    assert [each.name.rpartition("-")[2] for each in found] == ["bars", "speedup"] * 6
    assert len({each.name for each in found}) == 12
    for (_, part), chart in zip(matrices(), found[::2], strict=True):
        panels = said(chart).panels
        drawn = {(at, column): dot.value for at, panel in enumerate(panels) for column, dot in enumerate(panel.rows)}
        assert drawn == {place: each[0].row.value for place, each in part.cells.items()}
        assert [each.label for each in panels] == [
            "1 device",
            "8 devices",
            "16 devices on 2 machines",
            "32 devices on 4 machines",
        ]
    for (_, part), chart in zip(matrices(), found[1::2], strict=True):
        lines = said(chart).series
        assert len(lines) == len(part.columns)
        for column, line in enumerate(lines):
            values = [part.cells[row, column][0].row.value or 0 for row in range(4)]
            assert [point.x for point in line.points] == [1, 8, 16, 32]
            speeds = [point.y * point.x / 100 for point in line.points]
            assert speeds == [pytest.approx(value / values[0], abs=0.005) for value in values]
            assert [float(re.search(r"([\d.]+)×", point.text)[1]) for point in line.points] == [
                pytest.approx(each, abs=0.005) for each in speeds
            ]


def test_speed_ups_of_the_round_are_those_of_the_framework_pages() -> None:
    """Computed from the figures: OneFlow on 32 GPUs is 12,411.97 / 397.64 of one, and its own page prints 31.21."""
    part = dict(matrices())[1]
    assert [each[0].speedup for (row, column), each in sorted(part.cells.items()) if column == 0] == [
        "1.00", "7.87", "15.74", "31.21"
    ]  # fmt: skip


def test_the_sixteen_tables_of_insightface() -> None:
    tables = [part for parts in cut_of(named("dlperf-insightface")).slices for part in parts]
    paired = [part for part in tables if part.figures[0].row.metric == "throughput"]
    assert len(paired) == 16
    assert {tuple(head.values for head in part.columns) for part in paired} == {
        ((("framework", "OneFlow"),), (("framework", "MXNet"),))
    }
    unmeasured = [each for part in paired for each in part.figures if each.row.state == "not_measured"]
    assert len(unmeasured) == 12
    assert all(each.row.framework == "MXNet" and each.row.options["dataset"] == "glint360k" for each in unmeasured)


def test_out_of_memory_is_in_its_cells_and_the_ratio_has_a_dash() -> None:
    cells = [
        row[1:]
        for parts in cut_of(named("dlperf-wide-deep")).slices
        for part in parts
        for row in tables.of_slice(part).rows
    ]
    assert len(cells) == 5 + 8 + 9
    lost = [row for row in cells if any(each.entries and each.entries[0].tone == "bad" for each in row)]
    assert len(lost) == 3 + 5
    for oneflow, hugectr, memory, memory_of_hugectr, ratio in lost:
        assert hugectr.entries[0].tone == memory_of_hugectr.entries[0].tone == "bad"
        assert oneflow.entries[0].tone == memory.entries[0].tone == ""
        assert not ratio.entries
    known = markdown()
    assert known["en", "reports/dlperf-wide-deep.md"].count(">OOM</span>") == 16
    assert known["zh", "reports/dlperf-wide-deep.md"].count(">OOM</span>") == 16


def test_the_eighteen_cases_of_gpt() -> None:
    arithmetic, chart, sequences = (parts for parts in cut_of(named("dlperf-gpt")).slices if parts)
    assert (len(arithmetic[0].rows), len(arithmetic[0].columns)) == (18, 6)
    assert (len(chart[0].rows), len(chart[0].columns)) == (18, 2)
    assert [len(part.rows) for part in sequences] == [4, 4, 6, 4]


def test_differences_are_written_as_the_source_writes_them() -> None:
    found = "".join(rows_in(markdown()["en", "reports/dlperf-zero.md"]))
    assert "|3,849 (−1,754, ↓31.3%)|" in found
    assert "|742 (+25, ↑3.5%)|" in found


@pytest.mark.parametrize("form", [each for each in get_args(Form) if each != "table"])
def test_every_form_of_chart_is_used_and_has_its_words(form: str) -> None:
    known = words.load()
    assert known.has(f"report.chart_{form}")
    assert known.has(f"report.text_{form}")
    assert any(block.rows and form in block.show for each in ALL for block in each.blocks)


def test_what_is_named_by_data_has_its_words() -> None:
    known = words.load()
    metrics = {row.metric for row in figures().rows}
    assert not [each for each in metrics if not known.has(f"published_metric.{each}")]
    assert not [each for each in SECTIONS if not known.has(f"report.section_{each}")]
    assert not [each for each in get_args(Speedup) if each and not known.has(f"report.speedup_{each}")]
    options = {name for row in figures().rows for name in row.options}
    assert not [each for each in options if not known.has(f"option.{each}")]
    ways = {row.options["parallel"] for row in figures().rows if "parallel" in row.options}
    assert not [each for each in ways if not known.has(f"option_value.{each}")]
    keys = {key for each in ALL for parts in cut_of(each).slices for part in parts for key in part.keys}
    assert not [each for each in keys if not each.startswith("options.") and not known.has(f"report.key_{each}")]


@pytest.mark.parametrize("report", ["perf-bert", "dlperf-round", "perf-front"])
def test_dots_say_figures_as_they_were_printed_and_carry_them_shortened(report: str) -> None:
    cut_up = cut_of(named(report))
    drawn = [each for each in charts_of(named(report), cut_up) if each.name.endswith("-bars")]
    printed = {tables.printed(row) for row in cut_up.rows if row.value is not None}
    assert drawn
    for chart in drawn:
        svg = drawing.draw(said(chart), drawing.WIDE, str)
        pointed = {each.splitlines()[1].split()[0] for each in re.findall(POINTED, svg, re.DOTALL)}
        shown = {each.split()[0] for each in re.findall(r"<text[^>]*>([^<]*)</text>", svg) if each.strip()}
        assert pointed
        assert pointed <= printed, chart.name
        assert pointed == {
            dot.text.split()[0] for panel in said(chart).panels for dot in panel.rows if dot.value is not None
        }
        assert set(map(shortened, pointed)) <= shown, chart.name


def said(chart: Chart) -> Any:
    return chart.said(words.load(), "en")


# --- slices on made figures -------------------------------------------------------------------------------------------


def test_a_fact_is_stated_once_for_all_figures_that_share_it(tmp_path: Path) -> None:
    rows = [
        one(framework="Alpha", devices=1, batch_size=8, options={"mode": "a"}),
        one(framework="Alpha", devices=8, batch_size=8, options={"mode": "b"}, hardware="Other GPU"),
        one(framework="Beta", devices=1, batch_size=16, options={"mode": "b"}),
        one(framework="Beta", devices=8, batch_size=16, options={"mode": "b"}, hardware="Other GPU"),
    ]
    found = sliced(tmp_path, 'rows = "devices"\ncolumns = "framework"', rows)[0]
    assert ("model", "Test net") in found.same
    assert [head.marks for head in found.columns] == [(("batch_size", "8"),), (("batch_size", "16"),)]
    assert [head.marks for head in found.rows] == [(("hardware", "Test GPU"),), (("hardware", "Other GPU"),)]
    assert found.cells[0, 0][0].marks == (("options.mode", "a"),)
    assert found.cells[0, 1][0].marks == (("options.mode", "b"),)
    head = words.load().say("en", tables.of_slice(found).columns[2].title)
    assert head == "Beta (bsz=16)"


def test_a_batch_size_that_differs_within_a_column_is_in_its_cells(tmp_path: Path) -> None:
    rows = [one(), one(devices=8, batch_size=6), one(framework="Beta", devices=8), one(framework="Gamma")]
    table = tabled(tmp_path, 'rows = "devices"\ncolumns = "framework"', rows)
    assert [row[1].entries[0].marks for row in table.rows] == [("bsz=8",), ("bsz=6",)]
    assert table.rows[1][2].entries[0].marks == ("bsz=8",)
    assert not table.rows[0][2].entries


def test_a_speed_up_is_against_one_device_of_the_same_case(tmp_path: Path) -> None:
    rows = [
        one(value=10.0),
        one(devices=8, value=75.0),
        one(devices=16, nodes=2, value=140.0, hardware="Other GPU"),
        one(devices=32, nodes=4, value=280.0, batch_size=16),
    ]
    found = sliced(tmp_path, 'rows = "devices"\ncolumns = "framework"\nspeedup = "computed"', rows)[0]
    assert [each.speedup for each in found.figures] == ["1.00", "7.50", "", ""]


def test_two_figures_of_one_device_give_no_speedup(tmp_path: Path) -> None:
    rows = [one(value=10.0), one(value=11.0), one(devices=8, value=75.0)]
    text = 'rows = "devices"\ncolumns = "framework"\nspeedup = "computed"\nseveral = true'
    assert {each.speedup for each in sliced(tmp_path, text, rows)[0].figures} == {""}


def test_published_speed_ups_are_shown_as_printed(tmp_path: Path) -> None:
    rows = [one(value=10.0, speedup="1.00"), one(devices=8, value=75.0, speedup="7.6")]
    table = tabled(tmp_path, 'rows = "devices"\ncolumns = "framework"\nspeedup = "published"', rows)
    assert [row[1].entries[0].marks for row in table.rows] == [(), ("7.6×",)]


def test_printed_tables_are_separated_by_their_lines(tmp_path: Path) -> None:
    rows = [one(line=str(line), devices=devices) for line, devices in ((10, 1), (11, 2), (13, 4), (16, 1), (17, 2))]
    found = sliced(tmp_path, 'rows = "devices"\ncolumns = "framework"\nsplit = "table"', rows)
    assert [len(part.rows) for part in found] == [3, 2]


def test_other_differences_make_rows(tmp_path: Path) -> None:
    rows = [one(batch_size=size, options={"mode": mode}) for size, mode in ((8, "a"), (16, "a"), (16, "b"))]
    found = sliced(tmp_path, 'rows = ["devices", "*"]\ncolumns = "metric"', rows)[0]
    assert found.keys == ("devices", "batch_size", "options.mode")
    assert len(found.rows) == 3


def test_digits_are_grouped_and_unchanged() -> None:
    assert [tables.grouped_digits(each) for each in ("11233.90", "999", "4.0", "1e5", "2000000")] == [
        "11,233.90", "999", "4.0", "1e5", "2,000,000"
    ]  # fmt: skip


def test_a_curve_has_the_time_of_a_step(tmp_path: Path) -> None:
    rows = [one(devices=8, batch_size=size, value=value) for size, value in ((8, 400.0), (16, 640.0))]
    report = declared(tmp_path, '[[block]]\nrows = ["devices", "batch_size"]\ncolumns = "framework"\nshow = "curve"')
    (line,) = said(charts_of(report, cut(report, rows))[0]).series
    assert [(point.x, point.y) for point in line.points] == [(160.0, 400.0), (200.0, 640.0)]


def test_a_chart_does_not_mix_units(tmp_path: Path) -> None:
    rows = [one(), one(framework="Beta", unit="words/s")]
    report = declared(tmp_path, '[[block]]\nrows = "devices"\ncolumns = "framework"\nshow = "bars"')
    with pytest.raises(ReportError, match="one metric and unit"):
        charts_of(report, cut(report, rows))


# --- wrong declarations -----------------------------------------------------------------------------------------------

GOOD = 'rows = "devices"\ncolumns = "framework"\n'


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[[block]]\nrowz = 1\n", "block[0].rowz: unknown key; did you mean 'rows'?"),
        ('[[block]]\nrows = "device"\ncolumns = "framework"\n', "block[0].rows[0]: expected one of *, model, "),
        ('[[block]]\nrows = "devices"\ncolumns = "frame"\n', "block[0].columns[0]: expected one of model, "),
        (f'[[block]]\n{GOOD}where = {{ modell = "x" }}\n', "got 'modell'; did you mean 'model'?"),
        (f'[[block]]\n{GOOD}split = "lines"\n', "block[0].split[0]: expected one of table, model, "),
        (
            f'[[block]]\n{GOOD}show = "pie"\n',
            "block[0].show[0]: expected one of bars, columns, curve, lines, speedup, table, got 'pie'",
        ),
        (f'[[block]]\n{GOOD}speedup = "yes"\n', "block[0].speedup: expected one of computed, published, got 'yes'"),
        ('[[block]]\nrows = "devices"\n', "block[0]: expected either columns"),
        ('[[block]]\ncolumns = "framework"\n', "block[0]: the key 'rows' is missing"),
        ('[[block]]\nuse = "nothing"\n', "block[0].use: there is no block 'nothing'"),
        ('[[block]]\ntitle = { en = "only" }\n', "no text in 'zh'"),
        ('[[block]]\ntext = "one language"\n', "block[0].text[0]: expected a text in both languages"),
        (
            '[[block]]\nfacts = { columns = ["a", "b"], rows = [["1"]] }\n',
            "block[0].facts.rows[0]: the row has 1 cells, but there are 2 columns",
        ),
        ("order = 2\n[[block\n", "is not TOML"),
    ],
)
def test_a_wrong_declaration_is_named_with_file_and_key(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(FileError, match=re.escape(message)) as error:
        declared(tmp_path, text)
    assert re.search(r"(made|_shared)\.toml:\d+: ", str(error.value))


@pytest.mark.parametrize("missing", ["source", "section", "order", "title", "description"])
def test_a_declaration_without_its_head_is_refused(tmp_path: Path, missing: str) -> None:
    head = "\n".join(line for line in HEAD.splitlines() if not line.startswith(missing))
    with pytest.raises(FileError, match=missing):
        declared(tmp_path, "", head=head)


def test_two_reports_of_one_name_are_refused(tmp_path: Path) -> None:
    page = '[[page]]\nid = "a"\n'
    with pytest.raises(ReportError, match="two reports are called a"):
        declared(tmp_path, page + page)


@pytest.mark.parametrize(
    ("text", "rows", "message"),
    [
        (f'where = {{ model = "Other" }}\n{GOOD}', [one()], "where: no published figure is selected by model = Other"),
        (GOOD, [one(row=7), one(row=9)], "published/made.csv:7 and published/made.csv:9 are in one cell"),
        (f'split = "table"\n{GOOD}', [one()], "split: published/made.csv:2 has no line"),
        (
            'rows = "devices"\n[[block.column]]\nhead = "A"\nwhere = { framework = "Beta" }\n',
            [one()], "column: no published figure is selected by framework = Beta",
        ),
        (
            'rows = "devices"\n[[block.column]]\nhead = "A"\nwhere = { framework = "Beta" }\n',
            [one(), one(framework="Beta")], "published/made.csv:2 belongs to no column",
        ),
        (
            'rows = "devices"\n[[block.column]]\nhead = "A"\n[[block.column]]\nhead = "B"\n',
            [one()], "published/made.csv:2 belongs to two columns",
        ),
    ],
)  # fmt: skip
def test_a_declaration_that_does_not_fit_the_figures_is_named(
    tmp_path: Path, text: str, rows: list[Published], message: str
) -> None:
    with pytest.raises(ReportError, match=re.escape(message)) as error:
        sliced(tmp_path, text, rows)
    assert re.search(r"made\.toml:\d+: made, block 1", str(error.value))


def test_a_shared_block_is_filled_in_and_added_to(tmp_path: Path) -> None:
    shared = '[pair]\nrows = "devices"\ncolumns = "framework"\nwhere = { metric = "throughput" }\n'
    text = '[[block]]\nuse = "pair"\nwhere = { model = "Test net" }\nshow = ["table", "bars"]\n'
    block = declared(tmp_path, text, shared=shared).blocks[0]
    assert block.rows
    assert block.where == {"metric": ("throughput",), "model": ("Test net",)}
    assert block.show == ("table", "bars")


# --- the site ---------------------------------------------------------------------------------------------------------


def made_site(folder: Path, publications: Publications, runs: Sequence[Any] = ()) -> builder.Built:
    return builder.build(site_of_runs(runs, published=publications), folder / "docs", folder / "cache.sqlite")


def few() -> Publications:
    """Return the figures of the smaller sources, so that a build takes little time."""
    kept = ("Fluid benchmark guide", "Paddle Perf front page, 2021 edition")
    rows = tuple(row for row in figures().rows if row.source in kept)
    sources = {name: each for name, each in figures().sources.items() if name in kept}
    return replace(figures(), rows=rows, sources=sources, recorded=(), digest="few")


def test_a_second_build_makes_nothing_again_and_figures_that_go_take_their_pages_along(tmp_path: Path) -> None:
    made = made_site(tmp_path, few(), builders.runs())
    assert "en/reports/fluid-guide.md" in made.written
    assert "zh/reports/perf-2021.md" in made.written
    assert made_site(tmp_path, few(), builders.runs()).written == ()
    changed = made_site(tmp_path, replace(few(), digest="other"), builders.runs())
    assert changed.written == ()
    gone = made_site(tmp_path, Publications(), builders.runs())
    assert "en/reports/fluid-guide.md" in gone.removed
    assert (tmp_path / "docs" / "en" / "reports" / "index.md").is_file()


def test_a_model_page_leads_to_reports_and_to_where_figures_were_printed(tmp_path: Path) -> None:
    made_site(tmp_path, few(), builders.runs())
    page = (tmp_path / "docs" / "en" / "models" / "cyclegan" / "index.md").read_text("utf-8")
    assert '<a href="../../reports/fluid-guide.md">' in page
    assert "|7.3|" in "".join(rows_in(page)), "the address of that edition is not known"
    page = (tmp_path / "docs" / "zh" / "models" / "resnet50" / "index.md").read_text("utf-8")
    assert '<a href="../../reports/perf-2021.md">' in page


def test_a_figure_on_a_model_page_leads_to_the_line_that_prints_it() -> None:
    from perfledger.ingest.site.published_figures import published_tables

    suite = next(each for each in suites() if each.id == "gpt")
    cells = [c for each in published_tables(site_of(figures()), suite) for row in each.table.rows for c in row]
    pages = {entry.page for each in cells for entry in each.entries if entry.page}
    assert len(pages) > 50
    line = re.compile(r"https://github\.com/Oneflow-Inc/DLPerf/blob/\w+/\S+\.md#L\d+")
    assert [each for each in pages if not line.fullmatch(each)] == []


def test_a_figure_that_is_printed_twice_is_once_on_the_model_page() -> None:
    from perfledger.ingest.site.published_figures import published_tables

    source = structs.replace(next(iter(figures().sources.values())), name="Made up")
    rows = (one(model="CycleGAN", place="a.md", row=2), one(model="CycleGAN", place="b.md", row=3))
    site = site_of(Publications(rows, {"Made up": source}))
    suite = next(each for each in suites() if each.id == "cyclegan")
    table = published_tables(site, suite)[0].table
    assert len(table.rows) == 1
    entry = table.rows[0][-1].entries[0]
    assert entry.page == source.address_of(rows[0])
    assert [each.page for each in entry.sources] == [source.address_of(rows[1])]


def test_a_model_page_shows_no_empty_cells_and_says_a_case_once() -> None:
    from perfledger.ingest.site.published_figures import published_tables

    source = structs.replace(next(iter(figures().sources.values())), name="Made up")
    case = {"case": "2D_8x1x1_16_1536x16", "data_parallel": "8", "layers": "16", "micro_batch": "2"}
    rows = (
        one(model="GPT", devices=8, options=case),
        one(model="GPT", devices=2, options={"layers": "24"}, printed="", value=None, state="oom"),
        one(model="GPT", devices=4, options={}, printed="", value=None, state="not_measured"),
    )
    (found,) = published_tables(
        site_of(Publications(rows, {"Made up": source})), next(each for each in suites() if each.id == "gpt")
    )
    titles = [str(each.title) for each in found.table.columns]
    options = next(index for index, title in enumerate(titles) if "table.options" in title)
    known = words.load()
    for language, expected in (
        ("en", [["Configuration 2D_8x1x1_16_1536x16, micro batch 2"], ["layers 24"]]),
        ("zh", [["配置 2D_8x1x1_16_1536x16、micro batch 大小 2"], ["层数 24"]]),
    ):
        said = [[known.say(language, each.text) for each in row[options].entries] for row in found.table.rows]
        assert said == expected
