"""The hardware that pages open with."""

from __future__ import annotations

from collections.abc import Mapping

from perfledger.ingest.site.hardware_names import is_accelerator, newest_first
from perfledger.ingest.site.model import Site


def default_hardware(site: Site) -> str:
    """Return the hardware that pages open with; empty without a result that states one."""
    return next(iter(by_interest(site)), "")


def by_interest(site: Site) -> list[str]:
    """Return the hardware of our results, the most interesting first.

    Accelerators come before processors, then hardware with comparisons, then the newest generation.
    """
    compared = site.once(_compared)
    return sorted(compared, key=lambda each: (not is_accelerator(each), not compared[each], *_rank(each, compared)))


def _rank(hardware: str, compared: Mapping[str, int]) -> tuple[object, ...]:
    *generation, name = newest_first(hardware)
    return (*generation, -compared[hardware], name)


def _compared(site: Site) -> Mapping[str, int]:
    """Return the number of comparisons on each hardware, along any axis."""
    found = {row.hardware: 0 for rows in site.rows.values() for row in rows if row.hardware and row.value is not None}
    for (hardware, _), of_axis in site.standings.items():
        if hardware in found:
            found[hardware] += sum(each.is_compared for each in of_axis)
    return found
