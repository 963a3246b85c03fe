"""Turn faults of our own code while an input is read into a problem of that input; all others are published."""

from __future__ import annotations

import errno
import os
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from perfledger import PACKAGES
from perfledger.ingest.common.budget import VARIABLE, TooSlowError, limited, seconds_for
from perfledger.ingest.common.errors import UsageError
from perfledger.parsers.contract import FormatError
from perfledger.schema.records import Problem

#: Errors that a log cannot cause: a mistake in a file of the project, a format that contradicts the contract, a package
#: that is not installed. They would occur for every log, and end the command.
_OF_THE_PROJECT = (UsageError, FormatError, ImportError)

Found = TypeVar("Found")


def guarded(name: str, file: Path, read: Callable[[], Found]) -> Found | Problem:
    """Call `read` and return its result, or a problem of the input if `read` fails or takes too long.

    Args:
        name: name of the input on the site.
        file: the file that is read, whose size limits the time.
        read: reads the input.
    """
    try:
        with limited(seconds_for(file)):
            return read()
    except TooSlowError as error:
        return Problem("too_slow", name, args={"seconds": f"{error.seconds:.4g}", "variable": VARIABLE})
    except _OF_THE_PROJECT:
        raise
    except Exception as error:
        return fault(error, name)


def fault(error: Exception, path: str) -> Problem:
    """Return the problem for an exception: its kind, and the last place in our code.

    If the system refuses a file or memory, the problem is that the input is unreadable.
    """
    if isinstance(error, OSError | MemoryError):
        cause = getattr(error, "strerror", None) or os.strerror(errno.ENOMEM)
        return Problem("unreadable", path, args={"cause": cause})
    return Problem("fault", path, args={"kind": type(error).__name__, "place": _place(error)})


def _place(error: Exception) -> str:
    """Return `ingest/compute/rules.py:12 (name of the function)`; only the file's name if our code is not involved."""
    frames = traceback.extract_tb(error.__traceback__)
    ours = [each for each in frames if Path(each.filename).is_relative_to(PACKAGES)]
    last = (ours or frames)[-1]
    file = Path(last.filename).relative_to(PACKAGES).as_posix() if ours else Path(last.filename).name
    return f"{file}:{last.lineno} ({last.name})"
