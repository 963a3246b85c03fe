"""The answers above the tables: what is fastest for a model on a hardware, by how much, and what speaks against it.

One answer per hardware, model, precision group and number of devices, at each level of comparability; at the loosest,
precisions and machines share one. Of the cases measured there, that is shown which most frameworks ran, then the one
with the largest batch size, then the fastest; a framework stands for it with its fastest configuration.
`ingest.compute.comparison` decides what may be compared and who leads.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date

from perfledger.ingest.common import numbers
from perfledger.ingest.common.words import Text, phrase, word_for
from perfledger.ingest.compute import comparison
from perfledger.ingest.compute.comparison import Candidate, Difference, Verdict, contradicted
from perfledger.ingest.compute.comparison_levels import DEFAULT, LEVELS, Level
from perfledger.ingest.compute.contrast import LEAST_CLEAR, LEAST_OF_FEW, SEVERAL, Contrast
from perfledger.ingest.compute.contrast import written as ratio_ends
from perfledger.ingest.compute.rules import SUMMARY
from perfledger.ingest.site import addresses, steadiness, witness_tables
from perfledger.ingest.site.data.measured import date_of
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
from perfledger.ingest.site.options import in_words, listed, name_of
from perfledger.ingest.site.render import colours
from perfledger.ingest.site.render.table import Tag
from perfledger.ingest.site.result_tables import own_marks, representative, sections, spread_marks, version_marks
from perfledger.ingest.site.run_tables import reservations
from perfledger.ingest.site.table_metrics import candidates
from perfledger.schema.records import Run

WIDE = 0.05  # a spread above this is a warning
FEW = 10  # so does a figure of fewer records
LONG = 92  # and dates that are more days apart
LEADS = ("clear", "likely")  # verdicts that name a winner
APART = ("units", "conditions")  # verdicts by which nothing is compared
#: For the page that states them.
LIMITS = {
    "wide": WIDE, "uneven": steadiness.UNEVEN, "clear": LEAST_CLEAR, "likely": LEAST_OF_FEW, "few": FEW,
}  # fmt: skip
#: Versions that differ because the frameworks do, and may explain a difference between them.
_LIBRARIES = ("cuda", "cudnn", "nccl")
_CUT_OFF = frozenset({"truncated", "short", "stopped"})  # outcomes of a run that has a figure and did not end


@dataclass(frozen=True)
class Bar:
    """One framework's line: name, bar and figure. Shares are of the fastest; None where there is no bar to draw.

    `cautions` are what speaks against its figure by itself, `differs` is in what the results of its case differ.
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
class Mark:
    """A remark on an answer and the page that shows why; `warns` is False if it speaks for the answer."""

    text: Text
    page: str
    warns: bool = True


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


@dataclass(frozen=True)
class Part:
    """The answers for one model on one hardware."""

    title: Text
    page: str
    answers: tuple[Answer, ...]


def parts(site: Site, hardware: str, level: Level = DEFAULT) -> tuple[Part, ...]:
    """Return every model's answers on a hardware at a level, in the order of the models' pages."""
    found = (part(site, suite, hardware, level) for suite in site.shown)
    return tuple(each for each in found if each.answers)


def part(site: Site, suite: Suite, hardware: str, level: Level = DEFAULT) -> Part:
    """Return a model's answers on a hardware at a level."""
    return Part(suite.title, addresses.model_page(suite), answers(site, suite, hardware, level))


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
    found = []
    for rows in _groups(site, suite, hardware, level):
        keys = sorted({_place(suite, row, level) for row in rows})
        found += [
            _answer(site, suite, [row for row in rows if _place(suite, row, level) == key], level) for key in keys
        ]
    return tuple(found)


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


def tally(found: Sequence[Part]) -> tuple[Text, ...]:
    """Return how often each framework leads on a hardware, in how many cases none does, and how sure that is."""
    compared = [answer for part in found for answer in part.answers if answer.kind in (*LEADS, "close", *APART)]
    if not compared:
        return (_nothing_compared([answer for part in found for answer in part.answers]),)
    won = Counter(each.framework for each in compared if each.kind in LEADS)
    ranked = sorted(won.items(), key=lambda item: (-item[1], str(item[0])))
    total = _counted("front.comparisons", len(compared))
    leads = [
        phrase("front.tally_next" if place else "front.tally_lead", framework=name, n=n, of=total)
        for place, (name, n) in enumerate(ranked)
    ]
    counted = {kind: sum(each.kind in kinds for each in compared) for kind, kinds in _UNDECIDED.items()}
    return (*leads, *(_counted(f"front.tally_{kind}", n) for kind, n in counted.items() if n), *_sureness(compared))


#: What the tally counts besides leads, and the verdicts that it counts as that.
_UNDECIDED = {"close": ("close",), "units": APART}


