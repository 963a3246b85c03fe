"""Picotron: a line per step with tokens per second of the job, in numbers of two decimals (`10.61K`).

The time is that of one step, with its wait for data; checkpoints come behind the line. The last stage of a pipeline prints
it. The global batch size is in tokens.
"""

from perfledger.parsers.contract import SHORT_NUMBER, Format, NearMiss, Reading, Sample
from perfledger.parsers.frameworks import PYTORCH_JOB

FORMAT = Format(
    title="Picotron",
    framework="PyTorch",
    marker=b" | Tokens/s/GPU: ",
    start=rb"\brank 0: Creating model config",
    readings=(
        Reading(
            rb"\bStep: <step> ++\| Loss: ++<loss> \| Global batch size: ++(?P<batch>" + SHORT_NUMBER
            + rb") \| Tokens/s: ++(?P<throughput>" + SHORT_NUMBER + rb") \| Tokens/s/GPU: ",
            unit="tokens/s",
            span="step",
            counts="update",
        ),
    ),
    facts=PYTORCH_JOB,
    samples=(
        Sample(
            b"[rank 2] Step: 12    | Loss: 8.9219 | Global batch size:   2.05K | Tokens/s:  10.61K | Tokens/s/GPU:   1.33K | Tokens:  24.60K/1.00M | "
            b"MFU:  0.43% | Memory usage:   1.75GB\n",
            step=12, loss=8.9219, batch=2050, throughput=10_610,
        ),
        Sample(
            b"[rank 0] Step: 1     | Loss: 10.9062 | Global batch size:   1.05M | Tokens/s:  199.02 | Tokens/s/GPU:   24.88 | Tokens:   1.05M | "
            b"MFU:  0.01% | Memory usage:   1.75GB\n",
            step=1, loss=10.9062, batch=1_050_000, throughput=199.02,
        ),
        NearMiss(b"[rank 2] Step: 12    | Loss: 8.9219 | Global batch size:   2.05K | Tokens/s:  10.6", "cut inside the number"),
    ),
)  # fmt: skip
