"""Swin Transformer (`main.py`, `main_simmim.py`) and its many copies: a record per `PRINT_FREQ` batches of an epoch.

`time` is seconds per batch with the wait for data: first of the one batch that is printed, which does not show the
batches in between, then in brackets the mean since the epoch began, which is undone to what each line adds. A batch is
one of each device, however many of them an update accumulates. If each epoch prints its first batch alone, the others
are unknown, and the log is not read. The configuration follows the line that names its file, and is that of a device.
"""

from __future__ import annotations

from perfledger.parsers.contract import Columns, Fact, Format, Reading, only_if


def _of_first_batches(columns: Columns) -> bool:
    """Return whether every record is of the first batch, and an epoch has several."""
    return len(columns["step"]) > 1 and bool((columns["step"] == 0).all() and (columns["total_steps"] > 1).all())


FORMAT = Format(
    title="Swin Transformer",
    framework="PyTorch",
    start="INFO Full config saved to ",
    before_start="^RANK and WORLD_SIZE in environ: ",
    end=rb"INFO Training time [0-9]",
    readings=(
        Reading(
            "INFO Train: [{epoch}/{total_epochs}][{step}/{total_steps}]{*} time {_} ({step_seconds}){?{*} loss {_} ({loss})}{?{*} mem {memory:MB}}",
            unit="images/s",
            running_mean=0,
            verbs=(only_if(_of_first_batches, False),),
        ),
    ),
    facts=(
        Fact("batch_size", "^{? }BATCH_SIZE: {:int}$"),
        Fact("devices", "^RANK and WORLD_SIZE in environ: {_}/{:int}"),
        # Older releases print 0 for none.
        Fact("accumulation", "^{? }ACCUMULATION_STEPS: {}$", lambda printed: max(int(printed), 1)),
        Fact("model", "INFO Creating model:{_}/{}"),
        Fact("precision", rb"(?:^|INFO )AMP_ENABLE: (true|false)\b", words={b"true": "amp", b"false": "fp32"}),
        Fact("precision", rb"(?:^|INFO )AMP_OPT_LEVEL: O([01])\b", words={b"1": "amp", b"0": "fp32"}),
    ),
)  # fmt: skip
