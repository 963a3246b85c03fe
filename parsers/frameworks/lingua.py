"""Meta Lingua and what is made of it: a line per `logging.freq` steps, with tokens per second of one device.

`wps` counts the interval since the line before, in three digits, with the checkpoint and the evaluation that lie in it.
`iter` and `data` are seconds of the last batch alone. Copies print more fields, some of them before `wps`. The year has
two digits, so that the clock is the time of day. Every rank prints its own lines.
"""

from perfledger.parsers.contract import (
    NUMBER,
    Fact,
    Format,
    NearMiss,
    Pause,
    Reading,
    Sample,
    grouped,
    up_to,
)
from perfledger.parsers.frameworks import PYTORCH_JOB

_STEP = rb"\bstep: [0-9]"
_STAMP = rb"(?:(?<=-[0-9]{2} )(?P<clock>[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{6}) - (?:-?[0-9]++ days?, )?+[0-9:]++ - )?+"
#: torchtitan says so behind another stamp.
_JOB = rb"(?<=:[0-9]{2} - )Starting job: "


FORMAT = Format(
    title="Meta Lingua",
    framework="PyTorch",
    marker=b"  wps: ",
    unproven=True,
    # Every rank prints this, one after the other: together they are one start.
    start=_JOB + rb"(?:(?:(?!step: |" + _JOB + rb")[^\n])*+\n(?:(?![^\n]*?(?:step: |" + _JOB + rb"))[^\n]*+\n){0,299}+[^\n]*?" + _JOB + rb")*+",
    readings=(
        Reading(
            _STAMP + rb"\bstep: <step>  " + up_to(rb"\bloss: ++", _STEP) + rb"<loss>  " + up_to(rb"(?<= )flops: ", _STEP)
            + rb"(?P<flops>" + NUMBER + rb")  " + up_to(rb"(?<=  )wps: ", _STEP) + rb"<throughput>  iter: ",
            unit="tokens/s",
            scope="device",
            counts="update",
            factors={"flops": 1e-12},
            repeated=True,
            pauses=(
                Pause("checkpoint", rb"Saving to: ", b"0: INFO    26-11-20 10:11:12.500000 - 0:01:12 - Saving to: /ckpt/0000000500"),
            ),
        ),
    ),
    facts=(
        Fact("parameters", rb"\bModel size: ([0-9,]++) total parameters", grouped),
        Fact("gpu", rb"\bGPU capacity: ([^\n(]{1,200}?) \([0-9]++\) with "),
        *PYTORCH_JOB,
    ),
    samples=(
        Sample(
            b"0: INFO    26-11-20 10:11:12.500000 - 0:01:12 - step: 120  acc: 0  loss:  7.1250  grad: 1.25e+00  flops: 3.15e+14  wps: 1.25e+04  "
            b"iter:  0.6512  data: 0.0004  lr: 3.00e-04  mem: 75%  pow: 650.5 W\n",
            step=120, loss=7.125, flops=315, throughput=12_500, clock=63_108_672.5,
        ),
        Sample(
            b"step: 40  acc: 0  loss:     2.5  grad: 1.25e+00  stem_grad: 1.00e+00  flops: 3.15e+14  wps: 9.80e+03  iter:  0.6512  data: 0.0004\n",
            step=40, throughput=9800,
        ),
        NearMiss(b"step: 120  acc: 0  loss:  7.1250  grad: 1.25e+00  flops: 3.15e+14  wps: 1.25e+0", "cut inside the number"),
        NearMiss(b"global_step: 120  wps: 1.25e+04  iter:  0.6512\n", "of another program"),
    ),
)  # fmt: skip
