"""Every link of a built site has a target: pages, anchors, files, tables, feeds, sitemap and search."""

from __future__ import annotations

import gzip
import json
import re
import xml.etree.ElementTree as ET
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urljoin, urlsplit

import pytest

from tests.site import markup
from tests.site.kinds import ADDRESS
from tests.site.markup import Element
from tests.site.test_explorer import rows_of

#: What a browser fetches by itself.
FETCHED = frozenset(
    [("img", "src"), ("script", "src"), ("source", "src"), ("iframe", "src"), ("video", "src"), ("audio", "src"),
     ("embed", "src"), ("object", "data"), ("image", "href"), ("image", "xlink:href"), ("use", "href"),
     ("use", "xlink:href"), ("video", "poster"), ("form", "action")]
)  # fmt: skip
FETCHED_LINKS = frozenset(
    ["stylesheet", "icon", "preload", "prefetch", "modulepreload", "preconnect", "dns-prefetch", "manifest"]
)
ADDRESSES = frozenset(["href", "src", "xlink:href", "action", "data", "poster", "cite"])
SITEMAP = {"s": "http://www.sitemaps.org/schemas/sitemap/0.9", "x": "http://www.w3.org/1999/xhtml"}
ATOM = {"a": "http://www.w3.org/2005/Atom"}


@dataclass(frozen=True)
class Link:
    """A link in a file of the site, as an absolute address; a browser follows a `fetched` one by itself."""

    file: str
    target: str
    fetched: bool = False


@pytest.fixture(params=["whole", "real"])
def built(request: Any) -> Path:
    """Return the small site that has everything, at a known address, or one as large as ours, at no known address."""
    found: Path = request.getfixturevalue(request.param)
    return found


def address(file: str) -> str:
    """Return the address of a file of the site."""
    return ADDRESS + re.sub(r"(^|/)index\.html$", r"\1", file)


@cache
def links_of(site: Path) -> tuple[Link, ...]:
    known = "sitemap.xml" in {each.name for each in site.iterdir()}
    found: list[Link] = []
    for path in markup.pages(site):
        if path.name == "404.html" and not known:
            continue  # a page that is shown at any depth cannot lead anywhere unless its site knows where it stands
        found += in_page(path.relative_to(site).as_posix(), markup.read(path))
    for path in (each for kind in ("css", "xml", "json", "gz", "js") for each in site.rglob(f"*.{kind}")):
        found += in_file(path.relative_to(site).as_posix(), path)
    return tuple(found)


def in_page(file: str, page: Element) -> Iterator[Link]:
    for each in page.elements():
        for name, value in each.given.items():
            if name in ADDRESSES:
                yield Link(file, urljoin(address(file), value), is_fetched(each, name))
            elif name == "srcset":
                yield from (Link(file, urljoin(address(file), part.split()[0]), True) for part in value.split(","))
            elif name == "style":
                yield from in_style(file, value)
            elif name == "content" and re.match("https?:", value):
                yield Link(file, value)
        if each.tag == "style":
            yield from in_style(file, "".join(part for part in each.children if isinstance(part, str)))
        if each.given.get("id") == "__config":
            config = json.loads("".join(part for part in each.children if isinstance(part, str)))
            base = urljoin(address(file), config["base"].rstrip("/") + "/")
            yield from (Link(file, each, True) for each in (base, base + "search/search_index.json"))
            yield Link(file, urljoin(address(file), config["search"]), True)


def is_fetched(element: Element, name: str) -> bool:
    if element.tag == "link":
        return not FETCHED_LINKS.isdisjoint(element.given.get("rel", "").split())
    return (element.tag, name) in FETCHED


def in_style(file: str, text: str) -> Iterator[Link]:
    text = re.sub(r"/\*.*?\*/", "", text, flags=re.DOTALL)
    for given in re.findall(r"""url\(\s*["']?(.*?)["']?\s*\)|@import\s+["'](.*?)["']""", text):
        yield Link(file, urljoin(address(file), given[0] or given[1]), True)


def in_file(file: str, path: Path) -> Iterator[Link]:
    if path.suffix == ".css":
        yield from in_style(file, path.read_text("utf-8"))
    elif path.name == "sitemap.xml":
        tree = ET.parse(path)
        yield from (Link(file, str(each.text)) for each in tree.iterfind("s:url/s:loc", SITEMAP))
        yield from (Link(file, each.get("href", "")) for each in tree.iterfind("s:url/x:link", SITEMAP))
    elif path.name == "feed.xml":
        links = ET.parse(path).iterfind(".//a:link", ATOM)
        yield from (Link(file, urljoin(address(file), each.get("href", ""))) for each in links)
    elif path.name == "search_index.json":
        docs = json.loads(path.read_text("utf-8"))["docs"]
        home = address(file.removesuffix("search/search_index.json"))
        yield from (Link(file, home + each["location"]) for each in docs)
    elif file in ("data/results.json", "data/changes.json"):
        yield from in_data(file, json.loads(path.read_text("utf-8")))
    elif path.suffix == ".gz" and path.parent.name == "explorer":
        rows = rows_of(json.loads(gzip.decompress(path.read_bytes())))
        pages = (row["page"].replace("*", row["slug"] or row["id"]) for row in rows)
        yield from (Link(file, f"{ADDRESS}{home}{page}") for page in pages for home in ("", "zh/"))
    elif path.suffix == ".json" and path.parent.name == "tables":
        yield Link(file, ADDRESS + json.loads(path.read_text("utf-8"))["page"])


