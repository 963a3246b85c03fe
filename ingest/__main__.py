"""Entry point of `python -m ingest`."""

import sys
import traceback

from ingest.cli import main

#: Exit code of a fault of ours; Python's own would be 1, which says that the site is built.
FAULT = 3

if __name__ == "__main__":
    try:
        sys.exit(main())
    except Exception:
        traceback.print_exc()
        print("ingest: a fault of Perfledger itself; please report it with the lines above", file=sys.stderr)
        sys.exit(FAULT)
