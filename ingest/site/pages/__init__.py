"""All pages of the site: a module per kind of page, each with the tables and charts that only it shows."""

from __future__ import annotations

from perfledger.ingest.site.model import Page, Site
from perfledger.ingest.site.pages import (
    audit,
    compare,
    formats,
    frameworks,
    front,
    glossary,
    guides,
    hardware,
    history,
    model,
    models,
    problems,
    reports,
    rounds,
    run,
    runs,
)

KINDS = (
    front, models, model, history, frameworks, hardware, reports, rounds, compare, runs, run, audit, problems,
    formats, glossary, guides,
)  # fmt: skip


def pages(site: Site) -> list[Page]:
    """Return all pages of the site."""
    return [page for kind in KINDS for page in kind.pages(site)]
