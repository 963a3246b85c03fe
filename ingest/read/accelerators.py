"""Power and price of accelerators, as `accelerators.toml` at the top of a folder of logs states them.

Perfledger knows neither by itself: both change and depend on the buyer. Each entry is named like the hardware of the
results, and says when and where its figures were looked up.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from msgspec import Struct

from perfledger.ingest.common.optional_file import read_if_there
from perfledger.schema.records import Problem, WrongValueError

FILE = "accelerators.toml"
#: More watts, or money an hour, than any device.
_MOST = 1e9
_CURRENCY = re.compile("[A-Z]{3}")


class Accelerator(Struct, frozen=True, forbid_unknown_fields=True):
    """Power and price of one device.

    Args:
        date: when it was looked up.
        watts: the power that one device may draw, in W, and the address that says so.
        price: of one device and hour in `currency`, and the address that says so.
    """

    date: dt.date
    watts: float | None = None
    watts_source: str = ""
    price: float | None = None
    currency: str | None = None
    price_source: str = ""

    def __post_init__(self) -> None:
        for name, value in (("watts", self.watts), ("price", self.price)):
            if value is not None and not 0 < value < _MOST:
                raise WrongValueError((name,), f"expected a positive number, got {value:g}")
            if value is not None and not getattr(self, f"{name}_source"):
                raise WrongValueError((name,), f"says no source; add {name}_source, the address that states it")
        if (self.price is None) != (self.currency is None):
            raise WrongValueError(("price",), "price and currency belong together; add the other one")
        if self.currency is not None and not _CURRENCY.fullmatch(self.currency):
            raise WrongValueError(("currency",), f"expected three capital letters such as EUR, got {self.currency!r}")


@dataclass(frozen=True)
class Accelerators:
    """The entries of each accelerator, by the folded name of the hardware."""

    by_name: Mapping[str, Accelerator] = field(default_factory=dict)
    problems: tuple[Problem, ...] = ()

    def of(self, hardware: str) -> Accelerator | None:
        """Return what is stated of a hardware; None where nothing is."""
        return self.by_name.get(hardware.casefold())


def found(paths: Iterable[Path]) -> Accelerators:
    """Return what the files directly below the given paths state; of two entries of one name, the later given counts.

    A file with a fault is a problem, and is not used.
    """
    entries: dict[str, Accelerator] = {}
    problems: list[Problem] = []
    for path in (each / FILE for each in paths):
        if file := read_if_there(path, dict[str, Accelerator], problems):
            entries |= {name.casefold(): each for name, each in file.data.items()}
    return Accelerators(entries, tuple(problems))
