"""PaddleNLP, fine-tuning (`run_glue.py` and the scripts made after it): steps per second since the last line.

A step is a batch of each device, and every rank prints its line. An evaluation lies in the record that follows it.
Scripts that print the same without a `rank_id` are `paddle.nlp_examples`.
"""

from __future__ import annotations

from perfledger.parsers.contract import Fact, Format, Pause, Reading
from perfledger.parsers.paddle import LAUNCHER

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
        Fact("batch_size", rb"(?:(?:^|\] - )batch_size *+: ?|\bbatch_size=)(\d++)$", int),
        Fact("batch_size", rb"(?:(?:^|\] - )batch_size *+: ?|\bbatch_size=)(\d++)[,)]", int),
        Fact("model", rb"(?:(?:^|\] - )model_name_or_path *+: ?|\bmodel_name_or_path=)'?([^'\s,]++)"),
        Fact("sequence_length", rb"(?:(?:^|\] - )max_seq_length *+: ?|\bmax_seq_length=)(\d++)\b", int),
        Fact("precision", rb"(?:(?:^|\] - )use_amp *+: ?|\buse_amp=)(\w++)", words={b"True": "amp", b"False": "fp32"}),
        *LAUNCHER,
    ),
)  # fmt: skip
