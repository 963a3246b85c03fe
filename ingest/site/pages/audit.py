"""The audit: verdicts per source, published figures next to those of their logs, and figures that disagree."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from perfledger.ingest.common import numbers
from perfledger.ingest.common.words import Text, phrase, word_for
from perfledger.ingest.compute.results import round_of
from perfledger.ingest.published import audit
from perfledger.ingest.published.audit import SCORES, Audited, LogFigure
from perfledger.ingest.published.publications import Published, Publisher, options_cell
from perfledger.ingest.site import addresses
from perfledger.ingest.site import published_tables as tables
from perfledger.ingest.site.audit_summary import audit_summary
from perfledger.ingest.site.model import Page, Site
from perfledger.ingest.site.published_tables import VERDICT_TONES
from perfledger.ingest.site.render.table import Cell, Column, Entry, Table, Value, absent, cell

#: A published figure that differs from ours by this much is far from it.
FAR = 0.05
_FOLLOWS = (audit.REPRODUCED, audit.OTHER_RULE)


def pages(site: Site) -> list[Page]:
    """Return the page of the audit."""
    described = phrase("nav.audit"), phrase("describe.audit")
    return [Page(addresses.AUDIT, "audit", *described, lambda: _context(site))]


def _context(site: Site) -> Mapping[str, Any]:
    """Return the values for the template."""
    held = [each for each in site.audited if each.run]
    known = list(site.published.sources.values())
    return {
        "count": len(site.published.rows),
        "sources": [_described(site, each) for each in known],
        "summary": _summary(site, known) if site.published.rows else None,
        "tolerance": numbers.percent(audit.TOLERANCE),
        "held": len(held),
        "following": sum(each.verdict in _FOLLOWS for each in held),
        "far": sum(_size(each) >= FAR for each in held),
        "far_is": numbers.percent(FAR, 0),
        "audit": audit_summary(site),
        "figures": _figures(site, held) if held else None,
        "recorded": sum(each.recorded for each in held),
        "rules": [each for each in known if each.rules],
        "disagreements": _disagreements(site),
        "slips": _slips(site),
        "claims": _claims(site),
    }


def _described(site: Site, source: Publisher) -> Mapping[str, Any]:
    mine = [row for row in site.published.rows if row.source == source.name]
    return {
        "title": source.title,
        "address": source.address,
        "words": source.words,
        "date": tables.published_on(source),
        "commit": source.commit,
        "figures": sum(row.value is not None for row in mine),
        "empty": sum(row.value is None for row in mine),
    }


def _summary(site: Site, known: Sequence[Publisher]) -> Table:
    """Return the counts of verdicts: a column per verdict, a row per source."""
    counted = audit.summary(site.audited)
    head = (
        Column(phrase("table.source_of_figures")),
        *(Column(phrase(f"verdict.{each}"), True) for each in audit.VERDICTS),
    )
    rows = [
        (cell(source.title, source.address), *(_number(counted[source.name][each]) for each in audit.VERDICTS))
        for source in known
        if source.name in counted
    ]
    return Table(head, tuple(rows))


def _number(count: int) -> Cell:
    return cell(numbers.count(count))


def _size(each: Audited) -> float:
    """Return the relative difference of our figure from the published one; -1 without a figure of ours."""
    return abs(each.house.difference) if each.house else -1.0


def _figures(site: Site, found: Sequence[Audited]) -> Table:
    """Return a row per figure of a log, the largest deviation first; places that print the same figure share a row."""
    names = ("model", "audit_log", "verdict", "published", "house", "difference", "closest", "published_at")
    head = tuple(
        Column(phrase(f"table.{name}"), name in {"published", "house", "difference", "closest"}) for name in names
    )
    groups = sorted(_merged(found), key=lambda group: -_size(_finest(group)))
    return Table(head, tuple(_row(site, each) for each in groups))


def _finest(group: Sequence[Audited]) -> Audited:
    """Return the figure that is shown and compared with ours: the one with most digits."""
    return max(group, key=lambda one: len(one.row.printed))


def _merged(found: Iterable[Audited]) -> list[list[Audited]]:
    groups: list[tuple[tuple[object, ...], list[Audited]]] = []
    for each in found:
        of = (each.row.log, each.row.options if each.row.metric in SCORES else None)
        there = next((group for name, group in groups if name == of and audit.same(group[0].row, each.row)), None)
        if there:
            there.append(each)
        else:
            groups.append((of, [each]))
    return [group for _, group in groups]


def _row(site: Site, group: Sequence[Audited]) -> tuple[Cell, ...]:
    each = _finest(group)
    return (
        cell(each.row.model),
        _log(site, each),
        _verdict(each),
        Cell((Entry(each.row.printed, value=each.row.value), Entry(each.row.unit))),
        _compared(site, each, each.house),
        _difference(each),
        absent(None) if each.row.metric in SCORES else _compared(site, each, each.other or each.closest, named=True),
        Cell(tuple(_place_entry(site, one.row) for one in group)),
    )


def _place_entry(site: Site, row: Published) -> Entry:
    return Entry(row.place, _address(site, row), anchor=addresses.audit_anchor(row))


def _log(site: Site, each: Audited) -> Cell:
    """Return a cell with the file and its folder, or whose result a score is; the address has the whole path."""
    if each.row.metric in SCORES and each.run:
        entry = [each.row.options[name] for name in ("submitter", "system")]
        return cell(" / ".join(entry), addresses.round_page(round_of(each.run) or ""))
    source = site.published.sources.get(each.row.source)
    marks = (phrase("audit.recorded"),) if each.recorded else ()
    shown = "/".join(each.row.log.split("/")[-2:])
    return cell(shown, (source.address_of_log(each.row) or None) if source else None, *marks)


def _address(site: Site, row: Published) -> str | None:
    source = site.published.sources.get(row.source)
    return source.address_of(row) if source else None


def _compared(site: Site, each: Audited, found: LogFigure | None, *, named: bool = False) -> Cell:
    """Return a cell with a figure, the rule if `named`, its difference from the published figure, and its lines."""
    if not found:
        return absent(phrase("audit.no_figure"))
    unit = (found.unit,) if found.unit != each.row.unit else ()
    details: tuple[tuple[str, Value | None], ...] = (
        ("unit", found.unit),
        ("rule", found.rule),
        ("difference", found.difference),
        ("first_line", found.first_line),
        ("last_line", found.last_line),
    )
    value = Entry(
        numbers.exact(float(f"{found.value:.7g}")), _page(site, found), unit, value=found.value, details=details
    )
    one = found.first_line == found.last_line
    lines = Entry(phrase("audit.line" if one else "audit.lines", first=found.first_line, last=found.last_line))
    if not named:
        return Cell((value, lines))
    return Cell((value, Entry(word_for("rule", found.rule)), Entry(numbers.signed_percent(found.difference, 3)), lines))


def _difference(each: Audited) -> Cell:
    """Return the relative difference of our figure from the published one; a small one is not coloured."""
    if not each.house:
        return absent(None)
    difference = each.house.difference
    tone = "bad" if abs(difference) >= FAR else "warn" if each.verdict not in _FOLLOWS else ""
    return cell(numbers.signed_percent(difference, 3), tone=tone, value=difference)


def _page(site: Site, found: LogFigure) -> str | None:
    """Return the page of a figure's run; None if the run is not on the site."""
    run = site.by_id.get(found.run.id)
    return site.page(run) if run else None


