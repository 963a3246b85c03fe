"""Models by frameworks on one hardware: each figure as a share of the fastest of its row, and how sure that is.

The rows are the answers of `answers` at each level of comparability, so that the table agrees with them; answers that
are equal at several levels are one row. Figures that others published for the same case are shown with ours, and never
ranked.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Protocol, TypeVar
from urllib.parse import urlencode

from perfledger.ingest.common import numbers
from perfledger.ingest.common.words import Text, phrase
from perfledger.ingest.compute.comparison_levels import DEFAULT, LEVELS, Level
from perfledger.ingest.published import cases
from perfledger.ingest.published.publications import Published
from perfledger.ingest.site import addresses, answers, published_tables
from perfledger.ingest.site.answer_marks import Mark
from perfledger.ingest.site.answers import APART, LEADS, Answer, Bar, Part
from perfledger.ingest.site.hardware_names import is_accelerator, product, raw
from perfledger.ingest.site.model import Hit, Row, Site, Suite, group_name, hardware_of, named, ordered
from perfledger.ingest.site.options import listed
from perfledger.ingest.site.render import colours

#: Rows that a screen has room for.
SCREEN = 14
#: Scripts of a page with such tables; the script of charts is loaded with the first row that is opened.
SCRIPTS = ("assets/js/front.js",)


@dataclass(frozen=True)
class HeatShare:
    """One framework's figure in a row: `text` is its percentage of the fastest, or the figure if it is not compared.

    `value`, `low` and `high` are of one device, for charts. `plain` is the figure, `figure` has its unit, and `about`
    says how it was measured. `differs` are the differences between the figures of the row.
    """

    text: Text
    ink: str
    percent: float | None
    value: float | None
    low: float | None
    high: float | None
    repeats: int
    run: str | None
    plain: Text
    figure: Text
    about: Text
    differs: Text
    is_close: bool = False
    caution: Text | None = None


@dataclass(frozen=True)
class HeatPublished:
    """Published figures of a framework in the case of a row: one figure, or the least and the most of several.

    `share` is the largest as a percentage of our fastest; empty if the row is not compared.
    """

    framework: Text
    figure: str
    share: str
    page: str
    about: Text


@dataclass(frozen=True)
class HeatColumn:
    """A framework of a table: its name, its page, the id of its ink; `is_published`: only others have figures of it."""

    name: Text
    page: str | None
    ink: str
    is_published: bool


@dataclass(frozen=True)
class HeatPlace:
    """The subject of a line: a model, a precision group, devices and case; `page` is the model's, filtered for it."""

    suite: str
    group: str
    devices: int
    title: Text
    page: str
    case: tuple[Text, ...]


@dataclass(frozen=True)
class HeatRow:
    """One comparison: a share per framework of the table (None without a figure), and its verdict.

    `published` has the figures of others, per framework. `kind` is that of the verdict, `sure` its word; `lead` is the
    ratio of the best to the next. `levels` are the levels of comparability with this comparison.
    """

    place: HeatPlace
    unit: str
    chart: Text
    shares: tuple[HeatShare | None, ...]
    published: tuple[HeatPublished | None, ...]
    kind: str
    sure: Text
    lead: Text
    runs: Text
    verdict: Text
    marks: tuple[Mark, ...]
    levels: tuple[Level, ...]


@dataclass(frozen=True)
class LoneCase:
    """A case without a rival: one line with its only figure, and what others published; at some levels.

    `faster` names the faster results that the case leaves out.
    """

    place: HeatPlace
    framework: Text
    figure: Text
    run: str | None
    verdict: Text
    faster: tuple[Mark, ...]
    published: tuple[HeatPublished, ...]
    levels: tuple[Level, ...]


@dataclass(frozen=True)
class HeatTally:
    """How often each framework leads, at some levels."""

    texts: tuple[Text, ...]
    levels: tuple[Level, ...]


_AtLevels = TypeVar("_AtLevels", HeatRow, LoneCase, HeatTally)


