"""The results on one hardware, as the front page and the page of the hardware show them.

Cards name the fastest result of each model. A table compares results along one axis; a line is a `Standing`. Results
that are shown and not ranked are outlined: those that a case leaves out, with the reason, and those that others
published. If only others have results on a hardware, its table has theirs.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from perfledger.ingest.common import numbers
from perfledger.ingest.common.words import Phrase, Text, phrase
from perfledger.ingest.compute.comparison import Candidate, LeftOut, entrant
from perfledger.ingest.compute.standings import AXES, FRAMEWORK
from perfledger.ingest.site import addresses, published_figures
from perfledger.ingest.site.answer_marks import (
    Mark,
    best_of_case,
    cautions,
    left_out_reasons,
    marks,
    overturning,
    run_page,
)
from perfledger.ingest.site.cards import Card, cards, lead_in_words
from perfledger.ingest.site.chips import Chip, ChipGroup, Selection, chip_group, facets_of
from perfledger.ingest.site.hardware_names import by_interest, is_accelerator, newest_first, product
from perfledger.ingest.site.model import (
    Hit,
    Row,
    Site,
    SuiteStanding,
    group_name,
    hardware_of,
    named,
    reason,
    written,
)
from perfledger.ingest.site.options import listed
from perfledger.ingest.site.render import colours
from perfledger.ingest.site.render.table import Facets, Link, Value
from perfledger.ingest.site.render.text import slugs
from perfledger.ingest.site.result_tables import how_measured
from perfledger.ingest.site.scorecards import frameworks
from perfledger.ingest.site.verdict_words import APART, LEADS, batch, devices, entrant_name, name_on, repeats, times

#: Hardware that a reader sees without opening the list.
CHIPS = 8
#: Lines that a screen has room for.
SCREEN = 14
SCRIPTS = (addresses.SITE_SCRIPT, "assets/js/front.js")


@dataclass(frozen=True)
class EntrantColumn:
    """A column of a table, such as a framework: its name, its page, and the id of its colour."""

    name: Text
    page: str | None
    ink: str


@dataclass(frozen=True)
class StandingEntry:
    """A figure of a line: `percent` is its share of the fastest, if results are compared.

    `is_outlined`: it is shown and not ranked; `why` says why.

    `each`, `low` and `high` are of one device, for the chart. `about` says how it was measured, `caution` what speaks
    against it. `faster` are results of the same entrant that the case leaves out; `published` are figures of others.
    """

    figure: Text = ""
    page: str | None = None
    percent: float | None = None
    is_outlined: bool = False
    why: Text = ""
    about: Text = ""
    caution: Text = ""
    each: float | None = None
    low: float | None = None
    high: float | None = None
    repeats: int = 0
    faster: tuple[StandingEntry, ...] = ()
    published: published_figures.PublishedFigure | None = None


@dataclass(frozen=True)
class StandingLine:
    """A comparison: an entry per column (None without a figure), and its verdict as a word and a number.

    `key` is its place among published figures, and `page` that of its model with the same choice. `detail` says what
    the number rests on; `marks` are the reasons for caution.
    """

    key: published_figures.LineKey
    title: Text
    page: str
    case: tuple[Text, ...]
    entries: tuple[StandingEntry | None, ...]
    kind: str
    sure: Text
    number: Text = ""
    detail: Text = ""
    marks: tuple[Mark, ...] = ()
    chart: Text = ""

    @property
    def facets(self) -> Facets:
        """Its names and values for the chips."""
        return facets_of(group=self.key.group, devices=[self.key.devices])


@dataclass(frozen=True)
class AxisTable:
    """The lines along an axis; `compared` of them have several entrants."""

    axis: str
    columns: tuple[EntrantColumn, ...]
    lines: tuple[StandingLine, ...]
    compared: int

    @property
    def caption(self) -> Text:
        """The meaning of the numbers, in words."""
        return phrase(f"front.relative_{self.axis}")

    @property
    def usual_devices(self) -> int | None:
        """The number of devices that a table longer than a screen begins with: that of most lines."""
        compared = [each for each in self.lines if each.kind not in ("alone", "none", "published")]
        counted = Counter(each.key.devices for each in compared or self.lines)
        return max(counted, key=lambda each: (counted[each], each)) if counted.total() > SCREEN else None


@dataclass(frozen=True)
class Machine:
    """One hardware: `key` is its name in ids. `is_published`: only others measured it.

    `tables` is empty if each result has a card and none has a rival. `axis` is the axis that a reader sees first:
    frameworks if several are compared, or else the one with most comparisons.
    """

    key: str
    hardware: str
    name: Text
    page: str | None
    is_published: bool
    cards: tuple[Card, ...]
    tables: tuple[AxisTable, ...]
    axis: str
    count: int
    note: Text = ""
    models: tuple[Link, ...] = ()

    @property
    def facets(self) -> Facets:
        """Its names and values for the chips."""
        return facets_of(self.hardware)

    @property
    def first_table(self) -> AxisTable | None:
        """The table that a reader sees first."""
        return next((each for each in self.tables if each.axis == self.axis), None)


def machines(site: Site) -> tuple[Machine, ...]:
    """Return all hardware with results, accelerators first; of these, ours by interest, then that of others."""
    place = {name: nth for nth, name in enumerate(site.once(by_interest))}
    names = {hardware_of(run) for run in site.counted}
    ours = sorted(names, key=lambda each: (place.get(each, len(place)), newest_first(each)))
    others = sorted(site.once(published_figures.hardware) - names, key=newest_first)
    keys = slugs(others)
    theirs = [_published_only(site, each, f"published-{keys[each]}") for each in others]
    found = (*(_machine(site, each) for each in ours), *theirs)
    return tuple(sorted(found, key=lambda each: not is_accelerator(each.hardware)))


def _machine(site: Site, hardware: str) -> Machine:
    found = site.standings
    found_cards = cards(site, hardware, [each for axis in AXES for each in found.get((hardware, axis), ())])
    tables = [_table(site, hardware, axis, found.get((hardware, axis), ())) for axis in AXES]
    shown = [
        each for each in tables if each.compared or (each.axis == FRAMEWORK and len(each.lines) > len(found_cards))
    ]
    usual = max(shown, key=lambda each: (each.axis == FRAMEWORK and bool(each.compared), each.compared), default=None)
    return Machine(
        key=f"on-{site.hardware_slugs[hardware]}",
        hardware=hardware,
        name=product(hardware),
        page=addresses.hardware_page(site, hardware),
        is_published=False,
        cards=found_cards,
        tables=tuple(shown),
        axis=usual.axis if usual else FRAMEWORK,
        count=sum(hardware == (row.hardware or "") for rows in site.rows.values() for row in rows),
    )


def _published_only(site: Site, hardware: str, key: str) -> Machine:
    table = _filled(site, hardware, (), ())
    models, metrics = published_figures.without_throughput(site, hardware)
    note = phrase("front.no_throughput", metrics=metrics) if not table.lines else phrase("front.only_published")
    count = sum(row.hardware == hardware and row.value is not None for row in site.published.rows)
    return Machine(
        key, hardware, named(hardware), None, True, (), (table,) if table.lines else (), FRAMEWORK, count, note,
        () if table.lines else models,
    )  # fmt: skip


# ---- the tables ----


def _table(site: Site, hardware: str, axis: str, found: Sequence[SuiteStanding]) -> AxisTable:
    values = entrants(axis, found)
    lines = tuple(line_of(site, each, values) for each in sorted(found, key=lambda each: not each.is_compared))
    compared = sum(each.is_compared for each in found)
    if axis == FRAMEWORK:
        return replace(_filled(site, hardware, values, lines), compared=compared)
    return AxisTable(axis, tuple(_column(site, axis, each) for each in values), lines, compared)


def _filled(site: Site, hardware: str, values: Sequence[str], lines: Sequence[StandingLine]) -> AxisTable:
    """Return a table of frameworks that has published figures in place of missing results of ours."""
    theirs = {each.key: each for each in site.once(published_figures.lines).get(hardware, ())}
    counted = Counter(name for each in theirs.values() for name in each.figures)
    names = (*values, *sorted(counted.keys() - {*values}, key=lambda each: (-counted[each], each)))
    filled = []
    for line in lines:
        figures = theirs.pop(line.key).figures if line.key in theirs else {}
        own = dict(zip(values, line.entries, strict=True))
        filled.append(replace(line, entries=tuple(own.get(each) or _published(figures, each) for each in names)))
    for each in theirs.values():
        entries = tuple(_published(each.figures, name) for name in names)
        sure = phrase("front.published")
        filled.append(StandingLine(each.key, each.title, each.page, each.case, entries, "published", sure))
    return AxisTable(FRAMEWORK, tuple(_column(site, FRAMEWORK, each) for each in names), tuple(filled), 0)


def _published(found: Mapping[str, published_figures.PublishedFigure], framework: str) -> StandingEntry | None:
    return StandingEntry(published=found[framework]) if framework in found else None


def entrants(axis: str, found: Sequence[SuiteStanding]) -> tuple[str, ...]:
    """Return the entrants of an axis: frameworks that lead most often first, other values by their names."""
    present = {candidate.entrant for each in found for candidate in _shown(each)}
    present |= {entrant(row, axis) for each in found for row in each.rows}
    if axis != FRAMEWORK:
        order = {name: nth for nth, name in enumerate(_PRECISIONS)}
        return tuple(sorted(present, key=lambda each: (order.get(each, len(order)), each)))
    leads = Counter(each.verdict.pair[0].entrant for each in found if each.verdict.kind in LEADS)
    rows = Counter(candidate.entrant for each in found for candidate in _shown(each))
    return tuple(sorted(present, key=lambda each: (-leads[each], -rows[each], each)))


#: From the most bits to the fewest.
_PRECISIONS = ("fp64", "fp32", "fp32_tf32", "tf32", "amp", "bf16", "fp16", "fp8", "fp4")


def _shown(found: SuiteStanding) -> list[Candidate]:
    """Return the candidates of a line: those that are ranked, and those that it leaves out, one per entrant."""
    every = (*found.verdict.ranked, *(each.candidate for each in found.verdict.left_out))
    by_entrant: dict[str, Candidate] = {}
    for each in every:
        by_entrant.setdefault(each.entrant, each)
    return list(by_entrant.values())


def _column(site: Site, axis: str, value: str) -> EntrantColumn:
    has_page = axis == FRAMEWORK and value in site.once(frameworks)
    page = addresses.scorecard_page(site, value) if has_page else None
    return EntrantColumn(name_on(axis, value), page, colours.ink(value).id)


def line_of(site: Site, found: SuiteStanding, values: Sequence[str]) -> StandingLine:
    """Return the line of a standing, with an entry for each of some entrants."""
    verdict, suite, group = found.verdict, found.suite, found.group
    by_entrant = {each.entrant: _entry(site, found, each) for each in _shown(found)}
    for row in (each for each in found.rows if entrant(each, found.axis) not in by_entrant):
        by_entrant[entrant(row, found.axis)] = _unranked(site, row)
    first = best_of_case(verdict).result if verdict.ranked else found.rows[0]
    precision = {"precision": group} if group else {}
    page = addresses.model_page(suite, hardware=found.hardware, devices=first.devices or 0, **precision)
    framework, size = named(first.framework) if found.axis != FRAMEWORK else "", batch(first.batch_size)
    case = (framework, group_name(group) if group else "", devices(first), size, suite.setting(first))
    return StandingLine(
        key=published_figures.LineKey(
            suite.id, group, suite.variant(first), first.nodes or 1, first.devices or 0, verdict.unit
        ),
        title=suite.name_of(first),
        page=page,
        case=tuple(each for each in case if each),
        entries=tuple(by_entrant.get(each) for each in values),
        kind=verdict.kind,
        sure=_sure(found),
        number=lead_in_words(found),
        detail=_detail(site, found),
        marks=marks(site, suite, verdict),
        chart=phrase("front.per_device", model=suite.title, group=group_name(group)) if group else "",
    )


def _unranked(site: Site, row: Row) -> StandingEntry:
    """Return the entry of a result with another unit, or without a figure."""
    if numbers.known(row.value):
        return StandingEntry(
            phrase("front.cell", figure=written(row), unit=row.unit), run_page(site, row), is_outlined=True
        )
    why = phrase("table.oom") if row.outcome == "oom" else reason(row.reason) or phrase("site.unknown")
    return StandingEntry(why, run_page(site, row))


def _entry(site: Site, found: SuiteStanding, candidate: Candidate) -> StandingEntry:
    row, verdict = candidate.result, found.verdict
    first = best_of_case(verdict)
    left_out = next((each for each in verdict.left_out if each.candidate is candidate), None)
    best = verdict.ranked[0].figure.value if verdict.contrast and not left_out else None
    n = row.devices or 1
    return StandingEntry(
        figure=written(row) if row.unit == verdict.unit else phrase("front.cell", figure=written(row), unit=row.unit),
        page=run_page(site, row),
        percent=100 * ((row.value or 0) / best) if best else None,
        is_outlined=bool(left_out) or verdict.kind in APART,
        why=left_out_reasons(left_out.reasons, first) if left_out else "",
        faster=tuple(
            StandingEntry(written(other), run_page(site, other), why=left_out_reasons(each.reasons, first))
            for each in verdict.left_out
            if each.is_faster
            and (other := each.candidate.result) is not row
            and each.candidate.entrant == candidate.entrant
        ),
        about=how_measured(site, found.suite, row),
        caution=listed(cautions(site, found.suite, row)),
        each=(row.value or 0) / n if row.unit == verdict.unit else None,
        low=None if row.low is None else row.low / n,
        high=None if row.high is None else row.high / n,
        repeats=row.repeats,
    )


def _sure(found: SuiteStanding) -> Phrase:
    """Return how sure a lead is; an entrant alone is the only one of its axis, and may have other results."""
    if _others_left_out(found):
        return phrase("front.class_conditions")
    kind = found.verdict.kind
    return phrase(f"front.alone_{found.axis}") if kind == "alone" else phrase(f"front.class_{kind}")


def _others_left_out(found: SuiteStanding) -> LeftOut | None:
    """Return the best result of another entrant, if a case has one entrant only and leaves it out."""
    verdict = found.verdict
    others = (each for each in verdict.left_out if each.candidate.entrant != verdict.ranked[0].entrant)
    return next(others, None) if verdict.kind == "alone" else None


def _detail(site: Site, found: SuiteStanding) -> Text:
    """Return how often the two ran; or why they are not compared."""
    verdict = found.verdict
    if verdict.contrast:
        return repeats(verdict.pair, verdict.contrast.more)
    if missed := overturning(verdict) or _others_left_out(found):
        return left_out_reasons(missed.reasons, best_of_case(verdict))
    if verdict.kind == "units":
        first, second, *_ = dict.fromkeys(row.unit for row in found.rows if numbers.known(row.value))
        return phrase("front.units", first=first, second=second)
    if verdict.kind == "conditions":
        one, other = map(entrant_name, verdict.pair)
        return phrase("front.conditions", first=one, second=other)
    return times(found.rows[0]) if verdict.ranked else ""


# ---- the chips, and the search ----


def selection(found: Sequence[Machine]) -> Selection | None:
    """Return what the chips of some hardware choose from; None if there is nothing to choose."""
    if not found or (len(found) == 1 and not found[0].tables):
        return None
    first = {"hardware": found[0].hardware, "axis": found[0].axis}
    if found[0].first_table and found[0].first_table.usual_devices is not None:
        first["devices"] = str(found[0].first_table.usual_devices)
    return Selection(".pl-machine, .pl-row", first)


def chips(found: Sequence[Machine], shown: Sequence[Machine]) -> tuple[ChipGroup, ...]:
    """Return the chips of the front page, or of the page of a hardware."""
    table = found[0].first_table if found else None
    first = [each.facets for each in table.lines] if table else []
    lines = [each for machine in found for table in machine.tables for each in table.lines]
    every = [each.facets for each in lines]
    devices_of: dict[Value, Text] = {n: numbers.count(n) for n in sorted({each.key.devices for each in lines}) if n}
    groups: dict[Value, Text] = {each.key.group: group_name(each.key.group) for each in lines if each.key.group}
    return (
        *([hardware_chips(found, shown)] if len(found) > 1 else []),
        ChipGroup("axis", phrase("axis.title"), _AXES, has_all=False),
        chip_group("devices", phrase("table.devices"), every, devices_of, first),
        chip_group("precision", phrase("table.precision"), every, groups, first),
    )


def hardware_chips(found: Sequence[Machine], shown: Sequence[Machine]) -> ChipGroup:
    """Return the chips of hardware; those that are not shown lead to their page."""
    every = tuple(
        Chip(
            each.hardware,
            each.name,
            fixed_count=numbers.count(each.count),
            about=phrase("front.only_others") if each.is_published else "",
            page=None if each in shown else each.page,
            is_outlined=each.is_published,
        )
        for each in found
    )
    return ChipGroup("hardware", phrase("table.hardware"), every[:CHIPS], every[CHIPS:], has_all=False)


#: Hardware is compared on a page of its own.
_AXES = (
    *(Chip(each, phrase(f"axis.{each}")) for each in AXES),
    Chip("hardware", phrase("axis.hardware"), page=addresses.HARDWARE),
)


def hits(found: Machine) -> Iterator[Hit]:
    """Yield the results of the search for a hardware: each line of its first table, with its fastest result."""
    for table in (each for each in found.tables if each.axis == FRAMEWORK and not found.is_published):
        for line in (each for each in table.lines if each.kind != "published"):
            there = [(each, column) for each, column in zip(line.entries, table.columns, strict=True) if each]
            best, column = max(there, key=lambda each: each[0].each or 0)
            figure = phrase("front.cell", figure=best.figure, unit=line.key.unit)
            text = phrase("front.hit", framework=column.name, figure=figure, verdict=listed((line.sure, line.number)))
            yield Hit(listed((line.title, found.name, *line.case)), text, line.page)
