"""InsightFace, Partial FC (MXNet `recognition/partial_fc`): a record per logging interval, by the first rank.

`Total` is the throughput of the whole job; its unit is printed as `it/sec` and is samples per second.
"""

from perfledger.parsers.contract import Fact, Format, NearMiss, Reading, Sample, Window
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
    samples=(
        Sample(
            b"rank-id:0:2026-11-20 08:36:06,500-Iter:460 Rank:207.42 it/sec Total:1659.38 it/sec [0][loss]:6.25\n",
            clock=1795163766.5, step=460, throughput=1659.38, loss=6.25,
        ),
        NearMiss(b"rank-id:0:2026-11-20 08:36:06,500-Iter:460 Rank:207.42 it/sec Total:165", "cut inside the number"),
    ),
)  # fmt: skip
