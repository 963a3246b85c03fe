"""torchreid, Dassl (CoOp and what is made of it) and SupContrast: a record per `print_freq` batches of an epoch.

As in PyTorch's ImageNet example `time` is of the batch that is printed, and in brackets follows the mean since the
start of the epoch, from which the seconds between two lines follow. Batches count from 1, and the last of each
`print_freq` is printed, or each where an epoch has fewer. The batch size is that of all devices, and stands in the
configuration.
"""

from perfledger.parsers.contract import Fact, Format, NearMiss, Reading, Sample
from perfledger.parsers.contract.epoch_means import stretches


def _reading(head: bytes, time: bytes, data: bytes) -> Reading:
    """Return the reading of the lines of one loop."""
    return Reading(
        head + rb"[\t ]++" + time + rb" <step_seconds> \((?P<_mean_seconds>[0-9.]++)\)[\t ]++"
        + data + rb" <reader_seconds> \((?P<_mean_wait>[0-9.]++)\)" + rb"[\t ]++(?:eta [0-9]++[0-9a-z:, ]++[\t ])?+"
        rb"(?:loss <loss>(?=\s))?+",
        unit="images/s",
        span="step",
        marker=time + b" ",
        postprocess=stretches,
    )  # fmt: skip


FORMAT = Format(
    title="torchreid, Dassl, SupContrast",
    framework="PyTorch",
    marker=b" (",
    unproven=True,
    start=rb"Loading trainer: ",
    end=rb"^(?:Finish(?:ed)? training|Elapsed: [0-9])",
    readings=(
        _reading(rb"\bepoch:?+ \[<epoch>/<total_epochs>\](?: batch )?+\[<step>/<total_steps>\]", rb"time", rb"data"),
        _reading(rb"(?<!\w)Train: \[<epoch>\]\[<step>/<total_steps>\]", rb"BT", rb"DT"),
    ),
    facts=(
        Fact("batch_size_of_job", rb"^ *+TRAIN_X:[ \t\r]*+\n(?:(?! *+[A-Z_]++:[ \t\r]*+\n)[^\n]*+\n){0,9}?(?:[^\r\n]*+\r)*+ *+BATCH_SIZE: (\d++)$", int),
        Fact("batch_size_of_job", rb"^train:[ \t\r]*+\n(?:(?![a-z_]++:[ \t\r]*+\n)[^\n]*+\n){0,40}?(?:[^\r\n]*+\r)*+ *+batch_size: (\d++)$", int),
        Fact("total_epochs", rb"^ *+MAX_EPOCH: (\d++)$", int),
        Fact("model", rb"^ *+BACKBONE:[ \t\r]*+\n(?:(?! *+[A-Z_]++:[ \t\r]*+\n)[^\n]*+\n){0,9}? *+NAME: (\S++)$"),
        Fact("precision", rb"^ *+PREC: (amp|fp16|fp32)$"),
    ),
    samples=(
        Sample(
            b"epoch [3/50] batch [20/385] time 0.500 (0.625) data 0.125 (0.250) loss 1.2500 (1.5000) acc 62.5000 (60.0000) lr 2.0000e-03 eta 0:50:00\n",
            epoch=3, total_epochs=50, step=20, total_steps=385, step_seconds=0.5, reader_seconds=0.125, loss=1.25,
        ),
        Sample(
            b"epoch [3/50][20/385]\ttime 0.500 (0.625)\tdata 0.125 (0.250)\teta 1 day, 0:50:00\tloss 1.2500 (1.5000)\tacc 62.5 (60.0)\tlr 2.0e-03\n",
            epoch=3, step=20, step_seconds=0.5, loss=1.25,
        ),
        Sample(
            b"epoch: [3/60][20/185]\ttime 0.500 (0.625)\tdata 0.125 (0.250)\teta 0:50:00\tloss 6.2500 (6.5000)\tacc 1.5 (1.0)\tlr 0.000300\n",
            epoch=3, total_epochs=60, step=20, step_seconds=0.5, loss=6.25,
        ),
        Sample(
            b"Train: [3][20/195]\tBT 0.500 (0.625)\tDT 0.125 (0.250)\tloss 5.250 (5.500)\n",
            epoch=3, step=20, total_steps=195, step_seconds=0.5, loss=5.25,
        ),
        NearMiss(b"Test: [20/79]\tTime 0.050 (0.063)\tLoss 1.2500 (1.5000)\tAcc@1 62.500 (60.000)\n", "the validation"),
        NearMiss(b"epoch [3/50] batch [20/385] time 0.500 (0.625) data 0.1", "cut"),
    ),
)  # fmt: skip
