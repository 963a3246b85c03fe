"""Reports show what their source prints: batch sizes of rows and cells, labels, precisions; and notes beside it.

The expectations are typed from the sources; where a log says something else, that stands beside the figure.
"""

from __future__ import annotations

import re
from functools import cache

import pytest

from perfledger.ingest.common import words
from perfledger.ingest.common.words import LANGUAGES
from perfledger.ingest.published import publications
from perfledger.ingest.published.declarations import reports
from perfledger.ingest.published.notes import notes
from perfledger.ingest.published.slices import Cut, Slice, cut
from perfledger.ingest.site import published_figures, report_charts
from perfledger.ingest.site import published_tables as tables
from perfledger.ingest.site.model import Site, suites
from perfledger.ingest.site.render import drawing
from tests.site.conftest import ROOT

WORDS = words.load()
Rows = dict[str, dict[str, str]]


@cache
def published() -> publications.Publications:
    """Return the published figures of this project."""
    return publications.read([ROOT / "raw_logs" / "published"])


@cache
def cut_of(report: str) -> Cut:
    """Return the figures of a report of this project, in its slices."""
    (found,) = (each for each in reports() if each.id == report)
    return cut(found, [row for row in published().rows if row.source == found.source])


def slices_of(report: str) -> tuple[Slice, ...]:
    """Return the slices of a report, block by block."""
    return tuple(part for parts in cut_of(report).slices for part in parts)


def slice_of(report: str, place: str) -> Slice:
    """Return the one slice with figures that a place of the source prints."""
    (found,) = (part for part in slices_of(report) if any(each.row.place.startswith(place) for each in part.figures))
    return found


def shown(found: Slice, language: str) -> Rows:
    """Return a table as a page shows it: per row's head and column's head the cell with its small print and notes."""

    def said(text: words.Text) -> str:
        return WORDS.say(language, text)

    table = tables.of_slice(found)
    keys = len(found.keys)
    heads = [said(each.title) for each in table.columns[keys:]]
    made: Rows = {}
    for cells in table.rows:
        written = [
            " ".join([*(said(text) for entry in cell.entries for text in (entry.text, *entry.marks) if text)])
            + (f" ({said(cell.note)})" if cell.note else "")
            for cell in cells
        ]
        made[" ".join(filter(None, written[:keys]))] = dict(zip(heads, written[keys:], strict=True))
    return made


def without_speed_up(text: str) -> str:
    return re.sub(r" [0-9.]+×", "", text)


RESNET = "ResNet50V1.5/README.md 五.2 对比 "
#: Rows as the source prints them, in its order, and what its cells say.
AMP_2021 = {
    "1 128": ["1,335.1", "954.9", "828.7", "1,380.6"],
    "1 256": ["1,400.1 [BS=208]", "978.8", "841.6", "1,447.6 [BS=192]"],
    "8 128": ["8,322.9", "7,829.9", "6,014.7", "9,218.9"],
    "8 256": ["9,099.5 [BS=208]", "7,810.8", "6,230.1 [BS=248]", "9,765.6 [BS=192]"],
    "32 128": ["29,524.6", "21,826.6", "17,940.7", ""],
    "32 256": ["31,036.8 [BS=208]", "23,280.9", "21,588.1", "— [BS=192]"],
}
FP32_2021 = {
    "1 128": ["383 [BS=96]", "408.3", "364.2", "387.1 [BS=96]"],
    "8 128": ["2,753.3 [BS=96]", "3,105.3", "2,826.8", "2,998.1 [BS=96]"],
    "32 128": ["10,715.3 [BS=96]", "11,622.9", "10,393.2", "— [BS=96]"],
}


def of_2021(model: str, precision: str) -> Slice:
    parts = [part for part in slices_of("perf-2021") if part.figures[0].row.model == model]
    (found,) = (part for part in parts if part.figures[0].row.precision == precision)
    return found


