"""Tables and texts about runs that several pages share."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

from perfledger.ingest.common import numbers
from perfledger.ingest.common.words import Phrase, Text, coded, phrase, word_for
from perfledger.ingest.compute.results import version
from perfledger.ingest.compute.rules import SUMMARY
from perfledger.ingest.read.facts import DERIVED
from perfledger.ingest.site import addresses
from perfledger.ingest.site.chips import facets_of
from perfledger.ingest.site.data.measured import date_of
from perfledger.ingest.site.model import (
    Row,
    Site,
    absence,
    named,
    precision_name,
    written,
)
from perfledger.ingest.site.options import in_words, listed
from perfledger.ingest.site.render.table import Cell, Facets, Link, Table, absent, cell
from perfledger.ingest.site.table_of import ColumnOf, table_of
from perfledger.ingest.site.verdict_words import batch, devices_on
from perfledger.schema.records import Case, FactValue, Figure, MetricFigure, Problem, Run, Stated, Witness
from perfledger.schema.vocabulary import NO_FIGURE, precision_group

_LINE = re.compile(r"line (\d{1,12})")
_LINES = re.compile(r"lines? (\d{1,12})(?:-(\d{1,12}))?")
_ORIGIN = re.compile(r"(\w+) \((.+)\)")
ENVIRONMENT = (
    "cpu", "cpu_sockets", "cores", "cores_usable", "numa_nodes", "cpu_governor", "memory_gib", "gpu", "gpus",
    "gpu_memory_gib", "gpu_memory_mib", "driver", "cuda", "cuda_driver", "cudnn", "nccl", "nccl_transport",
    "nccl_channels", "rocm", "cann", "power_limit", "gpu_power_limit_watts", "gpu_power_capped_percent",
    "gpu_persistence", "gpu_ecc", "gpu_clock_max_sm_mhz", "gpu_clock_max_memory_mhz", "gpu_clock_applications_sm_mhz",
    "gpu_clock_applications_memory_mhz", "topology", "infiniband", "network", "os", "kernel", "python", "image",
    "container_digest",
)  # fmt: skip

#: Facts of the environment that are said below a result.
STATED = ("driver", "cuda", "cudnn", "image")


def run_list(site: Site, runs: Sequence[Run], *, brief: bool = False) -> Table:
    """Return runs with case, outcome and figure; `brief` leaves out the model, for a page about one."""
    of_model = (
        ColumnOf[Run](
            phrase("table.model"), lambda run: cell(named(run.case.model), addresses.model_page_of(site, run))
        ),
    )
    records = (ColumnOf[Run](phrase("table.records"), lambda run: run.observations, True),)
    columns = (
        ColumnOf[Run](phrase("table.run"), lambda run: cell(run.id, site.page(run))),
        *(() if brief else of_model),
        ColumnOf[Run](phrase("table.framework"), lambda run: named(run.case.framework)),
        ColumnOf[Run](phrase("table.case"), lambda run: case_cell(run.case)),
        ColumnOf[Run](phrase("table.outcome"), outcome_cell),
        *(() if brief else records),
        ColumnOf[Run](phrase("table.figure"), headline_cell, True),
    )
    facets = tuple(map(facets_of_run, runs)) if brief else ()
    return replace(table_of("runs", runs, columns) or Table((), ()), facets=facets)


def facets_of_run(run: Run) -> Facets:
    """Return a run's names and values for the filters of its model's page."""
    case = run.case
    return facets_of(case.hardware or "", precision_group(case.precision), [case.devices or 0], [case.framework or ""])


def case_text(site: Site, run: Run) -> Text:
    """Return a run's case in one line, on a page that names what its title does."""
    words = site.suite_of[run.id].case_words(run.case.model, run.case.options)
    return listed((*_size(run.case), precision_name(run.case.precision), words))


def problem_list(site: Site, problems: Sequence[Problem]) -> list[tuple[Link, Text]]:
    """Return problems with their place, linked to the line of a log of ours, or otherwise to its run."""
    return [(Link(place(each), addresses.problem_place(site, each)), coded("problem", each)) for each in problems]


def place(found: Problem) -> str:
    """Return `path:line`, or the path alone."""
    return f"{found.path}:{found.line}" if found.line else found.path


def outcome(run: Run) -> Text:
    """Return a run's outcome in words; where its log shows no end, how far it came, if that is known."""
    if run.outcome == "truncated" and (came := run.progress):
        return phrase(f"outcome.early_{came.unit}", done=numbers.count(came.done), total=numbers.count(came.total))
    return word_for("outcome", run.outcome)


def source_of(run: Run) -> Text | None:
    """Return repository and commit of the trainer; that it was changed since, where run.json says so."""
    found = run.source or {}
    source = " @ ".join(str(found[name]) for name in ("repository", "commit") if found.get(name))
    return phrase("run.source_modified", source=source) if source and found.get("modified") is True else source or None


def case_cell(case: Case) -> Cell:
    """Return a cell with the size, precision and options of a case."""
    if case.devices is None and case.batch_size is None and case.precision is None:
        return absent(phrase("site.unknown"))
    return cell(listed(_size(case)), None, precision_name(case.precision), in_words(case.options))


def _size(case: Case) -> tuple[Text, Text]:
    return devices_on(case.devices, case.nodes or 1), batch(case.batch_size)


def outcome_cell(run: Run) -> Cell:
    """Return a cell with a run's outcome; what is refused is not shown as gone well."""
    return cell(outcome(run), tone=tone_of(run))


