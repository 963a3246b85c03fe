"""`nvidia-smi --query-gpu=utilization.gpu,memory.used --format=csv,noheader`: `97 %, 12002 MiB` and nothing else.

The trap: without a header only the units say what is what, and of all headerless queries this one alone is common
enough to be taken at its units. Nothing says when, or which of several GPUs a row is of.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from parsers.engine.scan import Chunk
from parsers.telemetry.contract import Block, Faults, Printer
from parsers.telemetry.rows import Dialect, Header, blocks, claimed

_PAIR = re.compile(rb"\s*+(?:[0-9]++ %|\[[^\[\],]*+\]), *+(?:[0-9]++ MiB|\[[^\[\],]*+\])\s*+")
_HEADER = Header(("utilization.gpu [%]", "memory.used [MiB]"), {"utilisation": 0, "memory_used": 1})


def _split(line: bytes) -> list[bytes]:
    """Two cells; none of a line that is no pair, since another query's two columns need not be these."""
    return line.split(b",") if _PAIR.fullmatch(line) else []


_DIALECT = Dialect(_split, lambda _line: None, lambda _line: False, first=_HEADER)


def _claims(text: bytes) -> bool:
    return claimed(text, _DIALECT)


def _blocks(chunks: Iterable[Chunk], faults: Faults) -> Iterator[Block]:
    return blocks(chunks, faults, _DIALECT)


PRINTER = Printer(
    title="nvidia-smi utilization.gpu,memory.used without a header", markers=(b" %, ",), claims=_claims, blocks=_blocks
)
