"""NGC DeepLearningExamples, MXNet ResNet-50 v1.5 before DLLogger (until 2020): a `Speed` line per displayed batch.

Every Horovod rank prints the throughput of the whole job: a job on eight devices prints eight lines per batch, which
count once, as their median. Labels are `[20]` or `[20-39]`, counted from 0.
"""

from perfledger.parsers.contract import Format, NearMiss, Reading, Sample, Window

FORMAT = Format(
    title="NGC MXNet ResNet-50 (Speed)",
    framework="NGC MXNet",
    marker=b":INFO: Epoch[",
    readings=(
        Reading(
            rb"(?P<clock>\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d{3}):INFO: Epoch\[<epoch>\] Batch \[(?:\d++-)?<step>\]"
            rb"[\t ]++Speed: <throughput> samples/sec",
            unit="images/s",
            repeated=True,
        ),
    ),
    windows={"dlperf": Window(20, 119), "dlperf-time": Window(19, 119, "clock")},
    samples=(
        Sample(
            b"2026-11-20 08:36:06,500:INFO: Epoch[0] Batch [20-39]\tSpeed: 1384.8400473383526 samples/sec\tLR: 0.0039936",
            clock=1795163766.5, epoch=0, step=39, throughput=1384.8400473383526,
        ),
        NearMiss(b"INFO:root:Epoch[0] Batch [20]\tSpeed: 1368.57 samples/sec\taccuracy=0.001", "the callback of plain MXNet"),
        NearMiss(b"2026-11-20 06:24:28,089:INFO: starting epoch 0", "no figure"),
    ),
)  # fmt: skip
