"""The answers above the tables: what is fastest for a model on a hardware, by how much, and what speaks against it.

One answer per hardware, model, precision group and number of devices. Of the cases measured there, that is shown which
most frameworks ran, then the one with the largest batch size, then the fastest; a framework stands for it with its
fastest configuration. `ingest.compute.comparison` decides what may be compared and who leads.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date

from ingest.common import numbers
from ingest.common.words import Text, phrase, word_for
from ingest.compute import comparison
from ingest.compute.comparison import Candidate, Difference, Verdict, contradicted
from ingest.compute.contrast import LEAST_CLEAR, LEAST_OF_FEW, Contrast
from ingest.compute.rules import SUMMARY
from ingest.site import addresses, steadiness, witness_tables
from ingest.site.data.measured import date_of
from ingest.site.hardware_names import is_accelerator
from ingest.site.model import (
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
from ingest.site.options import in_words
from ingest.site.render import colours
from ingest.site.render.table import Tag
from ingest.site.result_tables import representative, sections, spread_marks, summary_mark, version_marks
from ingest.site.run_tables import unproven
from ingest.site.table_metrics import candidates
from schema.records import Run

WIDE = 0.05  # a spread above this is a warning
FEW = 10  # so does a figure of fewer records
LONG = 92  # and dates that are more days apart
LEADS = ("clear", "likely")  # verdicts that name a winner
APART = ("units", "conditions")  # verdicts by which nothing is compared
#: For the page that states them.
LIMITS = {
    "wide": WIDE, "uneven": steadiness.UNEVEN, "clear": LEAST_CLEAR, "likely": LEAST_OF_FEW, "few": FEW,
}  # fmt: skip
_CUT_OFF = frozenset({"truncated", "short", "stopped"})  # outcomes of a run that has a figure and did not end


@dataclass(frozen=True)
class Bar:
    """One framework's line: name, bar and figure. Shares are of the fastest; None where there is no bar to draw."""

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


@dataclass(frozen=True)
class Mark:
    """A remark on an answer and the page that shows why; `warns` is False if it speaks for the answer."""

    text: Text
    page: str
    warns: bool = True


@dataclass(frozen=True)
class Answer:
    """One case with its answer; `kind` is that of its verdict."""

    case: tuple[Text, ...]
    kind: str
    framework: Text
    figure: str
    unit: str
    run: str | None
    verdict: Text
    bars: tuple[Bar, ...]
    marks: tuple[Mark, ...]
    others: int = 0


@dataclass(frozen=True)
class Part:
    """The answers for one model on one hardware."""

    title: Text
    page: str
    answers: tuple[Answer, ...]


def parts(site: Site, hardware: str) -> tuple[Part, ...]:
    """Return every model's answers on a hardware, in the order of the models' pages."""
    found = (part(site, suite, hardware) for suite in site.shown)
    return tuple(each for each in found if each.answers)


def part(site: Site, suite: Suite, hardware: str) -> Part:
    """Return a model's answers on a hardware."""
    return Part(suite.title, addresses.model_page(suite), answers(site, suite, hardware))


def answers(site: Site, suite: Suite, hardware: str) -> tuple[Answer, ...]:
    """Return an answer per precision group, variant of the model, and number of devices and machines."""
    found = []
    for name, group, rows in sections(site, suite):
        keys = sorted({_place(suite, row) for row in rows}) if name == hardware else []
        found += [_answer(site, suite, group, [row for row in rows if _place(suite, row) == key]) for key in keys]
    return tuple(found)


def hardware_by_coverage(published: Sequence[Run]) -> list[str]:
    """Return the hardware of some runs: that with several frameworks first, accelerators before processors.

    Of these, that with most frameworks and then most runs comes first.
    """
    names = {hardware_of(run) for run in published}

    def weight(name: str) -> tuple[bool, bool, int, int, str]:
        several = frameworks_on(published, name)
        runs = sum(hardware_of(run) == name for run in published)
        return (several < 2, not is_accelerator(name), -several, -runs, name)

    return sorted(names, key=weight)


def frameworks_on(published: Sequence[Run], hardware: str) -> int:
    """Return how many frameworks ran on a hardware."""
    return len({framework_of(run) for run in published if hardware_of(run) == hardware})


