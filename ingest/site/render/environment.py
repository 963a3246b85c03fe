"""The environment of all templates of pages: what they print is escaped unless we made the markup ourselves."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from perfledger import TEMPLATES
from perfledger.ingest.site.render.text import escape

if TYPE_CHECKING:
    from jinja2 import Environment


@cache
def environment() -> Environment:
    """Return the environment, which is loaded only where a page is rendered."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    return Environment(
        loader=FileSystemLoader(TEMPLATES / "pages"),
        autoescape=True,
        finalize=escape,
        undefined=StrictUndefined,
        auto_reload=False,  # templates stay as they are while we run
        trim_blocks=True,
        lstrip_blocks=True,
    )
