"""Short statements of a run about its measurement, for the line below a result."""

from __future__ import annotations

from perfledger.ingest.common.words import Text, phrase
from perfledger.ingest.compute.results import version
from perfledger.ingest.site.data.measured import date_of
from perfledger.ingest.site.run_tables import value_text
from perfledger.schema.records import Run

ENVIRONMENT = ("driver", "cuda", "cudnn", "image")


def stated(run: Run) -> tuple[Text, ...]:
    """Return the framework's version, driver, CUDA, cuDNN and image as far as they are stated, and the day."""
    found = (
        phrase("stated.of", name=phrase(f"environment.{each}"), value=value_text(run.environment[each]))
        for each in ENVIRONMENT
        if run.environment.get(each)
    )
    return (*filter(None, (_version(run),)), *found, date_of(run) or phrase("stated.undated"))


def _version(run: Run) -> str:
    """Return the framework with its version; empty if the log does not state it."""
    framework, found = run.case.framework or "", version(run)
    return f"{framework} {found}".strip() if found and not found.startswith(framework or " ") else found or ""
