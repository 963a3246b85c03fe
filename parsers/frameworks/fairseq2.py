"""fairseq2: `Train Metrics (step 10) - ...`, with elements per second of the job over the time that the trainer counts.

Elements are tokens for text and frames for speech; what an element is, the log does not say. The metrics are summed
over the ranks. Validation and checkpoints are not in the time. A record that is written to a file goes on over several
lines: the console breaks it after 80 columns, between any two words, and indents what follows.
"""

from perfledger.parsers.contract import Format, Reading, up_to
from perfledger.parsers.frameworks import PYTORCH_JOB

#: Characters of a record: a line after it that is indented less is another record, even if its time is left out.
_WITHIN = rb"(?:[^\n]|\n(?= {21}))"


FORMAT = Format(
    title="fairseq2",
    framework="PyTorch",
    unproven=True,
    readings=(
        Reading(
            rb"\bTrain Metrics\s++\(step\s++(?P<step>[0-9][0-9,]*+)\)\s++-\s"
            + up_to(rb"\bElements\s++per\s++Second:\s", rb"\bMetrics\b", _WITHIN)
            + rb"\s*+(?P<throughput>[0-9][0-9,.]*+)\s++\|",
            unit="items/s",
        ),
    ),
    facts=PYTORCH_JOB,
)  # fmt: skip
