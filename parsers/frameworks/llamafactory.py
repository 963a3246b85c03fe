"""LLaMA-Factory's `trainer_log.jsonl`: a row per logging interval, with steps and the time since the start.

`elapsed_time` is cut to whole seconds, and its differences are the time of the intervals. If seen tokens are counted
(`total_tokens`), they are those of the whole job, with padding; `throughput` is their mean since the start, with
evaluations and saving, and is not read. `"total_tokens": 0` means that tokens are not counted. A row of an evaluation
follows the row of its step, and the row after it includes the evaluation. A checkpoint shows only in the long row after
it. The last row repeats the last step without a learning rate. Several processes may write one file, each with a clock of
its own; a step counts once, by the mean of their clocks. Neither batch size nor devices are printed; steps are optimizer
updates. The last update of an epoch may have fewer samples: `epoch` counts the batches that were read, so its differences
show how many full updates a row covers. Older releases round it to two decimals, which is too coarse for that.
"""

from __future__ import annotations

import numpy as np

from perfledger.parsers.contract import (
    Columns,
    Format,
    Pause,
    Reading,
    lacks,
    mean_of_ranks,
    says,
    silent_checkpoints,
)


def _full_updates(columns: Columns) -> Columns:
    """Count the full updates of each row, if the epoch is printed with enough digits."""
    step, epoch = columns["step"], columns["_epoch"]
    if (epoch == np.round(epoch, 2)).all():
        return columns
    share, steps = (np.diff(each, prepend=0.0) for each in (epoch, step))
    full = float(np.quantile((share / steps)[steps > 0], 0.9, method="nearest"))
    updates = share / full
    # Each end of an epoch takes a part of one update away; any other share was damaged.
    ends = np.diff(np.floor(epoch), prepend=0.0) + 1
    counted = np.isfinite(updates) & (updates > steps - ends) & (updates <= steps)
    return columns.assign(steps=np.where(counted, updates, steps))


_PAUSES = (Pause("evaluation", '"eval_loss": {:int}'),)
_VERBS = (mean_of_ranks("clock"), silent_checkpoints, _full_updates)
_ROW = '{{"current_steps": {step}, "total_steps": {total_steps}, {?"loss": {loss}, }{*}"l{r|earning_rate}": {_}, "epoch": {_epoch}, {*}"elapsed_time": "{elapsed}"'
#: A release that counts no tokens prints `"total_tokens": 0`.
_TOKENS = rb'"total_tokens": [1-9]'

FORMAT = Format(
    title="LLaMA-Factory",
    framework="PyTorch",
    readings=(
        Reading(_ROW, unit="samples/s", per_update=True, where=lacks(_TOKENS), pauses=_PAUSES, verbs=_VERBS),
        Reading(
            _ROW + '{*}"total_tokens": {consumed}}}',
            unit="tokens/s",
            per_update=True,
            where=says(_TOKENS),
            pauses=_PAUSES,
            verbs=_VERBS,
        ),
    ),
)
