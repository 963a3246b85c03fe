"""Badges: a picture per result with its case and figure, which a README shows from the address of the site."""

from __future__ import annotations

from collections.abc import Mapping

from perfledger.ingest.common import numbers
from perfledger.ingest.common.words import Words, phrase
from perfledger.ingest.compute.standings import FRAMEWORK
from perfledger.ingest.site.data.measured import identity
from perfledger.ingest.site.hardware_names import chip
from perfledger.ingest.site.model import Row, Site, written
from perfledger.ingest.site.render.text import escape
from perfledger.ingest.site.result_tables import day_of, own_marks
from perfledger.ingest.site.run_tables import reservations
from perfledger.ingest.site.verdict_words import LEADS

FOLDER = "data/badges"
#: A site with more results has badges for those measured last.
AT_MOST = 500
_COLOUR = "#16459b"
#: Colour of a result whose loss diverged.
_DIVERGED = "#b23a0c"
#: Pixels that a letter takes on average at the size of the text.
_LETTER = 6.6
#: Pixels on both sides of a text.
_AROUND = 6


def badges(site: Site, words: Words) -> dict[str, bytes]:
    """Return every badge by its path below the site's folder; badges are in English."""
    verdicts = (each.verdict for (_, axis), found in site.standings.items() if axis == FRAMEWORK for each in found)
    leads = {identity(each.pair[0].result): phrase(f"badge.{each.kind}") for each in verdicts if each.kind in LEADS}
    drawn: dict[str, bytes] = {}
    for name, row in site.once(with_badge).items():
        marks = (*own_marks(row), *reservations(row), *([leads[name]] if name in leads else []))
        message = ", ".join([f"{written(row)} {row.unit}", *(words.say("en", each) for each in marks)])
        drawn[path(row)] = _drawn(label(row), message, row.diverged).encode()
    return drawn


def path(row: Row) -> str:
    """Return the path of the badge of a result."""
    return f"{FOLDER}/{identity(row)}.svg"


def label(row: Row) -> str:
    """Return the case of a result in a few words, such as `ResNet-50 v1.5 · 8×V100 · AMP`."""
    devices = f"{row.devices or '?'}×{chip(row.hardware or '') or '?'}"
    precision = (row.precision or "").upper().replace("_", "/")
    return " · ".join(filter(None, (row.model, devices, precision)))


def with_badge(site: Site) -> Mapping[str, Row]:
    """Return the results that have a badge, by their id; of too many, those with the latest runs."""
    found = {identity(row): row for rows in site.rows.values() for row in rows if numbers.known(row.value)}
    latest = sorted(found, key=lambda each: (day_of(site, found[each]), each))[-AT_MOST:]
    return {each: found[each] for each in found if each in set(latest)}


def _drawn(name: str, message: str, diverged: bool) -> str:
    left, right = (round(len(text) * _LETTER) + 2 * _AROUND for text in (name, message))
    written_out = "".join(
        f'<text x="{start + _AROUND}" y="14" textLength="{wide - 2 * _AROUND}">{escape(text)}</text>'
        for start, wide, text in ((0, left, name), (left, right, message))
    )
    return (
        f'<svg class="pl-badge" xmlns="http://www.w3.org/2000/svg" width="{left + right}" height="20" role="img"'
        f' aria-label="{escape(name)}: {escape(message)}">\n'
        f'<rect width="{left}" height="20" fill="#3b4350"/>'
        f'<rect x="{left}" width="{right}" height="20" fill="{_DIVERGED if diverged else _COLOUR}"/>\n'
        f'<g fill="#fff" font-family="Verdana,DejaVu Sans,sans-serif" font-size="11">{written_out}</g>\n</svg>\n'
    )
