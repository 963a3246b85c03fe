"""MONAI (`StatsHandler` of its trainers on ignite): a line per iteration, by the clock of the logger.

No time and no batch size are printed. Iterations are counted within an epoch. A validator announces itself as the
trainer does; it, a checkpoint and the end of an epoch lie in the record after them. Where the logger tells no time there
is no figure.
"""

from perfledger.parsers.contract import Format, Pause, Reading

FORMAT = Format(
    title="MONAI",
    framework="PyTorch",
    marker=b", Iter: ",
    unproven=True,
    # A validator takes one epoch more at a time.
    start=rb"Engine run resuming from iteration 0, epoch 0 until (?!1 epochs)",
    readings=(
        Reading(
            rb"(?P<clock>[0-9]{4}-[0-9]{2}-[0-9]{2} [0-9]{2}:[0-9]{2}:[0-9]{2}[.,][0-9]{3})(?:(?!Epoch: )[^\r\n]){1,120}+"
            rb"Epoch: <epoch>/<total_epochs>, Iter: <step>/<total_steps> -- (?:(?:[a-z]++_)?+loss: <loss>(?=\s))?+",
            unit="samples/s",
            epoch_end=True,
            pauses=(
                Pause("evaluation", rb"Engine run resuming from iteration 0, "),
                Pause("checkpoint", rb"Saved checkpoint at "),
            ),
        ),
    ),
)  # fmt: skip
