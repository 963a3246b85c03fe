"""MkDocs hook: who publishes the site, the foot of its pages, and how to cite one.

`extra.publisher` in mkdocs.yml gives the site a name, a logo, a color and a line in the footer. The footer states the
version, the day of the data, the commit, the license and the repository as far as they are known, on paper too.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec
from mkdocs.exceptions import PluginError
from mkdocs.plugins import event_priority
from mkdocs.structure.files import File

from perfledger import INSTALLED, LICENSE, __version__
from perfledger.ingest.common import words
from perfledger.ingest.common.project import Address, Color, Footer

CHANGES = Path("data") / "changes.json"
STYLES = "assets/css/publisher.css"
LOGOS = (".svg", ".png", ".webp")
#: The palest and the darkest ground of text, in the light and in the dark scheme.
GROUNDS = {"default": ("#ffffff", "#eef1f4"), "slate": ("#1c2027", "#2a303a")}
#: As WCAG asks of text, and some more.
CONTRAST = 4.8
#: Replaced by the address of the site in code that is to be copied.
SITE = "%SITE%/"
_SPECIAL = re.compile(r"[&%$#_{}]")


class SitePublisher(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Who publishes the site, as `extra.publisher` states it; all of it may be left out."""

    name: str = ""
    url: Address | None = None
    logo: str = ""
    color: Color | None = None
    footer: Footer = Footer()


@dataclass(frozen=True)
class Identity:
    """The facts of the footer, None if unknown; its words by language."""

    publisher: SitePublisher
    version: str
    license: str | None
    date: str | None
    commit: str | None
    repository: str | None
    words: Mapping[str, Mapping[str, str]]


@event_priority(-10)
def on_config(config: Any) -> Any:
    """Read who publishes the site, after the pages and their data are written."""
    publisher = _publisher(config)
    config["site_name"] = config["extra"].get("title") or publisher.name or config["site_name"]
    if publisher.logo:
        config["theme"]["logo"] = config["theme"]["favicon"] = _logo_path(publisher)
    if publisher.color:
        config["extra_css"].append(STYLES)
    config["extra"]["identity"] = _identity(config, publisher)
    return config


@event_priority(-200)
def on_files(files: Any, config: Any) -> Any:
    """Add the publisher's logo and colors, after the plugin for languages, which expects files of the folder alone."""
    publisher = _publisher(config)
    if publisher.logo:
        logo = (Path(config["config_file_path"]).parent / publisher.logo).resolve()
        if logo.suffix not in LOGOS or not logo.is_file():
            raise PluginError(f"mkdocs.yml: extra.publisher.logo: {logo} is no {', '.join(LOGOS)} file")
        files.append(File.generated(config, _logo_path(publisher), abs_src_path=str(logo)))
    if publisher.color:
        files.append(File.generated(config, STYLES, content=stylesheet(publisher.color)))
    return files


@event_priority(200)
def on_page_markdown(markdown: str, page: Any, config: Any, **_: Any) -> str:
    """Put the address of the site into code that embeds its pictures, before hooks/blocks.py takes the page."""
    of_framework = page.file.src_uri.partition("/")[2].startswith("frameworks/")
    return markdown.replace(SITE, config["site_url"] or "SITE/") if of_framework else markdown


def on_page_context(context: Any, page: Any, config: Any, **_: Any) -> Any:
    """Set how to cite a page."""
    language = config["theme"]["language"]
    title = str(page.meta.get("title") or page.title)
    context["cite"] = cite(config["extra"]["identity"], config["site_name"], language, title, page.canonical_url or "")
    return context


def cite(about: Identity, site: str, language: str, title: str, address: str) -> Mapping[str, str]:
    """Return BibTeX and Markdown that cite a page; without its address where that is not known."""
    texts = about.words[language]
    known = {"date": about.date, "commit": about.commit}
    note = texts["comma"].join(texts[f"of_{name}"].format(value=value) for name, value in known.items() if value)
    below = _key(address.partition("://")[2].partition("/")[2] or title)
    fields = {
        "author": about.publisher.name or "The Perfledger authors",
        "title": f"{{{title}}}",
        "howpublished": site,
        "year": (about.date or "")[:4],
        "note": note,
        "url": address,
    }
    lines = [f"  {name} = {{{_bibtex(name, value)}}}," for name, value in fields.items() if value]
    named = re.sub(r"([\\\[\]*_`<>])", r"\\\1", f"{title} – {site}")
    link = f"[{named}]({address})" if address else named
    return {
        "bibtex": "\n".join([f"@misc{{{_key(site)}-{below},", *lines, "}"]),
        "markdown": texts["comma"].join(filter(None, (link, note))),
    }


