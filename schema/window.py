"""The records of a run's course: its series of points, its pauses, and how even its speed is."""

from __future__ import annotations

from msgspec import Struct


class Trace(Struct, frozen=True):
    """The series of a run in a few hundred points; the first `skipped` of them are in the warm-up."""

    step: tuple[float, ...]
    value: tuple[float, ...]
    unit: str
    skipped: int


class Pauses(Struct, frozen=True):
    """Records of the window with other work than training steps, by `kinds`.

    `seconds` is their time beyond that of training at the speed of the other records, and `percent` its share of the
    window's time; both are None if unknown.
    """

    records: int
    seconds: float | None
    percent: float | None
    kinds: tuple[str, ...]


class Evenness(Struct, frozen=True):
    """How even the speeds of the window's training records are.

    `slow` counts records below 80 % of the median; `change` is the change from the first half's median to the second's.
    """

    records: int
    slow: int
    change: float
