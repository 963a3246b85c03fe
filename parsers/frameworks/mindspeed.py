"""MindSpeed-LLM's FSDP2 trainer: a line per logging interval with samples per second, or its monitor's with tokens.

Both are those of the job over the interval. Its Megatron trainer prints Megatron's lines.
"""

from __future__ import annotations

import numpy as np

from parsers.contract import Columns, Format, NearMiss, Postprocessed, Reading, Sample, up_to
from parsers.frameworks import PYTORCH_JOB

_STEP = rb"\biteration:?+ ++<step>(?: *+/ *+<total_steps>)?+ \| "
_TIME = rb" \| elapsed time per iteration \(ms\): <step_seconds> \| "


def _with_tokens(columns: Columns) -> Postprocessed:
    """Return the lines with the tokens of their steps, as they are counted since the start."""
    found = {name: each for name, each in columns.items() if name != "_consumed"}
    tokens = np.diff(columns["_consumed"], prepend=np.nan)
    known = (tokens > 0) & (np.diff(columns["step"], prepend=np.nan) > 0)
    if known.any():
        # The first line covers as many as usual, or fewer where the run began within it.
        found["samples"] = np.where(known, tokens, np.fmin(columns["_consumed"], np.median(tokens[known])))
    return np.arange(len(tokens)), found


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
            _STEP + rb"consumed tokens: ++(?P<_consumed>[0-9]++)" + _TIME + rb"tokens/s: <throughput> \|",
            unit="tokens/s",
            factors={"step_seconds": 1e-3},
            postprocess=_with_tokens,
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
