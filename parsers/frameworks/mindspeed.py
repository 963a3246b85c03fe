"""MindSpeed-LLM's FSDP2 trainer: a line per logging interval with samples per second, or its monitor's with tokens.

Both are those of the job over the interval. Its Megatron trainer prints Megatron's lines.
"""

from perfledger.parsers.contract import Format, Reading
from perfledger.parsers.frameworks import PYTORCH_JOB

FORMAT = Format(
    title="MindSpeed-LLM FSDP2",
    framework="PyTorch",
    unproven=True,
    readings=(
        Reading(
            "iteration: {step} | consumed samples: {_} | elapsed time per iteration (ms): {step_seconds:in ms} | throughput(samples/s): {throughput} |{*} global batch size: {batch} |",
            unit="samples/s",
        ),
        Reading(
            "iteration {step}/{total_steps} | consumed tokens: {_} | elapsed time per iteration (ms): {step_seconds:in ms} | tokens/s: {throughput} |",
            unit="tokens/s",
        ),
    ),
    facts=PYTORCH_JOB,
)  # fmt: skip