def _counted(key: str, n: int) -> Text:
    """Return a phrase about a number; for one, English needs other words."""
    return phrase(f"{key}_one" if n == 1 else key, n=n)


def _sureness(compared: Sequence[Answer]) -> list[Text]:
    """Say how many of the leads are clear; or that no comparison has repeats on both sides."""
    ranked = [each for each in compared if each.kind not in APART]
    if ranked and all(min(one.figure.repeats for one in each.judged.pair) == 1 for each in ranked):
        return [phrase("front.tally_single")]
    clear = sum(each.kind == "clear" for each in ranked)
    leads = sum(each.kind in LEADS for each in ranked)
    return [phrase("front.tally_clear", n=clear, of=leads)] if leads else []


def _nothing_compared(found: Sequence[Answer]) -> Text:
    frameworks = {bar.framework for each in found for bar in each.bars}
    return (
        phrase("front.tally_alone", framework=frameworks.pop()) if len(frameworks) == 1 else phrase("front.tally_none")
    )


def _place(suite: Suite, row: Row, level: Level) -> tuple[str, int, int]:
    return (suite.variant(row), 0 if level == "everything" else row.nodes or 1, row.devices or 0)


def _answer(site: Site, suite: Suite, rows: Sequence[Row], level: Level) -> Answer:
    """Return the answer of the case that the rule picks among those of one place."""
    cases = comparison.cases(rows, suite.row_key, level)
    verdicts = [comparison.verdict(candidates(site, case), "higher", suite.workload, level) for case in cases]
    chosen, found = max(
        zip(cases, verdicts, strict=True),
        key=lambda each: (len(each[1].ranked), each[0][0].batch_size or 0, _top(each[0])),
    )
    ranked = [each.result for each in found.ranked]
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
        run=_run_page(site, first),
        verdict=_verdict(found, chosen, cases),
        bars=_bars(site, suite, chosen, ranked, found.kind),
        marks=(*_marks(site, suite, found), *_other_batches(site, suite, chosen, cases)),
        rows=tuple(chosen),
        others=len(cases) - 1,
    )


def _top(rows: Sequence[Row]) -> float:
    return max((row.value or 0 for row in rows), default=0)


def _verdict(found: Verdict, rows: Sequence[Row], cases: Sequence[Sequence[Row]]) -> Text:
    first, second = ([named(each.framework) for each in found.pair] + [named(rows[0].framework)] * 2)[:2]
    if found.contrast:
        sure = phrase(f"front.{manner(found)}", first=first, second=second, ratio=ratio(found.contrast))
        return phrase("front.verdict", verdict=sure, runs=repeats(found.pair, found.contrast.more))
    if found.kind == "none":
        return reason(rows[0].reason) or phrase("site.unknown")
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
    parts: list[Text] = [precision_name(row.precision) if level == "identical" else group] if "group" in same else []
    parts.append(devices(row) if "nodes" in same else _devices(row.devices))
    parts += [phrase("front.batch", n=row.batch_size)] if row.batch_size and "batch" in same else []
    names = {name for alike in _by_key(suite, cases) for name in contradicted(alike, level)}
    fixed = in_words({name: value for name, value in row.options.items() if name in names and level != "everything"})
    workload = suite.workload_words(row.model, row.options) if "workload" in same else suite.variant(row)
    return (*parts, *(each for each in (workload, fixed) if each))


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
    if row.devices is not None and (row.nodes or 1) > 1:
        return phrase("front.machines", devices=row.devices, nodes=row.nodes)
    return _devices(row.devices)


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
        run=_run_page(site, row),
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


def _run_page(site: Site, row: Row) -> str | None:
    return site.page(representative(site, row)) if numbers.known(row.value) else site.page(site.by_id[row.run_ids[0]])


