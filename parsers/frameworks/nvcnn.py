"""NVIDIA's early examples of image classification in TensorFlow, `nvcnn.py` and the ResNet of 2018: a table of steps.

Amazon's scripts for Horovod were made of the latter. All of them print the speed of the whole job, from the first
process alone: `nvcnn.py` that of the one step that it prints, the others a mean over the steps since the line before,
from the seconds of the steps alone, so that a checkpoint is in none. The first line is of the first step. No line of
the later scripts states the batch size. Several that are started into one file each print the head of the table.
"""

from parsers.contract import NUMBER, Fact, Format, NearMiss, Reading, Sample, listed
from parsers.frameworks import TENSORFLOW_GPU, resnet_v1

_SPEED = rb"(?P<throughput>[0-9]++\.[0-9]|inf|nan)"
_HEAD = rb"Step Epoch (?:Speed|Img/sec) ++Loss"

FORMAT = Format(
    title="nvcnn",
    framework="TensorFlow",
    # The head of the table; what stands below it are numbers alone.
    marker=b"Step Epoch ",
    unproven=True,
    start=_HEAD,
    before_start=rb"^PY ?[0-9]\.|^TensorFlow: ++[0-9]|^Horovod size: |^Num (?:ranks|images): ",
    end=rb"^(?:Images/sec: [0-9]|Finished in  ?+[0-9])",
    readings=(
        Reading(
            rb"(?m)^ *+<step> ++[0-9]++(?:\.[0-9])?+ ++" + _SPEED + rb" ++<loss> ++(?:" + NUMBER + rb" ++(?=[0-9]))?+[0-9]++\.[0-9]{5}(?=\s)",
            unit="images/s",
        ),
        Reading(
            rb"(?m)^Images/sec: <throughput> \+/- " + NUMBER + rb" \(jitter = " + NUMBER + rb"\)(?=\s)",
            unit="images/s",
            span="run",
            marker=b"Images/sec: ",
        ),
    ),
    facts=(
        Fact("model", rb"^Model: ++resnet([0-9]++)$", resnet_v1),
        Fact("model", rb"^Model: ++(\w[\w.-]*+)$"),
        Fact("framework_version", rb"^TensorFlow: ++([0-9][\w.]*+)"),
        Fact("devices", rb"^(?:Horovod size:|Num ranks:) ++([0-9]++)$", int),
        Fact("devices", rb"^Devices: ++\[([^\]\n]++)\]$", listed),
        Fact("batch_size_of_job", rb"^Batch size: ++([0-9]++) global$", int),
        Fact("batch_size", rb"^(?:Batch size:)?+ ++([0-9]++)(?:\.0)?+ per device$", int),
        Fact("data_format", rb"^Data format: ++(NCHW|NHWC)$"),
        Fact("precision", rb"^Data type: ++(fp16|fp32)$"),
        TENSORFLOW_GPU,
    ),
    samples=(
        Sample(
            b"  Step Epoch Speed   Loss  FinLoss   LR\n    10   0.0  5120.0  7.250  8.500 0.12500\n",
            step=10, throughput=5120.0, loss=7.25,
        ),
        Sample(
            b"  Step Epoch Speed   Loss  FinLoss   LR\n 12500  10.5 10240.5  3.125  4.250 1.50000\n",
            step=12500, throughput=10240.5, loss=3.125,
        ),
        Sample(
            b"  Step Epoch Img/sec   Loss   LR\n   100     1   142.1   8.011 2.00000\n", step=100, throughput=142.1, loss=8.011
        ),
        Sample(
            b"  Step Epoch Img/sec   Loss   LR\nImages/sec: 2560.5 +/- 1.5 (jitter = 4.5)\n", throughput=2560.5
        ),
        NearMiss(b"  Step Epoch Speed   Loss  FinLoss   LR\n", "the head of the table"),
        NearMiss(b"    10   0.0  5120.0  7.250  8.500 0.125", "cut inside the number"),
        NearMiss(b" 5004    1.0   35.50   60.25    4.50  2026-11-20 10:00:00\n", "an evaluation"),
        NearMiss(b"Images/sec: 2560.5 +/- 1.5 (jitter", "cut"),
    ),
)  # fmt: skip
