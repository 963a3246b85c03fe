"""The ledger's files: JSON Lines or Parquet, in a folder of this machine or in an object store.

A file of JSON Lines is of one folder of logs, so that git shows its changes. Of more than MANY_LOGS logs, or in a store
that the user names, the files are parts of a Parquet dataset; one changed log rewrites one part. The lines are the
same in both forms, one for each run.
"""

from __future__ import annotations

import hashlib
import io
import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from perfledger.ingest.common.documents import MOST_OF_SITE, DocumentError, read_bytes
from perfledger.ingest.common.errors import UsageError
from perfledger.ingest.common.files import refuse_ways_out, write_if_changed
from perfledger.ingest.read.objects import ObjectFolder, is_url, object_folder
from perfledger.schema.records import Run, from_text, text_of
from perfledger.schema.redaction.redact import redacted

if TYPE_CHECKING:
    import pyarrow as pa

#: The folder of the ledger below that of the pages.
FOLDER = Path("data") / "runs"
LINES = ".jsonl"
PART = ".parquet"
FORMS = (LINES, PART)
#: Average number of runs in a part of the dataset, at most.
_RUNS_OF_PART = 1_000
#: Level of zstd: a sixth smaller than the default level for 30 µs a run; higher levels save little more.
_LEVEL = 9
#: Version of the dataset, written into each part; a part of another version is not read.
VERSION = 1
#: Columns for queries; `line` is the whole record, whose schema is `run.schema.json`.
_TEXTS = ("id", "path", "sha256", "format", "outcome", "model", "framework", "hardware", "precision")
_COUNTS = ("session", "nodes", "devices", "batch_size")


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
    """A folder of an object store, which readers of the pages may not be able to read."""

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


Store = FolderStore | ObjectStore


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


def folders_of_files(runs: Mapping[str, Sequence[Run]], *, is_dataset: bool) -> dict[str, list[str]]:
    """Return the folders of each file of the ledger, in their order.

    Args:
        runs: runs by folder.
        is_dataset: whether files are parts of a dataset, or of JSON Lines.
    """
    folders = sorted(runs)
    names = part_names(folders, sum(map(len, runs.values()))) if is_dataset else file_names(folders)
    found: dict[str, list[str]] = defaultdict(list)
    for each in folders:
        found[names[each]].append(each)
    return found


def file_names(folders: Sequence[str]) -> dict[str, str]:
    """Return the file of JSON Lines of each folder; private names in a folder are redacted."""
    slugs = {each: _slug(redacted(each)) for each in folders}
    alike = {slug for slug, times in Counter(slugs.values()).items() if times > 1 or not slug}
    digest = {each: hashlib.sha256(each.encode()).hexdigest()[:8] for each in folders}
    return {
        each: f"{slug}-{digest[each]}{LINES}" if slug in alike else f"{slug}{LINES}" for each, slug in slugs.items()
    }


def _slug(folder: str) -> str:
    below = folder.partition("/")[2] or folder
    return re.sub(r"[^a-z0-9]+", "-", below.lower()).strip("-")[:120]


def part_names(folders: Collection[str], runs: int) -> dict[str, str]:
    """Return the file of the dataset for each folder; the number of files doubles with the runs."""
    count = 1
    while runs > count * _RUNS_OF_PART:
        count *= 2
    places = {each: int(hashlib.sha256(each.encode()).hexdigest()[:8], 16) % count for each in folders}
    return {each: f"runs-{place + 1:05d}-of-{count:05d}{PART}" for each, place in places.items()}


def in_order(runs: Sequence[Run]) -> list[Run]:
    """Return runs in the order of the lines of a file."""
    return sorted(runs, key=lambda each: (each.path, each.session))


def content(name: str, runs: Sequence[Run]) -> bytes:
    """Return the content of a file with these runs, in the form that its name says."""
    ordered = in_order(runs)
    lines = [text_of(each).encode() for each in ordered]
    return _part(ordered, lines) if name.endswith(PART) else b"".join(each + b"\n" for each in lines)


def lines_of(name: str, data: bytes) -> list[bytes]:
    """Return the lines of a file of the ledger.

    Raises:
        ValueError: the file is damaged, not of a dataset, or of another version.
    """
    if not name.endswith(PART):
        return data.splitlines()
    return [each.encode() for each in _table(data, ["line"])["line"].to_pylist()]


def runs_in(name: str, data: bytes) -> Iterator[Run]:
    """Yield the runs of a file of the ledger.

    Raises:
        ValueError: a line is not JSON, or the file is damaged.
        msgspec.ValidationError: a line is not a run.
    """
    return (from_text(each, Run) for each in lines_of(name, data))


def runs_named(name: str, data: bytes, ids: Collection[str]) -> list[Run]:
    """Return those of a file of a dataset that have one of the ids."""
    import pyarrow as pa
    from pyarrow import compute

    table = _table(data, ["id", "line"])
    chosen = table.filter(compute.is_in(table["id"], pa.array(sorted(ids), pa.string())))
    return [from_text(each.encode(), Run) for each in chosen["line"].to_pylist()]


def same(name: str, one: bytes, other: bytes | None) -> bool:
    """Return whether two contents of a file have the same lines; versions of Parquet's library differ in bytes."""
    if one == other or other is None or not name.endswith(PART):
        return one == other
    try:
        return lines_of(name, one) == lines_of(name, other)
    except ValueError:
        return False


def _part(runs: Sequence[Run], lines: Sequence[bytes]) -> bytes:
    """Return runs as Parquet: what queries select by, and the whole line."""
    import pyarrow as pa
    from pyarrow import parquet

    fields = [(each, pa.string()) for each in _TEXTS] + [(each, pa.int64()) for each in _COUNTS]
    schema = pa.schema([*fields, ("line", pa.string())], metadata={"perfledger": str(VERSION)})
    columns = [pa.array([_fact(run, name) for run in runs], kind) for name, kind in fields]
    stream = io.BytesIO()
    table = pa.Table.from_arrays([*columns, pa.array(lines, pa.string())], schema=schema)
    coded = [name for name, _ in fields]
    parquet.write_table(table, stream, compression="zstd", compression_level=_LEVEL, use_dictionary=coded)
    return stream.getvalue()


def _fact(run: Run, name: str) -> Any:
    return getattr(run, name, None) if name in run.__struct_fields__ else getattr(run.case, name)


def _table(data: bytes, columns: list[str]) -> pa.Table:
    import pyarrow as pa
    from pyarrow import parquet

    try:
        table = parquet.read_table(pa.BufferReader(data), columns=columns)
    except (pa.ArrowException, OSError, KeyError) as error:
        raise ValueError(f"is no file of the ledger: {error}") from None
    version = (table.schema.metadata or {}).get(b"perfledger", b"").decode("ascii", "replace")
    if version != str(VERSION):
        raise ValueError(f"is of version {version or 'unknown'} of the ledger, and this is {VERSION}: build it again")
    return table
