"""InsightFace, ArcFace (MXNet `recognition/ArcFace`): a `Speed` line per 20 batches, labelled with the first and last.

`Speed` counts the batch of the trainer, `per_batch_size` times its devices. That is the batch of the job, or of one
worker if the head of the log says that a distributed store joins several. `Iter[0]` lines are from the trainer that
splits the last layer. DLPerf multiplied by the number of nodes in either case.
"""

from perfledger.parsers.contract import Fact, Format, NearMiss, Pause, Reading, Sample, Window, up_to
from perfledger.parsers.contract.conditions import lacks, says

_ARGUMENTS = rb"Called with argument: Namespace\("

_FIELDS = rb"(?:[\t ]++lossvalue=<loss>(?=\s))?+"
#: The callback that verifies runs after that of the speed, whose clock runs on.
VERIFICATION = (
    Pause("evaluation", rb"testing verification\.\.", b"testing verification.."),
    Pause("checkpoint", rb'Saved checkpoint to "', b'INFO:root:Saved checkpoint to "models/r100-arcface-0001.params"'),
)
_BATCH = rb"\[<epoch>\] Batch \[(?:[0-9]++-)?<step>\][\t ]++Speed: <throughput> samples/sec"
_EPOCH = rb"Epoch" + _BATCH + rb"[\t ]++acc=<accuracy>(?=\s)" + _FIELDS
_ITER = rb"Iter" + _BATCH + rb"(?:[\t ]++acc=<accuracy>(?=\s))?+" + _FIELDS
_MANY_WORKERS = _ARGUMENTS + up_to(rb"\bkvstore='dist", _ARGUMENTS)

FORMAT = Format(
    title="InsightFace ArcFace",
    framework="MXNet",
    marker=b"Speed: ",
    start=_ARGUMENTS,
    readings=(
        Reading(_EPOCH, unit="images/s", alone=True, repeated=True, pauses=VERIFICATION, where=lacks(_MANY_WORKERS)),
        Reading(_EPOCH, unit="images/s", repeated=True, pauses=VERIFICATION, where=says(_MANY_WORKERS), scope="node"),
        Reading(_ITER, unit="images/s", repeated=True, pauses=VERIFICATION),
    ),
    facts=(
        Fact("batch_size", rb"\bper_batch_size=(\d++)", int),
        Fact("batch_size_of_job", rb"(?!" + _MANY_WORKERS + rb")" + _ARGUMENTS + up_to(rb"\bbatch_size=", _ARGUMENTS) + rb"(\d++)", int),
        Fact("model", _ARGUMENTS + up_to(rb"\bnetwork='", _ARGUMENTS) + rb"(\w++)'"),
        Fact("num_classes", rb"'num_classes': (\d++)", int),
    ),
    windows={"dlperf": Window(2, 6, by="record")},
    samples=(
        Sample(b"INFO:root:Epoch[0] Batch [40-60]\tSpeed: 0.95 samples/sec\tacc=0.000000\t\n", epoch=0, step=60, throughput=0.95, accuracy=0.0),
        Sample(
            b"INFO:root:Epoch[0] Batch [32400-32420]\tSpeed: 224.07 samples/sec\tacc=0.276429\tlossvalue=11.522861\n",
            step=32420, throughput=224.07, accuracy=0.276429, loss=11.522861,
        ),
        Sample(b"INFO:root:Iter[0] Batch [20-40]\tSpeed: 1500.25 samples/sec\n", epoch=0, step=40, throughput=1500.25),
        NearMiss(b"INFO:root:Epoch[0] Batch [40-60]\tSpeed: 0.9", "cut inside the number"),
        NearMiss(b"lr-batch-epoch: 0.1 2000 0\ntesting verification..\n(12000, 512)\ninfer time 21.4", "verification"),
    ),
)  # fmt: skip
