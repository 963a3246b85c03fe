"""The page of a format without a real log says so, and its figures carry that mark."""

from __future__ import annotations

from collections.abc import Iterable

import pytest

from perfledger.ingest.common.words import own
from perfledger.ingest.site import addresses, run_tables
from perfledger.ingest.site.model import site_of_runs
from perfledger.ingest.site.pages import formats as formats_page
from perfledger.ingest.site.render import jinja
from perfledger.ingest.site.render.table import Cell, Table
from perfledger.ingest.site.result_lines import slices
from perfledger.parsers.engine.registry import formats
from tests.builders import edited, run
from tests.site.conftest import ALL_FORMATS

WORDS = own()
MARK = "format written from the trainer’s source code; not yet tested with a real log"


def said(table: Table) -> list[str]:
    return marks(each for line in table.rows for each in line)


def marks(cells: Iterable[Cell]) -> list[str]:
    found = (mark for each in cells for entry in each.entries for mark in entry.marks)
    return [each if isinstance(each, str) else WORDS.say("en", each) for each in found]


def test_its_results_carry_a_caution() -> None:
    proven, unproven = run("resnet50-pytorch-1"), edited(run("resnet50-mxnet-1", framework="MXNet"), unproven=True)
    site = site_of_runs([proven, unproven])
    (suite,) = site.shown
    found = {line.row.framework: line for of in slices(site, suite) for line in of.lines}
    assert {name: bool(each.row.unproven) for name, each in found.items()} == {"MXNet": True, "PyTorch": False}
    said = {name: [WORDS.say("en", one) for one in each.cautions] for name, each in found.items()}
    assert {name: MARK in cautions for name, cautions in said.items()} == {"MXNet": True, "PyTorch": False}


def test_its_run_carries_the_mark() -> None:
    unproven = edited(run("resnet50-mxnet-1", framework="MXNet"), unproven=True)
    assert MARK in marks([run_tables.headline_cell(unproven)])
    assert MARK not in marks([run_tables.headline_cell(run("resnet50-pytorch-1"))])


def test_its_page_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(formats_page, "shown_formats", ALL_FORMATS)
    _, *pages = formats_page.pages(site_of_runs([run("resnet50-pytorch-1")]))
    shown = {page.path: next(iter(jinja.rendered(own(), page))) for page in pages}
    sentence = own().text("en", "formats.unproven")
    said = [sentence in shown[addresses.format_page(each.id)] for each in formats()]
    assert said == [each.unproven for each in formats()]
    assert any(said)
    assert not all(said)
