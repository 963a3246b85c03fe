"""NanoDet (`tools/train.py`): a line per `log.interval` iterations, by the clock, which is told in whole seconds.

No time and no batch size are printed. A validation has lines of the same shape that begin with `Val`; it, a checkpoint
and the end of an epoch lie in the record after them. The first number behind `Iter` counts the iterations of the run.
"""

from perfledger.parsers.contract import Format, NearMiss, Pause, Reading, Sample

_STAMP = rb"\[NanoDet\]\[[0-9]{2}-[0-9]{2} (?P<clock>[0-9]{2}:[0-9]{2}:[0-9]{2})\]INFO: ?+"

FORMAT = Format(
    title="NanoDet",
    framework="PyTorch",
    marker=b"Train|Epoch",
    unproven=True,
    start=rb"INFO: ?+Setting up data\.\.\.",
    readings=(
        Reading(
            _STAMP + rb"Train\|Epoch<epoch>/<total_epochs>\|Iter<step>\([0-9]++(?:/[0-9]++)?+\)\| (?:mem:[^|\r\n]++\| )?+lr:[^|\r\n]++\| ",
            unit="images/s",
            epoch_end=True,
            pauses=(
                Pause("evaluation", rb"INFO: ?+Val\|Epoch", b"[NanoDet][11-20 10:01:00]INFO:Val|Epoch1/300|Iter150(1/20)| mem:3.22G| lr:1.00e-04| loss_qfl:0.5531| "),
                Pause("checkpoint", rb"INFO: ?+Saving model to ", b"[NanoDet][11-20 10:01:30]INFO:Saving model to workspace/nanodet/model_last.ckpt"),
            ),
        ),
    ),
    samples=(
        Sample(
            b"[NanoDet][11-20 10:00:50]INFO:Train|Epoch2/300|Iter160(11/150)| mem:3.22G| lr:1.00e-04| loss_qfl:0.5531| loss_bbox:0.7012| loss_dfl:0.2503| \n",
            epoch=2, total_epochs=300, step=160,
        ),
        Sample(b"[NanoDet][11-20 10:00:50]INFO: Train|Epoch2/190|Iter160(10)| lr:1.40e-01| loss_qfl:0.5531| \n", epoch=2, total_epochs=190, step=160),
        NearMiss(b"[NanoDet][11-20 10:01:00]INFO:Val|Epoch1/300|Iter150(1/20)| mem:3.22G| lr:1.00e-04| loss_qfl:0.5531| \n", "a validation"),
        NearMiss(b"[NanoDet][11-20 10:00:50]INFO:Train|Epoch2/300|Iter160(11/150)| mem:3.2", "cut"),
    ),
)  # fmt: skip
