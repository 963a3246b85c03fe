"""InternLM's trainer, InternEvo since 2024: a line per step with tokens per second of one device (`tgs`).

The speed counts all tokens of the step, padding too; `real_tgs` leaves that out, and is not used. Its time is that of
one step, from its batch to its update: evaluations and checkpoints come after the line. The other `tgs/` are means
over several steps. `tflops` is computed from the configuration, wrong for experts, and not read. Steps whose update
failed print no line. The fields are parted by commas until the middle of 2023.
"""

from __future__ import annotations

from perfledger.parsers.contract import Fact, Format, Reading, product
from perfledger.parsers.frameworks import PYTORCH_JOB

_LAYOUT = rb"Distributed environment is initialized, data parallel size: "
_SIZE = rb"[0-9]++"


FORMAT = Format(
    title="InternLM",
    framework="PyTorch",
    start=_LAYOUT,
    # Which of these comes first depends on the processes.
    before_start="process rank {_} is bound to host:",
    readings=(
        Reading(
            "tflops={_} step={step} loss={loss} {?real_tgs={_} }tgs (tokens/gpu/second)={throughput} ",
            unit="tokens/s",
            scope="device",
            span="step",
            per_update=True,
        ),
        Reading(
            "tflops={_},step={step},loss={loss},tgs (tokens/gpu/second)={throughput},",
            unit="tokens/s",
            scope="device",
            span="step",
            per_update=True,
        ),
    ),
    facts=(
        Fact(
            "devices",
            _LAYOUT + rb"(%s, pipeline parallel size: %s, tensor parallel size: %s)\b" % (_SIZE, _SIZE, _SIZE),
            product,
        ),
        Fact("pipeline_parallel", _LAYOUT + _SIZE + rb", pipeline parallel size: ([0-9]++)\b", int),
        # With weights of other groups, these are devices that share a sequence.
        Fact(
            "tensor_parallel",
            _LAYOUT + _SIZE + rb", pipeline parallel size: %s, tensor parallel size: ([0-9]++)"
            rb"(?:, weight parallel size: 1)?+$" % _SIZE,
            int,
        ),
        *PYTORCH_JOB,
    ),
)  # fmt: skip
