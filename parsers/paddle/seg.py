"""PaddleSeg (`train.py`): a record per `--log_iters` iterations.

`ips` is the throughput of one device, `batch_size / batch_cost`, with four decimals. Until January 2021 each value
stood behind `=`, at first without `ips`. A record that contains the start of an epoch is slow. Evaluations and
checkpoints lie outside `batch_cost`, and so does the moving average of the weights (`--use_ema`). `GPUs used` counts
the whole job; the launcher prints `ips: 127.0.0.1`.
"""

from perfledger.parsers.contract import Fact, Format, NearMiss, Pause, Reading, Sample, Trap
from perfledger.parsers.paddle import LAUNCHER, MEMORY

_PAUSES = (
    Pause(
        "evaluation",
        rb"\[EVAL\] ",
        b"2026-11-20 11:50:55 [INFO]\t[EVAL] #Images: 20 mIoU: 0.1000 Acc: 0.3000 Kappa: 0.1000 Dice: 0.2000",
        inside="none",
    ),
)
#: The moving average of the weights is updated after `batch_cost` has been taken.
_EMA = Trap("clock", "outside_batch_cost", most=1.19)

FORMAT = Format(
    title="PaddleSeg",
    framework="PaddlePaddle",
    marker=b"[TRAIN] epoch",
    # Paddle3D prints the same heading, and the platform on a line of its own.
    start=rb"-Environment Information-++(?!\r?\nplatform:[ \t]*+\r?\n)",
    readings=(
        Reading(
            rb"\[TRAIN\] epoch: <epoch>, iter: <step>/<total_steps>, loss: <loss>, "
            rb"(?:[^\r\nb\[]++|b(?!atch_cost: ))*+batch_cost: <step_seconds>, "
            rb"reader_cost: <reader_seconds>, ips: <throughput> samples/sec" + MEMORY,
            unit="samples/s",
            scope="device",
            epoch_end=True,
            pauses=_PAUSES,
            trap=_EMA,
        ),
        *(
            Reading(
                rb"\[TRAIN\] epoch=<epoch>, iter=<step>/<total_steps>, loss=<loss>, lr=[0-9.e-]++, "
                rb"batch_cost=<step_seconds>, reader_cost=<reader_seconds>" + speed + rb" \| ETA ",
                unit="samples/s",
                scope="device",
                epoch_end=True,
            )
            for speed in (rb", ips=<throughput> samples/sec", rb"")
        ),
    ),
    facts=(
        Fact("batch_size", rb"^batch_size: (\d++)", int),
        # An FCN is named after its backbone: `fcn_hrnetw18`.
        Fact("model", rb"^model:$(?=(?:\n [^\n]*+)*?\n  type: FCN$)(?:\n [^\n]*+)*?\n    type: (HRNet_W\d++)$"),
        Fact("model", rb"^model:$(?:\n [^\n]*+)*?\n  type: (\w++)"),
        Fact("devices", rb"init nccl context nranks: (\d++)", int),
        Fact("devices", rb"^GPUs used: (\d++)", int),
        *LAUNCHER,
        Fact("gpu", rb"^GPU: \['GPU 0: ([^'(]++)"),
        Fact("framework_version", rb"^PaddlePaddle: (?!0\.0\.0)(\S++)"),
        Fact("precision", rb"\buse AMP to train\. AMP level = (O[12])\b", words={b"O1": "amp", b"O2": "fp16"}),
        Fact("precision", rb"\bINFO(?:\]\t|: )(use amp to train|use AMP to train\b)", lambda _: "amp"),
        Fact("precision", rb"^(?=(?:(?!--precision)[^\n])*+--precision[= ]fp16\b)(?:(?!--amp_level)[^\n])*+--amp_level[= ](O[12])\b", words={b"O1": "amp", b"O2": "fp16"}),
        Fact("precision", rb"--precision[= ](fp32|fp16)", words={b"fp32": "fp32", b"fp16": "amp"}),
    ),
    samples=(
        Sample(
            b"2026-11-20 11:50:55 [INFO]\t[TRAIN] epoch: 3, iter: 40/40, loss: 2.0594, lr: 0.010000, batch_cost: 0.2000, "
            b"reader_cost: 0.00247, ips: 20.0000 samples/sec | ETA 00:00:00",
            epoch=3, step=40, loss=2.0594, step_seconds=0.2, reader_seconds=0.00247, throughput=20.0,
        ),
        Sample(
            b"2026-11-20 11:50:55 [INFO]\t[TRAIN] epoch: 1, iter: 10/1000, loss: 2.5, lr: 0.009919, batch_cost: 0.2500, "
            b"reader_cost: 0.01, ips: 16.0000 samples/sec, max_mem_reserved: 7000 MB, max_mem_allocated: 6500 MB | ETA 00:03:57",
            step=10, throughput=16.0, memory=6500,
        ),
        Sample(
            b"2026-11-20 11:50:55 [INFO]\t[TRAIN] epoch=1, iter=5/100, loss=2.5, lr=0.009639, batch_cost=0.2500, "
            b"reader_cost=0.00010, ips=16.0000 samples/sec | ETA 00:01:24",
            epoch=1, step=5, total_steps=100, loss=2.5, step_seconds=0.25, throughput=16.0,
        ),
        Sample(
            b"2026-11-20 11:50:55 [INFO]\t[TRAIN] epoch=1, iter=5/100, loss=2.5, lr=0.009639, batch_cost=0.2500, "
            b"reader_cost=0.0001 | ETA 00:01:24",
            epoch=1, step=5, loss=2.5, step_seconds=0.25, reader_seconds=0.0001,
        ),
        NearMiss(
            b"2026-11-20 11:50:55 [INFO]\t[TRAIN] epoch=1, iter=5/100, loss=2.5, lr=0.009639, batch_cost=0.2500, reader_cost=0.00",
            "cut",
        ),
        NearMiss(b"ips: 127.0.0.1", "a list of hosts"),
        NearMiss(
            b"2026-11-20 11:50:55 [INFO]\t[EVAL] #Images: 20 mIoU: 0.1000 Acc: 0.3000 Kappa: 0.1000 Dice: 0.2000",
            "evaluation prints no throughput",
        ),
    ),
)  # fmt: skip
