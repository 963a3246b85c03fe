"""LeRobot (`lerobot-train`): a line per `log_freq` steps, with the seconds of an update and of the wait for data.

Both are means over the steps since the line before, and follow each other. Numbers of a thousand or more are cut to
thousands (`step:2K`): which steps the lines stand for follows from those below. Evaluations and checkpoints stand
between the steps. The batch size is that of a process; releases that name no processes train with one.
"""

from __future__ import annotations

import numpy as np

from perfledger.parsers.contract import (
    SHORT_NUMBER,
    Columns,
    Fact,
    Format,
    Pause,
    Postprocessed,
    Reading,
)

#: Numbers from here on are cut.
_CUT = 1000


def _told(columns: Columns) -> Postprocessed:
    """Return the seconds of a step, and the steps where all lines are as far apart as the first ones, which tell them."""
    found = {name: columns[name] for name in ("loss", "reader_seconds")}
    found["step_seconds"] = columns["_updating"] + columns["reader_seconds"]
    rows, step = np.arange(len(columns["_step"])), columns["_step"]
    if len(step) > 1 and 0 < step[0] < step[1] < _CUT:
        counted = step[0] + (step[1] - step[0]) * rows
        size = 10.0 ** (3 * (np.log10(np.maximum(step, 1)) // 3))
        if (np.abs(counted - step) <= np.where(step < _CUT, 0, size / 2)).all():
            found["step"] = counted
    return rows, found


FORMAT = Format(
    title="LeRobot",
    framework="PyTorch",
    marker=b" updt_s:",
    unproven=True,
    start=rb"\.py:[0-9]++ ++\{'batch_size': (?=[0-9]++,\r?+\n)",
    end=rb" End of training",
    readings=(
        Reading(
            rb"\bstep:(?P<_step>" + SHORT_NUMBER + rb") smpl:[0-9.KMBT]++ ep:[0-9.KMBT]++ epch:[0-9.]++ "
            rb"(?:loss:<loss> )?+(?:(?!updt_s:)\w++:[-+.0-9einaf]++ )*+updt_s:(?P<_updating>[0-9.]++) data_s:<reader_seconds>(?=\s)",
            unit="samples/s",
            verbs=(_told,),
            pauses=(
                Pause("checkpoint", rb" Checkpoint policy after step ", inside="none"),
                Pause("evaluation", rb" Eval policy at step ", inside="none"),
            ),
        ),
    ),
    facts=(
        Fact("batch_size", rb"\.py:\d++ ++\{'batch_size': (\d++),$", int),
        Fact("devices", rb" Effective batch size: \d++ x (\d++) = \d++$", int),
        Fact("devices", rb" (dataset\.num_episodes=)\d++\r?+\n[^\n]{0,200}? num_learnable_params=", lambda _: 1),
        Fact("total_steps", rb" cfg\.steps=(\d++) \(", int),
    ),
)  # fmt: skip