def _key(text: str) -> str:
    return "-".join(re.findall("[a-z0-9]+", text.lower())) or "page"


def _bibtex(name: str, value: str) -> str:
    """Return a value whose signs mean nothing to BibTeX; a title is in braces, which keep its capitals."""
    if name == "url":
        return value
    bare = value.replace("\\", "/")
    inner = bare[1:-1] if name == "title" else bare
    safe = _SPECIAL.sub(lambda found: f"\\{found[0]}", inner)
    return f"{{{safe}}}" if name == "title" else safe


# ---- what is known ----


def _publisher(config: Any) -> SitePublisher:
    try:
        return msgspec.convert(config["extra"].get("publisher") or {}, SitePublisher)
    except msgspec.ValidationError as error:
        raise PluginError(f"mkdocs.yml: extra.publisher: {error}") from None


def _logo_path(publisher: SitePublisher) -> str:
    return f"assets/publisher{Path(publisher.logo).suffix}"


def _identity(config: Any, publisher: SitePublisher) -> Identity:
    return Identity(
        publisher=publisher,
        version=__version__,
        license=None if INSTALLED else LICENSE,  # a lab's data have their own
        date=_date(Path(config["docs_dir"]) / CHANGES),
        commit=_commit(Path(config["config_file_path"]).parent),
        repository=config["repo_url"] or _repository(),
        words={language: words.own().table("footer", language) for language in words.LANGUAGES},
    )


def _date(changes: Path) -> str | None:
    """Return the day of the latest result, as in the feed."""
    found = json.loads(changes.read_text("utf-8"))["changes"] if changes.is_file() else []
    return max((str(each["date"]) for each in found), default=None)


def _commit(folder: Path) -> str | None:
    """Return the commit that the environment states, or else that of the checkout; None if it is not one."""
    stated = os.environ.get("PERFLEDGER_COMMIT") or os.environ.get("GITHUB_SHA")
    try:
        if stated:
            return stated
        command = ["git", "rev-parse", "HEAD"]
        done = subprocess.run(command, cwd=folder, capture_output=True, check=True, timeout=60, text=True)
        return done.stdout.strip()
    except (OSError, subprocess.SubprocessError):
        return None


def _repository() -> str | None:
    """Return the repository whose workflow builds the site, or the one that the environment names for it."""
    if stated := os.environ.get("PERFLEDGER_REPOSITORY"):
        return stated
    server, name = (os.environ.get(f"GITHUB_{each}") for each in ("SERVER_URL", "REPOSITORY"))
    return f"{server}/{name}" if server and name else None


# ---- colors ----


def stylesheet(color: str) -> str:
    """Return the color of links and marks in both schemes, made so dark or so light that it can be read there."""
    parts = (
        f'[data-md-color-scheme="{scheme}"] {{ --md-typeset-a-color: {shade}; --md-accent-fg-color: {shade}; }}\n'
        for scheme, shade in ((each, readable(color, each)) for each in GROUNDS)
    )
    return f"@media screen {{\n{''.join(parts)}}}\n"


def readable(color: str, scheme: str) -> str:
    """Return a color mixed with as little black or white as makes it readable in a scheme."""
    end = 0 if scheme == "default" else 255
    channels = _channels(color)
    mixed = (_hex([round(each + (end - each) * step / 100) for each in channels]) for step in range(101))
    return next(each for each in mixed if min(contrast(each, ground) for ground in GROUNDS[scheme]) >= CONTRAST)


def contrast(one: str, other: str) -> float:
    """Return the contrast of two colors as WCAG 2 defines it, from 1 to 21."""
    low, high = sorted((_luminance(one), _luminance(other)))
    return (high + 0.05) / (low + 0.05)


def _luminance(color: str) -> float:
    shares = [each / 255 for each in _channels(color)]
    linear = [each / 12.92 if each <= 0.04045 else ((each + 0.055) / 1.055) ** 2.4 for each in shares]
    return sum(weight * each for weight, each in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


def _channels(color: str) -> list[int]:
    return [int(color[at : at + 2], 16) for at in (1, 3, 5)]


def _hex(channels: list[int]) -> str:
    return "#" + "".join(f"{each:02x}" for each in channels)
