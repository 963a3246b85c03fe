"""LitGPT: a line per logging interval with the milliseconds of one iteration.

An iteration is one micro-batch of each rank; that which ends with the update is marked `(step)` and takes longer, so that
the figure is right where every iteration is printed. The time is that of the last iteration before the line.
"""

from parsers.contract import Fact, Format, NearMiss, Reading, Sample
from parsers.frameworks import PYTORCH_JOB

FORMAT = Format(
    title="LitGPT",
    framework="PyTorch",
    marker=b"iter time: ",
    unproven=True,
    readings=(
        Reading(
            rb"\biter <step> step [0-9]++(?: \| loss train|: loss):? <loss>,(?: val: [^|\r\n]++\|)?+ iter time: <step_seconds> ?ms",
            unit="samples/s",
            span="step",
            factors={"step_seconds": 1e-3},
        ),
    ),
    facts=(
        *PYTORCH_JOB,
        Fact("batch_size", rb"\bmicro_batch_size['\"]?+[=:] ?+([0-9]++)\b", int),
        Fact("devices_per_node", rb"['\"]devices['\"]: ([0-9]++)\b", int),
        Fact("nodes", rb"['\"]num_nodes['\"]: ([0-9]++)\b", int),
        Fact("precision", rb"['\"]precision['\"]: ['\"](bf16-true|bf16-mixed|16-mixed|16-true|32-true)['\"]", words={
            b"bf16-true": "bf16", b"bf16-mixed": "bf16", b"16-mixed": "amp", b"16-true": "fp16", b"32-true": "fp32"}),
    ),
    samples=(
        Sample(
            b"Epoch 1 | iter 12 step 3 | loss train: 8.800, val: n/a | iter time: 345.50 ms (step) remaining time: 1:02:03\n",
            step=12, loss=8.8, step_seconds=0.3455,
        ),
        Sample(b"iter 12 step 3: loss 8.8000, iter time: 345.50ms (optimizer.step)\n", step=12, loss=8.8, step_seconds=0.3455),
        NearMiss(b"iter 400: val loss 2.1000, val time: 1234.50 ms\n", "an evaluation"),
        NearMiss(b"Epoch 1 | iter 12 step 3 | loss train: 8.800, val: n/a | iter time: 345.5", "cut inside the number"),
    ),
)  # fmt: skip
