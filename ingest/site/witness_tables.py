"""Witnesses on the pages: the table of a run, the tag of a result, and what each kind compares, with a real example."""

from __future__ import annotations

from perfledger.ingest.common import numbers
from perfledger.ingest.common.words import Phrase, Text, phrase, word_for
from perfledger.ingest.compute.equations import TOLERANCE
from perfledger.ingest.compute.results import PLANNED
from perfledger.ingest.site import addresses
from perfledger.ingest.site.model import Site, reason
from perfledger.ingest.site.options import listed
from perfledger.ingest.site.render.table import Cell, Column, Entry, Table, Tag, cell
from perfledger.ingest.site.run_tables import window_text
from perfledger.schema.records import Run, Support, Witness

METHOD = addresses.section(addresses.METHOD, "witnesses")
_TONES = {"agrees": "good", "disagrees": "bad"}
#: The value of this kind is an upper limit, so the difference is stated as a share of the limit.
_BOUND = "physics"


def tag(support: Support | None) -> Tag | None:
    """Return the mark of a result's figure: what it rests on."""
    if support is None:
        return None
    tone = "good" if support == "agree" else "warn"
    return Tag(phrase(f"support.{support}"), phrase(f"support.{support}_means"), tone, METHOD)


def of_run(site: Site, run: Run) -> Table | None:
    """Return what each witness of a run gives against what is printed; None if all of them are silent."""
    speaking = [each for each in run.witnesses if each.verdict != "silent"]
    if not speaking:
        return None
    head = ("kind", "verdict", "gives", "printed", "difference", "limit")
    columns = [Column(phrase(f"witness.{each}"), each in {"gives", "printed", "difference"}) for each in head]
    columns += [Column(phrase("table.window")), Column(phrase("table.arithmetic"))]
    return Table(tuple(columns), tuple(_row(site, run, each) for each in speaking), name="witnesses")


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


def kinds(site: Site) -> Table:
    """Return what each kind of witness compares, with an example from the logs that are published here."""
    head = ("kind", "compares", "example")
    rows = ((*_about(each), _example(site, each)) for each in TOLERANCE)
    return Table(tuple(Column(phrase(f"witness.{each}")) for each in head), tuple(rows), name="witnesses", prose=True)


def remedies() -> Table:
    """Return what each kind of witness compares, and what to do where it disagrees."""
    head = ("kind", "compares", "remedy")
    rows = ((*_about(each), cell(phrase(f"remedy.{each}"))) for each in TOLERANCE)
    return Table(tuple(Column(phrase(f"witness.{each}")) for each in head), tuple(rows), name="witnesses", prose=True)


def _about(kind: str) -> tuple[Cell, ...]:
    within = phrase("witness.within", percent=_percent(TOLERANCE[kind]))
    limit = phrase("witness.bound") if kind == _BOUND else within
    return cell(word_for("witness", kind), None, limit), cell(phrase(f"witness.{kind}_compares"))


def _example(site: Site, kind: str) -> Cell:
    """Return the first published run, by name, that has an agreeing witness of a kind."""
    published = (run for run in site.runs if run.published)
    spoken = (
        (run, each) for run in published for each in run.witnesses if each.kind == kind and each.verdict == "agrees"
    )
    run, found = next(spoken, (None, None))
    if run is None or found is None:
        return cell(phrase("witness.no_example"))
    given, printed = (f"{numbers.figure(each)} {found.unit}" for each in (found.value, found.against))
    said = phrase(f"witness.{kind}_example", value=given, against=printed, difference=_difference(found))
    if found.unit in PLANNED:
        said = phrase(
            f"witness.planned_{found.unit}",
            value=int(found.value or 0),
            done=int(found.against or 0),
            line=found.last_line,
        )
    return Cell(
        (
            Entry(said),
            Entry(run.id, addresses.section(site.page(run), "witnesses") if site.has_page(run) else site.page(run)),
        )
    )


def _row(site: Site, run: Run, found: Witness) -> tuple[Cell, ...]:
    kind, why = cell(word_for("witness", found.kind), METHOD), reason(found.reason)
    verdict = cell(
        phrase(f"witness.{found.verdict}"), None, *([why] if why else []), tone=_TONES.get(found.verdict, "")
    )
    if found.value is None:
        return (kind, verdict, *(cell("") for _ in range(6)))
    lines = cell(
        window_text(found.first_line, found.last_line),
        addresses.log_lines(site, run, found.first_line, found.last_line),
    )
    return (
        kind,
        verdict,
        *(cell(numbers.figure(each), None, found.unit, value=each) for each in (found.value, found.against)),
        cell(_difference(found), value=found.difference),
        _limit(found),
        lines if found.first_line else cell(""),
        cell(found.arithmetic),
    )


def _difference(found: Witness) -> Text:
    """Return by how much what is printed differs; of a bound, how much of it is needed."""
    share = (found.difference or 0.0) / 100
    if found.kind == _BOUND:
        return phrase("witness.share", percent=numbers.percent(1 + share))
    return numbers.signed_percent(share, 1 if abs(share) >= 0.01 else 2)


def _limit(found: Witness) -> Cell:
    """Return up to which difference a witness agrees; one that corrects a known fault is right below that, too."""
    if found.verdict == "corrects":
        return cell("", None, _resolution(found))
    limit = phrase("witness.bound") if found.kind == _BOUND else _percent(found.tolerance or 0.0)
    return cell(limit, None, _resolution(found))


def _resolution(found: Witness) -> Text:
    """Return in words the smallest difference that a witness can detect, and its cause."""
    return (
        phrase(f"witness.{found.kind}_resolution", percent=_percent(found.resolution or 0.0))
        if found.resolution
        else ""
    )


def _percent(value: float) -> str:
    return numbers.percent(value / 100, 1 if value >= 1 or not value else 2)