def _marks(site: Site, suite: Suite, verdict: Verdict) -> tuple[Mark, ...]:
    """Return warnings about the figures behind an answer, each with the page that shows why; or that there are none."""
    pair = [each.result for each in verdict.pair]
    compared = len(pair) > 1
    found = [
        *_of_rules(suite, verdict),
        *_of_figures(site, suite, pair),
        *(_between(suite, pair, (*verdict.reasons, *verdict.tolerated)) if compared else ()),
        *(_of_dates(site, suite, pair) if compared else ()),
        *_of_libraries(suite, verdict.follows),
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
    """Return warnings about the figures of an answer, each by itself; what logs share is counted once for all."""
    runs = [run for row in pair for run in _runs(site, row)]
    troubled = sum(bool(run.problems) for run in runs)
    warned = [run for run in runs if run.disturbances or run.warnings]
    found = [*_of_single(site, suite, pair), *(mark for row in pair for mark in _of_figure(site, suite, row))]
    found += [Mark(_counted("front.problems", troubled), addresses.PROBLEMS)] if troubled else []
    if not warned:
        return found
    has_page = site.has_page(warned[0])
    kind = "disturbances" if warned[0].disturbances else "warnings"
    where = addresses.section(site.page(warned[0]), kind) if has_page else addresses.RUNS
    return [*found, Mark(_counted("front.warnings", len(warned)), where)]


def _of_single(site: Site, suite: Suite, pair: Sequence[Row]) -> list[Mark]:
    """Return a warning where a figure is that of a single run."""
    alone = [row for row in pair if row.repeats == 1]
    if not alone:
        return []
    word = "single" if len(alone) < len(pair) else "single_alone" if len(pair) == 1 else "single_all"
    page = _run_page(site, alone[0]) or _page(suite, "beside")
    return [Mark(phrase(f"front.{word}", names=_names(alone)), page)]


def _of_figure(site: Site, suite: Suite, row: Row) -> list[Mark]:
    """Return warnings about one figure: its spread, its loss, its witnesses, its log, and its pace."""
    name, known, found = named(row.framework), numbers.known(row.value), list[Mark]()
    if numbers.known(row.spread) and (row.spread or 0) > WIDE:
        spread = numbers.plus_minus(row.spread)
        found.append(Mark(phrase("front.wide", spread=spread, name=name), _page(suite, "beside")))
    if row.diverged:
        found.append(Mark(phrase("front.diverged", name=name), _run_page(site, row) or _page(suite, "beside")))
    if row.witnesses in ("line", "corrects"):
        found.append(Mark(phrase(f"front.{row.witnesses}", name=name), _witnesses_page(site, row)))
    found += _of_run(site, suite, row) if known else []
    if known and steadiness.mark(run := representative(site, row)):
        share = numbers.signed_percent(steadiness.difference(run) or 0)
        found.append(Mark(phrase("front.uneven", name=name, difference=share), _page(suite, "notes")))
    return found


def cautions(site: Site, suite: Suite, row: Row) -> tuple[Text, ...]:
    """Return what speaks against one figure by itself."""
    return tuple(mark.text for mark in _of_figure(site, suite, row))


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
        first, second = (precision_name(row.precision) for row in pair)
        found.append(Mark(phrase("front.precision", first=first, second=second), _page(suite, "comparison")))
    if differing := _differing(suite, pair):
        found.append(Mark(phrase("front.options", names=differing), _page(suite, "notes")))
    return found


def _of_libraries(suite: Suite, follows: Sequence[Difference]) -> list[Mark]:
    """Return a warning if the best two were built with other versions of a library."""
    differ = [each for each in follows if each.name in _LIBRARIES]
    if not differ:
        return []
    values = listed(
        phrase("front.versions_of", name=word_for("environment", each.name), values=_values(each)) for each in differ
    )
    return [Mark(phrase("front.versions", values=values), _page(suite, "environment"))]


def _other_batches(site: Site, suite: Suite, chosen: Sequence[Row], cases: Sequence[Sequence[Row]]) -> list[Mark]:
    """Return what other frameworks reached with another batch size, where they have no figure with that of the case."""
    here = {row.framework for row in chosen if numbers.known(row.value)}
    best: dict[str | None, Row] = {}
    for row in (row for case in cases for row in case):
        is_other = row.batch_size not in (None, chosen[0].batch_size)
        if numbers.known(row.value) and row.framework not in here and is_other:
            best[row.framework] = max(row, best.get(row.framework, row), key=lambda each: each.value or 0)
    return [
        Mark(
            phrase(
                "front.other_batch", name=named(row.framework), figure=written(row), unit=row.unit, n=row.batch_size
            ),
            _run_page(site, row) or _page(suite, "comparison"),
        )
        for row in best.values()
    ]


def _differing(suite: Suite, pair: Sequence[Row]) -> Text:
    """Name the settings that differ between two results."""
    first, second = ({**suite.usual, **row.options} for row in pair)
    return listed(name_of(each) for each in sorted({*first, *second}) if first.get(each) != second.get(each))


def _differs(found: Difference) -> Text:
    if found.name == "rule":
        first, second = (word_for("rule", each) for each in sorted({*found.first, *found.second}))
        return phrase("front.rules", first=first, second=second)
    table = "environment" if found.kind == "condition" else "fact"
    key = "front.condition" if table == "environment" else "front.fact"
    return phrase(key, name=word_for(table, found.name), values=_values(found))


def _values(found: Difference) -> str:
    return " / ".join(sorted({*found.first, *found.second}))


def _runs(site: Site, row: Row) -> list[Run]:
    return [site.by_id[each] for each in row.run_ids]


def _names(rows: Sequence[Row]) -> Text:
    (first, *rest) = [named(row.framework) for row in rows]
    return phrase("front.both", first=first, second=rest[0]) if rest else first
