"""InsightFace, Partial FC (MXNet `recognition/partial_fc`): a record per logging interval, by the first rank.

`Total` is the throughput of the whole job; its unit is printed as `it/sec` and is samples per second.
"""

from perfledger.parsers.contract import Fact, Format, Reading, Window
from perfledger.parsers.dlperf.arcface import VERIFICATION

FORMAT = Format(
    title="InsightFace Partial FC",
    framework="MXNet",
    marker=b"it/sec Total:",
    readings=(
        Reading(
            rb"(?P<clock>\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d{3})-Iter:<step> Rank:\S++ it/sec "
            rb"Total:<throughput> it/sec(?: \[\d++\]\[loss\]:<loss>(?=\s))?+",
            unit="images/s",
            repeated=True,
            pauses=VERIFICATION,
        ),
    ),
    facts=(Fact("num_classes", rb"'num_classes': (\d++)", int),),
    windows={"dlperf": Window(20, None, by="record")},
)  # fmt: skip
