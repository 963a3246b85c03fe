"""MkDocs hook: everything around the pages: navigation, words of scripts, heads, feeds, sitemap, offline files.

With `site_url` all addresses are absolute, as their standards ask; without it the address of the site is unknown:
links are relative, and what must be absolute (canonical address, preview image, sitemap) is left out.
"""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit

import msgspec
import yaml
from mkdocs.plugins import event_priority
from mkdocs.structure.nav import Section
from mkdocs.utils import get_relative_url

from perfledger.ingest.common import words
from perfledger.schema.results import ChangeRecord

#: The names of languages for search engines and for previews.
LOCALES = {"en": "en_US", "zh": "zh_CN"}
CHANGES = Path("data") / "changes.json"
PREVIEW = "assets/social.png"
ENTRIES = 100
#: Lets the theme search without a worker. The theme's plugin would load it from elsewhere, unless it is there.
SHIM = "assets/vendor/iframe-worker.js"
#: Data of the page that compares results, and of the one that lists all runs.
LOADED = ("results.json", "comparisons.json", "explorer/*.json.gz")
#: Rendered once, in the default language's build; each language's build would write over the other's.
ONCE = {"404.html", "sitemap.xml", "robots.txt", "feed.xml", "zh/feed.xml"}
NO_CHANGE = "1970-01-01"
_NO_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


#: Files of the theme that no page asks for: maps for those who mend it, and its search, which ours replaces.
_UNUSED = re.compile(r"assets/(?:.*\.map|javascripts/(?:lunr|workers)/.*)")


@event_priority(100)
def on_config(config: Any) -> Any:
    """Extend the navigation; before the theme's plugin, give it its offline shim."""
    _table.cache_clear()
    config["extra"]["ui"] = {language: _table("ui", language) for language in LOCALES}
    pages = Path(config["docs_dir"]) / "en"
    config["nav"] = _extended(config["nav"], pages)
    config["extra"]["default_language"] = _default(config)
    config["extra"]["offline"] = _is_offline(config)
    if _is_offline(config):
        config["extra"]["polyfills"] = [SHIM]
    return config


def on_post_build(config: Any) -> None:
    """Offline, put the data that scripts read next to their files as scripts: pages from the disk cannot fetch."""
    folder = Path(config["site_dir"]) / "data"
    for path in [each for name in LOADED for each in folder.glob(name)] if _is_offline(config) else ():
        data = path.read_bytes()
        text = (gzip.decompress(data) if path.suffix == ".gz" else data).decode()
        name = path.relative_to(folder).as_posix().partition(".")[0]
        (folder / f"{name}.js").write_text(f"window.perfledger_{name.replace('/', '_')} = {text};\n", "utf-8")


def _is_offline(config: Any) -> bool:
    plugin = config["plugins"].get("offline") or config["plugins"].get("material/offline")
    return bool(plugin and plugin.config["enabled"])


def _extended(entry: Any, pages: Path) -> Any:
    """Return a part of the navigation; a list with such an index also lists the pages of its folder, once."""
    if isinstance(entry, dict):
        return {title: _extended(below, pages) for title, below in entry.items()}
    if not isinstance(entry, list):
        return entry
    listed = LISTED.get(str(entry[0]))
    first, *rest = (_extended(each, pages) for each in entry)
    found = listed(pages) if listed else []
    return [first, *found, *(each for each in rest if each not in found)]


def _models(pages: Path) -> list[Any]:
    return [path.relative_to(pages).as_posix() for path in sorted(pages.glob("models/*/index.md"), key=_order)]


def _in_folder(name: str, pages: Path) -> list[Any]:
    """Return the pages of a folder without its index, in the order that they state, then by title."""
    found = [path for path in pages.glob(f"{name}/*.md") if path.stem != "index"]
    return [path.relative_to(pages).as_posix() for path in sorted(found, key=_order)]


def _reports(folder: Path) -> list[Any]:
    """Return reports under the source that each states, in their order."""
    groups: dict[str, list[str]] = {}
    for path in sorted((each for each in folder.glob("*.md") if each.stem != "index"), key=_order):
        groups.setdefault(_stated(path, "group", ""), []).append(f"reports/{path.name}")
    return [{source: pages} if source and len(pages) > 1 else pages[0] for source, pages in groups.items()]


#: The function that lists the pages after an index in the navigation.
LISTED: Mapping[str, Callable[[Path], list[Any]]] = {
    "models/index.md": _models,
    "frameworks/index.md": partial(_in_folder, "frameworks"),
    "hardware/index.md": partial(_in_folder, "hardware"),
    "reports/index.md": lambda pages: _reports(pages / "reports"),
}


