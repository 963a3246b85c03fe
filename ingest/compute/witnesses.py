"""Witnesses: the independent ways to a figure that the same log offers, and whether they agree with it.

Each is generic: it uses the columns and facts that the log has, whatever printed them, and is silent where they do not
suffice. A witness that disagrees by more than its tolerance and its own resolution withholds the figure, unless the
reading declares which of the two is right where they differ (`parsers.contract.Trap`).
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeGuard

from msgspec import Struct
from msgspec.structs import replace

from ingest.common.toml_file import read
from ingest.compute import rules
from ingest.compute.frame import TIMED, StepRows, increments, printed_together
from ingest.compute.metrics import highest_peak, peak_of
from ingest.compute.series import (
    TOKENS,
    UNCOUNTED,
    NoFigureError,
    ThroughputSeries,
    computed_series,
    is_as_printed,
    no_figure,
    of_short_epochs,
    rounding,
    samples_per_step,
    scoped,
)
from ingest.compute.window import too_few
from ingest.read.facts import CUTS, shares_samples
from parsers.contract import Trap
from parsers.contract.statistics import median
from parsers.engine.clock import DATELESS_BEFORE
from parsers.engine.session import Session
from parsers.engine.table import SessionRecords
from schema.records import Facts, Figure, NoFigure, Reason, Witness
from schema.vocabulary import PRECISION_GROUPS, UNITS

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Column = NDArray[np.float64]
    Rows = NDArray[np.intp]

#: Difference in percent up to which a witness agrees, beyond its own resolution.
TOLERANCE: Mapping[str, float] = {
    "clock": 6.0,
    "arithmetic": 5.0,
    "summary": 5.0,
    "framework": 5.0,
    "counters": 2.0,
    "physics": 0.0,
}
#: A clock that cannot tell this much, in percent, says nothing. With the tolerance of 6 % a clock that is wrong by a
#: fifth is always told from one that agrees: (1 - 0.09) × 1.2 > 1 + 0.09.
_COARSEST = 3.0


def _least_alike(kind: str) -> float:
    """Return the ratio of the smaller to the larger of two values from which on a witness agrees."""
    return 1 / (1 + TOLERANCE[kind] / 100)


#: Witnesses that contradict the seconds of the records, not the samples that they hold.
_OF_SECONDS = frozenset({"clock", "summary", "framework"})
#: Why there is no headline though the records have seconds.
_UNCOUNTED_STEPS = frozenset({"no_devices", "no_batch_size", "no_accumulation", "no_tokens_per_step"})
#: A contradiction by this factor, over as many of the clock's smallest steps, is plain to a coarse clock too.
_PLAIN, _FEW = 2.0, 5
#: Where the printer is known to leave time out, the clock gives the figure from this difference on, in percent.
_KNOWN_TRAP = 2.0
#: A stretch of the clock is compared as a whole once it lasts so many of its smallest units.
_STRETCH = 40
#: An interval that lasts this many times as long as its record says holds something else, such as an evaluation.
_ELSEWHERE = 2.0
#: Summaries are rounded to three decimals, of which slow steps of large models leave a digit or two.
_ROUNDS, _FEW_DIGITS = 0.0005, 0.1
#: A summary below this share of the slowest speed of the records contradicts them; above it, it counts more time. Half
#: the speed contradicts: where devices or accumulation are counted wrongly, two of them are the most common.
_HOLDS_MORE = (1 + TOLERANCE["summary"] / 100) / 2
#: The same of a summary that counts the steps alone, and at most what is done between them or behind the last line.
_HOLDS_LITTLE = 0.75
#: Of lines whose speed and seconds are of the same steps no more than this share imply so many times their samples.
_SOME, _FAR = 0.1, 1.25
#: Rates of the same steps over other intervals differ by less; fewer of them tell nothing.
_OTHER, _RATES = 1.2, 5
#: Older trainers print epochs in hundredths; the last one may lack a part of a batch.
_HUNDREDTH, _ROUNDED_EPOCH = 0.01, 0.02
#: Records take as long as each other if by the clock more than this share of them does.
_MOST_ALIKE = 0.8
#: A run was resumed if so many of its intervals lie before the first line.
_LATE = 1.5
#: Records that make up less than this share of the run's seconds did not take place during them.
_LEAST_SHARE = 0.05
#: Facts that count the samples of all devices together.
_OF_JOB = frozenset({"batch_size_of_job", "tokens_per_step"})
#: A clock without a date loses whole days.
_HALF_A_DAY = 43_200.0
WORKLOADS = Path(__file__).resolve().parent / "workloads.toml"


@dataclass(frozen=True)
class Measurement:
    """The figures of a session, the headline withheld or replaced where a witness says so, and all witnesses.

    `rule` is that of the headline. `given` gives the series, or raises NoFigureError. `of_steps` is what the clock says
    of the seconds per step where the samples of a step are unknown, so that there is no headline to hold against it.
    """

    figures: dict[str, Figure | NoFigure]
    witnesses: tuple[Witness, ...]
    given: Callable[[], ThroughputSeries]
    rule: str = rules.HEADLINE
    of_steps: Witness | None = None

    @property
    def headline(self) -> Figure | NoFigure:
        """The headline figure, or why there is none."""
        return self.figures[self.rule]

    @property
    def slower(self) -> float:
        """Clock over printed seconds, where the clock gives the headline; 1 elsewhere."""
        spoken = (*self.witnesses, self.of_steps) if self.of_steps else self.witnesses
        right = next((each for each in spoken if each.verdict == "corrects"), None)
        return right.against / right.value if right and right.against and right.value else 1.0

    @property
    def untimed(self) -> Reason | None:
        """Why the seconds of the records are no time per step, if a witness contradicts them."""
        told, wrong = self.headline, self.of_steps
        if isinstance(told, NoFigure) and told.reason.code == "withheld":
            of_seconds = told.reason.args["witness"] in _OF_SECONDS or tells_seconds_twice(told.reason.args)
            return told.reason if of_seconds else None
        if wrong is None or wrong.verdict != "disagrees":
            return None
        difference = f"{wrong.difference or 0:+.3g}"
        return Reason("withheld", {"witness": wrong.kind, "line": wrong.first_line, "difference": difference})


def measured(session: Session, case: Facts, of_records: Collection[str] = ()) -> Measurement:
    """Compute the figures of a session under all rules and hold the headline against every witness.

    Args:
        session: what the log states.
        case: facts of the case, as the rules get them.
        of_records: those of them that follow from the records themselves, and so cannot be witnesses of these.
    """
    given = computed_series(session, case)
    found = rules.figures(session, case, given)
    headline = found[rules.HEADLINE]
    if isinstance(headline, Figure) and (reason := too_few(given())):
        if wrong := _faster_summary(session, case, given()):
            found[rules.HEADLINE] = NoFigure(Reason("withheld", _contradiction(headline, wrong)))
            return Measurement(found, (wrong,), given)
        headline = found[rules.HEADLINE] = NoFigure(reason)
    stated = {name: value for name, value in case.items() if name not in of_records}
    if isinstance(headline, NoFigure):
        return _with_clock(_of_summary(found, session, stated, given), session, case, headline)
    summary = found[rules.SUMMARY]
    if isinstance(summary, Figure) and (
        why := _unlike_plan(session, stated, summary)
        or (_counts_more(session, stated) if _is_faster(summary, headline) else None)
    ):
        found[rules.SUMMARY] = NoFigure(Reason(why.code, {**why.args, "line": summary.first_line}))
    spoken = (_witness(kind, session, stated, given(), headline) for kind in WITNESSES)
    return _held(found, rules.HEADLINE, spoken, given)


def tells_seconds_twice(args: Mapping[str, Any]) -> bool:
    """Return whether a figure is withheld since its lines tell two different seconds of a step."""
    return bool(args["witness"] == "arithmetic" and args["unit"] == "s")


def _with_clock(found: Measurement, session: Session, case: Facts, headline: NoFigure) -> Measurement:
    """Hold the seconds per step against the clock where the samples of a step are unknown: as if it were one."""
    import numpy as np

    if headline.reason.code not in _UNCOUNTED_STEPS:
        return found
    of_one = dict.fromkeys(("devices", "batch_size", "accumulation", "sequence_length"), 1) | dict(case)
    given = computed_series(session, of_one)
    with np.errstate(all="ignore"):
        told = rules.figure(rules.HEADLINE, session, of_one)
        if isinstance(told, NoFigure):
            return found
        if (twice := _told_twice(given())) and twice.verdict == "disagrees":
            return dataclasses.replace(found, of_steps=twice)
        return dataclasses.replace(found, of_steps=_witness("clock", session, of_one, given(), told))


def _of_summary(
    found: dict[str, Figure | NoFigure], session: Session, case: Facts, given: Callable[[], ThroughputSeries]
) -> Measurement:
    """Take the trainer's own figure for the run as headline where its printer gives no other."""
    missing, summary = found[rules.HEADLINE], found[rules.SUMMARY]
    if not isinstance(summary, Figure):
        return Measurement(found, (), given)
    alone = isinstance(missing, NoFigure) and missing.reason.code == "no_records"
    rule = rules.SUMMARY if alone else rules.HEADLINE
    if why := _counts_more(session, case) or _unlike_plan(session, case, summary):
        found[rules.SUMMARY] = NoFigure(Reason(why.code, {**why.args, "line": summary.first_line}))
    if why or not alone:
        return Measurement(found, (), given, rule)
    spoken = (_spoken(kind, partial(each, session, case, summary)) for kind, each in OF_SUMMARY.items())
    return _held(found, rules.SUMMARY, spoken, given)


