"""The answers above the tables: the fastest framework for a model on a hardware, by how much, and its cautions.

There is one answer per hardware, model, precision group and number of devices, at each level of comparability; at the
loosest, precisions and machines share one. It shows the case that most frameworks ran; if several cases are equal, the
one with the largest batch size, then the fastest. A framework is represented by its fastest configuration.
`ingest.compute.comparison` decides which figures may be compared, and which framework leads.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from perfledger.ingest.common import numbers
from perfledger.ingest.common.words import Text, phrase
from perfledger.ingest.compute.comparison import Candidate, Verdict, contradicted
from perfledger.ingest.compute.comparison_levels import DEFAULT, LEVELS, Level
from perfledger.ingest.compute.contrast import LEAST_CLEAR, LEAST_OF_FEW, SEVERAL, Contrast
from perfledger.ingest.compute.contrast import written as ratio_ends
from perfledger.ingest.compute.rules import SUMMARY
from perfledger.ingest.site import addresses, steadiness, witness_tables
from perfledger.ingest.site.answer_marks import (
    FEW,
    WIDE,
    Mark,
    best_of_case,
    cautions,
    marks,
    named_left_out,
    overturning,
    run_page,
)
from perfledger.ingest.site.hardware_names import is_accelerator
from perfledger.ingest.site.model import (
    Row,
    Site,
    Suite,
    framework_of,
    group_name,
    hardware_of,
    named,
    ordered,
    precision_name,
    reason,
    written,
)
from perfledger.ingest.site.options import in_words
from perfledger.ingest.site.render import colours
from perfledger.ingest.site.render.table import Tag
from perfledger.ingest.site.result_tables import own_marks, sections, spread_marks, version_marks
from perfledger.ingest.site.run_tables import reservations
from perfledger.ingest.site.table_metrics import places, verdicts
from perfledger.schema.records import Run

LEADS = ("clear", "likely")  # verdicts that name a winner
APART = ("units", "conditions")  # verdicts by which nothing is compared
#: For the page that states them.
LIMITS = {
    "wide": WIDE, "uneven": steadiness.UNEVEN, "clear": LEAST_CLEAR, "likely": LEAST_OF_FEW, "few": FEW,
}  # fmt: skip


@dataclass(frozen=True)
class Bar:
    """One framework's line: name, bar and figure. Shares are of the fastest; None without a bar.

    `cautions` are warnings about its own figure; `differs` are the differences between the results of its case.
    """

    result: Row
    framework: Text
    page: str
    ink: str
    figure: Text
    run: str | None
    share: float | None = None
    low: float | None = None
    high: float | None = None
    about: tuple[Text, ...] = ()
    tag: Tag | None = None
    cautions: tuple[Text, ...] = ()
    differs: tuple[Text, ...] = ()


@dataclass(frozen=True)
class Answer:
    """One case with its answer; `kind` is that of its verdict over `rows`.

    `group` is its group of precisions, empty where results of several are compared.
    """

    group: str
    judged: Verdict
    case: tuple[Text, ...]
    kind: str
    framework: Text
    figure: str
    unit: str
    run: str | None
    verdict: Text
    bars: tuple[Bar, ...]
    marks: tuple[Mark, ...]
    rows: tuple[Row, ...]
    others: int = 0


def levels() -> Mapping[str, object]:
    """Return what the choice of a level shows: each with its name and its meaning, and the usual one."""
    named = [(each, phrase(f"compare.level_{each}"), phrase(f"compare.level_{each}_means")) for each in LEVELS]
    return {"levels": named, "level": DEFAULT}


def say_the_same(some: Sequence[Answer], others: Sequence[Answer]) -> bool:
    """Return whether readers learn the same from both, whatever the level."""

    def said(answer: Answer) -> tuple[object, ...]:
        return (answer.case, answer.kind, answer.framework, answer.verdict, answer.marks)

    return list(map(said, some)) == list(map(said, others))


def answers(site: Site, suite: Suite, hardware: str, level: Level = DEFAULT) -> tuple[Answer, ...]:
    """Return an answer per precision group, variant of the model, and number of devices and machines.

    At the level `everything`, one per variant and number of devices.
    """
    return site.once(_all_answers).get((suite.id, hardware, level), ())


def _all_answers(site: Site) -> Mapping[tuple[str, str, Level], tuple[Answer, ...]]:
    """Return all answers: the pages of models, of hardware and of frameworks and the front page share them."""
    return {
        (suite.id, hardware, level): _answers(site, suite, hardware, level)
        for suite in site.shown
        for hardware in dict.fromkeys(hardware for hardware, _, _ in sections(site, suite))
        for level in LEVELS
    }


def _answers(site: Site, suite: Suite, hardware: str, level: Level) -> tuple[Answer, ...]:
    groups = _groups(site, suite, hardware, level)
    return tuple(_answer(site, suite, place, level) for rows in groups for place in places(suite, rows, level))


def _groups(site: Site, suite: Suite, hardware: str, level: Level) -> list[list[Row]]:
    """Return the results on a hardware by precision group, or all of them where any precisions are compared."""
    here = [list(rows) for name, _, rows in sections(site, suite) if name == hardware]
    return [[row for rows in here for row in rows]] if level == "everything" else here


def hardware_by_coverage(published: Sequence[Run]) -> list[str]:
    """Return the hardware of some runs: that with several frameworks first, accelerators before processors.

    Of these, that with most frameworks and then most runs comes first.
    """
    runs = Counter(map(hardware_of, published))
    frameworks = Counter(hardware for hardware, _ in {(hardware_of(run), framework_of(run)) for run in published})

    def weight(name: str) -> tuple[bool, bool, int, int, str]:
        return (frameworks[name] < 2, not is_accelerator(name), -frameworks[name], -runs[name], name)

    return sorted(runs, key=weight)


def _answer(site: Site, suite: Suite, rows: Sequence[Row], level: Level) -> Answer:
    """Return the answer of the case that the rule picks among those of one place."""
    judged = verdicts(site, suite, rows, level)
    cases = [case for case, _ in judged]
    chosen, found = max(judged, key=lambda each: (_frameworks_in(each[1]), each[0][0].batch_size or 0, _top(each[0])))
    ranked = [each.result for each in found.ranked]
    chosen = [*chosen, *(each for each in ranked if each not in chosen)]
    first = ranked[0] if ranked else chosen[0]
    shown = _shown(suite, chosen, ranked)
    groups = {suite.group(each.precision) for each in shown}
    return Answer(
        group=groups.pop() if len(groups) == 1 else "",
        judged=found,
        case=_case(suite, shown, cases, level),
        kind=found.kind,
        framework=named(first.framework),
        figure=written(first),
        unit=found.unit,
        run=run_page(site, first),
        verdict=_verdict(found, chosen, cases),
        bars=_bars(site, suite, chosen, ranked, found.kind),
        marks=marks(site, suite, found),
        rows=tuple(chosen),
        others=len(cases) - 1,
    )


def _frameworks_in(found: Verdict) -> int:
    """Return how many frameworks have a figure in a case, without those that it leaves out."""
    return sum(not any(each is other.candidate for other in found.left_out) for each in found.ranked)


def _top(rows: Sequence[Row]) -> float:
    return max((row.value or 0 for row in rows), default=0)


def _verdict(found: Verdict, rows: Sequence[Row], cases: Sequence[Sequence[Row]]) -> Text:
    first, second = ([named(each.entrant) for each in found.pair] + [named(rows[0].framework)] * 2)[:2]
    if found.contrast:
        sure = phrase(f"front.{manner(found)}", first=first, second=second, ratio=ratio(found.contrast))
        return phrase("front.verdict", verdict=sure, runs=repeats(found.pair, found.contrast.more))
    if found.kind == "none":
        return reason(rows[0].reason) or phrase("site.unknown")
    if (missed := overturning(found)) and found.kind == "conditions":
        return named_left_out(missed, best_of_case(found))
    if found.kind == "alone":
        return _alone(first, rows, cases)
    return _units(rows) if found.kind == "units" else phrase(f"front.{found.kind}", first=first, second=second)


def manner(found: Verdict) -> str:
    """Return the word for a verdict: of a few runs nobody knows the variation, and rules may disagree about any gap."""
    few = min(each.figure.repeats for each in found.pair) < SEVERAL
    against = found.contrast is not None and found.contrast.against
    return "close_few" if found.kind == "close" and (few or against) else found.kind


def _units(rows: Sequence[Row]) -> Text:
    """Name two units that are not comparable, in the order of the rows."""
    first, second = list(dict.fromkeys(row.unit for row in rows if numbers.known(row.value)))[:2]
    return phrase("front.units", first=first, second=second)


def ratio(found: Contrast, between: str = "front.range") -> Text:
    """Write a ratio from its least to its most, with a third decimal where two would write it as 1."""
    low, high = ratio_ends(found)
    return low if low == high else phrase(between, low=low, high=high)


def repeats(pair: Sequence[Candidate], more: int | None) -> Text:
    """Write how often each of two ran, and how often it would have to for a clear difference."""
    first, second = (each.figure.repeats for each in pair)
    if first != second:
        runs = phrase("front.runs_of", first=first, second=second)
    else:
        runs = phrase("front.once_each") if first == 1 else phrase("front.times_each", n=first)
    return phrase("front.more_runs", runs=runs, n=more) if more else runs


def _alone(framework: Text, rows: Sequence[Row], cases: Sequence[Sequence[Row]]) -> Text:
    """Write that one framework was measured alone; others may have run another case, such as another batch size."""
    others = {row.framework for case in cases for row in case if row.framework and numbers.known(row.value)}
    others -= {row.framework for row in rows}
    if not others:
        return phrase("front.alone", framework=framework)
    return phrase("front.alone_here", framework=framework, others=", ".join(sorted(others)))


def _case(suite: Suite, shown: Sequence[Row], cases: Sequence[Sequence[Row]], level: Level) -> tuple[Text, ...]:
    """Return what was measured: precision, devices, batch size, and what distinguishes the case.

    At the loosest level that is what all of the shown results have in common.
    """
    row, same = shown[0], _shared(suite, shown)
    group = group_name(suite.group(row.precision))
    is_one = level == "identical" and len({each.precision for each in shown}) == 1
    parts: list[Text] = [precision_name(row.precision) if is_one else group] if "group" in same else []
    parts.append(devices(row) if "nodes" in same else _devices(row.devices))
    parts += [phrase("front.batch", n=row.batch_size)] if row.batch_size and "batch" in same else []
    names = {name for alike in _by_key(suite, cases) for name in contradicted(alike, level)}
    fixed = in_words(
        {
            name: value
            for name, value in row.options.items()
            if name in names and level != "everything" and all(each.options.get(name) == value for each in shown)
        }
    )
    workload = suite.workload_words(row.model, row.options) if "workload" in same else suite.variant(row)
    summary = phrase("metric.summary") if all(each.rule == SUMMARY for each in shown) else ""
    return (*parts, *(each for each in (workload, fixed, summary) if each))


def _shared(suite: Suite, rows: Sequence[Row]) -> set[str]:
    """Return which facts of a case some results have in common."""
    found: dict[str, set[object]] = {
        "group": {suite.group(each.precision) for each in rows},
        "nodes": {each.nodes or 1 for each in rows},
        "batch": {each.batch_size for each in rows},
        "workload": {suite.workload_text(None, each.options) for each in rows},
    }
    return {name for name, values in found.items() if len(values) == 1}


def _by_key(suite: Suite, cases: Sequence[Sequence[Row]]) -> list[list[Row]]:
    found: dict[object, list[Row]] = {}
    for row in (row for case in cases for row in case):
        found.setdefault(suite.row_key(row), []).append(row)
    return list(found.values())


def devices(row: Row) -> Text:
    """Return the number of devices in words, with that of machines where there are several."""
    return devices_on(row.devices, row.nodes or 1)


def devices_on(n: int | None, nodes: int) -> Text:
    """Return a number of devices on some machines in words."""
    return phrase("front.machines", devices=n, nodes=nodes) if n is not None and nodes > 1 else _devices(n)


def _devices(n: int | None) -> Text:
    if n is None:
        return phrase("front.devices_unknown")
    return phrase("front.one_device") if n == 1 else phrase("front.devices", n=n)


def _bars(site: Site, suite: Suite, rows: Sequence[Row], ranked: Sequence[Row], kind: str) -> tuple[Bar, ...]:
    """Return a line per framework: those ranked by speed, those with another unit, and those without figure."""
    most = max((row.high or row.value or 0 for row in ranked), default=0) or 1
    scaled, shown = None if kind in APART else most, _shown(suite, rows, ranked)
    return tuple(_bar(site, suite, row, rows, shown, scaled if row in ranked else None) for row in shown)


def _shown(suite: Suite, rows: Sequence[Row], ranked: Sequence[Row]) -> list[Row]:
    """Return a row per framework: those that are ranked, and the best of each other."""
    shown, seen = list(ranked), {row.framework for row in ranked}
    for framework in ordered({row.framework or "" for row in rows if row.framework not in seen}, suite.frameworks):
        mine = [row for row in rows if (row.framework or "") == framework]
        shown.append(max(mine, key=lambda row: row.value or 0))
    return shown


def _bar(site: Site, suite: Suite, row: Row, rows: Sequence[Row], shown: Sequence[Row], most: float | None) -> Bar:
    known = numbers.known(row.value)
    share = (row.value or 0) / most if known and most else None
    apart = most and row.repeats > 1 and row.low is not None and row.high is not None
    return Bar(
        result=row,
        framework=named(row.framework),
        page=addresses.framework_page(suite, row.framework or ""),
        ink=colours.ink(row.framework or "").id,
        figure=written(row) if known else _why(row),
        run=run_page(site, row),
        share=share,
        low=(row.low or 0) / (most or 1) if apart else None,
        high=(row.high or 0) / (most or 1) if apart else None,
        about=_about(suite, row, rows, with_unit=known and most is None),
        tag=witness_tables.tag(row.witnesses),
        cautions=cautions(site, suite, row) if known else (),
        differs=_differs_in(suite, row, shown),
    )


def _why(row: Row) -> Text:
    return phrase("table.oom") if row.outcome == "oom" else reason(row.reason) or phrase("site.unknown")


def _about(suite: Suite, row: Row, rows: Sequence[Row], with_unit: bool) -> tuple[Text, ...]:
    """Return the small print of a figure: unit where that differs, version, precision, switches, repeats, spread."""
    several = len(suite.groups.get(suite.group(row.precision), ())) > 1
    about: list[Text] = [row.unit] if with_unit else []
    about += own_marks(row)
    about += version_marks(row, [each for each in rows if each.framework == row.framework])
    about += [precision_name(row.precision)] if several else []
    about.append(_switches(suite, row))
    if row.repeats:
        about.append(times(row))
    about += spread_marks(row)
    about += [phrase("metric.diverged")] if row.diverged else []
    about += reservations(row)
    return tuple(each for each in about if each)


def _differs_in(suite: Suite, row: Row, rows: Sequence[Row]) -> tuple[Text, ...]:
    """Return precision, machines, batch size and workload of a figure where the results of its row differ in them."""
    same = _shared(suite, rows)
    facts: dict[str, Text] = {
        "group": precision_name(row.precision),
        "nodes": devices(row),
        "batch": phrase("front.batch", n=row.batch_size) if row.batch_size else "",
        "workload": suite.workload_words(None, row.options),
    }
    return tuple(each for name, each in facts.items() if each and name not in same)


def times(row: Row) -> Text:
    """Return how often a result was measured, and on how many machines if on several."""
    if row.hosts > 1:
        return phrase("table.hosts_of", hosts=row.hosts, n=row.repeats)
    return phrase("front.once") if row.repeats == 1 else phrase("front.repeats", n=row.repeats)


def _switches(suite: Suite, row: Row) -> Text:
    """Return the options that may differ between compared results; those of the workload may not."""
    return in_words({name: value for name, value in row.options.items() if name not in suite.row_options})
