"""OpenNMT-tf since 2.0 (`onmt-main train`): a line per `save_summary_steps` steps with words per second of the job.

Words of the target are read, as other translators count them; a language model prints those of its only side. They are
of all devices and of the seconds since the line before, which contain an evaluation and a checkpoint. A step is an update,
of as many batches as are accumulated. OpenNMT-tf 1 prints the lines of TensorFlow's Estimator.
"""

from __future__ import annotations

from perfledger.parsers.contract import Format, Pause, Reading

_PAUSES = (
    Pause("evaluation", "Evaluation result for step "),
    Pause("checkpoint", "Saved checkpoint "),
)

FORMAT = Format(
    title="OpenNMT-tf",
    framework="TensorFlow",
    unproven=True,
    start="Using OpenNMT-tf version ",
    readings=(
        Reading(
            "Step = {step} ; {?steps/s = {_}, }tokens/s = {_} ({?{_} source, }{throughput} {source|target}) ; Learning rate = {_} ; Loss = {loss}",
            unit="tokens/s",
            per_update=True,
            pauses=_PAUSES,
        ),
        # Releases before 2.10.
        Reading(
            "Step = {step} ; {?steps/s = {_}, }{?source words/s = {_}, }{source|target} words/s = {throughput} ; Learning rate = {_} ; Loss = {loss}",
            unit="tokens/s",
            per_update=True,
            pauses=_PAUSES,
        ),
    ),
)  # fmt: skip
