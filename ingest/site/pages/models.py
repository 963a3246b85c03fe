"""The list of models."""

from __future__ import annotations

from dataclasses import dataclass

from perfledger.ingest.common.words import Bilingual, Text, phrase
from perfledger.ingest.site import addresses
from perfledger.ingest.site.model import Page, Site, Suite, named
from perfledger.ingest.site.render.table import Cell, Entry, Link, Table
from perfledger.ingest.site.table_of import ColumnOf, table_of


@dataclass(frozen=True)
class ModelsPage:
    """The list of models."""

    models: Table | None


def pages(site: Site) -> list[Page]:
    """Return the list of models."""
    described = phrase("nav.models"), phrase("describe.models")
    return [Page(addresses.MODELS, "models", *described, lambda: ModelsPage(_list(site)))]


def _list(site: Site) -> Table | None:
    """Return a row per model: its frameworks, its published runs, and the results that others published."""
    columns = [
        ColumnOf[Suite](phrase("table.model"), _title),
        ColumnOf(phrase("nav.frameworks"), lambda suite: _frameworks(site, suite)),
        ColumnOf(
            phrase("formats.runs_here"), lambda suite: sum(run.published for run in site.runs_of(suite)), number=True
        ),
        ColumnOf(
            phrase("report.published_here"),
            lambda suite: len(site.published.by_suite.get(suite.id, ())) or None,
            number=True,
            key="published",
            optional=True,
        ),
    ]
    return table_of("models", site.shown, columns, cards=True)


def _title(suite: Suite) -> Cell:
    summary: Text = Bilingual(**suite.words["summary"]) if "summary" in suite.words else ""
    return Cell((Entry(suite.title, addresses.model_page(suite), (summary,)),))


def _frameworks(site: Site, suite: Suite) -> Cell:
    found = site.frameworks(suite)
    return Cell(
        (Entry("", sources=tuple(Link(named(each), addresses.model_page(suite, framework=each)) for each in found)),)
    )
