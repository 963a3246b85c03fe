"""Lines that a command prints while runs go on."""

from __future__ import annotations

import sys
import time
from pathlib import Path

from perfledger import as_called
from perfledger.runners.job import RunnerError
from perfledger.runners.nodes import printable

#: How often a line says that a run goes on.
LIVE_SECONDS = 60
#: States that are printed at once.
AT_ONCE = ("unreachable", "busy")
#: Characters of a log's line that are printed.
LINE_WIDTH = 200


def complain(error: RunnerError) -> None:
    """Print an error; text of a host in it cannot move the cursor."""
    text = "\n".join(map(printable, str(error).splitlines()))
    print(f"runners: {as_called(text)}", file=sys.stderr, flush=True)


class Progress:
    """Prints how runs go: when one begins and ends, and a line a minute between."""

    def __init__(self, total: int | None) -> None:
        """Expect `total` runs; None where the number is not known beforehand."""
        self._of = f"/{total}" if total else ""
        self._begun = 0
        self._printed, self._kind = time.monotonic(), ""

    def begin(self, folder: Path) -> None:
        """Print that a run begins."""
        self._begun += 1
        self._printed, self._kind = time.monotonic(), ""
        print(f"[{self._begun}{self._of}] {folder}", flush=True)

    def state(self, kind: str, text: str) -> None:
        """Print the present state once a minute, and at once if the run waits, is out of reach, or is back."""
        at_once = kind != self._kind and (kind in AT_ONCE or self._kind == "unreachable")
        if at_once or time.monotonic() - self._printed >= LIVE_SECONDS:
            print(f"  {time.strftime('%H:%M:%S')} {printable(text)[:LINE_WIDTH]}", flush=True)
            self._printed = time.monotonic()
        self._kind = kind

    def line(self, text: str) -> None:
        """Print a line."""
        print(printable(text), flush=True)

    def end(self, folder: Path, outcome: str) -> None:
        """Print the outcome of a run."""
        self.line(f"{folder}: {outcome}")
