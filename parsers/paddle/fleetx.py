"""PaddleFleetX and the GPT and ERNIE examples of PaddleNLP before it: tokens, sequences or images per second of the job.

`ips_total` is that of the job; the pre-training of PaddleNLP prints no epoch. `ips` beside it is that of one device
only in later releases, and the same in earlier ones, so it is not read. The examples of 2021 print `ips` alone, which
is that of the job; the first of them time evaluations as well, and so does FleetX. Steps are counted over the run or
within the epoch. A batch is one update. Vision models print the images of the job. ERNIE's pre-training prints
sequences, and begins its timer anew behind an evaluation.
"""

from dataclasses import replace

from parsers.contract import Fact, Format, NearMiss, Pause, Reading, Sample, up_to
from parsers.paddle import LAUNCHER

_BEGIN = rb"\[train\] epoch: |global step"
_SPEED = (
    up_to(rb"\bloss: ", _BEGIN) + rb"<loss>, (?:" + up_to(rb"\bavg_batch_cost: ", _BEGIN + rb"|ips_total: ") + rb"<step_seconds> sec, )?+"
    + up_to(rb"\bips_total: ", _BEGIN) + rb"<throughput> tokens/s, ips: "
)  # fmt: skip
_OF_2021 = rb"\bglobal step <step>, epoch: <epoch>, batch: [0-9]++, loss: <loss>, "
_OF_JOB = rb"speed: [0-9.]++ steps?+/s, ips: <throughput> tokens/s, learning rate: "
#: The first of these examples, and FleetX, have a timer that runs on meanwhile; the others add up the seconds of steps.
_PAUSES = (
    Pause(
        "evaluation",
        rb"valid step [0-9]++, ",
        b"[2026-11-20 10:00:00,123] [    INFO] - valid step 500, epoch: 0, batch: 9, loss: 10.500000, speed: 8.00 step/s",
    ),
    Pause(
        "evaluation",
        rb"\[eval\] epoch: ",
        b"[2026-11-20 10:00:00,123] [    INFO] - [eval] epoch: 0, batch: 9, loss: 10.500000000",
    ),
    Pause("checkpoint", rb"Save model to ", b"[2026-11-20 10:00:00,123] [    INFO] - Save model to output/model_500"),
)
_APART = tuple(replace(each, inside="none") for each in _PAUSES)
#: ERNIE's timer begins anew behind evaluations and what it saves to keep, but not behind what it saves to go on from.
_ERNIE_PAUSES = (
    Pause(
        "evaluation",
        rb"\] - (?:valid|test) step [0-9]++, batch: ",
        b"[2026-11-20 10:00:00,123] [    INFO] - valid step 500, batch: 10, loss: 7.250000, speed: 9000 tokens/s, ips: 64.00 seqs/s",
        inside="none",
    ),
    Pause(
        "checkpoint",
        rb"\] - saving models to ",
        b"[2026-11-20 10:00:00,123] [   DEBUG] - saving models to output/model_last",
    ),
)


def _argument(name: bytes) -> bytes:
    """Return a pattern for a number of the configuration."""
    return rb"\b" + name + rb" *+: ?([0-9]++)\b"