def _unlike_plan(session: Session, case: Facts, summary: Figure) -> Reason | None:
    """Return why the trainer's own figure is wrong: no plan that the log states gives it by the seconds of the run.

    Some divide the samples of all planned epochs, or of all planned steps.
    """
    of_run = (each for each in session.records if each.reading.span == "run" and not each.reading.summary and len(each))
    records = next((each for each in of_run if "throughput" in each), None)
    plans = [
        math.prod(float(case[name]) for name in names)
        for names in (("data_set_size", "total_epochs"), ("total_steps", "batch_size_of_job"))
        if all(case.get(name) for name in names)
    ]
    if records is None or summary.unit in TOKENS or summary.scope != "job" or not plans:
        return None
    # Those that divide a plan tell the epoch that they came to; seconds of others may be more than those of training.
    if "seconds" not in records or "epoch" not in records:
        return None
    seconds, rounds = float(records["seconds"][-1]), _ROUNDS / summary.value
    told = summary.value * seconds
    planned = min(plans, key=lambda each: abs(each - told))
    done = records["epoch"][-1] >= float(case.get("total_epochs") or math.inf) - _ROUNDED_EPOCH
    less = planned / told if done else 1.0
    if not math.isfinite(told) or max(told / planned, less) <= 1 + TOLERANCE["summary"] / 100 + rounds:
        return None
    return Reason("unlike_plan", {"told": f"{told:.5g}", "planned": f"{planned:.5g}"})


def _is_faster(summary: Figure | NoFigure, headline: Figure) -> TypeGuard[Figure]:
    """Return whether the trainer's own figure for the run is higher than that of its records."""
    if isinstance(summary, NoFigure) or (summary.unit, summary.scope) != (headline.unit, headline.scope):
        return False
    return summary.value * _least_alike("summary") > headline.value


def _held(
    found: dict[str, Figure | NoFigure], rule: str, spoken: Iterable[Witness], given: Callable[[], ThroughputSeries]
) -> Measurement:
    """Hold the figure under a rule against its witnesses."""
    import numpy as np

    headline = found[rule]
    assert isinstance(headline, Figure)
    with np.errstate(all="ignore"):
        witnesses = tuple(spoken)
    # Of lines that tell both, the seconds say nothing of the speeds that the figure is made of.
    if rule != rules.HEADLINE or "throughput" not in given().frame:
        witnesses = _without_wrong_numbers(witnesses)
    if wrong := min((each for each in witnesses if each.verdict == "disagrees"), key=_cause, default=None):
        if wrong.kind == "arithmetic" and not wrong.reason and _clock_confirms(witnesses, given):
            wrong = replace(wrong, reason=Reason("other_seconds"))
        if wrong.kind == "clock" and _counts_all_devices(wrong, given):
            wrong = replace(wrong, reason=Reason("speed_of_job"))
        found[rule] = NoFigure(Reason("withheld", _contradiction(headline, wrong)))
    elif right := next((each for each in witnesses if each.verdict == "corrects"), None):
        found[rule] = _corrected(headline, right)
    return Measurement(found, witnesses, given, rule)


def _clock_confirms(witnesses: Iterable[Witness], given: Callable[[], ThroughputSeries]) -> bool:
    """Return whether the clock agrees with the printed speeds and the stated samples, whatever seconds are printed."""
    agrees = any(each.kind == "clock" and each.verdict == "agrees" for each in witnesses)
    return agrees and given().column == "throughput" and "duration" not in given().frame


def _without_wrong_numbers(witnesses: tuple[Witness, ...]) -> tuple[Witness, ...]:
    """Return the witnesses, silent of seconds that are told twice where others decide that the records are right."""
    if not any(each.verdict in {"agrees", "corrects"} and each.kind in _OF_SECONDS for each in witnesses):
        return witnesses
    return tuple(
        Witness(each.kind, "silent", reason=Reason("told_otherwise", {"difference": f"{each.difference or 0:+.3g}"}))
        if each.verdict == "disagrees" and _is_of_seconds_told_twice(each)
        else each
        for each in witnesses
    )


def _is_of_seconds_told_twice(witness: Witness) -> bool:
    return witness.kind == "arithmetic" and witness.unit == "s"


def _counts_all_devices(clock: Witness, given: Callable[[], ThroughputSeries]) -> bool:
    """Return whether the printed speed of a device is as many times that of the clock as there are devices."""
    devices = given().multiplier
    if devices == 1 or not (clock.value and clock.against):
        return False
    return abs(math.log(clock.against / clock.value / devices)) <= math.log1p(TOLERANCE["clock"] / 100)


def _cause(witness: Witness) -> int:
    """Return the rank of a witness: where a batch size is wrong, clock and summary disagree as a consequence."""
    ranks = ("arithmetic", "counters", "physics", "clock", "framework", "summary")
    return len(ranks) if _is_of_seconds_told_twice(witness) else ranks.index(witness.kind)


def _corrected(headline: Figure, witness: Witness) -> Figure:
    """Return the figure that a witness gives where the printed one is known to be wrong."""
    assert witness.value is not None
    return replace(headline, value=witness.value, arithmetic=witness.arithmetic)


def _contradiction(headline: Figure, witness: Witness) -> dict[str, str | int]:
    """Return what the sentence of a withheld figure names."""
    return {
        "witness": witness.kind, "line": witness.first_line or headline.first_line, "value": f"{witness.value:.5g}",
        "against": f"{witness.against:.5g}", "difference": f"{witness.difference or 0:+.3g}", "unit": witness.unit,
        "arithmetic": witness.arithmetic, **({"likelier": witness.reason.code} if witness.reason else {}),
    }  # fmt: skip


def _witness(kind: str, session: Session, case: Facts, given: ThroughputSeries, headline: Figure) -> Witness:
    return _spoken(kind, partial(WITNESSES[kind], session, case, given, headline))


def _spoken(kind: str, witness: Callable[[], Witness]) -> Witness:
    """Return what a witness says, or why it is silent."""
    try:
        return witness()
    except NoFigureError as error:
        return Witness(kind, "silent", reason=error.reason)


def _judged(
    kind: str, value: float, against: float, unit: str, arithmetic: str, lines: tuple[int, int] = (0, 0),
    resolution: float = 0.0,
) -> Witness:  # fmt: skip
    """Compare what a witness gives with what the log prints.

    Args:
        kind: the witness.
        value: what it gives, in `unit`.
        against: what it is held against, in the same unit.
        unit: of both.
        arithmetic: how the value comes about.
        lines: first and last line that it rests on.
        resolution: the smallest difference that it can tell, in percent.
    """
    if not (math.isfinite(value) and math.isfinite(against) and value > 0 and against > 0):
        raise no_figure("no_comparison")
    difference = 100 * (against / value - 1)
    agrees = 100 * (max(against / value, value / against) - 1) <= TOLERANCE[kind] + resolution
    return Witness(
        kind, "agrees" if agrees else "disagrees", value=_digits(value), against=_digits(against), unit=unit,
        difference=round(difference, 3), resolution=round(resolution, 3), tolerance=TOLERANCE[kind],
        first_line=lines[0], last_line=lines[1], arithmetic=arithmetic,
    )  # fmt: skip


