"""A run's page: its figure with every step from the log, its tables, chart and telemetry."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from msgspec import UnsetType, structs

from perfledger.ingest.common import numbers
from perfledger.ingest.common.words import Text, coded, phrase, word_for
from perfledger.ingest.compute.results import repeats as repeats_of
from perfledger.ingest.compute.results import support
from perfledger.ingest.compute.rules import NAMES
from perfledger.ingest.read.facts import DERIVED
from perfledger.ingest.site import addresses, caveats, reproduce, rivals, run_names, steadiness, witness_tables
from perfledger.ingest.site.model import Page, Site, absence, precision_name, reason, written
from perfledger.ingest.site.options import in_words
from perfledger.ingest.site.render.table import Cell, Column, Entry, Link, Table, absent, cell
from perfledger.ingest.site.result_tables import metric_title, not_finite_cell
from perfledger.ingest.site.run_tables import (
    ENVIRONMENT,
    fact_line,
    fact_origins,
    figure_cell,
    headline,
    in_tables,
    log_lines_text,
    outcome,
    packages,
    place_of,
    problem_list,
    reservations,
    source_of,
    tone_of,
    used_text,
    value_text,
    window_text,
)
from perfledger.ingest.site.stated import joined, stated
from perfledger.ingest.site.trace_chart import trace_chart
from perfledger.schema.records import FactValue, Figure, MetricFigure, NoFigure, Pauses, Run, SiteRecord, Telemetry
from perfledger.schema.submission import submitter_of
from perfledger.schema.vocabulary import CASE, METRICS

REPEATS_SHOWN = 20
#: Facts that the arithmetic of a throughput may rest on.
RESTS_ON = ("devices", "batch_size", "batch_size_of_job", "accumulation", "sequence_length", "tokens_per_step", "nodes")
#: Figures in the order of their importance for readers.
ORDER = (
    "memory_peak_mib", "memory_mean_mib", "memory_total_mib", "utilisation_mean", "memory_utilisation_mean",
    "power_mean_w", "power_peak_w", "power_limit_w", "energy_j", "temperature_peak_c", "temperature_mean_c",
    "memory_temperature_peak_c", "sm_clock_mean_mhz", "graphics_clock_mean_mhz", "memory_clock_mean_mhz",
    "cpu_mean", "disk_read_mean_mib_s", "disk_written_mean_mib_s", "load_mean", "load_peak",
    "host_memory_peak_mib", "host_memory_mean_mib", "host_memory_total_mib",
)  # fmt: skip
_COUNTED = frozenset({"memory_peak_mib", "memory_total_mib", "host_memory_peak_mib", "host_memory_total_mib"})


@dataclass(frozen=True)
class Step:
    """One step from the log to the figure: its name, sentences with links, and code."""

    name: Text
    parts: tuple[Link, ...] = ()
    code: str = ""


@dataclass(frozen=True)
class Sign:
    """A reason to trust a figure or not: `tone` is `good`, `bad` or empty; `page` shows the evidence."""

    name: Text
    text: Text
    tone: str = ""
    page: str | None = None


def pages(site: Site) -> list[Page]:
    """Return the page of each run that has one."""
    repeats = _repeats(site)
    return [_run(site, run, repeats.get(run.id, ())) for run in site.runs if site.has_page(run)]


def _run(site: Site, run: Run, repeats: Sequence[Run]) -> Page:
    suite = site.suite_of[run.id]
    others = [each for each in repeats if each.id != run.id]
    chart = trace_chart(run)
    # `duplicate_of` is the path of the log that counts.
    original = site.by_path.get(run.duplicate_of or "")
    title, found = run_names.name(site, run), headline(run)
    beside = [*others, *([original] if original else [])]
    return Page(
        site.page(run),
        "run",
        title,
        phrase("describe.run"),
        lambda: {
            "run": run,
            "chart_of_run": chart,
            "headline": found,
            "written": written(found) if found else "",
            "scope": phrase("proof.scope", scope=word_for("scope", found.scope)) if found and run.unplaced else "",
            "unproven": reservations(run),
            "stated": joined(stated(run)),
            "suite_title": suite.title,
            "suite_page": addresses.model_page_of(site, run),
            "signs": [*signs(site, run, others), *_rival_sign(site.once(rivals.rivals).get(run.id))],
            "steps": steps(site, run),
            "figures": figure_table(site, run),
            "witnesses": witness_tables.of_run(site, run),
            "corrected": witness_tables.corrected(run),
            "metrics": metric_table(site, run),
            "facts": case_table(site, run),
            "environment": environment_table(run),
            "details": details(run),
            "reproduce": reproduce.blocks(site, [run]),
            "explanation": reproduce.explanation(run),
            "telemetry": telemetry_section(run),
            "provenance": provenance(site, run),
            "problems": problem_list(site, run.problems),
            "warnings": run.warnings or (),
            "disturbances": run.disturbances or (),
            "left_out": run.disturbed,
            "placing": in_tables(run),
            "name": title,
            "repeats": [(run_names.short(each), site.page(each)) for each in others[:REPEATS_SHOWN]],
            "more_repeats": max(0, len(others) - REPEATS_SHOWN),
            "difference": caveats.difference(run),
            "original": (run_names.name(site, original), site.page(original)) if original else None,
        },
        boost=0,
        basis=lambda: {**site.basis_of_runs([run, *beside]), "rival": site.once(rivals.rivals).get(run.id)},
    )


def _repeats(site: Site) -> Mapping[str, Sequence[Run]]:
    """Return for each run in a table the runs of the same result: of its version, round and unit."""
    return {run.id: alike for alike in repeats_of(site.runs) for run in alike}


def steps(site: Site, run: Run) -> list[Step]:
    """Return the steps from the log to the figure, or to the reason why it is missing."""
    found = headline(run)
    first = [_log_step(site, run), _format_step(run), *_fact_steps(site, run)]
    if found is None:
        why = absence(run) or _refusal(run) or phrase("proof.not_understood")
        return [*first, _step("figure", phrase("proof.none", reason=why))]
    value = f"{written(found)} {found.unit}".strip()
    scope = phrase("proof.scope", scope=word_for("scope", found.scope))
    return [
        *first,
        _window_step(site, run, found),
        _step(
            "rule",
            Link(phrase(f"rule.{run.rule}"), addresses.section(addresses.METHOD, "rules")),
            phrase(f"rule.{run.rule}_definition"),
        ),
        _step("arithmetic", code=found.arithmetic),
        _step("figure", value, scope),
        *_repeat_step(site, run),
    ]


def _refusal(run: Run) -> Text | None:
    """Return the reason why a figure of the log is not shown."""
    return coded("problem", run.problems[0]) if run.headline and run.problems else None


def signs(site: Site, run: Run, others: Sequence[Run]) -> list[Sign]:
    """Return what speaks for or against a figure, in the same order on every page."""
    ended = Sign(
        phrase("proof.outcome"), outcome(run), tone_of(run),
        addresses.log_lines(site, run, run.outcome_line),
    )  # fmt: skip
    problems = len(run.problems)
    text = phrase("proof.problems_of", n=problems) if problems else phrase("proof.no_problems")
    return [
        ended,
        Sign(
            phrase("proof.tables"),
            in_tables(run),
            "good" if run.published else "" if run.unplaced else "bad",
            addresses.section(site.page(run), "disturbances") if run.disturbed else None,
        ),
        Sign(
            phrase("proof.problems"),
            text,
            "bad" if problems else "good",
            addresses.section(site.page(run), "problems") if problems else None,
        ),
        *_warning_sign(site, run),
        *_witness_sign(site, run),
        *_used_records(site, run),
        *_median_sign(site, run),
        Sign(
            phrase("proof.repeats"),
            numbers.count(len(others) + 1),
            page=addresses.section(site.page(run), "repeats") if others else None,
        ),
    ]


def case_table(site: Site, run: Run) -> Table:
    """Return the facts of a run: value, source and place in it."""
    body = []
    for name in (*(n for n in CASE if n in run.facts), *sorted(set(run.facts) - set(CASE))):
        fact = run.facts[name]
        body.append(
            (
                cell(word_for("fact", name)),
                cell(_fact_value(name, fact.value)),
                cell(word_for("source", fact.source)),
                cell(_where(fact), addresses.log_lines(site, run, fact_line(fact))),
            )
        )
    head = tuple(Column(phrase(f"table.{each}")) for each in ("fact", "value", "source", "where"))
    return Table(head, tuple(body), name="facts")


def figure_table(site: Site, run: Run) -> Table:
    """Return every rule's figure with its window and arithmetic, including the rules of other publishers."""
    figures = run.all_figures
    rules = [*(each for each in NAMES if each in figures), *sorted(set(figures) - set(NAMES))]
    head = (
        Column(phrase("table.rule")),
        Column(phrase("table.value"), True),
        Column(phrase("table.scope")),
        Column(phrase("table.used"), True),
        Column(phrase("table.skipped"), True),
        Column(phrase("table.window")),
        Column(phrase("table.arithmetic")),
    )
    return Table(head, tuple(_rule_line(site, run, rule) for rule in rules), name="figures")