def _verdict(each: Audited) -> Cell:
    marks: list[Text] = []
    if each.other:
        marks.append(phrase("audit.other_log", log=each.other.run.path.rpartition("/")[2]))
    for problem in audit.contradictions(each.run):
        values = {name: str(problem.args[name]) for name in ("first", "second")}
        fact = word_for("fact", problem.args["fact"])
        marks.append(phrase("audit.contradiction", fact=fact, **values))
    for problem in audit.refutations(each.run):
        values = {name: str(problem.args[name]) for name in ("value", "against", "unit") if name in problem.args}
        witness = word_for("witness", problem.args["witness"])
        marks.append(phrase("audit.refuted", witness=witness, **values))
    near = each.verdict == audit.UNSUPPORTED and 0 <= _size(each) < FAR
    tone = "warn" if near else VERDICT_TONES.get(each.verdict, "")
    return cell(phrase(f"verdict.{each.verdict}"), None, *marks, tone=tone)


def _disagreements(site: Site) -> Table | None:
    """Return a table of the cases with different figures in one source; None without such cases."""
    rows = [_disagreement(site, each.rows) for each in audit.disagreements(site.published.rows)]
    names = ("model", "framework", "hardware", "case", "precision", "places")
    return Table(tuple(Column(phrase(f"table.{name}")) for name in names), tuple(rows)) if rows else None


