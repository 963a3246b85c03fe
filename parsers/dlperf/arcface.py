"""InsightFace, ArcFace (MXNet `recognition/ArcFace`): a `Speed` line per 20 batches, labelled with the first and last.

`Speed` counts the batch of the trainer, `per_batch_size` times its devices. That is the batch of the job, or of one
worker if the head of the log says that a distributed store joins several. `Iter[0]` lines are from the trainer that
splits the last layer. DLPerf multiplied by the number of nodes in either case.
"""

from perfledger.parsers.contract import Fact, Format, Pause, Reading, Window, up_to
from perfledger.parsers.contract.conditions import lacks, says

_ARGUMENTS = rb"Called with argument: Namespace\("

_FIELDS = rb"(?:[\t ]++lossvalue=<loss>(?=\s))?+"
#: The callback that verifies runs after that of the speed, whose clock runs on.
VERIFICATION = (
    Pause("evaluation", rb"testing verification\.\."),
    Pause("checkpoint", rb'Saved checkpoint to "'),
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
)  # fmt: skip
