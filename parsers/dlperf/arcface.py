"""InsightFace, ArcFace (MXNet `recognition/ArcFace`): a `Speed` line per 20 batches, labelled with the first and last.

`Speed` counts the batch of the trainer, `per_batch_size` times its devices. That is the batch of the job, or of one
worker if the head of the log says that a distributed store joins several. `Iter[0]` lines are from the trainer that
splits the last layer. DLPerf multiplied by the number of nodes in either case.
"""

from perfledger.parsers.contract import Fact, Format, Pause, Reading, lacks, says

_ARGUMENTS = "Called with argument: Namespace("
#: The callback that verifies runs after that of the speed, whose clock runs on.
VERIFICATION = (
    Pause("evaluation", "testing verification.."),
    Pause("checkpoint", 'Saved checkpoint to "'),
)
_EPOCH = "Epoch[{epoch}] Batch [{?{_}-}{step}]  Speed: {throughput} samples/sec  acc={accuracy}{?  lossvalue={loss}}"
_ITER = "Iter[{epoch}] Batch [{?{_}-}{step}]  Speed: {throughput} samples/sec{?  acc={accuracy}}{?  lossvalue={loss}}"
_MANY_WORKERS = _ARGUMENTS + "{*}kvstore='dist"

FORMAT = Format(
    title="InsightFace ArcFace",
    framework="MXNet",
    start=_ARGUMENTS,
    readings=(
        Reading(_EPOCH, unit="images/s", ranks="own", pauses=VERIFICATION, where=lacks(_MANY_WORKERS)),
        Reading(_EPOCH, unit="images/s", ranks="median", pauses=VERIFICATION, where=says(_MANY_WORKERS), scope="node"),
        Reading(_ITER, unit="images/s", ranks="median", pauses=VERIFICATION),
    ),
    facts=(
        Fact("batch_size", "per_batch_size={:int}"),
        Fact("batch_size_of_job", _ARGUMENTS + "{*}batch_size={:int}", where=lacks(_MANY_WORKERS)),
        Fact("model", _ARGUMENTS + "{*}network='{}'"),
        Fact("num_classes", "'num_classes': {:int}"),
    ),
)  # fmt: skip
