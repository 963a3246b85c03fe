"""fairseq2: `Train Metrics (step 10) - ...`, with elements per second of the job over the time that the trainer counts.

Elements are tokens for text and frames for speech; what an element is, the log does not say. The metrics are summed
over the ranks. Validation and checkpoints are not in the time. A record that is written to a file goes on over several
lines: the console breaks it after 80 columns, between any two words, and indents what follows.
"""

from perfledger.parsers.contract import Format, NearMiss, Reading, Sample, up_to
from perfledger.parsers.frameworks import PYTORCH_JOB

#: What a record may hold: a line behind it that is indented less is another record, even where its time is left out.
_WITHIN = rb"(?:[^\n]|\n(?= {21}))"


FORMAT = Format(
    title="fairseq2",
    framework="PyTorch",
    marker=b"Train Metrics",
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
    samples=(
        Sample(
            b"[11/20/26 10:00:00] INFO fairseq2.metrics - Train Metrics (step 1,010) - Loss: 2.5 | Gradient Norm: 0.5 | Elapsed Time: 12s | "
            b"Elements per Batch: 16,384 | Elements per Second: 12,345 | Total Time: 25s\n",
            step=1010, throughput=12345,
        ),
        Sample(
            b"[11/20/26 10:00:06] INFO     fairseq2.recipes.trainer - Train Metrics (step    \n"
            b"                             1000) - Loss: 2.5 | Gradient Norm: 0.5 | Elements  \n"
            b"                             per Batch: 16,384 | Elements per Second:           \n"
            b"                             12,346 | Total Time: 25s                           \n",
            step=1000, throughput=12346,
        ),
        NearMiss(b"Validation Metrics (step 10) - Loss: 2.5 | Elements per Second: 12,345 | Total Time: 25s\n", "an evaluation"),
        NearMiss(
            b"[11/20/26 10:00:06] INFO     fairseq2 - Train Metrics (step 10) - Loss: 2.5         \n"
            b"                    INFO     fairseq2 - Validation Metrics (step 10) - Elements per   \n"
            b"                             Second: 12,345 | Total Time: 25s                         \n",
            "an evaluation",
        ),
        NearMiss(b"Train Metrics (step 10) - Loss: 2.5 | Elements per Second: 12,3", "cut inside the number"),
    ),
)  # fmt: skip
