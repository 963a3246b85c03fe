"""nerfstudio (`ns-train`): a row of a table per ten iterations, of which `Train Iter (time)` tells the seconds.

It is a mean over the last twenty iterations, with the wait for data and without evaluations and checkpoints. The rays
per second beside it, cut to four digits, are a mean of speeds, which is higher, and are not read. A terminal draws the
last rows again. A sample is a ray; a batch of rays, which splats have not, is that of a device.
"""

from __future__ import annotations

import numpy as np

from perfledger.parsers.contract import SHORT_NUMBER, Columns, Fact, Format, Postprocessed, Reading


def _first_drawn(columns: Columns) -> Postprocessed:
    """Return the rows that are drawn for the first time."""
    seconds, step = np.nan_to_num(columns["_whole"]) + columns["_milliseconds"] / 1000, columns["step"]
    rows = np.flatnonzero(step > np.maximum.accumulate(np.append(-1.0, step))[:-1])
    return rows, {"step": step[rows], "step_seconds": seconds[rows]}


FORMAT = Format(
    title="nerfstudio",
    framework="PyTorch",
    marker=b"%)  ",
    unproven=True,
    start=rb"TrainerConfig\(",
    readings=(
        Reading(
            rb"(?<![^\r\n])<step> \([0-9.]++%\) ++(?:[0-9.]++(?: [KMB])?+ {2,}+){0,2}+(?:(?P<_whole>[0-9]++) s, )?+(?P<_milliseconds>[0-9.]++) ms ++"
            rb"(?:[0-9.]++ (?:ms|[dhms]),?+ ++)++" + SHORT_NUMBER + rb" ?+[KMB]?+(?=\s)",
            unit="samples/s",
            verbs=(_first_drawn,),
        ),
    ),
    facts=(
        Fact("batch_size", "^{? }train_num_rays_per_batch={:int},$"),
        Fact("devices_per_node", "^{? }num_devices={:int},$"),
        Fact("nodes", "^{? }num_machines={:int},$"),
        Fact("total_steps", "^{? }max_num_iterations={:int},$"),
        Fact("model", "^{? }method_name='{}',$"),
    ),
)  # fmt: skip
