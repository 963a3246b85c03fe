"""Paddle's `Model.fit` (`paddle.hapi`): a line, or a state of its bar, per `log_freq` steps of an epoch.

The time of a step is the mean since the epoch began, with the wait for data; it is a whole number of seconds,
milliseconds or microseconds. Numbers of one digit tell too little: such lines are left out, or no figure is made where
most are such. With `verbose=3` the samples per second of the job since the last line stand before it, exactly, and are
read instead. Evaluations and predictions print lines of the same form, behind a line that announces them. No line tells
the batch size. A step is a batch of each device, however many of them an update accumulates.
"""

from __future__ import annotations

import numpy as np

from perfledger.parsers.contract import Columns, Format, Postprocessed, Reading, carry, every, only, take, total
from perfledger.parsers.paddle import LAUNCHER

#: Whole numbers below this are rounded by more than a twentieth.
_COARSE = 10
#: Lines that say what follows: an epoch, or an evaluation or prediction. Those of other programs may stand in between.
_SOON = rb"(?=(?:\r?\n[^\n]{0,400}+){0,30}?\r?\n[\x08\r]*+step ++%s/)"
_EPOCH = rb"(?<![^\r\n]E)poch <epoch>/<total_epochs>[ \t]*+\r?$" + _SOON % b"[0-9]++"
_OTHER = rb"(?<![^\r\n][EP])(?:(?<=E)val|(?<=P)redict) begin\.\.\.[ \t]*+" + _SOON % b"<_other>"
_STEP = (
    rb"(?<![^\r\n\x08]s)tep ++<step>/<total_steps> (?:\[[=>.]++\] )?+(?:- loss: <loss>(?: -?+[0-9][0-9.e+-]*+)*+ )?+"
)
#: Metrics and the time that is left, up to what is looked for.
_FIELDS = (
    rb"(?:- (?!avg_reader_cost: |loss: |[0-9]++[mu]?s/)[^\r\n\x08-]++(?:-(?! )[^\r\n\x08-]*+)*+|-(?! )[^\r\n\x08-]*+)*+"
)
_TIME = rb"- (?:(?=<_milliseconds>ms)|(?=<_microseconds>us))?+(?P<duration>[0-9]++)[mu]?s/step(?![^\s\x08])"


def _steps(time: bytes) -> bytes:
    """Return a pattern for steps with such a time, and for the lines that say what they are of.

    It begins with the first letters of all these: `re` finds letters eight times as fast as what stands in front of them.
    """
    return rb"(?m)[EPs](?:" + _EPOCH + rb"|" + _OTHER + rb"|" + _STEP + _FIELDS + time + rb")"


def _of_training(columns: Columns) -> Postprocessed:
    """Keep the lines of epochs; those of evaluations and predictions go, with the lines that announce them."""
    rows = every(columns)
    begun, other = (
        np.maximum.accumulate(np.where(np.isfinite(columns[name]), rows, -1)) for name in ("epoch", "_other")
    )
    return take(columns, begun > other)


_STEPS = (_of_training, carry("epoch", "total_epochs"), only("step"))


def _timed(columns: Columns) -> Postprocessed:
    """Turn mean seconds per step into those of all steps; lines that are too coarse go, or if most are, get NaN."""
    printed, milli, micro = (columns[name] for name in ("duration", "_milliseconds", "_microseconds"))
    unit = np.where(np.isfinite(milli), 1e-3, np.where(np.isfinite(micro), 1e-6, 1.0))
    fine = printed >= _COARSE
    seconds = np.where(fine, printed * unit * columns["step"], np.nan)
    return take({**columns, "duration": seconds}, fine | (2 * fine.sum() < len(fine)))


FORMAT = Format(
    title="Paddle Model.fit",
    framework="PaddlePaddle",
    start=rb"The loss value printed in the log is the current step, and the metric is the average value of previous steps?\.",
    readings=(
        Reading(_steps(_TIME), unit="samples/s", running_mean=1, verbs=(*_STEPS, _timed)),
        Reading(
            _steps(
                rb"- avg_reader_cost: <reader_seconds> sec - avg_batch_cost: <_batch_cost> sec - ips: <throughput> samples/sec "
            ),
            unit="samples/s",
            verbs=(*_STEPS, total("step_seconds", "reader_seconds", "_batch_cost")),
        ),
    ),
    facts=LAUNCHER,
)  # fmt: skip
