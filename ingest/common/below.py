"""Write and remove files only below our own folders, whatever their names and links."""

from __future__ import annotations

import errno
from collections.abc import Iterable
from pathlib import Path, PurePosixPath


def refuse_ways_out(top: Path, names: Iterable[str]) -> None:
    """Refuse files below `top` if one of their folders is a link, before any of them is written or removed.

    A link in the place of the file itself does no harm: the file replaces it.

    Raises:
        OSError: a folder is a link.
        ValueError: a name is absolute, or leads upwards; our own code does not make such names.
    """
    parents = {_inside(name).rpartition("/")[0] for name in names}
    folders = {folder for each in parents - {""} for folder in (PurePosixPath(each), *PurePosixPath(each).parents)}
    for folder in sorted(folders - {PurePosixPath(".")}):
        if (top / folder).is_symlink():
            raise OSError(errno.ELOOP, "is a link, which may lead to files of others: remove it", str(top / folder))


def _inside(name: str) -> str:
    if name.startswith("/") or ".." in name.split("/"):
        raise ValueError(f"{name} does not lie within our folder")
    return name
