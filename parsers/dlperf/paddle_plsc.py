"""PaddlePaddle PLSC (large-scale classification, faces): a line per ten batches; `qps` is the throughput of one node.

DLPerf's extractor for it, in a side branch only, multiplied by the nodes.
"""

from perfledger.parsers.contract import ENDED, Format, NearMiss, Reading, Sample, Window

FORMAT = Format(
    title="PaddlePaddle PLSC",
    framework="PaddlePaddle",
    marker=b" qps:",
    readings=(
        Reading(
            rb"\bPass: ?<epoch>,? batch: ?<step>,?"
            rb"(?: (?!loss:|qps:)[^\s:]{1,40}+: ?[^\s:]{1,40}+){0,8}+(?: loss: ?<loss>,?)?+"
            rb"(?: (?!qps:)[^\s:]{1,40}+: ?[^\s:]{1,40}+){0,8}+ qps: ?<throughput>,?" + ENDED,
            unit="images/s", scope="node",
        ),
    ),
    windows={"dlperf": Window(21, 120)},
    samples=(
        Sample(b"Pass:0 batch:10 lr:0.100000 loss:46.125 qps:1234.5 acc1:0.000000 acc5:0.000000\n",
               epoch=0, step=10, loss=46.125, throughput=1234.5),
        Sample(b"Pass:0 batch: 20 qps:1250.25\n", step=20, throughput=1250.25),
        NearMiss(b"Pass:0 batch:10 lr:0.100000 loss:46.125 qps:1234.5", "cut inside the number"),
        NearMiss(b"Pass:0 test qps:1234.5 acc1:0.5\n", "validation"),
    ),
)  # fmt: skip