@dataclass(frozen=True)
class Heat:
    """The comparisons on one hardware, and the cases that have no rival yet.

    `key` is its name in ids, and `stated` that in the logs.
    """

    key: str
    hardware: str
    name: Text
    stated: str
    page: str
    tally: tuple[HeatTally, ...]
    frameworks: tuple[HeatColumn, ...]
    rows: tuple[HeatRow, ...]
    alone: tuple[LoneCase, ...]

    @property
    def is_accelerator(self) -> bool:
        """Whether the hardware is an accelerator."""
        return is_accelerator(self.hardware)

    @property
    def usual_devices(self) -> int | None:
        """The number of devices that a table longer than a screen begins with: that of most comparisons."""
        counted = Counter(each.place.devices for each in self.rows if DEFAULT in each.levels)
        return max(counted, key=lambda each: (counted[each], each)) if counted.total() > SCREEN else None

    @property
    def alone_usually(self) -> int:
        """How many cases have no rival at the usual level."""
        return sum(DEFAULT in each.levels for each in self.alone)

    @property
    def lines(self) -> int:
        """How many lines the table and the list have together."""
        return len(self.rows) + len(self.alone)

    @property
    def places(self) -> tuple[HeatPlace, ...]:
        """The subjects of its lines."""
        return (*(each.place for each in self.rows), *(each.place for each in self.alone))


@dataclass(frozen=True)
class _Case:
    """An answer at a level, and what others published of its case, by framework; `rank` is its place in the table."""

    site: Site
    suite: Suite
    answer: Answer
    level: Level
    published: Mapping[str, Sequence[Published]]
    rank: tuple[object, ...]

    @property
    def is_compared(self) -> bool:
        return self.answer.kind in (*LEADS, "close", *APART)


def heats(site: Site) -> Mapping[str, Heat]:
    """Return the table of each hardware with a run that counts."""
    return {name: heat(site, name) for name in sorted({hardware_of(run) for run in site.counted})}


def heat(site: Site, hardware: str) -> Heat:
    """Return the table of a hardware: its frameworks by how often they lead, its rows in the order of the models.

    Frameworks of the usual level come first, and those with figures of others only come last.
    """
    parts = {level: answers.parts(site, hardware, level) for level in sorted(LEVELS, key=lambda each: each != DEFAULT)}
    found = sorted(
        (each for level, of_level in parts.items() for each in _cases(site, hardware, level, of_level)),
        key=lambda each: each.rank,
    )
    compared, alone = ([each for each in found if each.is_compared is wanted] for wanted in (True, False))
    names = list(dict.fromkeys(name for level in parts for name in _frameworks(compared, level)))
    theirs = sorted({name for each in compared for name in each.published} - {*names})
    return Heat(
        site.hardware_slugs[hardware],
        hardware,
        product(hardware),
        raw(hardware),
        addresses.hardware_page(site, hardware),
        _merged(HeatTally(answers.tally(of_level), (level,)) for level, of_level in parts.items()),
        (*(_column(site, name, False) for name in names), *(_column(site, name, True) for name in theirs)),
        _merged(_row(each, (*names, *theirs), hardware) for each in compared),
        _merged(_alone(each, hardware) for each in alone),
    )


def _cases(site: Site, hardware: str, level: Level, parts: Sequence[Part]) -> Iterator[_Case]:
    suites = {addresses.model_page(each): (order, each) for order, each in enumerate(site.shown)}
    fit = cases.options_fit(site.published.rows)
    for part in parts:
        order, suite = suites[part.page]
        groups = [*suite.groups, "unknown", ""]
        figures = [each for each in site.published.by_suite.get(suite.id, ()) if each.hardware == hardware]
        for answer in part.answers:
            row = answer.rows[0]
            rank = (order, groups.index(answer.group), suite.variant(row), row.nodes or 1, row.devices or 0)
            yield _Case(site, suite, answer, level, _published(suite, answer, level, figures, fit), rank)


def _merged(found: Iterable[_AtLevels]) -> tuple[_AtLevels, ...]:
    """Return what is said at several levels once, with all of them."""
    levels: dict[_AtLevels, list[Level]] = {}
    for each in found:
        levels.setdefault(replace(each, levels=()), []).extend(each.levels)
    return tuple(replace(each, levels=tuple(named)) for each, named in levels.items())


