"""PaddlePaddle PLSC (large-scale classification, faces): a line per ten batches; `qps` is the throughput of one node.

DLPerf's extractor for it, in a side branch only, multiplied by the nodes.
"""

from perfledger.parsers.contract import Format, Reading

FORMAT = Format(
    title="PaddlePaddle PLSC",
    framework="PaddlePaddle",
    readings=(
        Reading(
            "Pass:{epoch} batch:{step}{?{*} loss:{loss}}{*} qps:{throughput}",
            unit="images/s", scope="node",
        ),
    ),
)  # fmt: skip
