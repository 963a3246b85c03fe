"""MkDocs hook: where `repo_url` is set, lines of a log are shown by the forge that holds it, and not by a page of ours.

Links carry the commit that is built, so that they keep leading to the same lines. A log stays on our own page where
its lines could not be found on the forge, or not be those that were read: it is not committed or has changed, is
compressed, larger than forges show, holds NUL bytes, or carriage returns, by which some of them count lines.
"""

from __future__ import annotations

import functools
import hashlib
import json
import logging
import posixpath
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit

from mkdocs.plugins import event_priority

LOG = logging.getLogger("mkdocs.hooks.forge")


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

_STATED = re.compile(r"^log: (\[.*\])$", re.MULTILINE)
_LINK = re.compile(
    r'(?P<before>\]\(|href=")(?P<page>[^)"\s#]*\blog\.md)(?:#L(?P<first>\d+)(?:-L(?P<last>\d+))?)?(?=[)"])'
)


@dataclass(frozen=True)
class Checkout:
    """The commit that is built, and of its files those that lie here as they are there, below the folder of `root`."""

    root: Path
    commit: str
    prefix: str
    same: frozenset[str]


#: The pages that are left out, by path, with the address of each one's log.
_LEFT_OUT: dict[str, str] = {}


def on_files(files: Any, config: Any) -> Any:
    """Leaves out the pages of logs that the forge shows."""
    _LEFT_OUT.clear()
    forge = _forge(config)
    checkout = _checkout(Path(config["config_file_path"]).parent) if forge else None
    if forge is None or checkout is None:
        return files
    for file in [each for each in files if re.fullmatch(r"\w+/runs/[^/]+/log\.md", each.src_uri)]:
        if address := _address(file, forge, checkout, str(config["repo_url"])):
            _LEFT_OUT[file.src_uri] = address
            files.remove(file)
    return files


@event_priority(200)
def on_page_markdown(markdown: str, page: Any, config: Any, files: Any) -> str:
    """Turns links to pages that are left out into the forge's, in Markdown and in HTML, before that goes round it."""
    if not _LEFT_OUT or "log.md" not in markdown:
        return markdown
    forge, folder = _forge(config), posixpath.dirname(page.file.src_uri)

    def there(link: re.Match[str]) -> str:
        address = _LEFT_OUT.get(posixpath.normpath(posixpath.join(folder, link["page"])))
        return f"{link['before']}{address}{_anchor(forge, link)}" if address and forge else link[0]

    return _LINK.sub(there, markdown)


def _anchor(forge: Forge, link: re.Match[str]) -> str:
    if not link["first"]:
        return ""
    form = forge.lines if link["last"] else forge.line
    return form.format(first=link["first"], last=link["last"])


def _forge(config: Any) -> Forge | None:
    """The forge of `repo_url`: the one that `extra.forge` names, otherwise that of its host; None where unknown."""
    address, named = urlsplit(str(config["repo_url"] or "")), config["extra"].get("forge")
    if address.scheme not in ("http", "https"):
        return None
    if named and named not in FORGES:
        LOG.warning("mkdocs.yml: extra.forge is %r; write one of %s.", named, ", ".join(FORGES))
    host = str(address.hostname or "")
    return FORGES.get(str(named or next((kind for part, kind in HOSTS.items() if part in host), "")))


def _address(file: Any, forge: Forge, checkout: Checkout, repository: str) -> str | None:
    """The address of the log that a page shows, if the forge has the same lines."""
    stated = _STATED.search(file.content_string.partition("\n---\n")[0])
    path, sha256 = json.loads(stated[1]) if stated else ("", "")
    if path not in checkout.same or not _fit(checkout.root / path, sha256):
        return None
    full = quote(f"{checkout.prefix}{path}", safe="/")
    return forge.file.format(repo=re.sub(r"(\.git)?/*$", "", repository), commit=checkout.commit, path=full)


def _fit(path: Path, sha256: str) -> bool:
    """Whether a log is the one that was read, and whether a forge shows it and counts its lines as we do."""
    try:
        state = path.stat()
    except OSError:
        return False
    return state.st_size <= LARGEST and path.suffix not in (".gz", ".zst") and _same(path, state.st_mtime_ns, sha256)


@functools.lru_cache(maxsize=1 << 14)
def _same(path: Path, _time: int, sha256: str) -> bool:
    content = path.read_bytes()
    bare = b"\r" in content.replace(b"\r\n", b"\n") or b"\0" in content
    return not bare and hashlib.sha256(content).hexdigest() == sha256


def _checkout(folder: Path) -> Checkout | None:
    """What git says of the folder; None where it is no checkout, or there is no git."""
    try:
        commit, prefix = _git(folder, "rev-parse", "HEAD"), _git(folder, "rev-parse", "--show-prefix")
        there = _git(folder, "ls-tree", "-r", "-z", "--name-only", "HEAD")
        changed = _git(folder, "diff", "--name-only", "-z", "--relative", "HEAD")
    except (OSError, subprocess.SubprocessError):
        return None
    same = frozenset(there.split("\0")) - frozenset(changed.split("\0")) - {""}
    return Checkout(folder, commit.strip(), prefix.strip("\n"), same)


def _git(folder: Path, *arguments: str) -> str:
    done = subprocess.run(["git", *arguments], cwd=folder, capture_output=True, check=True, timeout=60)
    return done.stdout.decode("utf-8", "replace")
