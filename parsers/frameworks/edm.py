"""StyleGAN2-ADA, StyleGAN3, EDM and EDM2 (`training_loop.py`) and programs made of them: a line per tick.

A tick is so many thousands of images of all devices; the first one is a single batch. `sec/tick` is the time of its
training alone, `sec/kimg` that of a thousand of its images, and `maintenance` what lies between two ticks: snapshots
and evaluations. Of `sec/kimg`, and of `sec/tick` over the images counted, the one that is told with more digits counts.
EDM2 prints no tick, and has the maintenance in `sec/tick`; its first line counts no image.
"""

from __future__ import annotations

import numpy as np

from perfledger.parsers.contract import Columns, Fact, Format, NearMiss, Postprocessed, Reading, Sample, grouped

#: How far thousands of images and seconds of a tick round, and seconds of a thousand images.
_TENTH, _HUNDREDTH = 0.05, 0.005


def ticks(columns: Columns) -> Postprocessed:
    """Return the images and seconds of each tick; the lines of EDM2 are numbered."""
    rows = np.flatnonzero(columns["_sec_kimg"] > 0)
    kimg, took, each, tick, memory = (
        columns[name][rows] for name in ("_kimg", "_sec_tick", "_sec_kimg", "step", "memory")
    )
    counted = np.diff(columns["_kimg"], prepend=np.nan)[rows]
    with np.errstate(all="ignore"):
        counts_well = (2 * _TENTH / counted + _TENTH / took < _HUNDREDTH / each) & (counted > 0) & np.isfinite(tick)
    numbers = np.arange(1.0, len(rows) + 1)
    samples = 1000 * np.where(counts_well, counted, np.where(np.isfinite(tick), took / each, counted))
    samples = np.where(samples > 0, samples, 1000 * kimg)
    return rows, {
        "step": np.where(np.isfinite(tick), tick, numbers),
        "samples": samples,
        "duration": np.where(counts_well, took, samples / 1000 * each),
        "memory": memory,
    }


FORMAT = Format(
    title="EDM and StyleGAN",
    framework="PyTorch",
    marker=b" sec/kimg ",
    unproven=True,
    start=rb"Training options:\r?+\n\{",
    end=rb"^Exiting\.\.\.",
    readings=(
        Reading(
            rb"(?<!\w)(?:tick <step> ++)?+kimg (?P<_kimg>[0-9.]++) ++time (?:[0-9]++[dhms] ++)++sec/tick (?P<_sec_tick>[0-9.]++) ++"
            rb"sec/kimg (?P<_sec_kimg>[0-9.]++) ++maintenance -?+[0-9.]++ ++cpumem [0-9.]++ ++(?:gpumem <memory>(?=\s))?+",
            unit="images/s",
            factors={"memory": 1024},
            postprocess=ticks,
        ),
    ),
    facts=(
        Fact("devices", rb"^Number of GPUs: ++(\d++)$", int),
        Fact("batch_size_of_job", rb"^Batch size: ++(\d++)(?: images)?$", int),
        Fact("batch_size_of_job", rb"^ ++\"batch_size\": (\d++),?$", int),
        Fact("model", rb"^Network architecture: ++([\w.+-]++)$"),
        Fact("parameters", rb"^Total ++([0-9]++) ++[0-9]++ ++- ", grouped),
        Fact("precision", rb"^Mixed-precision: ++(True|False)$", words={b"True": "amp", b"False": "fp32"}),
    ),
    samples=(
        Sample(
            b"tick 3     kimg 150.5     time 4m 12s       sec/tick 62.5    sec/kimg 1.25    maintenance 0.5    cpumem 5.61   "
            b"gpumem 10.50  reserved 11.20 \n",
            step=3, _kimg=150.5, _sec_tick=62.5, _sec_kimg=1.25, memory=10752,
        ),
        Sample(
            b"tick 12    kimg 48.0     time 1h 02m 03s  sec/tick 221.0   sec/kimg 55.25   maintenance 0.1    cpumem 6.1    gpumem 8.25   augment 0.125\n",
            step=12, _sec_kimg=55.25, memory=8448,
        ),
        Sample(
            b"Status:  kimg 8257.5    time 1d 02h 03m  sec/tick 65.50    sec/kimg 0.500   maintenance 1.00    cpumem 4.25   gpumem 20.50  reserved 25.00 \n",
            _kimg=8257.5, _sec_tick=65.5, _sec_kimg=0.5, memory=20992,
        ),
        NearMiss(b"Training for 200000 kimg...\n", "what is planned"),
        NearMiss(b"tick 3     kimg 150.5     time 4m 12s       sec/tick 62.5    sec/kimg 1.2", "cut"),
    ),
)  # fmt: skip
