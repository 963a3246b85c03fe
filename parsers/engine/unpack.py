"""Unpack logs within limits, once, into a temporary file without a name. Any part of that file can be read again.

A notebook counts as a packed log: it contains the output of its cells. So does an event file of TensorBoard, with its
scalars. The size of plain logs is not limited: unpack a log that exceeds these limits yourself, if you trust it.
"""

from __future__ import annotations

import bz2
import gzip
import io
import json
import lzma
import os
import re
import tempfile
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO, cast

from perfledger.parsers.engine import tensorboard_events

#: Most bytes that a log may unpack to.
MOST_BYTES = 4 << 30
#: Most bytes per packed byte: real logs compress less than this.
MOST_RATIO = 1000
#: Bytes that every log may unpack to, regardless of the ratio.
FREE_BYTES = 64 << 20
#: Most bytes of memory for the dictionary of a packed file.
MOST_MEMORY = 256 << 20
#: Most bytes of a notebook, which is read at once.
MOST_NOTEBOOK = 64 << 20
#: Bytes that are unpacked at a time.
_PIECE = 1 << 20
#: Packed bytes of `.zst` that are unpacked at a time: the output comes at once, and is up to 32,000 times as large.
_ZST_PIECE = 1 << 10
_CUT = "the file ends in the middle of its data"


class UnpackError(Exception):
    """A packed log exceeds a limit; `most` is the limit in bytes."""

    def __init__(self, most: int) -> None:
        super().__init__(f"unpacks to more than {most} bytes")
        self.most = most


def _pieces(stream: IO[bytes]) -> Iterator[bytes]:
    with stream:
        while data := stream.read(_PIECE):
            yield data


def _gz(path: Path) -> Iterator[bytes]:
    return _pieces(cast(IO[bytes], gzip.open(path, "rb")))


def _bz2(path: Path) -> Iterator[bytes]:
    return _pieces(cast(IO[bytes], bz2.open(path, "rb")))


def _xz(path: Path) -> Iterator[bytes]:
    """Unpack one stream after the other, each within the limit of memory; `lzma.open` has no such limit."""
    with path.open("rb") as stream:
        data = stream.read(_PIECE)
        while data:
            unpacker = lzma.LZMADecompressor(memlimit=MOST_MEMORY)
            while not unpacker.eof:
                data = data or (stream.read(_PIECE) if unpacker.needs_input else b"")
                if unpacker.needs_input and not data:
                    raise EOFError(_CUT)
                yield unpacker.decompress(data, _PIECE)
                data = b""
            data = unpacker.unused_data.lstrip(b"\x00") or stream.read(_PIECE).lstrip(b"\x00")


def _zst(path: Path) -> Iterator[bytes]:
    """Unpack one frame after the other; a stream of `zstandard` would not report that a file is cut."""
    try:
        import zstandard  # type: ignore[import-not-found,unused-ignore]
    except ImportError:
        raise OSError("zstandard is not installed") from None
    limits = zstandard.ZstdDecompressor(max_window_size=MOST_MEMORY)
    with path.open("rb") as stream:
        data = stream.read(_ZST_PIECE)
        while data:
            unpacker = limits.decompressobj()
            while not unpacker.eof:
                if not data:
                    raise EOFError(_CUT)
                try:
                    yield unpacker.decompress(data)
                except zstandard.ZstdError as error:
                    raise OSError(str(error)) from None
                data = stream.read(_ZST_PIECE) if not unpacker.eof else unpacker.unused_data
            data = data or stream.read(_ZST_PIECE)


_TAG = re.compile(r"<[^<>]*+>")


