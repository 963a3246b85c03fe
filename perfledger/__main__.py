"""The command `perfledger`, also `python -m perfledger`."""

from __future__ import annotations

import sys

NOTHING = 2


def main() -> None:
    """Run the command and end with its exit code: 0, all was understood; 1, some inputs were not; 2, nothing was."""
    if sys.platform == "win32":
        print("perfledger: Windows is not supported: use it in WSL, where it works as on Linux", file=sys.stderr)
        sys.exit(NOTHING)
    from perfledger.ingest.__main__ import run

    run("perfledger", _main)


def _main() -> int:
    from perfledger.commands import main

    return main()


if __name__ == "__main__":
    main()
