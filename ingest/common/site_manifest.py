"""The manifest of a built site: the SHA-256 of each of its files, and the settings that a second build needs."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Literal

import msgspec

from perfledger.ingest.common.documents import MOST_OF_TABLE, cause, read_bytes
from perfledger.ingest.common.errors import UsageError
from perfledger.ingest.common.files import file_hash
from perfledger.schema.records import from_text

FILE = "data/site.json"
SCHEMA: Literal["perfledger.site/1"] = "perfledger.site/1"
#: Stands for the hash of a link, a pipe or a device: a build writes plain files only.
NOT_PLAIN = "not a plain file"


class SiteManifest(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The files of a site, and how it was built.

    `address` is empty and `commit` and `repository` are None if the build did not know them. `offline` says that the
    site can be read from the disk. A `standalone` site was built by `perfledger build`, without the user's mkdocs.yml.
    """

    schema: Literal["perfledger.site/1"]
    perfledger: str
    address: str
    commit: str | None
    repository: str | None
    offline: bool
    standalone: bool
    files: dict[str, Annotated[str, msgspec.Meta(pattern="^[0-9a-f]{64}$")]]


def hashes(site: Path) -> dict[str, str]:
    """Return the SHA-256 of each file below a folder, by its path; links are not followed."""
    found = {}
    for top, folders, names in os.walk(site):
        links = [each for each in folders if Path(top, each).is_symlink()]
        for name in (*names, *links):
            path = Path(top, name)
            plain = path.is_file() and not path.is_symlink()
            found[path.relative_to(site).as_posix()] = file_hash(path) if plain else NOT_PLAIN
    return dict(sorted(found.items()))


def write(site: Path, built: SiteManifest) -> None:
    """Write the manifest of a site, which all other files are in."""
    text = msgspec.json.format(msgspec.json.encode(built), indent=1) + b"\n"
    (site / FILE).parent.mkdir(exist_ok=True)
    (site / FILE).write_bytes(text)


def read(site: Path) -> SiteManifest:
    """Return the manifest of a built site.

    Raises:
        UsageError: the manifest is missing, or it cannot be read.
    """
    path = site / FILE
    try:
        return from_text(read_bytes(path, MOST_OF_TABLE), SiteManifest)
    except FileNotFoundError:
        raise UsageError(f"{path}: no such file; give the folder of a site that this version built") from None
    except (OSError, ValueError) as error:
        raise UsageError(f"{path}: cannot be read ({cause(error)}); build the site again") from None


def differences(found: Mapping[str, str], expected: Mapping[str, str]) -> list[str]:
    """Return a sentence for each file that differs, is missing, or was added."""
    return [
        f"{name}: {_difference(found.get(name), expected.get(name))}"
        for name in sorted(found.keys() | expected.keys())
        if found.get(name) != expected.get(name)
    ]


def _difference(found: str | None, expected: str | None) -> str:
    if found is None:
        return "is missing"
    if expected is None:
        return "was added"
    return "is not a plain file" if found == NOT_PLAIN else "has other bytes"
