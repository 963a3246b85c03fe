"""Planned cases: those of recipes that nobody has run yet, which pages show as pending."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from perfledger.ingest.common.grouping import by_key
from perfledger.ingest.common.suites import model
from perfledger.ingest.common.words import Text, phrase
from perfledger.ingest.compute.results import counts
from perfledger.ingest.published.cases import in_one_spelling, library
from perfledger.ingest.site.model import Site, Suite, precision_name
from perfledger.ingest.site.options import in_words
from perfledger.ingest.site.render.table import Table
from perfledger.ingest.site.table_of import ColumnOf, table_of
from perfledger.schema.plans import Plan, PlanCase
from perfledger.schema.records import Case, Plain
from perfledger.schema.vocabulary import FACTS, OPTIONS

Identity = tuple[object, ...]
#: How runners name the hardware of a run on a CPU.
_CPU = "(CPU)"


@dataclass(frozen=True)
class PlannedCase:
    """A case of a plan; of the facts of a case, only the hardware is open."""

    plan: Plan
    case: PlanCase


def planned(site: Site, suite: Suite) -> tuple[PlannedCase, ...]:
    """Return the cases of a suite's plans without a run on the site, in the order of their recipes.

    A case that ran out of memory was run.
    """
    run_cases = by_key((run.case for run in site.runs_of(suite) if counts(run)), _identity_of)
    return tuple(
        PlannedCase(plan, case)
        for plan in site.plans_of(suite)
        for case in plan.cases
        if not _was_run(suite, plan, case, run_cases.get(_identity(plan, case), ()))
    )


def _identity(plan: Plan, case: PlanCase) -> Identity:
    return (model(plan.model), library(plan.framework), case.nodes, case.devices, case.batch_size, case.precision)


def _identity_of(case: Case) -> Identity:
    framework = library(case.framework or "")
    # A recipe does not say whether the hardware computes FP32 as TF32.
    precision = "fp32" if case.precision == "fp32_tf32" else case.precision
    return (case.model, framework, case.nodes or 1, case.devices, case.batch_size, precision)


def _was_run(suite: Suite, plan: Plan, case: PlanCase, runs: Iterable[Case]) -> bool:
    usual = {name: term.usual for name, term in FACTS.items() if term.usual is not None} | dict(suite.usual)
    wanted = in_one_spelling({**suite.usual, **case.options})
    return any(
        (plan.device == "cpu" or not (each.hardware or "").endswith(_CPU))
        and all(_agrees(name, value, usual | each.options) for name, value in wanted.items())
        for each in runs
    )


def _agrees(name: str, value: str, options: Mapping[str, Plain]) -> bool:
    """Return whether a run, its usual options included, has an option of a plan.

    One that a log may state and does not is taken to be as planned. Others, such as the version of the trainer, no log
    states: only runs of such a recipe have them.
    """
    return name in OPTIONS if name not in options else in_one_spelling({name: options[name]})[name] == value


def table(found: Sequence[PlannedCase]) -> Table | None:
    """Return planned cases, those in one row that differ in their machines and devices only; None of none."""
    rows = by_key(found, lambda each: (each.plan.recipe, each.case.batch_size, each.case.precision, _options(each)))
    of = ColumnOf[list[PlannedCase]]
    columns = (
        of(phrase("table.recipe"), lambda alike: alike[0].plan.recipe),
        of(phrase("table.shapes"), lambda alike: ", ".join(map(_shape, alike))),
        of(phrase("table.batch_size"), lambda alike: str(alike[0].case.batch_size)),
        of(phrase("table.precision"), lambda alike: precision_name(alike[0].case.precision)),
        of(phrase("table.options"), lambda alike: _options(alike[0])),
        of(phrase("table.figure"), lambda _: phrase("report.pending")),
    )
    return table_of("pending", list(rows.values()), columns)


def _shape(found: PlannedCase) -> str:
    """Return the machines and the devices of each."""
    return f"{found.case.nodes} × {found.case.devices // found.case.nodes}"


def _options(found: PlannedCase) -> Text:
    return in_words(found.case.options)