def tone_of(run: Run) -> str:
    """Return how a run's outcome is coloured; not at all where its end was not seen."""
    if run.outcome in NO_FIGURE:
        return "bad"
    return "good" if run.outcome == "completed" and _may_show(run) and not run.disturbed else ""


def in_tables(run: Run) -> Phrase:
    """Return in words whether the tables contain a run's figure, or why not."""
    if run.unplaced:
        return phrase("proof.unplaced", facts=listed([word_for("fact", each) for each in run.missing or ()]))
    return phrase("proof.published" if run.published else "proof.disturbed" if run.disturbed else "proof.unpublished")


def _may_show(run: Run) -> bool:
    """Return whether a run's figure may be shown: it is published, or sound although results leave it out."""
    return run.published or run.sound


def headline(run: Run) -> Figure | None:
    """Return the headline figure of a run; None where the run is refused, whatever it printed."""
    return run.headline if _may_show(run) else None


def headline_cell(run: Run) -> Cell:
    """Return a cell with the headline figure of a run, or the reason why it is missing."""
    if found := headline(run):
        return figure_cell(found, *reservations(run))
    return absent(why_absent(run))


def why_absent(run: Run) -> Text | None:
    """Return why a run has no headline figure; None if nobody knows."""
    return absence(run) or (coded("problem", run.problems[0]) if run.problems else None)


def reservations(found: Run | Row) -> tuple[Text, ...]:
    """Return the marks of a figure: its format was not tested with a real log, or its reader states facts of it."""
    # The facts that the log leaves open and something else fills in, each with its place.
    filled_in = (found.assumed or {}) if isinstance(found, Row) else found.filled_in
    filled = [_fact_at(*each) for each in filled_in.items()]
    of_trainer = isinstance(found, Run) and found.rule == SUMMARY  # rows of results say so by their rule
    marks = [phrase("metric.summary")] if of_trainer else []
    marks += [phrase("metric.unproven")] if found.unproven else []
    return (*marks, *([phrase("metric.filled_in", facts=listed(filled))] if filled else []))


def figure_cell(found: Figure, *marks: Text) -> Cell:
    """Return a cell with a figure, its unit, and what else is to be known of it."""
    return cell(written(found), None, found.unit, *marks, value=found.value)


def lines_cell(site: Site, run: Run, found: Figure | MetricFigure | Witness) -> Cell | None:
    """Return the lines of the log that a figure rests on, linked; None if it rests on none."""
    lines = addresses.line_range(found.first_line, found.last_line)
    return cell(log_lines_text(*lines), addresses.log_lines(site, run, *lines)) if lines else None


def stated(run: Run) -> tuple[Text, ...]:
    """Return the framework's version, driver, CUDA, cuDNN and image as far as they are stated, and the day."""
    framework, release = run.case.framework or "", version(run) or ""
    of_framework = f"{framework} {release}".strip() if release and not release.startswith(framework or " ") else release
    found = (
        phrase("stated.of", name=phrase(f"environment.{each}"), value=value_text(run.environment[each]))
        for each in STATED
        if run.environment.get(each)
    )
    return (*filter(None, (of_framework,)), *found, date_of(run) or phrase("stated.undated"))


def log_lines_text(first: int, last: int) -> Text:
    """Return lines of a log in words."""
    if first == last:
        return phrase("log.line", line=numbers.count(first))
    return phrase("log.lines", first=numbers.count(first), last=numbers.count(last))


def used_text(run: Run, found: Figure) -> Text:
    """Return how many records a figure is made of, and how many before them are warm-up."""
    paused = run.pauses.records if run.pauses else 0
    return phrase("proof.used", used=numbers.count(found.used), skipped=numbers.count(found.skipped - paused))


def fact_line(fact: FactValue) -> int:
    """Return the line of the run's own log that states a fact; 0 where something else states it."""
    found = _LINE.fullmatch(fact.where)
    return int(found[1]) if found else 0


def fact_place(site: Site, run: Run, fact: FactValue) -> Cell:
    """Return the place of a fact in its source, linked to the line of the log."""
    return cell(where(fact), addresses.log_lines(site, run, fact_line(fact)))


def where(fact: FactValue) -> Text:
    """Return the place of a fact in its source; of a derived one the facts that it follows from, with their places."""
    if fact.source != DERIVED:
        return _place_of(fact.where)
    parts = (_ORIGIN.fullmatch(each) for each in fact.where.split(", "))
    return listed(_fact_at(each[1], _place_of(each[2])) for each in parts if each) or fact.where


def _fact_at(name: str, place: Text) -> Text:
    return phrase("run.fact_at", fact=word_for("fact", name), where=place)


def _place_of(where: str) -> Text:
    if lines := _LINES.fullmatch(where):
        return log_lines_text(int(lines[1]), int(lines[2] or lines[1]))
    if where == "format":
        return word_for("source", where)
    return phrase("run.layout", name=where[7:]) if where.startswith("layout ") else where


def packages(run: Run) -> Mapping[str, Stated]:
    """Return the versions of packages that a run states, by name."""
    found = run.environment.get("packages")
    return found if isinstance(found, dict) else {}


def value_text(value: object) -> str:
    """Return a value of an environment or a fact in one line."""
    if isinstance(value, Mapping):
        return "; ".join(f"{name} {value_text(each)}" for name, each in sorted(value.items()))
    if isinstance(value, list | tuple):
        return "; ".join(map(value_text, value))
    return numbers.quantity(value)
