"""The log formats and telemetry that are read: an index, and a page per format with its lines and samples.

Our own site has all formats, other sites those of their logs.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from markupsafe import Markup

from perfledger import TEMPLATES
from perfledger.ingest.common import numbers
from perfledger.ingest.common.project import project
from perfledger.ingest.common.toml_file import read
from perfledger.ingest.common.words import Bilingual, Text, phrase, word_for
from perfledger.ingest.site import addresses
from perfledger.ingest.site.model import Page, Site
from perfledger.ingest.site.render.table import Cell, Table, cell
from perfledger.ingest.site.render.text import code, verbatim
from perfledger.ingest.site.table_of import ColumnOf, table_of
from perfledger.parsers.contract import Format, Pause, Reading, is_private
from perfledger.parsers.contract.telemetry import TelemetryFormat
from perfledger.parsers.engine import registry
from perfledger.parsers.engine.samples import Sample, samples_of

#: Paragraphs by language.
Paragraphs = Mapping[str, Sequence[str]]


@dataclass(frozen=True)
class FormatsPage:
    """The index: a table of formats, how many are known, and the telemetry that is read, each with its paragraphs."""

    table_of_formats: Table | None
    shown: int
    known: int
    telemetry: Sequence[tuple[TelemetryFormat, Paragraphs]]


@dataclass(frozen=True)
class FormatPage:
    """A format: what its module says about it, what its lines yield, and the lines of other work."""

    format: Format
    paragraphs: Paragraphs
    runs: int
    columns: Table | None
    facts: tuple[Text, ...]
    samples: Table | None
    pauses: Table | None


def pages(site: Site) -> list[Page]:
    """Return the index of formats, and the page of each."""
    runs, every = Counter(str(run.format) for run in site.runs), project().formats_page
    shown = shown_formats(runs, every)
    index = Page(
        addresses.FORMATS,
        "formats",
        phrase("nav.formats"),
        phrase("describe.formats"),
        lambda: _index(shown, runs, every),
        basis=lambda: {"runs": runs, "every": every},  # all else follows from the code
    )
    return [index, *(_page(each, runs[each.id]) for each in shown)]


def shown_formats(runs: Counter[str], every: bool) -> tuple[Format, ...]:
    """Return all formats, or those of the runs."""
    return tuple(each for each in registry.formats() if every or runs[each.id])


def _index(shown: tuple[Format, ...], runs: Counter[str], every: bool) -> FormatsPage:
    columns = (
        ColumnOf[Format](
            phrase("formats.format"), lambda each: cell(each.title, addresses.format_page(each.id)), key="format"
        ),
        ColumnOf[Format](phrase("formats.framework"), lambda each: each.framework, key="framework"),
        ColumnOf[Format](phrase("formats.runs_here"), lambda each: runs[each.id], True, "runs"),
        ColumnOf[Format](phrase("formats.proven"), _proven, key="proven"),
    )
    return FormatsPage(
        table_of("formats", sorted(shown, key=lambda each: (-runs[each.id], each.title.casefold())), columns),
        len(shown),
        len(registry.formats()),
        [(each, _paragraphs(f"telemetry.{each.id}", each.doc)) for each in registry.telemetry_formats() if every],
    )


def _proven(each: Format) -> Text:
    return phrase("formats.from_source" if each.unproven else "formats.from_log")


def _page(each: Format, runs: int) -> Page:
    paragraphs = _paragraphs(each.id, each.doc)
    return Page(
        addresses.format_page(each.id),
        "format",
        phrase("title.format", title=each.title),
        Bilingual(paragraphs["en"][0], paragraphs.get("zh", paragraphs["en"])[0]),
        lambda: described(each, runs),
        basis=lambda: {"id": each.id, "runs": runs},
    )


def described(each: Format, runs: int) -> FormatPage:
    """Return what the page of a format shows."""
    return FormatPage(
        each,
        _paragraphs(each.id, each.doc),
        runs,
        table_of("columns", _distinct(each.readings), _COLUMNS),
        tuple(dict.fromkeys(word_for("fact", fact.name) for fact in each.facts)),
        table_of("samples", samples_of(each.id).line, _SAMPLES),
        table_of("pauses", list(dict.fromkeys(_included_pauses(each))), _PAUSES),
    )


def _distinct(readings: Sequence[Reading]) -> list[Reading]:
    """Return one of the readings that yield the same columns, in the same unit, scope and span."""
    found = {(_names(each), each.unit, each.scope, each.span, each.running_mean): each for each in reversed(readings)}
    return list(reversed(found.values()))


def _names(reading: Reading) -> str:
    return ", ".join(name for name in reading.columns if not is_private(name))


def _numbers(reading: Reading) -> Cell:
    """Return the names of a reading's numbers, as a format writes them."""
    names = _names(reading)
    return cell(code(names)) if names else cell(phrase("formats.computed"))


def _span(reading: Reading) -> Text:
    if reading.running_mean is None:
        return word_for("span", reading.span)
    return phrase("formats.cumulative", step=reading.running_mean)


#: The numbers of one kind of line, with unit, scope and span.
_COLUMNS = (
    ColumnOf[Reading](phrase("formats.columns"), _numbers, key="columns"),
    ColumnOf[Reading](phrase("formats.unit"), lambda each: each.unit, key="unit"),
    ColumnOf[Reading](phrase("formats.scope"), lambda each: word_for("scope", each.scope), key="scope"),
    ColumnOf[Reading](phrase("formats.span"), _span, key="span"),
)


def _line(line: bytes | str) -> Cell:
    text = line if isinstance(line, str) else line.decode("utf-8", "replace")
    return cell(Markup(f"<code>{Markup('<br>').join(map(verbatim, text.splitlines()))}</code>"))


def _yields(sample: Sample) -> str:
    return ", ".join(f"{name} = {numbers.quantity(value)}" for name, value in sample.values.items())


_SAMPLES = (
    ColumnOf[Sample](phrase("formats.line"), lambda each: _line(each.line), key="line"),
    ColumnOf[Sample](phrase("formats.yields"), _yields, key="yields"),
)
_PAUSES = (
    ColumnOf[Pause](phrase("formats.line"), lambda each: _line(each.shape), key="line"),
    ColumnOf[Pause](phrase("formats.work"), lambda each: word_for("pause", each.kind), key="work"),
)


def _included_pauses(each: Format) -> Iterator[Pause]:
    """Yield the pauses with lines of their own that records include."""
    pauses = (pause for reading in each.readings for pause in reading.pauses)
    yield from (pause for pause in pauses if pause.pattern and pause.inside != "none")


def _paragraphs(name: str, doc: str) -> Paragraphs:
    """Return the paragraphs of a docstring, and of its Chinese if there is one, by language.

    The first paragraph describes the page: the first line of a docstring, the first sentence in Chinese.
    """
    found = {"en": [" ".join(each.split()) for each in doc.replace("`", "").split("\n\n") if each.strip()]}
    if chinese := _chinese().get(name):
        first, end, rest = chinese.partition("。")
        found["zh"] = [first + end, *([rest] if rest else [])]
    return found


@cache
def _chinese() -> Mapping[str, str]:
    """Return the Chinese of the docstrings of formats, by id."""
    return read(TEMPLATES / "formats.zh.toml", dict[str, dict[str, str]]).data["format"]
