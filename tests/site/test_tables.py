"""Tables as HTML."""

from __future__ import annotations

import html
import re
from collections.abc import Sequence
from dataclasses import replace
from html import unescape

import pytest

from perfledger.ingest.common.words import LANGUAGES, own, phrase
from perfledger.ingest.site.model_tables import other_metrics, results
from perfledger.ingest.site.render.html_table import Writer
from perfledger.ingest.site.render.table import Cell, Column, Entry, Table, TableError, absent, cell
from perfledger.ingest.site.result_lines import slices
from perfledger.schema.records import Run
from tests import builders
from tests.builders import edited, run
from tests.site.tabled import tables_in
from tests.site.test_result_tables import parts


def written(table: Table, language: str = "en") -> str:
    return str(Writer(own(), language, lambda page: f"../{page}").table(table))


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


def test_a_note_is_a_dot_whose_words_a_tap_or_the_keyboard_shows() -> None:
    rows = ((absent("odd"), absent("no run")), (cell("x"), Cell((Entry("1"),), note="a <b> & c")))
    page = written(Table((Column("case"), Column("speed", True)), rows))
    assert "<b>" not in page
    dots = re.findall(r'<span class="pl-caution" tabindex="0" role="img" aria-label="([^"]*)"></span>', page)
    assert [unescape(each) for each in dots] == ["odd", "no run", "a <b> & c"]


def test_names_are_unique_within_a_page() -> None:
    writer = Writer(own(), "en", lambda page: page)
    table = Table((Column("a"),), ((absent("why"),),), name="runs")
    page = "".join(str(writer.table(table)) for _ in range(3))
    ids = re.findall(r' id="([^"]+)"', page)
    assert len(ids) == len(set(ids)) == 3
    assert re.findall(r'data-name="([^"]+)"', page) == ["runs-1", "runs-2", "runs-3"]


def repeated(framework: str, speeds: Sequence[float]) -> list[Run]:
    """Return runs of one case."""
    return [
        run(f"resnet50-{framework.lower()}-{n}", framework=framework, speed=speed, repeat=n)
        for n, speed in enumerate(speeds)
    ]


def test_a_result_without_throughput_says_why_and_has_its_other_figures() -> None:
    runs = repeated("PyTorch", (100.0, 101.0, 100.5)) + repeated("TensorFlow", (90.0, 91.0, 90.5))
    figures = {"sustained": builders.absent("not_stated", missing="summary")}
    latency = {"latency": {"value": 600.5, "unit": "ms", "source": "log"}}
    runs[3:] = [edited(each, figures=figures, metrics=latency) for each in runs[3:]]
    site, suite, _ = parts(runs)
    (of,) = slices(site, suite)
    throughput = [row[1] for row in results(site, suite, of).rows]
    assert [bool(each.entries) for each in throughput] == [True, False]
    assert throughput[1].note
    table = other_metrics(suite, of)
    assert table
    assert [entry.value for row in table.rows for entry in row[-1].entries] == [600.5]


def test_fifty_repeats_do_not_wreck_a_cell() -> None:
    site, suite, _ = parts(repeated("PyTorch", [100.0 + n / 10 for n in range(50)]))
    (of,) = slices(site, suite)
    (row,) = tables_in(written(results(site, suite, of)))[0][1:]
    assert any("50 runs" in each for each in row)
    assert sum(each.count("](") for each in row) == 1, "it leads to the run nearest to the median"


def test_a_caution_is_words_that_a_tap_or_the_keyboard_shows() -> None:
    table = Table((Column("a"),), ((Cell((Entry("1", caution="a <b> & c"),)),),))
    assert '<span class="pl-caution" tabindex="0" role="img" aria-label="a <b> & c"></span>' in unescape(written(table))
    assert "<b>" not in written(table)


def test_cells_of_cards_name_their_column() -> None:
    table = Table((Column("a"), Column("b & c")), ((cell("x"), cell("1")),), cards=True)
    assert '<td data-label="b & c">1</td>' in unescape(written(table))
    assert "data-label" not in written(replace(table, cards=False))


def test_keys_of_columns_are_the_same_in_both_languages_and_each_once() -> None:
    columns = (Column(phrase("table.devices")), Column("A b"), Column("a-B"), Column("模型"), Column("x", key="own"))
    table = Table(columns, (tuple(cell(str(n)) for n in range(5)),))
    keys = [re.findall(r'data-key="([^"]+)"', written(table, each)) for each in LANGUAGES]
    assert keys[0] == keys[1]
    assert len(set(keys[0])) == 5
    assert keys[0][:3] + keys[0][4:] == ["devices", "a_b", "a_b__2", "own"]


def test_a_row_of_another_length_than_the_head_fails_with_the_name_of_the_table() -> None:
    columns = (Column("case"), Column(phrase("table.devices"), True))
    with pytest.raises(TableError, match=r"table 'results': row 2 has 1 cells, but there are 2 columns \(case, table"):
        Table(columns, ((cell("x"), cell("1")), (cell("y"),)), name="results")


def test_a_table_of_sentences_is_searched() -> None:
    table = Table((Column("File"), Column("Holds")), ((cell("a.json"), cell("every result")),), prose=True)
    page = written(table)
    assert page.startswith('<div class="pl-table">\n'), "it is not left out of the search"
    assert "<td>a.json</td>\n<td>every result</td>" in page
