"""The answers above the tables: what is fastest for a model on a hardware, by how much, and what speaks against it.

One answer per hardware, model, precision group and number of devices. Of the cases measured there, that is shown which
most frameworks ran, then the one with the largest batch size, then the fastest; a framework stands for it with its
fastest configuration. Compared are figures of one unit, batch size and workload only.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from ingest.common import numbers
from ingest.common.words import Text, phrase
from ingest.site import addresses
from ingest.site.data.measured import conditions
from ingest.site.model import (
    Row,
    Site,
    Suite,
    framework_of,
    group_name,
    hardware_of,
    named,
    options_text,
    ordered,
    precision_name,
    reason,
)
from ingest.site.render import colours
from ingest.site.result_tables import overlap, representative, sections, version_marks
from ingest.site.table_metrics import contradicted
from schema.records import Run

WIDE = 0.05  # a spread above this is a warning
NARROW = 0.005  # a lead below this is none: it would be written as 1.00×
LIMITS = {"wide": WIDE, "narrow": NARROW}  # for the page that states them
SHARED = ("driver", "power_limit")  # conditions that frameworks do not bring along, and two figures should share


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


@dataclass(frozen=True)
class Mark:
    """A remark on an answer and the page that shows why; `warns` is False if it speaks for the answer."""

    text: Text
    page: str
    warns: bool = True


@dataclass(frozen=True)
class Answer:
    """One case with its answer. `kind` is lead, tie, alone, units or none; `repeated` tells whether a lead was."""

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
    repeated: bool = False


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
    """Return the hardware of some runs, that with most frameworks and then most runs first."""
    names = {hardware_of(run) for run in published}

    def weight(name: str) -> tuple[int, int, str]:
        runs = [run for run in published if hardware_of(run) == name]
        return (-len({framework_of(run) for run in runs}), -len(runs), name)

    return sorted(names, key=weight)


def tally(found: Sequence[Part]) -> tuple[Text, ...]:
    """Return how often each framework leads on a hardware, and how many leads rest on repeats."""
    everything = [answer for part in found for answer in part.answers]
    leads = [each for each in everything if each.kind == "lead"]
    if not any(each.kind in ("lead", "tie", "units") for each in everything):
        return (_nothing_compared(everything),)
    ahead = Counter(each.framework for each in leads)
    said: list[Text] = [
        phrase("front.tally_ahead", framework=name, n=count)
        for name, count in sorted(ahead.items(), key=lambda item: (-item[1], str(item[0])))
    ]
    kinds = Counter(each.kind for each in everything)
    said += [phrase(f"front.tally_{kind}", n=kinds[kind]) for kind in ("tie", "units") if kinds[kind]]
    repeated = sum(each.repeated for each in leads)
    if repeated:
        said.append(phrase("front.tally_repeated", n=len(leads), repeated=repeated))
    return (*said, *([phrase("front.tally_once")] if leads and not repeated else []))


def _nothing_compared(found: Sequence[Answer]) -> Text:
    frameworks = {bar.framework for each in found for bar in each.bars}
    return (
        phrase("front.tally_alone", framework=frameworks.pop()) if len(frameworks) == 1 else phrase("front.tally_none")
    )


def _place(suite: Suite, row: Row) -> tuple[str, int, int]:
    return (suite.variant(row), row.nodes or 1, row.devices or 0)


def _answer(site: Site, suite: Suite, group: str, rows: Sequence[Row]) -> Answer:
    """The answer of the case that the rule picks among those of one place."""
    cases = _cases(suite, rows)
    chosen = max(cases, key=lambda each: (_compared(each), each[0].batch_size or 0, _top(each)))
    unit, ranked = _ranked(chosen)
    kind, pair = _kind(chosen, ranked)
    first = ranked[0] if ranked else chosen[0]
    return Answer(
        case=_case(suite, group, chosen, cases),
        kind=kind,
        framework=named(first.framework),
        figure=numbers.figure(first.value, first.spread),
        unit=unit,
        run=_run_page(site, first),
        verdict=_verdict(kind, chosen, pair),
        bars=_bars(site, suite, chosen, ranked, kind),
        marks=_marks(site, suite, kind, pair),
        others=len(cases) - 1,
        repeated=len(pair) > 1 and min(row.repeats for row in pair) > 1,
    )


def _cases(suite: Suite, rows: Sequence[Row]) -> list[list[Row]]:
    """Rows that may be compared with each other: of one batch size and one workload."""
    found: dict[tuple[object, ...], list[Row]] = {}
    for row in rows:
        found.setdefault(suite.row_key(row), []).append(row)
    apart: list[list[Row]] = []
    for alike in found.values():
        names = contradicted(alike)
        by_values: dict[tuple[str, ...], list[Row]] = {}
        for row in alike:
            by_values.setdefault(tuple(numbers.quantity(row.options.get(name)) for name in names), []).append(row)
        apart += by_values.values()
    return apart


def _ranked(rows: Sequence[Row]) -> tuple[str, list[Row]]:
    """The unit that most frameworks count in, and of each of them the fastest row, the fastest first."""
    valued = [row for row in rows if numbers.known(row.value) and row.value]
    by_unit: dict[str, dict[str, Row]] = {}
    for row in sorted(valued, key=lambda row: (-(row.value or 0), row.run_ids)):
        by_unit.setdefault(row.unit, {}).setdefault(row.framework or "", row)
    if not by_unit:
        return "", []
    unit = min(by_unit, key=lambda each: (-len(by_unit[each]), each))
    return unit, list(by_unit[unit].values())


def _compared(rows: Sequence[Row]) -> int:
    return len(_ranked(rows)[1])


def _top(rows: Sequence[Row]) -> float:
    return max((row.value or 0 for row in rows), default=0)


def _kind(rows: Sequence[Row], ranked: Sequence[Row]) -> tuple[str, tuple[Row, ...]]:
    """What can be said, and the rows that it rests on."""
    if not ranked:
        return "none", ()
    if len(ranked) == 1:
        others = {row.framework for row in rows if numbers.known(row.value)} - {ranked[0].framework}
        return ("units" if others else "alone"), (ranked[0],)
    first, second, *slower = ranked
    near = (first.value or 0) / (second.value or 1) - 1 < NARROW
    # Repeats of the third may reach into the first's where those of the second do not.
    rival = next((each for each in (second, *slower) if overlap(first, each)), None)
    return ("tie" if near or rival else "lead"), (first, second if near else rival or second)


def _verdict(kind: str, rows: Sequence[Row], pair: Sequence[Row]) -> Text:
    if kind == "lead":
        first, second = pair
        ratio = numbers.grouped((first.value or 0) / (second.value or 1), 2)
        return phrase("front.lead", ratio=ratio, second=named(second.framework))
    if kind == "tie":
        first, second = pair
        return phrase("front.tie", first=named(first.framework), second=named(second.framework))
    if kind == "none":
        return reason(rows[0].reason) or phrase("site.unknown")
    return phrase("front.alone", framework=named(pair[0].framework)) if kind == "alone" else phrase("front.units")


def _case(suite: Suite, group: str, chosen: Sequence[Row], cases: Sequence[Sequence[Row]]) -> tuple[Text, ...]:
    """Return what was measured: precision, devices, batch size, and what distinguishes the case."""
    row = chosen[0]
    said: list[Text] = [group_name(group), _devices(row)]
    said += [phrase("front.batch", n=row.batch_size)] if row.batch_size else []
    names = {name for alike in _by_key(suite, cases) for name in contradicted(alike)}
    fixed = options_text({name: value for name, value in row.options.items() if name in names})
    return (*said, *filter(None, (suite.row_key(row)[3], fixed)))


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
    scaled = most if kind in ("lead", "tie", "alone") else None
    said = [_bar(site, suite, row, rows, scaled) for row in ranked]
    seen = {row.framework for row in ranked}
    for framework in ordered({row.framework or "" for row in rows if row.framework not in seen}, suite.frameworks):
        mine = [row for row in rows if (row.framework or "") == framework]
        said.append(_bar(site, suite, max(mine, key=lambda row: row.value or 0), rows, None))
    return tuple(said)


def _bar(site: Site, suite: Suite, row: Row, rows: Sequence[Row], most: float | None) -> Bar:
    known = numbers.known(row.value)
    share = (row.value or 0) / most if known and most else None
    apart = most and row.repeats > 1 and row.low is not None and row.high is not None
    return Bar(
        framework=named(row.framework),
        page=addresses.framework_page(site, suite, row.framework or ""),
        ink=colours.ink(row.framework or "").id,
        figure=numbers.figure(row.value, row.spread) if known else _why(row),
        run=_run_page(site, row),
        share=share,
        low=(row.low or 0) / (most or 1) if apart else None,
        high=(row.high or 0) / (most or 1) if apart else None,
        about=_about(suite, row, rows, with_unit=known and most is None),
    )


def _why(row: Row) -> Text:
    return phrase("table.oom") if row.outcome == "oom" else reason(row.reason) or phrase("site.unknown")


def _about(suite: Suite, row: Row, rows: Sequence[Row], with_unit: bool) -> tuple[Text, ...]:
    """Return the small print of a figure: unit where that differs, version, precision, switches, repeats, spread."""
    several = len(suite.groups.get(suite.group(row.precision), ())) > 1
    said: list[Text] = [row.unit] if with_unit else []
    said += version_marks(row, [each for each in rows if each.framework == row.framework])
    said += [precision_name(row.precision)] if several else []
    said.append(_switches(suite, row))
    if row.repeats:
        said.append(phrase("front.once") if row.repeats == 1 else phrase("front.repeats", n=row.repeats))
    said.append(numbers.plus_minus(row.spread))
    said += [phrase("metric.diverged")] if row.diverged else []
    return tuple(each for each in said if each)


def _switches(suite: Suite, row: Row) -> str:
    """Return the options that may differ between compared results; those of the workload may not."""
    return options_text({name: value for name, value in row.options.items() if name not in suite.row_options})


def _run_page(site: Site, row: Row) -> str | None:
    return site.page(representative(site, row)) if numbers.known(row.value) else site.page(site.by_id[row.run_ids[0]])


def _marks(site: Site, suite: Suite, kind: str, pair: Sequence[Row]) -> tuple[Mark, ...]:
    """Return warnings about the figures behind an answer, each with the page that shows why; or that there are none."""
    if not pair:
        return ()
    found = [*_of_figures(site, suite, pair), *(_between(site, suite, pair) if kind in ("lead", "tie") else ())]
    compared = kind in ("lead", "tie")
    return tuple(found) or ((Mark(phrase("front.sound"), _page(suite, "beside"), warns=False),) if compared else ())


def _page(suite: Suite, section: str) -> str:
    return addresses.section(addresses.model_page(suite), section)


def _of_figures(site: Site, suite: Suite, pair: Sequence[Row]) -> list[Mark]:
    found = []
    alone = [row for row in pair if row.repeats == 1]
    if alone:
        word = "front.single" if len(alone) < len(pair) else f"front.single_{'alone' if len(pair) == 1 else 'all'}"
        found.append(Mark(phrase(word, names=_names(alone)), _run_page(site, alone[0]) or _page(suite, "beside")))
    for row in pair:
        if numbers.known(row.spread) and (row.spread or 0) > WIDE:
            said = phrase("front.wide", spread=numbers.plus_minus(row.spread), name=named(row.framework))
            found.append(Mark(said, _page(suite, "beside")))
        if row.diverged:
            said = phrase("front.diverged", name=named(row.framework))
            found.append(Mark(said, _run_page(site, row) or _page(suite, "beside")))
    troubled = sum(bool(run.problems) for row in pair for run in _runs(site, row))
    found += [Mark(phrase("front.problems", n=troubled), addresses.PROBLEMS)] if troubled else []
    warned = [run for row in pair for run in _runs(site, row) if run.warnings]
    where = (
        addresses.section(site.page(warned[0]), "warnings") if warned and site.has_page(warned[0]) else addresses.RUNS
    )
    return found + ([Mark(phrase("front.warnings", n=len(warned)), where)] if warned else [])


def _between(site: Site, suite: Suite, pair: Sequence[Row]) -> list[Mark]:
    """Return warnings for what differs between the two besides the framework."""
    found = []
    stated = conditions([run for row in pair for run in _runs(site, row)])
    for name in SHARED:
        values = getattr(stated, name)
        if isinstance(values, tuple):
            said = phrase(f"front.{name}", values=" / ".join(values))
            found.append(Mark(said, _page(suite, "environment")))
    rounds = sorted({row.round or "?" for row in pair})
    if len(rounds) > 1:
        found.append(Mark(phrase("front.round", values=" / ".join(rounds)), _page(suite, "results")))
    if len({row.precision for row in pair}) > 1:
        found.append(Mark(phrase("front.precision"), _page(suite, "comparison")))
    if len({_switches(suite, row) for row in pair}) > 1:
        found.append(Mark(phrase("front.options"), _page(suite, "notes")))
    return found


def _runs(site: Site, row: Row) -> list[Run]:
    return [site.by_id[each] for each in row.run_ids]


def _names(rows: Sequence[Row]) -> Text:
    (first, *rest) = [named(row.framework) for row in rows]
    return phrase("front.both", first=first, second=rest[0]) if rest else first
