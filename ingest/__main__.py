"""Entry point of `python -m ingest`."""

import os
import sys
import traceback
from collections.abc import Callable
from typing import NoReturn

from perfledger import INSTALLED

#: Exit code of an internal error. Python's own, 1, would mean that the site is built.
FAULT = 3
#: Exit code of a missing package.
NOTHING = 2
#: Bytes of address space that one process needs to read a few logs and to write their pages; half of it is Arrow's.
LEAST_MEMORY = 600_000_000
_REMEDY = (
    "python -m pip install 'perfledger[site]'"
    if INSTALLED
    else "python -m pip install -r requirements/site.txt, or use the Python of `make site`"
)


def run(name: str, main: Callable[[], int]) -> NoReturn:
    """Run a program, and end with its exit code.

    Args:
        name: of the program, for messages.
        main: imports what it needs when it is called, so that a package that is missing gives a message.
    """
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # each thread takes address space, and has little to do
    _refuse_too_little_memory(name)
    try:
        sys.exit(main())
    except ModuleNotFoundError as error:
        print(
            f"{name}: {sys.executable} has no module {error.name}, so nothing was written: {_REMEDY}", file=sys.stderr
        )
        sys.exit(NOTHING)
    except ImportError as error:
        need = "free memory, or install the packages again"
        print(f"{name}: a package cannot be loaded, so nothing was written: {error}: {need}", file=sys.stderr)
        sys.exit(NOTHING)
    except Exception as error:
        from perfledger.parsers.contract import FormatError

        if isinstance(error, FormatError):  # A mistake in a module that a contributor writes, which names it.
            print(f"{name}: {error}", file=sys.stderr)
            sys.exit(NOTHING)
        traceback.print_exc()
        print(f"{name}: a bug in Perfledger; please report it with the lines above", file=sys.stderr)
        sys.exit(FAULT)


def _refuse_too_little_memory(name: str) -> None:
    """Say that the limit is too low: with less, NumPy's library may end the process by itself, with exit code 1."""
    import resource

    limit, _ = resource.getrlimit(resource.RLIMIT_AS)
    if limit != resource.RLIM_INFINITY and limit < LEAST_MEMORY:
        had, needed = (f"{each // 10**6} MB" for each in (limit, LEAST_MEMORY))
        print(f"{name}: {had} of address space is too little, so nothing was written: allow {needed}", file=sys.stderr)
        sys.exit(NOTHING)


def _main() -> int:
    from perfledger.ingest.cli import main

    return main()


if __name__ == "__main__":
    run("ingest", _main)
