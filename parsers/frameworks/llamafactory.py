"""LLaMA-Factory's `trainer_log.jsonl`: a row per logging interval, with steps and the time since the start.

`elapsed_time` is cut to whole seconds, and its differences are the time of the intervals. Where seen tokens are counted
(`total_tokens`), they are those of the whole job, padding included; `throughput` is their mean since the start, with
evaluations and saving in it, and not read. `"total_tokens": 0` says that nothing counts them. A row of an evaluation
stands behind the row of its step, and the row after it holds the evaluation. Of a checkpoint no row tells but the long
one behind it. The last row repeats the last step without a learning rate. Several processes may write one file, each
with a clock of its own; a step counts once, by the mean of their clocks. Neither batch size nor devices are printed;
steps are optimiser updates. The last update of an epoch may be of fewer samples: `epoch` counts the batches that were
read, so that its differences say how many full updates a row stands for. Older releases round it to two decimals, which
is too coarse for that.
"""

from __future__ import annotations

import numpy as np

from perfledger.parsers.contract import (
    NUMBER,
    Columns,
    Format,
    Pause,
    Postprocessed,
    Reading,
    is_private,
)
from perfledger.parsers.frameworks import row, value
from perfledger.parsers.frameworks.hf_trainer import holds_checkpoint


def _of_all_processes(columns: Columns) -> Postprocessed:
    """Return a row per step, with the mean of the times of all processes that wrote it.

    Processes lag by a row or two; a step further back is that of another run in the same file.
    """
    step = columns["step"]
    apart = np.diff(np.unique(step))
    usual = np.median(apart) if len(apart) else 1.0
    run = np.cumsum(np.diff(step, prepend=step[:1]) < -3 * usual)
    _, first, group, writers = np.unique(
        np.stack([run, step]), axis=1, return_index=True, return_inverse=True, return_counts=True
    )
    kept = np.flatnonzero(writers == np.median(writers)) if len(step) else first
    rows = first[kept]
    clock = np.bincount(group.ravel(), columns["clock"])[kept] / writers[kept]
    return rows, {name: each[rows] for name, each in columns.items()} | {"clock": clock}


def _full_updates(columns: Columns) -> Postprocessed:
    """Return all rows, each with the full updates that it stands for, where the share of the epoch tells them."""
    rows, columns = _of_all_processes(columns)
    step, epoch = columns["step"], columns["_epoch"]
    found = {name: each for name, each in columns.items() if not is_private(name)}
    found["evaluated"] = holds_checkpoint(step, columns["clock"], ())
    if (epoch == np.round(epoch, 2)).all():
        return rows, found
    with np.errstate(all="ignore"):
        share, steps = (np.diff(each, prepend=0.0) for each in (epoch, step))
        full = float(np.quantile((share / steps)[steps > 0], 0.9, method="nearest"))
        updates = share / full
    # Each end of an epoch takes a part of one update away; any other share was damaged.
    ends = np.diff(np.floor(epoch), prepend=0.0) + 1
    counted = np.isfinite(updates) & (updates > steps - ends) & (updates <= steps)
    return rows, found | {"steps": np.where(counted, updates, steps)}


_ROW = (
    value(rb"(?:lr|learning_rate)", NUMBER) + value(rb"loss", rb"<loss>", needed=False) + value(rb"epoch", rb"(?P<_epoch>%s)" % NUMBER)
    + value(rb"elapsed_time", rb'(?P<elapsed>[^"\r\n]++)')
)  # fmt: skip


def _reading(unit: str, *tokens: bytes) -> Reading:
    """Return the reading of the rows that count tokens, or of those that do not."""
    return Reading(
        row(rb'"current_steps": <step>, "total_steps": <total_steps>, ', _ROW, *tokens),
        unit=unit,
        counts="update",
        pauses=_PAUSES,
        verbs=(_full_updates,),
    )


_PAUSES = (
    Pause(
        "evaluation",
        rb'"eval_loss": [0-9]',
    ),
)

FORMAT = Format(
    title="LLaMA-Factory",
    framework="PyTorch",
    marker=b'{"current_steps": ',
    readings=(
        _reading("samples/s", rb'(?![^\r\n{}]*?"total_tokens": [1-9])'),
        _reading(
            "tokens/s",
            value(rb"total_tokens", rb"(?P<consumed>[1-9][0-9]*+)"),
        ),
    ),
)  # fmt: skip