def _digits(value: float) -> float:
    return float(f"{value:.10g}")


# The clock


def _clock(session: Session, case: Facts, given: ThroughputSeries, headline: Figure) -> Witness:
    """Compare the seconds between the lines' clocks with those that the records in between claim.

    Time that no record covers, such as an evaluation between two records, does not count: what is compared is the
    median over stretches that are long enough for the clock's resolution. Nor does a stall count that fewer than half
    of the stretches hold, if no record covers it. Nothing tells one from the other, so that the reason of a clock that
    does not disagree says how much time there is of both. That less time passed than the records claim counts, however
    few claim it. Where the printer is known to leave time out, and no stretch is long enough, all intervals are
    compared together.
    """
    import numpy as np

    if given.clocked:
        return _timer_beside(given, headline)
    stamps = given.records.stamps()[given.rows]
    if not np.isfinite(stamps).any():
        raise no_figure("no_line_clock")
    if not _extent_is_told(given):
        raise no_figure("no_steps_of_line")
    unit = _resolution_of(stamps)
    if not given.timed and given.frame.step_seconds is None and given.records.reading.span != "epoch":
        return _clock_without_batch(given, headline, stamps, unit)
    every = _intervals(given, stamps)
    between = _without_pauses(every, unit)
    if not between.took.any():
        raise no_figure("no_comparison" if (np.diff(stamps) > 0).any() else "no_line_clock")
    ratio, stretch = _stretches(between, unit)
    rounds = rounding(given.records, "throughput", given.values / given.multiplier)
    resolution = 100 * (unit / stretch + rounds)
    plain = max(ratio, 1 / ratio) > _PLAIN and float(between.claimed.sum()) > _FEW * unit
    trap = given.records.reading.trap
    known = trap is not None and trap.witness == "clock"
    if resolution > _COARSEST and not plain and known and (together := _in_all(between, unit, rounds))[1] <= _COARSEST:
        ratio, resolution = together
    outside = _outside(every.at(given.frame.pauses[every.rows] == 0), unit, rounds)
    if resolution > _COARSEST and not plain:
        raise (
            NoFigureError(outside)
            if outside
            else no_figure(
                "coarse_clock", resolution=f"{unit:g}", seconds=f"{stretch:.4g}", percent=f"{resolution:.3g}"
            )
        )
    if given.records.reading.span == "epoch" and ratio > 1 + TOLERANCE["clock"] / 100:
        raise no_figure("between_epochs", percent=f"{100 * (ratio - 1):.3g}")
    lines = given.records.lines([int(given.rows[between.rows[0] - 1]), int(given.rows[between.rows[-1]])])
    found = _by_clock(headline, ratio, resolution, lines)
    if trap and known and 1 + (_KNOWN_TRAP + resolution) / 100 < ratio < trap.most:
        return replace(found, verdict="corrects", reason=Reason(trap.code))
    # Behind lost lines a record that times one step stands for them all, which was slow perhaps.
    steps = np.diff(given.steps, prepend=np.nan)[every.rows]
    if found.verdict == "agrees" and (some := _of_some(every.at(steps <= median(steps)), unit, rounds)):
        return _by_clock(headline, *some, lines)
    return replace(found, reason=outside) if found.verdict == "agrees" else found


def _by_clock(headline: Figure, ratio: float, resolution: float, lines: Sequence[int]) -> Witness:
    """Compare the headline with what the clock gives, by its seconds over those that the records claim."""
    first, last = lines
    arithmetic = f"{headline.value:.8g} / {ratio:.6g}"
    value, against = headline.value / ratio, headline.value
    return _judged("clock", value, against, headline.unit, arithmetic, (first, last), resolution)


def _clock_without_batch(given: ThroughputSeries, headline: Figure, stamps: Column, unit: float) -> Witness:
    """Compare the speeds of some lines with the others by the clock, where the samples of a step are unknown.

    In most lines they follow from clock and speed: what the speeds are to each other the clock tells all the same.
    """
    import numpy as np

    every = _intervals(dataclasses.replace(given, timed=True), stamps)
    # A coarse clock rounds the median as well, on which all is based.
    if not len(every.rows) or 100 * unit > _COARSEST * median(every.took):
        raise no_figure("no_batch_size")
    with np.errstate(all="ignore"):
        alike = dataclasses.replace(every, claimed=every.claimed * median(every.took / every.claimed))
    found = _of_some(alike, unit, rounding(given.records, "throughput", given.values / given.multiplier))
    if found is None:
        raise no_figure("no_batch_size")
    first, last = given.records.lines([int(given.rows[every.rows[0]]), int(given.rows[every.rows[-1]])])
    ratio, resolution = found
    return _by_clock(headline, ratio, resolution, (first, last))


def _timer_beside(given: ThroughputSeries, headline: Figure) -> Witness:
    """Compare a timer of training with the clock that the figure rests on: no timer counts more than has passed.

    Where it counts far less in most records, nothing tells which of them hold an evaluation or a checkpoint.
    """
    import numpy as np

    if not _states(given.frame, "training_seconds"):
        raise no_figure("is_the_clock")
    trained = given.frame["training_seconds"][np.isin(given.frame.rows, given.rows)]
    ratios = given.seconds / given.covered / trained
    told = ratios[np.isfinite(ratios) & (ratios > 0)]
    if not len(told):
        raise no_figure("is_the_clock")
    ratio, tolerance = median(told), 1 + TOLERANCE["clock"] / 100
    if ratio > tolerance and ratio * tolerance < _ELSEWHERE:
        raise no_figure("between_lines", percent=f"{100 * (ratio - 1):.3g}")
    first, last = given.records.lines([int(given.rows[0]), int(given.rows[-1])])
    return _judged(
        "clock", headline.value, headline.value * ratio, headline.unit, headline.arithmetic, (first, last),
    )  # fmt: skip


@dataclass(frozen=True)
class _Intervals:
    """Seconds by the clock and as claimed, and the index, of n records; `pieces` counts gaps between them, plus one."""

    took: Column
    claimed: Column
    rows: Rows

    @property
    def pieces(self) -> int:
        """Return in how many pieces the records lie: each begins and ends with a clock of limited resolution."""
        import numpy as np

        return 1 + int((np.diff(self.rows) != 1).sum())

    def at(self, chosen: NDArray[np.bool_]) -> _Intervals:
        """Return some of the intervals."""
        return _Intervals(self.took[chosen], self.claimed[chosen], self.rows[chosen])


def _intervals(given: ThroughputSeries, stamps: Column) -> _Intervals:
    """Return the intervals of the window between one line and the next of the same run of steps."""
    import numpy as np

    claimed, took = _of_bunches(given, stamps), np.diff(stamps, prepend=np.nan)
    steps, epochs = np.diff(given.steps, prepend=np.nan), np.diff(given.epochs, prepend=np.nan)
    fits = np.isfinite(took) & np.isfinite(claimed) & (claimed > 0) & (took >= 0)
    if (since := given.records.reading.cumulative_since) is not None:
        # A running mean says nothing of the steps before it began.
        fits &= given.steps - steps >= since - 1
    if float(np.nanmax(stamps)) < DATELESS_BEFORE:
        fits &= claimed < _HALF_A_DAY
    fits &= ((epochs == 0) & (steps > 0)) | _whole_across_epochs(given, steps, epochs)
    fits &= ~given.frame.apart
    rows = rules.used_records(rules.HEADLINE, given)
    rows = rows[fits[rows]]
    return _Intervals(took[rows], claimed[rows], rows)


def _without_pauses(given: _Intervals, unit: float) -> _Intervals:
    """Return the intervals without those that must hold something else, where these are the fewer."""
    inside = given.took <= _ELSEWHERE * given.claimed + 2 * unit
    return given.at(inside) if 2 * inside.sum() > len(given.rows) else given


