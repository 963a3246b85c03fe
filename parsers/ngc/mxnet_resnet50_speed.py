"""NGC DeepLearningExamples, MXNet ResNet-50 v1.5 before DLLogger (until 2020): a `Speed` line per displayed batch.

Every Horovod rank prints the throughput of the whole job: a job on eight devices prints eight lines per batch, which
count once, as their median. Labels are `[20]` or `[20-39]`, counted from 0.
"""

from perfledger.parsers.contract import Format, Reading

FORMAT = Format(
    title="NGC MXNet ResNet-50 (Speed)",
    framework="NGC MXNet",
    readings=(
        Reading(
            "{clock}:INFO: Epoch[{epoch}] Batch [{?{_}-}{step}]  Speed: {throughput} samples/sec",
            unit="images/s",
            ranks="median",
        ),
    ),
)  # fmt: skip
