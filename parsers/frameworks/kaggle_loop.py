"""The loop of many Kaggle notebooks (`Epoch: [1][0/391] Elapsed 0m 1s (remain 9m 44s) Loss: ...`): a record per epoch.

Lines show the time since the epoch began, cut to whole seconds. A second is too coarse between two lines, so an epoch
is read as a whole; its last step always has a line. Epochs that are too short are not read. A step is a batch; its size
is not printed. Lines that begin with `EVAL:` belong to the validation.
"""

from perfledger.parsers.contract import Columns, Format, Reading, fine, undo_mean


def _last_steps(columns: Columns) -> Columns:
    """Keep the line of the last step of each epoch: an earlier line does not show how long the epoch took."""
    return columns.take(columns["step"] + 1 == columns["total_steps"])


FORMAT = Format(
    title="Kaggle notebooks' loop",
    framework="PyTorch",
    unproven=True,
    readings=(
        Reading(
            "Epoch: [{epoch}][{step}/{total_steps}] {?Data {_} ({_}) }Elapsed {duration:length} (remain {_}m {_}s) Loss: {loss}(",
            unit="samples/s",
            span="epoch",
            verbs=(_last_steps, undo_mean(first=1), fine("duration", 1.0, cut=True)),
        ),
    ),
)  # fmt: skip
