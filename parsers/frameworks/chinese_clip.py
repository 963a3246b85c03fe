"""Chinese-CLIP (`cn_clip/training/main.py`): a line per `log_interval` steps.

`Batch Time` is the time of the printed step, and is not read: loaders stall only at some steps, and the printed step
does not represent the others. The stamps of the lines give the speed; their date ends with a comma, and only the time
of day is read. Validations have lines of their own; validations, checkpoints and the end of an epoch are part of the
record after them. A step is an update, and the batch size is that of the job over all batches that it accumulates.
"""

from perfledger.parsers.contract import EPOCH_END, Fact, Format, Pause, Reading

#: Before a parameter.
_PARAMETER = " |   "

FORMAT = Format(
    title="Chinese-CLIP",
    framework="PyTorch",
    unproven=True,
    start=" | INFO | Rank 0 | Params:",
    readings=(
        Reading(
            "{clock} | INFO | Rank 0 | Global Steps: {step}/{total_steps} | Train Epoch: {epoch} [{_}/{_} ({_}%)] | Loss: {loss} | {*}Global Batch Size: {batch}",
            unit="samples/s",
            per_update=True,
            pauses=(
                Pause("evaluation", "| INFO | Rank 0 | Validation Result "),
                Pause("evaluation", "Begin to eval on validation set"),
                Pause("checkpoint", "Saved checkpoint "),
                EPOCH_END,
            ),
        ),
    ),
    facts=(
        Fact("devices", _PARAMETER + "world_size: {:int}"),
        Fact("accumulation", _PARAMETER + "accum_freq: {:int}"),
        Fact("model", _PARAMETER + "vision_model: {}"),
        Fact("total_epochs", _PARAMETER + "max_epochs: {:int}"),
        Fact("precision", _PARAMETER + "precision: {}"),
    ),
)
