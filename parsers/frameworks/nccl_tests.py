"""NVIDIA's nccl-tests (`all_reduce_perf` and the like): a row per message size; the largest counts.

The figure is the bus bandwidth of the operation that is not in place, in GB/s: the bandwidth that each device needs on
its slowest link, whatever the number of devices; so it is that of one device. `-N` repeats the table, and its rows of
the largest size are the records; the tool warms up before each. One table alone is the tool's own figure, a mean over
its iterations. `-o all` repeats it for each reduction; only the sum is read. `Avg bus bandwidth` is the mean over all
sizes of the run, depends on their choice, and is not read. A row with wrong results is left out (older releases print
the largest difference in place of the number of wrong results). Operations with a root (broadcast, reduce) are not
read. Until 2022 tables had no column for the root, so only sums are read from them. The batch size of a device is its
message in GiB, if that is a whole number. With `-C` the table contains times of the processor, and is not read. AMD's
rccl-tests are a copy, and test RCCL.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

import numpy as np

from perfledger.parsers.contract import Columns, Fact, Format, Reading, only_if, says

_NUMBER = rb"[0-9][0-9.]*+(?:e[-+][0-9]++)?+"
_ROW = rb"(?m)^ *+%s ++[0-9]++ ++%s ++[a-z]++ ++-1 ++"
#: Until 2022 rows had no root.
_ROOTLESS = rb"(?m)^ *+%s ++[0-9]++ ++%s ++sum ++(?=[0-9])"
#: The size, as a column of its own in rows of some types or operations alone.
_SIZE_OF = rb"(?=(?:(?P<%s>[0-9]++) ++[0-9]++ ++%s )?+)"
_SIZE = (
    _SIZE_OF % (b"_summed", rb"[a-z][a-z0-9]++ ++(?:sum|none)") + _SIZE_OF % (b"_short", rb"(?:half|bfloat16)") + rb"(?P<_size>[0-9]++)"
)  # fmt: skip
#: The rank that is listed last, up to the head of the table; lines of other programs may lie between them.
_LAST_RANK = rb"^# ++Rank ++([0-9]++) (?:(?!^# ++(?:Rank|size ++count) )[\s\S])*+^# ++size ++count ++type "
_NAME = rb"((?:(?!_perf\b)\w)++)_perf\b"
_PRECISIONS: Mapping[bytes, str] = {
    b"float": "fp32", b"half": "fp16", b"bfloat16": "bf16", b"f8e4m3": "fp8", b"f8e5m2": "fp8", b"int8": "int8",
}  # fmt: skip
#: Difference below which older releases accept a result of two bytes.
_DIFFERS_SHORT = 1e-2
#: The same for a result of four bytes and more.
_DIFFERS = 1e-5
#: Sizes are rounded down to what every device can get its part of.
_EVEN = 1e-3


def _largest(columns: Columns) -> Columns:
    """Return the rows of the largest size whose results are right.

    A log that was cut before its first row of that size has no such rows.
    """
    asked, gib = columns["_batch_size"][:1], 2**30
    size = columns["_size"]
    right = ~(columns["_wrong"] > np.where(np.isfinite(columns["_short"]), _DIFFERS_SHORT, _DIFFERS))
    largest = size == size.max(initial=0)
    if np.isfinite(asked).all():
        largest &= np.abs(size / gib - asked) <= _EVEN * asked
    summed = np.isfinite(columns["_summed"])
    return columns.take(largest & right & (summed | ~summed.any()))


def _of_several_tables(columns: Columns) -> bool:
    """Return whether there are several rows of the largest size."""
    return len(columns.rows) > 1


def _gib(sizes: bytes) -> int:
    """Return the largest size of a table in GiB, 0 if it is a fraction; the last step may pass the limit."""
    smallest, largest, step = (int(each) for each in re.findall(rb"[0-9]++", sizes))
    if sizes.endswith(b"(factor") and step > 1:
        size = smallest
        while 0 < size * step <= largest:
            size *= step
    else:
        size = largest - (largest - smallest) % step if step else largest
    return 0 if size % 2**30 else size >> 30


def _reading(row: bytes, head: bytes, *, several: bool) -> Reading:
    """Return the reading of the rows of several tables, or of a table alone, of one of the two kinds."""
    return Reading(
        row % (_SIZE, rb"[a-z][a-z0-9]++") + rb"%s ++%s ++<throughput> ++(?:N/A|(?P<_wrong>%s)) " % ((_NUMBER,) * 3),
        unit="GB/s",
        scope="device",
        span="interval" if several else "run",
        where=says(rb"^# ++size ++count ++type ++redop ++" + head + rb"time ++algbw ++busbw "),
        verbs=(_largest, only_if(_of_several_tables, several)),
    )


FORMAT = Format(
    title="nccl-tests",
    framework="NCCL",
    start=rb"# nThreads?+:?+ [0-9]++ nGpus:?+ [0-9]++ (?:nRanks: [0-9]++ )?+minBytes:?+ ",
    needs=b" algbw ",
    before_start=rb"^# (?:nccl-tests version|Collective test starting: )",
    end=rb"^# Avg bus bandwidth ++: [0-9]",
    unproven=True,
    readings=tuple(
        _reading(*kind, several=several)
        for several in (True, False)
        for kind in ((_ROW, rb"root ++"), (_ROOTLESS, b""))
    ),
    facts=(
        Fact("framework", rb"^(rccl-tests: Version |RCCL version :|# nThreads: )", lambda _: "RCCL"),
        Fact("model", rb"^# Collective test starting: (?:[^\s/]*+/)*+" + _NAME),
        Fact("model", rb"(?:^|[\s/])" + _NAME + rb" -"),
        Fact("batch_size", rb"^# nThreads?+:?+ [^\n]{0,60}?minBytes:?+ ([0-9]++ maxBytes:?+ [0-9]++ step: [0-9]++\((?:factor|bytes))", _gib),
        Fact("devices", _LAST_RANK, lambda last: int(last) + 1),
        Fact("gpu", rb"^# ++Rank ++0 [^\]\n]++\] ([^\r\n]++)"),
        Fact("precision", _ROW % (rb"[0-9]++", rb"([a-z][a-z0-9]++)") + rb"[0-9]", words=_PRECISIONS),
        Fact("precision", _ROOTLESS % (rb"[0-9]++", rb"([a-z][a-z0-9]++)"), words=_PRECISIONS),
    ),
)  # fmt: skip
