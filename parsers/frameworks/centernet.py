"""CenterNet, CenterTrack, FairMOT and others (`BaseTrainer.run_epoch`): a bar per batch, or a line per `print_iter`.

`Net` is the mean seconds of a batch since the epoch began, with the wait for data, which is undone to what each line
adds; `Data` is told of the last batch, and its mean behind it. The bar is drawn over, or printed line by line. Bars
that begin with `val:` are validations. `chunk_sizes` are the batches of the devices. `Tot` is the time since the epoch
began, which the means are held against.
"""

from __future__ import annotations

import numpy as np

from parsers.contract import Columns, Fact, Format, NearMiss, Postprocessed, Reading, Sample, is_private, listed
from parsers.frameworks.metric_logger import TOLD, seconds_left

#: Whole seconds tell a mean from here on; up to this ratio drawing and logging may take.
_LEAST, _ALIKE = 25.0, 1.1


def _held(columns: Columns) -> Postprocessed:
    """Return the lines, with the seconds of a batch as the time since the epoch began tells them."""
    total, mean = seconds_left(columns), columns["step_seconds"]
    with np.errstate(all="ignore"):
        told = total / (columns["step"] + 1)
        alike = (told < _ALIKE * mean) & (mean < _ALIKE * told)
    otherwise = np.where(total < _LEAST, np.nan, np.where(alike, mean, told))
    found = {name: each for name, each in columns.items() if not is_private(name)}
    return np.arange(len(mean)), found | {"seconds_otherwise": otherwise}


def _total(printed: bytes) -> int:
    """Return the sum of a printed list: `15, 17` is 32."""
    return sum(int(each) for each in printed.split(b","))


FORMAT = Format(
    title="CenterNet and FairMOT",
    framework="PyTorch",
    marker=b"|Tot: ",
    unproven=True,
    start=rb"training chunk_sizes: \[",
    readings=(
        Reading(
            rb"(?<!\w)train: \[<epoch>\]\[<step>/<total_steps>\] ?+\|Tot: " + TOLD + rb") \|ETA: (?:[0-9]++ days?, )?+[0-9:]++ \|loss <loss> "
            rb"(?:[^\r\n|]++|\|(?!Net ))*+\|Net <step_seconds>s(?=[\s\d]|\Z)",
            unit="images/s",
            cumulative_since=0,
            epoch_timer=True,
            postprocess=_held,
        ),
    ),
    facts=(
        Fact("batch_size_of_job", rb"training chunk_sizes: \[([0-9, ]++)\]", _total),
        Fact("devices", rb"training chunk_sizes: \[([0-9, ]++)\]", listed),
    ),
    samples=(
        Sample(
            b"ctdet/coco_dla |####    | train: [3][84/1478]|Tot: 0:00:55 |ETA: 0:15:53 |loss 6.2500 |hm_loss 5.9812 |wh_loss 2.8580 |off_loss 0.2626 "
            b"|Data 0.002s(0.008s) |Net 0.625s\n",
            epoch=3, step=84, total_steps=1478, loss=6.25, step_seconds=0.625,
        ),
        Sample(
            b"mot/all_dla34| train: [3][84/1478]|Tot: 0:00:55 |ETA: 0:15:53 |loss 6.2500 |hm_loss 5.9812 |id_loss 2.8 |Data 0.002s(0.008s) |Net 0.625s\n",
            epoch=3, step=84, step_seconds=0.625,
        ),
        Sample(
            b"mot/all_dla34| train: [1][0/9000]|Tot: 0:00:12 |ETA: 1 day, 5:59:48 |loss 6.2500 |Data 0.002s(0.008s) |Net 12.125s\n",
            epoch=1, step=0, step_seconds=12.125,
        ),
        NearMiss(
            b"ctdet/coco_dla |####    | val: [3][84/1478]|Tot: 0:00:55 |ETA: 0:15:53 |loss 6.2500 |Data 0.002s(0.008s) |Net 0.625s\n",
            "a validation",
        ),
        NearMiss(b"ctdet/coco_dla |####    | train: [3][84/1478]|Tot: 0:00:55 |ETA: 0:15:53 |loss 6.2500 |Data 0.002s(0.008s) |Net 0.62", "cut"),
    ),
)  # fmt: skip
