"""The audit's verdicts in a report: a sign next to each figure whose log was read, and a line that counts them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from perfledger.ingest.common import numbers
from perfledger.ingest.common.words import Text, phrase, word_for
from perfledger.ingest.published import audit
from perfledger.ingest.published.audit import Audited, LogFigure
from perfledger.ingest.published.publications import Published
from perfledger.ingest.site import addresses
from perfledger.ingest.site.audit_summary import verdict_counts
from perfledger.ingest.site.model import Site
from perfledger.ingest.site.render.table import Cell, Link, Tag, absent, cell

#: Signs of verdicts. A figure that its log does not support has their difference as its sign.
_SIGNS = {audit.REPRODUCED: "✓", audit.OTHER_RULE: "≈", audit.OTHER_LOG: "≠", audit.NO_FIGURE: "?"}
_DOUBTFUL = (audit.UNSUPPORTED, audit.OTHER_LOG, audit.NO_FIGURE)


@dataclass(frozen=True)
class VerdictLine:
    """A sentence on the figures whose logs were read, and for each verdict its sign and how many have it."""

    text: Text
    counts: tuple[tuple[str, Link], ...]


def line(site: Site, rows: Iterable[Published]) -> VerdictLine | None:
    """Return the verdicts on the figures of a report of one source; None for a report without figures."""
    values = {id(row): row for row in rows if row.value is not None}
    if not values:
        return None
    found = [each for each in site.audited if each.run and id(each.row) in values]
    if not found:
        return VerdictLine(phrase("report.no_verdicts"), ())
    source = found[0].row.source
    return VerdictLine(
        phrase("audit.of_model", read=numbers.count(len(found)), printed=numbers.count(len(values))),
        tuple(
            (_SIGNS.get(each, ""), Link(said, addresses.audit_of(source=source, verdict=each)))
            for each, said in verdict_counts(found).items()
        ),
    )


def signs(site: Site) -> Mapping[int, Tag]:
    """Return the sign of each published figure whose log was read, by the identity of its row."""
    return {id(each.row): _sign(each) for each in site.audited if each.run}


def _sign(found: Audited) -> Tag:
    known = _compared(found)
    text = _SIGNS.get(found.verdict) or (numbers.signed_percent(known.difference) if known else "?")
    return Tag(text, _words(found.verdict, known), tone_of(found.verdict), addresses.audit_row(found.row))


def of_runs(site: Site) -> Mapping[str, tuple[Audited, ...]]:
    """Return the audited throughputs by the run of the log that they name."""
    found: dict[str, tuple[Audited, ...]] = {}
    for each in site.audited:
        if each.run and each.row.metric == "throughput":
            found[each.run.id] = (*found.get(each.run.id, ()), each)
    return found


def verdict_cell(found: Audited | None) -> Cell:
    """Return a verdict in words, linked to its row of the audit; with a difference where a log does not support it."""
    if not found:
        return absent(None)
    is_far = found.verdict == audit.UNSUPPORTED
    marks = (numbers.signed_percent(found.house.difference),) if is_far and found.house else ()
    return cell(phrase(f"verdict.{found.verdict}"), addresses.audit_row(found.row), *marks, tone=tone_of(found.verdict))


def tone_of(verdict: str) -> str:
    """Return the tone of a verdict: a caution where the log does not give the published figure."""
    return "warn" if verdict in _DOUBTFUL else ""


def _compared(found: Audited) -> LogFigure | None:
    """Return the figure that a verdict follows from: ours, that of another rule, or that of another log."""
    return {audit.OTHER_RULE: found.closest, audit.OTHER_LOG: found.other}.get(found.verdict, found.house)


def _words(verdict: str, known: LogFigure | None) -> Text:
    name = phrase(f"verdict.{verdict}")
    if not known:
        return name
    value = f"{numbers.exact(float(f'{known.value:.7g}'))} {known.unit}"
    difference = numbers.signed_percent(known.difference, 2)
    rule = word_for("rule", known.rule)
    return phrase("report.verdict", verdict=name, rule=rule, value=value, difference=difference)
