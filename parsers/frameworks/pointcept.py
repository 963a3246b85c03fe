"""Pointcept (`tools/train.py`, Point Transformer V2 and V3 and others): a line per iteration.

`Batch` is the seconds of the iteration with the wait for data, and in brackets their mean, which is not read. What
lies between two epochs is in none. `batch_size` of the configuration is that of all devices, `batch_size_per_gpu`
that of one. A scan is a cloud of any number of points.
"""

from perfledger.parsers.contract import Fact, Format, Reading

FORMAT = Format(
    title="Pointcept",
    framework="PyTorch",
    start="] => Loading config ...",
    unproven=True,
    readings=(
        Reading(
            "] Train: [{epoch}/{total_epochs}][{step}/{total_steps}] {?Scan {_} ({_}) }Data {reader_seconds} ({_}) Batch {step_seconds} ({_}) Remain {_} {?loss: {loss} }",
            unit="samples/s",
            span="step",
        ),
    ),
    facts=(
        Fact("batch_size_of_job", "^batch_size = {:int}$"),
        Fact("batch_size", "^batch_size_per_gpu = {:int}$"),
        Fact("model", rb"\bbackbone=dict\(\s*+type='([\w.-]++)'"),
        Fact("precision", "^enable_amp = {}$", words={b"True": "amp", b"False": "fp32"}),
    ),
)  # fmt: skip
