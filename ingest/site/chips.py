"""Chips: buttons with counts that choose among the rows of a page. The choice is in the address."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from perfledger.ingest.common.words import Text
from perfledger.ingest.site import addresses
from perfledger.ingest.site.render.table import Facets, Value

#: The scripts of a page with chips.
SCRIPTS = (addresses.SITE_SCRIPT, "assets/js/chips.js")


@dataclass(frozen=True)
class Chip:
    """A value that rows have, as the address and as readers name it, and the number of rows or results with it."""

    value: Value
    label: Text
    count: int


@dataclass(frozen=True)
class ChipGroup:
    """The chips of one fact; a reader chooses at most one. `name` is the fact's name in the address."""

    name: str
    label: Text
    chips: tuple[Chip, ...]


def chip_group(name: str, label: Text, found: Sequence[Facets], labels: Mapping[Value, Text]) -> ChipGroup:
    """Return the chips of a fact in the order of `labels`; `found` has the facts of each result."""
    counted = Counter(value for each in found for fact, value in each if fact == name)
    chips = tuple(Chip(value, text, counted[value]) for value, text in labels.items() if counted[value])
    return ChipGroup(name, label, chips)
