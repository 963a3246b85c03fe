"""The name of a run on pages: its case in words. Its id is in addresses, data and small print."""

from __future__ import annotations

from perfledger.ingest.common.words import Text, phrase
from perfledger.ingest.site.hardware_names import product
from perfledger.ingest.site.model import Site, precision_name
from perfledger.ingest.site.options import listed
from perfledger.ingest.site.verdict_words import batch, devices_of
from perfledger.schema.records import Case, Run
from perfledger.schema.submission import submitter_of


def name(site: Site, run: Run) -> Text:
    """Return the case of a run in words, as `PyTorch, BERT-base, 8 × V100, AMP, run 2`; its id if nothing is known."""
    case, suite, submitter = run.case, site.suite_of[run.id], submitter_of(run.path)
    model = (suite.title if case.model else "", *_machine(case), configuration(site, run), _nth(run))
    submitted = phrase("table.submitted", name=submitter) if submitter else ""
    return listed((case.framework or "", *model, submitted)) or run.id


def heading(site: Site, run: Run) -> Text:
    """Return the name without the configuration, which the page has below: framework, model, machine, precision."""
    case, suite = run.case, site.suite_of[run.id]
    model = suite.variant_of(case.model) or (suite.title if case.model else "")
    return listed((case.framework or "", model, *_machine(case), _nth(run))) or run.id


def configuration(site: Site, run: Run) -> Text:
    """Return the batch size and the options in words."""
    case = run.case
    return listed((batch(case.batch_size), site.suite_of[run.id].case_words(case.model, case.options)))


def short(run: Run) -> Text:
    """Return what a run is called among the repeats of its case: by its number, or its id."""
    return phrase("run.nth", n=run.repeat) if run.repeat is not None else run.id


def _nth(run: Run) -> Text:
    return short(run) if run.repeat is not None and run.case.framework else ""


def _machine(case: Case) -> tuple[Text, Text]:
    """Return the hardware with the number of devices, and the precision."""
    hardware = product(case.hardware) if case.hardware else ""
    return devices_of(case.devices, case.nodes, hardware), precision_name(case.precision) if case.precision else ""
