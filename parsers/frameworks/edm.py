"""StyleGAN2-ADA, StyleGAN3, EDM and EDM2 (`training_loop.py`) and programs made of them: a line per tick.

A tick is a set number of thousands of images, of all devices; the first one is a single batch. `sec/tick` is the time
of its training alone, `sec/kimg` that of a thousand of its images, and `maintenance` the time between two ticks, for
snapshots and evaluations. Either `sec/kimg` or `sec/tick` over the counted images is used: the one with more printed
digits. EDM2 prints no tick, and has the maintenance in `sec/tick`; its first line counts no image.
"""

from __future__ import annotations

import numpy as np

from perfledger.parsers.contract import Columns, Fact, Format, Reading, grouped

#: Rounding error of thousands of images, and of seconds of a tick.
_TENTH = 0.05
#: Rounding error of seconds of a thousand images.
_HUNDREDTH = 0.005


def ticks(columns: Columns) -> Columns:
    """Return the images and seconds of each tick; the lines of EDM2 are numbered."""
    columns = columns.assign(_counted=np.diff(columns["_kimg"], prepend=np.nan)).take(columns["_sec_kimg"] > 0)
    counted, took, each, tick = (columns[name] for name in ("_counted", "_sec_tick", "_sec_kimg", "step"))
    counts_well = (2 * _TENTH / counted + _TENTH / took < _HUNDREDTH / each) & (counted > 0) & np.isfinite(tick)
    samples = 1000 * np.where(counts_well, counted, np.where(np.isfinite(tick), took / each, counted))
    samples = np.where(samples > 0, samples, 1000 * columns["_kimg"])
    return columns.assign(
        step=np.where(np.isfinite(tick), tick, np.arange(1.0, len(tick) + 1)),
        samples=samples,
        duration=np.where(counts_well, took, samples / 1000 * each),
    )


FORMAT = Format(
    title="EDM and StyleGAN",
    framework="PyTorch",
    unproven=True,
    start="Training options:\n{{",
    end=rb"^Exiting\.\.\.",
    readings=(
        Reading(
            "{?tick {step}  }kimg {_kimg}  time {*} sec/tick {_sec_tick}  sec/kimg {_sec_kimg}  maintenance  {_}  cpumem  {_}{?  gpumem {memory:in GiB}}",
            unit="images/s",
            verbs=(ticks,),
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
)
