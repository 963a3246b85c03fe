"""How fast lines are redacted, against reading and computing the logs that they stand in."""

from __future__ import annotations

from pathlib import Path

from bench.measure import Row, in_turns
from bench.reading import read_tree, tree_of_logs

#: Longer lines are cut on pages as well.
_LONGEST = 2_000


def redaction(folder: Path, times: int = 3) -> list[Row]:
    """Compare redacting all lines of a tree of logs with reading and computing it."""
    root, layout = tree_of_logs()
    size = sum(len(line) for line in _lines(root))
    read, ours = in_turns((read_tree, _redact), root, layout, folder / "redaction", times=times)
    return [Row.of(f"{size / 2**20:.1f} MiB of lines redacted", ours, "the same logs read and computed", read, "0.5")]


def _lines(root: str | Path) -> list[str]:
    paths = (path for path in sorted(Path(root).rglob("*")) if path.is_file())
    texts = (path.read_text("utf-8", "replace") for path in paths)
    return [line[:_LONGEST] for text in texts for line in text.split("\n")]


def _redact(root: str, *_: str) -> None:
    from perfledger.schema.redaction.redact import redacted_text

    lines = _lines(root)
    assert len(redacted_text(lines)[0]) == len(lines)
