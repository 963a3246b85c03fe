"""MindSpeed-LLM's FSDP2 trainer: a line per logging interval with samples per second, or its monitor's with tokens.

Both are those of the job over the interval. Its Megatron trainer prints Megatron's lines.
"""

from perfledger.parsers.contract import Format, Reading, up_to
from perfledger.parsers.frameworks import PYTORCH_JOB

_STEP = rb"\biteration:?+ ++<step>(?: *+/ *+<total_steps>)?+ \| "
_TIME = rb" \| elapsed time per iteration \(ms\): <step_seconds> \| "


FORMAT = Format(
    title="MindSpeed-LLM FSDP2",
    framework="PyTorch",
    marker=b" | elapsed time per iteration (ms): ",
    unproven=True,
    readings=(
        Reading(
            _STEP + rb"consumed samples: ++[0-9]++" + _TIME + rb"throughput\(samples/s\): <throughput> \|"
            + up_to(rb" global batch size: ++", rb"\biteration") + rb"(?P<batch>[0-9]++) \|",
            unit="samples/s",
            factors={"step_seconds": 1e-3},
        ),
        Reading(
            _STEP + rb"consumed tokens: ++[0-9]++" + _TIME + rb"tokens/s: <throughput> \|",
            unit="tokens/s",
            factors={"step_seconds": 1e-3},
        ),
    ),
    facts=PYTORCH_JOB,
)  # fmt: skip
