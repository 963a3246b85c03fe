"""PaddleVideo: a line per logging interval with the clips per second of one device, of the last batch alone.

`batch_cost` is that of the last batch too. The first batch of an epoch waits for the workers of the loader to start, and
stands for none of the others: its line is left out. The line at the end of an epoch states the mean of all its batches;
it is read where epochs are too short for another line. Validations print lines of the same form.
"""

from parsers.contract import Fact, Format, NearMiss, Reading, Sample, up_to
from parsers.paddle import LAUNCHER

FORMAT = Format(
    title="PaddleVideo",
    framework="PaddlePaddle",
    marker=b" instance/sec",
    unproven=True,
    readings=(
        Reading(
            rb"\bepoch:\[ *+<epoch>/ *+<total_epochs> *+\] train step:(?!0 )<step> ++(?:loss: <loss>,? )?+" + up_to(rb"\bbatch_cost: ", rb"epoch:\[")
            + rb"<step_seconds> sec, reader_cost: <reader_seconds> sec, ips: <throughput> instance/sec",
            unit="clips/s",
            scope="device",
            span="step",
        ),
        Reading(
            rb"\bEND epoch:<epoch> ++train " + up_to(rb"\bbatch_cost_sum: ", rb"END epoch:") + rb"<duration> sec, avg_ips: <throughput> instance/sec",
            unit="clips/s",
            scope="device",
            span="epoch",
        ),
    ),
    facts=(
        Fact("batch_size", rb"^[^\n]{0,60}?\bbatch_size ?: ([0-9]++)$", int),
        Fact("model", rb"^[^\n]{0,60}?\bmodel_name ?: (\w++)$"),
        *LAUNCHER,
    ),
    samples=(
        Sample(
            b"[11/20 10:00:00] epoch:[  1/50 ] train step:10   loss: 1.25000 lr: 0.010000 top1: 0.25000 top5: 0.50000 batch_cost: 0.50000 sec, "
            b"reader_cost: 0.01000 sec, ips: 32.00000 instance/sec.\n",
            epoch=1, total_epochs=50, step=10, loss=1.25, step_seconds=0.5, reader_seconds=0.01, throughput=32,
        ),
        Sample(
            b"[11/20 10:00:00] END epoch:1   train loss_avg: 1.25000  top1_avg: 0.25000 avg_batch_cost: 0.50000 sec, avg_reader_cost: 0.01000 sec, "
            b"batch_cost_sum: 20.00000 sec, avg_ips: 32.00000 instance/sec.\n",
            epoch=1, duration=20, throughput=32,
        ),
        NearMiss(
            b"[11/20 10:00:00] epoch:[  1/50 ] train step:0    loss: 1.25000 batch_cost: 5.00000 sec, reader_cost: 4.01000 sec, ips: 3.20000 instance/sec.\n",
            "the first batch of an epoch",
        ),
        NearMiss(
            b"[11/20 10:00:00] epoch:[  1/50 ] val step:10   loss: 1.25000 top1: 0.25000 batch_cost: 0.50000 sec, reader_cost: 0.01000 sec, ips: 32.00000 instance/sec.\n",
            "a validation",
        ),
        NearMiss(
            b"[11/20 10:00:00] END epoch:1   val loss_avg: 1.25000 avg_batch_cost: 0.50000 sec, batch_cost_sum: 20.0 sec, avg_ips: 32.00000 instance/sec.\n",
            "the end of a validation",
        ),
        NearMiss(
            b"[11/20 10:00:00] epoch:[  1/50 ] train step:10   loss: 1.25000 batch_cost: 0.50000 sec, reader_cost: 0.01000 sec, ips: 32.0", "cut inside the number",
        ),
    ),
)  # fmt: skip
