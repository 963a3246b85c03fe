"""PaddleNLP, fine-tuning (`run_glue.py` and the scripts made after it): steps per second since the last line.

A step is a batch of each device, and every rank prints its line. An evaluation lies in the record that follows it.
Scripts that print the same without a `rank_id` are `paddle.nlp_examples`.
"""

from __future__ import annotations

from perfledger.parsers.contract import Fact, Format, Pause, Reading
from perfledger.parsers.paddle import LAUNCHER


def _argument(name: bytes, value: bytes) -> bytes:
    """Return a pattern for an argument: on a line of its own, in columns, or in a `Namespace`."""
    return rb"(?:(?:^|\] - )%s *+: ?|\b%s=)%s" % (name, name, value)


FORMAT = Format(
    title="PaddleNLP fine-tuning",
    framework="PaddlePaddle",
    unproven=True,
    readings=(
        Reading(
            "global step {step}/{total_steps}, epoch: {epoch}, batch: {_}, rank_id: {_}, loss: {loss}, {?ppl: {_}, }lr: {_}, speed: {steps_per_second} step/s",
            unit="samples/s",
            ranks="median",
            pauses=(Pause("evaluation", "eval done total : "),),
        ),
    ),
    facts=(
        Fact("batch_size", _argument(rb"batch_size", rb"(\d++)$"), int),
        Fact("batch_size", _argument(rb"batch_size", rb"(\d++)[,)]"), int),
        Fact("model", _argument(rb"model_name_or_path", rb"'?([^'\s,]++)")),
        Fact("sequence_length", _argument(rb"max_seq_length", rb"(\d++)\b"), int),
        Fact("precision", _argument(rb"use_amp", rb"(\w++)"), words={b"True": "amp", b"False": "fp32"}),
        *LAUNCHER,
    ),
)  # fmt: skip