def metric_table(site: Site, run: Run) -> Table | None:
    """Return a run's metrics other than throughput, with the source of each."""
    body = tuple(_metric_line(site, run, name, run.metrics[name]) for name in METRICS if name in run.metrics)
    head = ("metric", "value", "source", "window", "arithmetic")
    columns = tuple(Column(phrase(f"table.{each}"), each == "value") for each in head)
    return Table(columns, body, name="metrics") if body else None


def environment_table(run: Run) -> Table | None:
    """Return the machine and software of one run."""
    found = run.environment
    body = [
        (cell(phrase(f"environment.{k}")), cell(value_text(found[k]))) for k in ENVIRONMENT if found.get(k) is not None
    ]
    others = sorted(set(found) - set(ENVIRONMENT) - {"packages"})
    body += [
        (cell(word_for("environment", name)), cell(value_text(found[name])))
        for name in others
        if found[name] not in (None, "", {}, [])
    ]
    installed = [f"{name} {version}" for name, version in sorted(packages(run).items())]
    if installed:
        body.append((cell(phrase("environment.packages")), Cell(tuple(map(Entry, installed)))))
    head = (Column(phrase("table.item")), Column(phrase("table.value")))
    return Table(head, tuple(body), name="environment") if body else None


def provenance(site: Site, run: Run) -> Table:
    """Return what a run was read from: the log's size and hash, its format, times and source."""
    size = phrase("run.size_of", bytes=numbers.count(run.bytes), lines=numbers.count(run.lines))
    wall = phrase("run.wall_of", seconds=numbers.seconds(run.wall_seconds)) if run.wall_seconds else None
    lines: list[tuple[str, Text | None]] = [
        ("session", phrase("run.session_of", session=run.session, sessions=run.sessions)),
        ("sha256", run.sha256),
        ("size", size),
        ("format", run.format or phrase("run.no_format")),
        ("observations", numbers.count(run.observations)),
        ("outcome", outcome(run)),
        ("start", run.start),
        ("end", run.end),
        ("wall", wall),
        ("repeat", str(run.repeat) if run.repeat else None),
        ("source", source_of(run)),
        ("recipe", _recipe(run)),
        ("records", _records_asked(run)),
        ("notes", run.notes),
        ("secrets", ", ".join(run.secrets or ())),
        *((f"site_{name}", text) for name, text in _of_site(run.site)),
    ]
    ended = tuple(Entry(each) for each in _nodes(run))
    path, measured_by = cell(run.path, site.log_page(run)), _measured_by(run)
    body = (
        (cell(phrase("run.log")), path),
        *([(cell(phrase("run.measured_by")), measured_by)] if measured_by else []),
        *((cell(phrase(f"run.{name}")), cell(text)) for name, text in lines if text),
        *([(cell(phrase("run.nodes")), Cell(ended))] if ended else []),
    )
    return Table((Column(phrase("table.item")), Column(phrase("table.value"))), body, name="provenance")


