"""MONAI (`StatsHandler` of its trainers on ignite): a line per iteration, by the clock of the logger.

No time and no batch size are printed. Iterations are counted within an epoch. A validator announces itself as the
trainer does; it, a checkpoint and the end of an epoch lie in the record after them. Where the logger prints no time there
is no figure.
"""

from perfledger.parsers.contract import Format, Pause, Reading

FORMAT = Format(
    title="MONAI",
    framework="PyTorch",
    unproven=True,
    # A validator takes one epoch more at a time.
    start=rb"Engine run resuming from iteration 0, epoch 0 until (?!1 epochs)",
    readings=(
        Reading(
            "{clock} - {_} - {?INFO - }Epoch: {epoch}/{total_epochs}, Iter: {step}/{total_steps} -- {?train_loss: {loss}}",
            unit="samples/s",
            epoch_end=True,
            pauses=(
                Pause("evaluation", "Engine run resuming from iteration 0, "),
                Pause("checkpoint", "Saved checkpoint at "),
            ),
        ),
    ),
)  # fmt: skip
