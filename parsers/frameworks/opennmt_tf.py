"""OpenNMT-tf since 2.0 (`onmt-main train`): a line per `save_summary_steps` steps with words per second of the job.

Words of the target are read, as other translators count them; a language model prints those of its only side. They are
of all devices and of the seconds since the line before, which hold an evaluation and a checkpoint. A step is an update,
of as many batches as are accumulated. OpenNMT-tf 1 prints the lines of TensorFlow's Estimator.
"""

from __future__ import annotations

from perfledger.parsers.contract import Format, NearMiss, Pause, Reading, Sample

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
                Pause("evaluation", rb"Evaluation result for step ", b"INFO:tensorflow:Evaluation result for step 500: loss = 4.5 ; perplexity = 90.0"),
                Pause("checkpoint", rb"Saved checkpoint ", b"INFO:tensorflow:Saved checkpoint run/ckpt-500"),
            ),
        ),
    ),
    samples=(
        Sample(
            b"INFO:tensorflow:Step = 500 ; steps/s = 2.25, source words/s = 6125, target words/s = 6500 ; Learning rate = 0.000250 ; Loss = 3.875000\n",
            step=500, throughput=6500, loss=3.875,
        ),
        Sample(
            b"2026-11-20 10:00:50.125000: I runner.py:310] Step = 500 ; steps/s = 2.25, tokens/s = 12625 (6125 source, 6500 target) ; "
            b"Learning rate = 0.000250 ; Loss = 3.875000\n",
            step=500, throughput=6500, loss=3.875,
        ),
        Sample(b"INFO:tensorflow:Step = 500 ; source words/s = 6125 ; Learning rate = 0.000250 ; Loss = 3.875000\n", step=500, throughput=6125),
        NearMiss(b"INFO:tensorflow:Evaluation result for step 500: loss = 4.5 ; perplexity = 90.0\n", "an evaluation"),
        NearMiss(b"INFO:tensorflow:Step = 500 ; source words/s = 6125 ; Learning rate = 0.000250 ; Loss = 3.87", "cut inside the number"),
    ),
)  # fmt: skip
