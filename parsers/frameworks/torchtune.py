"""torchtune: the bar of an epoch, and metric lines `Step 12 | loss:1.88 lr:2e-05 tokens_per_second_per_gpu:1234.5`.

The bar counts optimiser updates, and each state is drawn twice; its time since the epoch began is cut to whole seconds.
The last one is drawn again after the checkpoint is saved, so the first counts. In 0.1 it counts batches (an update may
accumulate several), and shows the number of a batch before the batch is done: `1|5|Loss: 1.25:   1%|` at `4/400`.
Tokens of the metric lines are those of one device and of the last step before the line alone, without masked ones. The
clock of that step runs on through a validation. Devices that share samples (tensor or context parallel) each count
them, so their lines are not read. The reading of metric lines relies on the printer's source; no real log of them was
read yet.
"""

from __future__ import annotations

import numpy as np

from perfledger.parsers.contract import Columns, Fact, Format, Pause, Reading, lacks, only_if
from perfledger.parsers.frameworks import PYTORCH_JOB, SEVERAL

#: Seconds of this many are exact to some three per cent when cut to whole ones.
_LONG = 30.0


def _ahead(columns: Columns) -> bool:
    """Return whether the bar is that of 0.1, whose printed number is one ahead of the finished batches.

    Later ones are never ahead in the first epoch; their number goes on from there, and the bar starts again.
    """
    return bool(((columns["_named"] - columns["step"] == 1) & (columns["total_steps"] > 1)).any())


def _states(columns: Columns) -> Columns:
    """Return the first state of each step of the bar, with the mean seconds of a step since the epoch began.

    Whole seconds are too coarse for an epoch whose steps after the first take less than half a minute. Such an epoch is
    left out; if all epochs are so short, all seconds are NaN.
    """
    new = (np.diff(columns["step"], prepend=np.nan) != 0) | (np.diff(columns["epoch"], prepend=np.nan) != 0)
    found = columns.take(new & (columns["duration"] > 0))
    seconds, begins = found["duration"], np.flatnonzero(np.diff(found["epoch"], prepend=np.nan) != 0)
    counts = np.diff(begins, append=len(seconds))
    exact = np.repeat(seconds[begins + counts - 1] - seconds[begins] >= _LONG, counts)
    mean = np.where(exact, seconds / found["step"], np.nan)
    return found.assign(step_seconds=mean).drop("duration").take(exact if exact.any() else slice(None))


FORMAT = Format(
    title="torchtune",
    framework="PyTorch",
    start=rb"torchtune\.utils\._?logging:Running \w++ with resolved config:|(?m:^)Running \w++ with resolved config:",
    readings=(
        Reading(
            "^{epoch}|{_named}|Loss: {loss}:  {_}%|{*}| {step}/{total_steps} [{duration:length}<", unit="samples/s", running_mean=1, per_update=True, verbs=(only_if(_ahead, False), _states)
        ),
        Reading("^{epoch}|{_named}|Loss: {loss}:  {_}%|{*}| {step}/{total_steps} [{duration:length}<", unit="samples/s", running_mean=1, verbs=(only_if(_ahead), _states)),
        Reading(
            "^Step {step} | loss:{loss} {*}tokens_per_second_per_gpu:{throughput}",
            unit="tokens/s",
            scope="device",
            span="step",
            # Devices that share samples count them each.
            where=lacks(rb"^(?:tensor|context)_parallel_dim: " + SEVERAL),
            pauses=(Pause("evaluation", rb"val_loss:"),),
        ),
    ),
    facts=(
        Fact("batch_size", "^batch_size: {:int}$"),
        Fact("accumulation", "^gradient_accumulation_steps: {:int}$"),
        Fact("tensor_parallel", rb"^tensor_parallel_dim: (" + SEVERAL + rb")$", int),
        Fact("context_parallel", rb"^context_parallel_dim: (" + SEVERAL + rb")$", int),
        Fact("total_epochs", "^epochs: {:int}$"),
        Fact("devices", rb"Recipe(SingleDevice) with resolved config:", lambda _: 1),
        *PYTORCH_JOB,
        Fact("precision", "^dtype: {}$", words={b"bf16": "bf16", b"fp32": "fp32"}),
        Fact("model", rb"^ ++_component_: torchtune\.models\.\w++\.(?:lora_|qlora_)?+((?:llama|mistral|gemma|qwen|phi)(?:(?!_tokenizer)\w){1,40})$"),
    ),
)  # fmt: skip
