"""`nvidia-smi --query-gpu=utilization.gpu,memory.used --format=csv,noheader`: `97 %, 12002 MiB` and nothing else.

Without a header only the units say what is what; of all queries without a header only this one is common enough to be
recognised by its units. Nothing says when a row was sampled, or which of several GPUs it is of.
"""

from __future__ import annotations

import re

from perfledger.parsers.engine.rows import Dialect, Header, rows_format

_PAIR = re.compile(rb"\s*+(?:[0-9]++ %|\[[^\[\],]*+\]), *+(?:[0-9]++ MiB|\[[^\[\],]*+\])\s*+")
_HEADER = Header(("utilization.gpu [%]", "memory.used [MiB]"), {"utilisation": 0, "memory_used": 1})


def _split(line: bytes) -> list[bytes]:
    """Return two cells; none of a line that is no pair, since another query has other columns."""
    return line.split(b",") if _PAIR.fullmatch(line) else []


FORMAT = rows_format(
    Dialect(_split, first=_HEADER), title="nvidia-smi utilization.gpu,memory.used without a header", markers=(b" %, ",)
)
