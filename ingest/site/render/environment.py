"""The environment of all templates of pages: what they print is escaped unless we made the markup ourselves."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from perfledger import TEMPLATES, as_called
from perfledger.ingest.common.documents import DocumentError, read_text
from perfledger.ingest.common.toml_file import display_path
from perfledger.ingest.site.render.template_errors import TemplateError
from perfledger.ingest.site.render.text import escape

if TYPE_CHECKING:
    from jinja2 import Environment


@cache
def environment() -> Environment:
    """Return the environment, which is loaded only where a page is rendered."""
    from jinja2 import Environment, FunctionLoader, StrictUndefined

    return Environment(
        loader=FunctionLoader(_source),
        autoescape=True,
        finalize=escape,
        undefined=StrictUndefined,
        auto_reload=False,  # templates stay as they are while we run
        trim_blocks=True,
        lstrip_blocks=True,
    )


def _source(name: str) -> tuple[str, str, None] | None:
    """Return the text and the file of a template, as jinja2 asks for; commands in it are those of this installation."""
    path = TEMPLATES / "pages" / name
    if not path.is_file():
        return None
    try:
        return as_called(read_text(path)), str(path), None
    except DocumentError as error:
        raise TemplateError(f"{display_path(path)}:{error.line}: {error}") from None
