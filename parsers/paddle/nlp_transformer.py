"""PaddleNLP, Transformer for translation (`machine_translation/transformer`): a record per `print_step` steps.

Two dialects: coloured lines with the time in brackets (2023), and lines that begin with `date-INFO: ` (2021). The
earliest lines (2020) print `words speed`, whose timer continues during a validation, and restarts with each epoch.
`ips` is the throughput of one device over the interval; it varies with the length of the sentences and at the end of an
epoch. `batch_size` is the maximum of tokens in a batch of one device, so `ips` is not batch size over seconds; the
actual number is `tokens`, of all steps between two lines. The record of step 0 prints no speed. Some logs print the
command at the very end.
"""

from __future__ import annotations

from dataclasses import replace

from perfledger.parsers.contract import EPOCH_END, Fact, Format, Pause, Reading, listed
from perfledger.parsers.paddle import LAUNCHER

_VALIDATION = Pause("evaluation", "validation, step_idx: ")


FORMAT = Format(
    title="PaddleNLP Transformer",
    framework="PaddlePaddle",
    start=rb"(?m)^\{'alpha': [\d.]++,\s",
    readings=(
        Reading(
            "step_idx: {step}, epoch: {epoch}, batch: {_}, avg loss: {loss}, {*}batch_cost: {step_seconds} sec, reader_cost: {reader_seconds} sec, tokens: {samples}, ips: {throughput} words/sec",
            unit="words/s",
            scope="device",
            pauses=(
                # The timer restarts after the validation and the checkpoint that follows it.
                replace(_VALIDATION, inside="none"),
                EPOCH_END,
            ),
        ),
        Reading(
            "step_idx: {step}, epoch: {epoch}, batch: {_}, avg loss: {loss}, normalized loss: {_}, ppl: {_}, avg_speed: {steps_per_second} step/s, words speed: {throughput} words/s",
            unit="words/s",
            scope="device",
            pauses=(_VALIDATION,),
        ),
    ),
    facts=(
        Fact("model", rb"^[ {]*+'d_model': (\d++),", words={b"512": "Transformer base", b"1024": "Transformer big"}),
        Fact("batch_size", rb"^[ {]*+'batch_size': (\d++),", int),
        Fact("precision", rb"^[ {]*+'use_pure_fp16': (True),", words={b"True": "fp16"}),
        Fact("precision", rb"^[ {]*+'use_amp': (\w++),", words={b"True": "amp", b"False": "fp32"}),
        Fact("total_steps", rb"^[ {]*+'max_iter': (\d++),", int),
        *LAUNCHER,
        Fact("devices_per_node", rb"--gpus[= ]([\d,]++) ", listed),
    ),
)  # fmt: skip
