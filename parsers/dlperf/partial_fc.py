"""InsightFace, Partial FC (MXNet `recognition/partial_fc`): a record per logging interval, by the first rank.

`Total` is the throughput of the whole job; its unit is printed as `it/sec` and is samples per second.
"""

from perfledger.parsers.contract import Fact, Format, Reading
from perfledger.parsers.dlperf.arcface import VERIFICATION

FORMAT = Format(
    title="InsightFace Partial FC",
    framework="MXNet",
    readings=(
        Reading(
            "rank-id:{_}:{clock}-Iter:{step} Rank:{_} it/sec Total:{throughput} it/sec{? [{_}][loss]:{loss}}",
            unit="images/s",
            ranks="median",
            pauses=VERIFICATION,
        ),
    ),
    facts=(Fact("num_classes", "'num_classes': {:int}"),),
)  # fmt: skip
