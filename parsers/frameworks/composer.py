"""Composer and llm-foundry: a block of metrics per logging interval; tokens or samples per second of the job.

The speeds are means over a window of batches (100 unless changed), and absent until it is full; a slow batch shows in
as many blocks as lie in the window. Evaluations are left out of the clock. A batch is one update, counted over the run
or within the epoch; runs that are limited by tokens or samples count these instead, and their blocks have no step.
Speeds of one device are in the same block, and must agree with those of the job. The metrics are indented by a tab,
which a terminal or an editor may have replaced by blanks.
"""

from __future__ import annotations

import numpy as np

from perfledger.parsers.contract import Columns, Fact, Format, Reading, carry, only
from perfledger.parsers.frameworks import PYTORCH_JOB

_HEAD = "{?[epoch={epoch}]}[batch={step}{?/{total_steps}}]:\n\n"


def _batch(columns: Columns) -> Columns:
    """Add the tokens or samples of a batch, from the counters of both."""
    batches, counted = columns["_batches"], columns["_counted"]
    known = np.isfinite(batches) & np.isfinite(counted)
    done = float(np.ptp(batches[known])) if known.any() else 0.0
    each = float(np.ptp(counted[known])) / done if done > 0 else np.nan
    return columns.assign(batch=np.full(len(batches), each))


def _of_job(counted: str, unit: str) -> Reading:
    """Return the reading of the speed of the job, in tokens or samples."""
    return Reading(
        _HEAD + f"Train time/batch: {{_batches}}\n\nTrain time/{counted}: {{_counted}}\n\n"
        f"Train throughput/batches_per_sec: {{steps_per_second}}\n\nTrain throughput/{counted}s_per_sec: {{throughput}}",
        unit=unit,
        per_update=True,
        verbs=(
            carry("epoch", "step", "total_steps", "_batches", "_counted", "steps_per_second"),
            only("throughput"),
            _batch,
        ),
    )


def _of_device(counted: str, unit: str) -> Reading:
    """Return the reading of the speed of one device, in the same block: times the devices it is that of the job."""
    return Reading(
        _HEAD + f"Train throughput/device/{counted}s_per_sec: {{throughput}}",
        unit=unit,
        scope="device",
        per_update=True,
        weak=True,
        verbs=(carry("epoch", "step", "total_steps"), only("throughput")),
    )


FORMAT = Format(
    title="Composer",
    framework="PyTorch",
    needs=b" Train throughput/",
    unproven=True,
    readings=(
        _of_job("token", "tokens/s"),
        _of_job("sample", "samples/s"),
        _of_device("token", "tokens/s"),
        _of_device("sample", "samples/s"),
    ),
    facts=(
        *PYTORCH_JOB,
        Fact("devices", "^n_gpus: {:int}$"),
        Fact("devices_per_node", "^num_gpus_per_node: {:int}$"),
        Fact("nodes", "^num_nodes: {:int}$"),
        Fact("batch_size_of_job", rb"\bglobal_train_batch_size['\"]?+: ([0-9]++)\b", int),
        # If the configuration is not printed, the samples after the first batch state it.
        Fact("batch_size_of_job", rb"\bTrain time/batch: 1\s++Train time/sample: ([1-9][0-9]*+)$", int),
        Fact("sequence_length", rb"\bmax_seq_len['\"]?+: ([0-9]++)\b", int),
        Fact(
            "precision", rb"\bprecision['\"]?+: ['\"]?+(amp_bf16|amp_fp16|amp_fp8|fp32)\b",
            words={b"amp_bf16": "bf16", b"amp_fp16": "amp", b"amp_fp8": "fp8", b"fp32": "fp32"},
        ),
    ),
)  # fmt: skip
