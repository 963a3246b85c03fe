"""A tree of logs to the ledger, cold (nothing remembered), against importing pandas and matplotlib.figure.

The tree is the corpus of other people's logs where it lies beside the repository, otherwise our own.
"""

from __future__ import annotations

from pathlib import Path

from bench.measure import Row, child, interleaved

CORPUS = Path("..") / "shared" / "corpus" / "paddle-perf"

_LEDGER = """
import shutil
from pathlib import Path
from ingest.read.walk import walk
from ingest.record import ledger
root, layout, out = Path(sys.argv[1]), sys.argv[2], Path(sys.argv[3])
shutil.rmtree(out, ignore_errors=True)
found = walk([root])
collected = ledger.collect(found.inputs, layout, out / "docs", out / "memory.json")
ledger.write(collected, out / "docs", out / "memory.json")
"""

_SITE = """
import contextlib, io, shutil
from ingest.cli import main
root, layout, out = sys.argv[1], sys.argv[2], sys.argv[3]
shutil.rmtree(out, ignore_errors=True)
with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
    main([root, "--layout", layout, "--jobs", "1", "--out", out + "/docs"])
"""

_IMPORTS = "import pandas, matplotlib.figure"


def rows(folder: Path, gib: float) -> list[Row]:
    """Measure the ledger alone, and with every page and chart of the site."""
    root, layout = (CORPUS, "paddle-perf") if CORPUS.is_dir() else (Path("raw_logs"), "perfledger")
    logs = sum(each.is_file() for each in root.rglob("*"))
    arguments = str(root), layout, str(folder / "cold")
    imports, ledger = interleaved((_IMPORTS, _LEDGER), *arguments, times=5)
    site = child(_SITE, *arguments)
    return [
        Row(f"{logs} files read, computed, in the ledger", ledger.wall, _IMPORTS, imports.wall, "2", ledger.peak),
        Row(f"{logs} files, with pages and charts", site.wall, "the ledger alone", ledger.wall, "", site.peak),
    ]
