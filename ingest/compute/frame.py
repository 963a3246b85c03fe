"""Records as one row per step: lines repeated by ranks or metrics are merged, and the steps per row are derived."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import groupby
from typing import TYPE_CHECKING, Literal

from parsers.contract import PauseKind
from parsers.contract.statistics import median, medians
from parsers.engine.clock import DATELESS_BEFORE
from parsers.engine.table import SessionRecords, Stop
from schema.vocabulary import UNITS

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Column = NDArray[np.float64]
    Rows = NDArray[np.intp]
    #: A number per record: the sum of the kinds of PAUSES that its interval holds, 0 for training steps alone.
    PauseFlags = NDArray[np.uint8]

#: Columns that state how long a record took, the most direct first.
TIMED = ("duration", "step_seconds", "steps_per_second")
_COLUMNS = (
    "throughput", "restated", *TIMED, "training_seconds", "seconds_otherwise", "agreement",
    "steps", "samples", "batch", "consumed", "length", "evaluated", "clock",
)  # fmt: skip
#: What may take time inside a record besides training steps; `restart` marks the first of a program started again, and
#: `smaller_steps` those before the batch or the sequences of a run had grown.
PAUSES: Mapping[PauseKind | Literal["outside_timer", "restart", "smaller_steps"], int] = {
    "evaluation": 1,
    "checkpoint": 2,
    "epoch_end": 4,
    "outside_timer": 8,
    "restart": 16,
    "smaller_steps": 32,
}
#: Pauses that may cost nothing, and count only where their record is slow.
_DOUBTFUL = PAUSES["epoch_end"] | PAUSES["restart"]
#: A record takes so many times the usual seconds per step if the end of an epoch lies in it.
_SLOW = 1.5
#: A timer of training shows the clock's seconds of a usual step, give or take this much, or it is not believed.
_AGREES = 0.1
#: Share of the clock's seconds that may lie outside the timer unexplained.
_OUTSIDE = 0.02
#: Share of the usual interval by which the loss scaler may keep the step number back.
_SKIPPED = 0.5
#: Two programs write into one file where steps go back so often, and in this share of the lines.
_OFTEN, _SHARE = 3, 0.1
#: They do so in turn, and at different speeds, where this share of the lines tells the step of the line before.
_IN_TURN = 0.3
#: A gap is that of one interval of the printer where at least this share of the lines follows after it.
_ALONE = 0.3
#: Lines are missing where a row is so many of the usual intervals behind the one before, and those around it at most so
#: many, in as many places at most as people leave something out of a log.
_LEFT_OUT, _AS_USUAL, _PLACES = 3.0, 1.5, 3
#: A line contradicts itself if its speed is off what its other numbers give by more than this share.
_DIFFERS = 0.05
#: Numbers that count up lie outside those of the lines around them in this share of the lines, where some were damaged.
_DAMAGED = 0.1
#: A line that follows within this share of the usual interval, with the same step, is the same line again.
_AGAIN = 0.1
#: Lines that are printed together follow within these seconds.
_AT_ONCE = 0.01
#: Steps grow where none holds fewer samples than the one before by more than this share; those are small that hold less
#: than this share of what the last rows do, as the median of so many tells.
_GROWS, _SMALLER, _LAST = 0.01, 0.9, 3
#: A local clock is set by an hour where daylight saving begins or ends: in the first hours of a day, at most twice in a
#: log. Without that hour the interval is the usual one, give or take this share, and much shorter than an hour.
_HOUR, _EARLY, _TWICE, _ALIKE, _USUAL = 3600.0, 4, 2, 0.5, 600.0
#: Months in which clocks are set somewhere, days of the week on which they are, and that of the first day of 1970.
_SET_IN, _WEEKEND, _FIRST_DAY = (2, 3, 4, 8, 9, 10, 11), (4, 5, 6), 3
#: A rank may lag by this many distinct steps, or a tenth of all; a step repeated later means that the program was
#: restarted.
_LAG, _LAG_SHARE = 3, 0.1
#: Two programs drift apart where, of the steps from some one on, in this share the lines are so many intervals apart by
#: their clocks, and so many seconds more, by which clocks are cut.
_APART, _COARSE, _MOSTLY = 3.0, 2.0, 0.5


@dataclass(frozen=True)
class StepRows:
    """n records in file order, one per step. `rows`: the row of each in `records`, for its line number."""

    records: SessionRecords
    rows: Rows
    epochs: Column
    steps: Column
    columns: Mapping[str, Column]
    #: Steps that each row covers; since the restart of the running mean where the printer prints one.
    covered: Column
    pauses: PauseFlags
    #: Rows before whose line something took time while the printer's timer stood still, but no clock.
    apart: NDArray[np.bool_]

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self.rows)

    def __contains__(self, name: str) -> bool:
        """Return whether the printer prints that column."""
        return name in self.columns

    def __getitem__(self, name: str) -> Column:
        """Return a column, one float64 per row."""
        return self.columns[name]

    @property
    def step_seconds(self) -> Column | None:
        """Seconds per step; None where none are printed."""
        if "duration" in self:
            return self["duration"] / self.covered
        if "step_seconds" in self:
            return self["step_seconds"]
        return 1.0 / self["steps_per_second"] if "steps_per_second" in self else None

    def clock_intervals(self) -> tuple[StepRows, Column]:
        """Return all rows but the first, each covering the time since the row before it, and these times in seconds.

        The clock may be coarser than the lines: of several lines with one time, only the first is a row. A row then
        begins where the clock has just changed, but for the line behind a pause, which stands anywhere in its second:
        the row that holds a pause goes on to the next change. Lines after the last change of the clock are left out; so
        is the time until a program was started again, of which the first line begins the next row, time over which the
        clock was set by an hour, and time of which lines are missing, which may have told of an evaluation. Where the
        clock is coarser, what lies before and behind such a time up to a change of the clock is left out, too.
        """
        import numpy as np

        seconds, pauses = np.diff(self["clock"]), self.pauses[1:]
        covered = self.covered[1:] if "steps" in self else between(self.records, self.steps)
        room = _room(self.steps, seconds)
        if "steps" not in self:
            covered = _not_beyond(covered, self.steps, room)
        anew = self._restarted(seconds) | self._clock_set() | missing(self.steps)[1:]
        if self.records.reading.counts == "update":
            # Where the number of updates does not advance, nothing else tells of lines that are missing.
            anew |= (np.diff(self.steps) <= 0) & (room >= covered / _SKIPPED)
        anew |= self._of_other_length(seconds, covered)
        if "training_seconds" in self:
            told = _outside_timer(seconds, self["training_seconds"][1:] * covered)
            pauses = np.where(told, pauses | PAUSES["outside_timer"], pauses).astype(np.uint8)
        columns, chosen = {name: each[1:] for name, each in self.columns.items()}, np.flatnonzero(~anew)
        counted = {"samples", "batch", "consumed"} & self.columns.keys()
        coarse = counted == {"consumed"} and not seconds.all()
        if "consumed" in self and (anew.any() or coarse or len(seconds) == 1):
            # What is counted since the start would fall to the row behind one that is left out, and a single row tells
            # nothing of what it adds.
            columns["samples"] = np.diff(self["consumed"])
        if counted and not coarse:
            covered, pauses, took = covered[chosen], pauses[chosen], seconds[chosen]
            columns = {name: each[chosen] for name, each in columns.items()}
        else:
            chosen = np.flatnonzero((seconds != 0) & ~anew)
            if 0 < len(chosen) < (~anew).sum():
                anew, chosen = _between_changes(anew, chosen)
                chosen = chosen[(_held(pauses, chosen) == 0) | (chosen == chosen[-1])]
            covered, took = _gathered(covered, anew, chosen), _gathered(seconds, anew, chosen)
            pauses = _held(pauses, chosen) if len(chosen) else pauses[chosen]
            columns = {
                name: _gathered(each, anew, chosen) if name == "samples" else each[chosen]
                for name, each in columns.items()
            }
        epochs, steps, rows = self.epochs[1:][chosen], self.steps[1:][chosen], self.rows[1:][chosen]
        later = replace(
            self, rows=rows, epochs=epochs, steps=steps, columns=columns, covered=covered, pauses=pauses,
            apart=self.apart[1:][chosen],
        )  # fmt: skip
        return later, took

    def _restarted(self, seconds: Column) -> NDArray[np.bool_]:
        """Return which intervals end with the first line of a program that was started again."""
        import numpy as np

        _, back = _restarts(self.epochs, self.steps, np.zeros(len(self)), *_most_lag(self.records))
        timer_begins = (seconds < 0) & ("elapsed" in self.records.reading.columns)
        wrong = self._beside_a_wrong_time(timer_begins & (np.diff(self.steps) > 0))
        restarted: NDArray[np.bool_] = back[1:] | timer_begins | wrong
        return restarted

    def _of_other_length(self, seconds: Column, covered: Column) -> NDArray[np.bool_]:
        """Return the intervals between epochs where these last longer or shorter than others.

        Where steps begin anew, nothing tells how many lie between the last line of an epoch and the first one of the
        next.
        """
        import numpy as np

        across = (np.diff(self.epochs) != 0) & (np.diff(self.steps) <= 0)
        known = (seconds > 0) & (self.pauses[1:] & ~np.uint8(PAUSES["epoch_end"]) == 0)
        between, inside = across & known, ~across & known
        if {"steps", "samples", "consumed"} & self.columns.keys() or not between.any() or not inside.any():
            return np.zeros(len(across), dtype=np.bool_)
        each = seconds / covered
        ratio = median(each[between]) / median(each[inside])
        return between if abs(ratio - 1) > _DIFFERS else np.zeros(len(across), dtype=np.bool_)

    def _beside_a_wrong_time(self, back: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Return which intervals end or begin with the line whose time is wrong, of a timer that goes on as before it.

        Args:
            back: the intervals in which the timer goes back, and the steps do not.
        """
        import numpy as np

        clock, found = self["clock"], np.zeros(len(back), dtype=np.bool_)
        for row in np.flatnonzero(back):
            # The line is the one before that is too late, or the one behind that is too early.
            found[row - 1] |= row > 0 and clock[row + 1] >= clock[row - 1]
            found[row + 1 : row + 2] |= row + 2 < len(clock) and clock[row + 2] >= clock[row]
        return found

    def _clock_set(self) -> NDArray[np.bool_]:
        """Return which intervals hold an hour by which the clock was set; a timer of the program never is."""
        found: NDArray[np.bool_] = clock_set(self["clock"]) & ("elapsed" not in self.records.reading.columns)
        return found


