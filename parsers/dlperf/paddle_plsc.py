"""PaddlePaddle PLSC (large-scale classification, faces): a line per ten batches; `qps` is the throughput of one node.

DLPerf's extractor for it, in a side branch only, multiplied by the nodes.
"""

from perfledger.parsers.contract import ENDED, Format, Reading, Window

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
)  # fmt: skip
