"""The rows of the audit: a published result, the one computed from its log, their difference, and the verdict."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from perfledger.ingest.common import numbers
from perfledger.ingest.common.words import Text, phrase, word_for
from perfledger.ingest.compute.results import round_of
from perfledger.ingest.published import audit
from perfledger.ingest.published.audit import SCORES, Audited, LogFigure
from perfledger.ingest.published.publications import Published
from perfledger.ingest.site import addresses
from perfledger.ingest.site import published_tables as tables
from perfledger.ingest.site.chips import token
from perfledger.ingest.site.hardware_names import product
from perfledger.ingest.site.model import Site, precision_name
from perfledger.ingest.site.options import in_words, listed
from perfledger.ingest.site.render.table import Facets, Link
from perfledger.ingest.site.run_tables import log_lines_text
from perfledger.ingest.site.verdict_words import batch, devices_of

#: A difference of this share fills its half of the bar; larger ones are cut off there.
FULL_BAR = 0.1
#: Differences below this share are written with three digits after the point, since the tolerance is 0.1 %.
SMALL = 0.01


@dataclass(frozen=True)
class PlaceLink:
    """A page that prints the result: the name of its file, the places on it, and an id for each of them."""

    anchors: tuple[str, ...]
    text: Text
    title: str
    page: str | None


@dataclass(frozen=True)
class AuditDifference:
    """Our result relative to the published one: the text, the share, its side, and the length of its bar in percent."""

    text: str
    share: float
    side: str
    length: float


@dataclass(frozen=True)
class AuditCase:
    """A published result that names a log, and all rows that print it; `audited` is the row with most digits.

    `run` leads to our run, and `lines` to the lines that our result is computed from. `about` says which rule or log
    gives the published result, and what the log contradicts. `facets` are those of the page's chips.
    """

    audited: Audited
    rows: tuple[Published, ...]
    setting: Text
    published: str
    places: tuple[PlaceLink, ...]
    computed: str
    run: str | None
    lines: Link | None
    difference: AuditDifference | None
    about: tuple[Text, ...]
    facets: Facets


def audit_cases(site: Site, found: Sequence[Audited]) -> tuple[AuditCase, ...]:
    """Return a case per result that a log gives, the largest difference first; equal figures of one log are one."""
    groups = sorted(_merged(found), key=lambda group: -_size(_finest(group)))
    return tuple(_case(site, _finest(group), tuple(each.row for each in group)) for group in groups)


def once_each(found: Iterable[Audited]) -> list[Audited]:
    """Return published figures, once if several places print them."""
    return [_finest(group) for group in _merged(found)]


def facets(row: Published, verdict: str) -> Facets:
    """Return names and values that the page's address knows a result by."""
    facts = {
        "source": row.source,
        "model": row.suite or row.model,
        "framework": row.framework,
        "hardware": row.hardware,
    }
    return (*((name, token(value)) for name, value in facts.items()), ("verdict", verdict))


def setting(row: Published) -> Text:
    """Return hardware, precision, batch size and options in words; of a score, whose system it is."""
    if row.metric in SCORES:
        return " / ".join(row.options[name] for name in ("submitter", "system") if name in row.options)
    hardware = product(row.hardware) if row.hardware else ""
    precision = precision_name(row.precision) if row.precision else ""
    devices = devices_of(row.devices, row.nodes, hardware)
    return listed((devices, precision, batch(row.batch_size), in_words(row.options)))


def _size(each: Audited) -> float:
    """Return the relative difference of our figure from the published one; -1 without a figure of ours."""
    return abs(each.house.difference) if each.house else -1.0


def _finest(group: Sequence[Audited]) -> Audited:
    """Return the figure that is shown and compared with ours: the one with most digits, or for another case."""
    return max(group, key=lambda one: (len(one.row.printed), _is_of_another_case(one.row)))


def _is_of_another_case(row: Published) -> bool:
    return bool(row.printed_batch_size or row.printed_precision)


def _merged(found: Iterable[Audited]) -> list[list[Audited]]:
    groups: list[tuple[tuple[object, ...], list[Audited]]] = []
    for each in found:
        of = (each.verdict, each.row.log, each.row.options if each.row.metric in SCORES else None)
        there = next((group for name, group in groups if name == of and audit.same(group[0].row, each.row)), None)
        if there:
            there.append(each)
        else:
            groups.append((of, [each]))
    return [group for _, group in groups]


