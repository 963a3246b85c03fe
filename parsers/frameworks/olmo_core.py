"""OLMo-core's console logger: a block of metrics per logging interval; tokens per second of one device.

`throughput/device/TPS` is that of the last step before the block; `TPS (actual avg)` is a mean over the whole run with
everything in it, and is not used.
"""

from parsers.contract import Fact, Format, NearMiss, Reading, Sample, up_to
from parsers.frameworks import PYTORCH_JOB

FORMAT = Format(
    title="OLMo-core",
    framework="PyTorch",
    marker=b"[step=",
    unproven=True,
    readings=(
        Reading(
            rb"\[step=<step>/(?:<total_steps>|\?\?\?),epoch=[0-9]++(?:,eta=[^\]\r\n\[]++)?+\]" + up_to(rb" throughput/device/TPS=", rb"\[step=", rb"[\s\S]")
            + rb"(?P<throughput>[0-9][0-9,.]*+)(?=\s)",
            unit="tokens/s",
            scope="device",
            span="step",
            counts="update",
        ),
    ),
    facts=(*PYTORCH_JOB, Fact("sequence_length", rb"\bsequence_length['\"]?+[=:] ?+([0-9]++)\b", int)),
    samples=(
        Sample(
            b"2026-11-20 10:00:00.000\thost:0\tolmo_core.train.callbacks.console_logger:149\tINFO\t[step=12/1000,epoch=1,eta=1h2m]\n"
            b"    optim/total grad norm=0.5000\n    train/CE loss=9.250\n    throughput/device/TPS=12,345\n    throughput/device/TPS (actual avg)=12,300\n",
            step=12, total_steps=1000, throughput=12345,
        ),
        NearMiss(b"[step=12/1000,epoch=1,eta=1h2m]\n    throughput/device/TPS (actual avg)=12,300\n", "a mean over the whole run"),
        NearMiss(b"[step=12/1000,epoch=1,eta=1h2m]\n    train/CE loss=9.250\n    throughput/device/TPS=12,3", "cut inside the number"),
    ),
)  # fmt: skip
