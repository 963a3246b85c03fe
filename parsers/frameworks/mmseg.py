"""MMSegmentation and other OpenMMLab projects (MMDetection, MMPose ...): a record per `interval` iterations.

`time` is seconds per iteration of the whole job, including the wait for data; no speed is printed. Two dialects: in
that of MMCV (`mmseg - INFO - Iter [50/40000]`) it is a mean over the interval; in that of MMEngine (`Iter(train)`) by
default over the last ten iterations. If lines are further apart, only their clocks show an earlier stall. If they are
closer, they overlap. The overlap is undone within the first of these means after the start, which includes the slow
first iteration. The record after a checkpoint or an evaluation includes it. Older releases print
`gpu_ids = range(0, 1)` for every distributed run. Every device of the machine is listed, however many are used.
"""

from __future__ import annotations

import numpy as np

from perfledger.parsers.contract import (
    EPOCH_TIMER,
    Columns,
    Fact,
    Format,
    Pause,
    Reading,
    undo_window,
)

#: The text before a line: the name of the logger, which is that of the project. MMCV of 2019 and before prints no name.
#: MMEngine colours the level; copies may have lost the escapes.
_LOGGER = rb" - (?:(?!INFO )[\w.-]++ - )?+(?:\[[0-9;]++m)*+INFO(?:\[0m)?+ - "

#: The next iteration includes these, if MMCV's runner counts iterations; that of epochs restarts its clock.
_PAUSES = (
    Pause("evaluation", " - Iter(val) "),
    Pause("checkpoint", "Saving checkpoint at "),
)


#: Iterations over which MMEngine takes a mean unless its configuration names another number.
_WINDOW = 10


def _of_all(columns: Columns) -> Columns:
    """Return the seconds of the iterations since the line before, or of the last ones if the mean covers fewer."""
    done = columns["step"]
    if "epoch" in columns:
        done = done + (columns["epoch"] - 1) * columns["total_steps"]
    window = np.nan_to_num(columns["_averaged_steps"], nan=_WINDOW)
    return undo_window(columns, done, window)


#: The name of an experiment, which is that of its configuration's file. MMEngine adds when it began.
EXPERIMENT = rb"([\w.+-]{1,200}?)(?:_[0-9]{8}_[0-9]{6})?(?:\.py)?"
#: Batches of an update, of MMCV's hook and MMEngine's wrapper of optimizers.
ACCUMULATION = rb"\b(?:cumulative_iters|accumulative_counts)=([0-9]++)[,)]"

#: This line is printed if the learning rate is scaled to the batch size (MMDetection 2, MMRotate and others).
_TRAINING_WITH = rb" - Training with %s GPU\(s\) with %s samples per GPU\. "


#: MMEngine restarts its timer after an evaluation, and before a checkpoint.
_OF_MMENGINE = (
    Pause("evaluation", " - mmengine - INFO - {Iter|Epoch}(val) ", inside="none"),
    Pause("checkpoint", "Saving checkpoint at "),
)


FORMAT = Format(
    title="MMSegmentation",
    framework="PyTorch",
    start=_LOGGER + rb"(?:\n-{60}\nSystem environment:|Environment info:)",
    readings=(
        Reading(
            " - Iter [{step}/{total_steps}]{*} time: {step_seconds}, data_time: {reader_seconds}, {?memory: {memory}, }{?{*} loss: {loss}}",
            unit="samples/s",
            pauses=_PAUSES,
        ),
        Reading(
            " - Epoch [{epoch}{?/{_}}][{step}/{total_steps}]{*} time: {step_seconds}, data_time: {reader_seconds}, {?memory: {memory}, }{?{*} loss: {loss}}",
            unit="samples/s",
            pauses=(EPOCH_TIMER,),
        ),
        Reading(
            " - Iter(train)  [{step}/{total_steps}] {*} time: {step_seconds}  data_time: {reader_seconds}  {?memory: {memory}  }{?{*} loss: {loss}}",
            unit="samples/s",
            pauses=(*_OF_MMENGINE, EPOCH_TIMER),
            verbs=(_of_all,),
        ),
        Reading(
            " - Epoch(train)  [{epoch}][{step}/{total_steps}] {*} time: {step_seconds}  data_time: {reader_seconds}  {?memory: {memory}  }{?{*} loss: {loss}}",
            unit="samples/s",
            pauses=(*_OF_MMENGINE, EPOCH_TIMER),
            verbs=(_of_all,),
        ),
    ),
    facts=(
        Fact("averaged_steps", rb"^log_processor = dict\((?:[^()w]++|w(?!indow_size=))*+window_size=(\d++)[,)]", int),
        Fact("model", rb"^ *+backbone=dict\((?:(?!_head=|backbone=dict|depth=50,)[\s\S]){0,3000}+depth=50,(?:(?!_head=|backbone=dict|^ *+decode_head=)[\s\S]){0,3000}+"
             rb"^ *+decode_head=dict\(\n *+type='(DepthwiseSeparableASPPHead)'", lambda _: "DeepLabV3+"),
        Fact("model", rb"type='HRNet',(?:(?!_head=|type='HRNet',|stage2=dict\()[\s\S]){0,3000}+stage2=dict\((?:(?!_head=|stage2=dict\(|num_channels=\()[\s\S]){0,400}+"
             rb"num_channels=\((\d\d), \d", lambda width: f"HRNet-W{width.decode()}"),
        Fact("model", _LOGGER + rb"Exp name: " + EXPERIMENT + rb"$"),
        Fact("total_epochs", ", max: {:int} epochs$"),
        Fact("total_epochs", "max_epochs={:int}"),
        Fact("batch_size", _TRAINING_WITH % (rb"\d++", rb"(\d++)"), int),
        Fact("batch_size", rb"^ *+samples_per_gpu=(\d++),", int),
        Fact("batch_size", rb"^data = dict\((?:\n(?! {4}(?:imgs|videos)_per_gpu=) {4}[^\n]*+)*+\n {4}(?:imgs|videos)_per_gpu=(\d++),", int),
        Fact("batch_size", rb"^train_dataloader = dict\((?:\n(?! {4}batch_size=) {4}[^\n]*+)*+\n {4}batch_size=(\d++),", int),
        Fact("batch_size", rb"^train_dataloader = dict\((?:\((?:[^()\n]++|\([^()\n]*+\))*+\)|[^()\nb]++|b(?!atch_size=))*+\bbatch_size=(\d++)[,)]", int),
        Fact("devices", " GPU number: {:int}$"),
        Fact("devices", _TRAINING_WITH % (rb"(\d++)", rb"\d++"), int),
        Fact("devices", rb"^gpu_ids = range\(0, ((?!1\))\d++)\)", int),
        Fact("devices", rb" - Distributed training: (False)$", lambda _: 1),
        Fact("accumulation", ACCUMULATION, int),
        Fact("gpu", rb"^ *+GPU [\d,]++: ([^\r\n]++)"),
        Fact("framework_version", "PyTorch: {}"),
        Fact("precision", rb"type='(Fp16OptimizerHook|AmpOptimWrapper)'", lambda _: "amp"),
        Fact("precision", rb"^(fp16) = dict\(", lambda _: "amp"),
        Fact("precision", rb"^(optimizer_config|optim_wrapper) = dict\(", lambda _: "fp32"),
    ),
)  # fmt: skip
