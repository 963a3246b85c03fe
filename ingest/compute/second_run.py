"""Find a second run in a session, which its printer began without a message.

Each sign is one that a single run cannot give. What one run prints and the other does not is never mixed then: no
figure is published.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

from ingest.compute.frame import TIMED, StepRows, begun_anew, interleaved, missing, one_row_per_step
from ingest.compute.series import rounding
from parsers.engine.clock import DATELESS_BEFORE
from parsers.engine.session import Session
from parsers.engine.table import ReadingTable, SessionRecords
from schema.records import Reason

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Column = NDArray[np.float64]

#: A clock with a date that jumps back by more belongs to an earlier program. In autumn it is set back by an hour.
_BACK = 7_200.0
#: Share by which the speeds differ that the ranks of one run print for the whole run.
_SAME_SPEED = 0.02
#: A program that was started again is of another configuration if its steps take so many times as long, or hold so many
#: times as many samples, as those before; as the median of so many lines tells, and at least of so many.
_OTHERWISE, _LINES, _FEWEST = 1.4, 10, 5
#: Epochs of one number of steps, give or take this share, that are followed by as many of another.
_EPOCHS, _SAME_LENGTH = 2, 0.1
#: Single totals that differ from those around them are damaged, in this share of the lines.
_LONE = 0.1
#: Share by which speed times seconds may differ where all batches are of one size, by the digits that are printed.
_SAME_BATCH = 0.05
#: Share of the lines that tell of a lower step than the line before them, where the newest line stands first.
_MOSTLY = 0.8
#: How words begin of which programs make headings themselves.
_OWN = rb"(?i:epoch|eval|iter|step|stage|test|train|val)"
#: Lines that people put between parts of a log, and no program between its steps: fences, headings, dots for what is
#: left out, and what `head`, `tail`, `grep` and `diff` print.
_MARK = re.compile(
    rb"(?m)^[ \t>]*+(?:(?:```|~~~)[ \t\w]*+|[^\w\n]?(?:\.{2,}|\xe2\x80\xa6|snip)[^\w\n]?"
    rb"|#{1,6} (?!(?:[^\n]*?[^\na-z])?" + _OWN + rb")[^\n]++|</?(?:details|summary|pre|code)>[^\n]*+"
    rb"|==> [^\n<]++<==|-{2,3}|@@ -\d[^\n]*+ @@[^\n]*+|\d++(?:,\d++)?+[acd]\d++(?:,\d++)?+"
    rb"|(?i:after|afterwards|and|before|now|on|same|then|using|with|without)\b(?! [^\n]*?"
    + _OWN
    + rb")[^\n:=|{}\[\]]{0,60}+:"
    rb"|(?:with |on )?+\d++ ?x? ?(?:GPU|gpu|node|card|machine|process)(?:e?s)?+\b[^\n]{0,40}+)[ \t]*+$"
)
_DIGITS = re.compile(rb"[0-9]++")
#: What stands in lines of programs, and not in names of files or signs of `diff`.
_PRINTED = re.compile(rb"[{}|%=]")
#: The steps are of another run if all of so many beyond a mark, or beyond missing lines, take longer than all of those
#: before, or all less long, as `_differ` tells: beyond a mark by this. So few are needed where lines are missing, and
#: where there is a mark.
_BESIDE, _OTHER_PACE, _LEAST, _SHOWN = 5, 1.2, 3, 2
#: So many places are searched for marks, as a log may have many where a step takes longer than another, and so many
#: chunks, which are kept: what somebody copied is short.
_LOOKED_FOR, _CHUNKS = 50, 2
#: The time since the start, which a mean and its steps tell, falls by less where the mean was rounded.
_FALLS = 0.9


def second_run(session: Session) -> tuple[int, Reason] | None:
    """Return the line on which a second run shows, and by what; None where the session is one run."""
    return min(_signs(session), key=lambda each: each[0], default=None)


def _signs(session: Session) -> Iterator[tuple[int, Reason]]:
    if again := session.stated.restated:
        where = {"first": str(again.first.value), "second": str(again.second.value), "line": again.first.line}
        yield again.second.line, Reason("fact_restated", {"fact": again.fact, **where})
    trained = [each for each in session.records if len(each) and each.reading.span != "run"]
    for records in trained:
        for code, row in (
            ("newest_first", _turned(records)),
            _restart(records),
            ("steps_go_back", interleaved(records)),
            *_joined(records),
            *_changes(records),
        ):
            if row is not None:
                yield records.lines([row])[0], Reason(code)
        yield from _beside(records)
    of_steps = [each for each in trained if each.reading.span in ("step", "interval") and not each.reading.weak]
    spans = [(each.lines([0])[0], each.lines([len(each) - 1])[0], each) for each in of_steps]
    # Of ranks that print side by side, one may end before the others.
    if any(first < session.stated.end_line < last for first, last, each in spans if not each.reading.repeated):
        yield session.stated.end_line, Reason("steps_after_end")
    if row := _ends_again(session):
        yield row, Reason("ends_again")
    # One program prints its dialects side by side; of one line each they may be.
    counted = sorted((first, last) for first, last, each in spans if "step" in each)
    yield from (
        (begun, Reason("another_dialect"))
        for (first, last), (begun, end) in pairwise(counted)
        if begun > last and (last > first or end > begun)
    )


def _turned(records: SessionRecords) -> int | None:
    """Return the second row where steps fall from almost every line to the next: exports show the newest line first."""
    import numpy as np

    if "step" not in records or len(records) <= _FEWEST:
        return None
    steps, epochs = (records[each] if each in records else np.zeros(len(records)) for each in ("step", "epoch"))
    forward = np.where(np.diff(epochs) == 0, np.diff(steps), np.diff(epochs))
    return 1 if (forward < 0).sum() > _MOSTLY * (forward != 0).sum() else None


def _restart(records: SessionRecords) -> tuple[str, int | None]:
    """Return the row that repeats the first step, if there is one, and how it comes about.

    What ran at the same time is no later run, but a node, a rank or a job whose lines stand behind those of the first.
    """
    row = begun_anew(records)
    if row is not None:
        clock = records.stamps()
        if DATELESS_BEFORE <= clock[0] <= clock[row] < clock[row - 1]:
            return "told_at_once", row
    return "steps_restart" if "step" in records else "epochs_restart", row


def _ends_again(session: Session) -> int:
    """Return the line where a program ends again, with another speed of its own for the run; 0 where none does.

    Excerpts often hold nothing but what several programs printed last. Ranks print the same speed side by side, and
    printers that tell a speed of each epoch in the words of the run end with something else.
    """
    for records in session.records:
        if records.reading.span == "run" and not records.reading.summary and "throughput" in records and len(records):
            speeds = records["throughput"]
            row = _first(abs(speeds[1:] - speeds[0]) > _SAME_SPEED * speeds[0], speeds[1:])
            if row is not None and records.lines([0])[0] == session.stated.end_line:
                return records.lines([row])[0]
    return 0


def _joined(records: SessionRecords) -> Iterator[tuple[str, int | None]]:
    """Yield the rows where somebody joined two runs: the pace changes where lines are missing, or beyond a mark."""
    import numpy as np

    if not {"step", "epoch"} & {*records.columns} or len(records) < 2 * _SHOWN:
        return
    frame = one_row_per_step(records)
    if (paces := _paces(frame, frame.pauses)) is None:
        return
    known = np.flatnonzero(np.isfinite(paces))
    paces, gaps, rows = paces[known], np.diff(np.cumsum(missing(frame.steps))[known]) > 0, frame.rows[known]
    jumps = np.flatnonzero(np.abs(np.diff(paces)) > np.log(_OTHER_PACE) / 2)[:_LOOKED_FOR]
    marks = np.zeros(len(gaps), dtype=np.bool_)
    marks[jumps] = _marked(records, [(int(rows[at]), int(rows[at + 1])) for at in jumps])
    for code, least, most, apart in (
        ("pace_of_another", _LEAST, _OTHERWISE, gaps),
        ("marked_and_other", _SHOWN, _OTHER_PACE, marks),
    ):
        found = (at for at in np.flatnonzero(apart).tolist() if _differ(paces, gaps | marks, at, least, most))
        yield code, next((int(rows[at + 1]) for at in found), None)


def _beside(records: SessionRecords) -> Iterator[tuple[int, Reason]]:
    """Yield a line whose step is not above that of the line before it, behind a mark or where lines begin otherwise.

    Lines count as they are printed: what a reading makes of them may merge those of two runs, as it does with ranks.
    """
    import numpy as np

    table, rows = records.table, slice(records.first, records.last)
    if "step" not in table.parts or len(table.stretches) > _CHUNKS:
        return
    steps = table.column("step", rows)
    epochs = table.column("epoch", rows) if "epoch" in table.parts else np.zeros(len(steps))
    by_rank = np.argsort(table.rank(rows), kind="stable")
    forward, onward = np.diff(epochs[by_rank]), np.diff(steps[by_rank])
    same = np.diff(table.rank(rows)[by_rank]) == 0
    back = np.sort(by_rank[1:][same & ((forward < 0) | (forward == 0) & (onward <= 0))]) - 1
    if len(back) > _LOOKED_FOR:
        back = np.concatenate([back[: _LOOKED_FOR // 2], back[-_LOOKED_FOR // 2 :]])
    places = [records.first + int(each) for each in back]
    for code, tells in (("marked_and_back", _is_marked), ("fronts_differ", _begins_otherwise)):
        if row := next((each + 1 for each in places if tells(table, each)), None):
            yield table.lines([row])[0], Reason(code)


def _is_marked(table: ReadingTable, row: int) -> bool:
    """Return whether a mark stands behind a line, and the next one tells another pace.

    Somebody may comment between the lines of ranks, or show a line again that stands above: where both tell the same,
    no figure is wrong.
    """
    return _tell_otherwise(table, row) and _MARK.search(table.text(row, row + 1)) is not None


def _tell_otherwise(table: ReadingTable, row: int) -> bool:
    """Return whether a line tells another speed or time than the one behind it."""
    told = [table.column(each, slice(row, row + 2)) for each in ("throughput", *TIMED) if each in table.parts]
    return any(abs(each[1] - each[0]) > _SAME_SPEED * abs(each[0]) for each in told)


def _begins_otherwise(table: ReadingTable, row: int) -> bool:
    """Return whether a line tells another pace than the one before it, and begins otherwise, whatever its numbers.

    So do lines of two files that `grep` or `diff` shows. Two handlers of a logger begin otherwise as well, and tell the
    same; before the state of a bar may stand what the program printed.
    """
    fronts = {table.front(each).translate(None, b"0123456789") for each in (row, row + 1)}
    begins = len(fronts) == 2 and not any(_PRINTED.search(each) for each in fronts)
    return begins and _tell_otherwise(table, row)


def _marked(records: SessionRecords, places: Sequence[tuple[int, int]]) -> list[bool]:
    """Return between which pairs of rows somebody put a mark; what stands elsewhere as well, a program prints."""
    if not places or len(records.table.stretches) > 1:
        return [False] * len(places)
    found = [_marks_in(records.text(*each)) for each in places]
    if any(found):
        here, all_over = sum(found, Counter()), _marks_in(records.text(0, len(records) - 1))
        found = [Counter({mark: 1 for mark in each if here[mark] == all_over[mark]}) for each in found]
    return [bool(each) for each in found]


def _marks_in(text: bytes) -> Counter[bytes]:
    """Count the marks in a text, whatever their numbers."""
    return Counter(_DIGITS.sub(b"0", each[0]) for each in _MARK.finditer(text))


def _paces(frame: StepRows, pauses: NDArray[np.uint8]) -> Column | None:
    """Return the logarithm of the time that a sample or a step takes in each row; NaN where a pause is in it."""
    import numpy as np

    seconds = 1 / frame["throughput"] if "throughput" in frame else frame.step_seconds
    return None if seconds is None else np.log(np.where((pauses == 0) & (seconds > 0), seconds, np.nan))


def _differ(paces: Column, apart: NDArray[np.bool_], at: int, least: int, most: float) -> bool:
    """Return whether all rows just behind one take longer than all up to it, or all less long.

    Args:
        paces: of n rows.
        apart: behind which of the first n - 1 of them begins another part, which tells nothing of the one before.
        at: the last row before.
        least: rows that are needed on both sides.
        most: how many times as long as on the other side they may take, by the medians.
    """
    import numpy as np

    part = np.append(0, np.cumsum(apart))
    before, behind = (
        paces[rows][part[rows] == part[row]]
        for rows, row in ((slice(max(0, at + 1 - _BESIDE), at + 1), at), (slice(at + 1, at + 1 + _BESIDE), at + 1))
    )
    ratio = float(np.median(behind) - np.median(before))
    split = behind.min() > before.max() if ratio > 0 else behind.max() < before.min()
    return min(len(before), len(behind)) >= least and bool(split) and abs(ratio) > float(np.log(most))


def _changes(records: SessionRecords) -> Iterator[tuple[str, int | None]]:
    """Yield the rows where a total changes, or the clock jumps back."""
    import numpy as np

    for name in (each for each in ("total_epochs", "total_steps") if each in records):
        gaps = np.diff(_without_lone(records[name]))
        # Epochs may differ in their steps, but not one epoch.
        same = np.diff(records["epoch"]) <= 0 if name == "total_steps" and "epoch" in records else True
        yield "total_changed", _first((gaps != 0) & same, gaps)
    yield "epochs_of_another", _epochs_of_another(records)
    clock = records.stamps() if not np.ptp(records.ranks()) or "clock" in records else np.empty(0)
    if len(clock) and np.nanmin(clock, initial=np.inf) >= DATELESS_BEFORE:
        back = np.diff(clock)
        yield "clock_jumps_back", _first(back < -_BACK, back)
    if "elapsed" in records.reading.columns and "step" in records and "clock" in records:
        yield "resumed_otherwise", _resumed_otherwise(records)
    if records.reading.cumulative_since is not None and "step" in records and not np.ptp(records.ranks()):
        yield "mean_of_another", _mean_of_another(records)
    if all(name in records for name in ("step", "throughput", "step_seconds")) and not np.ptp(records.ranks()):
        yield "batch_of_another", _batch_of_another(records)


def _epochs_of_another(records: SessionRecords) -> int | None:
    """Return the row from which on all epochs have many more steps than those before, or many fewer.

    The samples of an epoch are shared out to other batches or devices then, which most often nothing states. One epoch
    alone may be cut short, and epochs that differ all along are those of a sampler.
    """
    import numpy as np

    if "epoch" not in records:
        return None
    _, begins = np.unique(epochs := records["epoch"], return_index=True)
    lengths = _steps_of_epochs(records, epochs, begins)
    if len(lengths) < 2 * _EPOCHS or not lengths.min() > 0:
        return None
    changes = np.abs(np.diff(np.log(lengths))) > np.log1p(_SAME_LENGTH)
    row = int(np.argmax(changes)) + 1
    once = changes.sum() == 1 and _EPOCHS <= row <= len(lengths) - _EPOCHS
    return int(begins[row]) if once and lengths.max() >= _OTHERWISE * lengths.min() else None


def _steps_of_epochs(records: SessionRecords, epochs: Column, begins: NDArray[np.intp]) -> Column:
    """Return the steps of each epoch, as its first record says; else as its last one tells, but of the last epoch."""
    import numpy as np

    if "total_steps" in records:
        return records["total_steps"][begins]
    if records.reading.span == "epoch":
        return records["steps"][begins] if "steps" in records else np.empty(0)
    if "step" not in records or len(begins) < 2:
        return np.empty(0)
    last = np.maximum.reduceat(records["step"], begins) if (np.diff(begins) > 0).all() else np.empty(0)
    begun_anew = records["step"][begins[1:]] < last[:-1] if len(last) else np.empty(0)
    return last[:-1] if len(last) and begun_anew.all() else np.empty(0)


def _batch_of_another(records: SessionRecords) -> int | None:
    """Return the row behind lines that are missing from which on each step holds as many times the samples as before.

    One run may change its batches, but hardly once, where lines are missing.
    """
    import numpy as np

    with np.errstate(all="ignore"):
        samples, gaps = np.log(records["throughput"] * records["step_seconds"]), np.diff(records["step"])
    jumps = np.abs(np.diff(samples))
    if len(samples) < 2 * _FEWEST or not np.isfinite(samples).all():
        return None
    row = int(np.argmax(jumps)) + 1
    before, behind = samples[:row], samples[row:]
    if min(len(before), len(behind)) < _FEWEST or gaps[row - 1] == np.median(gaps):
        return None
    same = max(np.ptp(before), np.ptp(behind)) <= _SAME_BATCH
    return row if same and abs(before.mean() - behind.mean()) > np.log(_OTHERWISE) else None


def _mean_of_another(records: SessionRecords) -> int | None:
    """Return the first row whose running mean leaves less time since the start than those of the two rows before it.

    One such row alone is damaged.
    """
    import numpy as np

    step = records["step"]
    column = "throughput" if "throughput" in records else "step_seconds"
    if column not in records:
        return None
    with np.errstate(all="ignore"):
        mean = records[column] ** (-1 if column == "throughput" else 1)
        lasted = mean * (step - (records.reading.cumulative_since or 0) + 1)
    least = _FALLS - 4 * rounding(records, column, records[column])
    goes_on = (np.diff(step) > 0) & (np.diff(records["epoch"]) == 0 if "epoch" in records else True)
    pairs = np.minimum(lasted[:-3], lasted[1:-2]), np.maximum(lasted[2:-1], lasted[3:])
    found = (pairs[1] < least * pairs[0]) & goes_on[:-2] & goes_on[1:-1] & goes_on[2:]
    rows = np.flatnonzero(found & (pairs[1] > 0))
    return int(rows[0]) + 2 if len(rows) else None


def _resumed_otherwise(records: SessionRecords) -> int | None:
    """Return the first row of a program that goes on, by a timer of its own, at another pace or with other samples."""
    import numpy as np

    clock, steps = records["clock"], np.diff(records["step"])
    epochs = np.diff(records["epoch"]) if "epoch" in records else np.zeros(len(steps))
    for row in np.flatnonzero((np.diff(clock) < 0) & (epochs == 0)):
        for name in (each for each in ("clock", "consumed") if each in records):
            with np.errstate(all="ignore"):
                told = np.diff(records[name]) / steps
            told = np.where((told > 0) & np.isfinite(told), told, np.nan)
            around = (told[max(0, row - _LINES) : row], told[row + 1 :][:_LINES])
            before, behind = (each[np.isfinite(each)] for each in around)
            if min(len(before), len(behind)) < _FEWEST:
                continue
            ratio = float(np.median(behind) / np.median(before))
            if not 1 / _OTHERWISE < ratio < _OTHERWISE:
                return int(row) + 1
    return None


def _without_lone(totals: Column) -> Column:
    """Return n totals, with that of its neighbours for each that differs from both: it was damaged, unless many do."""
    import numpy as np

    lone = np.pad((totals[:-2] == totals[2:]) & (totals[1:-1] != totals[2:]), 1)[: len(totals)]
    return np.where(lone, np.roll(totals, 1), totals) if lone.sum() <= _LONE * len(totals) else totals


def _first(found: NDArray[np.bool_], of: NDArray[np.float64]) -> int | None:
    """Return the first row after a difference that is found, and known."""
    import numpy as np

    rows = np.flatnonzero(found & np.isfinite(of))
    return int(rows[0]) + 1 if len(rows) else None