@pytest.mark.parametrize(("precision", "wanted"), [("fp32", FP32_2021), ("amp", AMP_2021)])
@pytest.mark.parametrize("language", LANGUAGES)
def test_a_cell_of_2021_says_the_batch_size_that_its_row_does_not(
    language: str, precision: str, wanted: dict[str, list[str]]
) -> None:
    part = of_2021("ResNet-50 v1.5", precision)
    heads = [dict(head.values) for head in part.rows]
    assert [f"{each['devices'].partition('x')[2]} {each['row_batch_size']}" for each in heads] == list(wanted)
    found = shown(part, language)
    assert [list(row.values()) for row in found.values()] == list(wanted.values())


@pytest.mark.parametrize("precision", ["fp32", "amp"])
def test_rows_of_bert_with_and_without_accumulation_are_told_apart(precision: str) -> None:
    small, large = (32, 48) if precision == "fp32" else (64, 96)
    found = of_2021("BERT-base", precision)
    heads = [dict(head.values) for head in found.rows]
    assert [
        (head["devices"], head["options.gradient_accumulation"], head["row_batch_size"]) for head in heads
    ] == [
        ("1x1", "", str(small)), ("1x1", "", str(large)), ("1x8", "", str(small)), ("1x8", "", str(large)),
        ("4x32", "", str(small)), ("4x32", "", str(large)), ("4x32", "no", str(small)), ("4x32", "no", str(large)),
    ]  # fmt: skip
    assert [head for head in shown(found, "zh") if "W/O AccGrad" in head] == list(shown(found, "zh"))[-2:]


def test_the_logs_of_mxnet_contradict_the_printed_batch_size() -> None:
    place = RESNET + "FP32 "
    found = {language: shown(slice_of("perf-resnet50", place), language).values() for language in LANGUAGES}
    said = {language: [without_speed_up(row["NGC MXNet"]) for row in rows] for language, rows in found.items()}
    assert said == {
        "en": ["389.54 the log says 128", "2,957.8 the log says 128", ""],
        "zh": ["389.54 日志为 128", "2,957.8 日志为 128", ""],
    }
    heads = [dict(head.values)["row_batch_size"] for head in slice_of("perf-resnet50", place).rows]
    assert heads == ["256", "256", "256"]


def test_the_log_of_mmsegmentation_contradicts_the_printed_batch_size() -> None:
    found = shown(slice_of("perf-deeplabv3p", "DeepLabV3P/README.md 五.2 对比 FP32"), "en")
    assert [without_speed_up(row["PyTorch"]) for row in found.values()] == ["4.25", "25.65", "60.95 the log says 8"]


@pytest.mark.parametrize(
    ("place", "wanted"),
    [
        (RESNET + "AMP ", ["1,438.518 (O2)", "10,936.815 (O2)", "39,972.131"]),
        (RESNET + "A100-AMP ", ["2,602.629 (O2)", "17,587.654 (O2)"]),
    ],
)
def test_o2_stands_at_its_cells(place: str, wanted: list[str]) -> None:
    found = shown(slice_of("perf-resnet50", place), "zh")
    assert [without_speed_up(next(iter(row.values()))) for row in found.values()] == wanted


def test_a_head_says_fp16_where_the_source_does() -> None:
    for part in slices_of("perf-resnet50"):
        if any("五.1" in each.row.place for each in part.figures):
            assert [dict(head.values)["precision"] for head in part.columns] == ["fp32", "fp16"]
    assert ("precision", "amp") in slice_of("perf-resnet50", RESNET + "AMP ").same


@pytest.mark.parametrize(("language", "said"), [("en", "The log says FP16;"), ("zh", "日志中为 FP16，")])
def test_a_log_that_names_another_precision_is_noted(language: str, said: str) -> None:
    table = tables.of_slice(slice_of("perf-resnet50", RESNET + "AMP "))
    noted = [text for text in (WORDS.say(language, each) for each in table.notes) if said in text]
    assert [re.match(r"PaddlePaddle|NGC MXNet", each) is not None for each in noted] == [True, True]


