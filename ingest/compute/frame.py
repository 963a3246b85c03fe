"""Records as one row per step: lines repeated by ranks or metrics are merged, and the steps per row are derived."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import groupby
from typing import TYPE_CHECKING, Literal

from perfledger.parsers.contract import PauseKind
from perfledger.parsers.contract.statistics import median, medians
from perfledger.parsers.engine.table import SessionRecords, Stop
from perfledger.schema.vocabulary import UNITS

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
    "throughput", "restated", *TIMED, "training_seconds",
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
#: Steps grow if none holds fewer samples than the one before by more than this share.
_GROWS = 0.01
#: Steps are small if they hold less than this share of the median of the last rows, which are so many.
_SMALLER, _LAST = 0.9, 3
#: A rank may lag by this many distinct steps, or a tenth of all; a step repeated later means that the program was
#: restarted.
_LAG, _LAG_SHARE = 3, 0.1


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

        The clock may be coarser than the lines, and a line may be printed twice: of several lines with one time or one
        step, only the first is a row. The time until a program was started again is left out.
        """
        import numpy as np

        seconds, pauses = np.diff(self["clock"]), self.pauses[1:]
        covered = self.covered[1:] if "steps" in self else between(self.records, self.epochs, self.steps)
        anew = self._restarted(seconds) | self._of_unknown_length()
        if "training_seconds" in self:
            told = _outside_timer(seconds, self["training_seconds"][1:] * covered)
            pauses = np.where(told, pauses | PAUSES["outside_timer"], pauses).astype(np.uint8)
        columns = {name: each[1:] for name, each in self.columns.items()}
        if "consumed" in self:
            # Counted since the start: the row after one that is left out would get the samples of both.
            columns["samples"] = np.diff(self["consumed"])
        chosen = np.flatnonzero((seconds != 0) & (covered != 0) & ~anew)
        covered, took = _gathered(covered, anew, chosen), _gathered(seconds, anew, chosen)
        pauses = _held(pauses, chosen) if len(chosen) else pauses[chosen]
        columns = {
            name: _gathered(each, anew, chosen) if name == "samples" else each[chosen] for name, each in columns.items()
        }
        epochs, steps, rows = self.epochs[1:][chosen], self.steps[1:][chosen], self.rows[1:][chosen]
        later = replace(
            self, rows=rows, epochs=epochs, steps=steps, columns=columns, covered=covered, pauses=pauses,
            apart=self.apart[1:][chosen],
        )  # fmt: skip
        return later, took

    def _of_unknown_length(self) -> NDArray[np.bool_]:
        """Return the intervals across epochs of which nothing shows how many steps they cover: numbers begin again."""
        import numpy as np

        across: NDArray[np.bool_] = (np.diff(self.epochs) != 0) & (np.diff(self.steps) <= 0)
        return across & (not {"steps", "samples", "consumed"} & self.columns.keys()) & bool((~across).any())

    def _restarted(self, seconds: Column) -> NDArray[np.bool_]:
        """Return which intervals end with the first line of a program that was started again."""
        import numpy as np

        _, back = restarts(self.epochs, self.steps, np.zeros(len(self)), *most_lag(self.records))
        restarted: NDArray[np.bool_] = back[1:] | (seconds < 0) & ("elapsed" in self.records.reading.columns)
        return restarted


def _gathered(values: Column, anew: NDArray[np.bool_], chosen: Rows) -> Column:
    """Return what each chosen row adds with the rows before it that are not chosen, without those that begin anew."""
    import numpy as np

    gathered: Column = np.diff(np.cumsum(np.where(anew, 0.0, values))[chosen], prepend=0.0)
    return gathered


def _held(pauses: PauseFlags, chosen: Rows) -> PauseFlags:
    """Return the pauses of each of some chosen rows, with those of the rows before it that are not chosen."""
    import numpy as np

    return np.bitwise_or.reduceat(pauses, [0, *(chosen[:-1] + 1)])


