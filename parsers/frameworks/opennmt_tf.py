"""OpenNMT-tf since 2.0 (`onmt-main train`): a line per `save_summary_steps` steps with words per second of the job.

Words of the target are read, as other translators count them; a language model prints those of its only side. They are
of all devices and of the seconds since the line before, which hold an evaluation and a checkpoint. A step is an update,
of as many batches as are accumulated. OpenNMT-tf 1 prints the lines of TensorFlow's Estimator.
"""

from __future__ import annotations

from perfledger.parsers.contract import Format, Pause, Reading

FORMAT = Format(
    title="OpenNMT-tf",
    framework="TensorFlow",
    marker=b" ; Learning rate = ",
    unproven=True,
    start=rb"Using OpenNMT-tf version ",
    readings=(
        Reading(
            rb"\bStep = <step> ; (?:steps/s = [0-9.]++, )?+"
            rb"(?:source words/s = [0-9]++, target words/s = |(?:source|target) words/s = |tokens/s = [0-9]++ \((?:[0-9]++ source, )?+)"
            rb"(?P<throughput>[0-9]++)(?: (?:source|target)\))? ; Learning rate = [0-9.e+-]++ ; Loss = <loss>(?=\s)",
            unit="tokens/s",
            counts="update",
            pauses=(
                Pause("evaluation", rb"Evaluation result for step "),
                Pause("checkpoint", rb"Saved checkpoint "),
            ),
        ),
    ),
)  # fmt: skip