def _measured_by(run: Run) -> Cell | None:
    """Return who measured a run: its submitter, the source of its layout, or the publisher of this site.

    Only a log with a run.json, which our runners write, is known to be the publisher's own. None if nobody knows.
    """
    if run.origin:
        there = run.origin.source if run.origin.source.startswith("https://") else None
        return cell(phrase("run.published_by", title=run.origin.title), there)
    if submitter := submitter_of(run.path):
        return cell(phrase("run.submitted", name=submitter))
    return cell(phrase("run.measured_here")) if run.argv else None


def _of_site(found: SiteRecord | UnsetType) -> Iterator[tuple[str, str]]:
    """Yield what the site added to the recipe, by name."""
    for name, value in structs.asdict(found).items() if found else ():
        yield name, value if isinstance(value, str) else "; ".join(value)


def details(run: Run) -> Mapping[str, Any] | None:
    """Return what is too long for a table of the environment: GPUs, topology, InfiniBand and packages."""
    found = run.environment_details
    if found is None:
        return None
    keys = list(dict.fromkeys(key for each in found.gpus for key in each))
    columns = tuple(Column(word_for("environment", f"gpu_{key}"), key=key) for key in keys)
    rows = tuple(tuple(_gpu_cell(each.get(key)) for key in keys) for each in found.gpus)
    return {
        "gpus": Table(columns, rows, name="gpus") if rows and keys else None,
        "topology": found.topology,
        "infiniband": found.infiniband,
        "packages_installed": found.packages_installed,
    }


