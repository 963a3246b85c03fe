"""Which logs a change of formats concerns: those that hold a marker of a format that changed, came or went.

All other logs read as before, so what earlier calls read of them stays.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path

import msgspec
from msgspec import Struct

from ingest.common.cache import Cache, key_of
from parsers.contract import Format
from parsers.engine.registry import PACKAGES, formats
from parsers.engine.scan import Noise, ScanError, chunks

_TOP = Path(__file__).resolve().parents[2]
_IMPORTED = re.compile(rf"^from (parsers\.(?:{'|'.join(PACKAGES)})\.\w+) import", re.MULTILINE)


class KnownFormats(Struct, frozen=True):
    """The formats at some time, by id: a hash of the code of each, and its markers as text."""

    code: Mapping[str, str]
    markers: Mapping[str, tuple[str, ...]]

    @property
    def digest(self) -> str:
        """A hash of all."""
        return key_of(msgspec.json.encode(self).decode())


@cache
def now() -> KnownFormats:
    """Return the formats as they are."""
    found = {each.id: each for each in formats()}
    code = {name: _code(_TOP / "parsers" / Path(*name.split("."))) for name in found}
    return KnownFormats(code, {name: _markers(each) for name, each in found.items()})


def modules() -> Iterator[Path]:
    """Yield the modules of single formats; what formats share is part of what every log depends on."""
    for package in (_TOP / "parsers" / name for name in PACKAGES):
        yield from (each for each in package.rglob("*.py") if each != package / "__init__.py")


class Concerned:
    """Tells which logs that were read with other formats those of now read differently.

    `mark` stands before the lines of what is read with those of now.
    """

    def __init__(self, cached: Cache) -> None:
        """Note the formats of now in the cache, for later calls."""
        self._cached, self.mark = cached, f"{now().digest}\n".encode()
        self._changed: dict[bytes, tuple[bytes, ...] | None] = {}
        cached.get_or_make(_key(now().digest.encode()), lambda: msgspec.json.encode(now()))

    def by_changes(self, mark: bytes, paths: Sequence[Path]) -> bool:
        """Return whether one of the logs holds a marker of a format that is another than at the time of the mark."""
        if mark not in self._changed:
            self._changed[mark] = self._markers_since(mark)
        markers = self._changed[mark]
        return markers is None or any(_holds(path, markers) for path in paths)

    def _markers_since(self, mark: bytes) -> tuple[bytes, ...] | None:
        """Return the markers of formats that have changed since; None if it is not known what was known then."""
        try:
            before = msgspec.json.decode(self._cached.get(_key(mark)) or b"", type=KnownFormats)
        except (ValueError, RecursionError):
            return None
        changed = {name for name, _ in before.code.items() ^ now().code.items()}
        found = {each for known in (before, now()) for name in changed for each in known.markers.get(name, ())}
        return tuple(sorted(each.encode("latin-1") for each in found))


def _key(digest: bytes) -> str:
    return key_of("formats", digest.decode("ascii", "replace"))


def _markers(format: Format) -> tuple[str, ...]:
    """Return what stands in every log that the format may have a part in; bytes as the characters of their numbers."""
    return tuple(sorted({each.decode("latin-1") for each in (format.marker, *(one.marker for one in format.frames))}))


def _code(module: Path) -> str:
    """Return a hash of a format and of those that it takes parts of; a module is given without its suffix."""
    files = sorted(module.glob("*.py")) if module.is_dir() else [module.with_suffix(".py")]
    text = "".join(each.read_text("utf-8") for each in files)
    others = (_code(_TOP / Path(*name.split("."))) for name in _IMPORTED.findall(text))
    return hashlib.sha256("\n".join([text, *others]).encode()).hexdigest()


def _holds(path: Path, markers: Sequence[bytes]) -> bool:
    try:
        return any(marker in chunk.text for chunk in chunks(path, Noise()) for marker in markers)
    except (ScanError, OSError):
        return True
