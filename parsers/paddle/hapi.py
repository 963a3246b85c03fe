"""Paddle's `Model.fit` (`paddle.hapi`): a line, or a state of its bar, per `log_freq` steps of an epoch.

The time of a step is the mean since the epoch began, with the wait for data; it is a whole number of seconds,
milliseconds or microseconds. Numbers of one digit are too coarse: such lines do not count. With `verbose=3` the samples
per second of the job since the last line precede it with more digits, and are read instead. Evaluations and predictions
print lines of the same form, after a line that announces them. The log does not state the batch size. A step is a batch of each device, however many of them an update accumulates.
"""

from __future__ import annotations

from perfledger.parsers.contract import Format, Reading, carry, fine, only, total, within
from perfledger.parsers.paddle import LAUNCHER

#: Lines that say what follows: an epoch, or an evaluation or prediction. Those of other programs may come in between.
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
#: Lines of steps, and those that say what they are of, begin with these letters: `re` finds letters eight times as fast
#: as what precedes them.
_LINES = rb"(?m)[EPs](?:" + _EPOCH + rb"|" + _OTHER + rb"|" + _STEP + _FIELDS
#: Units of the time of a step, in seconds.
_UNITS = {b"ms": 1e-3, b"us": 1e-6, b"s": 1.0}
_STEPS = (within("epoch", "_other"), carry("epoch", "total_epochs"), only("step"))


FORMAT = Format(
    title="Paddle Model.fit",
    framework="PaddlePaddle",
    start=rb"The loss value printed in the log is the current step, and the metric is the average value of previous steps?\.",
    readings=(
        *(
            Reading(
                _LINES + rb"- <step_seconds:%s>%s/step(?![^\s\x08]))" % (unit, unit),
                unit="samples/s",
                running_mean=1,
                verbs=(*_STEPS, fine("step_seconds", seconds)),
            )
            for unit, seconds in _UNITS.items()
        ),
        Reading(
            _LINES + rb"- avg_reader_cost: <reader_seconds> sec - avg_batch_cost: <_batch_cost> sec - ips: <throughput> samples/sec " + rb")",
            unit="samples/s",
            verbs=(*_STEPS, total("step_seconds", "reader_seconds", "_batch_cost")),
        ),
    ),
    facts=LAUNCHER,
)  # fmt: skip
