"""GluonCV (MXNet), image and video classification: a `Speed` line per `log_interval` batches, which ends in `lr=`.

The figure counts all devices: the script without Horovod runs in one process, and with Horovod the first worker prints
its own speed times the number of workers. Only where a distributed store joins several workers, as the script for
videos offers (`--kvstore dist_sync`), does each of them print its own; several speeds of one batch that no argument
explains may be those of workers, and give no figure. Labels are `Batch[20]`, `Batch [49]` or `Batch
[0019]/[0055]`. Lines with a loss and no speed are printed in between; `[Epoch 3] speed:` is of a whole epoch, without
decimals and validation.
"""

from perfledger.parsers.contract import Condition, Fact, Format, Reading, Scope, lacks, says

#: An argument of the scripts that recognise actions, whose samples are clips of a video.
_VIDEO = rb"\bnum_segments="
_MANY_WORKERS = rb"\bkvstore='dist"


_CASES: tuple[tuple[str, Scope, Condition], ...] = (
    ("images/s", "job", lacks(_VIDEO, _MANY_WORKERS)),
    ("clips/s", "job", says(_VIDEO) & lacks(_MANY_WORKERS)),
    ("images/s", "node", lacks(_VIDEO) & says(_MANY_WORKERS)),
    ("clips/s", "node", says(_VIDEO, _MANY_WORKERS)),
)
_LINES = (
    "Epoch[{epoch}] Batch{? }[{step}]{?/[{total_steps}]}  Speed: {throughput} samples/sec{?  {accuracy|acc|top1-acc}={accuracy}}{?  loss={loss}}{*} lr=",
    "Epoch[{epoch}] Batch[{step}]  Speed: {throughput} samples/sec\n",
)
_EPOCH = "[Epoch {epoch}] speed: {throughput} samples/sec  time cost: {duration}"

FORMAT = Format(
    title="GluonCV",
    framework="MXNet",
    # If an epoch has a few batches, only its speed is printed.
    start=rb"(?m)^(?:INFO:root:)?Namespace\([^\n]*?\blr_mode=",
    readings=(
        *(Reading(line, unit=unit, scope=scope, where=where, ranks="own") for unit, scope, where in _CASES for line in _LINES),
        *(
            Reading(_EPOCH, unit=unit, scope=scope, span="epoch", weak=True, where=where)
            for unit, scope, where in _CASES
        ),
    ),
    facts=(
        Fact("batch_size", rb"^(?:INFO:root:)?Namespace\([^\n]*?\bbatch_size=(\d++)", int),
        Fact("devices", rb"^(?:INFO:root:)?Namespace\((?!(?:(?!kvstore=)[^\n])*+kvstore='dist)(?:(?!\bnum_gpus=)[^\n])*+num_gpus=(\d++)", int),
        Fact("accumulation", rb"^(?:INFO:root:)?Namespace\([^\n]*?\baccumulate=(\d++)", int),
        Fact("num_classes", rb"^(?:INFO:root:)?Namespace\([^\n]*?\bnum_classes=(\d++)", int),
        Fact("model", rb"^(?:INFO:root:)?Namespace\([^\n]*?\bmodel='([^'\n]++)'"),
        Fact("precision", rb"^(?:INFO:root:)?Namespace\([^\n]*?\buse_amp=(True)", words={b"True": "amp"}),
        Fact("precision", rb"^(?:INFO:root:)?Namespace\([^\n]*?\bdtype='(float\d\d)'", words={b"float32": "fp32", b"float16": "fp16"}),
    ),
)  # fmt: skip
