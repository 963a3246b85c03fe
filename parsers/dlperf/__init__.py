"""Printers whose logs DLPerf collects and no other wing reads."""

from parsers.contract import Fact

#: The `key = value` lines with which OneFlow-Benchmark's trainers begin.
ONEFLOW_HEADER = (
    Fact("batch_size", rb"^batch_size_per_device = (\d++)", int),
    Fact("devices_per_node", rb"^gpu_num_per_node = (\d++)", int),
    Fact("nodes", rb"^num_nodes = (\d++)", int),
    Fact("model", rb"^model = (\w++)"),
    Fact("precision", rb"^use_fp16 = (\w++)", words={b"True": "amp", b"False": "fp32"}),
)
