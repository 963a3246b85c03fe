"""How one figure came to be, step by step from the log to the number; and what speaks for or against believing it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from ingest.common import numbers
from ingest.common.words import Text, phrase, word_for
from ingest.compute.rules import HEADLINE
from ingest.site import log, reproduce
from ingest.site.caveats import DIFFER
from ingest.site.model import Site, absence
from ingest.site.render.table import Link
from ingest.site.render.text import slug
from schema.records import FactValue, Figure, Run

#: Facts that the arithmetic of a throughput may rest on.
RESTS_ON = ("devices", "batch_size", "batch_size_of_job", "accumulation", "sequence_length", "tokens_per_step", "nodes")


@dataclass(frozen=True)
class Step:
    """One step: its name, what is said of it, some of it with a page that it leads to, and code as it stands."""

    name: Text
    said: tuple[Link, ...] = ()
    code: str = ""


@dataclass(frozen=True)
class Sign:
    """Something to judge a figure by: `tone` is `good`, `bad` or empty; `page` leads to what it is about."""

    name: Text
    text: Text
    tone: str = ""
    page: str | None = None


def steps(site: Site, run: Run) -> list[Step]:
    """From the log to the figure, or to the reason why there is none."""
    found = run.figure(HEADLINE)
    first = [_log(site, run), _format(run), *_facts(site, run)]
    if found is None:
        why = absence(run) or phrase("proof.not_understood")
        return [*first, _step("figure", phrase("proof.none", reason=why))]
    value = f"{numbers.figure(found.value)} {found.unit}".strip()
    scope = phrase("proof.scope", scope=word_for("scope", found.scope))
    return [
        *first,
        _window(site, run, found),
        _step("rule", Link(phrase(f"rule.{HEADLINE}"), "method.md#rules"), phrase(f"rule.{HEADLINE}_definition")),
        _step("arithmetic", code=found.arithmetic),
        _step("figure", value, scope),
        *_repeated(site, run),
    ]


def signs(site: Site, run: Run, others: Sequence[Run]) -> list[Sign]:
    """What a reader wants to know before believing a figure, in the same order on every page."""
    completed = run.outcome == "completed"
    outcome = Sign(
        phrase("proof.outcome"), word_for("outcome", run.outcome), "good" if completed else "bad",
        log.link(site, run, run.outcome_line),
    )  # fmt: skip
    problems = len(run.problems)
    told = phrase("proof.problems_of", n=problems) if problems else phrase("proof.no_problems")
    tables = phrase("proof.published" if run.published else "proof.unpublished")
    return [
        outcome,
        Sign(phrase("proof.tables"), tables, "good" if run.published else "bad"),
        Sign(
            phrase("proof.problems"),
            told,
            "bad" if problems else "good",
            f"{site.page(run)}#problems" if problems else None,
        ),
        *_warnings(site, run),
        *_records(site, run),
        *_median(site, run),
        Sign(
            phrase("proof.repeats"),
            numbers.count(len(others) + 1),
            page=f"{site.page(run)}#repeats" if others else None,
        ),
    ]


def _warnings(site: Site, run: Run) -> Iterator[Sign]:
    if found := run.warnings:
        told = phrase("proof.problems_of", n=len(found))
        yield Sign(phrase("proof.warnings"), told, "bad", f"{site.page(run)}#warnings")


def _step(name: str, *said: Link | Text, code: str = "") -> Step:
    parts = tuple(each if isinstance(each, Link) else Link(each, None) for each in said if each)
    return Step(phrase(f"proof.{name}"), parts, code)


def _repeated(site: Site, run: Run) -> Iterator[Step]:
    """The command that gives this case again, or else the one that was executed; nothing where neither is known."""
    if code := reproduce.command(run) or reproduce.executed(run):
        yield _step("repeat_it", Link(phrase("run.repeat_it"), f"{site.page(run)}#repeat"), code=code)


def _log(site: Site, run: Run) -> Step:
    size = phrase("run.size_of", bytes=numbers.count(run.bytes), lines=numbers.count(run.lines))
    part = phrase("proof.session", session=run.session, sessions=run.sessions) if run.sessions > 1 else ""
    sha256 = f"SHA-256 {run.sha256}" if run.sha256 else ""
    return _step("log", Link(run.path, site.log_page(run)), size, part, code=sha256)


def _format(run: Run) -> Step:
    known = _titles().get(run.format or "")
    if not run.format or not known:
        return _step("format", run.format or phrase("run.no_format"))
    records = phrase("proof.records", n=numbers.count(run.observations))
    return _step("format", Link(known, f"formats.md#{slug(run.format)}"), records)


def _titles() -> Mapping[str, str]:
    from parsers.engine.registry import formats

    return {each.id: each.title for each in formats()}


def _facts(site: Site, run: Run) -> Iterator[Step]:
    """The facts that turn records into throughput, each with the line that states it."""
    said = [_fact(site, run, name, run.facts[name]) for name in RESTS_ON if name in run.facts]
    if said:
        yield _step("facts", *said)


def _fact(site: Site, run: Run, name: str, fact: FactValue) -> Link:
    line = log.fact_line(fact)
    source = log.lines(line, line) if line else word_for("source", fact.source)
    value = numbers.quantity(fact.value)
    return Link(
        phrase("proof.fact", fact=word_for("fact", name), value=value, source=source), log.link(site, run, line)
    )


def _window(site: Site, run: Run, found: Figure) -> Step:
    first, last = found.first_line, found.last_line
    said = phrase("proof.used", used=numbers.count(found.used), skipped=numbers.count(found.skipped))
    return _step("window", Link(log.lines(first, last), log.link(site, run, first, last)), said)


def _records(site: Site, run: Run) -> Iterator[Sign]:
    if found := run.figure(HEADLINE):
        text = phrase("proof.of", n=numbers.count(found.used), all=numbers.count(found.used + found.skipped))
        yield Sign(phrase("proof.used_records"), text, page=log.link(site, run, found.first_line, found.last_line))


def _median(site: Site, run: Run) -> Iterator[Sign]:
    """How far the figure lies from the median of what was printed: where both agree, no stall and no drift hides."""
    found, median = run.figure(HEADLINE), run.figure("median")
    if found and median:
        share = found.value / median.value - 1
        text = numbers.signed_percent(share)
        yield Sign(phrase("proof.median"), text, "good" if abs(share) <= DIFFER else "bad", f"{site.page(run)}#figures")
