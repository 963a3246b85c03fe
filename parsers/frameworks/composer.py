"""Composer and llm-foundry: a block of metrics per logging interval; tokens or samples per second of the job.

The speeds are means over a window of batches (100 unless changed), and absent until it is full; a slow batch shows in
as many blocks as lie in the window. Evaluations are left out of the clock. A batch is one update, counted over the run or
within the epoch; runs that last so many tokens or samples count these instead, and their blocks have no step. Speeds of
one device stand in the same block, and must agree with those of the job. The metrics are indented by a tab, of which a
terminal or an editor may have made blanks.
"""

from __future__ import annotations

import numpy as np

from perfledger.parsers.contract import (
    Columns,
    Fact,
    Format,
    Postprocessed,
    Reading,
    is_private,
    up_to,
)
from perfledger.parsers.frameworks import PYTORCH_JOB

_HEAD = rb"(?:\[epoch=<epoch>\])?+\[(?:batch=<step>(?:/<total_steps>)?+|(?:token|sample)=[0-9]++/[0-9]++)\]:"


def _up_to(metric: bytes) -> bytes:
    """Return the pattern of a block up to a metric, whose indent is a tab or what a copy made of it."""
    return up_to(rb"(?:\t ?+| {2})Train %s: " % metric, rb"\[(?:batch|token|sample)=", rb"[\s\S]")


def _maybe(metric: bytes, group: bytes) -> bytes:
    return rb"(?:(?=" + _up_to(metric) + rb"(?P<%s>[0-9.]++)(?=\s))|)" % group


_UPDATES = _maybe(rb"throughput/batches_per_sec", b"steps_per_second")


def _with_batch(columns: Columns) -> Postprocessed:
    """Return the blocks with the tokens or samples of a batch, from the counters of both."""
    rows = np.arange(len(columns["step"]))
    batches, counted = columns["_batches"], columns["_counted"]
    known = np.flatnonzero(np.isfinite(batches) & np.isfinite(counted))
    done = float(np.ptp(batches[known])) if len(known) else 0.0
    each = float(np.ptp(counted[known])) / done if done > 0 else np.nan
    return rows, {name: column for name, column in columns.items() if not is_private(name)} | {
        "batch": np.full(len(rows), each)
    }


FORMAT = Format(
    title="Composer",
    framework="PyTorch",
    marker=b" Train throughput/",
    unproven=True,
    readings=(
        Reading(
            _HEAD + _maybe(rb"time/batch", b"_batches") + _maybe(rb"time/token", b"_counted") + _UPDATES
            + _up_to(rb"throughput/tokens_per_sec") + rb"<throughput>(?=\s)",
            unit="tokens/s", counts="update", verbs=(_with_batch,),
        ),
        Reading(
            _HEAD + _maybe(rb"time/batch", b"_batches") + _maybe(rb"time/sample", b"_counted") + _UPDATES
            + _up_to(rb"throughput/samples_per_sec") + rb"<throughput>(?=\s)",
            unit="samples/s", counts="update", verbs=(_with_batch,),
        ),
        # Of one device, in the same block: times the devices it is that of the job.
        *(
            Reading(
                _HEAD + _up_to(rb"throughput/device/" + counted + rb"_per_sec") + rb"<throughput>(?=\s)",
                unit=unit, scope="device", counts="update", weak=True, marker=b"throughput/device/" + counted,
            )
            for counted, unit in ((b"tokens", "tokens/s"), (b"samples", "samples/s"))
        ),
    ),
    facts=(
        *PYTORCH_JOB,
        Fact("devices", rb"^n_gpus: (\d++)$", int),
        Fact("devices_per_node", rb"^num_gpus_per_node: (\d++)$", int),
        Fact("nodes", rb"^num_nodes: (\d++)$", int),
        Fact("batch_size_of_job", rb"\bglobal_train_batch_size['\"]?+: ([0-9]++)\b", int),
        # Where the configuration is not printed, the samples behind the first batch tell.
        Fact("batch_size_of_job", rb"\bTrain time/batch: 1\s++Train time/sample: ([1-9][0-9]*+)$", int),
        Fact("sequence_length", rb"\bmax_seq_len['\"]?+: ([0-9]++)\b", int),
        Fact(
            "precision", rb"\bprecision['\"]?+: ['\"]?+(amp_bf16|amp_fp16|amp_fp8|fp32)\b",
            words={b"amp_bf16": "bf16", b"amp_fp16": "amp", b"amp_fp8": "fp8", b"fp32": "fp32"},
        ),
    ),
)  # fmt: skip
