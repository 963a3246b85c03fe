"""PaddleFleetX and the GPT examples of PaddleNLP before it: tokens per second of the job over the interval.

`ips_total` is that of the job; the pre-training of PaddleNLP prints no epoch. `ips` beside it is that of one device only
in later releases, and the same in earlier ones, so it is not read. The examples of 2021 print `ips` alone, which is that
of the job; the first of them time evaluations as well. Steps are counted over the run or within the epoch. A batch is
one update.
"""

from parsers.contract import Fact, Format, NearMiss, Pause, Reading, Sample, up_to

_BEGIN = rb"\[train\] epoch: |global step"
_SPEED = (
    up_to(rb"\bloss: ", _BEGIN) + rb"<loss>, (?:" + up_to(rb"\bavg_batch_cost: ", _BEGIN + rb"|ips_total: ") + rb"<step_seconds> sec, )?+"
    + up_to(rb"\bips_total: ", _BEGIN) + rb"<throughput> tokens/s, ips: "
)  # fmt: skip
_OF_2021 = rb"\bglobal step <step>, epoch: <epoch>, batch: [0-9]++, loss: <loss>, "
_OF_JOB = rb"speed: [0-9.]++ steps?+/s, ips: <throughput> tokens/s, learning rate: "
#: The first of these examples had a timer that ran on meanwhile; the later ones add up the seconds of steps.
_PAUSES = (
    Pause(
        "evaluation",
        rb"valid step [0-9]++, epoch: ",
        b"[2026-11-20 10:00:00,123] [    INFO] - valid step 500, epoch: 0, batch: 9, loss: 10.500000, speed: 8.00 step/s",
    ),
    Pause("checkpoint", rb"Save model to ", b"[2026-11-20 10:00:00,123] [    INFO] - Save model to output/model_500"),
)


def _argument(name: bytes) -> bytes:
    """Return a pattern for a number of the configuration."""
    return rb"\b" + name + rb" ?: ([0-9]++)\b"


FORMAT = Format(
    title="PaddleFleetX",
    framework="PaddlePaddle",
    marker=b" tokens/s, ",
    unproven=True,
    readings=(
        Reading(rb"\[train\] epoch: \[?<epoch>(?:/[0-9]++\])?+, (?:batch|step): \[?<step>(?:/<total_steps>\])?+, " + _SPEED, unit="tokens/s", counts="update"),
        Reading(rb"\bglobal step:? <step>, (?:epoch: <epoch>, )?+" + _SPEED, unit="tokens/s", counts="update"),
        Reading(
            _OF_2021 + rb"(?:avg_reader_cost: <reader_seconds> sec, )?+avg_batch_cost: <step_seconds> sec, " + _OF_JOB,
            unit="tokens/s", counts="update",
        ),
        Reading(_OF_2021 + _OF_JOB, unit="tokens/s", counts="update", pauses=_PAUSES),
    ),
    facts=(
        Fact("batch_size_of_job", _argument(rb"global_batch_size"), int),
        Fact("micro_batch", _argument(rb"micro_batch_size"), int),
        Fact("sequence_length", _argument(rb"max_seq_len"), int),
        Fact("data_parallel", _argument(rb"dp_degree"), int),
        Fact("tensor_parallel", _argument(rb"mp_degree"), int),
        Fact("pipeline_parallel", _argument(rb"pp_degree"), int),
        Fact("devices", _argument(rb"nranks"), int),
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
        NearMiss(
            b"[2026-11-20 10:00:00,123] [    INFO] - valid step 10, epoch: 0, batch: 9, loss: 10.500000, eval_ips: 32768 tokens/s\n", "an evaluation",
        ),
        NearMiss(b"[eval] epoch: 0, batch: 10, loss: 10.500000000, avg_eval_cost: 0.25000 sec, speed: 4.00 step/s\n", "an evaluation"),
        NearMiss(
            b"[train] epoch: [0/1], batch: [10/1000], loss: 10.500000000, avg_batch_cost: 0.25000 sec, speed: 4.00 step/s, ips_total: 327", "cut inside the number",
        ),
    ),
)  # fmt: skip
