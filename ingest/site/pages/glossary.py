"""The glossary: the terms of the site, and every name of the vocabulary."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from perfledger.ingest.common import words
from perfledger.ingest.common.words import Bilingual, phrase
from perfledger.ingest.site import addresses
from perfledger.ingest.site.model import Page, Site
from perfledger.ingest.site.render.table import Cell, Column, Table, cell
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


def pages(site: Site) -> list[Page]:
    """Return the glossary."""
    described = phrase("nav.glossary"), phrase("describe.glossary")
    return [Page(addresses.GLOSSARY, "glossary", *described, lambda: {"tables": tables()})]


def tables() -> list[tuple[str, Table]]:
    """Return the terms of the site, then those of each part of the vocabulary, by the name of their heading."""
    explained = [(name, _vocabulary(name, entries)) for name, entries in VOCABULARIES.items()]
    return [("terms", _table("terms", ("term", "meaning"), _terms())), *explained]


def _terms() -> Iterable[tuple[Cell, ...]]:
    """Yield the terms in the order of their words: those with an entry that explains them."""
    known = words.own()
    for key in known.entries:
        if key.startswith("glossary.") and known.has(f"{key}_means"):
            yield cell(phrase(key)), cell(phrase(f"{key}_means"))


def _vocabulary(name: str, entries: Mapping[str, Explained]) -> Table:
    rows = (
        (cell(Bilingual(each.en, each.zh)), cell(key), cell(Bilingual(each.meaning, each.meaning_zh)))
        for key, each in entries.items()
    )
    return _table(name, ("term", "name", "meaning"), rows)


def _table(name: str, columns: Iterable[str], rows: Iterable[tuple[Cell, ...]]) -> Table:
    heads = tuple(Column(phrase(f"glossary.{each}")) for each in columns)
    return Table(heads, tuple(rows), name=f"glossary-{name}")
