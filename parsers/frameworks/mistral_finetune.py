"""mistral-finetune, and moshi-finetune after it: a line per `log_freq` steps, with tokens per second of one device.

Its words are tokens, padding too, and its speed is that of the last step before the line. An evaluation lies within the
time of its step, which is no record; a checkpoint comes behind the line. `batch_size` counts sequences of `seq_len`
tokens per device, of which an update takes `num_microbatches`. Memory is in GiB.
"""

from __future__ import annotations

import numpy as np

from perfledger.parsers.contract import Columns, Fact, Format, Postprocessed, Reading, grouped


def _args(name: bytes) -> bytes:
    """Return the pattern of a number of the configuration, which is printed over many lines."""
    return rb"^ *+'%s': ([0-9]++)[,}]" % name


def _without_evaluations(columns: Columns) -> Postprocessed:
    """Return the lines of training, but for those of steps whose evaluation is printed ahead: their time holds it."""
    step, evaluated = columns["step"], np.isfinite(columns["_evaluation"])
    spoilt = np.zeros(len(step), dtype=np.bool_)
    spoilt[1:] = evaluated[:-1] & (step[1:] == step[:-1])
    rows = np.flatnonzero(~evaluated & ~spoilt)
    return rows, {name: columns[name][rows] for name in ("step", "loss", "memory", "throughput")}


FORMAT = Format(
    title="mistral-finetune",
    framework="PyTorch",
    marker=b" - avg_words_per_second: ",
    start=rb" - train - INFO - TrainArgs: \{",
    end=rb" - train - INFO - done!$",
    readings=(
        Reading(
            rb"\bstep: <step> - (?:eval_perplexity: (?P<_evaluation>[0-9.einf]++|nan) - |done \(%\): [0-9.]++ - loss: ++<loss> - lr: [-+.0-9e]++ - "
            rb"peak_alloc_mem \(GB\): <memory> - alloc_mem \(GB\): [0-9.]++ - words_per_second: <throughput> - avg_words_per_second: )",
            unit="tokens/s",
            scope="device",
            span="step",
            counts="update",
            factors={"memory": 1024},
            verbs=(_without_evaluations,),
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
)  # fmt: skip
