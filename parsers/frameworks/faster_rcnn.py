"""`faster-rcnn.pytorch` and the many programs of domain adaptation made of it: two or three lines per `disp_interval` steps.

`time cost` is the seconds since the lines before, with the wait for data; the first of an epoch is of one step. What
stands between two epochs, such as the checkpoint, is in none of them. The batch size is that of the job, of whose
devices no line tells the number; where two domains are trained, images of one count. Tests are another program's.
"""

from __future__ import annotations

import numpy as np

from parsers.contract import Columns, Fact, Format, NearMiss, Postprocessed, Reading, Sample, text, up_to_argument

_ARGUMENTS = rb"^Namespace\("
_OURS = _ARGUMENTS + rb"(?=" + up_to_argument(b"disp_interval") + rb")"


#: What another program prints between the lines of a record, or a bar over and over before one of them.
_FOREIGN = rb"(?:(?!\s*+(?:loss: |fg/bg=|time cost: )|\[session )[^\r\n]{0,400}+(?:\r?\n|\r)){0,9}+"


def _with_steps(columns: Columns) -> Postprocessed:
    """Return all records with the steps since the one before, of which the first of an epoch covers one.

    Where lines of records are missing, the next one's seconds are those since the last that was printed.
    """
    step = columns["step"]
    gaps = np.diff(step, prepend=np.nan)
    known = (np.diff(columns["epoch"], prepend=np.nan) == 0) & (gaps > 0)
    usual = gaps[known].min() if known.any() else np.nan
    steps = np.where(step == 0, 1.0, np.where(known & (gaps % usual != 0), gaps, usual))
    return np.arange(len(step)), {**columns, "steps": steps}


def _argument(key: bytes, printed: bytes) -> bytes:
    return _OURS + up_to_argument(key) + printed


FORMAT = Format(
    title="faster-rcnn.pytorch",
    framework="PyTorch",
    marker=b"[session ",
    unproven=True,
    start=rb"(?m)" + _OURS,
    before_start=rb"^Called with args:[ \t]*+$",
    readings=(
        Reading(
            rb"\[session [0-9]++\]\[epoch *+<epoch>\]\[iter *+<step>/ *+<total_steps>\] *+\r?\n?" + _FOREIGN + rb"\s*+loss: <loss>(?:,[^\r\n]*+)?+\r?\n"
            + _FOREIGN + rb"\s*+(?:fg/bg=\([0-9/, ]*+\), ?+)?+time cost: <duration>(?=\s)",
            unit="images/s",
            epoch_timer=True,
            postprocess=_with_steps,
        ),
    ),
    facts=(
        Fact("model", _argument(rb"net", rb"'([^'\n]++)'"), lambda net: f"Faster R-CNN, {text(net)}"),
        Fact("batch_size_of_job", _argument(rb"batch_size", rb"([0-9]++)"), int),
        Fact("devices", _argument(rb"mGPUs", rb"(False)"), lambda _: 1),
        Fact("total_epochs", _argument(rb"max_epochs", rb"([0-9]++)"), int),
    ),
    samples=(
        Sample(
            b"[session 1][epoch  1][iter  100/10022] loss: 1.2500, lr: 1.00e-03\n"
            b"\t\t\tfg/bg=(32/96), time cost: 25.500000\n\t\t\trpn_cls: 0.6445, rpn_box: 0.2561, rcnn_cls: 0.5042, rcnn_box 0.6625\n",
            epoch=1, step=100, total_steps=10022, loss=1.25, duration=25.5,
        ),
        Sample(
            b"[session 1][epoch 12][iter 9900/10022] loss: 0.1250, loss_sup: 0.0000, lr: 3.00e-03\n\t\t\tfg/bg=(15/241), time cost: 17.875000\n",
            epoch=12, step=9900, loss=0.125, duration=17.875,
        ),
        Sample(b"[session 1][epoch  1][iter    2/8466]\nloss: 13.2500\ntime cost: 0.226000\n", epoch=1, step=2, duration=0.226),
        NearMiss(b"[session 1][epoch  1][iter  100/10022] loss: 1.2500, lr: 1.00e-03\n\t\t\tfg/bg=(32/96), time cost: 25.5", "cut inside the number"),
        NearMiss(b"im_detect: 12/4952 0.125s 0.002s\n", "an evaluation"),
    ),
)  # fmt: skip
