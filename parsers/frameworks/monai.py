"""MONAI (`StatsHandler` of its trainers on ignite): a line per iteration, by the clock of the logger.

No time and no batch size are printed. Iterations are counted within an epoch. A validator announces itself as the
trainer does; it, a checkpoint and the end of an epoch lie in the record after them. Where the logger tells no time there
is no figure.
"""

from perfledger.parsers.contract import Format, NearMiss, Pause, Reading, Sample

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
                Pause("evaluation", rb"Engine run resuming from iteration 0, ",
                      b"2026-11-20 10:00:50,250 - INFO - Engine run resuming from iteration 0, epoch 1 until 2 epochs"),
                Pause("checkpoint", rb"Saved checkpoint at ", b"2026-11-20 10:00:50,250 - INFO - Saved checkpoint at epoch: 2"),
            ),
        ),
    ),
    samples=(
        Sample(
            b"2026-11-20 10:00:00,250 - INFO - Epoch: 2/5, Iter: 12/40 -- train_loss: 0.6250 \n",
            epoch=2, total_epochs=5, step=12, total_steps=40, loss=0.625,
        ),
        Sample(
            b"2026-11-20 10:00:00,250 - ignite.engine.engine.SupervisedTrainer - INFO - Epoch: 2/5, Iter: 12/40 -- train_loss: 0.6250 \n",
            epoch=2, step=12, loss=0.625,
        ),
        NearMiss(b"2026-11-20 10:00:50,250 - INFO - Epoch[2] Metrics -- val_mean_dice: 0.7500 \n", "an evaluation"),
        NearMiss(b"INFO:ignite.engine.engine.SupervisedTrainer:Epoch: 2/5, Iter: 12/40 -- train_loss: 0.6250 \n", "no clock"),
    ),
)  # fmt: skip
