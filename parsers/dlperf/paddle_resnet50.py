"""PaddlePaddle/models, image classification of 2020 (`[Pass 0, train batch 10]`): a record per `print_step` batches.

Two dialects: `elapse` is the time of that one batch, `batch_cost` the mean since the last line, including the wait for
data. Both count all devices together. Early releases print `elapse` with two decimals. The `ips` of the later dialect
counts the `batch_size` as configured, of a node or of all nodes, and is not quoted. Batches are counted from 0.
"""

from perfledger.parsers.contract import Format, NearMiss, Reading, Sample, Window

_BATCH = (
    rb"\[Pass <epoch>, train batch <step>\][\t ]++loss <loss>,(?: acc1 <accuracy>,)?+(?: (?!elapse|batch_cost)\w++ [^\s,]++,)*+"
)  # fmt: skip

FORMAT = Format(
    title="Paddle image classification (2020)",
    framework="PaddlePaddle",
    marker=b", train batch ",
    start=b"-  Configuration Arguments -",
    readings=(
        Reading(
            rb"(?:(?P<clock>\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d{3})-INFO: )?+" + _BATCH + rb" elapse <step_seconds> sec",
            unit="images/s",
            span="step",
        ),
        Reading(
            _BATCH + rb" batch_cost <step_seconds> s(?:ec)?, reader_cost <reader_seconds> s(?:ec)?,",
            unit="images/s",
        ),
    ),
    windows={"dlperf": Window(20, 119), "dlperf-time": Window(19, 119, "clock")},
    samples=(
        Sample(
            b"2026-11-20 08:36:06,500-INFO: [Pass 0, train batch 30] \tloss 7.01, acc1 0.00100, acc5 0.00500, lr 0.10000, "
            b"elapse 0.3500 sec",
            clock=1795163766.5, epoch=0, step=30, loss=7.01, accuracy=0.001, step_seconds=0.35,
        ),
        Sample(
            b"INFO:utils.utility:[Pass 0, train batch 10]   loss 21.68535, acc1 0.00781, acc5 0.00781, lr 0.10000, "
            b"batch_cost 0.12500 sec, reader_cost 0.00069 sec, ips 1024.00000 images/sec",
            epoch=0, step=10, loss=21.68535, step_seconds=0.125, reader_seconds=0.00069,
        ),
        NearMiss(b"2026-11-20 08:36:06,500-INFO: [Pass 0, test batch 10] \tloss 7.01, acc1 0.001, acc5 0.005, elapse 0.35 sec", "a test"),
        NearMiss(b"[Pass 0, train batch 30] \tloss 7.01, acc1 0.001, acc5 0.005, lr 0.1, elapse 0.3", "cut inside the number"),
        NearMiss(b"[End pass 0, train_loss 7.01, elapse 812.1 sec", "a whole pass"),
    ),
)  # fmt: skip