def test_dots_say_what_their_panel_does_not() -> None:
    (report,) = (each for each in reports() if each.id == "perf-2021")
    found = of_2021("ResNet-50 v1.5", "amp")
    (chart,) = report_charts.slice_charts(report, [found], found, ())
    rows = {row.text: row.label for panel in chart.said(WORDS, "en").panels for row in panel.rows}
    drawn = drawing.draw(chart.said(WORDS, "en"), drawing.WIDE, str)
    for text, size in (("9,099.5", 208), ("6,230.1", 248), ("9,765.6", 192), ("31,036.8", 208)):
        (label,) = (label for each, label in rows.items() if each.startswith(text))
        assert label.endswith(f"[BS={size}]")
        assert f">{label}</text>" in drawn


def test_no_two_panels_of_a_chart_have_one_name() -> None:
    for report in reports():
        for part in slices_of(report.id):
            if "bars" in part.block.show:
                names = [WORDS.say("en", report_charts._row_name(part, head)) for head in part.rows]
                assert len(set(names)) == len(names), (part.block.place, names)


# --- notes ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("report", [each.id for each in reports()])
def test_every_note_of_a_figure_is_said_once(report: str) -> None:
    """On the page, below its table, at its column, at its row, or at the figure."""
    found = cut_of(report)
    for part in (part for parts in found.slices for part in parts):
        for (row, column), figures in part.cells.items():
            for each in figures:
                heads = (part.rows[row].notes, part.columns[column].notes)
                said = [*found.notes, *part.notes, *heads[0], *heads[1], *each.notes]
                assert sorted(said) == sorted(notes(each.row)), part.block.place


def test_what_a_whole_page_shares_is_said_at_its_top() -> None:
    assert ("measured", "2021-12") in cut_of("dlperf-hugectr-wide-deep").notes
    assert all(("measured", "2021-12") not in part.notes for part in slices_of("dlperf-hugectr-wide-deep"))


@pytest.mark.parametrize(("language", "said"), [("en", "The script trains v1b."), ("zh", "脚本实际训练 v1b。")])
def test_notes_are_on_the_tables_without_other_places_of_the_value(language: str, said: str) -> None:
    (found,) = (part for part in slices_of("dlperf-summaries") if part.figures[0].row.model.startswith("ResNet-50"))
    written = shown(found, language)
    (head,) = (head for head in written if said in head)
    assert head.startswith("MXNet (")
    assert "MxNet/Classification" not in str(written)


# --- the pages of models ----------------------------------------------------------------------------------------------


@cache
def on_model_page(language: str) -> list[str]:
    """Return the rows of ResNet-50's published figures as its page shows them, and the notes of their tables."""
    site = Site((), (), suites(), lambda _: (), published())
    (suite,) = (each for each in suites() if each.id == "resnet50")
    found = []
    for each in published_figures.published_tables(site, suite):
        for row in each.table.rows:
            texts = [(*(t for e in cell.entries for t in (e.text, *e.marks)), cell.note or "") for cell in row]
            found.append(" | ".join(" ".join(WORDS.say(language, t) for t in cell if t) for cell in texts))
    return found


@pytest.mark.parametrize(("language", "log"), [("en", "the log says 128"), ("zh", "日志为 128")])
def test_a_model_page_says_what_is_printed_and_what_its_log_says(language: str, log: str) -> None:
    rows = [row for row in on_model_page(language) if re.search(r"\| (389\.54|2,957\.8|380\.55|3,002\.8)\b", row)]
    assert len(rows) == 4
    assert all(f"| 256 {log} |" in row for row in rows)


def test_a_model_page_has_labels_and_notes() -> None:
    (row,) = (each for each in on_model_page("en") if "1,438.518" in each)
    assert "| FP16 | 256 | 1,438.518 (O2) As the log writes it: pure_fp16 (AMP O2)." in row
    (row,) = (each for each in on_model_page("zh") if "1,444.94" in each)
    assert "| AMP 日志为 FP16 | 256 |" in row