def _of_some(given: _Intervals, unit: float, rounds: float) -> tuple[float, float] | None:
    """Return clock over claimed seconds, and the resolution in percent, where some records contradict the clock.

    No pause explains that records claim more than has passed, nor that one claims less than the others though by the
    clock it took as long as they did. None where there are no such records, or the clock is too coarse for them.
    """
    import numpy as np

    usual = median(given.took)
    if not usual > 0:
        return None
    tolerance = TOLERANCE["clock"] / 100
    ratio, resolution = _in_all(given, unit, rounds)
    if 1 / ratio > 1 + tolerance + resolution / 100:
        return ratio, resolution
    alike = given.at(np.abs(given.took / usual - 1) <= tolerance)
    if not len(alike.rows) > _MOST_ALIKE * len(given.rows):
        return None
    ratio, resolution = float(alike.took.sum() / alike.claimed.sum()), 100 * (unit / usual + rounds)
    return (ratio, resolution) if resolution <= _COARSEST and ratio > 1 + tolerance + resolution / 100 else None


def _outside(given: _Intervals, unit: float, rounds: float) -> Reason | None:
    """Return how much more time passed in all than the records claim; None where it is little, or the clock coarse.

    Where a line tells of a pause among steps that are not printed, its record claims nothing of it.
    """
    if not len(given.rows):
        return None
    whole = float(given.claimed.sum())
    more, resolution = float(given.took.sum()) / whole - 1, unit * given.pieces / whole + rounds
    if not more > TOLERANCE["clock"] / 100 + resolution:
        return None
    return Reason("between_lines", {"percent": f"{100 * more:.3g}"})


def _whole_across_epochs(given: ThroughputSeries, steps: Column, epochs: Column) -> NDArray[np.bool_]:
    """Return which records after an epoch's end cover as many steps as others: not the first step printed by itself.

    A running mean says nothing of the steps before it began, nor a timer that begins anew of what took time between.
    """
    import numpy as np

    reading = given.records.reading
    if reading.span == "epoch":
        return np.asarray(epochs > 0)
    inside = (epochs == 0) & (steps > 0)
    if reading.cumulative_since is not None or reading.epoch_timer or not inside.any():
        return np.zeros(len(steps), dtype=np.bool_)
    return np.asarray((epochs > 0) & (given.covered >= median(given.covered[inside])))


def _of_bunches(given: ThroughputSeries, stamps: Column) -> Column:
    """Return the seconds that each record claims; of those printed together the first claims all, the others none."""
    import numpy as np

    claimed = _claimed(given)
    bunch = printed_together(stamps) if given.records.reading.buffered else None
    if bunch is None:
        return claimed
    sums = np.bincount(bunch, claimed)
    return np.where(np.diff(bunch, prepend=-1) > 0, sums[bunch], np.nan)


def _claimed(given: ThroughputSeries) -> Column:
    """Return the seconds that each record claims for the steps since the record before it.

    A record of one step in several since the line before is taken to stand for all of them.

    Raises:
        NoFigureError: neither seconds nor the samples of a step are known.
    """
    import numpy as np

    span, frame = given.records.reading.span, given.frame
    if span == "epoch" and not _states(frame, "samples", "duration", "steps", "consumed"):
        raise no_figure("no_steps_per_epoch")
    seconds = given.seconds
    if not given.timed:
        if frame.step_seconds is None:
            raise no_figure("no_batch_size")
        seconds = increments(frame, frame.step_seconds * frame.covered)
    return seconds / frame.covered * np.diff(given.steps, prepend=np.nan) if span == "step" else seconds


def _extent_is_told(given: ThroughputSeries) -> bool:
    """Return whether anything tells how long a line's interval is: a mere rate does not."""
    import numpy as np

    records, of_interval = given.records, given.records.reading.span == "interval"
    numbered = "step" in records and bool(np.isfinite(records["step"]).any())
    return not of_interval or numbered or _states(given.frame, "steps", "samples", "duration", "consumed")


def _states(frame: StepRows, *names: str) -> bool:
    """Return whether the lines print one of some columns; a dialect may leave it out of all of them."""
    import numpy as np

    return any(name in frame and bool(np.isfinite(frame[name]).any()) for name in names)


def _resolution_of(stamps: Column) -> float:
    """Return the smallest step of the clocks in seconds: whole seconds, milliseconds, or microseconds."""
    import numpy as np

    known = stamps[np.isfinite(stamps)]
    return next((each for each in (1.0, 1e-3) if (np.abs(known - np.round(known / each) * each) <= 2e-6).all()), 1e-6)


def _stretches(given: _Intervals, unit: float) -> tuple[float, float]:
    """Return clock over claimed seconds, as the median over stretches, and the seconds of a stretch without a gap."""
    whole, usual = float(given.took.sum()), median(given.took)
    each = max(1, math.ceil(_STRETCH * unit / usual)) if usual > 0 else len(given.took)
    count = len(given.took) // each
    if count < 3:
        return whole / float(given.claimed.sum()), whole / given.pieces
    clock, told = (column[: count * each].reshape(count, each).sum(axis=1) for column in (given.took, given.claimed))
    return median(clock / told), median(clock) / max(1.0, given.pieces / count)


def _in_all(given: _Intervals, unit: float, rounds: float) -> tuple[float, float]:
    """Return clock over claimed seconds of all intervals together, and the least that this tells, in percent.

    A coarse clock rounds where a piece begins and where it ends, up or down: n pieces are wrong by the root of n.
    """
    claimed = float(given.claimed.sum())
    return float(given.took.sum()) / claimed, 100 * (unit * math.sqrt(given.pieces) / claimed + rounds)


# Arithmetic on the line


def _arithmetic(session: Session, case: Facts, given: ThroughputSeries, headline: Figure) -> Witness:
    """Compare samples over seconds with the speed, all of the same lines; or the batch sizes that are stated.

    Where the lines tell the seconds of a step twice, what states the samples decides; without it the two are compared.
    """
    twice = _told_twice(given)
    wrong = twice if twice and twice.verdict == "disagrees" else None
    if not _states(given.frame, "throughput", "restated"):
        return wrong or _batch_arithmetic(session, case)
    try:
        return _line_arithmetic(session, case, given)
    except NoFigureError:
        if not wrong:
            raise
        return wrong


def _told_twice(given: ThroughputSeries) -> Witness | None:
    """Compare the seconds of the steps with what other numbers of the same lines say of them; None without these.

    A step waits for its data no longer than it takes. Of means since the start the wait may be that of the last steps.
    """
    import numpy as np

    frame, records = given.frame, given.frame.records
    told = frame.step_seconds
    if told is None:
        return None
    if "seconds_otherwise" in frame:
        found = _of_seconds(frame, told, frame["seconds_otherwise"])
        if found and found.verdict == "disagrees":
            return found
    if "reader_seconds" not in records or records.reading.cumulative_since is not None:
        return None
    waited = records["reader_seconds"][frame.rows]
    known = np.isfinite(waited) & np.isfinite(told)
    longer = float((waited * frame.covered)[known].sum()) > float((told * frame.covered)[known].sum())
    return _of_seconds(frame, told, waited) if longer else None


def _of_seconds(frame: StepRows, told: Column, otherwise: Column) -> Witness | None:
    """Compare the seconds of n steps in all with those that are told otherwise, where they are."""
    import numpy as np

    rows = np.flatnonzero(np.isfinite(otherwise) & np.isfinite(told) & (frame.covered > 0))
    if not len(rows):
        return None
    steps = float(frame.covered[rows].sum())
    value, against = (float((each * frame.covered)[rows].sum()) for each in (otherwise, told))
    first, last = frame.records.lines([int(frame.rows[rows[0]]), int(frame.rows[rows[-1]])])
    return _judged("arithmetic", value / steps, against / steps, "s", f"{value:.8g} s / {steps:g}", (first, last))


