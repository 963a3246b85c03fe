"""The site of 20, 200 and 2,000 runs: `python -m ingest` from nothing, then `mkdocs build`, in processor seconds.

Each further run should cost no more in a large site than in a small one, and less where runs stand in lists. The runs
are our own logs again and again, on machines of other names, and some with other speeds: made up, good for measuring
time and for nothing else.
"""

from __future__ import annotations

import itertools
import os
import shutil
from dataclasses import dataclass
from pathlib import Path

from bench.growth import INGEST, put
from bench.measure import Row, Used, child

SIZES = (20, 200, 2000)
REPEATS = 5
HARDWARE = ("Made-up accelerator 1", "Made-up accelerator 2", "Made-up accelerator 3")
ROOT = Path(__file__).resolve().parents[1]

_MKDOCS = """
import os
os.chdir(sys.argv[1])
from mkdocs.__main__ import cli
cli(["build", "--strict", "--quiet"], standalone_mode=False)
"""


@dataclass(frozen=True)
class _Site:
    """What a site of so many runs took, and what it is: pages of both languages, and bytes of all files."""

    runs: int
    ingest: Used
    mkdocs: Used
    pages: int
    size: int

    @property
    def seconds(self) -> float:
        return self.ingest.cpu + self.mkdocs.cpu


def rows(folder: Path, gib: float) -> list[Row]:
    """Measure each size against the size before; then each further run between two sizes."""
    os.environ["NO_MKDOCS_2_WARNING"] = "1"
    found = [_measured(folder / f"site{size}", size) for size in SIZES]
    return [*itertools.chain(*map(_compared, found, [None, *found])), *_slopes(found)]


def _measured(folder: Path, size: int) -> _Site:
    tree(folder / "logs", size)
    shutil.copy(ROOT / "mkdocs.yml", folder)
    (folder / "report_templates").symlink_to(ROOT / "report_templates")
    ingest = child(INGEST, str(folder / "logs"), str(folder / "docs"))
    mkdocs = child(_MKDOCS, str(folder))
    files = [each for each in (folder / "site").rglob("*") if each.is_file()]
    pages = sum(each.suffix == ".html" for each in files)
    found = _Site(size, ingest, mkdocs, pages, sum(each.stat().st_size for each in files))
    shutil.rmtree(folder)
    return found


def tree(folder: Path, size: int) -> None:
    """Write the logs of so many runs below `folder`: cases of five repeats, of our models and frameworks in turn."""
    sources = sorted(each.parent for each in (ROOT / "raw_logs").glob("*/*/*/1/run.json"))
    step = next(each for each in (5, 7, 11) if len(sources) % each)  # neighbouring cases are of other models
    for number in range(size):
        case, repeat = divmod(number, REPEATS)
        source = sources[case * step % len(sources)]
        again, machine = divmod(case // len(sources), len(HARDWARE))
        put(folder, source, case, repeat, number, options={"case": again}, hardware=HARDWARE[machine])


def _compared(site: _Site, before: _Site | None) -> list[Row]:
    name, against = f"{site.runs:,} runs", f"{before.runs:,} runs" if before else ""
    described = f"{name}, mkdocs build: {site.pages:,} pages, {site.size / 2**20:.0f} MiB"
    goal = f"{site.runs / before.runs:.0f}" if before else ""
    return [
        Row(f"{name}, ingest", site.ingest.cpu, against, before.ingest.cpu if before else 0, goal, site.ingest.peak),
        Row(described, site.mkdocs.cpu, against, before.mkdocs.cpu if before else 0, goal, site.mkdocs.peak),
    ]


def _slopes(found: list[_Site]) -> list[Row]:
    """Return seconds per further run between two sizes, against those between the two sizes before."""
    steps = [
        (f"a further run, {less.runs:,} to {more.runs:,}", (more.seconds - less.seconds) / (more.runs - less.runs))
        for less, more in itertools.pairwise(found)
    ]
    first = Row(*steps[0], "", 0)
    return [first, *(Row(*after, *before, "1") for before, after in itertools.pairwise(steps))]