def _gathered(values: Column, anew: NDArray[np.bool_], chosen: Rows) -> Column:
    """Return what each chosen row adds with the rows before it that are not chosen, without those that begin anew."""
    import numpy as np

    gathered: Column = np.diff(np.cumsum(np.where(anew, 0.0, values))[chosen], prepend=0.0)
    return gathered


def _between_changes(anew: NDArray[np.bool_], chosen: Rows) -> tuple[NDArray[np.bool_], Rows]:
    """Return which of n intervals are left out, and those chosen rows that begin and end where the clock changes.

    Args:
        anew: n intervals that are left out, such as those that end where a program was started again.
        chosen: the intervals with which the clock changes, but for those that are left out.
    """
    import numpy as np

    behind = np.searchsorted(chosen, np.flatnonzero(anew))
    begins, ends = np.append(-1, chosen)[behind] + 1, np.append(chosen, len(anew) - 1)[behind] + 1
    wider = anew.copy()
    for begin, end in zip(begins.tolist(), ends.tolist(), strict=True):
        wider[begin:end] = True
    kept = chosen[~wider[chosen]]
    return (wider, kept) if len(kept) else (anew, chosen)


def _held(pauses: PauseFlags, chosen: Rows) -> PauseFlags:
    """Return the pauses of each of some chosen rows, with those of the rows before it that are not chosen."""
    import numpy as np

    return np.bitwise_or.reduceat(pauses, [0, *(chosen[:-1] + 1)])


