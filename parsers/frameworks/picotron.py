"""Picotron: a line per step with tokens per second of the job, in numbers of two decimals (`10.61K`).

The time is that of one step, with its wait for data; checkpoints come after the line. The last stage of a pipeline prints
it. The global batch size is in tokens.
"""

from perfledger.parsers.contract import Format, Reading
from perfledger.parsers.frameworks import PYTORCH_JOB

FORMAT = Format(
    title="Picotron",
    framework="PyTorch",
    start="rank 0: Creating model config",
    readings=(
        Reading(
            "Step: {step} | Loss: {loss} | Global batch size: {batch:short} | Tokens/s: {throughput:short} | Tokens/s/GPU: ",
            unit="tokens/s",
            span="step",
            per_update=True,
        ),
    ),
    facts=PYTORCH_JOB,
)  # fmt: skip
