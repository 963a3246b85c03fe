"""Groups of records that share a key."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from typing import TypeVar

R = TypeVar("R")
K = TypeVar("K", bound=Hashable)


def by_key(records: Iterable[R], key: Callable[[R], K]) -> dict[K, list[R]]:
    """Return records by a key, in their order; keys are in the order of their first record."""
    found: dict[K, list[R]] = {}
    for each in records:
        found.setdefault(key(each), []).append(each)
    return found