def tally(found: Sequence[Part]) -> tuple[Text, ...]:
    """Return how often each framework leads on a hardware, and in how many cases none does."""
    everything = [answer for part in found for answer in part.answers]
    if not any(each.kind in (*LEADS, "close", *APART) for each in everything):
        return (_nothing_compared(everything),)
    won = Counter((each.kind, each.framework) for each in everything if each.kind in LEADS)
    leads = [
        phrase(f"front.tally_{kind}", framework=name, n=count)
        for (kind, name), count in sorted(won.items(), key=lambda item: (item[0][0], -item[1], str(item[0][1])))
    ]
    counted = {kind: sum(each.kind == kind for each in everything) for kind in ("close", *APART)}
    rest = (("close", counted["close"]), ("units", counted["units"] + counted["conditions"]))
    return (*leads, *(phrase(f"front.tally_{kind}", n=count) for kind, count in rest if count))


def _nothing_compared(found: Sequence[Answer]) -> Text:
    frameworks = {bar.framework for each in found for bar in each.bars}
    return (
        phrase("front.tally_alone", framework=frameworks.pop()) if len(frameworks) == 1 else phrase("front.tally_none")
    )


def _place(suite: Suite, row: Row) -> tuple[str, int, int]:
    return (suite.variant(row), row.nodes or 1, row.devices or 0)


def _answer(site: Site, suite: Suite, group: str, rows: Sequence[Row]) -> Answer:
    """Return the answer of the case that the rule picks among those of one place."""
    cases = comparison.cases(rows, suite.row_key)
    verdicts = [comparison.verdict(candidates(site, case), "higher", suite.workload) for case in cases]
    chosen, found = max(
        zip(cases, verdicts, strict=True),
        key=lambda each: (len(each[1].ranked), each[0][0].batch_size or 0, _top(each[0])),
    )
    ranked = [each.result for each in found.ranked]
    first = ranked[0] if ranked else chosen[0]
    return Answer(
        case=_case(suite, group, chosen, cases),
        kind=found.kind,
        framework=named(first.framework),
        figure=written(first),
        unit=found.unit,
        run=_run_page(site, first),
        verdict=_verdict(found, chosen, cases),
        bars=_bars(site, suite, chosen, ranked, found.kind),
        marks=_marks(site, suite, found),
        others=len(cases) - 1,
    )


def _top(rows: Sequence[Row]) -> float:
    return max((row.value or 0 for row in rows), default=0)


def _verdict(found: Verdict, rows: Sequence[Row], cases: Sequence[Sequence[Row]]) -> Text:
    first, second = ([named(each.framework) for each in found.pair] + [named(rows[0].framework)] * 2)[:2]
    if found.contrast:
        sure = phrase(f"front.{found.kind}", first=first, second=second, ratio=_range(found.contrast))
        return phrase("front.verdict", verdict=sure, runs=_repeats(found.pair, found.contrast.more))
    if found.kind == "none":
        return reason(rows[0].reason) or phrase("site.unknown")
    return (
        _alone(first, rows, cases)
        if found.kind == "alone"
        else phrase(f"front.{found.kind}", first=first, second=second)
    )


def _range(found: Contrast) -> Text:
    """Write a ratio from its least to its most, with a third decimal where two would write it as 1."""
    places = 3 if "1.00" in {numbers.grouped(each, 2) for each in (found.low, found.high)} else 2
    low, high = (numbers.grouped(each, places) for each in (found.low, found.high))
    return low if low == high else phrase("front.range", low=low, high=high)


def _repeats(pair: Sequence[Candidate], more: int | None) -> Text:
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
    return (
        phrase("front.alone_here", framework=framework, others=", ".join(sorted(others)))
        if others
        else phrase("front.alone", framework=framework)
    )


def _case(suite: Suite, group: str, chosen: Sequence[Row], cases: Sequence[Sequence[Row]]) -> tuple[Text, ...]:
    """Return what was measured: precision, devices, batch size, and what distinguishes the case."""
    row = chosen[0]
    parts: list[Text] = [group_name(group), _devices(row)]
    parts += [phrase("front.batch", n=row.batch_size)] if row.batch_size else []
    names = {name for alike in _by_key(suite, cases) for name in contradicted(alike)}
    fixed = in_words({name: value for name, value in row.options.items() if name in names})
    return (*parts, *(each for each in (suite.workload_words(row.model, row.options), fixed) if each))


def _by_key(suite: Suite, cases: Sequence[Sequence[Row]]) -> list[list[Row]]:
    found: dict[object, list[Row]] = {}
    for row in (row for case in cases for row in case):
        found.setdefault(suite.row_key(row), []).append(row)
    return list(found.values())


def _devices(row: Row) -> Text:
    if row.devices is None:
        return phrase("front.devices_unknown")
    if (row.nodes or 1) > 1:
        return phrase("front.machines", devices=row.devices, nodes=row.nodes)
    return phrase("front.one_device") if row.devices == 1 else phrase("front.devices", n=row.devices)


