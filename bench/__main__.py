"""`python -m bench [NAME...] [--gib N]`: run the measurements and print one table of ratios."""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

from bench import cold, growth, page, scan, site
from bench.measure import Row

MEASUREMENTS = {"scan": scan.rows, "cold": cold.rows, "growth": growth.rows, "site": site.rows, "page": page.rows}


def main() -> int:
    """Run the named measurements, or all."""
    from tabulate import tabulate

    parser = argparse.ArgumentParser(prog="python -m bench", description=main.__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"one or more of {', '.join(MEASUREMENTS)}")
    parser.add_argument("--gib", type=float, default=1.0, help="size of the long log in GiB (default 1)")
    options = parser.parse_args()
    if unknown := set(options.names) - set(MEASUREMENTS):
        print(
            f"bench: no measurement {', '.join(sorted(unknown))}; there are {', '.join(MEASUREMENTS)}", file=sys.stderr
        )
        return 2
    rows: list[Row] = []
    with tempfile.TemporaryDirectory() as folder:
        for name in options.names or MEASUREMENTS:
            print(f"measuring {name} ...", file=sys.stderr)
            rows += MEASUREMENTS[name](Path(folder), options.gib)
    headers = ["what", "seconds", "against", "seconds", "ratio", "goal", "peak MiB"]
    print(tabulate([each.cells() for each in rows], headers=headers, floatfmt=".2f"))
    return 0


if __name__ == "__main__":
    sys.exit(main())
