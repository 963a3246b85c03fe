"""torchreid, Dassl (CoOp and what is made of it) and SupContrast: a record per `print_freq` batches of an epoch.

As in PyTorch's ImageNet example `time` is of the batch that is printed, and in brackets follows the mean since the
start of the epoch, from which the seconds between two lines follow. Batches count from 1, and the last of each
`print_freq` is printed, or each where an epoch has fewer. The batch size is that of all devices, and stands in the
configuration.
"""

from perfledger.parsers.contract import Fact, Format, Reading
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
        verbs=(stretches,),
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
)  # fmt: skip