def _order(path: Path) -> tuple[int, str]:
    return (_stated(path, "order", 10_000), str(path))


def _stated(path: Path, name: str, usual: Any) -> Any:
    """Return what a page states in one line of its front matter; to read all of it would take longer."""
    found = re.search(rf"^{name}: (.*)$", path.read_text("utf-8"), re.MULTILINE)
    return yaml.safe_load(found[1]) if found else usual


def on_files(files: Any, **_: Any) -> Any:
    """Leave out what no page asks for: two megabytes."""
    for file in [each for each in files if _UNUSED.fullmatch(each.src_uri)]:
        files.remove(file)
    return files


def on_nav(nav: Any, files: Any, **_: Any) -> Any:
    """Put the pages that the navigation leaves out below those that lead to them: their tab stays the active one."""
    sections = {item.url: item.parent for item in nav.pages if item.parent}
    for file in files.documentation_pages():
        if file.page and file.page.parent is None and file.page not in nav.items:
            file.page.parent = _section(file.page.url, sections)
    return nav


def _section(url: str, sections: Mapping[str, Section]) -> Section | None:
    """Return the section of the nearest page above an address; None if the navigation has no page above it."""
    while url := "".join(f"{each}/" for each in url.split("/")[:-2]):
        if url in sections:
            return sections[url]
    return None


def on_page_context(context: Any, page: Any, config: Any, nav: Any) -> Any:
    """Set the context that theme/partials/publish/head.html prints under `head`."""
    language = config.theme["language"]
    below = _below(config, page.file, language)
    context["head"] = {
        "front": below == "",
        "alternates": [(each, _address(config, at + below, page.url)) for each, at in _folders(config).items()],
        "default": _address(config, below, page.url),
        "canonical": _absolute(config, _path(config, language, below)),
        "preview": _texts(config, language)["preview_of" if page.meta.get("image") else "preview"].replace(
            "{title}", str(page.meta.get("title"))
        ),
        "image": _absolute(config, page.meta.get("image") or PREVIEW),
        "locale": LOCALES[language],
        "other_locales": [LOCALES[each] for each in _folders(config) if each != language],
        "feed": _address(config, _path(config, language, "feed.xml"), page.url),
        "texts": _texts(config, language),
    }
    return context


def on_template_context(context: Any, template_name: str, config: Any) -> Any:
    """Give templates that are not pages, such as sitemap and feed, the lists they print."""
    if template_name == "sitemap.xml":
        context["addresses"] = _addresses(context["pages"], config)
    if template_name.endswith("feed.xml"):
        language = "zh" if template_name.startswith("zh/") else _default(config)
        context["feed"] = _feed(config, language)
    if template_name == "404.html":
        context["texts"] = {each: (at, _texts(config, each)) for each, at in _folders(config).items()}
    return context


def on_post_template(output_content: str, template_name: str, config: Any) -> str:
    """Keep the files for all languages that the default language's build made."""
    at = template_name.rpartition("/")[0]
    kept = template_name not in ONCE or config.theme["language"] == _default(config)
    return output_content if kept and (not at or f"{at}/" in _folders(config).values()) else ""


def _below(config: Any, file: Any, language: str) -> str:
    """Return a page's path below its language's folder, as its address ends."""
    path = str(file.dest_uri).removesuffix("index.html")
    return path.removeprefix(_folders(config)[language])


def _path(config: Any, language: str, below: str) -> str:
    return _folders(config)[language] + below


def _folders(config: Any) -> dict[str, str]:
    """Return the folder of each language, as `zh/`; that of the default language is the site's own."""
    languages = config.plugins["i18n"].config["languages"]
    return {each.locale: "" if each.default else f"{each.locale}/" for each in languages}


def _default(config: Any) -> str:
    return next(each for each, at in _folders(config).items() if not at)


def _absolute(config: Any, path: str) -> str | None:
    """Return the address of a file of the site; None without `site_url`."""
    return f"{config.site_url}{quote(path)}" if config.site_url else None


def _address(config: Any, path: str, page_url: str) -> str:
    return _absolute(config, path) or get_relative_url(path or ".", page_url)


@dataclass(frozen=True)
class Listed:
    """A page in the sitemap: its address, those in all languages, and that in the default language."""

    address: str | None
    alternates: list[tuple[str, str | None]]
    default: str | None


def _addresses(pages: Iterable[Any], config: Any) -> list[Listed]:
    """Return the pages in each language, without those that are not searched."""
    if not config.site_url:
        return []
    listed = [each for each in pages if each.page and not (each.page.meta.get("search") or {}).get("exclude")]
    below = sorted(_below(config, each, config.theme["language"]) for each in listed)
    folders = _folders(config)
    return [
        Listed(
            _absolute(config, at + path),
            [(each, _absolute(config, other + path)) for each, other in folders.items()],
            _absolute(config, path),
        )
        for path in below
        for at in folders.values()
    ]


