"""The facts that filter the page of a model, as attributes of its parts."""

from __future__ import annotations

from collections.abc import Sequence

from perfledger.ingest.site.render.table import Facets


def facets_of(
    hardware: str | None = None, group: str = "", devices: Sequence[int] = (), frameworks: Sequence[str] = ()
) -> Facets:
    """Return names and values for the filters of the page; several values are separated by blanks."""
    values = {
        "hardware": [] if hardware is None else [hardware],
        "precision": [group] if group else [],
        "devices": [str(each) for each in devices],
        "framework": list(frameworks),
    }
    return tuple((name, " ".join(map(token, each))) for name, each in values.items() if each)


def token(value: str) -> str:
    """Return a value without blanks, as attributes have it; scripts do the same with the values of an address."""
    return value.replace(" ", "_") or "?"
