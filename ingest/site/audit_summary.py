"""How many published results follow from their logs, and how far the others are off."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from perfledger.ingest.common import numbers
from perfledger.ingest.common.words import Text, phrase
from perfledger.ingest.published import audit
from perfledger.ingest.published.audit import Audited, DeviationBin
from perfledger.ingest.site import addresses
from perfledger.ingest.site.model import Site


@dataclass(frozen=True)
class VerdictCount:
    """A verdict and the number of published results that have it; `page` lists them, and `said` names both."""

    verdict: str
    said: Text
    count: int
    page: str


@dataclass(frozen=True)
class DeviationBar:
    """A bar of the histogram: a range of deviations, the results in it, and its share of the longest bar in percent.

    `side` is `below`, `within` or `above` the published result. `tick` is the lower bound, for the axis.
    """

    title: Text
    count: int
    share: float
    side: str
    tick: Text


@dataclass(frozen=True)
class AuditSummary:
    """The published results whose logs were read: their number, their verdicts, and the histogram of deviations."""

    recomputed: int
    verdicts: tuple[VerdictCount, ...]
    bars: tuple[DeviationBar, ...]
    page: str


def audit_summary(site: Site) -> AuditSummary | None:
    """Return the summary of the audit; None if no log of a published result was read."""
    found = [each for each in site.audited if each.run]
    if not found:
        return None
    return AuditSummary(len(found), verdict_counts(found), bars(found), addresses.AUDIT)


def verdict_counts(found: Sequence[Audited]) -> tuple[VerdictCount, ...]:
    """Return the verdicts that occur, in their usual order, with the number of results."""
    counted = Counter(each.verdict for each in found)
    return tuple(
        VerdictCount(
            each,
            phrase(f"verdict.n_{each}", n=numbers.count(counted[each])),
            counted[each],
            addresses.audit_of(verdict=each),
        )
        for each in audit.VERDICTS
        if counted[each]
    )


def bars(found: Sequence[Audited]) -> tuple[DeviationBar, ...]:
    """Return the histogram of deviations, lowest first."""
    bins = audit.deviations(found)
    longest = max((each.count for each in bins), default=0) or 1
    return tuple(
        DeviationBar(_title(each), each.count, 100 * each.count / longest, _side(each), _tick(each)) for each in bins
    )


def _title(found: DeviationBin) -> Text:
    low, high = (None if each is None else _percent(each) for each in (found.low, found.high))
    if low is None or high is None:
        return phrase("audit.below", high=high) if high else phrase("audit.above", low=low)
    if _side(found) == "within":
        return phrase("audit.within", tolerance=numbers.percent(audit.TOLERANCE))
    return phrase("audit.between", low=low, high=high)


def _tick(found: DeviationBin) -> Text:
    """Return the bound of a bin that is farther from zero, for the axis."""
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
