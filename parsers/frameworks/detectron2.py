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

import numpy as np

from perfledger.parsers.contract import Columns, Fact, Format, Pause, Postprocessed, Reading, lacks, up_to


def since_start(columns: Columns) -> Postprocessed:
    """Count the iterations from the start of this program: those before the first interval are of an earlier one."""
    steps = columns["step"]
    gaps = np.diff(steps)
    usual = np.median(gaps[gaps > 0]) if (gaps > 0).any() else np.inf
    return np.arange(len(steps)), {**columns, "step": steps - max(0.0, steps[0] - (usual - 1)) if len(steps) else steps}


def _full(key: bytes) -> bytes:
    """Return the pattern of a key of the full configuration, which ends at the next line that begins with a date."""
    head = rb"\bRunning with full config:"
    return head + up_to(key, head + rb"|\[[0-9]{2}/[0-9]{2} [0-9]{2}:", rb"[\s\S]")


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
        Fact("batch_size_of_job", _full(rb"\bIMS_PER_BATCH: ") + rb"(\d++)", int),
        Fact("total_steps", _SCALED % (rb"\d++", rb"(\d++)"), int),
        Fact("total_steps", _full(rb"\bMAX_ITER: ") + rb"(\d++)", int),
        Fact("model", rb"\bconfig_file='(?:[^'/\n]*+/)*+([\w+-]++)\.(?:yaml|py)'"),
        Fact("precision", _full(rb"\n *+AMP:\s++ENABLED: ") + rb"([Tt]rue|[Ff]alse)",
             words={b"True": "amp", b"true": "amp", b"False": "fp32", b"false": "fp32"}),
        Fact("gpu", rb"^GPU 0[\d,]*+ ++([^(\s]++(?: ++[^(\s]++)*+)"),
        Fact("framework_version", rb"^PyTorch ++(\d[\w.]*+)"),
    ),
)  # fmt: skip
