"""The log formats and telemetry that are understood, with samples: all on our own site, elsewhere those of its logs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from perfledger import TEMPLATES
from perfledger.ingest.common.project import project
from perfledger.ingest.common.toml_file import read
from perfledger.ingest.common.words import Bilingual, Text, phrase
from perfledger.ingest.site import addresses
from perfledger.ingest.site.model import Page, Site
from perfledger.parsers.engine import registry

if TYPE_CHECKING:
    from perfledger.parsers.contract import Format, Pause


def pages(site: Site) -> list[Page]:
    """Return the page of formats."""
    runs, every = Counter(str(run.format) for run in site.runs), project().formats_page
    page = Page(
        addresses.FORMATS,
        "formats",
        phrase("nav.formats"),
        phrase("describe.formats"),
        lambda: {
            "formats": _described_formats(runs, every),
            "telemetry": _described_telemetry() if every else [],
            "known": len(registry.formats()),
        },
        # All else follows from the code.
        basis=lambda: {"runs": runs, "every": every},
    )
    return [page]


def _described_formats(runs: Counter[str], every: bool) -> list[Mapping[str, Any]]:
    from perfledger.parsers.contract import is_private
    from perfledger.parsers.engine.samples import samples_of

    chinese = _chinese("format")
    reasons = _chinese("why")
    return [
        {
            "told": _told(each.doc, chinese.get(each.id)),
            "id": each.id,
            "title": each.title,
            "lines": list(dict.fromkeys(one.pattern for one in each.readings if isinstance(one.pattern, str))),
            "readings": [(one, [name for name in one.columns if not is_private(name)]) for one in each.readings],
            "pauses": list(dict.fromkeys(_included_pauses(each))),
            "runs": runs[each.id],
            "unproven": each.unproven,
            "facts": list(dict.fromkeys(fact.name for fact in each.facts)),
            "samples": samples_of(each.id).line,
            "misses": [(miss.line, _reason(miss.why, reasons)) for miss in samples_of(each.id).miss],
        }
        for each in registry.formats()
        if every or runs[each.id]
    ]


def _included_pauses(each: Format) -> Iterator[Pause]:
    """Yield the pauses with lines of their own that records include."""
    pauses = (pause for reading in each.readings for pause in reading.pauses)
    yield from (pause for pause in pauses if pause.pattern and pause.inside != "none")


def _described_telemetry() -> list[Mapping[str, Any]]:
    """Describe the telemetry that is understood: the docstrings of its modules, and their Chinese."""
    chinese = _chinese("format")
    return [
        {
            "id": each.id,
            "title": each.title,
            "told": _told(each.doc, chinese[f"telemetry.{each.id}"]),
        }
        for each in registry.telemetry_formats()
    ]


def _told(doc: str, chinese: str | None) -> Mapping[str, list[str]]:
    """Return the paragraphs of a docstring, and of its Chinese if there is one, by language.

    The search knows a format by the first: the first line of a docstring, the first sentence in Chinese.
    """
    told = {"en": [" ".join(each.split()) for each in doc.replace("`", "").split("\n\n") if each.strip()]}
    if chinese:
        first, end, rest = chinese.partition("。")
        told["zh"] = [first + end, *([rest] if rest else [])]
    return told


def _reason(why: str, chinese: Mapping[str, str]) -> Text:
    """Return the reason why a line is not a record, in both languages if it is translated."""
    return Bilingual(why, chinese[why]) if why in chinese else why


def _chinese(table: str) -> Mapping[str, str]:
    """Return Chinese texts for format modules: docstrings by the id of the format (`format`), or reasons (`why`)."""
    return read(TEMPLATES / "formats.zh.toml", dict[str, dict[str, str]]).data[table]
