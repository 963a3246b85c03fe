"""GluonCV's detection scripts (SSD, YOLOv3, CenterNet, Faster and Mask R-CNN): the seconds of each epoch.

`Speed` of SSD, YOLOv3 and CenterNet is that of the last batch alone, up to four times too high, and is not read;
`Training cost` is the epoch without its validation. An epoch holds all images of the data set, since an incomplete batch
rolls over to the next. Of R-CNNs `Speed` is that of the interval. Batch sizes are those of the job.
"""

from parsers.contract import Fact, Format, NearMiss, Reading, Sample, listed

_BATCH = rb"\[Epoch <epoch>\]\[Batch <step>\], "
_SET = rb"^Namespace\([^\n]{0,2000}?\bdataset='(%s)'[^\n]{0,2000}?\bsave_prefix='[^'\n]{0,200}?(?:ssd|yolo|center_net)"


def _number(key: bytes) -> bytes:
    """Return a pattern for a number of the arguments."""
    return rb"^Namespace\([^\n]{0,4000}?\b" + key + rb"=([1-9][0-9]*+)[,)]"


FORMAT = Format(
    title="GluonCV detection",
    framework="MXNet",
    marker=b"[Epoch ",
    start=rb"Start training from \[Epoch [0-9]++\]",
    before_start=rb"^Namespace\(",
    readings=(
        Reading(
            rb"\[Epoch <epoch>\] Training cost: <duration>, (?!RPN_)(?=[A-Z]\w*+=)",
            unit="images/s",
            span="epoch",
        ),
        Reading(
            _BATCH + rb"Speed: <throughput> samples/sec, RPN_Conf=",
            unit="images/s",
        ),
    ),
    facts=(
        Fact("model", rb"^Namespace\([^\n]{0,4000}?\bsave_prefix='(?:[^'/\n]++/)*+([^'/\n]++)'"),
        Fact("batch_size_of_job", _number(rb"batch_size"), int),
        Fact("devices", rb"^Namespace\([^\n]{0,4000}?\bgpus='([0-9,]++)'", listed),
        Fact("total_epochs", _number(rb"epochs"), int),
        Fact("data_set_size", _number(rb"num_samples"), int),
        Fact("data_set_size", _SET % rb"voc", lambda _: 16_551),
        Fact("data_set_size", _SET % rb"coco", lambda _: 117_266),
        Fact("precision", rb"^Namespace\([^\n]{0,4000}?\bamp=(True|False)\b", words={b"True": "amp", b"False": "fp32"}),
    ),
    samples=(
        Sample(b"[Epoch 3] Training cost: 245.500000, CrossEntropy=5.365758, SmoothL1=2.420168\n", epoch=3, duration=245.5),
        Sample(
            b"[Epoch 0][Batch 99], Speed: 12.500 samples/sec, RPN_Conf=0.250,RPN_SmoothL1=0.125,RCNN_CrossEntropy=0.500\n",
            epoch=0, step=99, throughput=12.5,
        ),
        NearMiss(b"[Epoch 0][Batch 99], LR: 1.28E-04, Speed: 108.251 samples/sec, ObjLoss=415.712", "the last batch alone"),
        NearMiss(b"[Epoch 0][Batch 99], Speed: 71.553289 samples/sec, CrossEntropy=7.868669", "the last batch alone"),
        NearMiss(b"[Epoch 0] Training cost: 245.500, RPN_Conf=0.250,RPN_SmoothL1=0.125", "an epoch of unknown length"),
        NearMiss(b"[Epoch 3] Training cost: 245.500, Learning rate 0.001, mAP=0.525\n", "an epoch with its validation"),
        NearMiss(b"[Epoch 0] Validation: \n", "an evaluation"),
        NearMiss(b"[Epoch 3] Training cost: 245.5", "cut inside the number"),
    ),
)  # fmt: skip
