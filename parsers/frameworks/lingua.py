"""Meta Lingua and programs made of it: a line per `logging.freq` steps, with tokens per second of one device.

`wps` counts the interval since the line before, in three digits, with the checkpoint and the evaluation that lie in it.
`iter` and `data` are seconds of the last batch alone. Copies print more fields, some of them before `wps`. The year has
two digits, so that the clock is the time of day. Every rank prints its own lines.
"""

from perfledger.parsers.contract import Fact, Format, Pause, Reading
from perfledger.parsers.frameworks import PYTORCH_JOB

#: torchtitan prints it after another stamp.
_JOB = rb"(?<=:[0-9]{2} - )Starting job: "


FORMAT = Format(
    title="Meta Lingua",
    framework="PyTorch",
    unproven=True,
    # Every rank prints this, one after the other: together they are one start.
    start=_JOB + rb"(?:(?:(?!step: |" + _JOB + rb")[^\n])*+\n(?:(?![^\n]*?(?:step: |" + _JOB + rb"))[^\n]*+\n){0,299}+[^\n]*?" + _JOB + rb")*+",
    readings=(
        Reading(
            "{?{clock} - {*} - }step: {step}  {*}loss: {loss}  {*}  flops: {flops:in FLOP/s}  {*}wps: {throughput}  iter: ",
            unit="tokens/s",
            scope="device",
            per_update=True,
            ranks="median",
            pauses=(Pause("checkpoint", "Saving to: "),),
        ),
    ),
    facts=(
        Fact("parameters", "Model size: {:,} total parameters"),
        Fact("gpu", rb"\bGPU capacity: ([^\n(]{1,200}?) \([0-9]++\) with "),
        *PYTORCH_JOB,
    ),
)  # fmt: skip
