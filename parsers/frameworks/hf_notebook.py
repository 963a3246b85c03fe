"""Hugging Face Trainer in a notebook: a bar without a speed, `[300/300 04:12, Epoch 1/1]`, with a table of losses below.

Its steps and its time, cut to whole seconds, are those of the whole run, evaluations and checkpoints included; the
speed that it shows before the end is their quotient. Of a resumed run the time is that of the last part only: the table
begins late then, and the bar is no record. Nor is one of several in a notebook, of which nothing says what each ran.
What a log states besides is that of the Trainer; where the call's own figure is printed (`TrainOutput`), that counts.
"""

from __future__ import annotations

import numpy as np

from perfledger.parsers.contract import Columns, Format, NearMiss, Postprocessed, Reading, Sample
from perfledger.parsers.contract.coarse import whole_seconds
from perfledger.parsers.frameworks.hf_trainer import FORMAT as TRAINER

#: A table begins late where more than so many of its intervals lie before its first row.
_LATE = 1.5


def _run(columns: Columns) -> Postprocessed:
    """Return the bar of a notebook that holds one, unless it goes on from a checkpoint."""
    took, first, second = (columns[name] for name in ("duration", "_first", "_second"))
    with np.errstate(all="ignore"):
        late = first > _LATE * (second - first)
        rate = columns["_done"] / whole_seconds(took)
    rows = np.flatnonzero(~late & np.isfinite(rate)) if len(took) == 1 else np.empty(0, np.intp)
    return rows, {"steps_per_second": rate[rows]}


FORMAT = Format(
    title="Hugging Face Trainer (notebooks)",
    framework="PyTorch",
    marker=b", Epoch ",
    unproven=True,
    start=TRAINER.start,
    before_start=TRAINER.before_start,
    end=rb"\[ *+(?P<total>[0-9]++)/(?P=total) [0-9:]++, Epoch ",
    over=("frameworks.hf_trainer", "frameworks.nvlog"),
    readings=(
        Reading(
            rb"\[ *+(?P<_done>[0-9]++)/[0-9]++ (?P<duration>[0-9:]++)(?: < [0-9:]++, [0-9.]++ (?:it/s|s/it))?+, Epoch [0-9.]++/[0-9]++\]"
            # The first two rows of the table.
            rb"(?:[^\[\]]{0,400}?[\s>](?:Step|Epoch)[\s<][^\[\]]{0,800}?[\s>](?P<_first>[0-9]++)[\s<]"
            rb"(?:[^\[\]]{0,800}?[\s>](?P<_second>[0-9]++)[\s<])?+)?+",
            unit="samples/s",
            span="run",
            counts="update",
            weak=True,
            postprocess=_run,
        ),
    ),
    facts=TRAINER.facts,
    samples=(
        Sample(b"[300/300 04:12, Epoch 25/25]\nStep \tTraining Loss\n20 \t1.888600\n40 \t1.312900\n", _done=300, duration=252, _first=20, _second=40),
        Sample(
            b"      [381/381 1:01:53, Epoch 1/1]\n    \n    \n  \n \n      Epoch\n      Training Loss\n      F1 Macro\n    \n  \n  \n    \n      1\n"
            b"      0.593800\n      0.5\n    \n    \n      2\n      0.5\n",
            _done=381, duration=3713, _first=1, _second=2,
        ),
        Sample(
            b"  [60/60 02:00, Epoch 1/1]\n    </div>\n<table>\n <tr style=\"text-align: left;\">\n      <th>Step</th>\n      <th>Training Loss</th>\n"
            b"    <tr>\n      <td>40</td>\n      <td>0.593800</td>\n    </tr>\n      <td>50</td>\n",
            _done=60, _first=40, _second=50,
        ),
        Sample(b"[ 120/300 01:40 < 02:31, 1.19 it/s, Epoch 10/25]\n", _done=120, duration=100),
        NearMiss(b"[24/24 00:05]\n", "an evaluation"),
        NearMiss(b"[300/300 04:12, Epo", "cut"),
    ),
)  # fmt: skip
