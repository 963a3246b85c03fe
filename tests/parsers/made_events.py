"""Made-up event files of TensorBoard, written from the public specification."""

from __future__ import annotations

import struct
from collections.abc import Iterable

NAME = "events.out.tfevents.1795132800.box-1.4711.0"
START = 1795132800.0
#: (tag, step, seconds after the start, value)
Point = tuple[str, int, float, float]


def crc32c(data: bytes) -> int:
    """Return the CRC-32C of RFC 3720, bit by bit."""
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ 0x82F63B78 if crc & 1 else crc >> 1
    return crc ^ 0xFFFFFFFF


def masked(data: bytes) -> bytes:
    crc = crc32c(data)
    return struct.pack("<I", ((crc >> 15 | crc << 17) + 0xA282EAD8) % (1 << 32))


def record(data: bytes) -> bytes:
    length = struct.pack("<Q", len(data))
    return length + masked(length) + data + masked(data)


def varint(number: int) -> bytes:
    out = b""
    while number > 0x7F:
        out, number = out + bytes([number & 0x7F | 0x80]), number >> 7
    return out + bytes([number])


def field(number: int, content: bytes) -> bytes:
    return varint(number << 3 | 2) + varint(len(content)) + content


def event(seconds: float, step: int, what: bytes) -> bytes:
    number = b"\x10" + varint(step % (1 << 64)) if step else b""
    return record(b"\x09" + struct.pack("<d", START + seconds) + number + what)


def simple(tag: str, value: float) -> bytes:
    return field(1, field(1, tag.encode()) + b"\x15" + struct.pack("<f", value))


def tensor(tag: str, content: bytes) -> bytes:
    """Return a value in the form of TensorFlow 2, with the plugin's name."""
    plugin = field(9, field(1, field(1, b"scalars")))
    return field(1, field(1, tag.encode()) + field(8, content) + plugin)


def header() -> bytes:
    return event(0.0, 0, field(3, b"brain.Event:2"))


def events(points: Iterable[Point]) -> bytes:
    return header() + b"".join(
        event(seconds, step, field(5, simple(tag, value))) for tag, step, seconds, value in points
    )


def trained(*more: str, every: int = 10, pace: float = 0.5, tag: str = "train/loss") -> list[Point]:
    """Return 20 points of a loss, each followed by a point with the epoch; an epoch has 50 steps."""
    found: list[Point] = []
    for step in range(every, 21 * every, every):
        at = pace * step
        found += [(tag, step, at, 2.5), *((other, step, at, step / 50) for other in more)]
    return found