def _warning_sign(site: Site, run: Run) -> Iterator[Sign]:
    if found := run.warnings:
        text = phrase("proof.problems_of", n=len(found))
        yield Sign(phrase("proof.warnings"), text, "bad", addresses.section(site.page(run), "warnings"))


def _rival_sign(rival: Link | None) -> Iterator[Sign]:
    if rival:
        yield Sign(phrase("proof.rivals"), rival.text, page=rival.page)


def _step(name: str, *parts: Link | Text, code: str = "") -> Step:
    links = tuple(each if isinstance(each, Link) else Link(each, None) for each in parts if each)
    return Step(phrase(f"proof.{name}"), links, code)


def _repeat_step(site: Site, run: Run) -> Iterator[Step]:
    """Yield the command that repeats this case, or else the one that was executed; nothing if neither is known."""
    if code := reproduce.command(run) or reproduce.executed(run):
        yield _step("repeat_it", Link(phrase("run.repeat_it"), addresses.section(site.page(run), "repeat")), code=code)


def _log_step(site: Site, run: Run) -> Step:
    size = phrase("run.size_of", bytes=numbers.count(run.bytes), lines=numbers.count(run.lines))
    part = phrase("proof.session", session=run.session, sessions=run.sessions) if run.sessions > 1 else ""
    sha256 = f"SHA-256 {run.sha256}" if run.sha256 else ""
    return _step("log", Link(run.path, site.log_page(run)), size, part, code=sha256)


def _format_step(run: Run) -> Step:
    known = _format_titles().get(run.format or "")
    if not run.format or not known:
        return _step("format", run.format or phrase("run.no_format"))
    records = phrase("proof.records", n=numbers.count(run.observations))
    return _step("format", Link(known, addresses.format_page(run.format)), records)


def _format_titles() -> Mapping[str, str]:
    from perfledger.parsers.engine.registry import formats

    return {each.id: each.title for each in formats()}


def _fact_steps(site: Site, run: Run) -> Iterator[Step]:
    """Yield the facts that turn records into throughput, each with the line that states it."""
    facts = [_fact_link(site, run, name, run.facts[name]) for name in RESTS_ON if name in run.facts]
    if facts:
        yield _step("facts", *facts)


def _fact_link(site: Site, run: Run, name: str, fact: FactValue) -> Link:
    line = fact_line(fact)
    source = _where(fact) if line or fact.source == DERIVED else word_for("source", fact.source)
    value = numbers.quantity(fact.value)
    return Link(
        phrase("proof.fact", fact=word_for("fact", name), value=value, source=source),
        addresses.log_lines(site, run, line),
    )