def in_data(file: str, data: Any) -> Iterator[Link]:
    """Yield links for the pages that data name, in both languages."""
    if isinstance(data, list):
        for each in data:
            yield from in_data(file, each)
    elif isinstance(data, dict):
        for key, value in data.items():
            if key == "page" and value:
                yield from (Link(file, f"{ADDRESS}{home}{value}") for home in ("", "zh/"))
            else:
                yield from in_data(file, value)


@cache
def anchors(path: Path) -> frozenset[str]:
    given = [each.given for each in markup.read(path).elements()]
    return frozenset(each[name] for each in given for name in ("id", "name") if each.get(name))


def wrong(site: Path, target: str) -> str:
    """Return what is wrong with an address below that of the site, or an empty string if nothing is."""
    parts = urlsplit(target)
    path = site / unquote(parts.path).removeprefix(urlsplit(ADDRESS).path)
    path = path / "index.html" if target.partition("#")[0].partition("?")[0].endswith("/") else path
    if not path.is_file():
        return "no such file"
    fragment = unquote(parts.fragment)
    return "" if not fragment or path.suffix != ".html" or fragment in anchors(path) else "no such anchor"


def ours(target: str) -> bool:
    """Return whether an address is on the host of the site."""
    return urlsplit(target).netloc == urlsplit(ADDRESS).netloc


def test_every_link_leads_to_a_file_and_an_anchor_of_the_site(built: Path) -> None:
    found = links_of(built)
    targets = {each.target for each in found if ours(each.target)}
    assert len(targets) > 500
    outside = {each for each in targets if not each.startswith(ADDRESS)}
    broken = {each: why for each in targets - outside if (why := wrong(built, each))}
    told = [(each.file, each.target, broken.get(each.target)) for each in found if each.target in outside | set(broken)]
    assert told == []


def test_links_of_every_kind_were_looked_at(whole: Path) -> None:
    """Without this, a check that looks at no link would pass."""
    found = [each for each in links_of(whole) if ours(each.target)]
    files = {each.file for each in found}
    assert {
        "index.html",
        "zh/index.html",
        "404.html",
        "feed.xml",
        "zh/feed.xml",
        "sitemap.xml",
        "data/results.json",
    } < files
    assert {"search/search_index.json", "zh/search/search_index.json", "data/changes.json"} < files
    assert any(each.file.endswith(".css") for each in links_of(whole))
    assert any(each.startswith("data/explorer/") for each in files)
    targets = " ".join(each.target for each in found)
    for part in (".csv ", ".json ", "#L", "?run=", "/feed.xml ", "social.png ", "/zh/runs/", "schema.json "):
        assert part in targets, part


def test_nothing_is_fetched_from_elsewhere(built: Path) -> None:
    foreign = [each for each in links_of(built) if each.fetched and not is_own(each.target)]
    assert foreign == []


def is_own(target: str) -> bool:
    return ours(target) or target.startswith("data:")


#: Addresses that scripts and styles of others hold: of their licences, and of places to read more.
NAMED = re.compile(
    rb"https?://(?:www\.w3\.org/|github\.com/|fontawesome\.com|chasen\.org/~taku|narwhaljs\.org"
    rb"|msdn\.microsoft\.com/en-us/library/|wiki\.commonjs\.org/wiki/|en\.wikipedia\.org/wiki/|bit\.ly/2s3ChXG)"
)
#: What the theme would fetch: for browsers of before 2020, for diagrams, which we have none of, and the stars of a
#: repository, whose place in the header is a partial of ours. The visits of test_accessibility.py see none of it.
ASLEEP = re.compile(rb"https://(?:unpkg\.com/(?:resize-observer-polyfill|mermaid@)|api\.github\.com/)")


def test_scripts_and_styles_name_no_foreign_place_to_ask(built: Path) -> None:
    scripts = [each for kind in ("js", "css") for each in (built / "assets").rglob(f"*.{kind}")]
    assert len(scripts) > 10
    named = [(each.name, found) for each in scripts for found in foreign_in(each)]
    assert named == []


def foreign_in(path: Path) -> Iterable[bytes]:
    content = re.sub(rb"/\*.*?\*/", b"", path.read_bytes(), flags=re.DOTALL)
    found = re.findall(rb"""(?:https?:)?//[a-z0-9-]+(?:\.[a-z0-9-]+)+[^\s"'`)]*""", content)
    return [each for each in found if b"://" in each and not NAMED.match(each) and not ASLEEP.match(each)]
