"""UER-py and TencentPretrain: a line per `report_steps` batches with the tokens per second of the job, padding included.

The time starts again with each line. It contains the wait for data and the checkpoints of the interval, which have no line.
A step is a batch of each device, however many of them an update accumulates.
"""

from perfledger.parsers.contract import Format, Reading
from perfledger.parsers.frameworks import PYTORCH_JOB

FORMAT = Format(
    title="UER-py",
    framework="PyTorch",
    unproven=True,
    start=rb"Worker (?:[0-9]++ )?+is training \.\.\."
    rb"(?:(?:(?! tokens/s\| |is training \.\.\.)[^\n])*+\n(?:(?![^\n]*?(?: tokens/s\| |is training \.\.\.))[^\n]*+\n){0,99}+[^\n]*?Worker (?:[0-9]++ )?+is training \.\.\.)*+",
    readings=(
        Reading(
            "| {step}/{total_steps} steps| {throughput} tokens/s| loss{?:} {loss}",
            unit="tokens/s",
        ),
    ),
    facts=PYTORCH_JOB,
)  # fmt: skip