def _window_step(site: Site, run: Run, found: Figure) -> Step:
    first, last = found.first_line, found.last_line
    lines = Link(log_lines_text(first, last), addresses.log_lines(site, run, first, last))
    return _step("window", lines, used_text(run, found), *_paused(run.pauses))


def _paused(found: Pauses | None) -> Iterator[Text]:
    """Yield the time of records with other work than training steps, and the kinds of work."""
    if found is None:
        return
    share = None if found.percent is None else found.percent / 100
    yield phrase("proof.paused", n=numbers.count(found.records), share=numbers.percent(share))
    yield from (word_for("pause", each) for each in found.kinds)


def _witness_sign(site: Site, run: Run) -> Iterator[Sign]:
    """Say what the figure rests on, or that a witness withholds it."""
    if run.witnesses:
        found = support(run) if run.headline else None
        text = phrase(f"support.{found}_means" if found else "witness.disagrees")
        tone = "good" if found == "agree" else "" if found else "bad"
        yield Sign(phrase("proof.witnesses"), text, tone, addresses.section(site.page(run), "witnesses"))


def _used_records(site: Site, run: Run) -> Iterator[Sign]:
    if found := headline(run):
        text = phrase("proof.of", n=numbers.count(found.used), all=numbers.count(found.used + found.skipped))
        yield Sign(
            phrase("proof.used_records"), text, page=addresses.log_lines(site, run, found.first_line, found.last_line)
        )


def _median_sign(site: Site, run: Run) -> Iterator[Sign]:
    """Compare the figure with the median of the printed values; they agree in a run without stalls and drift."""
    share = steadiness.difference(run) if headline(run) else None
    if share is not None:
        text = numbers.signed_percent(share)
        yield Sign(
            phrase("proof.median"),
            text,
            "good" if abs(share) <= steadiness.DIFFER else "bad",
            addresses.section(site.page(run), "figures"),
        )


def _metric_line(site: Site, run: Run, name: str, found: MetricFigure) -> tuple[Cell, ...]:
    marks = [phrase("metric.diverged")] if found.diverged else []
    first, last = found.first_line, found.last_line
    known = found.value is not None
    return (
        cell(metric_title(name)),
        cell(numbers.figure(found.value), None, *marks, value=found.value) if known else not_finite_cell(found),
        cell(word_for("source", found.source or "")),
        cell(window_text(first or "", last or ""), addresses.log_lines(site, run, first, last)),
        cell(found.arithmetic or ""),
    )


def _rule_line(site: Site, run: Run, rule: str) -> tuple[Cell, ...]:
    found, name = run.all_figures[rule], cell(word_for("rule", rule))
    if isinstance(found, NoFigure):
        return (name, absent(reason(found.reason) or phrase("site.unknown")), *(cell("") for _ in range(5)))
    return (
        name,
        figure_cell(found),
        cell(word_for("scope", found.scope)),
        cell(numbers.quantity(found.used)),
        cell(numbers.quantity(found.skipped)),
        cell(
            window_text(found.first_line, found.last_line),
            addresses.log_lines(site, run, found.first_line, found.last_line),
        ),
        cell(found.arithmetic),
    )


def _where(fact: FactValue) -> Text:
    """Return the place of a fact in its source."""
    return fact_origins(fact) if fact.source == DERIVED else place_of(fact.where)


def _fact_value(name: str, value: Any) -> Text:
    if name == "precision":
        return precision_name(str(value))
    return in_words(value) if isinstance(value, Mapping) else value_text(value)


def _recipe(run: Run) -> str | None:
    if run.recipe is None:
        return None
    return run.recipe.name + (f" (SHA-256 {run.recipe.sha256[:12]})" if run.recipe.sha256 else "")


def _records_asked(run: Run) -> Text | None:
    if run.records is None or run.records.at_least is None or run.records.count is None:
        return None
    asked, there = numbers.count(run.records.at_least), numbers.count(run.records.count)
    return phrase("run.records_of", at_least=asked, count=there)


