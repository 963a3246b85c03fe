"""PaddleNLP, Transformer for translation (`machine_translation/transformer`): a record per `print_step` steps.

Two dialects: coloured lines with the time in brackets (2023), and lines that begin with `date-INFO: ` (2021). The first
ones (2020) tell `words speed`, whose timer runs on during a validation, and begins anew with each epoch. `ips` is
the throughput of one device over the interval; it varies with the length of the sentences and at the end of an epoch.
`batch_size` is the maximum of tokens in a batch of one device, so `ips` is not batch size over seconds; the actual
number is `tokens`, of as many steps as lie between two lines. The record of step 0 prints no speed. Some logs print the
command at the very end.
"""

from __future__ import annotations

from dataclasses import replace

from perfledger.parsers.contract import Fact, Format, NearMiss, Pause, Reading, Sample, listed
from perfledger.parsers.paddle import LAUNCHER

_VALIDATION = Pause(
    "evaluation",
    rb"validation, step_idx: ",
    b"validation, step_idx: 100, avg loss: 4.2, normalized loss: 2.8, ppl: 65.9",
)


FORMAT = Format(
    title="PaddleNLP Transformer",
    framework="PaddlePaddle",
    marker=b"step_idx: ",
    start=rb"(?m)^\{'alpha': [\d.]++,\s",
    readings=(
        Reading(
            rb"step_idx: <step>, epoch: <epoch>, batch: [0-9]++, avg loss: <loss>, "
            rb"(?:[^\r\nbs]++|b(?!atch_cost: )|s(?!tep_idx: ))*+batch_cost: <step_seconds> sec, "
            rb"reader_cost: <reader_seconds> sec, tokens: (?P<samples>[0-9]++), ips: <throughput> words/sec",
            unit="words/s",
            scope="device",
            epoch_end=True,
            pauses=(
                # The timer begins anew behind the validation and the checkpoint that follows it.
                replace(_VALIDATION, inside="none"),
            ),
        ),
        Reading(
            rb"step_idx: <step>, epoch: <epoch>, batch: [0-9]++, avg loss: <loss>, normalized loss: [0-9.a-z-]++, ppl: [0-9.a-z-]++, "
            rb"avg_speed: <steps_per_second> step/s, words speed: <throughput> words/s",
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
    samples=(
        Sample(
            b"[2026-11-20 11:35:31,558] [    INFO] - step_idx: 200, epoch: 1, batch: 100, avg loss: 8.062560, normalized "
            b"loss: 6.694919, ppl: 3173.404053, avg_speed: 2.00 step/s, batch_cost: 0.50000 sec, reader_cost: 0.00014 sec, "
            b"tokens: 450000, ips: 9000.00000 words/sec",
            step=200, epoch=1, loss=8.06256, step_seconds=0.5, reader_seconds=0.00014, samples=450000, throughput=9000.0,
        ),
        Sample(
            b"2026-11-20 17:19:01,188-INFO: step_idx: 10, epoch: 0, batch: 10, avg loss: nan, normalized loss: nan, ppl: nan, "
            b"avg_speed: 4.00 step/s, batch_cost: 0.25000 sec, reader_cost: 0.00009 sec, tokens: 45000, "
            b"ips: 18000.00000 words/sec",
            step=10, loss=float("nan"), samples=45000, throughput=18000.0,
        ),
        Sample(
            b"2026-11-20 17:19:01,188-INFO: step_idx: 100, epoch: 0, batch: 100, avg loss: 8.062560, normalized loss: 6.694919, "
            b"ppl: 3173.404053, avg_speed: 2.00 step/s, words speed: 9000.25 words/s",
            step=100, epoch=0, loss=8.06256, steps_per_second=2, throughput=9000.25,
        ),
        NearMiss(
            b"2026-11-20 17:18:59,018-INFO: step_idx: 0, epoch: 0, batch: 0, avg loss: 11.213531, normalized loss: 9.845891, "
            b"ppl: 74126.726562",
            "the first step prints no speed",
        ),
        NearMiss(
            b"2026-11-20 17:19:01,188-INFO: step_idx: 10, epoch: 0, batch: 10, avg loss: 11.170180, normalized loss: "
            b"9.802539, ppl: 70981.9, avg_speed: 4.00 step/s, batch_cost: 0.25000 sec, reader_cost: 0.00009 sec, "
            b"tokens: 45000, ips: 1800",
            "cut before the unit, so perhaps inside the number",
        ),
        NearMiss(b"validation, step_idx: 100, avg loss: 4.2, normalized loss: 2.8, ppl: 65.9", "validation"),
        NearMiss(b"python -m paddle.distributed.launch --ips 10.0.0.1,10.0.0.2 --gpus 0,1 train.py", "a list of hosts"),
    ),
)  # fmt: skip
