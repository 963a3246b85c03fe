"""Files that are made and not written yet: in memory while they are few, otherwise in a temporary file."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, MutableMapping
from typing import Self

#: Bytes in memory, at most; the pages of 100,000 logs have five times as many.
IN_MEMORY = 32 << 20


class Spool(MutableMapping[str, bytes]):
    """Contents by name, in the order of their arrival; the end of its context removes them.

    A replaced content keeps its bytes until the end. Raises OSError if the temporary folder is full.
    """

    def __init__(self) -> None:
        self._file = tempfile.SpooledTemporaryFile(max_size=IN_MEMORY)  # noqa: SIM115
        self._places: dict[str, tuple[int, int]] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def __setitem__(self, name: str, content: bytes) -> None:
        try:
            first = self._file.seek(0, 2)
            self._file.write(content)
        except OSError as error:
            raise OSError(error.errno, error.strerror, tempfile.gettempdir()) from None
        self._places[name] = first, len(content)

    def __getitem__(self, name: str) -> bytes:
        first, size = self._places[name]
        self._file.seek(first)
        return self._file.read(size)

    def __delitem__(self, name: str) -> None:
        del self._places[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._places)

    def __len__(self) -> int:
        return len(self._places)

    def __contains__(self, name: object) -> bool:
        return name in self._places
