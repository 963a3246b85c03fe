"""Turn event files of TensorBoard into lines of text: one for each scalar, with the offset of its record.

An event file is a TFRecord stream of `Event` messages. A record is its length (8 bytes), the masked CRC-32C of these bytes,
its data, and the masked CRC-32C of the data. Sources: "TFRecords Format Details" of TensorFlow's documentation, and
tensorflow/core/util/event.proto, tensorflow/core/framework/summary.proto and tensor.proto of
https://github.com/tensorflow/tensorflow.

    tensorboard offset=1234 wall_time=1795132800.5 step=10 series=2 tag="train/loss" value=2.5

`series` numbers the tags in the order of their first record. The place of a figure is the offset of its record, since an
event file has no lines. If the last record is cut, the last line of text ends with its offset.
"""

from __future__ import annotations

import json
import os
import re
import struct
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import IO, Any

_NAME = re.compile(r"(?:^|\.)tfevents\.[0-9]{10}")
#: Most bytes of a record with scalars. Larger records contain images or graphs, and their data are not read.
_LARGEST = 16 << 20
#: Most bytes of a record whose checksum is verified: it is computed byte by byte, about 5 MB per second.
_CHECKED = 64 << 10
#: Texts of the Trainer of Hugging Face: its arguments, and the configuration of the network.
_TEXTS = frozenset({"args/text_summary", "model_config/text_summary"})
#: Field numbers of `Event`.
_WALL_TIME = 1
_STEP = 2
_SUMMARY = 5
#: Field number of `Summary`.
_VALUE = 1
#: Field numbers of `Summary.Value`.
_TAG = 1
_SIMPLE_VALUE = 2
_TENSOR = 8
#: Field numbers of `TensorProto`.
_DTYPE = 1
_SHAPE = 2
_CONTENT = 4
_STRING_VALUE = 8
#: Field number of `TensorShapeProto`.
_DIM = 2
#: Element types of tensors, by their numbers in types.proto: the field of the values, and the name of the type in numpy.
_FLOATS = {1: (5, "<f4"), 2: (6, "<f8")}
_STRING = 7


def is_event_file(name: str) -> bool:
    """Return whether a file has the name of an event file: `events.out.tfevents.1795132800.host`."""
    return bool(_NAME.search(name))


def lines(path: Path) -> Iterator[bytes]:
    """Yield a line of text for each scalar of an event file.

    Raises:
        OSError: a record is damaged; the message names its offset.
    """
    series: dict[str, int] = {}
    with path.open("rb") as stream:
        for offset, data in _records(stream):
            if data is None:
                yield b"tensorboard offset=%d" % offset
                return
            try:
                yield from _lines_of_event(data, offset, series)
            except (ValueError, IndexError, TypeError, AttributeError, struct.error):
                raise _damaged(offset, "it is no event") from None


def _damaged(offset: int, what: str) -> OSError:
    return OSError(f"the record at offset {offset} is damaged: {what}")


def _records(stream: IO[bytes]) -> Iterator[tuple[int, bytes | None]]:
    """Yield the offset and the data of each record; the data of a cut last record are None."""
    size = os.fstat(stream.fileno()).st_size
    offset = 0
    while offset < size:
        head = stream.read(12)
        if len(head) < 12:
            yield offset, None
            return
        length, checksum = struct.unpack("<QI", head)
        if _masked_crc(head[:8]) != checksum:
            raise _damaged(offset, "the checksum of its length is wrong")
        if offset + 16 + length > size:
            yield offset, None
            return
        if length <= _LARGEST:
            data = stream.read(length)
            (checksum,) = struct.unpack("<I", stream.read(4))
            if length <= _CHECKED and _masked_crc(data) != checksum:
                raise _damaged(offset, "its checksum is wrong")
            yield offset, data
        offset = stream.seek(offset + 16 + length)


def _lines_of_event(data: bytes, offset: int, series: dict[str, int]) -> Iterator[bytes]:
    event = dict(_fields(data))
    summary = event.get(_SUMMARY, b"")
    (wall_time,) = struct.unpack("<d", event.get(_WALL_TIME, bytes(8)))
    step = event.get(_STEP, 0)
    step -= (step >> 63) << 64  # A negative number is written as its complement of 64 bits.
    for field, value in _fields(summary):
        if field != _VALUE:
            continue
        fields = dict(_fields(value))
        tag = fields.get(_TAG, b"").decode("utf-8", "replace")
        named = json.dumps(tag, ensure_ascii=False)
        begin = f"tensorboard offset={offset} wall_time={wall_time!r} step={step}"
        if number := _scalar(fields):
            line = f"{begin} series={series.setdefault(tag, len(series) + 1)} tag={named} value={number}\n"
            yield line.encode("utf-8", "replace")
        elif tag in _TEXTS and (text := _text(fields)):
            yield f"{begin} tag={named} text={json.dumps(text)}\n".encode()


def _scalar(fields: dict[int, Any]) -> str:
    """Return the number of a summary's value as it is printed; empty if it is not a scalar."""
    import numpy as np

    if _SIMPLE_VALUE in fields:
        return str(np.frombuffer(fields[_SIMPLE_VALUE], "<f4")[0])
    tensor = dict(_fields(fields.get(_TENSOR, b"")))
    if tensor.get(_DTYPE) not in _FLOATS or any(field == _DIM for field, _ in _fields(tensor.get(_SHAPE, b""))):
        return ""
    values, kind = _FLOATS[tensor[_DTYPE]]
    found = np.frombuffer(tensor.get(_CONTENT) or tensor.get(values, b""), kind)
    return str(found[0]) if len(found) == 1 else ""


def _text(fields: dict[int, Any]) -> str:
    tensor = dict(_fields(fields.get(_TENSOR, b"")))
    return tensor.get(_STRING_VALUE, b"").decode("utf-8", "replace") if tensor.get(_DTYPE) == _STRING else ""


def _fields(message: bytes) -> Iterator[tuple[int, Any]]:
    """Yield the fields of a protobuf message: their numbers, and a whole number or bytes."""
    at = 0
    while at < len(message):
        key, at = _varint(message, at)
        kind = key & 7
        if kind == 0:
            value, at = _varint(message, at)
            yield key >> 3, value
            continue
        size, at = _varint(message, at) if kind == 2 else ({1: 8, 5: 4}.get(kind, 0), at)
        if not size and kind != 2:
            raise ValueError(kind)
        yield key >> 3, message[at : at + size]
        at += size


def _varint(message: bytes, at: int) -> tuple[int, int]:
    """Return a number, whose bytes have seven bits each, and the place after it."""
    found = shift = 0
    while True:
        byte = message[at]
        found |= (byte & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if byte < 0x80:
            return found, at


@cache
def _table() -> list[int]:
    """Return the CRC-32C (Castagnoli) of each byte."""
    found = list(range(256))
    for _ in range(8):
        found = [each >> 1 ^ (0x82F63B78 if each & 1 else 0) for each in found]
    return found


def _masked_crc(data: bytes) -> int:
    table, crc = _table(), 0xFFFFFFFF
    for byte in data:
        crc = table[(crc ^ byte) & 0xFF] ^ crc >> 8
    crc ^= 0xFFFFFFFF
    return ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF
