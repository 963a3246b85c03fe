"""`python -m tests.faults`: put faults into a copy of the product, one at a time, and record which tests find them.

The faults are in `faults.toml`. The checkout itself is never changed. For each fault the tool runs the nearest test
files, or the tests that `--tests` names, or the reference of real logs, until something fails.

    python -m tests.faults --csv nearest.csv
    python -m tests.faults --csv parsers.csv --tests "tests/parsers --ignore=tests/parsers/test_pattern_growth.py"
    python -m tests.faults --csv reference.csv --reference
"""

from __future__ import annotations

import argparse
import csv
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
import tomllib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.corpus import ROOT, SHARED

FAULTS = Path(__file__).with_suffix(".toml")
REFERENCE = [sys.executable, "-m", "tests.reference"]
PYTEST = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider"]
#: Limit of a run in seconds; a fault that exceeds it counts as found.
LIMIT = 3600.0
#: pytest's summary, and the last line of the reference.
_FAILURE = re.compile(r"(?m)^(?:FAILED|ERROR) (?P<test>.+?)(?: - .*)?$|(?P<rows>[1-9][0-9]* moved)")


@dataclass(frozen=True)
class Fault:
    """A text of the product, its replacement, a description of the fault, and the test files that should find it."""

    name: str
    file: str
    old: str
    new: str
    wrong: str
    nearest: list[str]


def copy_of_checkout(folder: Path) -> Path:
    """Copy the checkout with uncommitted changes, so that tests find all files."""
    copy = folder / ROOT.name
    listed = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    for name in set(subprocess.check_output(listed, cwd=ROOT, text=True).split("\0")[:-1]):
        if (ROOT / name).is_file():
            (copy / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, copy / name)
    for path, link in ((SHARED, folder / "shared"), (ROOT / ".corpus", copy / ".corpus")):
        if path.exists():
            link.symlink_to(path.resolve())
    return copy


def first_failure(command: Sequence[str], copy: Path) -> str:
    """Run a command in the copy, and return the first failure, or an empty string."""
    # With CI Hypothesis has no deadline, and tries the same examples each time.
    environment = os.environ | {"CI": "true", "PYTHONDONTWRITEBYTECODE": ""}
    try:
        done = subprocess.run(command, cwd=copy, env=environment, capture_output=True, text=True, timeout=LIMIT)
    except subprocess.TimeoutExpired:
        return f"no end after {LIMIT:g} s"
    if done.returncode == 0:
        return ""
    if found := _FAILURE.search(done.stdout):
        return found["test"] or found["rows"]
    last = (done.stderr or done.stdout).strip().splitlines()[-1:]
    return f"exit {done.returncode}: {''.join(last)}"


def tried(fault: Fault, command: Sequence[str], copy: Path) -> tuple[str, str]:
    """Insert a fault, run the tests and remove it; return whether it is found, and the failed test."""
    path = copy / fault.file
    text = path.read_text("utf-8") if path.exists() else ""
    if (times := text.count(fault.old)) > 1:
        raise SystemExit(f"{fault.name}: its text occurs {times} times in {fault.file}; make it longer")
    if not times:
        return "not applicable any more", ""
    path.write_text(text.replace(fault.old, fault.new), "utf-8")
    by = first_failure(command, copy)
    # A busy machine may fail a test, too.
    is_steady = "::" not in by or first_failure([*PYTEST, by], copy) != ""
    path.write_text(text, "utf-8")
    return ("not found" if not by else "found" if is_steady else "fails once"), by


def main(arguments: Sequence[str] | None = None) -> int:
    """Try faults, and print and write the tests that find them."""
    parser = argparse.ArgumentParser(prog="python -m tests.faults", description=__doc__.partition("\n")[0])
    parser.add_argument("names", nargs="*", help="faults to try; all if none is named")
    parser.add_argument("--tests", type=shlex.split, help="arguments of pytest instead of the nearest files")
    parser.add_argument("--reference", action="store_true", help="run python -m tests.reference instead of tests")
    parser.add_argument("--csv", type=Path, required=True, help="the table to write")
    given = parser.parse_args(arguments)
    every = [Fault(**each) for each in tomllib.loads(FAULTS.read_text("utf-8"))["fault"]]
    faults = [each for each in every if not given.names or each.name in given.names]
    # Files may have been removed since the entry was written.
    targets = [given.tests or [one for one in each.nearest if (ROOT / one).exists()] for each in faults]
    if lost := [fault.name for fault, target in zip(faults, targets, strict=True) if not target]:
        parser.error(f"name other test files in {FAULTS.name}: those nearest to {', '.join(lost)} are gone")
    with tempfile.TemporaryDirectory(prefix="faults-") as folder, given.csv.open("w", newline="") as stream:
        copy = copy_of_checkout(Path(folder))
        before = REFERENCE if given.reference else [*PYTEST, *dict.fromkeys(one for each in targets for one in each)]
        if by := first_failure(before, copy):
            raise SystemExit(f"without any fault, {by} fails: {shlex.join(before)}")
        table = csv.writer(stream, lineterminator="\n")
        table.writerow(("name", "file", "result", "by", "seconds"))
        results = Counter[str]()
        for fault, target in zip(faults, targets, strict=True):
            begun = time.monotonic()
            found, by = tried(fault, REFERENCE if given.reference else [*PYTEST, *target], copy)
            seconds = f"{time.monotonic() - begun:.0f}"
            table.writerow((fault.name, fault.file, found, by, seconds))
            stream.flush()
            print(f"{fault.name:32}{found:25}{seconds:>5} s  {by}", flush=True)
            results[found] += 1
    print(", ".join(f"{count} {found}" for found, count in results.items()))
    return 0


if __name__ == "__main__":
    sys.exit(main())
