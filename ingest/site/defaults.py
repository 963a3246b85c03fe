"""The hardware that pages open with."""

from __future__ import annotations

from perfledger.ingest.site.hardware_names import is_accelerator, newest_first
from perfledger.ingest.site.model import Site


def by_interest(site: Site) -> list[str]:
    """Return the hardware of our results, the most interesting first; pages open with it.

    Accelerators come before processors, then hardware with comparisons along any axis, then the newest generation.
    """
    compared = {
        row.hardware: 0 for rows in site.rows.values() for row in rows if row.hardware and row.value is not None
    }
    for (hardware, _), of_axis in site.standings.items():
        if hardware in compared:
            compared[hardware] += sum(each.is_compared for each in of_axis)

    def rank(hardware: str) -> tuple[object, ...]:
        *generation, name = newest_first(hardware)
        return not is_accelerator(hardware), not compared[hardware], *generation, -compared[hardware], name

    return sorted(compared, key=rank)