@dataclass(frozen=True)
class FeedEntry:
    """A change in the feed, in words; `link` is the page of the result, and `runs` are the pages of the runs."""

    id: str
    title: str
    summary: str
    updated: str
    link: str
    runs: list[str]


@dataclass(frozen=True)
class Feed:
    """New and changed results, the newest first; `front` is the page that shows them."""

    language: str
    id: str
    texts: Mapping[str, str]
    front: str
    address: str
    updated: str
    entries: list[FeedEntry]


def _feed(config: Any, language: str) -> Feed:
    """Return the feed; it is empty without a changes.json."""
    path = Path(config.docs_dir) / CHANGES
    stated = json.loads(path.read_text("utf-8"))["changes"] if path.is_file() else []
    changes = msgspec.convert(stated, list[ChangeRecord])
    name = _path(config, language, "feed.xml")
    return Feed(
        language,
        _id(config, name),
        _texts(config, language),
        _absolute(config, _path(config, language, "")) or "./",
        _absolute(config, name) or "feed.xml",
        _moment(max((each.date for each in changes), default=NO_CHANGE)),
        [_entry(config, language, each) for each in changes[:ENTRIES]],
    )


def _entry(config: Any, language: str, change: ChangeRecord) -> FeedEntry:
    texts = _texts(config, language)
    figure = " ".join(filter(None, (change.after_text, change.unit)))
    sure = texts.get(f"grade_{change.grade}", "")
    known = {"after": figure, "before": change.before_text, "share": change.share_text, "sure": sure}
    case = _case(texts, language, change)
    brief, whole = (texts[change.kind].format(case=texts["comma"].join(each), **known) for each in (case[:3], case))
    return FeedEntry(
        _id(config, _path(config, language, f"{change.result}/{change.date}")),
        _xml(brief),
        _xml(whole),
        _moment(change.date),
        _linked(config, language, change.page),
        [_linked(config, language, each.page) for each in change.runs if each.page],
    )


def _case(texts: Mapping[str, str], language: str, change: ChangeRecord) -> list[str]:
    """Return the parts of the figure's case, the most important first."""
    software = " ".join(filter(None, (change.framework, change.framework_version)))
    sizes = {"devices": change.devices, "batch_size": change.batch_size}
    counts = [texts[name].format(n=n) for name, n in sizes.items() if n is not None]
    options = " ".join(f"{name}={value}" for name, value in sorted(change.options.items()))
    precision = _table("precision", language).get(str(change.precision)) or change.precision
    title = getattr(change.title, language)
    return list(filter(None, (title, software, change.hardware, *counts, precision, options, change.round)))


def _linked(config: Any, language: str, page: str) -> str:
    """Return a page's address relative to the language's folder, which also contains its feed."""
    return f"{_absolute(config, _path(config, language, '')) or ''}{page}"


def _id(config: Any, name: str) -> str:
    """Return a permanent identifier by RFC 4151, with the host that publishes the site."""
    at = urlsplit(config.site_url or "")
    return f"tag:{at.hostname or 'perfledger.invalid'},2026:{at.path.strip('/')}/{name}".replace(":/", ":", 1)


def _moment(date: str) -> str:
    return f"{date}T00:00:00Z" if "T" not in date else date


def _xml(text: str) -> str:
    """Return text without the characters that XML forbids."""
    return _NO_XML.sub("\ufffd", text)


def _texts(config: Any, language: str) -> Mapping[str, str]:
    """Return the words of `[publish]` in one language, the name of the site in them."""
    return _table("publish", language, config.site_name)


@cache
def _table(name: str, language: str, site: str = "") -> Mapping[str, str]:
    """Return a table of the words in one language, the name of the site in them."""
    found = words.own().table(name, language)
    return {key: text.replace("{site}", site) for key, text in found.items()}


def on_env(env: Any, **_: Any) -> Any:
    """Let templates leave out the lines and the indents of their own statements, which are a third of the output.

    They stay as they are while a site is built, so no page looks for changes.
    """

    @cache
    def translated(language: str, key: str) -> str:
        """Return words of the theme, for theme/partials/language.html."""
        own, english = (env.get_template(f"partials/languages/{each}.html").module for each in (language, "en"))
        return str(own.t(key) or english.t(key) or key)

    env.trim_blocks = env.lstrip_blocks = True
    env.auto_reload = False
    env.globals["translated"] = translated
    return env