def _bars(site: Site, suite: Suite, rows: Sequence[Row], ranked: Sequence[Row], kind: str) -> tuple[Bar, ...]:
    """Return a line per framework: those ranked by speed, those with another unit, and those without figure."""
    most = max((row.high or row.value or 0 for row in ranked), default=0) or 1
    scaled = None if kind in APART else most
    bars = [_bar(site, suite, row, rows, scaled) for row in ranked]
    seen = {row.framework for row in ranked}
    for framework in ordered({row.framework or "" for row in rows if row.framework not in seen}, suite.frameworks):
        mine = [row for row in rows if (row.framework or "") == framework]
        bars.append(_bar(site, suite, max(mine, key=lambda row: row.value or 0), rows, None))
    return tuple(bars)


def _bar(site: Site, suite: Suite, row: Row, rows: Sequence[Row], most: float | None) -> Bar:
    known = numbers.known(row.value)
    share = (row.value or 0) / most if known and most else None
    apart = most and row.repeats > 1 and row.low is not None and row.high is not None
    return Bar(
        framework=named(row.framework),
        page=addresses.framework_page(site, suite, row.framework or ""),
        ink=colours.ink(row.framework or "").id,
        figure=written(row) if known else _why(row),
        run=_run_page(site, row),
        share=share,
        low=(row.low or 0) / (most or 1) if apart else None,
        high=(row.high or 0) / (most or 1) if apart else None,
        about=_about(suite, row, rows, with_unit=known and most is None),
        tag=witness_tables.tag(row.witnesses),
    )


def _why(row: Row) -> Text:
    return phrase("table.oom") if row.outcome == "oom" else reason(row.reason) or phrase("site.unknown")


def _about(suite: Suite, row: Row, rows: Sequence[Row], with_unit: bool) -> tuple[Text, ...]:
    """Return the small print of a figure: unit where that differs, version, precision, switches, repeats, spread."""
    several = len(suite.groups.get(suite.group(row.precision), ())) > 1
    about: list[Text] = [row.unit] if with_unit else []
    about += summary_mark(row)
    about += version_marks(row, [each for each in rows if each.framework == row.framework])
    about += [precision_name(row.precision)] if several else []
    about.append(_switches(suite, row))
    if row.repeats:
        about.append(_times(row))
    about += spread_marks(row)
    about += [phrase("metric.diverged")] if row.diverged else []
    about += unproven(row)
    return tuple(each for each in about if each)


def _times(row: Row) -> Text:
    if row.hosts > 1:
        return phrase("table.hosts_of", hosts=row.hosts, n=row.repeats)
    return phrase("front.once") if row.repeats == 1 else phrase("front.repeats", n=row.repeats)


def _switches(suite: Suite, row: Row) -> Text:
    """Return the options that may differ between compared results; those of the workload may not."""
    return in_words({name: value for name, value in row.options.items() if name not in suite.row_options})


def _run_page(site: Site, row: Row) -> str | None:
    return site.page(representative(site, row)) if numbers.known(row.value) else site.page(site.by_id[row.run_ids[0]])


def _marks(site: Site, suite: Suite, verdict: Verdict) -> tuple[Mark, ...]:
    """Return warnings about the figures behind an answer, each with the page that shows why; or that there are none."""
    pair = [each.result for each in verdict.pair]
    compared = len(pair) > 1
    found = [
        *_of_rules(suite, verdict),
        *_of_figures(site, suite, pair),
        *(_between(suite, pair, verdict.reasons) if compared else ()),
        *(_of_dates(site, suite, pair) if compared else ()),
    ]
    return tuple(found) or ((Mark(phrase("front.sound"), _page(suite, "beside"), warns=False),) if compared else ())


def _page(suite: Suite, section: str) -> str:
    return addresses.section(addresses.model_page(suite), section)


def _of_rules(suite: Suite, verdict: Verdict) -> list[Mark]:
    """Return a warning if another rule names another winner."""
    if verdict.contrast is None or not verdict.contrast.against:
        return []
    second, rule = named(verdict.pair[1].framework), word_for("rule", verdict.contrast.against[0])
    return [Mark(phrase("front.other_rule", rule=rule, name=second), _page(suite, "notes"))]


def _of_dates(site: Site, suite: Suite, pair: Sequence[Row]) -> list[Mark]:
    """Return a warning if the figures of two were measured months apart, or nobody knows when."""
    days = [sorted(day for run in _runs(site, row) if (day := date_of(run))) for row in pair]
    if undated := [row for row, known in zip(pair, days, strict=True) if not known]:
        return [Mark(phrase("front.undated", names=_names(undated)), _page(suite, "environment"))]
    first, second = sorted((each[0], each[-1]) for each in days)
    apart = (date.fromisoformat(second[0]) - date.fromisoformat(first[1])).days
    if apart <= LONG:
        return []
    return [Mark(phrase("front.months", n=round(apart / 30.4)), _page(suite, "environment"))]


