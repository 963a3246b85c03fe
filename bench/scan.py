"""All fields of a long PaddleClas log against a plain one-figure scan over the same bytes, mapped.

The log is one of our own, repeated: with its header once (one run), and whole (as many appended runs).
"""

from __future__ import annotations

from pathlib import Path

from bench.measure import Row, interleaved

LOG = Path("raw_logs") / "pplcnet" / "paddleclas"

_ONE_FIGURE = """
import mmap, re
with open(sys.argv[1], "rb") as stream, mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ) as mapped:
    figures = [0.0, 0]
    for match in re.finditer(rb"ips: ([\\d.]+) samples/sec", mapped):
        figures[0] += float(match[1])
        figures[1] += 1
"""

_ALL_FIELDS = """
from pathlib import Path
from parsers.engine.read import read
log = read(Path(sys.argv[1]))
assert log.sessions and all(len(each.main) for each in log.sessions)
"""


def rows(folder: Path, gib: float) -> list[Row]:
    """Measure one run of that length, and the whole log appended over and over."""
    log = sorted(LOG.glob("*static*/1/train.log"))[0].read_bytes()
    header, records = _split(log)
    found = []
    for what, first, repeated in (("one run", header, records), ("appended runs", b"", log)):
        path = folder / "long.log"
        _write(path, first, repeated, int(gib * (1 << 30)))
        plain, ours = interleaved((_ONE_FIGURE, _ALL_FIELDS), str(path))
        found.append(
            Row(f"all fields of {gib:g} GiB, {what}", ours.cpu, "one figure, plain re", plain.cpu, "3", ours.peak)
        )
        path.unlink()
    return found


def _split(log: bytes) -> tuple[bytes, bytes]:
    """Return the lines before the first record, and the rest."""
    at = log.rfind(b"\n", 0, log.index(b"train step:")) + 1
    return log[:at], log[at:]


def _write(path: Path, first: bytes, repeated: bytes, size: int) -> None:
    block = repeated * max(1, (8 << 20) // len(repeated))
    with path.open("wb") as stream:
        stream.write(first)
        while stream.tell() < size:
            stream.write(block)
