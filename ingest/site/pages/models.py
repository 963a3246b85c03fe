"""The list of models."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from perfledger.ingest.common.words import phrase
from perfledger.ingest.site import addresses
from perfledger.ingest.site.model import Page, Site, Suite, named


def pages(site: Site) -> list[Page]:
    """Return the list of models."""
    described = phrase("nav.models"), phrase("describe.models")
    return [
        Page(
            addresses.MODELS, "models", *described, lambda: {"suites": [_described(site, each) for each in site.shown]}
        )
    ]


def _described(site: Site, suite: Suite) -> Mapping[str, Any]:
    return {
        "title": suite.title,
        "page": addresses.model_page(suite),
        "words": suite.words,
        "runs": sum(run.published for run in site.runs_of(suite)),
        "figures": len(site.published.by_suite.get(suite.id, ())),
        "frameworks": [(named(each), addresses.framework_page(suite, each)) for each in site.frameworks(suite)],
    }
