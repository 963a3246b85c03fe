"""PaddleVideo: a line per logging interval with the clips per second of one device, of the last batch alone.

`batch_cost` is that of the last batch too, so batches that wait between two lines are not in any line. The line at the
end of an epoch states the seconds of all its batches. If it is present, the epoch is read from it, without the first
batch: that one waits for the workers of the loader to start, and does not represent the others. Validations print lines
of the same form. SVTAS prints the same in PyTorch.
"""

from __future__ import annotations

import numpy as np

from perfledger.parsers.contract import (
    Columns,
    Fact,
    Format,
    Reading,
    up_to,
)
from perfledger.parsers.paddle import LAUNCHER

_BEGINS = rb"epoch:\["
_PLACE = rb"\bepoch:\[ *+%s/ *+%s *+\] train step:"
_END = (
    rb"\bEND epoch:%s ++train " + up_to(rb"\bbatch_cost_sum: ", rb"END epoch:") + rb"%s sec, avg_ips: %s instance/sec"
)  # fmt: skip


def _whole_epochs(columns: Columns) -> Columns:
    """Return a record per epoch whose end is printed, or the lines of batches if no end is printed."""
    line, ended = np.isfinite(columns["step"]), np.isfinite(columns["_ended"])
    if not (line.any() and ended.any()):
        return columns.take(line)
    batch = np.median((columns["throughput"] * columns["step_seconds"])[line])
    rows, first = np.flatnonzero(ended), np.flatnonzero(np.isfinite(columns["_first"]))
    rows = rows[np.diff(columns["_ended"][rows], prepend=np.nan) != 0]  # Two handlers print each line twice.
    found = columns.take(rows)
    step = np.round(found["_sum"] * found["_mean"] / batch)
    # The line of an epoch's first batch, if there is one, follows the end of the epoch before.
    of_first = np.append(first, -1)[np.searchsorted(first, rows) - 1]
    known = of_first > np.concatenate([[-1], rows[:-1]])
    seconds = found["_sum"] - np.where(known, columns["_first"][of_first], 0.0)
    batches = step - known
    return found.assign(
        epoch=found["_ended"],
        step=step,
        steps=batches,
        batch=np.full(len(rows), batch),
        step_seconds=seconds / batches,
        throughput=batch * batches / seconds,
    )


FORMAT = Format(
    title="PaddleVideo",
    needs=b" instance/sec",
    framework="PaddlePaddle",
    start=rb"(?m)^[^\n]{0,60}\] DATASET : ",
    before_start=rb"\] DALI is not installed, you can improve performance if use DALI",
    unproven=True,
    readings=(
        Reading(
            _PLACE % (rb"<epoch>", rb"<total_epochs>") + rb"(?!0 )<step> ++(?:loss: <loss>,? )?+" + up_to(rb"\bbatch_cost: ", _BEGINS)
            + rb"<step_seconds> sec, reader_cost: <reader_seconds> sec, ips: <throughput> instance/sec"
            + rb"|" + _PLACE % (rb"[0-9]++", rb"[0-9]++") + rb"0 " + up_to(rb"\bbatch_cost: ", _BEGINS) + rb"<_first> sec, "
            + rb"|" + _END % (rb"<_ended>", rb"<_sum>", rb"<_mean>"),
            unit="clips/s",
            scope="device",
            span="step",
            verbs=(_whole_epochs,),
        ),
        Reading("END epoch:{epoch} train {*}batch_cost_sum: {duration} sec, avg_ips: {throughput} instance/sec", unit="clips/s", scope="device", span="epoch"),
    ),
    facts=(
        Fact("batch_size", rb"^[^\n]{0,60}?\bbatch_size ?: ([0-9]++)$", int),
        Fact("model", rb"^[^\n]{0,60}?\bmodel_name ?: (\w++)$"),
        Fact("framework", rb"(\bSeg_Acc: |\bSVTAS\b)", lambda _: "PyTorch"),
        *LAUNCHER,
    ),
)  # fmt: skip
