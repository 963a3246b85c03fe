"""Verify a built site: build it again from its logs and compare every byte, or check its hashes and links only."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote, urljoin, urlsplit

from perfledger import __version__
from perfledger.ingest.common import site_manifest
from perfledger.ingest.common.site_manifest import FILE, SiteManifest

if TYPE_CHECKING:
    from perfledger.ingest.build import Inputs

_LINK = re.compile(r'\s(?:href|src)="([^"]*)"')
#: Most files that the message names.
_SHOWN = 20


@dataclass(frozen=True)
class Verified:
    """The first files of a site that are wrong, a line each, and a summary."""

    wrong: tuple[str, ...]
    summary: str


def rebuilt(site: Path, inputs: Inputs) -> Verified:
    """Compare every byte of a site with a second build from the logs.

    Raises:
        UsageError: the folder has no manifest, or the site cannot be built again.
    """
    from perfledger import site as building

    built, found = site_manifest.read(site), site_manifest.hashes(site)
    wrong = site_manifest.differences(found, building.hashes_of_rebuild(built, inputs))
    stated = f"The pages state: address {built.address or 'unknown'}, commit {built.commit or 'unknown'}"
    if not wrong:
        return Verified((), f"{len(found)} files: every byte is as the logs give it. {stated}.")
    versions = f"It was built by perfledger {built.perfledger}; this is {__version__}"
    return Verified(_first(wrong), f"{_count(wrong)} from what the logs give. {stated}. {versions}.")


def fast(site: Path) -> Verified:
    """Compare the files of a site with its own manifest, and look for the targets of its links.

    Raises:
        UsageError: the folder has no manifest.
    """
    built, found = site_manifest.read(site), site_manifest.hashes(site)
    found.pop(FILE)
    wrong = [*site_manifest.differences(found, built.files), *_broken_links(site, built)]
    limits = f"Only hashes and links were checked, against {FILE} of the site itself. No log was read"
    first = _count(wrong) if wrong else f"{len(found)} files match their hashes, and their links lead to files"
    return Verified(_first(wrong), f"{first}. {limits}: give the logs to verify the site.")


def _first(wrong: Sequence[str]) -> tuple[str, ...]:
    more = [f"and {len(wrong) - _SHOWN} more"] if len(wrong) > _SHOWN else []
    return (*wrong[:_SHOWN], *more)


def _count(wrong: Sequence[str]) -> str:
    return f"{len(wrong)} difference{'' if len(wrong) == 1 else 's'}"


def _broken_links(site: Path, built: SiteManifest) -> Iterator[str]:
    """Yield links of pages to files that the site does not have; the address of the site may come first."""
    home = urlsplit(built.address or "/")
    for page in sorted(name for name in built.files if name.endswith(".html") and (site / name).is_file()):
        for link in sorted(set(_LINK.findall((site / page).read_text("utf-8", "replace")))):
            target = urlsplit(urljoin(f"{home.geturl()}{page}", link))
            below = unquote(target.path).removeprefix(home.path)
            if target[:2] == home[:2] and not _is_there(site / below):
                yield f"{page}: links to {link}, which the site does not have"


def _is_there(path: Path) -> bool:
    return (path / "index.html").is_file() or path.is_file()
