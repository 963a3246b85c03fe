"""Chainer's `ProgressBar`, and ESPnet until 2020, which trains with it: a rate per bar, by default per 100 iterations.

The rate is a mean since the first bar, which prints `inf`, and later over the last hundred bars; it is undone here to
what each bar adds. Without the first bar nothing tells how far the means reach back, so that a log whose head was cut
off is not read. The first bar of an epoch may hold the evaluation at the end of the one before, which no line tells.
`Minibatch-size` of the examples is split over all devices; `Num Minibatch-size` of ChainerMN's is that of one of them.
"""

from __future__ import annotations

import numpy as np

from parsers.contract import NUMBER, Columns, Fact, Format, NearMiss, Postprocessed, Reading, Sample, listed, next_line

#: Between two lines of a bar other programs may print; its own next bar begins with `total`.
_NEXT = next_line(rb"(?:[0-9.einf+-]++ iters/sec|[0-9]++ iter, |total \[|this epoch \[)")
_STATUS = rb" iter, %s epoch / [0-9]++ \w++" + _NEXT + rb"%s iters/sec\. Estimated time to finish: "
#: Over how many bars the rate is taken.
_BARS = 100


def _undone(columns: Columns) -> Postprocessed:
    """Return the bars with their seconds and iterations, by the time of each since the first."""
    step, rate = columns["step"], columns["_rate"]
    begins = np.flatnonzero(np.isinf(rate))
    first = begins[0] if len(begins) else len(step)
    at = {step[first]: 0.0} if len(begins) else {}
    usual = np.median(np.diff(step)) if len(step) > 1 else np.nan
    for number, mean in zip(step[first + 1 :], rate[first + 1 :], strict=True):
        since = max(step[first], number - _BARS * usual)
        at[number] = at.get(since, np.nan) + (number - since) / mean
    rows = np.arange(first + 1, len(step))
    times = np.array([at[number] for number in step[first:]])
    found = {name: each[rows] for name, each in columns.items() if name != "_rate"}
    return rows, found | {"duration": np.diff(times), "steps": np.diff(step[first:])}


FORMAT = Format(
    title="Chainer",
    framework="Chainer",
    marker=b" iters/sec. Estimated time to finish: ",
    unproven=True,
    start=rb"\b[0-9]++" + _STATUS % (rb"[0-9]++", rb"inf"),
    before_start=rb"^# (?:unit|Minibatch-size|epoch): |^GPU: |^Num (?:process|unit|Minibatch-size|epoch)",
    readings=(
        Reading(
            rb"\b<step>" + _STATUS % (rb"<epoch>", rb"(?P<_rate>" + NUMBER + rb")"),
            unit="samples/s",
            epoch_end=True,
            postprocess=_undone,
        ),
    ),
    facts=(
        Fact("batch_size_of_job", rb"^# Minibatch-size: ([0-9]++)$", int),
        Fact("batch_size", rb"^Num Minibatch-size: ([0-9]++)$", int),
        Fact("devices", rb"^Num process \(COMM_WORLD\): ([0-9]++)$", int),
        Fact("devices", rb"^GPU: ([0-9]++(?:, [0-9]++)*+)$", listed),
    ),
    samples=(
        Sample(
            b"     total [##........] 12.50%\nthis epoch [#####.....] 25.00%\n       200 iter, 0 epoch / 20 epochs\n"
            b"       8.0 iters/sec. Estimated time to finish: 0:25:00.\n",
            step=200, epoch=0, _rate=8,
        ),
        NearMiss(b"       200 iter, 0 epoch / 20 epochs\n       8.0 iters/sec. Estimated ti", "cut"),
    ),
)  # fmt: skip
