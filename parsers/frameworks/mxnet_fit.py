"""MXNet's `Module.fit` with the callback `Speedometer`: a line per `disp_batches` batches and metric.

The same speed is printed once for each metric and counts once. A line with `Node[0]` counts what that worker trains:
all devices of its machine, or the job if Horovod joins them. A line without `Node` counts the job, which then is one
process, except with a store that the arguments call `dist`: it counts what its worker trains. Labels are `[20]` or
`[0-20]`. A log may contain many starts; `Validation-` lines are not training speed, and `Time cost=` is that of an epoch's
batches, of Scala's in milliseconds and not read. SimpleDet prints the iterations of the epoch in between, Sockeye
tokens per second after it; its timer runs on through a checkpoint. GluonCV, ArcFace and NGC print lines of nearly this
form; so does Gluon's example of image classification, of the last batch alone and with six decimals, which is not read.
"""

from perfledger.parsers.contract import Fact, Format, Pause, Reading, lacks, listed, says, text, up_to

_ARGUMENTS = rb"start with arguments Namespace\("

_SPEED = (
    rb"Epoch\[<epoch>\] Batch \[(?:[0-9]++-)?<step>\][\t ]++(?:Iter: [0-9]++/[0-9]++[\t ]++Lr: \S++[\t ]++)?+"
    rb"Speed: (?![0-9]++\.[0-9]{6} )<throughput> samples/sec(?![\t ]++acc=)(?: [0-9.]++ (?:token|update)s/sec)*+(?:[\t ]++(?:(?:Train-)?accuracy=<accuracy>(?=\s)"
    rb"|(?!lr=|LR:|(?:Train-)?accuracy=)[\w-]++=\S++))*+[\t ]*+(?=\r?\n)"
)  # fmt: skip
#: A worker's line. `accuracy` may be one of several metrics.
_LINE = "Epoch[{epoch}] Batch [{?{_}-}{step}]  Speed: {throughput} samples/sec{?{*}accuracy={accuracy}}"
_WORKER = "{clock} Node[{_}] " + _LINE
_PLAIN = rb"(?<!Node\[\d\] )(?<!Node\[\d\d\] )(?<!Node\[\d{3}\] )(?<!:INFO: )(?<!\] [0-9:]{8} INFO:root:)" + _SPEED
_ONE_MACHINE = _ARGUMENTS + rb"(?=" + up_to(rb"\bkv_?store='", _ARGUMENTS) + rb"(?:device|local|nccl))"


FORMAT = Format(
    title="MXNet Module.fit",
    framework="MXNet",
    # Workers without names announce themselves one after the other: together they are one start.
    start=rb"INFO:root:start with arguments (Namespace\([^\n]++)(?:\nINFO:root:start with arguments \1(?=\n))++"
    rb"|start with arguments Namespace",
    readings=(
        Reading(_WORKER, unit="samples/s", scope="node", ranks="median", where=lacks(rb"\bkv_?store='horovod'")),
        Reading(_WORKER, unit="samples/s", ranks="median", where=says(rb"\bkv_?store='horovod'")),
        Reading(
            _PLAIN,
            unit="samples/s",
            ranks="own",
            where=lacks(rb"\bkv_?store='dist"),
            pauses=(Pause("checkpoint", "Checkpoint [{_}]  Updates="),),
        ),
        Reading("Node[{_}] {_} INFO:root:" + _LINE, unit="samples/s", scope="node", ranks="median"),
        Reading(_PLAIN, unit="samples/s", scope="node", ranks="median", where=says(rb"\bkv_?store='dist")),
        Reading(rb"Epoch\[<epoch>\] Time cost=(?=[0-9]++\.)<duration>(?=\s)", span="epoch", weak=True),
    ),
    facts=(
        Fact("nodes", _ARGUMENTS + up_to(rb"\bkv_?store='", _ARGUMENTS) + rb"(device|local|nccl)'", lambda _: 1),
        Fact("batch_size_of_job", _ONE_MACHINE + up_to(rb"\bbatch_size=", _ARGUMENTS) + rb"(\d++)", int),
        Fact("devices", _ONE_MACHINE + up_to(rb"\bgpus='", _ARGUMENTS) + rb"([\d,]++)'", listed),
        # MXNet's own examples name a family; other families have no layers, though the argument has a default.
        Fact("devices", _ARGUMENTS + rb"(?!" + up_to(rb"\bkv_?store=", _ARGUMENTS) + rb")" + up_to(rb"\bgpus='", _ARGUMENTS) + rb"([\d,]++)'", listed),
        Fact("model", _ARGUMENTS + up_to(rb"\bnetwork='", _ARGUMENTS) + rb"((?:resnet(?:-v1)?|resnext|vgg)'" + up_to(rb"\bnum_layers=", _ARGUMENTS) + rb"\d++)", lambda printed: text(printed.split(b"'")[0] + b"-" + printed.split(b"=")[-1])),
        Fact("model", _ARGUMENTS + up_to(rb"\bnetwork='", _ARGUMENTS) + rb"([^'\n]{1,200}+)'"),
        Fact("precision", _ARGUMENTS + up_to(rb"\bdtype='", _ARGUMENTS) + rb"(float\d\d)'", words={b"float32": "fp32", b"float16": "fp16"}),
    ),
)  # fmt: skip
