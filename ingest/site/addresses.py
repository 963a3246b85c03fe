"""Addresses of pages below a language's folder, for links from one page to another."""

from __future__ import annotations

from ingest.published.declarations import Report
from ingest.site.model import Site, Suite

REPORTS = "reports/index.md"


def model_folder(suite: Suite) -> str:
    """Return the folder of a model's pages, which is the address of its first page on the built site."""
    return f"models/{suite.id}/"


def model_page(suite: Suite) -> str:
    """Return the page of a model."""
    return f"{model_folder(suite)}index.md"


def framework_page(site: Site, suite: Suite, framework: str) -> str:
    """Return the page of a model's runs in one framework."""
    return f"{model_folder(suite)}{site.framework_slugs[framework]}.md"


def report_page(report: Report) -> str:
    """Return the page of a report of published figures."""
    return f"reports/{report.id}.md"
