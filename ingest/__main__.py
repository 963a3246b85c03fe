"""Entry point of `python -m ingest`."""

import sys
import traceback

from ingest.cli import main

#: Exit codes of an internal error and of a missing package; Python's own, 1, means that the site is built.
FAULT, NOTHING = 3, 2

if __name__ == "__main__":
    try:
        sys.exit(main())
    except ModuleNotFoundError as error:
        need = "python -m pip install -r requirements/site.txt, or use the Python of `make site`"
        print(f"ingest: {sys.executable} has no module {error.name}, so nothing was read: {need}", file=sys.stderr)
        sys.exit(NOTHING)
    except Exception as error:
        from parsers.contract import FormatError

        if isinstance(error, FormatError):  # A mistake in a module that a contributor writes, which names it.
            print(f"ingest: {error}", file=sys.stderr)
            sys.exit(NOTHING)
        traceback.print_exc()
        print("ingest: a fault of Perfledger itself; please report it with the lines above", file=sys.stderr)
        sys.exit(FAULT)
