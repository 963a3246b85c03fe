"""MindSpeed-LLM's FSDP2 trainer: a line per logging interval with samples per second, or its monitor's with tokens.

Both are those of the job over the interval. Its Megatron trainer prints Megatron's lines.
"""

from perfledger.parsers.contract import Format, NearMiss, Reading, Sample, up_to
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
    samples=(
        Sample(
            b" iteration: 20 | consumed samples: 1280 | elapsed time per iteration (ms): 1250.0 | throughput(samples/s): 51.2 | learning rate: 1e-05 | "
            b"global batch size:   64 | lm loss: 9.1000 | grad norm: 0.5000\n",
            step=20, step_seconds=1.25, throughput=51.2, batch=64,
        ),
        Sample(
            b" iteration       20/    1000 | consumed tokens: 2621440 | elapsed time per iteration (ms): 1250.00 | tokens/s: 209715.20 | mfu: 38.12 |\n",
            step=20, total_steps=1000, step_seconds=1.25, throughput=209715.2,
        ),
        NearMiss(b" iteration: 20 | consumed samples: 1280 | elapsed time per iteration (ms): 1250.0 | throughput(samples/s): 51.", "cut inside the number"),
    ),
)  # fmt: skip
