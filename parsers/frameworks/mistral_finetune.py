"""mistral-finetune, and moshi-finetune after it: a line per `log_freq` steps, with tokens per second of one device.

Its words are tokens, padding too, and its speed is that of the last step before the line. An evaluation lies within the
time of its step, which is no record; a checkpoint comes behind the line. The means since the start only contradict it.
`batch_size` counts sequences of `seq_len` tokens per device, of which an update takes `num_microbatches`. Memory is in
GiB.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from parsers.contract import Columns, Fact, Format, NearMiss, Postprocessed, Reading, Rows, Sample, grouped
from parsers.contract.proportional import in_proportion


def _args(name: bytes) -> bytes:
    """Return the pattern of a number of the configuration, which is printed over many lines."""
    return rb"^ *+'%s': ([0-9]++)[,}]" % name


def _without_evaluations(columns: Columns) -> Postprocessed:
    """Return the lines of training, but for those of steps whose evaluation is printed ahead: their time holds it."""
    step, evaluated = columns["step"], np.isfinite(columns["_evaluation"])
    spoilt = np.zeros(len(step), dtype=np.bool_)
    spoilt[1:] = evaluated[:-1] & (step[1:] == step[:-1])
    rows = np.flatnonzero(~evaluated & ~spoilt)
    found = {name: columns[name][rows] for name in ("step", "loss", "memory", "throughput")}
    return rows, {**found, **_beside_means(columns, evaluated, rows)}


def _beside_means(columns: Columns, evaluated: NDArray[np.bool_], rows: Rows) -> Columns:
    """Return how far the speeds of some lines are those that the means since the start give of the steps before them."""
    lines = np.flatnonzero(~evaluated)
    step, mean = columns["step"][lines], columns["_mean"][lines]
    with np.errstate(all="ignore"):
        gaps = np.diff(step, prepend=np.nan)
        since = gaps / np.diff(step / mean, prepend=np.nan)
        rounds = since * 2 * _ROUNDS * step / mean / gaps
    # Where an evaluation lies between two lines, so does its time.
    held = np.diff(np.cumsum(evaluated)[lines], prepend=np.nan) != 0
    others = np.where(held | ~(gaps > 0), np.nan, since)
    kept = np.isin(lines, rows)
    return in_proportion(columns["throughput"][rows], others[kept], rounds[kept], 1.0)


#: What is lost of a speed that is printed with one decimal.
_ROUNDS = 0.05


FORMAT = Format(
    title="mistral-finetune",
    framework="PyTorch",
    marker=b" - avg_words_per_second: ",
    start=rb" - train - INFO - TrainArgs: \{",
    end=rb" - train - INFO - done!$",
    readings=(
        Reading(
            rb"\bstep: <step> - (?:eval_perplexity: (?P<_evaluation>[0-9.einf]++|nan) - |done \(%\): [0-9.]++ - loss: ++<loss> - lr: [-+.0-9e]++ - "
            rb"peak_alloc_mem \(GB\): <memory> - alloc_mem \(GB\): [0-9.]++ - words_per_second: <throughput> - avg_words_per_second: (?:(?P<_mean>[0-9.]++)(?= -))?+)",
            unit="tokens/s",
            scope="device",
            span="step",
            counts="update",
            factors={"memory": 1024},
            postprocess=_without_evaluations,
        ),
    ),
    facts=(
        Fact("batch_size", rb"TrainArgs: \{'batch_size': ([0-9]++),", int),
        Fact("accumulation", _args(b"num_microbatches"), int),
        Fact("sequence_length", _args(b"seq_len"), int),
        Fact("total_steps", _args(b"max_steps"), int),
        Fact("devices", _args(b"world_size"), int),
        Fact("devices", rb"Sharding model over ([0-9]++) GPUs", int),
        Fact("model", rb"^ *+'model_id_or_path': '([^'\n]++)',$"),
        Fact("parameters", rb"[0-9,]++ out of ([0-9,]++) parameters are finetuned", grouped),
    ),
    samples=(
        Sample(
            b"2026-11-20 09:24:38 (CET) - 0:03:12 - train - INFO - step: 000012 - done (%): 1.2 - loss: 1.724 - lr: 4.0e-06 - "
            b"peak_alloc_mem (GB): 26.5 - alloc_mem (GB): 17.9 - words_per_second: 1167.5 - avg_words_per_second: 1150.5 - ETA: >2026-11-21 06:50:16\n",
            step=12, loss=1.724, memory=27136, throughput=1167.5,
        ),
        Sample(
            b"2026-11-20 09:24:38 (CET) - 0:03:12 - train - INFO - step: 000050 - eval_perplexity: 5.250 - eval_loss: 1.658 - train_loss: 1.724\n"
            b"2026-11-20 09:24:38 (CET) - 0:03:12 - train - INFO - step: 000050 - done (%): 5.0 - loss: 1.724 - lr: 4.0e-06 - "
            b"peak_alloc_mem (GB): 26.5 - alloc_mem (GB): 17.9 - words_per_second: 116.5 - avg_words_per_second: 1150.5 - ETA: >2026-11-21 06:50:16\n",
            step=50, _evaluation=5.25,
        ),
        NearMiss(
            b"step: 000012 - done (%): 1.2 - loss: 1.724 - lr: 4.0e-06 - peak_alloc_mem (GB): 26.5 - alloc_mem (GB): 17.9 - words_per_second: 116",
            "cut inside the number",
        ),
    ),
)  # fmt: skip
