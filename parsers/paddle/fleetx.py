"""PaddleFleetX and the GPT examples of PaddleNLP before it: tokens per second of the job over the interval.

`ips_total` is that of the job; the pre-training of PaddleNLP prints no epoch. `ips` is that of one device only in later
releases, and the same in earlier ones, so it is not read. Steps are counted over the run or within the epoch. A batch
is one update.
"""

from parsers.contract import Fact, Format, NearMiss, Reading, Sample, up_to

_BEGIN = rb"\[train\] epoch: |global step"
_SPEED = (
    up_to(rb"\bloss: ", _BEGIN) + rb"<loss>, (?:" + up_to(rb"\bavg_batch_cost: ", _BEGIN + rb"|ips_total: ") + rb"<step_seconds> sec, )?+"
    + up_to(rb"\bips_total: ", _BEGIN) + rb"<throughput> tokens/s, ips: "
)  # fmt: skip


def _argument(name: bytes) -> bytes:
    """Return a pattern for a number of the configuration."""
    return rb"\b" + name + rb" ?: ([0-9]++)\b"


FORMAT = Format(
    title="PaddleFleetX",
    framework="PaddlePaddle",
    marker=b"ips_total: ",
    unproven=True,
    readings=(
        Reading(rb"\[train\] epoch: \[?<epoch>(?:/[0-9]++\])?+, (?:batch|step): \[?<step>(?:/<total_steps>\])?+, " + _SPEED, unit="tokens/s", counts="update"),
        Reading(rb"\bglobal step:? <step>, (?:epoch: <epoch>, )?+" + _SPEED, unit="tokens/s", counts="update"),
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
        NearMiss(b"[eval] epoch: 0, batch: 10, loss: 10.500000000, avg_eval_cost: 0.25000 sec, speed: 4.00 step/s\n", "an evaluation"),
        NearMiss(
            b"[train] epoch: [0/1], batch: [10/1000], loss: 10.500000000, avg_batch_cost: 0.25000 sec, speed: 4.00 step/s, ips_total: 327", "cut inside the number",
        ),
    ),
)  # fmt: skip