def _may_be_set(clock: Column) -> NDArray[np.bool_]:
    """Return whether clocks are set on the day of each time, so that a pause of an hour on another day is one.

    That is in spring or autumn of either half of the world, from Friday to Sunday. Without a year the day of the week
    is not known, and without a date, which then is in January, nothing.
    """
    import numpy as np

    known = np.isfinite(clock)
    days = np.where(known, clock, 0.0).astype("datetime64[s]").astype("datetime64[D]")
    months = days.astype("datetime64[M]").astype(np.int64) % 12 + 1
    has_year = clock >= DATELESS_BEFORE
    weekend = np.isin((days.astype(np.int64) + _FIRST_DAY) % 7, _WEEKEND)
    found: NDArray[np.bool_] = np.isin(months, _SET_IN) & (weekend | ~has_year) | (months == 1) & ~has_year
    return found


def clock_set(clock: Column) -> NDArray[np.bool_]:
    """Return which intervals between lines, whose local times are given, hold an hour by which the clock was set."""
    import numpy as np

    seconds = np.diff(clock)
    advanced = seconds[seconds > 0]
    usual = median(advanced) if len(advanced) else 0.0
    without = np.where(seconds > 0, seconds - _HOUR, seconds + _HOUR)
    is_early = np.floor(clock[:-1] / _HOUR) % 24 < _EARLY
    found: NDArray[np.bool_] = (
        is_early & _may_be_set(clock[:-1]) & (np.abs(without - usual) <= _ALIKE * usual) & (0 < usual <= _USUAL)
    )
    return found if found.sum() <= _TWICE else np.zeros(len(found), dtype=np.bool_)


# Figures, metrics and signs of a second run all ask for the rows of one session.
@lru_cache(maxsize=4)
def one_row_per_step(records: SessionRecords) -> StepRows:
    """Return the rows of some records, which must not be empty."""
    import numpy as np

    columns = {name: records[name] for name in _COLUMNS if name in records}
    epochs, steps = _places(records)
    rows = np.arange(len(records))
    group, ranks = rows, records.ranks()
    if _is_repeated(records):
        columns, rows, group = _once_per_step(columns, epochs, steps, ranks)
        epochs, steps = epochs[rows], steps[rows]
    else:
        columns |= {name: _mended(columns[name], epochs) for name in ("clock", "consumed") if name in columns}
        if "clock" in columns and (again := _printed_again(columns["clock"], epochs, steps)).any():
            rows, group = np.flatnonzero(~again), np.cumsum(~again) - 1
            columns, epochs, steps = {name: each[rows] for name, each in columns.items()}, epochs[rows], steps[rows]
    held, beside = ([each for each in records.stops() if (each.pause.inside == "none") is out] for out in (False, True))
    stopped, apart = (_stopped(each, group, ranks, len(rows)) for each in (held, beside))
    if records.reading.buffered:
        stopped = _in_all_printed_together(stopped, records.stamps()[rows])
    if "evaluated" in columns:
        stopped[columns["evaluated"] > 0] |= PAUSES["evaluation"]
    pauses = _pauses(records, stopped, epochs, steps)
    every = StepRows(records, rows, epochs, steps, columns, _covered(records, columns, steps), pauses, apart > 0)
    frame = _without_contradicting(every)
    return frame if records.reading.span != "interval" else _without_missing(frame)


