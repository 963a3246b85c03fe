"""Common parts of the records of measured and published results: names, and reasons for missing figures."""

from __future__ import annotations

from collections.abc import Iterable

from perfledger.ingest.common.words import Words
from perfledger.ingest.published.publications import Published
from perfledger.ingest.site.model import reason
from perfledger.ingest.site.render.text import digest, slug
from perfledger.schema.records import Reason, Result
from perfledger.schema.results import Both, ReasonText

_HASH = 10  # of 16 signs each: a million results share one with a probability below a half
_PART = 40  # of a name, so that an address stays readable


def result_id(
    first: Iterable[str | None], row: Result | Published, last: Iterable[str | None], distinction: str
) -> str:
    """Return a result's id: the usual name of its case, and a hash of all that distinguishes it from others."""
    size = f"n{row.nodes or 'x'}d{row.devices or 'x'}-bs{row.batch_size or 'x'}"
    return "-".join([*_slugs(first), size, *_slugs(last), digest(distinction)[:_HASH]])


def reason_text(words: Words, found: Reason | None) -> ReasonText | None:
    """Return a reason with its words in both languages."""
    if not found or (phrase := reason(found)) is None:
        return None
    return ReasonText(
        code=found.code, args=found.args, text=Both(en=words.say("en", phrase), zh=words.say("zh", phrase))
    )


def _slugs(names: Iterable[str | None]) -> list[str]:
    return [slug(each)[:_PART].strip("-") for each in names if each]