def _disagreement(site: Site, rows: Sequence[Published]) -> tuple[Cell, ...]:
    one = rows[0]
    size = phrase("table.case_of", devices=one.devices or numbers.ABSENT, batch_size=one.batch_size or numbers.ABSENT)
    alike = len({options_cell(row.options) for row in rows}) == 1
    options = options_cell(one.options) if alike else ""
    places = tuple(Entry(f"{row.printed} {row.unit}", _address(site, row), _marks(row, alike)) for row in rows)
    return (
        cell(one.model),
        cell(one.framework),
        cell(one.hardware),
        cell(size, None, *((options,) if options else ())),
        cell(word_for("precision", one.precision)),
        Cell(places),
    )


def _marks(row: Published, alike: bool) -> tuple[Text, ...]:
    """Return the place of a figure, and its kind where the figures of a cell are of several."""
    output = (word_for("published_metric", row.metric),) if row.metric == "throughput_median" else ()
    options = () if alike or not row.options else (options_cell(row.options),)
    return (_place(row), *output, *options)


def _slips(site: Site) -> Table | None:
    """Return the speed-ups that do not follow from their figures."""
    rows = [_slip(site, each) for each in audit.slips(site.published.rows)]
    names = ("model", "framework", "hardware", "case", "precision", "printed_speedup", "computed_speedup")
    head = tuple(Column(phrase(f"table.{name}"), name.endswith("speedup")) for name in names)
    return Table(head, tuple(rows)) if rows else None


def _slip(site: Site, found: audit.Slip) -> tuple[Cell, ...]:
    row = found.row
    size = phrase("table.case_of", devices=row.devices or numbers.ABSENT, batch_size=row.batch_size or numbers.ABSENT)
    return (
        cell(row.model),
        cell(row.framework),
        cell(row.hardware),
        cell(size),
        cell(word_for("precision", row.precision)),
        Cell((Entry(row.speedup, _address(site, row), (_place(row),)),)),
        cell(f"{found.computed:.2f}"),
    )


def _claims(site: Site) -> Table | None:
    """Return the claims of sources about all their runs that logs do not support: contradictions before silence."""
    found = audit.unconfirmed(site.audited, site.published.sources)
    rows = [_claim(site, each) for each in sorted(found, key=lambda each: (not each.stated, each.row.log))]
    names = ("source_of_figures", "claim", "audit_log", "case", "in_the_log")
    return Table(tuple(Column(phrase(f"table.{name}")) for name in names), tuple(rows)) if rows else None


def _claim(site: Site, found: audit.Unconfirmed) -> tuple[Cell, ...]:
    row, source = found.row, site.published.sources[found.row.source]
    size = phrase("table.case_of", devices=row.devices or numbers.ABSENT, batch_size=row.batch_size or numbers.ABSENT)
    option = f"options.{found.claim.option}"
    stated = (
        cell(tables.stated(option, found.stated), tone="bad") if found.stated else cell(phrase("audit.unmentioned"))
    )
    return (
        cell(source.title, source.address_of(row)),
        cell(tables.stated(option, found.claim.value)),
        cell("/".join(row.log.split("/")[-2:]), source.address_of_log(row) or None),
        cell(size, None, row.framework),
        stated,
    )


def _place(row: Published) -> str:
    return f"{row.place}:{row.line}" if row.line else row.place
