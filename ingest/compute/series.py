"""The throughput of a session record by record, for the whole job where its size is known.

A format quotes speeds, seconds or clocks of some scope; this is where they become samples per second of the job.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from perfledger.ingest.compute.frame import (
    TIMED,
    StepRows,
    confirmed,
    increments,
    one_row_per_step,
    usual_gap,
)
from perfledger.ingest.read.facts import CUTS
from perfledger.parsers.contract import Reading, Scope
from perfledger.parsers.contract.statistics import median
from perfledger.parsers.engine.session import Session
from perfledger.parsers.engine.table import SessionRecords, converter, last_digit
from perfledger.schema.records import Facts, NoFigure, Reason
from perfledger.schema.vocabulary import UNITS

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from perfledger.ingest.compute.frame import PauseFlags

    Column = NDArray[np.float64]
    Rows = NDArray[np.intp]

#: Units of which one sample, as batch sizes count them, holds many.
TOKENS = frozenset(name for name, unit in UNITS.items() if unit.counts == "part")
#: Units whose number per sample is unknown.
UNCOUNTED = frozenset(name for name, unit in UNITS.items() if unit.counts == "unknown")
#: Rounding of printed figures that needs no second look.
_FINE = 1e-4
#: Batches of which epochs hold so many fewer samples are not counted as whole ones.
_REST_SHOWS = 1.05
#: The fact by which a figure of this scope is multiplied to get that of the job.
_MULTIPLIER: Mapping[Scope, str | None] = {"job": None, "node": "nodes", "device": "devices", "thread": None}


@dataclass
class NoFigureError(Exception):
    """There is no figure, for this reason."""

    reason: Reason

    def figure(self) -> NoFigure:
        """Return the record that replaces the figure."""
        return NoFigure(self.reason)


def no_figure(code: str, **args: Any) -> NoFigureError:
    """Return the exception for a code of the words' table `reason` and the arguments of its sentence."""
    return NoFigureError(Reason(code, args))


@dataclass(frozen=True)
class ThroughputSeries:
    """n records in file order.

    `values`: samples per second at `scope`, as printed times `multiplier`. `samples`, `seconds` and `covered`, in
    steps: what each record adds, with running means undone; sum over sum is samples over time. Where the batch size is
    not known the samples are counted in steps and the seconds scaled alike; then the series is not `timed`.
    `rows`: the row of each record in `records`, for its line number. `frame`: the rows as printed, one per step; of
    clocks, one more than there are intervals. `pauses`: what else took time in each record, 0
    for training steps alone. `lasted`: the seconds of each record as the log tells them, infinite for an epoch of
    unknown length, which is long in any case; None where nothing tells. `column`: what tells the speed.
    """

    values: Column
    samples: Column
    seconds: Column
    covered: Column
    epochs: Column
    steps: Column
    rows: Rows
    frame: StepRows
    pauses: PauseFlags
    unit: str
    scope: Scope
    multiplier: int
    timed: bool
    lasted: Column | None
    column: str = "throughput"

    def __len__(self) -> int:
        """Return the number of records."""
        return len(self.values)

    @property
    def paces(self) -> Column:
        """Return the seconds of each record per sample; NaN or infinite if it covers none."""
        import numpy as np

        with np.errstate(all="ignore"):
            return self.seconds / self.samples

    @property
    def records(self) -> SessionRecords:
        """Return the records that it is of."""
        return self.frame.records

    @property
    def clocked(self) -> bool:
        """Return whether the seconds are those between the lines' clocks."""
        return self.column == "clock"

    @cached_property
    def resolution(self) -> float:
        """Return what the last printed digit of the records counts, as a share; 0 for clocks, which are long."""
        return 0.0 if self.clocked else 2 * rounding(self.records, self.column, self.records[self.column])


def series(session: Session, case: Facts) -> ThroughputSeries:
    """Compute the session's throughput over its records.

    Printed speeds come first, then printed seconds, then the clocks of consecutive records.

    Raises:
        NoFigureError: the log has no such records, the samples per step are not known, or a printed figure is not a
            positive finite number.
    """
    import numpy as np

    for records in session.records:
        if records.reading.span == "run" or not len(records):
            continue
        for columns, made in ((("throughput",), _printed), (TIMED, _timed), (("clock",), _clocked)):
            if any(each in records for each in columns):
                with np.errstate(all="ignore"):  # Overflows are detected afterwards.
                    return made(one_row_per_step(records), session, case)
    if any("training_seconds" in each and len(each) for each in session.records):
        raise no_figure("part_of_step")
    raise no_figure("no_records")


