"""The tests of each promise about faults, from `promises.toml`."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path

import msgspec


class PromiseTests(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The tests of a promise, as pytest names them, and the number of cases in their long form."""

    tests: tuple[str, ...]
    tried: int


@cache
def faults() -> Mapping[str, PromiseTests]:
    """Return the faults by name, in the order of the file."""
    return msgspec.toml.decode(Path(__file__).with_suffix(".toml").read_bytes(), type=dict[str, PromiseTests])
