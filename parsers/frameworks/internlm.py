"""InternLM's trainer, InternEvo since 2024: a line per step with tokens per second of one device (`tgs`).

The speed counts all tokens of the step, padding too; `real_tgs` leaves that out, and is not used. Its time is that of
one step, from its batch to its update: evaluations and checkpoints come behind the line. The other `tgs/` are means
over several steps. `tflops` is computed from the configuration, wrong for experts, and not read. Steps whose update
failed print no line. The fields are parted by commas until the middle of 2023.
"""

from __future__ import annotations

from math import prod

from perfledger.parsers.contract import Fact, Format, NearMiss, Reading, Sample
from perfledger.parsers.frameworks import PYTORCH_JOB

_LAYOUT = rb"Distributed environment is initialized, data parallel size: "
_SIZE = rb"[0-9]++"


def _devices(printed: bytes) -> int:
    """Return how many devices `8, pipeline parallel size: 2, tensor parallel size: 4` are."""
    return prod(int(each.rpartition(b" ")[2]) for each in printed.split(b","))


FORMAT = Format(
    title="InternLM",
    framework="PyTorch",
    marker=b"tgs (tokens/gpu/second)=",
    start=_LAYOUT,
    # Which of these comes first depends on the processes.
    before_start=rb"process rank [0-9]++ is bound to host:",
    readings=(
        Reading(
            rb"\btflops=[-+.0-9einf]++[, ]step=<step>[, ]loss=<loss>[, ](?:real_tgs=[0-9.]++ )?+"
            rb"tgs \(tokens/gpu/second\)=<throughput>[, ]",
            unit="tokens/s",
            scope="device",
            span="step",
            counts="update",
        ),
    ),
    facts=(
        Fact(
            "devices",
            _LAYOUT + rb"(%s, pipeline parallel size: %s, tensor parallel size: %s)\b" % (_SIZE, _SIZE, _SIZE),
            _devices,
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
    samples=(
        Sample(
            b"2026-11-20 10:29:01,636\tINFO train.py:323 in record_current_batch_training_metrics -- tflops=189.75,step=12,loss=8.5,"
            b"tgs (tokens/gpu/second)=4096.25,lr=6e-07,loss_scale=65536.0,grad_norm=65.5,micro_num=4,num_consumed_tokens=1703936,"
            b"inf_nan_skip_batches=0,fwd_bwd_time=3.67\n",
            step=12, loss=8.5, throughput=4096.25,
        ),
        Sample(
            b"2026-11-20T10:29:01.636+08:00 INFO [training_internlm.py, line 600, in record_current_batch_training_metrics] - pid=11 : "
            b"tflops=127.25 step=3 loss=nan real_tgs=1000.5 tgs (tokens/gpu/second)=1024.5 tgs/last_tgs_1=1024.51 tgs/tgs_all=567.5 "
            b"tgs/last_tgs_10=0 lr=1e-06 grad_norm={'0_default': 60.5, '1_fp32': 0.0} micro_num=4 num_consumed_tokens=262144 "
            b"inf_nan_skip_batches=0 fwd_bwd_time=3.44 acc=0.0\n",
            step=3, loss=float("nan"), throughput=1024.5,
        ),
        NearMiss(
            b"tflops=127.25 step=3 loss=2.5 tgs (tokens/gpu/second)=1024", "cut inside the number",
        ),
        NearMiss(b"Validation on en: step=100 loss=2.5 acc=0.5 perplexity=12.25\n", "an evaluation"),
    ),
)  # fmt: skip
