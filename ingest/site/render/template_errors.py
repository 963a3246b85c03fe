"""Report mistakes in templates with file and line instead of a traceback."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING

from perfledger import TEMPLATES
from perfledger.ingest.common.errors import UsageError
from perfledger.ingest.common.toml_file import FileError, did_you_mean, display_path

if TYPE_CHECKING:
    from jinja2 import TemplateNotFound

FOLDER = TEMPLATES / "pages"


class TemplateError(UsageError):
    """A template is wrong; the message is `path:line: what is wrong, and what to do`."""


@contextmanager
def located(template: str, names: Mapping[str, object]) -> Iterator[None]:
    """Add file and line to every error of a template.

    Args:
        template: the name of the page's template.
        names: names that templates may use, to suggest one for an unknown name.

    Raises:
        TemplateError: for any of Jinja's errors, for words that are missing, and for a call that a template gets wrong.
    """
    from jinja2 import TemplateError as JinjaError
    from jinja2 import TemplateNotFound, TemplateSyntaxError

    try:
        yield
    except TemplateSyntaxError as error:
        path = Path(error.filename or FOLDER / template)
        raise TemplateError(f"{display_path(path)}:{error.lineno}: {error.message}") from None
    except TemplateNotFound as error:
        raise _not_found(error, template) from None
    except (JinjaError, FileError) as error:
        raise TemplateError(f"{_place(error, template)}: {_cause(error, names)}") from None
    except Exception as error:
        # Raised by the template's own line, it is a call with other arguments, or an operation on the wrong thing.
        if frame := _last(error.__traceback__):
            raise TemplateError(f"{display_path(frame[0])}:{frame[1]}: {type(error).__name__}: {error}") from None
        if place := _frames(error.__traceback__):
            error.add_note(f"while {display_path(place[-1][0])}:{place[-1][1]} was rendered")
        raise


def _cause(error: Exception, names: Mapping[str, object]) -> str:
    if isinstance(error, FileError):
        return f"a word fails here: {error}"
    message = str(error)
    if undefined := re.fullmatch(r"'(\w+)' is undefined", message):
        near = did_you_mean(undefined[1], names)
        return message + (near if near.startswith("; did") else "; its names come from the page's context")
    return message


def _not_found(error: TemplateNotFound, template: str) -> TemplateError:
    known = [path.name for path in FOLDER.glob("*.j2")]
    frames = _frames(error.__traceback__)
    wanted = error.name or template
    near = did_you_mean(str(wanted), known)
    hint = near if near.startswith("; did") else ""
    if not frames:
        return TemplateError(
            f"{display_path(FOLDER / wanted)}: there is no such template, and a page is made of it{hint}"
        )
    return TemplateError(f"{display_path(frames[-1][0])}:{frames[-1][1]}: there is no template {wanted!r}{hint}")


def _place(error: Exception, template: str) -> str:
    frames = _frames(error.__traceback__)
    return f"{display_path(frames[-1][0])}:{frames[-1][1]}" if frames else display_path(FOLDER / template)


def _frames(traceback: TracebackType | None) -> list[tuple[Path, int]]:
    """Yield the lines of templates on the way to an error, the innermost last: Jinja puts them into tracebacks."""
    found = []
    while traceback:
        if traceback.tb_frame.f_code.co_filename.endswith(".j2"):
            found.append((Path(traceback.tb_frame.f_code.co_filename), traceback.tb_lineno))
        traceback = traceback.tb_next
    return found


def _last(traceback: TracebackType | None) -> tuple[Path, int] | None:
    """Return the template's line that raised an error, if it was raised in a template."""
    while traceback and traceback.tb_next:
        traceback = traceback.tb_next
    found = _frames(traceback)
    return found[-1] if found else None