class HasPlaces(Protocol):
    """A table with lines."""

    @property
    def places(self) -> tuple[HeatPlace, ...]:
        """The subjects of its lines."""


def groups(found: Iterable[HasPlaces]) -> Mapping[str, Text]:
    """Return the groups of precisions that some tables have lines of, each once with its name."""
    there = dict.fromkeys(place.group for each in found for place in each.places if place.group)
    return {each: group_name(each) for each in there}


def hits(found: Heat) -> Iterator[Hit]:
    """Yield what the search finds of a hardware: every line of its table, with its answer."""
    for row in (each for each in found.rows if DEFAULT in each.levels):
        ranked = [(share, column.name) for share, column in zip(row.shares, found.frameworks, strict=True) if share]
        best, framework = max(ranked, key=lambda each: each[0].percent or 0)
        told = row.verdict if best.percent is None else _told(framework, best.figure, row.sure)
        yield _hit(found, row.place, told)
    for alone in (each for each in found.alone if DEFAULT in each.levels):
        yield _hit(found, alone.place, _told(alone.framework, alone.figure, alone.verdict))


def _told(framework: Text, figure: Text, verdict: Text) -> Text:
    return phrase("front.hit", framework=framework, figure=figure, verdict=verdict)


def _hit(found: Heat, place: HeatPlace, text: Text) -> Hit:
    return Hit(listed((place.title, found.name, *place.case)), text, place.page)


def _frameworks(compared: Sequence[_Case], level: Level) -> list[str]:
    """Return the frameworks of a level: that which leads most often first, then that with the largest shares in all."""
    found = [each.answer for each in compared if each.level == level]
    leads = [answer.bars[0].result.framework for answer in found if answer.kind in LEADS]
    shares: dict[str, float] = {}
    for bar in (bar for answer in found for bar in answer.bars):
        shares[bar.result.framework or ""] = shares.get(bar.result.framework or "", 0) + (bar.share or 0)
    return sorted(ordered(shares, ()), key=lambda name: (-leads.count(name), -shares[name]))


def _column(site: Site, framework: str, is_published: bool) -> HeatColumn:
    page = addresses.scorecard_page(site, framework) if framework in site.framework_slugs else None
    return HeatColumn(named(framework), page, colours.ink(framework).id, is_published)


def _row(of: _Case, names: Sequence[str], hardware: str) -> HeatRow:
    answer = of.answer
    by_name = {bar.result.framework or "": bar for bar in answer.bars}
    judged = answer.judged
    return HeatRow(
        place=_place(of, hardware),
        unit=answer.unit,
        chart=_chart_title(of),
        shares=tuple(_share(answer, by_name[name]) if name in by_name else None for name in names),
        published=tuple(_theirs(of, name) for name in names),
        kind=answer.kind,
        sure=phrase(f"front.class_{answer.kind}"),
        lead=_lead(answer),
        runs=answers.repeats(judged.pair, judged.contrast.more) if judged.contrast else answer.verdict,
        verdict=answer.verdict,
        marks=answer.marks,
        levels=(of.level,),
    )


def _chart_title(of: _Case) -> Text:
    if not of.answer.group:
        return phrase("front.per_device_of_all", model=of.suite.title)
    return phrase("front.per_device", model=of.suite.title, group=group_name(of.answer.group))


def _place(of: _Case, hardware: str) -> HeatPlace:
    suite, answer = of.suite, of.answer
    devices = answer.bars[0].result.devices or 0
    asked = {"hardware": hardware, "devices": devices} | ({"precision": answer.group} if answer.group else {})
    page = f"{addresses.model_page(suite)}?{urlencode(asked)}"
    return HeatPlace(suite.id, answer.group, devices, suite.title, page, answer.case)


def _lead(answer: Answer) -> Text:
    found = answer.judged.contrast
    if found is None:
        return ""
    second = answer.judged.pair[1].entrant
    return phrase("front.lead", ratio=answers.ratio(found, "front.ratio_range"), second=second)


