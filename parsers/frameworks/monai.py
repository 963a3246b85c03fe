"""MONAI (`StatsHandler` of its trainers on ignite): a line per iteration, by the clock of the logger.

Time and batch size are not printed. Iterations are counted within an epoch. A validator announces itself as the trainer
does. Validations, checkpoints and the end of an epoch are part of the record after them. A log without the logger's
clock has no figure.
"""

from perfledger.parsers.contract import EPOCH_END, Format, Pause, Reading

FORMAT = Format(
    title="MONAI",
    framework="PyTorch",
    unproven=True,
    # A validator runs for one more epoch each time.
    start=rb"Engine run resuming from iteration 0, epoch 0 until (?!1 epochs)",
    readings=(
        Reading(
            "{clock} - {_} - {?INFO - }Epoch: {epoch}/{total_epochs}, Iter: {step}/{total_steps} -- {?train_loss: {loss}}",
            unit="samples/s",
            pauses=(
                Pause("evaluation", "Engine run resuming from iteration 0, "),
                Pause("checkpoint", "Saved checkpoint at "),
                EPOCH_END,
            ),
        ),
    ),
)  # fmt: skip