def contradicting(agreement: Column) -> NDArray[np.bool_]:
    """Return which of n records print a speed that their other numbers contradict, by their column `agreement`."""
    off: NDArray[np.bool_] = (agreement > 1 + _DIFFERS) | (agreement < 1 / (1 + _DIFFERS))
    return off


def _without_contradicting(frame: StepRows) -> StepRows:
    """Return the rows without those that contradict themselves, where these are the fewer: some number was damaged.

    What lies between two lines then falls to the next row, unless that tells its own seconds.
    """
    import numpy as np

    if "agreement" not in frame:
        return frame
    off = contradicting(frame["agreement"])
    if not 0 < off.sum() < len(off) / 2:
        return frame
    kept = _at(frame, ~off, frame.apart)
    if frame.records.reading.span != "interval" or "duration" in frame:
        return kept
    chosen, none = np.flatnonzero(~off), np.zeros(len(off), dtype=np.bool_)
    counted = {name: _gathered(frame[name], none, chosen) for name in ("steps", "samples") if name in frame}
    covered = counted.get("steps", _covered(frame.records, kept.columns, kept.steps))
    return replace(kept, columns={**kept.columns, **counted}, covered=covered, pauses=_held(frame.pauses, chosen))


def _without_missing(frame: StepRows) -> StepRows:
    """Return the rows but for those before which lines are missing.

    Such a row would have the weight of all lines that were left out, though it tells of the last of their steps.
    """
    import numpy as np

    behind = missing(frame.steps)
    if not behind.any() or {"steps", "consumed"} & frame.columns.keys():
        return frame
    return _at(frame, ~behind, frame.apart | np.concatenate([[False], behind[:-1]]))


def _at(frame: StepRows, kept: NDArray[np.bool_], apart: NDArray[np.bool_]) -> StepRows:
    """Return some of the rows."""
    columns = {name: each[kept] for name, each in frame.columns.items()}
    return replace(
        frame, rows=frame.rows[kept], epochs=frame.epochs[kept], steps=frame.steps[kept], columns=columns,
        covered=frame.covered[kept], pauses=frame.pauses[kept], apart=apart[kept],
    )  # fmt: skip


def missing(steps: Column) -> NDArray[np.bool_]:
    """Return before which of n rows lines are missing, as where somebody shows the beginning and the end of a log.

    A printer whose interval changes goes on with the new one.
    """
    import numpy as np

    gaps = np.nan_to_num(np.diff(steps, prepend=np.nan))
    usual = median(gaps[gaps > 0]) if (gaps > 0).any() else 1.0
    longer, unusual = gaps > _LEFT_OUT * usual, np.pad(gaps > _AS_USUAL * usual, 1)
    unusual[-1] = usual == 1  # Printers that show their first steps one by one go on with an interval.
    found: NDArray[np.bool_] = longer & ~unusual[:-2] & ~unusual[2:]
    return found if found.sum() <= _PLACES else np.zeros_like(found)


def _printed_again(clock: Column, epochs: Column, steps: Column) -> NDArray[np.bool_]:
    """Return which lines repeat the one before them: two handlers of a logger print each line twice.

    An update that the loss scaler skips has the step of the one before it, and takes the usual time.
    """
    import numpy as np

    seconds, again = np.diff(clock), np.zeros(len(clock), dtype=np.bool_)
    same = (np.diff(steps) == 0) & (np.diff(epochs) == 0)
    advanced = seconds[~same & (seconds > 0)]
    again[1:] = same & (np.abs(seconds) < _AGAIN * (median(advanced) if len(advanced) else 0.0))
    return again


def _places(records: SessionRecords) -> tuple[Column, Column]:
    """Return epoch and step of each record, neither of them NaN; records are numbered if no step is printed."""
    import numpy as np

    numbers = np.arange(1.0, len(records) + 1)
    steps = _filled(records["step"]) if "step" in records else numbers
    epochs = np.nan_to_num(_filled(records["epoch"])) if "epoch" in records else np.zeros(len(records))
    if not np.isfinite(steps).all():
        return epochs, numbers
    return epochs, steps if _is_repeated(records) else _mended(steps, epochs)


def _mended(counted: Column, epochs: Column) -> Column:
    """Return n numbers that count up, with the mean of its neighbours for each that lost a digit, or a point."""
    import numpy as np

    out = _out_of_order(counted, epochs)
    if not 0 < out.sum() <= _DAMAGED * len(out):
        return counted
    return np.where(out, (np.roll(counted, 1) + np.roll(counted, -1)) / 2, counted)


