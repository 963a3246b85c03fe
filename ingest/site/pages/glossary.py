"""The glossary: the terms of the site, and every name of the vocabulary."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from perfledger.ingest.common import words
from perfledger.ingest.common.words import Bilingual, phrase
from perfledger.ingest.site import addresses
from perfledger.ingest.site.model import Page, Site
from perfledger.ingest.site.render.table import Table
from perfledger.ingest.site.table_of import ColumnOf, table_of
from perfledger.schema import vocabulary

#: An entry of the vocabulary that has words and a meaning in both languages.
Explained = vocabulary.FactTerm | vocabulary.Precision | vocabulary.Outcome | vocabulary.MetricTerm | vocabulary.Scope

VOCABULARIES: Mapping[str, Mapping[str, Explained]] = {
    "facts": vocabulary.FACTS,
    "precisions": vocabulary.PRECISIONS,
    "outcomes": vocabulary.OUTCOMES,
    "metrics": vocabulary.METRICS,
    "scopes": vocabulary.SCOPES,
}


@dataclass(frozen=True)
class GlossaryPage:
    """The tables of the glossary, each by the name of its heading."""

    tables: tuple[tuple[str, Table | None], ...]


def pages(site: Site) -> list[Page]:
    """Return the glossary."""
    described = phrase("nav.glossary"), phrase("describe.glossary")
    return [Page(addresses.GLOSSARY, "glossary", *described, lambda: GlossaryPage(tables()))]


def tables() -> tuple[tuple[str, Table | None], ...]:
    """Return the terms of the site, then those of each part of the vocabulary, by the name of their heading."""
    return ("terms", _terms()), *((name, _vocabulary(name, entries)) for name, entries in VOCABULARIES.items())


def _terms() -> Table | None:
    """Return the terms in the order of their words: those with an entry that explains them."""
    known = words.own()
    keys = [key for key in known.entries if key.startswith("glossary.") and known.has(f"{key}_means")]
    columns = (
        ColumnOf[str](phrase("glossary.term"), phrase),
        ColumnOf[str](phrase("glossary.meaning"), lambda key: phrase(f"{key}_means")),
    )
    return table_of("glossary-terms", keys, columns)


def _vocabulary(name: str, entries: Mapping[str, Explained]) -> Table | None:
    columns = (
        ColumnOf[str](phrase("glossary.term"), lambda key: Bilingual(entries[key].en, entries[key].zh)),
        ColumnOf[str](phrase("glossary.name"), lambda key: key),
        ColumnOf[str](phrase("glossary.meaning"), lambda key: Bilingual(entries[key].meaning, entries[key].meaning_zh)),
    )
    return table_of(f"glossary-{name}", list(entries), columns)
