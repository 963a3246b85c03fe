"""The name of a run on pages: its case in words. Its id is in addresses, data and small print."""

from __future__ import annotations

from collections.abc import Iterator

from perfledger.ingest.common import numbers
from perfledger.ingest.common.words import Text, phrase
from perfledger.ingest.site.hardware_names import product
from perfledger.ingest.site.model import Site, precision_name
from perfledger.ingest.site.options import listed
from perfledger.schema.records import Run
from perfledger.schema.submission import submitter_of


def name(site: Site, run: Run) -> Text:
    """Return the case of a run in words, as `PyTorch, BERT-base, 8 × V100, AMP, run 2`; its id if nothing is known."""
    parts = [each for each in _parts(site, run) if each]
    return listed(parts) if parts else run.id


def heading(site: Site, run: Run) -> Text:
    """Return the name without the configuration, which the page has below: framework, model, machine, precision."""
    suite = site.suite_of[run.id]
    model = suite.variant_of(run.case.model) or (suite.title if run.case.model else "")
    found = [each for each in (run.case.framework or "", model, _machine(run), _precision(run), _nth(run)) if each]
    return listed(found) if found else run.id


def configuration(site: Site, run: Run) -> Text:
    """Return the batch size and the options in words."""
    suite = site.suite_of[run.id]
    return listed((_batch(run), suite.case_words(run.case.model, run.case.options)))


def short(run: Run) -> Text:
    """Return what a run is called among the repeats of its case: by its number, or its id."""
    return phrase("run.nth", n=run.repeat) if run.repeat is not None else run.id


def _parts(site: Site, run: Run) -> Iterator[Text]:
    case = run.case
    yield case.framework or ""
    yield site.suite_of[run.id].title if case.model else ""
    yield _machine(run)
    yield _precision(run)
    yield _batch(run)
    yield site.suite_of[run.id].case_words(case.model, case.options)
    yield _nth(run)
    submitter = submitter_of(run.path)
    yield phrase("table.submitted", name=submitter) if submitter else ""


def _precision(run: Run) -> Text:
    return precision_name(run.case.precision) if run.case.precision else ""


def _batch(run: Run) -> Text:
    return phrase("run.batch", n=numbers.count(run.case.batch_size)) if run.case.batch_size else ""


def _nth(run: Run) -> Text:
    return phrase("run.nth", n=run.repeat) if run.repeat is not None and run.case.framework else ""


def _machine(run: Run) -> Text:
    devices, hardware = run.case.devices, run.case.hardware
    if devices and hardware:
        return phrase("run.devices", n=devices, hardware=product(hardware))
    return product(hardware) if hardware else ""
