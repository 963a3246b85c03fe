"""Logs in object stores (S3, Google Cloud, Azure, HTTP with WebDAV), through obstore: listed once, fetched to be read.

Credentials come from the environment, as obstore and each provider document them; none is part of an address here.
"""

from __future__ import annotations

import os
import posixpath
import re
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import timedelta
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import urlsplit

from perfledger.ingest.common.errors import UsageError
from perfledger.ingest.read.walk import COMPANIONS

if TYPE_CHECKING:
    from obstore.store import ObjectStore

_URL = re.compile(r"[a-z][a-z0-9+.-]+://", re.IGNORECASE)
SCHEMES = ("s3", "s3a", "gs", "az", "azure", "adl", "abfs", "abfss", "https", "http", "file")
#: Requests under way at once, for one folder of logs.
_AT_ONCE = 16
#: Attempts after errors of the server or the network, with growing pauses.
_RETRIES = 5
#: Seconds of all attempts together.
_RETRY_SECONDS = 60
#: Bytes of a part of an object that is fetched.
_CHUNK = 8 << 20
_Asked = TypeVar("_Asked")


def is_url(text: str) -> bool:
    """Return whether a path that the user names is the address of a store."""
    return bool(_URL.match(text))


@dataclass(frozen=True)
class StoredObject:
    """One object as a store lists it: its name below the store's folder, its bytes, and what changes with them."""

    name: str
    size: int
    tag: str


@dataclass(frozen=True)
class ObjectFolder:
    """A folder of an object store, or one object; `url` has neither user, password nor query.

    `single` is the name of the object, where the address is of one.
    """

    url: str
    single: str = ""

    @property
    def path(self) -> Path:
        """The path that the folder would have if stores were folders: host or bucket, and the folders below."""
        parts = urlsplit(self.url)
        return Path("/", parts.netloc, *(each for each in parts.path.split("/") if each not in ("", ".", "..")))

    def listed(self) -> list[StoredObject]:
        """Return all objects below the folder, by name; of one object, itself and the documents of its run.

        Raises:
            UsageError: the store refuses to list them, or does not answer.
        """
        from obstore import list as objects_below
        from obstore.exceptions import BaseError

        if self.single:
            return [each for name in (self.single, *sorted(COMPANIONS)) if (each := self._head(name))]
        client, prefix = _reached(self.url)
        try:
            parts = objects_below(client, prefix or None, chunk_size=1000)
            found = [_object(each, prefix) for part in parts for each in part]
        except (BaseError, OSError) as error:
            raise UsageError(f"{self.url}: the store cannot be listed: {cause(error)}") from None
        return sorted((each for each in found if each.name), key=lambda each: each.name)

    def _head(self, name: str) -> StoredObject | None:
        prefix = _reached(self.url)[1]
        return self._asked(name, lambda client, key: _object(client.head(key), prefix))

    def get(self, name: str) -> bytes | None:
        """Return the bytes of an object; None if it does not exist.

        Raises:
            UsageError: the store does not give it.
        """
        return self._asked(name, lambda client, key: bytes(client.get(key).bytes()))

    def put(self, name: str, data: bytes) -> None:
        """Write an object.

        Raises:
            UsageError: the store does not take it.
        """
        self._asked(name, lambda client, key: client.put(key, data))

    def remove(self, name: str) -> None:
        """Remove an object.

        Raises:
            UsageError: the store refuses.
        """
        self._asked(name, lambda client, key: client.delete(key))

    def _asked(self, name: str, ask: Callable[[Any, str], _Asked]) -> _Asked | None:
        from obstore.exceptions import BaseError, NotFoundError

        client, prefix = _reached(self.url)
        try:
            return ask(client, prefix + name)
        except (NotFoundError, FileNotFoundError):
            return None
        except (BaseError, OSError) as error:
            raise UsageError(f"{self.url}/{name}: {cause(error)}") from None

    def fetch(self, objects: Sequence[StoredObject], folder: Path) -> Mapping[str, Exception]:
        """Write objects below a folder, each as it was listed; return why some could not be had, by name."""
        # Imported here, not in the threads: side by side they may each see a part of a module that another imports.
        client, prefix = _reached(self.url)
        with ThreadPoolExecutor(_AT_ONCE) as threads:
            failed = threads.map(lambda each: _fetched(client, prefix, each, folder / each.name), objects)
            return {each.name: error for each, error in zip(objects, failed, strict=True) if error}


class ChangedObjectError(Exception):
    """An object that is no longer what was listed."""


def _fetched(client: Any, prefix: str, wanted: StoredObject, path: Path) -> Exception | None:
    """Write an object to a path; return why it could not be had."""
    from obstore.exceptions import BaseError

    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        # With its ETag, the store refuses an object that was replaced since it was listed.
        only = {"if_match": wanted.tag} if wanted.tag.startswith(('"', "W/")) else None
        given = client.get(prefix + wanted.name, options=only)
        with path.open("wb") as stream:
            for chunk in given.stream(min_chunk_size=_CHUNK):
                stream.write(chunk)
        if path.stat().st_size != wanted.size:
            raise ChangedObjectError
    except (BaseError, OSError, ChangedObjectError) as error:
        path.unlink(missing_ok=True)
        return error
    return None