def _of_run(site: Site, suite: Suite, row: Row) -> list[Mark]:
    """Return warnings about the run that a figure is read from: its log ended early, or has few records."""
    run = representative(site, row)
    figure, page = run.figure(row.rule), _run_page(site, row) or _page(suite, "notes")
    found = [Mark(phrase("front.cut_off", name=named(row.framework)), page)] if run.outcome in _CUT_OFF else []
    if figure and figure.used < FEW and row.rule != SUMMARY:
        found.append(Mark(phrase("front.few", n=figure.used, name=named(row.framework)), page))
    return found


def _of_figures(site: Site, suite: Suite, pair: Sequence[Row]) -> list[Mark]:
    found = []
    alone = [row for row in pair if row.repeats == 1]
    if alone:
        word = "front.single" if len(alone) < len(pair) else f"front.single_{'alone' if len(pair) == 1 else 'all'}"
        found.append(Mark(phrase(word, names=_names(alone)), _run_page(site, alone[0]) or _page(suite, "beside")))
    for row in pair:
        if numbers.known(row.spread) and (row.spread or 0) > WIDE:
            text = phrase("front.wide", spread=numbers.plus_minus(row.spread), name=named(row.framework))
            found.append(Mark(text, _page(suite, "beside")))
        if row.diverged:
            text = phrase("front.diverged", name=named(row.framework))
            found.append(Mark(text, _run_page(site, row) or _page(suite, "beside")))
        if row.witnesses in ("line", "corrects"):
            text = phrase(f"front.{row.witnesses}", name=named(row.framework))
            found.append(Mark(text, _witnesses_page(site, row)))
        if numbers.known(row.value):
            found += _of_run(site, suite, row)
        if numbers.known(row.value) and steadiness.mark(run := representative(site, row)):
            share = numbers.signed_percent(steadiness.difference(run) or 0)
            text = phrase("front.uneven", name=named(row.framework), difference=share)
            found.append(Mark(text, _page(suite, "notes")))
    troubled = sum(bool(run.problems) for row in pair for run in _runs(site, row))
    found += [Mark(phrase("front.problems", n=troubled), addresses.PROBLEMS)] if troubled else []
    warned = [run for row in pair for run in _runs(site, row) if run.warnings]
    where = (
        addresses.section(site.page(warned[0]), "warnings") if warned and site.has_page(warned[0]) else addresses.RUNS
    )
    return found + ([Mark(phrase("front.warnings", n=len(warned)), where)] if warned else [])


def _witnesses_page(site: Site, row: Row) -> str:
    """Return the witnesses of a result's run, or where witnesses are explained."""
    run = representative(site, row)
    return (
        addresses.section(site.page(run), "witnesses")
        if site.has_page(run) and run.witnesses
        else witness_tables.METHOD
    )


def _between(suite: Suite, pair: Sequence[Row], reasons: Sequence[Difference]) -> list[Mark]:
    """Return warnings for what differs between the best two besides the framework, also if it forbids a comparison."""
    found = [
        Mark(_differs(each), _page(suite, "environment"))
        for each in reasons
        if each.kind != "option" and each.name != "precision"
    ]
    rounds = sorted({row.round or "?" for row in pair})
    if len(rounds) > 1:
        found.append(Mark(phrase("front.round", values=" / ".join(rounds)), _page(suite, "results")))
    if len({row.precision for row in pair}) > 1:
        found.append(Mark(phrase("front.precision"), _page(suite, "comparison")))
    if len({_switches(suite, row) for row in pair}) > 1:
        found.append(Mark(phrase("front.options"), _page(suite, "notes")))
    return found


def _differs(found: Difference) -> Text:
    if found.name == "rule":
        first, second = (word_for("rule", each) for each in sorted({*found.first, *found.second}))
        return phrase("front.rules", first=first, second=second)
    table = "environment" if found.kind == "condition" else "fact"
    values = " / ".join(sorted({*found.first, *found.second}))
    return phrase("front.condition", name=word_for(table, found.name), values=values)


def _runs(site: Site, row: Row) -> list[Run]:
    return [site.by_id[each] for each in row.run_ids]


def _names(rows: Sequence[Row]) -> Text:
    (first, *rest) = [named(row.framework) for row in rows]
    return phrase("front.both", first=first, second=rest[0]) if rest else first
