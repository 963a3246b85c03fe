"""A tree of logs to the ledger, cold (nothing remembered), against importing pandas and matplotlib.figure.

The tree is the corpus of other people's logs where it lies beside the repository, otherwise our own.
"""

from __future__ import annotations

from pathlib import Path

from bench.measure import Row, interleaved

CORPUS = Path("..") / "shared" / "corpus" / "paddle-perf"

_LEDGER = """
import shutil
from pathlib import Path
from ingest import ledger
from ingest.walk import walk
root, layout, out = Path(sys.argv[1]), sys.argv[2], Path(sys.argv[3])
shutil.rmtree(out, ignore_errors=True)
found = walk([root])
collected = ledger.collect(found.inputs, layout, out / "docs", out / "memory.json")
ledger.write(collected, out / "docs", out / "memory.json")
"""

_IMPORTS = "import pandas, matplotlib.figure"


def rows(folder: Path, gib: float) -> list[Row]:
    """One row."""
    root, layout = (CORPUS, "paddle-perf") if CORPUS.is_dir() else (Path("raw_logs"), "perfledger")
    logs = sum(each.is_file() for each in root.rglob("*"))
    imports, ledger = interleaved((_IMPORTS, _LEDGER), str(root), layout, str(folder / "cold"), times=5)
    return [Row(f"{logs} files read, computed, in the ledger", ledger.wall, _IMPORTS, imports.wall, "2", ledger.peak)]
