"""Every figure, state and label that the source documents print stands on the page of its report, in both languages."""

from __future__ import annotations

import re
from collections import Counter

import pytest

from perfledger.ingest.common import words
from tests.site.source_documents import DOCUMENTS, PrintedTable
from tests.site.tabled import Rows, tables_in
from tests.site.test_reports import markdown

LANGUAGES = {"": "en", "zh/": "zh"}


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("page", DOCUMENTS)
def test_a_report_has_every_cell_of_its_source(page: str, language: str) -> None:
    written = markdown()[LANGUAGES[language], f"reports/{page}.md"]
    shown = [[[_plain(cell) for cell in row] for row in table] for table in tables_in(written)]
    states = {"--": _word("report.pending", language), "OOM": _word("table.oom", language)}
    missing = []
    for printed in DOCUMENTS[page]:
        found = [_differences(printed, each, states) for each in shown if _has_columns(printed, each)]
        assert found, f"no table has the columns {printed.columns}"
        missing += min(found, key=len)
    assert missing == []


def _word(key: str, language: str) -> str:
    return words.load().text(LANGUAGES[language], key)


def _plain(cell: str) -> str:
    """Return a cell without links, marks of the best and thousands separators."""
    text = re.sub(r"\[([^]]*)]\([^)]*\)", r"\1", cell).replace("**", "")
    return re.sub(r"(?<=\d),(?=\d{3})", "", text)


def _has_columns(printed: PrintedTable, table: Rows) -> bool:
    heads = table[0][-len(printed.columns) :]
    return len(heads) == len(printed.columns) and all(
        name in head and printed.unit in head for name, head in zip(printed.columns, heads, strict=True)
    )


def _differences(printed: PrintedTable, table: Rows, states: dict[str, str]) -> list[str]:
    """Return the printed cells that a table does not show, each with what stands there."""
    width = len(printed.columns)
    found = []
    for label, cells in printed.rows:
        row = next((each for each in table[1:] if _is_row(label, each[:-width])), None)
        shown = row[-width:] if row else ("no such row",) * width
        found += [
            f"{label} {name}: {cell} is printed, and {there!r} shown"
            for name, cell, there in zip(printed.columns, cells, shown, strict=True)
            if not _shows(cell, there, states)
        ]
    return found


def _is_row(label: str, cells: list[str]) -> bool:
    """Return whether the cells in front of the figures say what a label does: a name, or numbers; and `W/O` alike."""
    text = " ".join(cells)
    name, _, without = label.partition(" W/O ")
    if ("W/O" in text) != bool(without):
        return False
    return cells[0] == name if not name[0].isdigit() else Counter(name.split()) <= Counter(re.findall(r"\d+", text))


def _shows(cell: str, shown: str, states: dict[str, str]) -> bool:
    """Return whether a cell shows a printed figure or state first, and then its batch size and its label."""
    figure, *marks = re.findall(r"\[\d+]|\([^)]*\)|\S+", cell)
    wanted = [re.escape({"-": "—", **states}.get(figure, figure))]
    wanted += [rf"[=：: ]?{each[1:-1]}(?!\d)" if each.startswith("[") else re.escape(each) for each in marks]
    unlabelled = "O2" not in cell and "O2" in shown
    return bool(re.search(r"(?<![\d.])" + r"(?![\d.]).*?".join(wanted), shown)) and not unlabelled