def _out_of_order(counted: Column, epochs: Column) -> NDArray[np.bool_]:
    """Return which of n numbers lie outside those around them, which are in order, by more than they are apart."""
    import numpy as np

    out = np.zeros(len(counted), dtype=np.bool_)
    before, each, behind = counted[:-2], counted[1:-1], counted[2:]
    apart = behind - before
    out[1:-1] = (apart > 0) & ((each < before - apart) | (each > behind + apart)) & (epochs[:-2] == epochs[2:])
    return out


def runs_back(frame: StepRows, name: str) -> int | None:
    """Return the first row of which a number that counts up is out of order; None where none is, or too few to tell."""
    import numpy as np

    if name not in frame or _is_repeated(frame.records):
        return None
    if name == "consumed" and "elapsed" in frame.records.reading.columns:
        # A program that is started again begins its time anew, too.
        onward = [np.diff(each) for each in (frame["clock"], frame.steps)]
        fallen = (np.diff(frame[name]) < 0) & (onward[0] > 0) & (onward[1] > 0) & (np.diff(frame.epochs) == 0)
        if fallen.any():
            return int(np.argmax(fallen)) + 1
    rows = np.flatnonzero(_out_of_order(frame[name], frame.epochs) & ~_out_of_order(frame.steps, frame.epochs))
    return int(rows[0]) if len(rows) >= max(_OFTEN, _DAMAGED * len(frame)) else None


def _is_repeated(records: SessionRecords) -> bool:
    """Return whether a step may be printed several times."""
    import numpy as np

    return records.reading.repeated or bool(np.ptp(records.ranks()))


def increments(frame: StepRows, total: Column) -> Column:
    """Return what each record adds to a total, with running means undone within each epoch."""
    import numpy as np

    if frame.records.reading.cumulative_since is None:
        return total
    return np.where(_same_mean(frame.epochs, frame.steps), np.diff(total, prepend=0.0), total)


def _same_mean(epochs: Column, steps: Column) -> NDArray[np.bool_]:
    """Return whether a running mean goes on from the row before; a program resumed within an epoch restarts it."""
    import numpy as np

    same: NDArray[np.bool_] = (np.diff(epochs, prepend=np.nan) == 0) & (np.diff(steps, prepend=np.nan) >= 0)
    return same


def between(records: SessionRecords, steps: Column) -> Column:
    """Return the steps from each of n records to the next, n - 1 values.

    Printers that count updates print at a fixed interval, although the step number may advance by less: it does not
    where the loss scaler skips an update. What is far from the interval is none: a line is missing, or an epoch ends.
    """
    import numpy as np

    gaps = np.diff(steps)
    usual, told = usual_gap(gaps), gaps > 0
    if records.reading.counts == "update":
        told &= np.abs(gaps / usual - 1) > _SKIPPED
    return np.where(told, gaps, usual)


def _room(steps: Column, seconds: Column) -> Column:
    """Return for how many steps the seconds between lines have room, by the lines between which the number advances."""
    import numpy as np

    gaps = np.diff(steps)
    told = (gaps > 0) & (seconds > 0)
    each = median(seconds[told] / gaps[told]) if told.any() else np.nan
    return np.maximum(1.0, np.round(np.where(seconds > 0, seconds, np.nan) / each))


def _not_beyond(covered: Column, steps: Column, room: Column) -> Column:
    """Return the steps between lines, fewer where the number advances by less and the clock has no room for as many.

    Where lines are missing the usual gap is that of several of them.
    """
    import numpy as np

    gaps = np.diff(steps)
    less = (covered > np.maximum(gaps, 0.0)) & (room <= (1 - _SKIPPED) * covered)
    return np.where(less, np.maximum(room, gaps), covered)


