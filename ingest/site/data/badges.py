"""Badges: a small file per result, in the form that shields.io draws from an address.

Source: https://shields.io/badges/endpoint-badge
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from perfledger.ingest.common import numbers
from perfledger.ingest.common.words import Text, Words, phrase, word_for
from perfledger.ingest.site.data.measured import date_of, identity
from perfledger.ingest.site.model import Row, Site, Suite, written
from perfledger.ingest.site.options import in_words
from perfledger.ingest.site.result_tables import own_marks, sections
from perfledger.ingest.site.run_tables import reservations
from perfledger.ingest.site.table_metrics import places, verdicts

FOLDER = "data/badges"
#: A site with more results has badges for those measured last.
AT_MOST = 500
_COLOUR = "blue"
#: Colour of a result whose loss diverged.
_DIVERGED = "orange"


def badges(site: Site, words: Words) -> dict[str, bytes]:
    """Return every badge by its path below the site's folder; badges are in English."""
    places = _places(site)
    return {path(row): _content(row, words, places.get(identity(row))) for _, row in site.once(_with_badge)}


def listed(site: Site) -> list[tuple[Text, list[Mapping[str, Any]]]]:
    """Return the badges by page of a model: what each is about, and its path."""
    found: dict[str, tuple[Text, list[Mapping[str, Any]]]] = {}
    for suite, row in site.once(_with_badge):
        _, there = found.setdefault(suite.id, (suite.title, []))
        there.append({"about": (*_framework(row), *_case(row)), "path": path(row)})
    return list(found.values())


def path(row: Row) -> str:
    """Return the path of the badge of a result."""
    return f"{FOLDER}/{identity(row)}.json"


def _with_badge(site: Site) -> list[tuple[Suite, Row]]:
    """Return the results that have a badge, in the order of the pages; of too many, those with the latest runs."""
    found = [(suite, row) for suite in site.shown for row in site.rows.get(suite.id, ()) if numbers.known(row.value)]
    by_age = sorted(sorted(found, key=lambda each: identity(each[1])), key=lambda each: _date(site, each[1]))
    left_out = {identity(row) for _, row in by_age[:-AT_MOST]}
    return [(suite, row) for suite, row in found if identity(row) not in left_out]


def _places(site: Site) -> Mapping[str, Text]:
    """Return what the verdict on its case says of each result that it is about."""
    found: dict[str, Text] = {}
    for suite in site.shown:
        for _, _, rows in sections(site, suite):
            for _, said in (each for place in places(suite, rows) for each in verdicts(site, suite, place)):
                of = said.pair if said.kind == "close" else said.pair[:1] if said.kind in ("clear", "likely") else ()
                found |= {identity(each.result): phrase(f"badge.{said.kind}") for each in of}
    return found


def _content(row: Row, words: Words, place: Text | None) -> bytes:
    label = [row.model or "", " ".join(_framework(row)), *(words.say("en", each) for each in _case(row))]
    badge = {
        "schemaVersion": 1,
        "label": ", ".join(filter(None, label)),
        "message": words.say("en", phrase("badge.message", figure=_figure(row, words), place=place))
        if place
        else _figure(row, words),
        "color": _DIVERGED if row.diverged else _COLOUR,
    }
    return json.dumps(badge, ensure_ascii=False).encode() + b"\n"


def _figure(row: Row, words: Words) -> str:
    marks = (words.say("en", each) for each in (*own_marks(row), *reservations(row)))
    return " ".join([written(row), row.unit, *marks])


def _framework(row: Row) -> list[str]:
    return [each for each in (row.framework, row.version) if each]


def _case(row: Row) -> list[Text]:
    """`8 × 64`, the precision, the options and the round."""
    unknown = phrase("site.unknown")
    size = phrase("table.case_of", devices=row.devices or unknown, batch_size=row.batch_size or unknown)
    precision = word_for("precision", row.precision) if row.precision else ""
    return [each for each in (size, precision, in_words(row.options), row.round or "") if each]


def _date(site: Site, row: Row) -> str:
    return max((date_of(site.by_id[each]) or "" for each in row.run_ids), default="")
