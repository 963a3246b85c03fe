"""A run's page: its figure and chart, then every step from the log to the figure, and all that the log states."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial

from perfledger.ingest.common import numbers
from perfledger.ingest.common.words import Phrase, Text, phrase, word_for
from perfledger.ingest.compute.results import repeats as repeats_of
from perfledger.ingest.compute.results import support
from perfledger.ingest.read.facts import DERIVED
from perfledger.ingest.site import addresses, caveats, reproduce, run_details, run_names
from perfledger.ingest.site import witness_tables as witnesses
from perfledger.ingest.site.model import Page, Site, written
from perfledger.ingest.site.options import joined
from perfledger.ingest.site.render.chart import Chart
from perfledger.ingest.site.render.table import Link, Table
from perfledger.ingest.site.reproduce import CommandBlock
from perfledger.ingest.site.result_lines import verdicts_of_runs
from perfledger.ingest.site.run_tables import (
    fact_line,
    headline,
    in_tables,
    log_lines_text,
    outcome,
    problem_list,
    reservations,
    stated,
    tone_of,
    used_text,
    where,
    why_absent,
)
from perfledger.ingest.site.trace_chart import trace_chart
from perfledger.schema.records import FactValue, Figure, Run

REPEATS_SHOWN = 20
#: Facts that the arithmetic of a throughput may rest on.
RESTS_ON = ("devices", "batch_size", "batch_size_of_job", "accumulation", "sequence_length", "tokens_per_step", "nodes")


@dataclass(frozen=True)
class Step:
    """One step from the log to the figure, or a reason to trust it or not: its name, texts with links, and code.

    `tone` is that of a reason: `good`, `bad` or empty.
    """

    name: Text
    parts: tuple[Link, ...] = ()
    code: str = ""
    tone: str = ""


@dataclass(frozen=True)
class RunPage:
    """The page of one run.

    `headline` and what is said of it are empty if the run is refused; `original` is the run that counts instead of a
    copy; `silent` are the witnesses that cannot be computed, each with the reason.
    """

    run: Run
    heading: Text
    configuration: Text
    headline: Figure | None
    written: str
    unproven: tuple[Text, ...]
    stated: Text
    corrected: Phrase | None
    chart_of_run: Chart | None
    model: Link
    original: Link | None
    signs: tuple[Step, ...]
    steps: tuple[Step, ...]
    problems: Sequence[tuple[Link, Text]]
    figures: Table | None
    difference: tuple[Phrase, ...]
    metrics: Table | None
    witnesses: Table | None
    silent: Text
    facts: Table | None
    repeats: tuple[Link, ...]
    more_repeats: int
    reproduce: Sequence[CommandBlock]
    explanation: str
    environment: Table | None
    gpus: Table | None
    telemetry: tuple[Text, ...]
    sampled: Table | None
    sampled_in: Table | None
    provenance: Table | None


def pages(site: Site) -> list[Page]:
    """Return the page of each run that has one."""
    # Runs of the same result: of its version, round and unit.
    repeats = {run.id: alike for alike in repeats_of(site.runs) for run in alike}
    return [_page(site, run, repeats.get(run.id, ())) for run in site.runs if site.has_page(run)]


def _page(site: Site, run: Run, repeats: Sequence[Run]) -> Page:
    others = [each for each in repeats if each.id != run.id]
    # `duplicate_of` is the path of the log that counts.
    original = next(iter(site.runs_at.get(run.duplicate_of or "", ())), None)
    depends_on = [run, *others, *([original] if original else [])]
    return Page(
        site.page(run),
        "run",
        run_names.name(site, run),
        phrase("describe.run"),
        partial(_content, site, run, others, original),
        boost=0,
        basis=lambda: (site.basis_of_runs(depends_on), site.once(verdicts_of_runs).get(run.id)),
    )


def _content(site: Site, run: Run, others: Sequence[Run], original: Run | None) -> RunPage:
    found, sampled = headline(run), run.telemetry
    scope = (phrase("proof.scope", scope=word_for("scope", found.scope)),) if found and run.unplaced else ()
    return RunPage(
        run=run,
        heading=run_names.heading(site, run),
        configuration=run_names.configuration(site, run),
        headline=found,
        written=written(found) if found else "",
        unproven=(*scope, *reservations(run)),
        stated=joined(stated(run)),
        corrected=witnesses.corrected(run),
        chart_of_run=trace_chart(run),
        model=Link(site.suite_of[run.id].title, addresses.model_page_of(site, run)),
        original=Link(run_names.name(site, original), site.page(original)) if original else None,
        signs=tuple(signs(site, run)),
        steps=tuple(steps(site, run)),
        problems=problem_list(site, run.problems),
        figures=run_details.figure_table(site, run),
        difference=caveats.explanation(run),
        metrics=run_details.metric_table(site, run),
        witnesses=witnesses.of_run(site, run),
        silent=witnesses.silent(run),
        facts=run_details.fact_table(site, run),
        repeats=tuple(Link(run_names.short(each), site.page(each)) for each in others[:REPEATS_SHOWN]),
        more_repeats=max(0, len(others) - REPEATS_SHOWN),
        reproduce=reproduce.blocks(site, [run]),
        explanation=reproduce.explanation(run),
        environment=run_details.environment_table(run),
        gpus=run_details.gpu_table(run),
        telemetry=tuple(run_details.telemetry_sentences(sampled, run.case.devices)) if sampled else (),
        sampled=run_details.telemetry_table(sampled) if sampled else None,
        sampled_in=run_details.telemetry_files(sampled) if sampled else None,
        provenance=run_details.provenance(run),
    )


def steps(site: Site, run: Run) -> list[Step]:
    """Return the steps from the log to the figure, or to the reason why it is missing."""
    found = headline(run)
    facts = [_fact_link(site, run, name, run.facts[name]) for name in RESTS_ON if name in run.facts]
    first = [_log_step(site, run), _format_step(run), *([_step("facts", *facts)] if facts else [])]
    if found is None:
        why = why_absent(run) or phrase("proof.not_understood")
        return [*first, _step("figure", phrase("proof.none", reason=why))]
    rule = Link(phrase(f"rule.{run.rule}"), addresses.section(addresses.METHOD, "rules"))
    again = Link(phrase("run.repeat_it"), addresses.section(site.page(run), "repeat"))
    code = reproduce.command(run) or reproduce.executed(run)
    return [
        *first,
        _window_step(site, run, found),
        _step("rule", rule, phrase(f"rule.{run.rule}_definition")),
        _step("arithmetic", code=found.arithmetic),
        _step(
            "figure",
            f"{written(found)} {found.unit}".strip(),
            phrase("proof.scope", scope=word_for("scope", found.scope)),
        ),
        *([_step("repeat_it", again, code=code)] if code else []),
    ]


def signs(site: Site, run: Run) -> Iterator[Step]:
    """Yield what speaks for or against a figure, in the same order on every page."""
    here = partial(addresses.section, site.page(run))
    yield _sign("outcome", outcome(run), tone_of(run), addresses.log_lines(site, run, run.outcome_line))
    placed = "good" if run.published else "" if run.unplaced else "bad"
    yield _sign("tables", in_tables(run), placed, here("disturbances") if run.disturbed else None)
    if problems := len(run.problems):
        yield _sign("problems", phrase("proof.problems_of", n=problems), "bad", here("problems"))
    else:
        yield _sign("problems", phrase("proof.no_problems"), "good")
    if found := run.warnings:
        yield _sign("warnings", phrase("proof.problems_of", n=len(found)), "bad", here("warnings"))
    if run.witnesses:
        agreed = support(run) if run.headline else None
        text = phrase(f"support.{agreed}_means" if agreed else "witness.disagrees")
        tone = "good" if agreed == "agree" else "" if agreed else "bad"
        yield _sign("witnesses", text, tone, here("witnesses"))
    # The figure and the median of the printed values agree in a run without stalls and drift.
    share = caveats.difference(run) if headline(run) else None
    if share is not None:
        tone = "good" if abs(share) <= caveats.DIFFER else "bad"
        yield _sign("median", numbers.signed_percent(share), tone, here("figures"))
    if verdict := site.once(verdicts_of_runs).get(run.id):
        yield _sign("verdict", verdict.text, page=verdict.page)


def _sign(name: str, text: Text, tone: str = "", page: str | None = None) -> Step:
    return Step(phrase(f"proof.{name}"), (Link(text, page),), tone=tone)


def _step(name: str, *parts: Link | Text, code: str = "") -> Step:
    links = tuple(each if isinstance(each, Link) else Link(each, None) for each in parts if each)
    return Step(phrase(f"proof.{name}"), links, code)


def _log_step(site: Site, run: Run) -> Step:
    size = phrase("run.size_of", bytes=numbers.count(run.bytes), lines=numbers.count(run.lines))
    part = phrase("proof.session", session=run.session, sessions=run.sessions) if run.sessions > 1 else ""
    sha256 = f"SHA-256 {run.sha256}" if run.sha256 else ""
    return _step("log", Link(run.path, site.log_page(run)), size, part, code=sha256)


def _format_step(run: Run) -> Step:
    from perfledger.parsers.engine.registry import formats

    title = next((each.title for each in formats() if each.id == run.format), None)
    if not run.format or not title:
        return _step("format", run.format or phrase("run.no_format"))
    records = phrase("proof.records", n=numbers.count(run.observations))
    return _step("format", Link(title, addresses.format_page(run.format)), records)


def _fact_link(site: Site, run: Run, name: str, fact: FactValue) -> Link:
    line = fact_line(fact)
    source = where(fact) if line or fact.source == DERIVED else word_for("source", fact.source)
    value = numbers.quantity(fact.value)
    return Link(
        phrase("proof.fact", fact=word_for("fact", name), value=value, source=source),
        addresses.log_lines(site, run, line),
    )


def _window_step(site: Site, run: Run, found: Figure) -> Step:
    first, last = found.first_line, found.last_line
    lines = Link(log_lines_text(first, last), addresses.log_lines(site, run, first, last))
    paused = run.pauses
    if paused is None:
        return _step("window", lines, used_text(run, found))
    share = None if paused.percent is None else paused.percent / 100
    other = phrase("proof.paused", n=numbers.count(paused.records), share=numbers.percent(share))
    kinds = (word_for("pause", each) for each in paused.kinds)
    return _step("window", lines, used_text(run, found), other, *kinds)
