"""Witnesses on the pages: the table of a run, and what each kind compares."""

from __future__ import annotations

from perfledger.ingest.common import numbers
from perfledger.ingest.common.words import Phrase, Text, phrase, word_for
from perfledger.ingest.compute.equations import TOLERANCE
from perfledger.ingest.site import addresses
from perfledger.ingest.site.model import Site, reason
from perfledger.ingest.site.options import listed
from perfledger.ingest.site.render.table import Cell, Column, Table, cell
from perfledger.ingest.site.run_tables import lines_cell
from perfledger.ingest.site.table_of import ColumnOf, table_of
from perfledger.schema.records import Run, Witness

METHOD = addresses.section(addresses.METHOD, "witnesses")
_TONES = {"agrees": "good", "disagrees": "bad"}
#: The value of this kind is an upper limit, so the difference is stated as a share of the limit.
_BOUND = "physics"


def of_run(site: Site, run: Run) -> Table | None:
    """Return what each witness of a run gives against what is printed; None if all of them are silent."""
    of = ColumnOf[Witness]
    columns = (
        of(phrase("witness.kind"), lambda each: cell(word_for("witness", each.kind), METHOD)),
        of(phrase("witness.verdict"), _verdict),
        of(phrase("witness.gives"), lambda each: _value(each.value, each.unit), True),
        of(phrase("witness.printed"), lambda each: _value(each.against, each.unit), True),
        of(phrase("witness.difference"), _difference, True),
        of(phrase("witness.limit"), _limit),
        of(phrase("table.window"), lambda each: lines_cell(site, run, each)),
        of(phrase("table.arithmetic"), lambda each: each.arithmetic),
    )
    return table_of("witnesses", [each for each in run.witnesses if each.verdict != "silent"], columns)


def silent(run: Run) -> Text:
    """Return the witnesses of a run that cannot be computed, each with the reason, in one line."""
    kinds: dict[Text, list[Text]] = {}
    for each in run.witnesses:
        if each.verdict == "silent":
            kinds.setdefault(reason(each.reason) or "", []).append(word_for("witness", each.kind))
    return listed(phrase("witness.silent_for", kinds=listed(of), reason=why) for why, of in kinds.items())


def corrected(run: Run) -> Phrase | None:
    """Say which witness gives a run's figure and why, where the printed speed is known to be wrong."""
    found = next((each for each in run.witnesses if each.verdict == "corrects"), None)
    why = reason(found.reason) if found else None
    return phrase("witness.corrected", witness=word_for("witness", found.kind), reason=why or "") if found else None


def kinds() -> Table:
    """Return what each kind of witness compares, and what to do where it disagrees."""
    head = ("kind", "compares", "remedy")
    rows = tuple((*_about(each), cell(phrase(f"remedy.{each}"))) for each in TOLERANCE)
    return Table(tuple(Column(phrase(f"witness.{each}")) for each in head), rows, name="witnesses", prose=True)


def _about(kind: str) -> tuple[Cell, ...]:
    within = phrase("witness.within", percent=_percent(TOLERANCE[kind]))
    limit = phrase("witness.bound") if kind == _BOUND else within
    return cell(word_for("witness", kind), None, limit), cell(phrase(f"witness.{kind}_compares"))


def _verdict(found: Witness) -> Cell:
    why = reason(found.reason)
    marks = [why] if why else []
    return cell(phrase(f"witness.{found.verdict}"), None, *marks, tone=_TONES.get(found.verdict, ""))


def _value(value: float | None, unit: str) -> Cell | None:
    return None if value is None else cell(numbers.figure(value), None, unit, value=value)


def _difference(found: Witness) -> Cell:
    """Return by how much what is printed differs; of a bound, how much of it is needed."""
    share = (found.difference or 0.0) / 100
    digits = 1 if abs(share) >= 0.01 else 2
    used = phrase("witness.share", percent=numbers.percent(1 + share))
    return cell(used if found.kind == _BOUND else numbers.signed_percent(share, digits), value=found.difference)


def _limit(found: Witness) -> Cell:
    """Return up to which difference a witness agrees; one that corrects a known fault is right below that, too."""
    limit = phrase("witness.bound") if found.kind == _BOUND else _percent(found.tolerance or 0.0)
    return cell("" if found.verdict == "corrects" else limit, None, _resolution(found))


def _resolution(found: Witness) -> Text:
    """Return in words the smallest difference that a witness can detect, and its cause."""
    return (
        phrase(f"witness.{found.kind}_resolution", percent=_percent(found.resolution or 0.0))
        if found.resolution
        else ""
    )


def _percent(value: float) -> str:
    return numbers.percent(value / 100, 1 if value >= 1 or not value else 2)