def computed_series(session: Session, case: Facts) -> Callable[[], ThroughputSeries]:
    """Compute the series of a session once; return what gives it, or raises that there is none, as often as asked."""
    try:
        found: ThroughputSeries | Reason = series(session, case)
    except NoFigureError as error:
        found = error.reason

    def given() -> ThroughputSeries:
        if isinstance(found, Reason):
            raise NoFigureError(found)
        return found

    return given


def samples_per_step(session: Session, reading: Reading, case: Facts) -> float:
    """Return samples of the whole job per printed step; tokens, if the reading counts tokens.

    Raises:
        NoFigureError: devices, batch size, accumulation, or tokens per sample are not known.
    """
    if reading.unit not in TOKENS:
        return sequences_per_step(session, reading, case)
    if tokens := case.get("tokens_per_step"):
        return float(tokens)
    if (length := case.get("sequence_length")) is None:
        raise no_figure("no_tokens_per_step")
    return float(length) * sequences_per_step(session, reading, case)


def sequences_per_step(session: Session, reading: Reading, case: Facts) -> float:
    """Return samples of the whole job per printed step, as the batch size of the case counts them.

    Where steps are optimiser updates the accumulation must be known, or follow from the run's own figure:
    `throughput * seconds / steps`, accepted only as a whole number of batches of the job.

    Raises:
        NoFigureError: devices, batch size or accumulation are not known.
    """
    if job := case.get("batch_size_of_job"):
        return of_short_epochs(case, float(job))
    if (devices := case.get("devices")) is None:
        raise no_figure("no_devices")
    # A trainer's batch is that of the devices that share its samples.
    devices //= math.gcd(devices, math.prod(case.get(name, 1) for name in CUTS))
    if reading.counts == "update" and (per_device := case.get("samples_per_update_and_device")):
        return float(per_device * devices)
    if (batch := case.get("batch_size")) is None:
        raise no_figure("no_batch_size")
    if reading.counts == "step":
        return float(batch * devices)
    if accumulation := case.get("accumulation"):
        return float(batch * devices * accumulation)
    return _from_whole_run(session, batch * devices)


def of_short_epochs(case: Facts, batch_of_job: float) -> float:
    """Return the samples of a step, as a mean where epochs are so short that the rests that end them show."""
    names = ("data_set_size", "total_epochs", "total_steps")
    if not all(case.get(name) for name in names):
        return batch_of_job
    samples, epochs, steps = (float(case[name]) for name in names)
    rounded_up = steps == epochs * math.ceil(samples / batch_of_job)
    mean = samples * epochs / steps
    return mean if rounded_up and batch_of_job > _REST_SHOWS * mean else batch_of_job


