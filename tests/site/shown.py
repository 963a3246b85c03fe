"""Standings as the front page shows them, for tests of their verdicts, reasons and remarks."""

from __future__ import annotations

from dataclasses import dataclass

from perfledger.ingest.common.words import own
from perfledger.ingest.compute.standings import FRAMEWORK
from perfledger.ingest.site.machines import StandingEntry, StandingLine, entrants, line_of
from perfledger.ingest.site.model import Site, SuiteStanding, written
from tests.builders import HARDWARE

WORDS = own()


@dataclass(frozen=True)
class Shown:
    """A standing and its line; `entries` are those of the line by entrant."""

    standing: SuiteStanding
    line: StandingLine
    entries: dict[str, StandingEntry]

    @property
    def kind(self) -> str:
        """That of the verdict."""
        return self.line.kind

    @property
    def first(self) -> tuple[str, str]:
        """The first entrant and its figure."""
        best = self.standing.verdict.ranked[0]
        return best.entrant, written(best.result)

    @property
    def percents(self) -> dict[str, int | None]:
        """The share of each entrant, rounded."""
        return {name: None if each.percent is None else round(each.percent) for name, each in self.entries.items()}

    @property
    def case(self) -> str:
        """The case in English."""
        return " · ".join(WORDS.say("en", each) for each in self.line.case)

    def said(self, language: str = "en") -> str:
        """Return the verdict as a reader sees it."""
        parts = (self.line.sure, self.line.number, self.line.detail)
        return " | ".join(text for each in parts if (text := WORDS.say(language, each)))

    def marks(self, language: str = "en") -> list[str]:
        """Return the remarks."""
        return [WORDS.say(language, each.text) for each in self.line.marks]


def shown(site: Site, hardware: str = HARDWARE, axis: str = FRAMEWORK) -> list[Shown]:
    """Return the standings on a hardware along an axis."""
    return [_shown(site, each) for each in site.standings.get((hardware, axis), ())]


def only(site: Site, hardware: str = HARDWARE) -> Shown:
    """Return the only standing of frameworks on a hardware."""
    (found,) = shown(site, hardware)
    return found


def _shown(site: Site, standing: SuiteStanding) -> Shown:
    names = entrants(standing.axis, [standing])
    line = line_of(site, standing, names)
    return Shown(standing, line, {name: each for name, each in zip(names, line.entries, strict=True) if each})
