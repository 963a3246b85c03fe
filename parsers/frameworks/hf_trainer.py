"""Hugging Face Trainer (`transformers`, and TRL over it): a summary at the end, losses during training, and tqdm's bar.

`train_samples_per_second` of the summary is the throughput of the job over the whole run, including evaluation and
saving; for a resumed run it counts what was trained before as well, and is too high. Every node prints the summary, and
a table may follow; they count once. During training only the bar tells the time: seconds per optimiser step, which tqdm
smooths over the last few steps, so a record is not the time of a single step. A slow start shows in the first dozen of
them, and a resumption in the first thirty: these are no records. The bars of evaluations have the same form and
interrupt it; those of tokenising and loading begin with a name. Later versions print numbers in quotes. Before 4.7
(2021) the summary has no `train_steps_per_second`, and its `train_samples_per_second` are optimiser steps per second.
After a resumption `train_loss` is the sum of the losses since then divided by the steps of the whole run, which shows
the resumption. Unsloth prints a banner of its own in place of the head, on every rank; the devices that it counts are
those of one process, or copies of the model. LLaMA-Factory's console prints `throughput` as well, and Open-Instruct
`TPS`, tokens per second since the start with everything in it. Since the autumn of 2025 each dictionary may tell the
tokens and the seconds since the start (`num_input_tokens_seen`, `train_runtime`): of a log without the bar their
differences count. The examples that do without the Trainer (`no_trainer`) print the same head and draw the same bar.

A checkpoint is silent by default. It shows as a long step behind an epoch, or a multiple of `save_steps`, which a
configuration or a command may state, or else of 500, and by warnings of what saves. Where nothing states it, long steps
behind all multiples of some number tell it, unless the first step is as long: optimisers exist that do more work every
few hundred steps, and begin with it. Another long step counts as training. Behind an evaluation the bar is drawn again
at the step before it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from perfledger.parsers.contract import (
    NUMBER,
    Column,
    Columns,
    Fact,
    Format,
    Indices,
    Pause,
    Postprocessed,
    Reading,
    grouped,
    lacks,
    medians,
    says,
)
from perfledger.parsers.frameworks import ACCELERATE, PYTORCH_JOB, SEVERAL

#: Nodes that print side by side may differ by so many steps.
_LAG = 3
#: From a line of one bar to that of another, a step seems to take at least so many times the usual seconds.
_JUMP = 3.0
#: Smoothing factor of tqdm: the share of its mean that an update keeps.
_KEPT = 0.7
#: A start is slow if it takes so many times the usual seconds.
_SLOW = 1.5
#: A slow start affects the mean while it adds this share to it.
_SHOWN = 0.01
#: The same if few records are left without those.
_SHOWN_OF_FEW = 0.05
#: Seconds that are printed with two decimals are at least this share of what they were.
_ROUNDED_DOWN = 0.95
#: Records that show a resumption.
_FEW = 3
#: Records that are enough without those of the start of a bar.
_ENOUGH = 10
#: Losses that show which bar is that of training.
_SURE = 2
#: Seconds that a step with a pause takes more than others, at least.
_PAUSED = 2.0
#: The same in usual steps.
_STALLED = 3.0
#: Share of the steps with a checkpoint after which its time is visible.
_REGULAR = 0.9
#: Share of that time that passes before the first step, at most.
_AT_FIRST = 0.5
#: An epoch that is rounded to hundredths differs by so much.
_ROUNDED = 0.00501
#: A speed that is rounded to thousandths differs by so much.
_ROUNDED_RATE = 0.0005
#: Share by which two stretches of a straight line differ in their slope, at most.
_STRAIGHT = 0.02
#: Records that are missing at its end, at most.
_NEAR = 1.5
#: The same as a share of all records.
_SKIPPED = 0.1
#: Two numbers of four digits each differ by this share from what they were.
_ROUNDED_DIGITS = 0.0011
#: Steps that a speed of three decimals and its seconds tell are known but for this share.
_ROUNDED_COUNT = 0.01
#: A batch size that two rounded speeds tell differs by less than this share, and by more from that of other samples.
_NOT_ALIKE = 0.2
#: Steps from a checkpoint to the next where nothing states them.
_SAVED_EVERY = 500.0
#: Records after one with an evaluation whose smoothed speed still shows it.
_LINGERS = 12
#: Records after a pause of any length that may show it: its weight is a billionth after sixty.
_SEEN = 60


@dataclass(frozen=True)
class _Bar:
    """The bar of training of one program: n steps, each of which may be drawn several times.

    `rows`: the row that first shows a step. `seconds`: per step, as printed: smoothed. `shown`, `left`: the seconds of
    the bar when the step is first and last drawn. `saved_every`: steps from a checkpoint to the next, and of an epoch.
    `ordered`: its seconds never go back, as they may where several nodes print.
    """

    rows: Indices
    steps: Column
    seconds: Column
    shown: Column
    left: Column
    saved_every: tuple[float, ...]
    ordered: bool

    @property
    def between(self) -> Column:
        """Return the seconds from one step to the next, without those of an evaluation behind it, n - 1 values."""
        return np.diff(self.shown) - np.where(self.evaluated, self.left - self.shown, 0.0)[:-1]

    @property
    def usual(self) -> float:
        """Return the seconds of a usual step."""
        return float(np.median(self.between / np.diff(self.steps))) if len(self.steps) > 1 else 1.0

    @property
    def stalled(self) -> NDArray[np.bool_]:
        """Return whether so much time lies between two steps that it must hold something else, n - 1 values."""
        usual = self.usual
        found: NDArray[np.bool_] = self.between - usual * np.diff(self.steps) >= _PAUSED + _STALLED * usual
        return found

    def saved(self, rarer: float = 0.0) -> NDArray[np.bool_]:
        """Return behind which steps a checkpoint may be saved, n - 1 values, with at least so many steps in between."""
        found = np.zeros(max(0, len(self.steps) - 1), dtype=np.bool_)
        for every in self.saved_every:
            if every > rarer:
                found |= np.mod(self.steps[:-1], every) == 0
        return found

    @property
    def evaluated(self) -> NDArray[np.bool_]:
        """Return behind which steps the bar of a single node is drawn again later, n values."""
        found: NDArray[np.bool_] = (self.left - self.shown >= _PAUSED) & self.ordered
        return found


def _lines_of_training(columns: Columns) -> tuple[Indices, Column, Column, bool]:
    """Return the lines of the bar of optimiser steps, their steps and seconds, and whether it is that of one program.

    Where another program draws it anew, the steps count from 1 again.
    """
    seconds = np.where(np.isfinite(columns["step_seconds"]), columns["step_seconds"], 1.0 / columns["steps_per_second"])
    stated = columns["_stated_total"][np.isfinite(columns["_stated_total"])]
    drawn = np.flatnonzero((seconds > 0) & (columns["step"] < columns["_total"]))
    steps, totals, elapsed = (columns[name][drawn] for name in ("step", "_total", "clock"))
    evaluated = columns["_eval_seconds"] * columns["_eval_rate"]
    total = stated[0] if len(stated) else _total(steps, totals, elapsed, columns["_told"][drawn], evaluated)
    of_total = np.flatnonzero(totals == total)
    end = stated[0] - _LAG if len(stated) == 1 else np.inf
    kept = of_total[_uninterrupted(steps[of_total], elapsed[of_total], float(end))]
    rows, steps, elapsed = drawn[kept], steps[kept], elapsed[kept]
    lag = max(_LAG, 0.1 * steps.max(initial=0.0))
    anew = np.flatnonzero((np.diff(steps) < -lag) | (elapsed[1:] < 0.5 * elapsed[:-1] - _LAG)) + 1
    # The bars of several nodes may stand one after another; each node states the total.
    if len(anew) >= max(1, len(stated)):
        for row in anew:
            steps[row:] += 1 - steps[row]
        return rows, steps, seconds[rows], False
    return rows, steps, seconds[rows], True


def saved_every(columns: Columns, total: float) -> tuple[float, ...]:
    """Return after how many steps checkpoints may be saved: as stated, or as by default, and after each epoch of `total` steps."""
    stated, epoch = float(columns["_saved_every"][0]), total / float(columns["_total_epochs"][0])
    return (stated if np.isfinite(stated) else _SAVED_EVERY, *((epoch,) if epoch.is_integer() else ()))


def _regular(begins: Column, more: Column, long: NDArray[np.bool_], at_first: float) -> tuple[float, ...]:
    """Return after how many steps a checkpoint is saved, where the long ones of n intervals tell it.

    Args:
        begins: the step behind which each interval begins.
        more: seconds of each beyond the usual ones.
        long: which of them are long.
        at_first: seconds beyond the usual ones before the first interval.
    """
    if long.sum() < _FEW or at_first > _AT_FIRST * float(np.median(more[long])):
        return ()
    every = float(np.median(np.diff(begins[long])))
    due = (np.mod(begins, every) == 0) & (begins > 0) if every > 0 else np.zeros_like(long)
    return (every,) if due.sum() >= _FEW and long[due].mean() >= _REGULAR else ()


def _bar(columns: Columns, rows: Indices, steps: Column, seconds: Column) -> _Bar:
    """Return the steps of the lines of one program, the median where several nodes print them."""
    elapsed = columns["clock"][rows]
    steps, first, group = np.unique(steps, return_index=True, return_inverse=True)
    left = elapsed[first]
    np.maximum.at(left, group.ravel(), elapsed)
    taken = medians(seconds, group.ravel())
    every = saved_every(columns, float(columns["_total"][rows[0]]) if len(rows) else math.nan)
    ordered = bool((np.diff(elapsed) >= 0).all())
    bar = _Bar(rows[first], steps, taken, elapsed[first], left, every, ordered)
    if not bar.stalled.any():
        return bar
    more = bar.between - bar.usual * np.diff(steps)
    seen = _regular(steps[:-1], more, bar.stalled, float(bar.shown[0] - bar.usual * steps[0]))
    return replace(bar, saved_every=(*every, *seen))


def _bar_of_training(columns: Columns) -> tuple[Indices, Columns]:
    """Return one row per step of the bar of optimiser steps, with its smoothed seconds.

    Steps whose speed shows how the bar began, or a checkpoint that nothing else tells of, are left out; all, where a
    terminal kept a line or two of its middle. Where another program draws the bar anew, every line is a row.
    """
    if "step" not in columns:
        return np.empty(0, np.intp), {}
    rows, steps, seconds, is_one = _lines_of_training(columns)
    if not is_one:
        return rows, {"step": steps, "step_seconds": seconds}
    bar = _bar(columns, rows, steps, seconds)
    chosen = np.arange(_warmed_up(bar.steps, bar.seconds, bar.shown), len(bar.steps))
    chosen = chosen[~_shows_pause(bar)[chosen]]
    if len(bar.steps) < _FEW and (bar.steps > 1).all():
        chosen = chosen[:0]
    return bar.rows[chosen], {"step": bar.steps[chosen], "step_seconds": bar.seconds[chosen]}


def _shows_pause(bar: _Bar) -> NDArray[np.bool_]:
    """Return which records a smoothed speed makes unfit that no line of a pause tells of.

    These are a dozen behind each multiple of `save_steps` and each epoch, where a silent checkpoint may lie, and those that show a
    checkpoint or an evaluation for longer, since it took so many steps' time. Where checkpoints are so frequent that
    few records would be left, only those that took a noticeable time count.
    """
    took = np.where(bar.stalled, bar.between, 0.0)
    evaluated = np.where(bar.evaluated, bar.left - bar.shown, 0.0)[:-1]
    always = bar.saved(2 * _LINGERS)
    shows = _still_shown(bar, np.where(bar.saved(), took, 0.0), 0, always)
    return shows | _still_shown(bar, np.maximum(took, evaluated), _LINGERS, np.zeros_like(always))


def _still_shown(bar: _Bar, paused: Column, first: int, always: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return the records, from the `first` one behind a pause on, that show it.

    Args:
        bar: n steps.
        paused: seconds of the pause behind each step but the last, or 0.
        first: of the records behind a pause.
        always: behind which steps a dozen records show a pause of whatever time.
    """
    shows = np.zeros(len(bar.steps), dtype=np.bool_)
    usual = float(np.median(bar.seconds)) if len(bar.seconds) else 1.0  # of fast steps the bar shows no other
    for row in np.flatnonzero((paused > 0) | always):
        later = slice(row + 1 + first, row + 1 + _SEEN)
        # Where few states of the bar are left, it was drawn between them.
        after = np.minimum(bar.shown[row + 1], bar.shown[row] + paused[row] + usual)
        since = np.minimum(bar.steps - bar.steps[row] - 1, 10 * (bar.shown - after + 1))[later]
        shows[later] |= paused[row] / usual * (1 - _KEPT) * _KEPT**since > _SHOWN
        if always[row]:
            shows[later] |= since <= _LINGERS
    return shows


