"""The user's project: `perfledger.toml` in the current folder, and the formats, layouts, suites and words next to it.

`formats/*.py`, `layouts/*.toml`, `suites/*.toml` and `words.toml` are read in addition to ours, only from that folder:
a format is a program, and runs only if the file declares the folder a project.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Literal

import msgspec
from msgspec import Meta, Struct

from perfledger import project_folder
from perfledger.ingest.common.errors import UsageError
from perfledger.ingest.common.toml_file import TomlFile, read

FILE = "perfledger.toml"
_PARTS = ("formats", "layouts", "suites", "words.toml", FILE)

Address = Annotated[str, Meta(pattern=r"^https://")]
Color = Annotated[str, Meta(pattern=r"^#[0-9a-fA-F]{6}\Z")]


class Footer(Struct, frozen=True, forbid_unknown_fields=True):
    """A line of text in both languages."""

    en: str = ""
    zh: str = ""


class Project(Struct, frozen=True, forbid_unknown_fields=True):
    """The keys of `perfledger.toml`, which may all be left out.

    `title` is the site's name, `publisher` who publishes it, `home` their page, `address` where the site is published.
    `logo` is a file below the folder. `layouts` maps folders of logs to layouts. `formats_page` says whether the site
    describes every format, as Perfledger's own does.
    """

    title: str = ""
    publisher: str = ""
    home: Address | None = None
    address: Address | None = None
    logo: str = ""
    color: Color | None = None
    footer: Footer = Footer()
    languages: Annotated[tuple[Literal["en", "zh"], ...], Meta(min_length=1)] = ("en", "zh")
    layouts: dict[str, str] = {}
    formats_page: bool = False


def project() -> Project:
    """Return the project of `perfledger.toml`.

    Raises:
        FileError: it is not TOML, has an unknown key or a wrong value; the message names the line.
    """
    at = project_folder()
    return _read(at / FILE).data if at else Project()


def address() -> str:
    """Return the address where the site is published; empty if it is not known."""
    return os.environ.get("SITE_URL") or str(project().address or "")


def _read(path: Path) -> TomlFile[Project]:
    return read(path, Project)


#: Separator between the layout of all logs and those of folders (FOLDER=NAME).
_AND = ";"


def joined_layouts(layout: str, of_folders: Mapping[str, str]) -> str:
    """Join a layout and those of folders to one text, which `several_layouts` splits."""
    # Paths are compared as texts, so links and dots are not followed here either.
    whole = {os.path.normpath(Path(folder).absolute()): name for folder, name in of_folders.items()}
    return _AND.join([layout, *(f"{folder}={name}" for folder, name in whole.items())])


def several_layouts(text: str) -> tuple[str, dict[str, str]]:
    """Return the layout of all logs, and those of folders by their paths."""
    layout, *others = text.split(_AND)
    pairs = (each.rpartition("=") for each in others)
    return layout, {folder: name for folder, _, name in pairs}


def layout_files(text: str) -> list[Path]:
    """Return the files of layouts that a user names by their paths."""
    layout, of_folders = several_layouts(text)
    return [Path(each) for each in (layout, *of_folders.values()) if each.endswith(".toml")]


def wrong(keys: tuple[str | int, ...], what: str) -> UsageError:
    """Return an error to raise at some keys of `perfledger.toml`."""
    at = project_folder()
    return _read(at / FILE).wrong(keys, what) if at else UsageError(what)


def parts() -> Sequence[Path]:
    """Return the files and folders of the project that figures and pages depend on."""
    at = project_folder()
    return [at / each for each in _PARTS if (at / each).exists()] if at else []


def files(kind: str) -> list[Path]:
    """Return the project's own TOML files of one kind, `suites` or `layouts`, by name."""
    at = project_folder()
    return sorted((at / kind).glob("*.toml")) if at else []


def publisher() -> dict[str, object]:
    """Return the publisher of the site, in the form of `extra.publisher` of mkdocs.yml."""
    own, at = project(), project_folder()
    found = {
        "name": own.publisher, "url": own.home, "logo": str(at / own.logo) if at and own.logo else "",
        "color": own.color, "footer": msgspec.to_builtins(own.footer),
    }  # fmt: skip
    return {name: value for name, value in found.items() if value}
