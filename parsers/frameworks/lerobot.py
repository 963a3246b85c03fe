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
    NearMiss,
    Pause,
    Postprocessed,
    Reading,
    Sample,
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
            postprocess=_told,
            pauses=(
                Pause("checkpoint", rb" Checkpoint policy after step ", b"INFO 2026-11-20 10:00:00 ot_train.py:360 Checkpoint policy after step 20000", inside="none"),
                Pause("evaluation", rb" Eval policy at step ", b"INFO 2026-11-20 10:00:00 ot_train.py:380 Eval policy at step 20000", inside="none"),
            ),
        ),
    ),
    facts=(
        Fact("batch_size", rb"\.py:\d++ ++\{'batch_size': (\d++),$", int),
        Fact("devices", rb" Effective batch size: \d++ x (\d++) = \d++$", int),
        Fact("devices", rb" (dataset\.num_episodes=)\d++\r?+\n[^\n]{0,200}? num_learnable_params=", lambda _: 1),
        Fact("total_steps", rb" cfg\.steps=(\d++) \(", int),
    ),
    samples=(
        Sample(
            b"INFO 2026-11-20 10:00:00 ot_train.py:351 step:200 smpl:2K ep:4 epch:0.08 loss:0.500 grdn:1.250 lr:1.0e-05 updt_s:0.125 data_s:0.025\n",
            loss=0.5, _updating=0.125, reader_seconds=0.025,
        ),
        NearMiss(
            b"INFO 2026-11-20 10:00:00 ts/train.py:220 step:20K smpl:160K ep:400 epch:8.00 loss:0.500 grdn:1.250 lr:1.0e-05 updt_s:0.125 data_s:0.0",
            "cut",
        ),
        NearMiss(
            "INFO 2026-11-20 10:00:00 ts/train.py:270 step:20K smpl:160K ep:400 epch:8.00 ∑rwrd:0.500 success:50.0% eval_s:1.250\n".encode(),
            "an evaluation",
        ),
    ),
)  # fmt: skip
