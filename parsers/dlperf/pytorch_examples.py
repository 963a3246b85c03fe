"""PyTorch examples, ImageNet (`main.py`) and scripts derived from it: a record per `--print-freq` batches.

`Time` is of the one batch that is printed; the mean in brackets runs since the start of the epoch, which is slow. Every
process of a node prints to one file, so each step is printed once per device of the node. DLPerf counted lines: its
hundred lines of eight devices span twelve steps. `Test:` lines are the validation. A `Time` of ten seconds or more
leaves no blank before it. Neither speed nor batch size is printed; the unit is samples of all devices.
"""

from parsers.contract import Fact, Format, NearMiss, Reading, Sample, Window

FORMAT = Format(
    title="PyTorch examples, ImageNet",
    framework="PyTorch",
    marker=b"Epoch: [",
    start=rb"Use GPU: 0 for training",
    readings=(
        Reading(
            rb"Epoch: \[<epoch>\]\[ *+<step>/<total_steps>\][\t ]++Time ++<step_seconds> "
            rb"\( *+[^\s()]++\)[\t ]++Data ++<reader_seconds> \( *+[^\s()]++\)[\t ]++Loss ++<loss> ",
            unit="images/s",
            span="step",
            repeated=True,
        ),
    ),
    facts=(Fact("model", rb"^=> (?:creating model|using pre-trained model) '([\w-]++)'"),),
    windows={"dlperf": Window(26, 125, "seconds")},
    samples=(
        Sample(
            b"Epoch: [0][ 6/53]\tTime  0.403 ( 2.123)\tData  0.106 ( 0.077)\tLoss 1.1494e+01 (1.8538e+01)\tAcc@1   1.56 (  1.56)",
            epoch=0, step=6, step_seconds=0.403, reader_seconds=0.106, loss=11.494,
        ),
        Sample(
            b"Epoch: [2][   0/5005]\tTime 18.500 (18.500)\tData  7.266 ( 7.266)\tLoss 6.9077e+00 (6.9077e+00)\tAcc@1   0.00 (  0.00)",
            epoch=2, step=0, step_seconds=18.5,
        ),
        Sample(
            b"Epoch: [0][10/5005]       Time 0.250 (2.123)    Data 0.000 (0.077)    Loss 6.9077 (6.9538)    Prec@1 1.562 (1.562)",
            step=10, step_seconds=0.25, reader_seconds=0.0,
        ),
        NearMiss(b"Test: [ 0/196]\tTime  6.403 ( 6.403)\tLoss 1.1494e+01 (1.8538e+01)\tAcc@1   1.56 (  1.56)", "the validation"),
        NearMiss(b"Epoch: [0][ 6/53]\tTime  0.403 ( 2.123)\tData  0.10", "cut"),
    ),
)  # fmt: skip