def _from_whole_run(session: Session, batch_of_job: int) -> float:
    """Return samples per update from the run's own `throughput * seconds`, a whole number of batches of the job.

    The number of updates is the divisor of that number closest to the run's seconds over the usual time between two
    lines; the printed step does not serve, since updates that the loss scaler skips do not advance it.
    """

    whole = next((each for each in session.records if len(each) and "seconds" in each), None)
    lines = next((each for each in session.records if len(each) > 1 and "clock" in each), None)
    if whole is None or lines is None:
        raise no_figure("no_accumulation")
    exact = float(whole["throughput"][-1] * whole["seconds"][-1]) / batch_of_job
    if not math.isfinite(exact):  # The last summary need not state both.
        raise no_figure("no_accumulation")
    batches, usual = round(exact), median(_between_neighbours(lines))
    if not (0 < batches < 10**7 and usual > 0) or abs(exact - batches) > 1e-4 * batches:
        raise no_figure("no_accumulation")
    expected = float(whole["seconds"][-1]) / usual
    updates = min(
        (each for each in range(1, batches + 1) if batches % each == 0), key=lambda each: abs(each - expected)
    )
    if abs(updates - expected) > 0.05 * expected:
        raise no_figure("no_accumulation")
    return float(batches // updates * batch_of_job)


def _between_neighbours(lines: SessionRecords) -> Column:
    """Return the seconds between lines of which none is missing in between."""
    import numpy as np

    seconds = np.diff(lines["clock"])
    if "step" not in lines:
        return seconds
    gaps = np.diff(lines["step"])
    return seconds[gaps <= usual_gap(gaps)]


def scoped(reading: Reading, case: Facts) -> tuple[int, Scope]:
    """Return (multiplier, scope): scope `job` if the factor is known, otherwise 1 and the printed scope."""
    if reading.scope == "job":
        return 1, "job"
    known = case.get(_MULTIPLIER[reading.scope] or "")
    return (int(known), "job") if known else (1, reading.scope)


#: What lies beyond was garbled, and its square or its share of another figure need not be a number.
_SMALLEST, _LARGEST = 1e-100, 1e100


def refuse_impossible(values: Column, records: SessionRecords, rows: Rows | None = None) -> None:
    """Raise NoFigureError for the first figure that is not positive, or beyond all measure, with its line."""
    import numpy as np

    bad = np.flatnonzero(~((values > _SMALLEST) & (values < _LARGEST)))
    if len(bad):
        row = int(rows[bad[0]]) if rows is not None else int(bad[0])
        raise no_figure("impossible_figure", line=records.lines([row])[0], count=len(bad))


def _refuse_coarse(step_seconds: Column, frame: StepRows) -> None:
    """Raise NoFigureError where the format found the seconds or the rate of a record too coarse to tell anything."""
    import numpy as np

    records, unknown = frame.records, np.flatnonzero(np.isnan(step_seconds))
    names = ("duration", "steps_per_second", "step_seconds")
    column = next((each for each in names if each in records.reading.columns), None)
    if not len(unknown) or column is None:
        return
    row = int(frame.rows[unknown[0]])
    printed = records.printed(row, column)
    # Seconds with decimals are left out for other reasons; a rate is printed with too few of them.
    is_time = column == "step_seconds" and 0 < float(converter(column)([printed])[0]) < _LARGEST
    if printed.replace(b":", b"").isdigit() or (printed and column == "steps_per_second") or is_time:
        raise no_figure("coarse_seconds", line=records.lines([row])[0], count=len(unknown))


def _printed(frame: StepRows, session: Session, case: Facts) -> ThroughputSeries:
    printed, reading = frame["throughput"], frame.records.reading
    refuse_impossible(printed, frame.records, frame.rows)
    _refuse_speeds_of_ranks(frame)
    multiplier, scope = scoped(reading, case)
    samples, timed = _samples(frame), True
    if samples is not None and not _all_known(samples):
        samples = None
    if samples is None and _lasts(frame):
        samples = printed * frame["duration"]
    if samples is None:
        per_step = _printed_samples(frame.records, session, case)
        samples, timed = frame.covered * (per_step or 1.0), per_step is not None and reading.span != "epoch"
    return _series_of(frame, printed * multiplier, samples * multiplier, samples / printed, scope, multiplier, timed)


def _refuse_speeds_of_ranks(frame: StepRows) -> None:
    """Refuse a speed of the job that several processes print, each by its own clock: it may be that of each."""
    import numpy as np

    records, reading = frame.records, frame.records.reading
    several = bool(np.ptp(records.ranks()))
    told_apart = any(each in records for each in ("epoch", "step"))
    if reading.scope != "job" or (told_apart and not reading.alone):
        return
    if _differ(records, several) if told_apart else several:
        raise no_figure("speed_of_ranks")


def _refuse_samples_of_ranks(frame: StepRows) -> None:
    """Refuse samples of the job that several processes count: they may be those of each."""
    import numpy as np

    reading = frame.records.reading
    if reading.scope == "job" and reading.alone and np.ptp(frame.records.ranks()):
        raise no_figure("speed_of_ranks")


#: Of lines of two processes every second one repeats a step; of a program that was started again one may.
_IN_TURN = 0.25


def _differ(records: SessionRecords, tagged: bool) -> bool:
    """Return whether processes print a step with several speeds; those without a tag print it one after the other."""
    import numpy as np

    places = [records[each] for each in ("step", "epoch") if each in records]
    order = np.lexsort(places) if tagged else np.arange(len(records))
    again = np.all([np.diff(each[order]) == 0 for each in places], axis=0)
    return bool(np.sum(again & (np.diff(records["throughput"][order]) != 0)) > _IN_TURN * len(records))


def _lasts(frame: StepRows) -> bool:
    """Return whether every record prints the seconds that it covers, so that its speed implies a number of samples."""
    import numpy as np

    if "duration" not in frame or frame.records.reading.cumulative_since is not None:
        return False
    return bool((np.isfinite(frame["duration"]) & (frame["duration"] > 0)).all())


def _printed_samples(records: SessionRecords, session: Session, case: Facts) -> float | None:
    """Return samples per step at the printed scope; None if not known.

    Of a speed that is not the job's, where the number of devices is unknown, the samples of the job tell nothing.
    """
    multiplier, scope = scoped(records.reading, case)
    if records.reading.unit in UNCOUNTED or scope != "job":
        return None
    try:
        return samples_per_step(session, records.reading, case) / multiplier
    except NoFigureError:
        return None


def _samples(frame: StepRows) -> Column | None:
    """Return the samples that each record says it covers, at the printed scope; None if it does not say."""
    import numpy as np

    if _prints(frame, "samples"):
        return frame["samples"]
    if _prints(frame, "batch"):
        return frame["batch"] * frame.covered
    if not _prints(frame, "consumed") or len(frame) < 2:
        return None
    consumed = frame["consumed"]
    gaps = np.diff(consumed, prepend=np.nan)
    if frame.records.reading.span == "step":
        # Behind lines that are missing it has counted their steps, too.
        advanced = np.diff(frame.steps, prepend=np.nan)
        gaps = np.where(advanced > frame.covered, gaps * frame.covered / advanced, gaps)
    usual = median(gaps[gaps > 0]) if (gaps > 0).any() else np.nan
    # The first record, and one with which the count begins anew, covers as many as usual, or fewer where the run or the
    # epoch began within it. NeMo counts nothing on its first line.
    consumed = np.where(np.isnan(consumed) & (np.arange(len(consumed)) == 0), usual, consumed)
    return np.where(gaps >= 0, gaps, np.minimum(consumed, usual))


def _all_known(samples: Column) -> bool:
    """Return whether every record says how many samples it covers; otherwise there is no total."""
    import numpy as np

    return bool((np.isfinite(samples) & (samples > 0)).all())


def _prints(frame: StepRows, name: str) -> bool:
    """Return whether the lines print a column; a dialect may leave it out of all of them."""
    import numpy as np

    return name in frame and bool(np.isfinite(frame[name]).any())


def _timed(frame: StepRows, session: Session, case: Facts) -> ThroughputSeries:
    step_seconds = frame.step_seconds
    assert step_seconds is not None
    whole_epochs = frame.records.reading.span == "epoch" and "duration" in frame and "steps" not in frame
    counted = _of_data_set(frame, case) if whole_epochs and _samples(frame) is None else frame
    column = next(each for each in TIMED if each in frame)
    return replace(_over(counted, step_seconds, session, case), column=column, frame=frame)


def _of_data_set(frame: StepRows, case: Facts) -> StepRows:
    """Return epochs of which only the seconds are printed, with the samples of the data set."""
    import numpy as np

    size, multiplier = case.get("data_set_size"), scoped(frame.records.reading, case)[0]
    if size is None or frame.records.reading.unit in TOKENS | UNCOUNTED:
        raise no_figure("no_steps_per_epoch")
    return replace(frame, columns={**frame.columns, "samples": np.full(len(frame), size / multiplier)})


def _clocked(frame: StepRows, session: Session, case: Facts) -> ThroughputSeries:
    """Return one record per pair of consecutive lines; the later line is the record."""
    if _once_an_epoch(frame):
        raise no_figure("no_steps_per_epoch")
    later, seconds = frame.clock_intervals()
    if (seconds < 0).any():
        row = int(later.rows[int((seconds < 0).argmax())])
        raise no_figure("clock_runs_back", line=frame.records.lines([row])[0])
    if not len(later):
        raise no_figure("too_few_records", records=len(frame), needed=len(frame) + 1)
    return replace(_over(later, seconds / later.covered, session, case), column="clock", frame=frame)


def _once_an_epoch(frame: StepRows) -> bool:
    """Return whether one line of each epoch is printed, and nothing tells how many steps lie between two of them."""
    import numpy as np

    epochs, steps = np.diff(frame.epochs), np.diff(frame.steps)
    told = "steps" in frame or _samples(frame) is not None or (_prints_total(frame) == 1).all()
    return len(frame) > 1 and not told and bool((epochs != 0).all() and (steps <= 0).all())


def _prints_total(frame: StepRows) -> Column:
    """Return how many steps an epoch or the run has, as each line says; NaN where it does not."""
    import numpy as np

    records = frame.records
    return records["total_steps"][frame.rows] if "total_steps" in records else np.full(len(frame), np.nan)


def _over(frame: StepRows, step_seconds: Column, session: Session, case: Facts) -> ThroughputSeries:
    """Return samples over the seconds that each record covers."""
    _refuse_coarse(step_seconds, frame)
    refuse_impossible(step_seconds, frame.records, frame.rows)
    samples, seconds = _samples(frame), step_seconds * frame.covered
    if samples is None:
        per_step = samples_per_step(session, frame.records.reading, case)
        return _series_of(frame, per_step / step_seconds, per_step * frame.covered, seconds, "job", 1, True)
    refuse_impossible(samples, frame.records, frame.rows)
    _refuse_samples_of_ranks(frame)
    multiplier, scope = scoped(frame.records.reading, case)
    return _series_of(frame, samples * multiplier / seconds, samples * multiplier, seconds, scope, multiplier, True)


def _series_of(
    frame: StepRows, values: Column, samples: Column, seconds: Column, scope: Scope, multiplier: int, timed: bool
) -> ThroughputSeries:
    records = frame.records
    refuse_impossible(values, records, frame.rows)
    samples, seconds, covered = (increments(frame, each) for each in (samples, seconds, frame.covered))
    return ThroughputSeries(
        values, samples, seconds, covered, frame.epochs, frame.steps, frame.rows, frame,
        confirmed(frame, seconds, covered), records.reading.unit, scope, multiplier, timed,
        seconds if timed else _lasted(frame),
    )  # fmt: skip


def rounding(records: SessionRecords, name: str, values: Column) -> float:
    """Return how far the last printed digit of a column rounds, as a share of its median; 0 where none is printed."""
    import numpy as np

    some = values[np.isfinite(values) & (values > 0)][:100]
    if name not in records or not len(some):
        return 0.0
    whole = max(0, math.floor(math.log10(some.min())))
    decimals = next((each for each in range(-whole, 6) if (some * 10.0**each % 1 <= 1e-6).all()), 6)
    unit = 10.0**-decimals
    if unit > _FINE * median(some) and name in records.reading.columns:
        # Equal round figures hide their zeros: look at one as it is printed, unless it was computed.
        if not is_as_printed(records, 0, name):
            return 0.0
        unit = last_digit(records.printed(0, name)) * records.reading.scales.get(name, 1.0)
    return 0.5 * unit / median(some)


def is_as_printed(records: SessionRecords, record: int, name: str) -> bool:
    """Return whether a number of a record is the one that its line prints; a format may make others of some lines."""
    import numpy as np

    if name not in records.reading.columns:
        return True
    factor = records.reading.scales.get(name, 1.0)
    printed = converter(name)([records.printed(record, name)])[0] * factor
    return bool(np.isclose(printed, records[name][record], rtol=1e-12))


def _lasted(frame: StepRows) -> Column | None:
    """Return the seconds that each record covers where its speed does not tell them; NaN for those that none can be."""
    import numpy as np

    if (step_seconds := frame.step_seconds) is not None:
        printed = increments(frame, step_seconds * frame.covered)
        return np.where((printed >= 0) & (printed < _LARGEST), printed, np.nan)
    if frame.records.reading.span == "epoch":
        return np.full(len(frame), np.inf)
    lasted = np.diff(frame.records.stamps()[frame.rows], prepend=np.nan)
    return lasted if np.isfinite(lasted).any() else None
