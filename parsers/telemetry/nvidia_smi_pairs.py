"""`nvidia-smi --query-gpu=utilization.gpu,memory.used --format=csv,noheader`: `97 %, 12002 MiB` and nothing else.

The trap: without a header only the units say what is what, and of all headerless queries this one alone is common
enough to be taken at its units. Nothing says when, or which of several GPUs a row is of.
"""

from __future__ import annotations

import re

from parsers.engine.rows import Dialect, Header, rows_format

_PAIR = re.compile(rb"\s*+(?:[0-9]++ %|\[[^\[\],]*+\]), *+(?:[0-9]++ MiB|\[[^\[\],]*+\])\s*+")
_HEADER = Header(("utilization.gpu [%]", "memory.used [MiB]"), {"utilisation": 0, "memory_used": 1})


def _split(line: bytes) -> list[bytes]:
    """Return two cells; none of a line that is no pair, since another query has other columns."""
    return line.split(b",") if _PAIR.fullmatch(line) else []


_DIALECT = Dialect(_split, lambda _line: None, lambda _line: False, first=_HEADER)


FORMAT = rows_format(_DIALECT, title="nvidia-smi utilization.gpu,memory.used without a header", markers=(b" %, ",))
