"""The list of models."""

from __future__ import annotations

from dataclasses import dataclass

from perfledger.ingest.common.words import phrase
from perfledger.ingest.site import addresses
from perfledger.ingest.site.model import Page, Site, Suite, named
from perfledger.ingest.site.render.table import Link


@dataclass(frozen=True)
class ListedModel:
    """A model with the numbers of its published runs and of figures that others published, and its frameworks."""

    suite: Suite
    page: str
    runs: int
    figures: int
    frameworks: tuple[Link, ...]


@dataclass(frozen=True)
class ModelsPage:
    """The list of models."""

    models: tuple[ListedModel, ...]


def pages(site: Site) -> list[Page]:
    """Return the list of models."""
    described = phrase("nav.models"), phrase("describe.models")
    return [
        Page(
            addresses.MODELS,
            "models",
            *described,
            lambda: ModelsPage(tuple(_listed(site, each) for each in site.shown)),
        )
    ]


def _listed(site: Site, suite: Suite) -> ListedModel:
    return ListedModel(
        suite,
        addresses.model_page(suite),
        sum(run.published for run in site.runs_of(suite)),
        len(site.published.by_suite.get(suite.id, ())),
        tuple(Link(named(each), addresses.model_page(suite, framework=each)) for each in site.frameworks(suite)),
    )
