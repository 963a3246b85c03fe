"""Chips: buttons with counts that choose what a page shows. The choice is in the address.

Parts of a page state their facts as attributes, such as `data-f-hardware`; `assets/js/chips.js` hides the parts that do
not fit the choice.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain

from perfledger.ingest.common.words import Text
from perfledger.ingest.site.render.table import Facets, Value


@dataclass(frozen=True)
class Chip:
    """A value as the address and as readers name it, with the number of results that it shows.

    fixed_count: a number in words that does not follow the choice.
    about: what a reader sees when pointing at it.
    page: the page that it leads to, instead of choosing.
    is_absent: the hardware that a reader sees first does not have it.
    """

    value: Value
    label: Text
    count: int | None = None
    fixed_count: Text = ""
    about: Text = ""
    page: str | None = None
    is_outlined: bool = False
    is_absent: bool = False


@dataclass(frozen=True)
class ChipGroup:
    """The chips of one fact: `name` is its name in the address; a reader opens the list of `more`.

    lists: many values under headings, which a reader chooses from a list instead.
    has_all: there is a chip for all values. Without one, a page shows one value at a time.
    """

    name: str
    label: Text
    chips: tuple[Chip, ...]
    more: tuple[Chip, ...] = ()
    lists: tuple[tuple[Text, tuple[Chip, ...]], ...] = ()
    has_all: bool = True

    @property
    def is_absent(self) -> bool:
        """Whether a reader sees fewer than two values at first."""
        listed = chain.from_iterable(chips for _, chips in self.lists)
        return sum(not each.is_absent for each in (*self.chips, *self.more, *listed)) < 2


@dataclass(frozen=True)
class Selection:
    """The facts that the script needs before the page is painted.

    rows: a selector of the parts that chips count; without one, a script of the page gives it records.
    first: the choice of a page whose address has none.
    most: the number of rows that are shown at once; all, if it is None.
    """

    rows: str = ""
    first: Mapping[str, str] = field(default_factory=dict)
    most: int | None = None


def facets_of(
    hardware: str | None = None, group: str = "", devices: Sequence[int] = (), frameworks: Sequence[str] = ()
) -> Facets:
    """Return the facts of a part of a page; several values are separated by blanks."""
    values = {
        "hardware": [] if hardware is None else [hardware],
        "precision": [group] if group else [],
        "devices": [str(each) for each in devices],
        "framework": list(frameworks),
    }
    return tuple((name, " ".join(map(token, each))) for name, each in values.items() if each)


def token(value: str) -> str:
    """Return a value without blanks, as attributes have it; the script does the same with the values of an address."""
    return value.replace(" ", "_") or "?"


def chip_group(
    name: str,
    label: Text,
    found: Iterable[Facets],
    labels: Mapping[Value, Text],
    first: Iterable[Facets] | None = None,
) -> ChipGroup:
    """Return the chips of a fact in the order of `labels`; `found` has the facts of each result.

    `first` has those of the results that a reader sees at first, which the chips count; all, if it is None.
    """
    every = _counted(name, found)
    shown = every if first is None else _counted(name, first)
    there = [(value, text, token(str(value))) for value, text in labels.items() if every[token(str(value))]]
    chips = (Chip(value, text, shown[key], is_absent=not shown[key]) for value, text, key in there)
    return ChipGroup(name, label, tuple(chips))


def as_list(group: ChipGroup) -> ChipGroup:
    """Return a group of many values, which a reader chooses from a list."""
    return replace(group, chips=(), lists=(("", group.chips),))


def _counted(name: str, found: Iterable[Facets]) -> Counter[str]:
    return Counter(part for each in found for fact, value in each if fact == name for part in str(value).split(" "))
