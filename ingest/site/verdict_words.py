"""Words of verdicts and cases: ratios, numbers of runs, and numbers of devices."""

from __future__ import annotations

from collections.abc import Sequence

from perfledger.ingest.common import numbers
from perfledger.ingest.common.words import Text, phrase
from perfledger.ingest.compute.comparison import Candidate, entrant
from perfledger.ingest.compute.contrast import Contrast
from perfledger.ingest.compute.contrast import written as ratio_ends
from perfledger.ingest.compute.standings import FRAMEWORK
from perfledger.ingest.site.model import Row, Suite, named, precision_name
from perfledger.ingest.site.options import value_of

LEADS = ("clear", "likely")  # verdicts that name a winner
APART = ("units", "conditions")  # verdicts by which nothing is compared


def ratio(found: Contrast) -> Text:
    """Write a ratio from its least to its most, with a third decimal where two would write it as 1."""
    low, high = ratio_ends(found)
    return low if low == high else phrase("front.ratio_range", low=low, high=high)


def repeats(pair: Sequence[Candidate], more: int | None) -> Text:
    """Write how often each of two ran, and how often it would have to for a clear difference."""
    first, second = (each.figure.repeats for each in pair)
    if first != second:
        runs = phrase("front.runs_of", first=first, second=second)
    else:
        runs = phrase("front.once_each") if first == 1 else phrase("front.times_each", n=first)
    return phrase("front.more_runs", runs=runs, n=more) if more else runs


def times(row: Row) -> Text:
    """Return how often a result was measured, and on how many machines if on several."""
    if row.hosts > 1:
        return phrase("table.hosts_of", hosts=row.hosts, n=row.repeats)
    return phrase("front.once") if row.repeats == 1 else phrase("front.repeats", n=row.repeats)


def devices(row: Row) -> Text:
    """Return the number of devices in words, with that of machines where there are several."""
    return devices_on(row.devices, row.nodes or 1)


def batch(n: int | None) -> Text:
    """Return a batch size in words; empty without one."""
    return phrase("front.batch", n=numbers.count(n)) if n else ""


def case_of(suite: Suite, row: Row) -> tuple[Text, ...]:
    """Return the precision, the devices, the batch size and the workload of a result in words."""
    found = (precision_name(row.precision), devices(row), batch(row.batch_size), suite.setting(row))
    return tuple(each for each in found if each)


def devices_on(n: int | None, nodes: int) -> Text:
    """Return a number of devices on some machines in words."""
    if n is None:
        return phrase("front.devices_unknown")
    if nodes > 1:
        return phrase("front.machines", devices=n, nodes=nodes)
    return phrase("front.one_device") if n == 1 else phrase("front.devices", n=n)


def devices_of(n: int | None, nodes: int | None, hardware: Text) -> Text:
    """Return a number of devices of a hardware in words, as `8 × V100`; the hardware alone if that is not known."""
    if n is None or not hardware:
        return hardware
    if (nodes or 1) > 1:
        return phrase("front.on_machines", devices=n, hardware=hardware, nodes=nodes)
    return phrase("front.on_hardware", devices=n, hardware=hardware)


def devices_short(n: int, nodes: int | None) -> Text:
    """Return a number of devices for a place that names them: `8`, or `32 on 4 machines`."""
    return phrase("table.machines", devices=n, nodes=nodes) if (nodes or 1) > 1 else str(n)


def entrant_name(candidate: Candidate) -> Text:
    """Return the words for an entrant: a framework, a precision, or the value of an option."""
    return name_on(candidate.axis, entrant(candidate.result, candidate.axis))


def name_on(axis: str, value: str) -> Text:
    """Return the words for a value of an axis."""
    if axis == FRAMEWORK:
        return named(value)
    if axis == "precision":
        return precision_name(value or None)
    return value_of(value) if value else phrase("site.unknown")