def _nodes(run: Run) -> list[Text]:
    """Return how each machine of several ended."""
    return [
        phrase("run.node_of", folder=each.folder, outcome=word_for("outcome", each.outcome or ""))
        for each in run.nodes or ()
    ]


def _gpu_cell(value: str | float | None) -> Cell:
    return absent(None) if value is None else cell(numbers.quantity(value))


def telemetry_section(run: Run) -> Mapping[str, Any] | None:
    """Return the sentences and tables about telemetry; None for a run without."""
    found = run.telemetry
    if not found:
        return None
    return {
        "sentences": _telemetry_sentences(found),
        "figures": telemetry_table(found),
        "files": telemetry_files(found),
    }


def telemetry_table(found: Telemetry) -> Table | None:
    """Return every telemetry figure, and the same between first and last record if both clocks agree.

    If power was sampled, a further column has the figures of the records that the headline counts, which give the
    energy per sample.
    """
    known = {key: value for key in ORDER if (value := getattr(found, key)) is not None}
    inner = found.window if found.part == "file" else None
    counted = found.measured if found.measured and found.measured.power_mean_w is not None else None
    head = [Column(phrase("telemetry.quantity")), Column(phrase("table.value"), True)]
    head += [Column(phrase("telemetry.window"), True)] if inner else []
    head += [Column(phrase("telemetry.measured"), True)] if counted else []
    head += [Column(phrase("telemetry.over")), Column(phrase("telemetry.printer"))]
    body = []
    for key, value in known.items():
        row = [cell(phrase(f"telemetry.{key}")), _telemetry_cell(key, value)]
        row += [_telemetry_cell(key, getattr(inner, key))] if inner else []
        row += [_telemetry_cell(key, getattr(counted, key))] if counted else []
        row += [cell(phrase(f"telemetry.{found.scope[key]}")), cell(found.printers[key])]
        body.append(tuple(row))
    return Table(tuple(head), tuple(body)) if body else None


def telemetry_files(found: Telemetry) -> Table:
    """Return the files of telemetry, with the tool that printed each and its hash."""
    head = (Column(phrase("telemetry.file")), Column(phrase("telemetry.printer")), Column(phrase("run.sha256")))
    body = tuple((cell(each.path), cell(each.printer), cell(each.sha256)) for each in found.files)
    return Table(head, body)


def _telemetry_text(key: str, value: float) -> str:
    """Write a value: memory is exact, a mean is no more precise than its samples."""
    return numbers.grouped(value, 0) if key in _COUNTED else numbers.figure(value)


def _telemetry_cell(key: str, value: float | None) -> Cell:
    return absent(None) if value is None else cell(_telemetry_text(key, value), value=value)


def _telemetry_sentences(found: Telemetry) -> list[Text]:
    if not found.scope:
        return [phrase("telemetry.none_used")]
    if found.samples is None:
        return [phrase("telemetry.maximum")]
    sentences: list[Text] = [
        phrase(f"telemetry.intro_{found.part}"),
        _sampled_devices(found),
        _sampled_time(found, found.samples),
    ]
    why = found.absent.get("energy_j")
    return [*sentences, phrase(f"telemetry.no_energy_{why}")] if why else sentences


def _sampled_devices(found: Telemetry) -> Text:
    if all(each.endswith("_of_host") for each in found.scope.values()):
        return phrase("telemetry.host")
    sampled, whole = found.devices, found.devices_of_job
    if sampled is None:
        return phrase("telemetry.devices_unnamed")
    if whole and whole > sampled:
        return phrase("telemetry.devices_some", n=sampled, all=whole)
    return phrase("telemetry.devices_one") if sampled == 1 else phrase("telemetry.devices", n=sampled)


def _sampled_time(found: Telemetry, count: int) -> Text:
    samples = numbers.count(count)
    if found.first is None or found.last is None:
        return phrase("telemetry.undated", samples=samples)
    clock = {"first": found.first.replace("T", " "), "last": found.last.replace("T", " ")}
    return phrase("telemetry.span", samples=samples, seconds=numbers.seconds(found.seconds), **clock)