def has_changed(error: Exception) -> bool:
    """Return whether an object could not be had because it was replaced, or removed, since it was listed."""
    from obstore.exceptions import NotFoundError, PreconditionError

    return isinstance(error, ChangedObjectError | PreconditionError | NotFoundError | FileNotFoundError)


def cause(error: Exception) -> str:
    """Return why a store gives nothing, in words of ours: those of the library may contain signed addresses."""
    from obstore import exceptions

    known: tuple[tuple[tuple[type[Exception], ...], str], ...] = (
        (
            (exceptions.PermissionDeniedError, PermissionError),
            "access is denied (403): check the credentials in the environment",
        ),
        ((exceptions.UnauthenticatedError,), "it asks for credentials (401): set them in the environment"),
        ((exceptions.NotFoundError, FileNotFoundError), "there is none of this name (404)"),
        ((exceptions.InvalidPathError,), "the name of an object has an empty part or `..`, which no folder can have"),
        ((exceptions.NotSupportedError,), "the server does not support it"),
    )
    if said := next((text for kinds, text in known if isinstance(error, kinds)), ""):
        return said
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    if "BadScheme" in str(error):
        return "its endpoint is plain HTTP: set AWS_ALLOW_HTTP=true in the environment to allow that"
    status = re.search(r"\b([45]\d\d) [A-Z]", str(error))
    return f"the server answers with {status[1]}" if status else "it does not answer, or the answer breaks off"


def object_folder(address: str) -> ObjectFolder:
    """Return the folder of an object store that has an address.

    Raises:
        UsageError: its kind is unknown, it names no bucket or contains credentials or a query, or obstore is not
            installed.
    """
    parts = urlsplit(address)
    shown = f"{parts.scheme}://{parts.hostname or ''}{parts.path}"
    if parts.scheme.lower() not in SCHEMES:
        raise UsageError(f"{shown}: is of no kind that can be read; give one of {', '.join(SCHEMES[:-1])}")
    if parts.query or parts.fragment or parts.username or parts.password:
        raise UsageError(f"{shown}: give the address alone, and credentials in the environment")
    if not parts.netloc and parts.scheme != "file":
        raise UsageError(f"{shown}: names no bucket or host")
    try:
        import obstore.exceptions
    except ImportError:
        raise UsageError(f"{shown}: object stores need one more package; run: python -m pip install obstore") from None
    url = f"{parts.scheme}://{parts.netloc}{posixpath.normpath(parts.path) if parts.path.strip('/') else ''}"
    found = ObjectFolder(url)
    try:
        _reached(url)
    except (obstore.exceptions.BaseError, OSError, ValueError):
        raise UsageError(f"{shown}: is no address of a store") from None
    return _single(found) or found


def _single(found: ObjectFolder) -> ObjectFolder | None:
    """Return the store of one object, where the address is of one and not of a folder."""
    from obstore.exceptions import BaseError

    folder, _, name = found.url.rpartition("/")
    # Web servers have a page for a folder as well, which lists it.
    is_page = found.url.startswith("http") and not Path(name).suffix
    if not name or folder.endswith("/") or is_page:
        return None
    try:
        client, prefix = _reached(folder)
        client.head(prefix + name)
    except (BaseError, OSError, ValueError):
        return None
    return ObjectFolder(folder, name)


def _reached(url: str) -> tuple[Any, str]:
    """Return the client of a folder, and the prefix of its objects' names there.

    Web servers list names as below their top, so that is where their clients begin.
    """
    parts = urlsplit(url)
    if parts.scheme.lower() not in ("http", "https"):
        return _client(url), ""
    below = parts.path.strip("/")
    return _client(f"{parts.scheme}://{parts.netloc}"), f"{below}/" if below else ""


@cache
def _client(url: str) -> Any:
    from obstore.store import from_url

    # Options given here take the place of those in the environment.
    plain = os.environ.get("AWS_ALLOW_HTTP", "").lower() in ("1", "true") or url.startswith("http://")
    client: ObjectStore = from_url(
        url,
        client_options={"timeout": "60s", "connect_timeout": "10s", "allow_http": plain},
        retry_config={"max_retries": _RETRIES, "retry_timeout": timedelta(seconds=_RETRY_SECONDS)},
    )
    return client


def _object(meta: Mapping[str, Any], prefix: str) -> StoredObject:
    tag = meta["e_tag"] or meta["last_modified"].isoformat()
    return StoredObject(str(meta["path"]).removeprefix(prefix), int(meta["size"]), str(tag))
