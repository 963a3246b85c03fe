"""Models by frameworks on one hardware: each figure as a share of the fastest of its row, with how sure that is.

The rows are the answers of `answers`, so that the table can say nothing else than they do.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from urllib.parse import urlencode

from ingest.common import numbers
from ingest.common.words import Text, phrase
from ingest.site import addresses, answers
from ingest.site.answers import APART, LEADS, Answer, Bar, Mark
from ingest.site.hardware_names import product, raw
from ingest.site.model import Hit, Site, Suite, group_name, named, ordered
from ingest.site.options import listed
from ingest.site.render import colours


@dataclass(frozen=True)
class HeatShare:
    """One framework's figure in a row: `text` is its percentage of the fastest, or itself where nothing is compared.

    `value`, `low` and `high` are of one device, for charts. `plain` is the figure, `figure` has its unit, and `about`
    says how it was measured.
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
    is_close: bool = False
    caution: Text | None = None


@dataclass(frozen=True)
class HeatColumn:
    """A framework of a table: its name, its page, and the id of its ink."""

    name: Text
    page: str
    ink: str


@dataclass(frozen=True)
class HeatPlace:
    """What a line is about: a model, a group of precisions, devices and case; `page` is the model's, filtered alike."""

    suite: str
    group: str
    devices: int
    title: Text
    page: str
    case: tuple[Text, ...]


@dataclass(frozen=True)
class HeatRow:
    """One comparison: a share per framework of the table (None where it has none), and its verdict.

    `kind` is that of the verdict, `sure` its word; `lead` is the ratio of the best to the next.
    """

    place: HeatPlace
    unit: str
    chart: Text
    shares: tuple[HeatShare | None, ...]
    kind: str
    sure: Text
    lead: Text
    runs: Text
    verdict: Text
    marks: tuple[Mark, ...]


@dataclass(frozen=True)
class LoneCase:
    """A case without a rival: one line with its only figure."""

    place: HeatPlace
    framework: Text
    figure: Text
    run: str | None
    verdict: Text


@dataclass(frozen=True)
class Heat:
    """The comparisons on one hardware, and the cases that have no rival yet; `stated` is its name in the logs."""

    hardware: str
    name: Text
    stated: str
    page: str
    tally: tuple[Text, ...]
    frameworks: tuple[HeatColumn, ...]
    rows: tuple[HeatRow, ...]
    alone: tuple[LoneCase, ...]

    @property
    def places(self) -> tuple[HeatPlace, ...]:
        """What its lines are about."""
        return (*(each.place for each in self.rows), *(each.place for each in self.alone))


def heat(site: Site, hardware: str) -> Heat:
    """Return the table of a hardware: its frameworks by how often they lead, its rows in the order of the models."""
    parts = answers.parts(site, hardware)
    suites = {addresses.model_page(each): each for each in site.shown}
    found = [(suites[part.page], answer) for part in parts for answer in part.answers]
    compared = [(suite, answer) for suite, answer in found if _is_compared(answer)]
    names = _frameworks([answer for _, answer in compared])
    return Heat(
        hardware,
        product(hardware),
        raw(hardware),
        addresses.hardware_page(site, hardware),
        answers.tally(parts),
        tuple(HeatColumn(named(each), addresses.scorecard_page(site, each), colours.ink(each).id) for each in names),
        tuple(_row(suite, answer, names, hardware) for suite, answer in compared),
        tuple(_alone(suite, answer, hardware) for suite, answer in found if not _is_compared(answer)),
    )


def hits(found: Heat) -> Iterator[Hit]:
    """Yield what the search finds of a hardware: every line of its table, with its answer."""
    for row in found.rows:
        ranked = [(share, column.name) for share, column in zip(row.shares, found.frameworks, strict=True) if share]
        best, framework = max(ranked, key=lambda each: each[0].percent or 0)
        told = row.verdict if best.percent is None else _told(framework, best.figure, row.sure)
        yield _hit(found, row.place, told)
    for alone in found.alone:
        yield _hit(found, alone.place, _told(alone.framework, alone.figure, alone.verdict))


def _told(framework: Text, figure: Text, verdict: Text) -> Text:
    return phrase("front.hit", framework=framework, figure=figure, verdict=verdict)


def _hit(found: Heat, place: HeatPlace, text: Text) -> Hit:
    return Hit(listed((place.title, found.name, *place.case)), text, place.page)


def _is_compared(answer: Answer) -> bool:
    return answer.kind in (*LEADS, "close", *APART)


def _frameworks(compared: Sequence[Answer]) -> list[str]:
    """Return the frameworks of a table: that which leads most often first, then that with the largest shares in all."""
    leads = [answer.bars[0].result.framework for answer in compared if answer.kind in LEADS]
    shares: dict[str, float] = {}
    for bar in (bar for answer in compared for bar in answer.bars):
        shares[bar.result.framework or ""] = shares.get(bar.result.framework or "", 0) + (bar.share or 0)
    return sorted(ordered(shares, ()), key=lambda name: (-leads.count(name), -shares[name]))


def _row(suite: Suite, answer: Answer, names: Sequence[str], hardware: str) -> HeatRow:
    by_name = {bar.result.framework or "": bar for bar in answer.bars}
    judged = answer.judged
    return HeatRow(
        place=_place(suite, answer, hardware),
        unit=answer.unit,
        chart=phrase("front.per_device", model=suite.title, group=group_name(answer.group)),
        shares=tuple(_share(answer, by_name[name]) if name in by_name else None for name in names),
        kind=answer.kind,
        sure=phrase(f"front.class_{answer.kind}"),
        lead=_lead(answer),
        runs=answers.repeats(judged.pair, judged.contrast.more) if judged.contrast else answer.verdict,
        verdict=answer.verdict,
        marks=answer.marks,
    )


def _place(suite: Suite, answer: Answer, hardware: str) -> HeatPlace:
    devices = answer.bars[0].result.devices or 0
    asked = {"hardware": hardware, "devices": devices, "precision": answer.group}
    page = f"{addresses.model_page(suite)}?{urlencode(asked)}"
    return HeatPlace(suite.id, answer.group, devices, suite.title, page, answer.case)


def _lead(answer: Answer) -> Text:
    found = answer.judged.contrast
    if found is None:
        return ""
    second = answer.judged.pair[1].framework
    return phrase("front.lead", ratio=answers.ratio(found, "front.ratio_range"), second=second)


def _share(answer: Answer, bar: Bar) -> HeatShare:
    row, judged = bar.result, answer.judged
    best = judged.ranked[0].figure.value if judged.ranked and answer.kind not in APART else None
    ranked = row in [each.result for each in judged.ranked]
    percent = 100 * (row.value or 0) / best if best and ranked else None
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
        is_close=answer.kind == "close" and row in [each.result for each in judged.pair],
        caution=phrase("front.caution", text=listed(bar.cautions)) if bar.cautions else None,
    )


def _percent(share: float) -> str:
    """Write a percentage without decimals; one that is not 100 does not become it."""
    return f"{share:.1f}" if 99.5 <= share < 100 else f"{share:.0f}"


def _alone(suite: Suite, answer: Answer, hardware: str) -> LoneCase:
    known = numbers.known(answer.bars[0].result.value)
    figure = phrase("front.cell", figure=answer.figure, unit=answer.unit) if known else answer.bars[0].figure
    return LoneCase(_place(suite, answer, hardware), answer.framework, figure, answer.run, answer.verdict)
