"""Look for keys and passwords in files that are about to be committed, without ever printing them."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import islice
from pathlib import Path
from typing import IO

from perfledger.ingest.common.errors import UsageError
from perfledger.parsers.engine.scan import ScanError, open_log, unstyled
from perfledger.schema.redaction.redact import Finding, redacted, redacted_text

#: Lines that are searched together.
_LINES = 5_000
#: Bytes of a piece of a longer line, which is read piece by piece.
_LONGEST = 1 << 16


@dataclass
class SecretsFound:
    """The keys in files: a line for each key, and a summary; `unread` counts files that cannot be read."""

    lines: list[str] = field(default_factory=list)
    kinds: Counter[str] = field(default_factory=Counter)
    files: int = 0
    unread: int = 0

    @property
    def keys(self) -> int:
        """The number of keys and passwords."""
        return self.kinds["key"]


def check(paths: Sequence[Path], *, every: bool = False) -> SecretsFound:
    """Return the keys in the files below the paths; with `every`, addresses, names and paths, too.

    Raises:
        UsageError: a path does not exist.
    """
    found = SecretsFound()
    for path in (file for each in paths for file in files(each)):
        found.files += 1
        name = _shown(path)
        try:
            for each in found_in(path):
                found.kinds[each.kind] += 1
                if each.kind == "key" or every:
                    found.lines.append(f"{name}:{each.line}: {each.kind} ({each.rule})")
        except (OSError, EOFError, ValueError, ScanError) as error:
            found.unread += 1
            found.lines.append(f"{name}: cannot be read ({_cause(error)}), so it was not checked; repair or remove it")
    found.lines.append(_summary(found))
    return found


def _shown(path: Path) -> str:
    """Return a path with each part redacted alone, so that a private path can still be found."""
    text = path.as_posix().encode("utf-8", "surrogateescape").decode("utf-8", "replace")
    folder, slash, name = text.rpartition("/")
    return f"{_shown_folder(folder)}{slash}{redacted(name)}"


@lru_cache(1 << 10)
def _shown_folder(folder: str) -> str:
    return "/".join(map(redacted, folder.split("/")))


def _cause(error: Exception) -> str:
    if isinstance(error, ScanError):
        return error.code
    return getattr(error, "strerror", None) or type(error).__name__


def _summary(found: SecretsFound) -> str:
    others = ", ".join(f"{kind} {count}" for kind, count in sorted(found.kinds.items()) if kind != "key")
    rest = f"; redacted on pages as well: {others}" if others else ""
    return f"{found.files} files checked, keys and passwords found: {found.keys}{rest}"


def files(path: Path) -> Iterator[Path]:
    """Yield a file, or the files below a folder; pipes and devices are passed over, and never opened.

    Raises:
        UsageError: the path does not exist, or is neither a file nor a folder.
    """
    if not path.is_dir() and not path.is_file():
        raise UsageError(f"{path}: no such file or folder; give what is about to be committed")
    if path.is_file():
        yield path
        return
    for top, folders, names in os.walk(path):
        folders[:] = sorted(each for each in folders if each != ".git")
        yield from (found for name in sorted(names) if (found := Path(top, name)).is_file())


def found_in(path: Path) -> Iterator[Finding]:
    """Yield the findings in a file, whose lines count from 1, and in its name, which is line 0."""
    yield from (each._replace(line=0) for each in redacted_text([path.name])[1])
    with open_log(path) as stream:
        pieces = _pieces(stream)
        # The last line is searched again with the next ones: a key may begin on it and end there.
        last: list[tuple[int, str]] = []
        known: set[tuple[int, str]] = set()
        while some := list(islice(pieces, _LINES)):
            numbers, lines = zip(*last, *some, strict=True)
            seen = [each._replace(line=numbers[each.line]) for each in redacted_text(lines)[1]]
            yield from (each for each in seen if (each.line, each.rule) not in known)
            last, known = some[-1:], {(each.line, each.rule) for each in seen if each.line == some[-1][0]}


def _pieces(stream: IO[bytes]) -> Iterator[tuple[int, str]]:
    number = 1
    while piece := stream.readline(_LONGEST):
        yield number, unstyled(piece).decode("utf-8", "replace").rstrip("\n")
        number += piece.endswith(b"\n")