def holds_checkpoint(step: Column, clock: Column, every: tuple[float, ...]) -> Column:
    """Return 1 for each record of many steps that is slow, and within which a checkpoint may be saved, else 0."""
    apart, took = np.diff(step, prepend=np.nan), np.diff(clock, prepend=np.nan)
    with np.errstate(all="ignore"):
        rates = took / apart
    if np.isnan(rates).all():
        return np.zeros(len(step))
    usual = float(np.nanmedian(rates))
    may, more = np.zeros(len(step), dtype=np.bool_), took - usual * apart
    slow = more >= _PAUSED + _STALLED * usual
    seen = _regular(step[:-1], more[1:], slow[1:], float(clock[0] - usual * step[0]))
    for each in (*every, *seen):
        may |= np.floor((step - 1) / each) * each >= np.maximum(step - apart, 1)
    return (may & slow).astype(float)


def _warmed_up(steps: Column, seconds: Column, elapsed: Column) -> int:
    """Return the first record whose smoothed speed no longer shows how the bar began.

    With each update that it draws tqdm takes three tenths of the new seconds and seven of its mean, which it divides by
    the weights so far; it draws ten updates in a second at most. The first update may be slow, and that of a resumed run
    counts all steps before it, in no time.
    """
    if len(steps) < _FEW:
        return 0
    pace, usual = (elapsed[-1] - elapsed[0]) / (steps[-1] - steps[0]), float(np.median(seconds[len(seconds) // 2 :]))
    resumed = seconds[0] * _SLOW <= pace and elapsed[0] * _SLOW <= steps[0] * pace
    if not resumed and seconds[0] < _SLOW * usual:
        return 0
    begun, excess = (1.0, steps[0] - 1) if resumed else (steps[0], seconds[0] / usual - 1)
    since = np.minimum(steps - steps[0], 10 * (elapsed - elapsed[0] + 1))
    weight = _KEPT**since * (1 - _KEPT**begun) / (1 - _KEPT ** (begun + since))
    shown = excess * weight
    early = int((shown > _SHOWN).sum())
    if len(steps) - early >= _ENOUGH:
        return early
    # No mean falls so fast, or shows as long: such a bar is not smoothed.
    if not resumed and (len(steps) > _SEEN or (seconds < _ROUNDED_DOWN * weight * seconds[0]).any()):
        return 0
    return int((shown > _SHOWN_OF_FEW).sum())


def _total(steps: Column, totals: Column, elapsed: Column, told: Column, evaluated: Column) -> float:
    """Return what the bar of training counts up to, where nothing states it; NaN where only evaluations drew any.

    Training goes on where an evaluation interrupted it, and the next evaluation begins at its first batch again. It
    begins before the first evaluation, and it may take less time than that; else it is the bar that lasted longest. Losses
    are told behind it, so that one without any is a program's own; or that of an evaluation, which tells its steps.
    """
    evaluated = np.unique(np.round(evaluated[np.isfinite(evaluated)]))

    def unlikely(total: float) -> tuple[int, bool, float]:
        own = np.flatnonzero(totals == total)
        is_first = own[0] == 0 and steps[0] == 1
        return int((np.diff(steps[own]) < -_LAG).sum()), not is_first, -float(elapsed[own].max())

    behind, often = np.unique(totals[np.isfinite(told)], return_counts=True)
    drawn = (each for each in np.unique(totals) if each in behind or not _is_near(evaluated, float(each)))
    found = float(min(drawn, key=unlikely, default=math.nan))
    if found in behind or often.max(initial=0) < _SURE:
        return found
    return float(min(behind[often == often.max()].tolist(), key=unlikely))


def _is_near(counts: Column, total: float) -> bool:
    """Return whether one of some counts, which follow from a rounded speed, is a total."""
    return bool((np.abs(counts - total) <= 1 + _ROUNDED_COUNT * total).any())


def _uninterrupted(steps: Column, elapsed: Column, end: float) -> Indices:
    """Return the lines of a bar without those of an evaluation that has as many steps.

    Its bar begins within that of training, which goes on with the next step behind it. A bar that reaches that step by
    itself is of another program. Where one program stated its length, no training begins behind the step `end`.
    """
    kept = np.ones(len(steps), dtype=np.bool_)
    with np.errstate(all="ignore"):  # A line may be drawn twice.
        pace = np.diff(elapsed, prepend=0.0) / np.diff(steps, prepend=0.0)
    for row in np.flatnonzero(np.diff(steps) < -_LAG) + 1:
        if not kept[row - 1]:
            continue
        if steps[row - 1] >= end:
            kept[row:] = False
            break
        goes_on = (np.abs(steps[row:] - steps[row - 1]) <= 1) & (elapsed[row:] >= elapsed[row - 1])
        behind = row + int(np.argmax(goes_on))
        usual = elapsed[behind - 1] / steps[behind - 1]
        if goes_on.any() and not 0 < pace[behind] < _JUMP * usual:
            kept[row:behind] = False
    return np.flatnonzero(kept)


def _told_once(columns: Columns) -> tuple[Indices, Columns]:
    """Return the losses without those that are told again: AutoTrain logs a dictionary before the Trainer rounds it.

    Of a run that was ended early the last one says how many epochs were planned.
    """
    if not columns:
        return np.empty(0, np.intp), {}
    with np.errstate(all="ignore"):
        again = (np.diff(columns["loss"]) == 0) & (np.abs(np.diff(columns["epoch"])) <= _ROUNDED)
    rows = np.flatnonzero(np.concatenate([[True], ~again])) if len(columns["loss"]) else np.empty(0, np.intp)
    planned = np.full(len(rows), np.nan)
    planned[-1:] = _planned(columns["epoch"][rows], columns["_rate"][rows])
    return rows, {name: columns[name][rows] for name in ("loss", "epoch")} | {"total_epochs": planned}


def _planned(epoch: Column, rate: Column) -> float:
    """Return the epoch at which a learning rate that falls in a line becomes zero; NaN if the last record is near it."""
    if len(epoch) < _FEW:
        return math.nan
    far = len(epoch) // 3
    points = slice(-1 - 2 * far, None, far)
    (first, middle, last), told = rate[points], epoch[points]
    if not (
        first > middle > last > 0
        and abs((first - middle) / (middle - last) - 1) <= _STRAIGHT
        and (np.diff(told) > 0).all()
    ):
        return math.nan
    left = last / (middle - last)
    # Steps that overflowed left the rate as it was.
    ends = left * far <= max(_NEAR, _SKIPPED * len(epoch))
    return math.nan if ends else float(told[2] + left * (told[2] - told[1]))


def _of_planned_steps(columns: Columns) -> tuple[Indices, Columns]:
    """Return what a call of the Trainer returned, with the steps that its speeds count: at least so many."""
    rows, found = np.arange(len(columns["step"])), {name: each for name, each in columns.items() if name != "_planned"}
    return rows, found | {"total_steps": (columns["_planned"] - _ROUNDED_RATE) * columns["seconds"]}


def _of_last_bar(columns: Columns) -> tuple[Indices, Columns]:
    """Return summaries with the step that the bar behind them came to, where it counts up to the steps of the summary.

    The speeds count the steps that were planned, also where a run was ended early. Where output is buffered another bar
    may stand behind a summary.
    """
    rate = columns["_planned"] if "_planned" in columns else columns["steps_per_second"]
    with np.errstate(all="ignore"):
        apart = np.abs(columns["total_steps"] / (rate * columns["seconds"]) - 1)
        own = apart <= _ROUNDED_RATE / rate + _ROUNDED_DIGITS
    told = {name: np.where(own, columns[name], np.nan) for name in ("step", "total_steps")}
    return np.arange(len(own)), {name: each for name, each in columns.items() if name != "_planned"} | told


def _of_completions(columns: Columns) -> tuple[Indices, Columns]:
    """Return summaries whose speed counts what a batch counts: of a given number of epochs they count prompts."""
    batch = columns["_batch_size_of_job"][0]
    with np.errstate(all="ignore"):
        others = np.abs(columns["throughput"] / columns["_planned"] / batch - 1) > _NOT_ALIKE
    rows, found = _of_last_bar({name: each for name, each in columns.items() if name != "_batch_size_of_job"})
    return rows, dict(found) | {"throughput": np.where(others, np.nan, columns["throughput"])}


def _since_the_start(columns: Columns) -> Postprocessed:
    """Return the rows of tokens and seconds since the start, with those that hold a checkpoint.

    Of their steps the rows tell the share of an epoch, rounded.
    """
    consumed, clock, epoch = (columns[name] for name in ("consumed", "clock", "_epoch"))
    total = float(columns["_total_steps"][0])
    with np.errstate(all="ignore"):
        row = float(np.ptp(epoch)) / max(1, len(epoch) - 1)
        apart = np.fmax(1.0, np.round(row * total / columns["_total_epochs"][0]))
        step = np.round(epoch / row) * apart
    even = bool((np.diff(step) > 0).all())
    saved = holds_checkpoint(step, clock, saved_every(columns, total)) if even else np.zeros(len(step))
    return np.arange(len(step)), {"consumed": consumed, "clock": clock, "evaluated": saved}


#: `2.5` or `'2.5'`, as a column.
_VALUE = rb"'?+(?P<%s>" + NUMBER + rb")'?+"
_RATE = rb"(?:(?=(?:(?!'learning_rate': |'epoch': )[^{}\r\n])*+'learning_rate': " + _VALUE % b"_rate" + rb",))?+"
_AHEAD = rb"(?:(?!'train_|'epoch': )[^{}\r\n])*+"
#: A notebook prints an item a line, and a page wraps what is long.
_SPEED = (
    _VALUE % b"seconds"
    + rb",\s++'train_samples_per_second': "
    + _VALUE % b"throughput"
    + rb",\s++'train_steps_per_second': "
)
_PLANNED = rb"(?:" + _VALUE % b"_planned" + rb"(?=[,}]))?+"
#: The epoch that the run came to, in its summary, whose speeds count the steps that were planned. Tokens may follow.
_LAST_EPOCH = rb"(?:[^{}]*?'epoch': " + _VALUE % b"epoch" + rb"(?=[,}]))?+"
#: Between it and the speeds a speed of tokens may stand.
_MEAN_LOSS = rb"(?:[^{}]*?'train_loss': " + _VALUE % b"mean_loss" + rb"(?=[,}]))?+"

#: What the bar came to, which is drawn again behind the summary.
_LAST_BAR = rb"(?:[^{}]{0,2000}+\}\s*+(?:Train: ++)?+[0-9]++%(?:\|[^|\r\n]{0,400}+\|)?+ <step>/<total_steps> \[)?+"

#: The table behind the training, up to its speed. An evaluation of the data of the training has one of this name as well,
#: with what it measured.
_TABLE = (
    rb"\*{5} train metrics \*{5}[^\n]{0,200}+\n(?:[^\n=]*?\bepoch ++= ++" + _VALUE % b"epoch" + rb"[^\n]*+\n)?+"
    rb"(?:[^\n=]*?\b(?:num_input_tokens_seen|total_flos|init_mem_\w++) ++= [^\n]*+\n)*+"
    rb"(?:[^\n=]*?\btrain_loss ++= ++" + _VALUE % b"mean_loss" + rb"[^\n]*+\n)?+"
    rb"(?:[^\n=]*?\b(?:train_(?:runtime|samples)|\w++_mem_\w++) ++= [^\n]*+\n)*+"
)

#: Unsloth's banner before training; the one before it, of the model, is alike but for the words behind its name.
_UNSLOTH = rb"==\(\(====\)\)==  Unsloth - [^|\r\n]{0,80}+\| Num GPUs (?:used )?+= "
#: A whole number behind the name of an argument: `--name 4`, `name=4,`, `name: 4` or `"name": 4,`.
_STATED = rb"[\"']?+(?:=|: ?+| )([1-9][0-9]*+)(?=[\s,)}]|\Z)"
_HEAD = rb"\*{5} Running training \*{5}"
#: In its banner `Num GPUs used` are those of a process: one, unless the model is spread over several.
_TO_COPIES = rb"(?:(?!Data Parallel GPUs = |Unsloth)[\s\S]){0,1000}+Data Parallel GPUs = "


#: A bar, from its share up to its steps; and that of a program that begins.
_DRAWN = rb"%(?:\|[^|\r\n]{0,400}+\|)?+ "
_BEGUN = rb" 0/[0-9]++ \[00:00<\?"
_LOSSES = rb"\{'loss': "


def _once(banner: bytes) -> bytes:
    """Return the pattern of a banner, which every node prints before any of them takes a step or crashes: one start."""
    again = (
        rb"(?:(?:(?![0-9]it/s|[0-9]s/it|'train_runtime': |, Epoch [0-9]|Traceback \(most |%s)[\s\S]){0,60000}?%s)*+"
        % (
            _LOSSES,
            banner,
        )
    )
    # The bars behind it are its own.
    return banner + again + rb"(?:(?!%s|%s|%s)[\s\S]){0,200000}+" % (_LOSSES, _HEAD, _UNSLOTH)


def _unannounced() -> bytes:
    """Return the pattern of a run without a banner: its bar, or of others but the first its losses.

    Evaluations draw bars as well: that of training is drawn again behind the losses, and they tell what they found.
    """
    until = rb"(?:(?!%s|%s|\{'eval_)[\s\S]){0,200000}+%s" % (_LOSSES, _BEGUN, _LOSSES)
    told = until + rb"[^{}\r\n]{1,1000}+\}\s*+(?:Train: ++)?+[0-9]++" + _DRAWN + rb"[0-9]++/(?P=total) \["
    bar = _DRAWN + rb"0/(?P<total>[0-9]++) \[00:00<\?(?=" + told + rb")"
    # Another node may end later: its losses are of the epoch of the summary.
    ends, epoch = rb"\{'train_runtime': ", rb"[^{}\r\n]{1,1000}?'epoch': "
    apart = rb"(?:(?!%s|%s|%s|%s|%s)[\s\S]){0,200000}+" % (ends, _LOSSES, _BEGUN, _HEAD, _UNSLOTH)
    begins = _LOSSES + rb"(?!" + epoch + rb"(?P=epoch)[,}])"
    return bar + rb"|" + ends + epoch + rb"(?P<epoch>[^,{}\r\n]++)" + apart + rb"(?P<start>" + begins + rb")"


def _adjusted(printed: bytes) -> int:
    """Return the batch size of a device: a process may drive several, or try a smaller one where memory ran out."""
    words = printed.split()
    return min(grouped(words[0]), grouped(words[-1]))


#: Where ranks share samples, each of them counts the same tokens.
_SHARED = rb"\b(?:[cst]p_size|(?:context|sequence|tensor)_parallel_(?:size|degree))[\"']?+(?:=|: ?+| )" + SEVERAL

_PAUSES = (
    Pause(
        "evaluation",
        rb"'eval_runtime': ",
    ),
    Pause("evaluation", rb"\*\*\*\*\* Running Evaluation"),
    Pause(
        "checkpoint",
        rb"Saving model checkpoint to ",
    ),
    # Those of the examples without the Trainer.
    Pause(
        "evaluation",
        rb"- __main__ - epoch [0-9]",
    ),
    Pause(
        "checkpoint",
        rb"Saving current state to ",
    ),
    # What tells of a checkpoint where the Trainer itself is silent.
    Pause(
        "checkpoint",
        rb"\] \[Torch\] Checkpoint \S{1,200}+ is about to be saved!",
    ),
    Pause(
        "checkpoint",
        rb"/peft/utils/(?:save_and_load|other)\.py:[0-9]++: UserWarning: ",
    ),
    # The bar of transformers 5, and Unsloth.
    Pause("checkpoint", rb"Writing model shards: "),
    Pause(
        "checkpoint",
        rb"Unsloth: Restored added_tokens_decoder metadata in ",
    ),
    Pause(
        "checkpoint",
        rb"Some non-default generation parameters are set in the model config\.",
    ),
)
_BAR = Reading(
    # ms-swift names the bar, and at first printed nothing else of its own.
    # A few steps within a second tell no speed: such a bar is of the splits of a data set, which is loaded before the head.
    rb"(?<![^\r\n]) *+(?:Train: ++)?+[0-9]++%(?:\|[^|\r\n]{0,400}+\|)?+ (?P<step>[1-9][0-9]*+)/(?!(?P=step) |[2-9] \[00:00<00:00, )(?P<_total>[0-9]++) \[(?P<elapsed>[0-9:]++)<[0-9:?]++, ++"
    # A narrow terminal cuts off the bracket.
    rb"(?:(?P<step_seconds>[0-9.]++)s/it|(?P<steps_per_second>[0-9.]++)it/s)(?=[\],/\s])"
    # What is printed late, from a buffer, comes in blocks.
    rb"(?:[^\r\n{]{0,200}+\s*+(?=\{'loss': '?+-?+(?P<_told>[0-9])[^{}\r\n]{1,1000}+\}\s*+(?!\{)))?+|"
    rb"(?:Total optimization|\| Total) steps = (?P<_stated_total>[0-9,]++)(?=\s)|"
    rb"'eval_runtime': '?+(?P<_eval_seconds>[0-9.]++)'?+, (?:'eval_(?!steps)\w++': [^,{}\r\n]++, )*+'eval_steps_per_second': '?+(?P<_eval_rate>[0-9.]++)(?=['},][^{}\r\n]{0,400}+\}?[ \t]*+[\r\n])",
    unit="samples/s",
    per_update=True,
    weak=True,
    pauses=_PAUSES,
    lingers=_LINGERS,
    verbs=(_bar_of_training,),
)

#: The speeds of a whole run, on every node.
_SUMMARY = Reading(
    rb"\{'train_runtime': (?<!metrics=\{'train_runtime': )" + _SPEED + _PLANNED + _MEAN_LOSS + _LAST_EPOCH + _LAST_BAR,
    unit="samples/s",
    span="run",
    verbs=(_of_last_bar,),
)
#: What TRL prints where a model answers prompts: a batch counts answers, several to a prompt, examples and epochs count prompts.
_GENERATED = rb"'completion"


def _of_examples(name: str, pattern: bytes) -> Fact:
    """Return a fact that counts examples, for logs where a batch counts the same."""
    return Fact(name, pattern, grouped, first=True, where=lacks(_GENERATED))


FORMAT = Format(
    title="Hugging Face Trainer",
    framework="PyTorch",
    needs=b"'epoch': ",
    # Unsloth may print its banner besides the head: both are one start.
    start=_once(rb"(?:%s|%s)" % (_HEAD, _UNSLOTH)) + rb"|" + _unannounced(),
    before_start=rb"^python[\d.]*+ |Training/evaluation parameters |^(?:Seq2Seq)?TrainingArguments\(|Process rank: -?+[0-9]"
    rb"|Distributed environment: |loading configuration file |\[WARNING\|logging\.py",
    end=rb"\{'train_runtime': |\*{5} train metrics \*{5}|Training completed\. Do not forget to share",
    readings=(
        _BAR,
        replace(_SUMMARY, where=lacks(_GENERATED)),
        replace(_SUMMARY, where=says(_GENERATED), verbs=(_of_completions,)),
        Reading(
            rb"TrainOutput\(global_step=<step>, (?:(?!metrics=)[^{}])*+metrics=\{'train_runtime': " + _SPEED
            + rb"(?P<_planned>[0-9.]++)," + _MEAN_LOSS + _LAST_EPOCH,
            unit="samples/s",
            span="run",
            verbs=(_of_planned_steps,),
        ),
        Reading(
            rb"\{'train_runtime': <seconds>,\s++'train_samples_per_second': <steps_per_second>(?=\}|,\s++'(?!train_)\w++': )" + _LAST_EPOCH + _LAST_BAR,
            unit="samples/s",
            span="run",
            per_update=True,
            verbs=(_of_last_bar,),
        ),
        Reading(
            _TABLE + rb"[^\n=]*?\btrain_samples_per_second ++= ++<throughput>(?=\s)[^\n=]*+\n[^\n]*?\btrain_steps_per_second ++=",
            unit="samples/s", span="run", weak=True,
        ),
        # Since the autumn of 2025, where tokens are counted. Floats in quotes have four digits, too few for differences.
        Reading(
            rb"\{'loss': (?:(?!'epoch': |'num_input_tokens_seen': )[^{}\r\n])*+(?:'epoch': (?P<_epoch>[0-9.]++), )?+"
            rb"'num_input_tokens_seen': <consumed>, 'train_runtime': (?P<elapsed>[0-9.]++), 'train_tokens_per_second': ",
            unit="tokens/s", per_update=True, pauses=_PAUSES, verbs=(_since_the_start,),
            where=lacks(_SHARED),
        ),
        # LLaMA-Factory's mean since the start, with everything in it.
        Reading(
            rb"\{'loss': [0-9.einaf]++, 'learning_rate': [0-9.e+-]++, 'epoch': [0-9.]++, (?:'(?!throughput)\w++': [-+.0-9einaf]++, )*+'throughput': <throughput>\}",
            unit="tokens/s", span="run", weak=True,
        ),
        # Open-Instruct's: its tokens are those of all devices, without padding.
        Reading(
            rb" - __main__ - ++Step: [0-9]++, LR: [-+.0-9e]++, Loss: [-+.0-9einfa]++, (?:Aux Loss: [-+.0-9einfa]++, )?+TPS: <throughput>(?=\s)",
            unit="tokens/s", span="run", weak=True,
        ),
        Reading(
            rb"\{'loss': " + _VALUE % b"loss" + rb", " + _RATE + _AHEAD + rb"'epoch': " + _VALUE % b"epoch" + rb"[,}]", verbs=(_told_once,)
        ),
    ),
    facts=(
        # Its twin of 2020 for TensorFlow.
        Fact("framework", rb"^ *+Steps per epoch = ([0-9]++)\r?\n *+Total optimization steps = ", lambda _: "TensorFlow"),
        # PaddleNLP's Trainer began as a copy, and printed its losses and its bar.
        Fact("framework", rb"\] \[ *+INFO\] - \*{5} (Running training) \*{5}", lambda _: "PaddlePaddle"),
        Fact("model", rb"--model_name_or_path[= ]'?+([\w./-]++)"),
        Fact("model", rb"loading configuration file https://huggingface\.co/([\w./-]+?)/resolve/"),
        Fact("model", rb'"_name_or_path": "([\w./-]++)"'),
        Fact("model", rb"--model_type[= ]([\w-]++)"),
        Fact("model", rb'^ *+"model_type": "([\w-]++)"'),
        Fact("batch_size", rb"Instantaneous batch size per device = ([0-9,]++\s++[^\n]{0,200}?Training with DataParallel so batch size has been adjusted to: [0-9,]++)", _adjusted),
        Fact("batch_size", rb"Instantaneous batch size per device = ([0-9,]++)", grouped),
        Fact("batch_size_of_job", rb"Total train batch size \(w\. parallel, distributed & accumulation\) = ([0-9,]++)", grouped),
        # Those of an evaluation stand before its batch size.
        _of_examples("data_set_size", rb"\bNum examples = ([0-9,]++)$(?!\r?\n[^\n]{0,200}?\bBatch size = )"),
        _of_examples("data_set_size", rb"\bNum examples = ([0-9,]++) \| Num Epochs = "),
        _of_examples("total_epochs", rb"\bNum Epochs = ([0-9,]++)(?= \| Total steps = | *+$)"),
        Fact("total_steps", rb"(?:\bTotal optimization|\| Total) steps = ([0-9,]++) *+$", grouped),
        Fact("resumed_from", rb"Continuing training from (?:global )?+step ([0-9,]++)", grouped),
        Fact("saved_every", rb"\bsave_steps[\"']?+(?:=|: ?+| )([1-9][0-9]*+)(?=[,\s])", int),
        Fact("accumulation", rb"Gradient [Aa]ccumulation steps = ([0-9,]++)", grouped),
        # Unsloth's.
        Fact("batch_size", rb"\bBatch size per device = ([0-9,]++) \| Gradient [Aa]ccumulation steps = ", grouped),
        Fact("batch_size_of_job", rb"\bTotal batch size \([0-9]++ x [0-9]++ x [0-9]++\) = ([0-9,]++) *+$", grouped),
        Fact("batch_size_of_job", rb"\bTotal batch size = ([0-9,]++) \| Total steps = ", grouped),
        Fact("devices", _UNSLOTH + rb"1\b" + _TO_COPIES + rb"([0-9]++) \|", int),
        Fact("devices", _UNSLOTH + rb"([0-9]++)\b" + _TO_COPIES + rb"1 \|", int),
        Fact("devices", _UNSLOTH + rb"(?<!used = )([0-9]++) *+$", int),
        Fact("parameters", rb"\bTrainable parameters = ([0-9,]++)(?=[ /]|$)", grouped),
        Fact("drop_last", rb"\bdataloader_drop_last=(True|False)\b"),
        Fact("parameters", rb"Number of trainable parameters = ([0-9,]++)", grouped),
        Fact("devices", rb"print\]   world_size \.++ ([0-9]++)", int),
        *PYTORCH_JOB,
        *ACCELERATE,
        Fact("devices", rb"Process rank: -1, device: [^\s,]++, n_gpu: (\d++)", int),
        # DeepSpeed's, which fills a column with dots.
        Fact("batch_size", rb"print\]   train_micro_batch_size_per_gpu \.*+ ([0-9]++)", int),
        Fact("batch_size_of_job", rb"print\]   train_batch_size \.++ ([0-9]++)", int),
        Fact("accumulation", rb"print\]   gradient_accumulation_steps \.++ ([0-9]++)", int),
        Fact("zero", rb"print\]   zero_optimization_stage \.++ ([0-9]++)", int),
        Fact("precision", rb"\b(bf16|fp16)=True\b", words={b"bf16": "bf16", b"fp16": "amp"}),
        # As a command, its arguments or a configuration state them.
        Fact("batch_size", rb"\b(?:per_device_train|micro)_batch_size" + _STATED, int),
        Fact("accumulation", rb"\bgradient_accumulation_steps" + _STATED, int),
        Fact("precision", rb"--(bf16|fp16)(?:[= ][Tt]rue)?+(?=[ \t]*+(?:\\?+$|--))", words={b"bf16": "bf16", b"fp16": "amp"}),
        Fact("precision", rb"^ *+[\"']?+(bf16|fp16)[\"']?+: [Tt]rue,?+$", words={b"bf16": "bf16", b"fp16": "amp"}),
        Fact("precision", rb"print\]   (bfloat16|fp16)_enabled \.++ True", words={b"bfloat16": "bf16", b"fp16": "amp"}),
        # LLaMA-Factory's.
        Fact("precision", rb"Process rank: (?:(?!, compute)[^\n]){0,200}+, compute dtype: torch\.(bfloat16|float16)\b", words={b"bfloat16": "bf16", b"float16": "amp"}),
        Fact("precision", rb"Using (?:amp|apex|cuda_amp|auto) (fp16) backend", words={b"fp16": "amp"}),
        Fact("precision", rb"\bbf16=False,\s(?:(?!\bbf16=False,|\bfp16=)[^{}]){0,6000}+\bfp16=(False),", words={b"False": "fp32"}),
    ),
)  # fmt: skip