def _line_arithmetic(session: Session, case: Facts, given: ThroughputSeries) -> Witness:
    """Compare speed times seconds with the samples that the line or the case states.

    The line in the middle tells, or, where it agrees, those that do not, where the figure is another one without them.
    """
    import numpy as np

    frame = given.frame
    seconds = frame.step_seconds
    if seconds is None:
        raise no_figure("no_seconds_on_line")
    if frame.records.reading.span == "epoch" and not _states(frame, "samples", "steps"):
        raise no_figure("no_steps_per_epoch")
    told = next(each for each in ("throughput", "restated") if _states(frame, each))
    implied = frame[told] * seconds
    try:
        samples = _line_samples(session, case, frame)
    except NoFigureError as error:
        reading = frame.records.reading
        if reading.unit in TOKENS | UNCOUNTED:
            raise
        if error.reason.code != "no_accumulation":
            if not (among := _among_themselves(frame, frame[told], seconds)):
                raise
            return among
        # However many batches an update accumulates, it takes one at least.
        samples = np.full(len(frame), float(case["batch_size"] * case["devices"] / scoped(reading, case)[0]))
        if not np.nanmedian(implied / samples) < _least_alike("arithmetic"):
            raise
    known = np.isfinite(implied) & np.isfinite(samples) & (samples > 0)
    if not known.any():
        raise no_figure("no_seconds_on_line")
    # Seconds that the format computed may be whole numbers by chance.
    timed = next(each for each in TIMED if each in frame)
    rounded = [told, timed] if timed in frame.records.reading.columns else [told]
    digits = {name: 100 * rounding(frame.records, name, frame[name]) for name in rounded}
    # The last digit of a slow line is a larger share of it.
    shares = (each * np.nanmedian(frame[name]) / frame[name] for name, each in digits.items())
    rounds = sum(shares, np.zeros(len(frame)))
    ratios = np.where(known, implied / samples, np.nan)
    middle = int(np.flatnonzero(known)[np.argsort(ratios[known])[known.sum() // 2]])
    found = _of_line(frame, told, middle, samples, sum(digits.values()))
    if found.verdict == "disagrees" and _states(frame, "samples", "batch"):
        return replace(found, reason=Reason("count_likelier"))
    odd = np.flatnonzero(np.abs(np.log(ratios)) > np.log1p((TOLERANCE["arithmetic"] + rounds) / 100))
    # A speed that the format made of the printed one, as of a smaller last batch, contradicts nothing.
    wrong = np.array([each for each in odd if is_as_printed(frame.records, int(frame.rows[each]), told)], np.intp)
    if found.verdict == "disagrees" or not _decide(wrong, given):
        return found
    worst = int(wrong[np.argmax(np.abs(np.log(ratios[wrong])))])
    found = _of_line(frame, told, worst, samples, float(rounds[worst]))
    return replace(found, reason=Reason("unlike_others"))


def _among_themselves(frame: StepRows, speeds: Column, seconds: Column) -> Witness | None:
    """Compare the seconds of all lines with those that their speeds give, where some lines contradict the others.

    Nothing states the samples of a step, but all steps have as many.
    """
    import numpy as np

    usual = np.nanmedian(speeds * seconds)
    ratios = speeds * seconds / usual
    unlike = np.isfinite(ratios) & ((ratios > _FAR) | (ratios < 1 / _FAR))
    some = "duration" in frame and unlike.sum() > max(_SOME * np.isfinite(ratios).sum(), 1)
    return _of_seconds(frame, seconds, usual / speeds) if some else None


def _of_line(frame: StepRows, told: str, row: int, samples: Column, rounds: float) -> Witness:
    """Compare the speed of a line times its seconds with the samples of its step."""
    assert frame.step_seconds is not None
    speed, seconds = float(frame[told][row]), float(frame.step_seconds[row])
    line, arithmetic = frame.records.lines([int(frame.rows[row])])[0], f"{speed:.8g} × {seconds:.6g} s"
    return _judged(
        "arithmetic", float(samples[row]), speed * seconds, "samples", arithmetic, (line, line), rounds
    )  # fmt: skip


def _decide(wrong: Rows, given: ThroughputSeries) -> bool:
    """Return whether the figure rests on lines that contradict themselves: without them it is another one."""
    import numpy as np

    used = rules.used_records(rules.HEADLINE, given)
    rest = np.setdiff1d(used, wrong)
    if len(rest) == len(used):
        return False
    speeds = [float(given.samples[each].sum() / given.seconds[each].sum()) for each in (used, rest) if len(each)]
    return len(rest) == 0 or not _least_alike("arithmetic") <= speeds[0] / speeds[1] <= 1 / _least_alike("arithmetic")


def _line_samples(session: Session, case: Facts, frame: StepRows) -> Column:
    """Return samples per step at the printed scope, from the line, otherwise from the case."""
    import numpy as np

    for name, per in (("samples", frame.covered), ("batch", 1.0)):
        if _states(frame, name):
            return frame[name] / per
    reading = frame.records.reading
    if reading.unit in UNCOUNTED:
        raise no_figure("no_seconds_on_line")
    if reading.scope == "device" and "devices" not in case:
        case = {name: each for name, each in case.items() if name not in _OF_JOB} | {"devices": 1}
    multiplier, scope = scoped(reading, case)
    if scope != "job":
        raise no_figure("no_devices")
    whole = {name: each for name, each in case.items() if name != "data_set_size"}  # Printers count whole batches.
    return np.full(len(frame), samples_per_step(session, reading, whole) / multiplier)


def _batch_arithmetic(session: Session, case: Facts) -> Witness:
    """Compare the job's batch size with that of a device times devices and accumulation, where all are stated.

    Of devices that share samples, a trainer states the batch size of their group as that of a device. Where the devices
    are not stated, they are one at least.
    """
    stated = session.facts
    job_of = "batch_size_of_job" if "batch_size_of_job" in stated else "tokens_per_step"
    names = (job_of, "batch_size", "accumulation", *(["sequence_length"] if job_of == "tokens_per_step" else []))
    if not all(name in stated for name in names):
        raise no_figure("no_seconds_on_line")
    job, each, steps, *length = (int(stated[name].value) for name in names)
    samples, devices = job // math.prod(length), int(stated["devices"].value) if "devices" in stated else 1
    if "devices" not in stated and samples >= each * steps:
        raise no_figure("no_seconds_on_line")
    if any(case.get(name, 1) != 1 for name in CUTS) or shares_samples(samples, each, devices, steps):
        raise no_figure("no_seconds_on_line")
    line, told = stated[job_of].line, " × ".join(map(str, (each, devices, steps, *length)))
    value = each * devices * steps * math.prod(length)
    return _judged("arithmetic", value, job, "samples", told, (line, line))


def _summary_arithmetic(session: Session, case: Facts, summary: Figure) -> Witness:
    """Compare the trainer's own figure with the samples over the seconds that it prints for the whole run."""
    for records in session.records:
        if records.reading.span == "run" and len(records) and "samples" in records and "seconds" in records:
            samples, seconds = float(records["samples"][-1]), float(records["seconds"][-1])
            multiplier, scope = scoped(records.reading, case)
            if scope != summary.scope or records.reading.unit != summary.unit or not seconds > 0:
                continue
            line = records.lines([len(records) - 1])[0]
            told = f"{samples:.10g} / {seconds:.8g}" + (f" × {multiplier}" if multiplier > 1 else "")
            value = multiplier * samples / seconds
            return _judged("arithmetic", value, summary.value, summary.unit, told, (line, line))
    return _batch_arithmetic(session, case)


def _summary_counters(session: Session, case: Facts, summary: Figure) -> Witness:
    """Compare the stated number of steps with what epochs over the data set need."""
    if found := _data_set(case, session):
        return found
    raise no_figure("no_counters")


# The trainer's own summary


def _summary(session: Session, case: Facts, given: ThroughputSeries, headline: Figure) -> Witness:
    """Compare the trainer's figure for the whole run with the records: a summary also counts what lies between them."""
    reported = rules.figure("reported", session, case)
    if isinstance(reported, NoFigure):
        return (
            _epochs(session, case, given, headline) or _other_rate(session, case, given) or _whole_run(session, given)
        )
    if reported.scope != headline.scope or reported.unit != headline.unit or given.records.reading.span == "run":
        raise no_figure("other_scope")
    if why := _unlike_plan(session, case, reported):
        raise NoFigureError(why)
    if given.column != "throughput" and reported.value > headline.value and (trap := _trap_of_summary(session)):
        raise NoFigureError(Reason(trap.code))
    of_run = [each.reading for each in session.records if each.reading.span == "run" and len(each)]
    averaged = _averaged(given)
    of_mean = bool(averaged) and any(each.averages for each in of_run)
    whole = float(given.samples.sum() / given.seconds.sum())
    speeds = averaged if of_mean else [headline.value, whole, *_by_the_clock(given), *averaged]
    if reported.value > max(speeds) and (why := _counts_more(session, case)):
        raise NoFigureError(why)
    nearest = min(speeds, key=lambda each: abs(each - reported.value))
    lines = reported.first_line, reported.last_line
    if reported.value < _least_alike("summary") * (slowest := _over_the_run(session, given)):
        # Nor can it count more time than the run took.
        return _judged("summary", reported.value, slowest, reported.unit, reported.arithmetic, lines)
    least = _HOLDS_LITTLE if any(each.exact for each in of_run) else _HOLDS_MORE
    if not of_mean and least <= (holds := reported.value / min(speeds)) < _least_alike("summary"):
        raise no_figure("summary_holds_more", percent=f"{100 * (1 - holds):.3g}")
    if not of_mean and holds < _HOLDS_MORE and reported.value >= _HOLDS_MORE * _since_the_start(given):
        raise no_figure("summary_holds_more", percent=f"{100 * (1 - holds):.3g}")
    resolution = 100 * _ROUNDS / reported.value if reported.value < _FEW_DIGITS else 0.0
    found = _judged("summary", reported.value, nearest, reported.unit, reported.arithmetic, lines, resolution)
    # Its window is the trainer's: between the speed of the window and that of all records it counts some of both.
    within = min(speeds) <= reported.value <= max(speeds)
    return replace(found, verdict="agrees") if within else found


def _over_the_run(session: Session, given: ThroughputSeries) -> float:
    """Return the samples of the records over the seconds of the run; 0 where these are not told, or another run's."""
    of_run = (each for each in session.records if each.reading.span == "run" and len(each) and "seconds" in each)
    seconds = next((float(each["seconds"][-1]) for each in of_run), math.nan)
    alone = given.timed and float(given.seconds.sum()) <= seconds / _least_alike("summary")
    return float(given.samples.sum() / seconds) if alone else 0.0


def _trap_of_summary(session: Session) -> Trap | None:
    """Return what is known to be wrong with the trainer's own figure, which the seconds of the records show."""
    of_run = (each for each in session.records if each.reading.span == "run" and not each.reading.summary and len(each))
    return next((each.reading.trap for each in of_run), None)


def _counts_more(session: Session, case: Facts) -> Reason | None:
    """Return why a summary may count steps that this run did not take; None where nothing says so.

    Trainers divide the steps that were planned by the time of those that were left to do. How far a run came is told by
    its summary, in steps or in epochs, or else by its last step.
    """
    if step := case.get("resumed_from"):
        return Reason("resumed_summary", {"step": step})
    if _trained_before(session):
        return Reason("resumed_losses")
    counted, done, planned = session.counters, math.nan, math.nan
    if counted and counted.unit == "step" and not counted.reached:
        done, planned = float(counted.done), float(counted.total)
    for records in (each for each in session.records if each.reading.span == "run" and len(each)):
        if "step" in records and "total_steps" in records and (told := _last_of(records, "step", "total_steps")):
            done, planned = told
            break
        if "epoch" in records:
            done, planned = float(records["epoch"][-1]), _planned_epochs(session, case)
    if not done < planned * (1 - TOLERANCE["counters"] / 100):
        return None
    return Reason("early_summary", {"done": f"{done:.4g}", "total": f"{planned:.4g}"})


def _last_of(records: SessionRecords, *names: str) -> list[float]:
    """Return what the last record that tells all of some columns says; nothing where none does."""
    import numpy as np

    table = np.stack([records[each] for each in names])
    told = np.flatnonzero(np.isfinite(table).all(axis=0))
    return [float(each) for each in table[:, told[-1]]] if len(told) else []


def _trained_before(session: Session) -> bool:
    """Return whether the losses show that a run was resumed: their mean over all its steps lacks some of them.

    A program that prints its losses from the beginning on was not resumed, unless the file keeps those from before.
    """
    import numpy as np

    of_run = (each for each in session.records if each.reading.span == "run" and len(each))
    whole = next((each for each in of_run if "epoch" in each or "mean_loss" in each), None)
    of_steps = (each for each in session.records if each.reading.span != "run" and len(each) and "loss" in each)
    lines = next((each for each in of_steps if "epoch" in each or "step" in each), None)
    if whole is None or lines is None:
        # Resumed behind its last step a run sums up no losses.
        return whole is not None and "mean_loss" in whole and whole["mean_loss"][-1] == 0
    place = "step" if "step" in lines else "epoch"
    at, losses = lines[place], lines["loss"]
    gaps = np.diff(at)
    forward = gaps[gaps > 0]
    coarse = _HUNDREDTH if (np.abs(at / _HUNDREDTH - np.round(at / _HUNDREDTH)) < 1e-6).all() else 0.0
    late = len(forward) > 1 and bool(at[0] > _LATE * median(forward) + coarse)
    told = "mean_loss" in whole and place in whole
    counted = float(whole["mean_loss"][-1] * whole[place][-1]) if told else math.nan
    if not math.isfinite(counted) or not (np.isfinite(losses) & (losses > 0)).all():
        return late
    # Up to the first line its loss stands for all before, which are larger, if they are missing in the log alone.
    logged = float((losses * np.diff(at, prepend=0.0)).sum())
    lacks = counted < _least_alike("summary") * logged - coarse * float(losses.max())
    return lacks and (late or len(forward) < 2 or place == "step" or bool((gaps < 0).any()))


def _planned_epochs(session: Session, case: Facts) -> float:
    """Return how many epochs a run was to take, the last in part where its steps are limited; NaN if unknown."""
    told = (_last_of(each, "total_epochs") for each in session.records if len(each) and "total_epochs" in each)
    epochs, names = float(case.get("total_epochs", math.nan)), ("total_steps", "batch_size_of_job", "data_set_size")
    if not all(case.get(name) for name in names):
        return next((each for found in told for each in found), epochs)
    steps, batch, samples = (float(case[name]) for name in names)
    return min(epochs, steps * batch / samples)


def _faster_summary(session: Session, case: Facts, given: ThroughputSeries) -> Witness | None:
    """Return the summary of a run of few records if none of these is as fast: it counts steps that were never done."""
    import numpy as np

    reported = rules.figure("reported", session, case)
    if isinstance(reported, NoFigure) or (reported.scope, reported.unit) != (given.scope, given.unit):
        return None
    if _counts_more(session, case) or (given.column != "throughput" and _trap_of_summary(session)):
        return None
    if given.records.reading.span == "run" or not np.isfinite(given.values).any():
        return None
    fastest = int(np.nanargmax(given.values))
    stamps = given.records.stamps()[given.rows] if given.clocked else np.empty(0)
    resolution = 100 * _resolution_of(stamps) / float(given.seconds[fastest]) if given.clocked else 0.0
    lines = reported.first_line, reported.last_line
    value, against = reported.value, float(given.values[fastest])
    found = _judged("summary", value, against, reported.unit, reported.arithmetic, lines, resolution)
    return found if found.verdict == "disagrees" and value > against else None


def _by_the_clock(given: ThroughputSeries) -> list[float]:
    """Return the speed from the first to the last line by their clocks, with all that lies between."""
    import numpy as np

    stamps = given.records.stamps()[given.rows]
    took = float(stamps[-1] - stamps[0]) if len(stamps) > 1 else math.nan
    return [float(given.samples[1:].sum() / took)] if np.isfinite(took) and took > 0 and given.timed else []


def _averaged(given: ThroughputSeries) -> list[float]:
    """Return the mean of the printed speeds, which some trainers print for the whole run: a slow record weighs no more.

    It lies above samples over time where steps are uneven. Trainers may leave out the first ones, as the window does,
    or tell the mean of the last epoch.
    """
    import numpy as np

    if given.column != "throughput" or given.records.reading.cumulative_since is not None:
        return []
    parts = (slice(None), rules.used_records(rules.HEADLINE, given), given.epochs == given.epochs[-1])
    return [float(np.mean(given.values[each])) for each in parts]


def _since_the_start(given: ThroughputSeries) -> float:
    """Return the speed up to the last line by a timer that runs since the start; infinite where there is none.

    A slow start that the records leave out explains a summary that is far below them.
    """
    import numpy as np

    stamps, steps = given.records.stamps()[given.rows], given.steps
    timed = "elapsed" in given.records.reading.columns and given.timed and len(stamps) and stamps[-1] > 0
    if not timed or not np.isfinite(stamps[-1]) or not steps[-1] > 0 or len(np.unique(given.epochs)) > 1:
        return math.inf
    return float(given.samples.sum() / given.covered.sum() * steps[-1] / stamps[-1])


def _epochs(session: Session, case: Facts, given: ThroughputSeries, headline: Figure) -> Witness | None:
    """Compare the lines that tell of whole epochs with the records of the same epochs; None where there are none."""
    import numpy as np

    behind = len(np.unique(given.epochs)) / len(given)
    for records in session.records:
        if records.reading.span != "epoch" or records.table is given.records.table or not len(records):
            continue
        if "throughput" in records and records.reading.unit == given.records.reading.unit:
            multiplier, scope = scoped(records.reading, case)
            told = multiplier / float(np.mean(1 / records["throughput"]))
            if scope == given.scope and records.reading.exact:
                return _exact_speeds(records, multiplier, headline)
            if scope == given.scope:
                # An epoch's time may hold what takes time between its records, or not.
                held = (np.ones(len(given), dtype=np.bool_), given.pauses == 0)
                speeds = [float(given.samples[each].sum() / given.seconds[each].sum()) for each in held if each.any()]
                nearest = min(speeds, key=lambda each: abs(each - told))
                return _compared(told, nearest, given.unit, f"{len(records)} / Σ (1 / x)", records, behind)
        elif "duration" in records and "epoch" in records:
            claimed = np.nan_to_num(_claimed(given))
            if records.reading.exact and (found := _exact_epochs(records, given, claimed)):
                return found
            # A program that was started again begins with an epoch that was told of; processes tell of one in turn.
            told_of = list(records["epoch"][np.diff(records["epoch"], prepend=np.nan) != 0])
            inside = [float(claimed[given.epochs == each].sum()) / told_of.count(each) for each in records["epoch"]]
            # Of an epoch of which lines are missing, the records claim too little.
            whole = ~np.isin(records["epoch"], given.epochs[given.frame.apart])
            if whole.any():
                took, claims = (float(np.sum(each, where=whole)) for each in (records["duration"], inside))
                return _compared(took, claims, "s", "Σ s", records, behind)
    return None


def _other_rate(session: Session, case: Facts, given: ThroughputSeries) -> Witness | None:
    """Compare steps per second that lines of another kind print with those of the records; None unless they disagree.

    They run over other intervals, of which some hold more, such as a checkpoint.
    """
    import numpy as np

    if not given.timed or given.records.reading.span not in {"step", "interval"}:
        return None
    own = median(given.covered / given.seconds)
    for records in session.records:
        if records.table is given.records.table or "steps_per_second" not in records or len(records) < _RATES:
            continue
        if records.reading.span == "interval" and np.isfinite(records["steps_per_second"]).all():
            told = median(records["steps_per_second"])
            lines = records.lines([0, len(records) - 1])
            arithmetic, bound = f"{own:.6g}", 100 * (_OTHER - 1)
            found = _judged("summary", told, own, "steps/s", arithmetic, (lines[0], lines[-1]), bound)
            return found if found.verdict == "disagrees" else None
    return None


def _exact_speeds(records: SessionRecords, multiplier: int, headline: Figure) -> Witness:
    """Compare epochs whose speed is that of all their steps, and of nothing else, with the figure of these lines."""
    import numpy as np

    lines = np.array(records.lines(list(range(len(records)))))
    inside = np.flatnonzero((lines >= headline.first_line) & (lines <= headline.last_line))
    rows = inside if len(inside) else np.arange(len(records))
    told = multiplier / float(np.mean(1 / records["throughput"][rows]))
    named = int(lines[rows[0]]), int(lines[rows[-1]])
    return _judged("summary", told, headline.value, headline.unit, f"{len(rows)} / Σ (1 / x)", named)


def _exact_epochs(records: SessionRecords, given: ThroughputSeries, claimed: Column) -> Witness | None:
    """Compare epochs whose mean is that of all their steps with their records; None where no epoch is in the log.

    Steps behind the last line of an epoch, which some releases do not print, are taken to last as long as the others
    but the first.
    """
    import numpy as np

    if "total_steps" not in given.records or len(np.unique(records["epoch"])) < len(records):
        return None
    totals, compared = given.records["total_steps"][given.rows], []
    for place, (epoch, mean) in enumerate(zip(records["epoch"], records["step_seconds"], strict=True)):
        inside = given.epochs == epoch
        if not inside.any() or given.steps[inside][0] != 0 or not mean > 0:
            continue
        total, covered, seconds = float(totals[inside][0]), given.covered[inside], claimed[inside]
        if total > 1 and total - covered.max() < covered.sum() <= total:
            others = (mean * total - seconds[0]) / (total - 1)
            compared.append((place, float(seconds[0] + others * (covered.sum() - 1)), float(seconds.sum())))
    if not compared:
        return None
    first, last = records.lines([compared[0][0], compared[-1][0]])
    value, told = (sum(each[column] for each in compared) for column in (1, 2))
    return _judged("summary", value, told, "s", "Σ s", (first, last))


def _compared(
    value: float, told: float, unit: str, arithmetic: str, records: SessionRecords, behind: float = 0.0
) -> Witness:
    """Compare what lines of whole epochs tell with the records; in seconds, they may count more than the records do.

    Args:
        value: what the lines of epochs tell.
        told: what the records tell.
        unit: of both.
        arithmetic: how the value comes about.
        records: the lines of epochs.
        behind: the share of the records by which steps behind the last of them may have taken longer.
    """
    holds = told / value if unit == "s" else value / told
    least = _HOLDS_LITTLE / (1 + behind) if records.reading.exact else _HOLDS_MORE
    if least <= holds < _least_alike("summary"):
        raise no_figure("summary_holds_more", percent=f"{100 * (1 - holds):.3g}")
    first, last = records.lines([0, len(records) - 1])
    return _judged("summary", value, told, unit, arithmetic, (first, last))


def _whole_run(session: Session, given: ThroughputSeries) -> Witness:
    """Compare the seconds of the whole run, where the log states them, with those of all records: they are its most."""
    import numpy as np

    for records in session.records:
        if records.reading.span == "run" and len(records) and "seconds" in records:
            whole, told = float(records["seconds"][-1]), float(np.nansum(_claimed(given)))
            # Of epochs many may be missing in the log.
            least = 0.0 if given.records.reading.span == "epoch" else _LEAST_SHARE
            if least * whole <= told < whole * _least_alike("summary"):
                raise no_figure("summary_holds_more", percent=f"{100 * (1 - told / whole):.3g}")
            line = records.lines([len(records) - 1])[0]
            resolution = 100 * rounding(records, "seconds", records["seconds"])
            return _judged("summary", whole, told, "s", f"{whole:.8g} s", (line, line), resolution)
    raise no_figure("no_reported_figure")


# The lines of the training program


def _framework(session: Session, case: Facts, given: ThroughputSeries, headline: Figure) -> Witness:
    """Compare what the training program prints between the lines of a format that stands over its own.

    Its lines may count more time than training, but not less.
    """
    if session.view is None:
        raise no_figure("no_other_lines")
    told = {name: each.value for name, each in session.view.facts.items()} | dict(case)
    found = rules.figure(rules.HEADLINE, session.view, told)
    alike = (
        {UNITS[found.unit].counts, UNITS[headline.unit].counts} == {"sample"} if isinstance(found, Figure) else False
    )
    if isinstance(found, NoFigure) or found.scope != headline.scope or not (alike or found.unit == headline.unit):
        raise no_figure("other_scope")
    if _HOLDS_MORE <= (holds := found.value / headline.value) < _least_alike("framework"):
        raise no_figure("summary_holds_more", percent=f"{100 * (1 - holds):.3g}")
    lines = found.first_line, found.last_line
    return _judged("framework", found.value, headline.value, headline.unit, found.arithmetic, lines)


# Counters


def _counters(session: Session, case: Facts, given: ThroughputSeries, headline: Figure) -> Witness:
    """Compare steps times batch with the samples that the program counts."""
    import numpy as np

    frame = given.frame
    if not _states(frame, "consumed") or len(frame) < 2 or "step" not in given.records:
        return _data_set(case, session, given) or _epoch(session, case, given) or _planned(session, given)
    counted, steps = np.diff(frame["consumed"]), np.diff(frame.steps)
    kept = (steps > 0) & (counted > 0)
    if not kept.any():
        raise no_figure("no_counters")
    per_step = _per_step(session, case, frame)
    first, last = given.records.lines([int(frame.rows[0]), int(frame.rows[-1])])
    return _judged(
        "counters", float(counted[kept].sum()), float(per_step * steps[kept].sum()), "samples",
        f"{per_step:.8g} × {steps[kept].sum():.8g}", (first, last),
    )  # fmt: skip


def _per_step(session: Session, case: Facts, frame: StepRows) -> float:
    """Return samples per step at the printed scope, as the lines state it, otherwise the case."""
    import numpy as np

    reading = frame.records.reading
    if _states(frame, "batch"):
        return float(np.nanmedian(frame["batch"]))
    multiplier, scope = scoped(reading, case)
    if scope != "job":
        raise no_figure("no_devices")
    return samples_per_step(session, reading, case) / multiplier


def _planned(session: Session, given: ThroughputSeries) -> Witness:
    """Compare the last step or epoch with the number that was planned: a run that ended early says nothing."""
    counted = session.counters
    if counted is None:
        raise no_figure("no_counters")
    if not counted.reached:
        raise no_figure("ended_early", done=counted.done, total=counted.total)
    line = given.records.lines([int(given.rows[-1])])[0]
    # A printer of every nth step need not print the last one.
    told = f"{counted.done} / {counted.total}"
    found = _judged("counters", counted.total, counted.done, f"{counted.unit}s", told, (line, line))
    return replace(found, verdict="agrees")


def _epoch(session: Session, case: Facts, given: ThroughputSeries) -> Witness | None:
    """Compare the steps of whole epochs with what one over the data set needs, which rounds; None unless they disagree.

    An epoch may be told to leave something out, so that one that agrees shows no more than a run that reached its end.
    """
    frame, size = given.frame, case.get("data_set_size")
    if not size or frame.records.reading.span != "epoch" or not _states(frame, "steps") or _states(frame, "samples"):
        return None
    if len(frame) < 2:
        return None  # A single one may have been left unfinished.
    try:
        # The images of a data set are shared out to all devices.
        of_job = scoped(frame.records.reading, case)[0]
        steps, per_step = median(frame.covered), of_job * _per_step(session, case, frame)
    except NoFigureError:
        return None
    line = session.facts["data_set_size"].line if "data_set_size" in session.facts else 0
    told = f"{steps:g} × {per_step:g}"
    found = _judged("counters", size, steps * per_step, "samples", told, (line, line), 100 / steps)
    return found if found.verdict == "disagrees" else None


def _data_set(case: Facts, session: Session, given: ThroughputSeries | None = None) -> Witness | None:
    """Compare the stated number of steps with what epochs over the data set need; each epoch may round by one step.

    A printer of speeds counts the rest that ends a short epoch as a whole batch.
    """
    names = ("data_set_size", "total_epochs", "total_steps", "batch_size_of_job")
    if not all(case.get(name) for name in names):
        return None
    samples, epochs, steps, batch = (float(case[name]) for name in names)
    if (epochs - 1) * samples < steps * batch < (epochs - TOLERANCE["counters"] / 100) * samples:
        return None  # A limit of the steps ends the run within its last epoch.
    line = session.facts["total_steps"].line if "total_steps" in session.facts else 0
    mean = of_short_epochs(case, batch)
    counted, resolution = (
        (batch, 0.0)
        if mean < batch and given is not None and given.column == "throughput"
        else (mean, 100 * epochs * batch / min(samples * epochs, steps * batch))
    )
    return _judged(
        "counters", samples * epochs, steps * counted, "samples", f"{steps:g} × {counted:g}", (line, line), resolution
    )


# Physics


def _physics(session: Session, case: Facts, given: ThroughputSeries, headline: Figure) -> Witness:
    return _within_peak(session, case, headline)


def _within_peak(session: Session, case: Facts, headline: Figure) -> Witness:
    """Compare the arithmetic that the figure needs with the peak of the devices, which nothing exceeds."""
    devices = case.get("devices") if headline.scope == "job" else 1
    each = flops_of_sample(case, headline.unit)
    if not devices or each is None:
        raise no_figure("no_flops")
    peak = _peak(case.get("hardware"), case.get("precision"))
    if peak is None:
        raise no_figure("no_peak")
    needed = each * headline.value / devices / 1e12
    arithmetic = f"{each:.5g} × {headline.value:.6g} / {devices} / 1e12"
    found = _judged("physics", peak, needed, "TFLOP/s", arithmetic)
    return replace(found, verdict="agrees" if needed <= peak else "disagrees")


def _peak(hardware: str | None, precision: str | None) -> float | None:
    """Return the most that a device can do in TFLOP/s; of any device where it is not named, None where it is unknown.

    FP32 may be computed as TF32: frameworks allow it by default on some devices, and logs do not say so.
    """
    if precision is None:
        allowed: Iterable[str] = PRECISION_GROUPS
    else:
        allowed = ("fp32", "tf32") if precision == "fp32" else (precision,)
    known = [peak for each in allowed if (peak := peak_of(hardware, each) if hardware else highest_peak(each))]
    return max(known, default=None)


class SampleCost(Struct, frozen=True, forbid_unknown_fields=True):
    """An entry of workloads.toml: GFLOP of a forward pass over images of `side` pixels, or the network's shape."""

    forward: float = 0.0
    side: int = 224
    layers: int = 0
    hidden: int = 0


def flops_of_sample(case: Facts, unit: str) -> float | None:
    """Return floating-point operations of forward and backward pass per sample; None where they are not known.

    A backward pass takes twice the forward pass. Of transformers only the layers count, by the shape that the case or
    the table of workloads gives: `72 s l h² (1 + s / 6h)` per sequence of s tokens (Narayanan et al., 2021, equation 3,
    without recomputation and vocabulary).
    """
    known = _workloads().get(str(case.get("model")), SampleCost())
    if known.forward and unit in {"images/s", "samples/s"}:
        return 3e9 * known.forward * (float(case.get("image_size") or known.side) / known.side) ** 2
    layers, hidden, length = (
        case.get("layers") or known.layers,
        case.get("hidden") or known.hidden,
        case.get("sequence_length"),
    )
    if not (layers and hidden and length) or UNITS[unit].counts == "unknown":
        return None
    s, l, h = float(length), float(layers), float(hidden)  # noqa: E741
    return 72 * s * l * h**2 * (1 + s / (6 * h)) / (s if UNITS[unit].counts == "part" else 1.0)


@cache
def _workloads() -> Mapping[str, SampleCost]:
    return read(WORKLOADS, dict[str, dict[str, SampleCost]]).data["workload"]


WITNESSES: Mapping[str, Callable[[Session, Facts, ThroughputSeries, Figure], Witness]] = {
    "clock": _clock,
    "arithmetic": _arithmetic,
    "summary": _summary,
    "framework": _framework,
    "counters": _counters,
    "physics": _physics,
}
#: Of a figure that is the trainer's own summary, with no records to hold it against.
OF_SUMMARY: Mapping[str, Callable[[Session, Facts, Figure], Witness]] = {
    "arithmetic": _summary_arithmetic,
    "counters": _summary_counters,
    "physics": _within_peak,
}