def _ipynb(path: Path) -> Iterator[bytes]:
    """Yield the output of a notebook's cells; each output begins on a new line. Source: nbformat 4."""
    if path.stat().st_size > MOST_NOTEBOOK:
        raise OSError("the notebook is too large")
    try:
        cells = json.loads(path.read_bytes())["cells"]
        outputs = [each for cell in cells for each in cell.get("outputs", ())]
        texts = ["".join(each.get("text") or _shown(each.get("data", {})) or _crash(each)) for each in outputs]
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise OSError("it is no notebook") from None
    for each in texts:
        yield (each if not each or each.endswith("\n") else f"{each}\n").encode("utf-8", "replace")


def _shown(data: Mapping[str, Sequence[str]]) -> str:
    """Return the text of a cell's output. If the plain text only names an HTML object, return the HTML without tags."""
    plain, html = ("".join(data.get(f"text/{each}", "")) for each in ("plain", "html"))
    return _TAG.sub("", html) if html and plain.startswith("<IPython.core.display.HTML") else plain


def _crash(output: Mapping[str, Sequence[str]]) -> str:
    return "\n".join(output.get("traceback", ()))


#: The functions that unpack logs, by suffix.
UNPACKERS: Mapping[str, Callable[[Path], Iterator[bytes]]] = {
    ".gz": _gz,
    ".bz2": _bz2,
    ".xz": _xz,
    ".zst": _zst,
    ".ipynb": _ipynb,
}


def _unpacker(path: Path) -> Callable[[Path], Iterator[bytes]] | None:
    return tensorboard_events.lines if tensorboard_events.is_event_file(path.name) else UNPACKERS.get(path.suffix)


def is_packed(path: Path) -> bool:
    """Return whether a file is packed, by its suffix, or as an event file by its name."""
    return _unpacker(path) is not None


def plain_name(name: str) -> str:
    """Return the name of a file without the suffix of a packed file."""
    return name.removesuffix(Path(name).suffix) if Path(name).suffix in UNPACKERS else name


class _View(io.RawIOBase):
    """Reads an open file from a position of its own, so that several can read it at once."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor, self._at = os.dup(descriptor), 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        """Go to an offset from the beginning, from here, or from the end."""
        starts = {os.SEEK_SET: 0, os.SEEK_CUR: self._at, os.SEEK_END: os.fstat(self._descriptor).st_size}
        self._at = starts[whence] + offset
        return self._at

    def readinto(self, buffer: bytearray | memoryview) -> int:  # type: ignore[override]
        """Fill a buffer from here on; return the number of bytes, 0 at the end."""
        data = os.pread(self._descriptor, len(buffer), self._at)
        buffer[: len(data)] = data
        self._at += len(data)
        return len(data)

    def close(self) -> None:
        if not self.closed:
            os.close(self._descriptor)
        super().close()


#: State and unpacked bytes of the last packed log: a log is opened again for each part that is read.
_last: tuple[tuple[str, int, int], IO[bytes]] | None = None


def unpacked(path: Path) -> IO[bytes]:
    """Open the unpacked bytes of a packed log.

    Raises:
        UnpackError: it unpacks to more than the limits allow.
        OSError: it cannot be read or unpacked, or the disk is full.
    """
    global _last
    at = path.stat()
    state = (str(path.absolute()), at.st_mtime_ns, at.st_size)
    if _last is None or _last[0] != state:
        if _last is not None:
            _last[1].close()
        _last = None
        _last = state, _unpacked(path, at.st_size)
    return cast(IO[bytes], io.BufferedReader(_View(_last[1].fileno())))


def _unpacked(path: Path, size: int) -> IO[bytes]:
    most = min(MOST_BYTES, max(FREE_BYTES, MOST_RATIO * size))
    into = tempfile.TemporaryFile()  # noqa: SIM115 - it stays open until another log is unpacked
    try:
        unpack = _unpacker(path)
        for data in unpack(path) if unpack else ():
            into.write(data)
            if into.tell() > most:
                raise UnpackError(most)
        into.flush()
    except BaseException as error:
        into.close()
        if isinstance(error, EOFError | zlib.error | lzma.LZMAError):
            raise OSError(str(error)) from None
        raise
    return into