def _share(answer: Answer, bar: Bar) -> HeatShare:
    row, judged = bar.result, answer.judged
    best = judged.ranked[0].figure.value if judged.ranked and answer.kind not in APART else None
    ranked = row in [each.result for each in judged.ranked]
    percent = 100 * ((row.value or 0) / best) if best and ranked else None
    devices = row.devices or 1
    return HeatShare(
        text=bar.figure if percent is None else _percent(percent),
        ink=bar.ink,
        percent=percent,
        value=row.value / devices if ranked and row.value is not None else None,
        low=None if row.low is None else row.low / devices,
        high=None if row.high is None else row.high / devices,
        repeats=row.repeats,
        run=bar.run,
        plain=bar.figure,
        figure=phrase("front.cell", figure=bar.figure, unit=row.unit) if numbers.known(row.value) else "",
        about=listed(bar.about),
        differs=listed(bar.differs),
        is_close=answer.kind == "close" and row in [each.result for each in judged.pair],
        caution=phrase("front.caution", text=listed(bar.cautions)) if bar.cautions else None,
    )


def _percent(share: float) -> str:
    """Write a percentage without decimals; one that is not 100 does not become it."""
    return f"{share:.1f}" if 99.5 <= share < 100 else f"{share:.0f}"


def _alone(of: _Case, hardware: str) -> LoneCase:
    answer = of.answer
    known = numbers.known(answer.bars[0].result.value)
    figure = phrase("front.cell", figure=answer.figure, unit=answer.unit) if known else answer.bars[0].figure
    return LoneCase(
        place=_place(of, hardware),
        framework=answer.framework,
        figure=figure,
        run=answer.run,
        verdict=answer.verdict,
        faster=tuple(each for each in answer.marks if each.is_faster),
        published=tuple(found for name in sorted(of.published) if (found := _theirs(of, name))),
        levels=(of.level,),
    )


# ---- what others published of the same case ----


def _published(
    suite: Suite, answer: Answer, level: Level, figures: Iterable[Published], fit: Callable[[Published, Row], bool]
) -> Mapping[str, Sequence[Published]]:
    """Return the published figures of the case of an answer, by the name that runs give their framework."""
    ours = {cases.library(bar.result.framework or ""): bar.result.framework or "" for bar in answer.bars}
    found: dict[str, list[Published]] = {}
    for each in figures:
        if each.metric != "throughput" or not each.value or each.unit not in ("", answer.unit):
            continue
        if any(_is_of_case(suite, level, each, bar.result, fit) for bar in answer.bars):
            found.setdefault(ours.get(cases.library(each.framework), each.framework), []).append(each)
    return found


def _is_of_case(suite: Suite, level: Level, figure: Published, row: Row, fit: Callable[[Published, Row], bool]) -> bool:
    """Return whether a published figure is of the case of a result, at a level."""
    if figure.devices != row.devices or suite.variant_of(figure.model) != suite.variant(row):
        return False
    if level == "everything":
        return True
    precise = figure.precision if level == "identical" else suite.group(figure.precision)
    return (
        (figure.nodes or 1) == (row.nodes or 1)
        and figure.batch_size == row.batch_size
        and precise == (row.precision if level == "identical" else suite.group(row.precision))
        and fit(figure, row)
    )


def written(figure: Published) -> str:
    """Return a published figure with as many digits as ours have, and no more than were printed."""
    return min(numbers.figure(figure.value), published_tables.printed(figure), key=len)


def _theirs(of: _Case, framework: str) -> HeatPublished | None:
    """Return what others published of a framework; of several figures the least and the most."""
    found = sorted(of.published.get(framework, ()), key=lambda each: each.value or 0)
    if not found:
        return None
    ends = list(dict.fromkeys(map(written, (found[0], found[-1]))))
    best = of.answer.judged.ranked[0].figure.value if of.answer.judged.ranked and of.answer.kind not in APART else None
    sources = of.site.published.sources
    one = sources[found[0].source].address_of(found[0]) if len(found) == 1 else None
    return HeatPublished(
        framework=named(framework),
        figure="–".join(ends),
        share=_percent(100 * ((found[-1].value or 0) / best)) if best else "",
        page=one or addresses.section(addresses.model_page(of.suite), "published"),
        about=listed(dict.fromkeys(sources[each.source].title for each in found)),
    )
