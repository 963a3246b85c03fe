"""JoeyNMT: a line per `logging_freq` updates with target tokens per second of the whole job.

The time is that since the line before, or since the start of the epoch, without validations and their checkpoints;
tokens are those of all devices. Releases of before 2020 part the fields by blanks alone. The first of them divide the
tokens since the start of the epoch by the seconds since the line before, so that the speed grows with each line: such
lines tell nothing.
"""

from __future__ import annotations

import numpy as np

from parsers.contract import Columns, Fact, Format, NearMiss, Pause, Postprocessed, Reading, Sample

#: An epoch of fewer lines does not tell whether the speed grows with each, as the tokens since its start do.
_LINES = 4
#: How much of that growth tells: lines differ in their seconds, and the first covers fewer steps.
_GROWTH = 0.6


def _own_tokens(columns: Columns) -> Postprocessed:
    """Return the lines; none where the speed of most epochs grows as the tokens since their start do."""
    begins = np.flatnonzero(np.diff(columns["epoch"], prepend=np.nan) != 0)
    epochs = [each for each in np.split(columns["throughput"], begins[1:]) if len(each) >= _LINES]
    grown = [each[-1] > _GROWTH * (len(each) - 1) * each[0] for each in epochs]
    kept = np.arange(0 if 2 * sum(grown) > len(grown) else len(columns["epoch"]))
    return kept, {name: each[kept] for name, each in columns.items()}


FORMAT = Format(
    title="JoeyNMT",
    framework="PyTorch",
    marker=b" Tokens per Sec: ",
    unproven=True,
    start=rb"Hello! This is Joey-?NMT",
    end=rb"Training ended ",
    readings=(
        Reading(
            rb"(?:(?P<clock>\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d{3}) (?:- INFO - joeynmt\.training - )?+)?+Epoch ++<epoch>,? Step: ++<step>,? Batch Loss: ++<loss>"
            rb"(?:, Batch Acc: ++[0-9.]++)?+,? Tokens per Sec: ++(?P<throughput>[0-9]++), Lr: ",
            unit="tokens/s",
            counts="update",
            epoch_timer=True,
            postprocess=_own_tokens,
            pauses=(
                Pause(
                    "evaluation",
                    rb"Validation result \(",
                    b"2026-11-20 10:00:50,125 - INFO - joeynmt.training - Validation result (greedy) at epoch   1, step      500: bleu:  12.50, "
                    b"loss: 4500.0, ppl: 9.5, duration: 12.5s",
                    inside="none",
                ),
                Pause("evaluation", rb"Predicting [0-9]++ example", b"2026-11-20 10:00:50,125 - INFO - joeynmt.prediction - Predicting 1000 example(s)...", inside="none"),
            ),
        ),
    ),
    facts=(
        Fact("devices", rb"^\tn_gpu: ([0-9]++)$", int),
        Fact("accumulation", rb"^\tgradient accumulation: ([0-9]++)$", int),
        Fact("batch_size", rb"^\tbatch size per device: ([0-9]++)$", int),
        Fact("precision", rb"^\t16-bits training: (True|False)$", words={b"True": "amp", b"False": "fp32"}),
    ),
    samples=(
        Sample(
            b"2026-11-20 10:00:50,125 - INFO - joeynmt.training - Epoch   1, Step:      100, Batch Loss:     5.687500, Batch Acc: 0.125000, "
            b"Tokens per Sec:    27250, Lr: 0.000300\n",
            epoch=1, step=100, loss=5.6875, throughput=27250,
        ),
        Sample(
            b"2026-11-20 10:00:50,125 Epoch   2 Step:     6100 Batch Loss:     2.562500 Tokens per Sec:      2225, Lr: 0.000300\n",
            epoch=2, step=6100, loss=2.5625, throughput=2225,
        ),
        NearMiss(b"2026-11-20 10:00:50,125 - INFO - joeynmt.training - Epoch   1: total training loss 4255.25\n", "the sum of an epoch"),
        NearMiss(b"Epoch   1, Step:      100, Batch Loss:     5.687500, Tokens per Sec:    272", "cut inside the number"),
    ),
)  # fmt: skip
