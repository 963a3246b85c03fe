"""fairseq2: `Train Metrics (step 10) - ...`, with elements per second of the job over the time that the trainer counts.

Elements are tokens for text and frames for speech; what an element is, the log does not say. The metrics are summed over
the ranks. Validation and checkpoints are not in the time.
"""

from parsers.contract import Format, NearMiss, Reading, Sample, up_to
from parsers.frameworks import PYTORCH_JOB

FORMAT = Format(
    title="fairseq2",
    framework="PyTorch",
    marker=b"Train Metrics (step ",
    unproven=True,
    readings=(
        Reading(
            rb"\bTrain Metrics \(step (?P<step>[0-9][0-9,]*+)\) - " + up_to(rb"\bElements per Second: ", rb"\bTrain Metrics \(")
            + rb"(?P<throughput>[0-9][0-9,.]*+) \|",
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
        NearMiss(b"Validation Metrics (step 10) - Loss: 2.5 | Elements per Second: 12,345 | Total Time: 25s\n", "an evaluation"),
        NearMiss(b"Train Metrics (step 10) - Loss: 2.5 | Elements per Second: 12,3", "cut inside the number"),
    ),
)  # fmt: skip