def _case(site: Site, each: Audited, rows: tuple[Published, ...]) -> AuditCase:
    ours = each.house
    return AuditCase(
        audited=each,
        rows=rows,
        setting=setting(each.row),
        published=tables.printed(each.row),
        places=tuple(_places(site, rows)),
        computed=numbers.exact(float(f"{ours.value:.7g}")) if ours else numbers.ABSENT,
        run=_page(site, each),
        lines=_lines(site, each, ours) if ours else None,
        difference=_difference(ours.difference) if ours else None,
        about=tuple(_about(each)),
        facets=facets(each.row, each.verdict),
    )


def _places(site: Site, rows: Sequence[Published]) -> Iterator[PlaceLink]:
    """Yield each page that prints a figure, with its folder."""
    for file in dict.fromkeys(row.place.split(" ")[0] for row in rows):
        there = [row for row in rows if row.place.split(" ")[0] == file]
        anchors = tuple(addresses.audit_anchor(row) for row in there)
        title, page = "; ".join(row.place for row in there), site.published.address_of(there[0])
        yield PlaceLink(anchors, "/".join(file.split("/")[-2:]), title, page)


def _page(site: Site, each: Audited) -> str | None:
    """Return the page of the run, or of the round that a score is of; None if the site has neither."""
    if each.row.metric in SCORES and each.run:
        return addresses.round_page(round_of(each.run) or "")
    run = site.by_id.get(each.house.run.id) if each.house else None
    return site.page(run) if run else None


def _lines(site: Site, each: Audited, found: LogFigure) -> Link | None:
    """Return a link to the lines of a log that give a figure: on our page of the log, or at the source."""
    lines = addresses.line_range(found.first_line, found.last_line)
    if lines is None:
        return None
    first, last = lines
    text = log_lines_text(first, last)
    run = site.by_id.get(found.run.id)
    here = addresses.log_lines(site, run, first, last) if run else None
    return Link(text, here or _lines_at_source(site, each, found, addresses.log_anchor(first, last)))


def _lines_at_source(site: Site, each: Audited, found: LogFigure, anchor: str) -> str | None:
    """Return the address of the lines where the source keeps the log; pages of forges have an anchor per line."""
    source = site.published.sources.get(each.row.source)
    if not source or not source.log or not each.run:
        return None
    folder = each.run.path.removesuffix(each.row.log)
    address = source.log.format(path=found.run.path.removeprefix(folder))
    return addresses.section(address, anchor) if "/blob/" in address else address


def _difference(share: float) -> AuditDifference:
    digits = 3 if abs(share) < SMALL else 1
    side = "within" if abs(share) <= audit.TOLERANCE else "below" if share < 0 else "above"
    return AuditDifference(numbers.signed_percent(share, digits), share, side, 100 * min(abs(share) / FULL_BAR, 1))


def _about(each: Audited) -> Iterator[Text]:
    """Yield the rule or the log that comes closest to the published result, and contradictions in the log."""
    nearest = each.other or each.closest
    if nearest and each.verdict != audit.REPRODUCED and each.row.metric not in SCORES:
        rule = word_for("rule", nearest.rule)
        if nearest.close:
            yield phrase("audit.by_rule", rule=rule, value=numbers.exact(float(f"{nearest.value:.7g}")))
        elif nearest is not each.house:
            yield phrase("audit.closest", rule=rule, difference=_difference(nearest.difference).text)
    if each.other:
        yield phrase("audit.other_log", log=each.other.run.path.rpartition("/")[2])
    for problem in audit.contradictions(each.run):
        values = {name: str(problem.args[name]) for name in ("first", "second")}
        yield phrase("audit.contradiction", fact=word_for("fact", problem.args["fact"]), **values)
    for problem in audit.refutations(each.run):
        values = {name: str(problem.args[name]) for name in ("value", "against", "unit") if name in problem.args}
        yield phrase("audit.refuted", witness=word_for("witness", problem.args["witness"]), **values)
