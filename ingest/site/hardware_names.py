"""The common name of a hardware, whether it is an accelerator, and its generation.

Results stay grouped by the name that their runs state: two such names never get the same common name.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping
from typing import Annotated

from msgspec import Meta, Struct

from perfledger import TEMPLATES
from perfledger.ingest.common.toml_file import read
from perfledger.ingest.common.words import Text, phrase
from perfledger.ingest.site.model import Site, named

_SOURCE = TEMPLATES / "hardware.toml"
#: As runners write it: name, CPUID in decimal, cores.
_IDENTIFIED = re.compile(r"(?P<name>.+) \(family (?P<family>\d{1,4}), model (?P<model>\d{1,4})\)(?P<rest>.*)")
_CORES = re.compile(r", (?P<cores>\d{1,6}) cores \(CPU\)")
#: Parts of a name that say how a device is built in, and how much memory it has.
_FORM = re.compile(r"Tesla|NVIDIA|NVLink|SXM\d?|PCI[Ee]|HBM\w*|\d+GB", re.IGNORECASE)
_Numbers = Annotated[str, Meta(pattern=r"^\d+-\d+\Z", description="family and model of a processor, such as 25-17")]


class Generation(Struct, frozen=True, forbid_unknown_fields=True):
    """Accelerators of one architecture: `words` are those that their names contain, `year` is that of the first."""

    vendor: str
    name: str
    year: int
    words: tuple[str, ...]


class _Names(Struct, frozen=True, forbid_unknown_fields=True):
    """Words of the names of processors and accelerators, and the products by family and model, for each maker."""

    processors: tuple[str, ...]
    generations: tuple[Generation, ...]
    products: Mapping[str, Mapping[_Numbers, str]]


def product(hardware: str) -> Text:
    """Return the name of the product, such as `AMD EPYC Genoa, 2 cores`; one that is not known stays as it is."""
    found = _IDENTIFIED.fullmatch(hardware)
    if found is None:
        return named(hardware, "site.unknown_hardware")
    line = _line(found["name"], f"{found['family']}-{found['model']}")
    cores = _CORES.fullmatch(found["rest"])
    if not line or not cores:
        return hardware
    return phrase("hardware.processor", name=f"{found['name']} {line}", n=int(cores["cores"]))


def is_accelerator(hardware: str) -> bool:
    """Return whether a hardware is an accelerator, and no processor; one without a name is neither."""
    folded = hardware.casefold()
    return bool(folded) and not any(each in folded for each in _names().processors)


def generation(hardware: str) -> Generation | None:
    """Return the generation of an accelerator; None for a processor, and for one that is not listed."""
    spelled = f" {' '.join(re.findall('[a-z0-9]+', hardware.casefold()))} "
    listed = _names().generations if is_accelerator(hardware) else ()
    return next((each for each in listed if any(_begins(spelled, word) for word in each.words)), None)


def newest_first(hardware: str) -> tuple[bool, bool, int, str]:
    """Return a key that sorts the newest generation of accelerators first, and processors after all of them."""
    found = generation(hardware)
    return (not hardware, not is_accelerator(hardware), -(found.year if found else 0), hardware)


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


def group(hardware: str) -> Text:
    """Return the vendor and generation of a hardware in words; empty for one without a name."""
    if not hardware:
        return ""
    if found := generation(hardware):
        return f"{found.vendor} {found.name}"
    return phrase("hardware.other_accelerators" if is_accelerator(hardware) else "hardware.processors")


def chip(hardware: str) -> str:
    """Return what a device is called without its form and memory: `V100` of `Tesla V100` and `V100-SXM2-32GB`."""
    found = _IDENTIFIED.fullmatch(hardware)
    if found:
        return " ".join(filter(None, (found["name"], _line(found["name"], f"{found['family']}-{found['model']}"))))
    parts = re.split("[- ]", hardware.partition(" (")[0].partition(",")[0])
    return " ".join(each for each in parts if not _FORM.fullmatch(each))


def _begins(spelled: str, word: str) -> bool:
    return f" {word.removesuffix('*')}" in spelled if word.endswith("*") else f" {word} " in spelled


def raw(hardware: str) -> str:
    """Return the name that the runs state where readers see another; empty where they see that one."""
    return hardware if hardware and product(hardware) != hardware else ""


def _line(name: str, numbers: str) -> str:
    """Return what is added to a name that begins like a known maker's; nothing where it says so itself."""
    products = (each for maker, each in _names().products.items() if name.startswith(maker))
    found = next((each[numbers] for each in products if numbers in each), "")
    return "" if found.casefold() in name.casefold() else found


@functools.cache
def _names() -> _Names:
    return read(_SOURCE, _Names).data
