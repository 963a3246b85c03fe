"""The environment of all templates of pages: what they print is escaped unless we made the markup ourselves."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from traceback import extract_tb
from typing import TYPE_CHECKING

from perfledger import TEMPLATES, as_called
from perfledger.ingest.common.documents import DocumentError, read_text
from perfledger.ingest.common.errors import UsageError
from perfledger.ingest.common.toml_file import FileError, display_path
from perfledger.ingest.site.render.text import escape

if TYPE_CHECKING:
    from jinja2 import Environment


class TemplateError(UsageError):
    """A template is wrong; the message is `path:line: what is wrong`."""


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


@contextmanager
def located() -> Iterator[None]:
    """Add file and line to a mistake in a template; a fault of our modules keeps its traceback.

    Raises:
        TemplateError: for any of Jinja's errors, for words that are missing, and for a call that a template gets wrong.
    """
    from jinja2 import TemplateError as JinjaError
    from jinja2 import TemplateSyntaxError

    try:
        yield
    except TemplateSyntaxError as error:
        raise TemplateError(f"{display_path(Path(error.filename or ''))}:{error.lineno}: {error.message}") from None
    except Exception as error:
        frames = extract_tb(error.__traceback__)  # Jinja puts the lines of templates into tracebacks
        places = [
            f"{display_path(Path(each.filename))}:{each.lineno}: " for each in frames if _is_template(each.filename)
        ]
        if isinstance(error, JinjaError | FileError) or _is_template(frames[-1].filename):
            raise TemplateError(f"{''.join(places[-1:])}{type(error).__name__}: {error}") from None
        raise


def _is_template(file: str) -> bool:
    return file.endswith(".j2")


def _source(name: str) -> tuple[str, str, None] | None:
    """Return the text and the file of a template, as jinja2 asks for; commands in it are those of this installation."""
    path = TEMPLATES / "pages" / name
    if not path.is_file():
        return None
    try:
        return as_called(read_text(path)), str(path), None
    except DocumentError as error:
        raise TemplateError(f"{display_path(path)}:{error.line}: {error}") from None
