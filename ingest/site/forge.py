"""Addresses of the lines of a log on a forge, if the forge has the same lines as we.

Addresses contain the commit that is built, so that they always lead to the same lines. A log is shown on our own page
if the forge may lack its lines or have others: it is not committed or has changed, is compressed, is larger than forges
show, or contains NUL bytes or carriage returns, which some forges count as line breaks.
"""

from __future__ import annotations

import functools
import hashlib
import html
import json
import posixpath
import re
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote, urlsplit

from perfledger.parsers.engine.unpack import is_packed


@dataclass(frozen=True)
class Forge:
    """How a forge writes the address of a file's lines: of the file, of several lines, and of one."""

    file: str
    lines: str
    line: str = "#L{first}"


FORGES = {
    "github": Forge("{repo}/blob/{commit}/{path}", "#L{first}-L{last}"),
    "gitlab": Forge("{repo}/-/blob/{commit}/{path}", "#L{first}-{last}"),
    "gitea": Forge("{repo}/src/commit/{commit}/{path}", "#L{first}-L{last}"),
    "gitee": Forge("{repo}/blob/{commit}/{path}", "#L{first}-L{last}"),
    "bitbucket": Forge("{repo}/src/{commit}/{path}", "#lines-{first}:{last}", "#lines-{first}"),
}
#: Part of a host's name to the forge that runs there.
HOSTS = {
    "github": "github", "gitlab": "gitlab", "gitee": "gitee", "bitbucket.org": "bitbucket",
    "codeberg.org": "gitea", "gitea": "gitea", "forgejo": "gitea",
}  # fmt: skip
#: Larger files are offered by forges for download only.
LARGEST = 1_000_000

_STATED = re.compile(r'<meta name="log" content="([^"]*)">')
_LINK = re.compile(
    r'(?P<before>\]\(|href=")(?P<page>[^)"\s#]*\blogs/[^)"\s#/]+\.html)(?:#L(?P<first>\d+)(?:-L(?P<last>\d+))?)?(?=[)"])'
)


@dataclass(frozen=True)
class Checkout:
    """The commit that is built, and of its files those that lie here as they are there, below the folder of `root`."""

    root: Path
    commit: str
    prefix: str
    same: frozenset[str]


def forge_of(repository: str, named: str | None = None) -> Forge | None:
    """Return the forge of a repository: the named one, otherwise that of its host; None if unknown."""
    address = urlsplit(repository)
    if address.scheme not in ("http", "https"):
        return None
    host = str(address.hostname or "")
    return FORGES.get(named or next((kind for part, kind in HOSTS.items() if part in host), ""))


def checkout_of(folder: Path) -> Checkout | None:
    """Return the state of the checkout in a folder; None if it is not a checkout, or git is missing."""
    try:
        commit, prefix = git(folder, "rev-parse", "HEAD"), git(folder, "rev-parse", "--show-prefix")
        there = git(folder, "ls-tree", "-r", "-z", "--name-only", "HEAD")
        changed = git(folder, "diff", "--name-only", "-z", "--relative", "HEAD")
    except (OSError, subprocess.SubprocessError):
        return None
    same = frozenset(there.split("\0")) - frozenset(changed.split("\0")) - {""}
    return Checkout(folder, commit.strip(), prefix.strip("\n"), same)


def address_of(page: str, forge: Forge, checkout: Checkout, repository: str) -> str | None:
    """Return the forge's address of the log that a page shows, if the forge has the same lines."""
    stated = _STATED.search(page.partition("</head>")[0])
    path, sha256 = json.loads(html.unescape(stated[1])) if stated else ("", "")
    if path not in checkout.same or not _fit(checkout.root / path, sha256):
        return None
    full = quote(f"{checkout.prefix}{path}", safe="/")
    return forge.file.format(repo=re.sub(r"(\.git)?/*$", "", repository), commit=checkout.commit, path=full)


def relinked(markdown: str, page: str, forge: Forge, addresses: Mapping[str, str]) -> str:
    """Replace links to our pages of logs by the forge's, in Markdown and in HTML.

    Args:
        markdown: a page.
        page: its path.
        forge: how the forge writes the lines of a file.
        addresses: the log's address by the path of our page of it.
    """

    def there(link: re.Match[str]) -> str:
        address = addresses.get(posixpath.normpath(posixpath.join(posixpath.dirname(page), link["page"])))
        return f"{link['before']}{address}{_anchor(forge, link)}" if address else link[0]

    return _LINK.sub(there, markdown) if "logs/" in markdown else markdown


def git(folder: Path, *arguments: str) -> str:
    """Return the output of git in a folder."""
    done = subprocess.run(["git", *arguments], cwd=folder, capture_output=True, check=True, timeout=60)
    return done.stdout.decode("utf-8", "replace")


def _anchor(forge: Forge, link: re.Match[str]) -> str:
    if not link["first"]:
        return ""
    form = forge.lines if link["last"] else forge.line
    return form.format(first=link["first"], last=link["last"])


def _fit(path: Path, sha256: str) -> bool:
    """Return whether a log is the one that was read, and a forge shows it and counts its lines as we do."""
    try:
        state = path.stat()
    except OSError:
        return False
    return state.st_size <= LARGEST and not is_packed(path) and _same(path, state.st_mtime_ns, sha256)


@functools.lru_cache(maxsize=1 << 14)
def _same(path: Path, _time: int, sha256: str) -> bool:
    content = path.read_bytes()
    bare = b"\r" in content.replace(b"\r\n", b"\n") or b"\0" in content
    return not bare and hashlib.sha256(content).hexdigest() == sha256
