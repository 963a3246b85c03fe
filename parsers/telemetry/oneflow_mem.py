"""The `.mem` file next to a log of Wide & Deep (OneFlow, HugeCTR): `max device0 memory usage is: <bytes>`.

It is the maximum of polling device 0 alone, once a second, and includes other processes on the device. DLPerf prints
MiB without decimals, and so do we.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

import numpy as np

from perfledger.parsers.contract.chunk import Chunk
from perfledger.parsers.contract.telemetry import QUANTITIES, Faults, SampleBlock, TelemetryFormat

_LINE = re.compile(rb"(?m)^[ \t]*+max device(?P<device>[0-9]{1,3}) memory usage is: *+(?P<bytes>[^\n]*+)$")
_FEW = 10
_BYTES = re.compile(rb"[0-9]{1,15}")


def _claims(text: bytes) -> bool:
    # A log may quote the line, too; in a `.mem` file most lines are of this form.
    lines = sum(bool(each.strip()) for each in text.splitlines())
    return len(_LINE.findall(text)) * _FEW >= lines > 0


def _blocks(chunks: Iterable[Chunk], faults: Faults) -> Iterator[SampleBlock]:
    for chunk in chunks:
        devices, used = [], []
        for found in _LINE.finditer(chunk.text):
            printed = found["bytes"].strip()
            value = int(printed) >> 20 if _BYTES.fullmatch(printed) else -1
            if not 0 <= value <= QUANTITIES["memory_used"].most:
                faults.add("values", chunk.line_of(found.start()), printed, "max device memory usage")
                continue
            devices.append(found["device"].decode())
            used.append(float(value))
        if used:
            yield SampleBlock(np.full(len(used), np.nan), devices, {"memory_used": np.array(used)})


FORMAT = TelemetryFormat(
    title="max device0 memory usage (.mem)",
    markers=(b" memory usage is: ",),
    claims=_claims,
    blocks=_blocks,
    peaks=True,
)
