"""torchreid, Dassl (CoOp and what is made of it) and SupContrast: a record per `print_freq` batches of an epoch.

As in PyTorch's ImageNet example, `time` is that of the printed batch, followed by the mean since the start of the epoch
in brackets; the seconds between two lines follow from the means. Batches count from 1, and the last of each
`print_freq` is printed, or every batch if an epoch has fewer. The batch size is that of all devices, and is in the
configuration.
"""

from perfledger.parsers.contract import Fact, Format, Reading, stretches

FORMAT = Format(
    title="torchreid, Dassl, SupContrast",
    framework="PyTorch",
    unproven=True,
    start="Loading trainer: ",
    end=rb"^(?:Finish(?:ed)? training|Elapsed: [0-9])",
    readings=(
        Reading(
            "epoch{?:} [{epoch}/{total_epochs}]{? batch }[{step}/{total_steps}]  time {step_seconds} ({_mean_seconds})  data {reader_seconds} ({_mean_wait}){?{*} loss {loss} }",
            unit="images/s",
            span="step",
            verbs=(stretches,),
        ),
        Reading(
            "Train: [{epoch}][{step}/{total_steps}]  BT {step_seconds} ({_mean_seconds})  DT {reader_seconds} ({_mean_wait})  {?loss {loss} }",
            unit="images/s",
            span="step",
            verbs=(stretches,),
        ),
    ),
    facts=(
        Fact("batch_size_of_job", rb"^ *+TRAIN_X:[ \t\r]*+\n(?:(?! *+[A-Z_]++:[ \t\r]*+\n)[^\n]*+\n){0,9}?(?:[^\r\n]*+\r)*+ *+BATCH_SIZE: (\d++)$", int),
        Fact("batch_size_of_job", rb"^train:[ \t\r]*+\n(?:(?![a-z_]++:[ \t\r]*+\n)[^\n]*+\n){0,40}?(?:[^\r\n]*+\r)*+ *+batch_size: (\d++)$", int),
        Fact("total_epochs", "^{? }MAX_EPOCH: {:int}$"),
        Fact("model", rb"^ *+BACKBONE:[ \t\r]*+\n(?:(?! *+[A-Z_]++:[ \t\r]*+\n)[^\n]*+\n){0,9}? *+NAME: (\S++)$"),
        Fact("precision", rb"^ *+PREC: (amp|fp16|fp32)$"),
    ),
)  # fmt: skip
