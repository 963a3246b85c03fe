"""`nvidia-smi --query-gpu=utilization.gpu,memory.used --format=csv,noheader`: `97 %, 12002 MiB` on each line.

Without a header, only the units identify the columns; this query is the only one without a header that is common enough
to be recognised by its units. A row states neither its time nor which of several GPUs it is of.
"""

from __future__ import annotations

import re

from perfledger.parsers.engine.rows import Dialect, Header, rows_format

_PAIR = re.compile(rb"\s*+(?:[0-9]++ %|\[[^\[\],]*+\]), *+(?:[0-9]++ MiB|\[[^\[\],]*+\])\s*+")
_HEADER = Header(("utilization.gpu [%]", "memory.used [MiB]"), {"utilisation": 0, "memory_used": 1})


def _split(line: bytes) -> list[bytes]:
    """Return two cells; an empty list for other lines, since another query has other columns."""
    return line.split(b",") if _PAIR.fullmatch(line) else []


FORMAT = rows_format(
    Dialect(_split, first=_HEADER), title="nvidia-smi utilization.gpu,memory.used (noheader)", markers=(b" %, ",)
)
