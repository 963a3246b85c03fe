"""Stores of the ledger's files: a folder of this machine, or an object store."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from perfledger.ingest.common.below import refuse_ways_out
from perfledger.ingest.common.documents import MOST_OF_SITE, DocumentError, read_bytes
from perfledger.ingest.common.errors import UsageError
from perfledger.ingest.common.files import write_if_changed
from perfledger.ingest.read.objects import ObjectFolder, is_url, object_folder
from perfledger.ingest.record.ledger_files import FORMS

#: The folder of the ledger below that of the pages.
FOLDER = Path("data") / "runs"


class Store(Protocol):
    """Files of the ledger by name.

    `label` is their folder or address, and `is_of_pages` says whether that is the folder of the pages' data.
    """

    @property
    def label(self) -> str: ...  # noqa: D102

    @property
    def is_of_pages(self) -> bool: ...  # noqa: D102

    def names(self) -> list[str]:
        """Return the names of the ledger's files."""

    def get(self, name: str) -> bytes | None:
        """Return the content of a file; None if it is missing or cannot be read."""

    def put(self, name: str, data: bytes) -> bool:
        """Write a file; return False if it has these bytes already."""

    def remove(self, name: str) -> None:
        """Remove a file."""


@dataclass(frozen=True)
class FolderStore:
    """A folder of this machine, by default that of the pages' data."""

    top: Path
    below: Path = FOLDER

    @property
    def label(self) -> str:
        """The folder."""
        return str(self.top / self.below)

    @property
    def is_of_pages(self) -> bool:
        """Whether readers of the pages can load its files."""
        return self.below == FOLDER

    def names(self) -> list[str]:
        """Return the names of the ledger's files."""
        folder = self.top / self.below
        return sorted(path.name for form in FORMS for path in folder.glob(f"*{form}"))

    def get(self, name: str) -> bytes | None:
        """Return the content of a file; None if it is missing or cannot be read."""
        try:
            return read_bytes(self.top / self.below / name, MOST_OF_SITE)
        except (OSError, DocumentError):
            return None

    def put(self, name: str, data: bytes) -> bool:
        """Write a file; return False if it has these bytes already."""
        refuse_ways_out(self.top, [str(self.below / name)])
        return write_if_changed(self.top / self.below / name, data)

    def remove(self, name: str) -> None:
        """Remove a file."""
        refuse_ways_out(self.top, [str(self.below / name)])
        (self.top / self.below / name).unlink(missing_ok=True)


@dataclass(frozen=True)
class ObjectStore:
    """A folder of an object store: whoever reads the pages may not read it."""

    folder: ObjectFolder
    is_of_pages = False

    @property
    def label(self) -> str:
        """The address."""
        return self.folder.url

    def names(self) -> list[str]:
        """Return the names of the ledger's files."""
        return [each.name for each in self.folder.listed() if "/" not in each.name and each.name.endswith(FORMS)]

    def get(self, name: str) -> bytes | None:
        """Return the content of an object; None if it is missing."""
        return self.folder.get(name)

    def put(self, name: str, data: bytes) -> bool:
        """Write an object; return False if it has these bytes already."""
        if self.get(name) == data:
            return False
        self.folder.put(name, data)
        return True

    def remove(self, name: str) -> None:
        """Remove an object."""
        self.folder.remove(name)


def store_of(given: str, out: Path) -> Store:
    """Return the store that the user names; without a name, the folder of the pages' data.

    Raises:
        UsageError: it is a file, or no address that can be used, or an object store that refuses to list it.
    """
    if not given:
        return FolderStore(out)
    if is_url(given):
        found = ObjectStore(object_folder(given))
        found.names()
        return found
    if Path(given).exists() and not Path(given).is_dir():
        raise UsageError(f"--ledger {given}: is a file; give a folder, or the address of one in an object store")
    return FolderStore(Path(given), Path())