def usual_gap(gaps: Column) -> float:
    """Return by how many steps lines usually advance, 1 where none does.

    Of two in the middle that are far apart the smaller one is usual: in the other a line is missing.
    """
    import numpy as np

    forward = np.sort(gaps[gaps > 0])
    if not len(forward):
        return 1.0
    lower, upper = forward[(len(forward) - 1) // 2], forward[len(forward) // 2]
    return float(lower if upper > (1 + _SKIPPED) * lower else (lower + upper) / 2)


def _filled(column: Column) -> Column:
    """Return a column with gaps filled from the line before, or at the beginning from the first line with a value."""
    import numpy as np

    known = np.flatnonzero(~np.isnan(column))
    if len(known) in (0, len(column)):
        return column
    filled: Column = column[known[np.maximum(np.searchsorted(known, np.arange(len(column)), side="right") - 1, 0)]]
    return filled


def _covered(records: SessionRecords, columns: Mapping[str, Column], steps: Column) -> Column:
    import numpy as np

    reading = records.reading
    if "steps" in columns:
        return columns["steps"]
    if reading.cumulative_since is not None:
        # The mean restarts *at* step 5 with that step in it, hence 6 steps at step 10.
        return np.maximum(steps - (reading.cumulative_since - 1), 0.0)
    if reading.span != "interval" or len(steps) < 2:
        return np.ones(len(steps))
    gaps = np.diff(steps, prepend=np.nan)
    inside = gaps > 0
    usual = median(gaps[inside]) if inside.any() else 1.0
    # Where the steps begin anew, the first step printed by itself is one, and its stall must not count for ten; another
    # record covers as many as usual, some of them of the epoch before it.
    alone = (steps == 0) | ((steps == 1) & (usual > 2))
    covered = np.where(inside, gaps, np.where(alone, 1.0, usual))
    lost = _lines_lost(gaps, columns["duration"]) if "duration" in columns else np.zeros(len(steps), dtype=np.bool_)
    return np.where(lost, gaps[inside].min(initial=np.inf), covered)


def _lines_lost(gaps: Column, duration: Column) -> NDArray[np.bool_]:
    """Return before which of n rows lines are lost, so that a row tells of one of the intervals alone.

    Args:
        gaps: steps since the row before; of one interval or of several.
        duration: what each row tells, in seconds; that of one interval is nearer to it than that of several.
    """
    import numpy as np

    inside = gaps > 0
    several = gaps / gaps[inside].min(initial=np.inf)
    if not (several[inside] % 1 == 0).all() or (several == 1).sum() < max(1, _ALONE * inside.sum()):
        return np.zeros(len(gaps), dtype=np.bool_)
    with np.errstate(all="ignore"):  # Numbers may be garbled.
        lost: NDArray[np.bool_] = (several > 1) & (duration < median(duration[several == 1]) * np.sqrt(several))
    return lost


def _stopped(stops: Sequence[Stop], group: Rows, ranks: Column, count: int) -> PauseFlags:
    """Return the pauses of each of `count` rows; record n is one of the lines that printed row `group[n]`.

    A line of a rank belongs to that rank's next new row: others may lag behind, and a bar is drawn again.
    """
    import numpy as np

    found = np.zeros(count, dtype=np.uint8)
    for rank, printed in groupby(sorted(stops, key=lambda each: each.rank), key=lambda each: each.rank):
        mine = np.flatnonzero(ranks == rank) if (ranks == rank).any() else np.arange(len(group))
        new = np.sort(mine[np.unique(group[mine], return_index=True)[1]])
        at, last, kinds = np.array(
            [(each.row, each.pause.inside == "last", PAUSES[each.pause.kind]) for each in printed]
        ).T
        places = np.searchsorted(new, at) - last
        inside = (places > 0) & (places < len(new))
        np.bitwise_or.at(found, group[new[places[inside]]], kinds[inside].astype(np.uint8))
    return found


def _in_all_printed_together(stopped: PauseFlags, stamps: Column) -> PauseFlags:
    """Return the pauses, those of a record also in all that are printed together with it, where clocks tell these."""
    import numpy as np

    if (bunch := printed_together(stamps)) is None:
        return stopped
    found = np.zeros(bunch[-1] + 1, dtype=np.uint8)
    np.bitwise_or.at(found, bunch, stopped)
    return found[bunch]


def printed_together(stamps: Column) -> Rows | None:
    """Return the number of the bunch of each line, of those that are printed at once; None where clocks do not tell."""
    import numpy as np

    gaps = np.diff(stamps, prepend=-np.inf)
    longer = gaps[np.isfinite(gaps) & (gaps > _AT_ONCE)]
    return np.cumsum(~(gaps < _AGAIN * median(longer))) if len(longer) else None


def _pauses(records: SessionRecords, stopped: PauseFlags, epochs: Column, steps: Column) -> PauseFlags:
    """Add ends of epochs, restarts, and what a mean still shows of a pause; drop those before whose mean it ends.

    A program that is started again compiles and fills its caches once more, as in the warm-up that is left out.
    """
    import numpy as np

    if records.reading.epoch_timer:
        stopped[1:][np.diff(steps) <= 0] = 0
    if records.reading.epoch_end:
        stopped[1:][np.diff(epochs) != 0] |= PAUSES["epoch_end"]
    if records.reading.cumulative_since is not None:
        # A running mean begins anew with the epoch, after the pause before it.
        stopped = np.where(_same_mean(epochs, steps), stopped, 0).astype(np.uint8)
    _, begun = _restarts(epochs, steps, np.zeros(len(steps)), *_most_lag(records))
    stopped[begun] |= PAUSES["restart"]
    shown = stopped.copy()
    for later in range(1, min(records.reading.lingers, len(shown) - 1) + 1):
        shown[later:] |= stopped[:-later]
    return shown


def confirmed(frame: StepRows, seconds: Column, steps: Column) -> PauseFlags:
    """Return the pauses of records that took so many seconds for so many steps, without those that cost nothing.

    Where each step is printed, the one with the line of a pause holds it, however short; elsewhere it may lie in a step
    that is not printed.
    """
    import numpy as np

    pauses, per_step, reading = frame.pauses, seconds / steps, frame.records.reading
    doubtful = (pauses > 0) & (pauses & ~np.uint8(_DOUBTFUL) == 0)
    if reading.span == "step":
        follows = (np.diff(frame.steps, prepend=np.nan) == 1) & (np.diff(frame.epochs, prepend=np.nan) == 0)
        doubtful |= (pauses > 0) & ~(follows & ("step" in frame.records and not reading.buffered))
    # One record without a pause shows nothing: the first holds the compilation, and perhaps an evaluation before it.
    known = per_step[~doubtful & ~np.isnan(per_step)]
    if doubtful.any() and (~doubtful).sum() > 1 and len(known):
        slow = per_step >= _SLOW * median(known)
        pauses = np.where(doubtful & ~slow, 0, pauses)
    return (pauses | PAUSES["smaller_steps"] * smaller_steps(frame)).astype(np.uint8)


def smaller_steps(frame: StepRows) -> NDArray[np.bool_]:
    """Return which rows are of the time before the steps of a run had grown: of smaller batches, or shorter sequences.

    The speed of such steps is another one, and the batch size that is stated is most often the last one.
    """
    # Tokens and items of a step grow where samples are sorted by length, in batches of one size.
    unit = UNITS.get(frame.records.reading.unit)
    batches = samples_of_steps(frame) if unit and unit.counts == "sample" else None
    return _smaller(frame, batches) | _smaller(frame, frame.columns.get("length"))


def samples_of_steps(frame: StepRows) -> Column | None:
    """Return the samples of a step of each row, as the lines tell them; None where they do not."""
    import numpy as np

    if "samples" in frame:
        return frame["samples"] / frame.covered
    if "batch" in frame:
        return frame["batch"]
    if "consumed" not in frame or len(frame) < 2:
        return None
    with np.errstate(all="ignore"):  # Updates that a loss scaler skips do not advance the step.
        told = np.diff(frame["consumed"]) / np.diff(frame.steps)
    return np.concatenate([told[:1], told])


def _smaller(frame: StepRows, held: Column | None) -> NDArray[np.bool_]:
    """Return which rows are of the time before what a step holds had grown.

    Args:
        frame: n rows.
        held: what a step holds in each of them; None where nothing tells.
    """
    import numpy as np

    of_steps = "step" in frame.records and frame.records.reading.span != "epoch"
    if held is None or not of_steps or not (held[1:] >= (1 - _GROWS) * held[:-1]).all():
        return np.zeros(len(frame), dtype=np.bool_)
    small: NDArray[np.bool_] = held < _SMALLER * median(held[-_LAST:])
    return small


def _outside_timer(seconds: Column, trained: Column) -> NDArray[np.bool_]:
    """Return the records with time outside training, by the clock and by a timer of training over the same steps.

    The timer may smooth, so that it shows a slow step for several records; its sum is right all the same. Hence the
    records with the largest differences are told, until the sums agree.
    """
    import numpy as np

    if not len(seconds) or not abs(median(seconds / trained) - 1) <= _AGREES:
        return np.zeros(len(seconds), dtype=np.bool_)
    order = np.argsort(trained - seconds, kind="stable")
    left, rest = np.cumsum((seconds - trained)[order][::-1])[::-1], np.cumsum(seconds[order][::-1])[::-1]
    found = np.zeros(len(seconds), dtype=np.bool_)
    found[order[: int(np.argmax(left <= _OUTSIDE * rest))]] = True
    return found


def _once_per_step(
    columns: Mapping[str, Column], epochs: Column, steps: Column, ranks: Column
) -> tuple[dict[str, Column], Rows, Rows]:
    """Return one row per epoch and step, in order of first appearance: the median over the lines that printed it.

    The row of each, for its line number, and to which of them each line belongs, come with them.
    """
    import numpy as np

    # A file may hold the same steps twice, of a program that was started again without saying so.
    order, begun = _restarts(epochs, steps, ranks, _LAG, _LAG_SHARE)
    keys = _starts(begun, ranks) * (order.max() + 1) + order
    _, first, group = np.unique(keys, return_index=True, return_inverse=True)
    sequence = np.argsort(first, kind="stable")
    merged = {name: medians(each, group.ravel())[sequence] for name, each in columns.items()}
    return merged, first[sequence], np.argsort(sequence)[group.ravel()]


def _restarts(epochs: Column, steps: Column, ranks: Column, lag: int, share: float) -> tuple[Rows, NDArray[np.bool_]]:
    """Return the index of each row's step, and whether the row goes back further than a line may lag.

    It may by `lag` distinct steps, or by a `share` of all where most steps are printed several times: a single rank
    lags behind no other. Ranks with tags may lag freely, since what they print into a pipe arrives in blocks of lines.
    """
    import numpy as np

    order, by_rank = _numbered(epochs, steps), np.argsort(ranks, kind="stable")
    begun = np.zeros(len(order), dtype=np.bool_)
    if share and median(np.bincount(order).astype(np.float64)) > 1:
        lag = max(lag, int(share * order.max()))
    back = np.diff(order[by_rank], prepend=order[by_rank[0]]) < -lag
    begun[by_rank] = back & (np.diff(ranks[by_rank], prepend=ranks[by_rank[0]]) == 0)
    return order, begun


def _numbered(epochs: Column, steps: Column) -> Rows:
    """Return the number of each row's epoch and step, in their order; rows of one epoch and step share it."""
    import numpy as np

    in_order, number = np.lexsort((steps, epochs)), np.zeros(len(steps), dtype=np.intp)
    epochs, steps = epochs[in_order], steps[in_order]
    number[in_order[1:]] = np.cumsum((epochs[1:] != epochs[:-1]) | (steps[1:] != steps[:-1]))
    return number


def _starts(begun: NDArray[np.bool_], ranks: Column) -> Rows:
    """Return how often the rank of each row has started again up to that row."""
    import numpy as np

    by_rank, starts = np.argsort(ranks, kind="stable"), np.zeros(len(begun), dtype=np.intp)
    so_far = np.cumsum(begun[by_rank])
    _, first, sizes = np.unique(ranks[by_rank], return_index=True, return_counts=True)
    starts[by_rank] = so_far - np.repeat(so_far[first], sizes)
    return starts


def begun_anew(records: SessionRecords) -> int | None:
    """Return the first row that repeats the session's first step, if the program was restarted without a message.

    A resumed run goes back to a step after its first, never before it. Where no step is printed, epochs tell.
    """
    import numpy as np

    if len(records) < 2 or not ("step" in records or "epoch" in records):
        return None
    epochs, steps = _places(records)
    steps = steps if "step" in records else np.zeros(len(records))
    order, begun = _restarts(epochs, steps, records.ranks(), *_most_lag(records))
    found = np.flatnonzero(begun & (order <= order[0]))
    return int(found[0]) if len(found) else None


def interleaved(records: SessionRecords) -> int | None:
    """Return the first row that goes back to a step, or states one anew, where two programs write into one file.

    Their steps go back again and again; those of a resumed run go back once. Where ranks print the same steps, a second
    program may be no slower than they are: then nothing tells it from a rank.
    """
    import numpy as np

    value = next((name for name in ("throughput", *TIMED, "clock") if name in records), None)
    if len(records) < 2 or "step" not in records or value is None:
        return None
    if _is_repeated(records):
        return _drifting(records)
    forward = np.diff(_numbered(*_places(records)))
    # Two lines of one step have different stamps also where a line is printed twice, but the same time since the start.
    stamped = value == "clock" and "elapsed" not in records.reading.columns
    lag = _LAG if stamped else _most_lag(records)[0]
    again = (forward < -lag) if lag else (forward <= 0) & (np.diff(records[value]) != 0)
    if lag and value != "clock":
        again |= _in_turn(forward, records[value])
    found = np.flatnonzero(again)
    return int(found[0]) + 1 if len(found) >= max(_OFTEN, _SHARE * len(records)) else None


def _in_turn(forward: NDArray[np.intp], values: Column) -> NDArray[np.bool_]:
    """Return which steps two programs tell in turn, of which always the same one is slower; none, unless many are.

    An update that the loss scaler skips has the step of another as well, but not so many are skipped.
    """
    import numpy as np

    again = forward == 0
    with np.errstate(all="ignore"):  # Numbers may be garbled.
        ratio = np.log(values[1:] / values[:-1])[again]
    slower, faster = (ratio > _DIFFERS).sum(), (ratio < -_DIFFERS).sum()
    several = max(slower, faster) >= max(_OFTEN, _IN_TURN * len(values)) and not min(slower, faster)
    return again if several else np.zeros_like(again)


def _drifting(records: SessionRecords) -> int | None:
    """Return the first row behind which two programs drift apart that print the same steps; None where they are ranks.

    Ranks wait for each other in every step: none goes back further than a line may lag but where it starts again, and
    the clocks of their lines of a step stay together. An evaluation may lie between two states of one bar.
    """
    import numpy as np

    ranks = records.ranks()
    order, begun = _restarts(*_places(records), ranks, *_most_lag(records))
    back = np.flatnonzero(begun)
    if len(back) >= max(_OFTEN, _SHARE * len(records)):
        return int(back[0])
    if "clock" not in records:
        return None
    keys = _starts(begun, ranks) * (order.max() + 1) + order
    _, first, group, lines = np.unique(keys, return_index=True, return_inverse=True, return_counts=True)
    begins, ends = np.full(len(lines), np.inf), np.full(len(lines), -np.inf)
    with np.errstate(all="ignore"):  # Numbers may be garbled, or missing.
        np.minimum.at(begins, group, records["clock"])
        np.maximum.at(ends, group, records["clock"])
        # The clocks of two machines may differ, by as much from first to last.
        apart = ends - begins - np.min(ends - begins, where=lines > 1, initial=np.inf)
        late = np.flatnonzero((lines > 1) & (apart > _APART * median(np.abs(np.diff(begins))) + _COARSE))
    if len(late) < max(_OFTEN, _SHARE * len(lines)) or len(late) < _MOSTLY * (late[-1] - late[0] + 1):
        return None
    return int(first[late[0]])


def _most_lag(records: SessionRecords) -> tuple[int, float]:
    """Return by how many steps, or by which share of all, a line may go back.

    Ranks lag, and a loss scaler takes back updates that it skips. Where every step is printed once no line may.
    """
    if _is_repeated(records):
        return _LAG, _LAG_SHARE
    return (_LAG if records.reading.counts == "update" else 0), 0.0