FORMAT = Format(
    title="PaddleFleetX",
    framework="PaddlePaddle",
    marker=b" ips: ",
    unproven=True,
    readings=(
        Reading(rb"\[train\] epoch: \[?<epoch>(?:/[0-9]++\])?+, (?:batch|step): \[?<step>(?:/<total_steps>\])?+, " + _SPEED, unit="tokens/s", counts="update", pauses=_PAUSES),
        Reading(
            rb"\[train\] (?:global step [0-9]++, )?+epoch: <epoch>, step: \[?<step>(?:/<total_steps>\])?+, learning rate: [0-9.e+-]++, loss: <loss>, "
            rb"batch_cost: [0-9.]++ sec, ips: <throughput> images/sec",
            unit="images/s", counts="update", pauses=_PAUSES,
        ),
        Reading(rb"\bglobal step:? <step>, (?:epoch: <epoch>, )?+" + _SPEED, unit="tokens/s", counts="update", pauses=_APART),
        Reading(
            _OF_2021 + rb"(?:avg_reader_cost: <reader_seconds> sec, )?+avg_batch_cost: <step_seconds> sec, " + _OF_JOB,
            unit="tokens/s", counts="update", pauses=_APART,
        ),
        Reading(_OF_2021 + _OF_JOB, unit="tokens/s", counts="update", pauses=_PAUSES),
        Reading(
            rb"\bglobal step <step>, loss: <loss>, (?:(?!loss: )\w++: [0-9.a-z-]++, )*+speed: [0-9.]++ steps/s, "
            rb"ips: <throughput> seqs/s, learning rate: ",
            unit="sequences/s", counts="update", pauses=_ERNIE_PAUSES,
        ),
    ),
    facts=(
        Fact("batch_size_of_job", _argument(rb"global_batch_size"), int),
        Fact("micro_batch", _argument(rb"micro_batch_size"), int),
        Fact("sequence_length", _argument(rb"max_seq_len"), int),
        Fact("data_parallel", _argument(rb"dp_degree"), int),
        Fact("tensor_parallel", _argument(rb"mp_degree"), int),
        Fact("pipeline_parallel", _argument(rb"pp_degree"), int),
        Fact("devices", _argument(rb"nranks"), int),
        Fact("model", rb"\bmodel_name_or_path *+: ?([^\s,]++)"),
        Fact("precision", rb"\buse_pure_fp16 *+: ?(True)\b", words={b"True": "fp16"}),
        Fact("precision", rb"\buse_amp *+: ?(\w++)", words={b"True": "amp", b"False": "fp32"}),
        *LAUNCHER,
    ),
    samples=(
        Sample(
            b"[2026-11-20 10:00:00,123] [    INFO] - [train] epoch: [0/1], batch: [10/1000], loss: 10.500000000, avg_batch_cost: 0.25000 sec, speed: 4.00 step/s, "
            b"ips_total: 32768 tokens/s, ips: 4096 tokens/s, learning rate: 1.00000e-05, found_inf: 0\n",
            epoch=0, step=10, total_steps=1000, loss=10.5, step_seconds=0.25, throughput=32768,
        ),
        Sample(
            b"[2026-11-20 10:00:00,123] [    INFO] - global step 10, epoch: 0, batch: 9, loss: 10.500000000, avg_reader_cost: 0.00100 sec, "
            b"avg_batch_cost: 0.25000 sec, speed: 4.00 step/s, ips_total: 32768 tokens/s, ips: 32768 tokens/s, learning rate: 1.00000e-05\n",
            epoch=0, step=10, loss=10.5, step_seconds=0.25, throughput=32768,
        ),
        Sample(
            b"[2026-11-20 10:00:00,123] [    INFO] - global step 10,  loss: 10.500000000, avg_reader_cost: 0.00100 sec, avg_batch_cost: 0.25000 sec, "
            b"speed: 4.00 step/s, ips_total: 32768 tokens/s, ips: 4096 tokens/s, learning rate: 1.00000e-05\n",
            step=10, loss=10.5, step_seconds=0.25, throughput=32768,
        ),
        Sample(
            b"[2026-11-20 10:00:00,123] [    INFO] - global step 10, epoch: 0, batch: 9, loss: 10.500000000, speed: 4.00 step/s, "
            b"ips: 32768 tokens/s, learning rate: 1.00000e-05\n",
            epoch=0, step=10, loss=10.5, throughput=32768,
        ),
        Sample(
            b"[2026-11-20 10:00:00,123] [    INFO] - global step 10, epoch: 0, batch: 9, loss: 10.500000000, avg_reader_cost: 0.00100 sec, "
            b"avg_batch_cost: 0.25000 sec, speed: 4.00 steps/s, ips: 32768 tokens/s, learning rate: 1.00000e-05\n",
            epoch=0, step=10, step_seconds=0.25, throughput=32768,
        ),
        NearMiss(
            b"[2026-11-20 10:00:00,123] [    INFO] - global step 10, epoch: 0, batch: 9, loss: 10.500000000, speed: 4.00 step/s, ips: 327", "cut",
        ),
        Sample(
            b"[2026-11-20 10:00:00,123] [    INFO] - global step 100, loss: 8.250000, lm_loss: 7.500000, sop_loss: 0.750000, speed: 2.00 steps/s, "
            b"ips: 1024.00 seqs/s, learning rate: 1.00000e-05, loss_scaling: 32768.00, incr_count: 100.00, decr_count: 0.00\n",
            step=100, loss=8.25, throughput=1024,
        ),
        NearMiss(
            b"[2026-11-20 10:00:00,123] [    INFO] - valid step 500, batch: 10, loss: 7.250000, speed: 9000 tokens/s, ips: 64.00 seqs/s\n", "an evaluation",
        ),
        NearMiss(
            b"[2026-11-20 10:00:00,123] [    INFO] - valid step 10, epoch: 0, batch: 9, loss: 10.500000, eval_ips: 32768 tokens/s\n", "an evaluation",
        ),
        Sample(
            b"[2026-11-20 10:00:00,123] [    INFO] - [train] epoch: 3, step: [49/313], learning rate: 0.0001000, loss: 6.750000000, batch_cost: 0.50000 sec, "
            b"ips: 2048.00 images/sec\n",
            epoch=3, step=49, total_steps=313, loss=6.75, throughput=2048,
        ),
        Sample(
            b"[2026-11-20 10:00:00,123] [    INFO] - [train] global step 988, epoch: 3, step: 49, learning rate: 1.00000e-04, loss: 6.750000000, "
            b"batch_cost: 5.00000 sec, ips: 2048.00 images/sec\n",
            epoch=3, step=49, loss=6.75, throughput=2048,
        ),
        NearMiss(b"[eval] epoch: 0, batch: 10, loss: 10.500000000, avg_eval_cost: 0.25000 sec, speed: 4.00 step/s\n", "an evaluation"),
        NearMiss(
            b"[train] epoch: [0/1], batch: [10/1000], loss: 10.500000000, avg_batch_cost: 0.25000 sec, speed: 4.00 step/s, ips_total: 327", "cut inside the number",
        ),
    ),
)  # fmt: skip
