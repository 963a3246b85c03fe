"""`python -m tests.reference`: recompute the figures of all real logs, and print the figures that moved.

With `--accept` the computed figures become the reference.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence

from tests import reference


def main(arguments: Sequence[str] | None = None) -> int:
    """Compare or accept.

    Returns:
        0 if nothing moved or all was accepted, 1 if something moved.
    """
    parser = argparse.ArgumentParser(prog="python -m tests.reference", description=__doc__)
    parser.add_argument("--accept", action="store_true", help="write what was computed to tests/reference/figures.csv")
    accept = parser.parse_args(arguments).accept
    begun = time.monotonic()
    before, trees = reference.accepted(), reference.trees()
    now = reference.computed(trees)
    skipped = reference.absent(before, now, trees)
    found = list(reference.moved({key: row for key, row in before.items() if key not in skipped}, now))
    for sentence in found:
        print(sentence)
    figures = sum(bool(row["value"]) for row in now.values())
    print(
        f"{len(now)} runs of {len(trees)} trees, {figures} with a figure, {len(found)} moved; "
        f"{len(skipped)} rows skipped, whose logs are not here; {time.monotonic() - begun:.0f} s"
    )
    if accept:
        reference.write([*now.values(), *(before[key] for key in skipped)])
        print(f"written to {reference.FIGURES.relative_to(reference.ROOT)}")
        return 0
    if found:
        print("If this is meant, say why in the commit message and accept it: make reference ACCEPT=1", file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
