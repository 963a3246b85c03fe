"""How many published results follow from their logs, and how far the others are off."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from perfledger.ingest.common import numbers
from perfledger.ingest.common.words import Text, phrase
from perfledger.ingest.published import audit
from perfledger.ingest.published.audit import Audited, DeviationBin
from perfledger.ingest.site import addresses
from perfledger.ingest.site.model import Site
from perfledger.ingest.site.render.table import Link


@dataclass(frozen=True)
class DeviationBar:
    """A bar of the histogram: a range of deviations, the results in it, and its share of the longest bar in percent.

    `side` is `below`, `within` or `above` the published result. `tick` is the bound farther from zero, for the axis.
    """

    count: int
    share: float
    side: str
    tick: str


@dataclass(frozen=True)
class AuditSummary:
    """The published results whose logs were read: their number, their verdicts, and the histogram of deviations."""

    recomputed: int
    verdicts: tuple[Link, ...]
    bars: tuple[DeviationBar, ...]
    axis: Text
    page: str


def audit_summary(site: Site) -> AuditSummary | None:
    """Return the summary of the audit; None if no log of a published result was read."""
    found = [each for each in site.audited if each.run]
    if not found:
        return None
    verdicts = tuple(Link(said, addresses.audit_of(verdict=each)) for each, said in verdict_counts(found).items())
    return AuditSummary(len(found), verdicts, bars(found), _axis(found), addresses.AUDIT)


def verdict_counts(found: Iterable[Audited]) -> Mapping[str, Text]:
    """Return the verdicts that occur, in their usual order, with the number of results in words."""
    counted = Counter(each.verdict for each in found)
    known = (each for each in audit.VERDICTS if counted[each])
    return {each: phrase(f"verdict.n_{each}", n=numbers.count(counted[each])) for each in known}


def bars(found: Sequence[Audited]) -> tuple[DeviationBar, ...]:
    """Return the histogram of deviations, lowest first."""
    bins = audit.deviations(found)
    longest = max((each.count for each in bins), default=0) or 1
    return tuple(DeviationBar(each.count, 100 * each.count / longest, _side(each), _tick(each)) for each in bins)


def _axis(found: Sequence[Audited]) -> Text:
    """Return what the histogram shows, with the number of results that are not in it."""
    without = sum(not each.house for each in found)
    counts = {"n": numbers.count(len(found) - without), "without": numbers.count(without)}
    return phrase("audit.card_axis_of_some", **counts) if without else phrase("audit.card_axis", n=counts["n"])


def _tick(found: DeviationBin) -> str:
    if found.low is None or found.high is None:
        return f"<{_percent(found.high)}" if found.high else f">{_percent(found.low or 0)}"
    if _side(found) == "within":
        return f"±{numbers.percent(audit.TOLERANCE)}"
    return _percent(found.low if _side(found) == "below" else found.high)


def _side(found: DeviationBin) -> str:
    if found.low == -audit.TOLERANCE:
        return "within"
    return "below" if found.high is not None and found.high <= 0 else "above"


def _percent(share: float) -> str:
    """Return a bound of a bin; bounds below 1 % have one digit after the point."""
    return numbers.signed_percent(share, int(abs(share) < 0.01))