# Figures, metrics and signs of a second run all ask for the rows of one session.
@lru_cache(maxsize=4)
def one_row_per_step(records: SessionRecords) -> StepRows:
    """Return the rows of some records, which must not be empty."""
    import numpy as np

    columns = {name: records[name] for name in _COLUMNS if name in records}
    epochs, steps = places(records)
    rows = np.arange(len(records))
    group, ranks = rows, records.ranks()
    if _is_repeated(records):
        columns, rows, group = _once_per_step(columns, epochs, steps, ranks)
        epochs, steps = epochs[rows], steps[rows]
    held, beside = ([each for each in records.stops() if (each.pause.inside == "none") is out] for out in (False, True))
    stopped, apart = (_stopped(each, group, ranks, len(rows)) for each in (held, beside))
    if "evaluated" in columns:
        stopped[columns["evaluated"] > 0] |= PAUSES["evaluation"]
    pauses = _pauses(records, stopped, epochs, steps)
    return StepRows(records, rows, epochs, steps, columns, _covered(records, columns, steps), pauses, apart > 0)


def places(records: SessionRecords) -> tuple[Column, Column]:
    """Return epoch and step of each record, neither of them NaN; records are numbered if no step is printed."""
    import numpy as np

    steps = records["step"] if "step" in records else np.full(len(records), np.nan)
    epochs = np.nan_to_num(records["epoch"]) if "epoch" in records else np.zeros(len(records))
    return epochs, steps if np.isfinite(steps).all() else np.arange(1.0, len(records) + 1)


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


def between(records: SessionRecords, epochs: Column, steps: Column) -> Column:
    """Return the steps from each of n records to the next, n - 1 values; 0 where a line repeats the step before it.

    Printers that count updates print at a fixed interval, although the step number may advance by less: it does not
    where the loss scaler skips an update. A gap far from the interval is not one: a line is missing, or an epoch ends.
    """
    import numpy as np

    gaps = np.diff(steps)
    usual, told = usual_gap(gaps), (gaps > 0) | ((gaps == 0) & (np.diff(epochs) == 0))
    if records.reading.counts == "update":
        told = (gaps > 0) & (np.abs(gaps / usual - 1) > _SKIPPED)
    return np.where(told, gaps, usual)


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
    return np.where(inside, gaps, np.where(alone, 1.0, usual))


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
    _, begun = restarts(epochs, steps, np.zeros(len(steps)), *most_lag(records))
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
        doubtful |= (pauses > 0) & ~(follows & ("step" in frame.records))
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
    order, begun = restarts(epochs, steps, ranks, _LAG, _LAG_SHARE)
    keys = _starts(begun, ranks) * (order.max() + 1) + order
    _, first, group = np.unique(keys, return_index=True, return_inverse=True)
    sequence = np.argsort(first, kind="stable")
    merged = {name: medians(each, group.ravel())[sequence] for name, each in columns.items()}
    return merged, first[sequence], np.argsort(sequence)[group.ravel()]


def restarts(epochs: Column, steps: Column, ranks: Column, lag: int, share: float) -> tuple[Rows, NDArray[np.bool_]]:
    """Return the index of each row's step, and whether the row goes back further than a line may lag.

    It may by `lag` distinct steps, or by a `share` of all where most steps are printed several times: a single rank
    lags behind no other. Ranks with tags may lag freely, since what they print into a pipe arrives in blocks of lines.
    """
    import numpy as np

    order, by_rank = numbered(epochs, steps), np.argsort(ranks, kind="stable")
    begun = np.zeros(len(order), dtype=np.bool_)
    if share and median(np.bincount(order).astype(np.float64)) > 1:
        lag = max(lag, int(share * order.max()))
    back = np.diff(order[by_rank], prepend=order[by_rank[0]]) < -lag
    begun[by_rank] = back & (np.diff(ranks[by_rank], prepend=ranks[by_rank[0]]) == 0)
    return order, begun


def numbered(epochs: Column, steps: Column) -> Rows:
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


def most_lag(records: SessionRecords) -> tuple[int, float]:
    """Return by how many steps, or by which share of all, a line may go back.

    Ranks lag, and a loss scaler takes back updates that it skips. Where every step is printed once no line may.
    """
    if _is_repeated(records):
        return _LAG, _LAG_SHARE
    return (_LAG if records.reading.counts == "update" else 0), 0.0
