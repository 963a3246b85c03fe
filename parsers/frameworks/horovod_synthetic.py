"""Horovod's synthetic benchmarks (`*_synthetic_benchmark.py`), and BytePS's after them: a record per timed iteration.

An iteration is ten batches by default, timed as one; the figure is that of one device. The tool's own figure for the
job is that of one rank times the number of devices. `Img/sec per GPU` is the mean of the iterations, and `+-` are 1.96
standard deviations. Warm-up is not timed. The device may be called CPU, HPU, or `/gpu:0`.
"""

from perfledger.parsers.contract import Fact, Format, Reading

FORMAT = Format(
    title="Horovod synthetic",
    start=rb"Model: (?:[^\r\nM]++|M(?!odel: ))++\s++Batch size: [0-9]",
    end="Total img/sec on {_} {_}(s): ",
    readings=(
        Reading("Iter #{step}: {throughput} img/sec per ", unit="images/s", scope="device", span="step"),
        Reading("Total img/sec on {_} {_}(s): {throughput} +-", unit="images/s", span="run"),
    ),
    facts=(
        Fact("model", "Model: {}"),
        Fact("batch_size", "Batch size: {:int}"),
        Fact("devices", "Number of {_}: {:int}"),
        Fact("devices", "Number of {_}:{_}: {:int}"),
        Fact("devices", "Total img/sec on {:int} {_}(s): "),
    ),
)  # fmt: skip
