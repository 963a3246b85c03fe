"""Detectron2 (`CommonMetricPrinter`) and FastReID: a record per 20 iterations, in FastReID per 200.

`time` is a running mean of the seconds per iteration since the third iteration of the program; a resumed program
continues the count of iterations, so its mean begins at its first record. It leaves out what happens between
iterations, such as checkpoints and evaluations. `IMS_PER_BATCH` is the batch size of the job, and counts only below
`Running with full config:`: the file of the configuration is printed above it as it is, before the command line changes
it. `Auto-scaling the config` below changes it again for another number of devices. If a hook of the user computes
validation losses, the same line ends with them. `plain_train_net.py` has no hook that takes the time (source:
detectron2's `tools/` and `utils/events.py`): there the clocks of the lines count, in whole seconds. `Overall training
speed` is printed after a crash as well.
"""

from __future__ import annotations

from perfledger.parsers.contract import Fact, Format, Pause, Reading, lacks, since_start, up_to

#: The full configuration, which ends at the next line that begins with a date.
_FULL = rb"\bRunning with full config:"
_END = _FULL + rb"|\[[0-9]{2}/[0-9]{2} [0-9]{2}:"
_ANY = rb"[\s\S]"
_SCALED = rb"\bAuto-scaling the config to batch_size=%s, learning_rate=[^,\n]++, max_iter=%s, "

FORMAT = Format(
    title="Detectron2",
    framework="PyTorch",
    start=rb"(?:detectron2|fastreid)(?:\]:| INFO:) Rank of current process: 0\. World size: ",
    readings=(
        Reading(
            ".utils.events{*}iter: {?{_}/}{step}  total_loss: {loss}{*} time: {step_seconds}{?  last_time: {_}}  data_time: {reader_seconds}{?  last_data_time: {_}}  lr: {_}{?  max_mem: {memory}M}",
            unit="images/s",
            running_mean=2,
            verbs=(since_start,),
        ),
        Reading(
            "{clock}{?]} d2.utils.events{*} iter: {step}  total_loss: {loss}{*} lr: {_}{?  max_mem: {memory}M}",
            unit="images/s",
            where=lacks(" data_time: "),
            pauses=(
                Pause("evaluation", "Start inference on "),
                Pause("checkpoint", "Saving checkpoint to "),
            ),
        ),
    ),
    facts=(
        Fact("devices", "Rank of current process: {_} World size: {:int}"),
        Fact("batch_size_of_job", _SCALED % (rb"(\d++)", rb"\d++"), int),
        Fact("batch_size_of_job", _FULL + up_to(rb"\bIMS_PER_BATCH: ", _END, _ANY) + rb"(\d++)", int),
        Fact("total_steps", _SCALED % (rb"\d++", rb"(\d++)"), int),
        Fact("total_steps", _FULL + up_to(rb"\bMAX_ITER: ", _END, _ANY) + rb"(\d++)", int),
        Fact("model", rb"\bconfig_file='(?:[^'/\n]*+/)*+([\w+-]++)\.(?:yaml|py)'"),
        Fact("precision", _FULL + up_to(rb"\n *+AMP:\s++ENABLED: ", _END, _ANY) + rb"([Tt]rue|[Ff]alse)",
             words={b"True": "amp", b"true": "amp", b"False": "fp32", b"false": "fp32"}),
        Fact("gpu", rb"^GPU 0[\d,]*+ ++([^(\s]++(?: ++[^(\s]++)*+)"),
        Fact("framework_version", rb"^PyTorch ++(\d[\w.]*+)"),
    ),
)  # fmt: skip
