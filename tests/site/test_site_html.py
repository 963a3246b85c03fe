"""The built HTML: clean, complete in both languages, and never markup from outside."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path

import pytest

from ingest.site.render.text import plain
from tests import builders

FORBIDDEN = {"script", "iframe", "object", "embed", "form", "base", "meta", "link", "img"}


@dataclass
class Parsed(HTMLParser):
    """What a page's article holds, and the scripts and handlers of the whole page."""

    text: list[str] = field(default_factory=list)
    tags: list[str] = field(default_factory=list)
    scripts: list[str] = field(default_factory=list)
    handlers: list[str] = field(default_factory=list)
    links: list[str] = field(default_factory=list)
    asked: list[str] = field(default_factory=list)
    inside: int = 0
    raw: bool = False

    def __post_init__(self) -> None:
        super().__init__()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = dict(attrs)
        self.inside += tag == "article"
        self.raw = tag in ("script", "style")
        self.handlers += [name for name in values if name.startswith("on")]
        targets = [str(values[name]) for name in ("href", "src", "xlink:href", "action") if values.get(name)]
        self.links += targets
        self.asked += targets if tag != "a" else []  # what a browser fetches without being told to
        if tag == "script":
            self.scripts.append(str(values.get("src")))
        if self.inside:
            self.tags.append(tag)

    def handle_endtag(self, tag: str) -> None:
        self.inside -= tag == "article"
        self.raw = False

    def handle_data(self, data: str) -> None:
        if self.raw:
            self.scripts.append(data)
        elif self.inside:
            self.text.append(data)


def parsed(path: Path) -> Parsed:
    page = Parsed()
    page.feed(path.read_text("utf-8"))
    return page


def pages_of(site: Path) -> Iterator[Path]:
    found = sorted(site.rglob("*.html"))
    assert found
    return iter(found)


def test_no_text_becomes_markup_or_script(site: Path, hostile_site: Path) -> None:
    ours = {script for path in pages_of(site) for script in parsed(path).scripts}
    ours = {each.rsplit("/", 1)[-1] if each.startswith(("assets", "..", ".")) else each for each in ours}
    for path in pages_of(hostile_site):
        page = parsed(path)
        assert not FORBIDDEN & set(page.tags), path
        assert not page.handlers, path
        assert not [link for link in page.links if link.lower().startswith(("javascript", "data:", "vbscript"))], path
        for script in page.scripts:
            script = script.rsplit("/", 1)[-1] if script.startswith(("assets", "..", ".")) else script
            assert script in ours or '"base":' in script or "new URL(" in script, (path, script)


@pytest.mark.parametrize("index", range(len(builders.HOSTILE)))
@pytest.mark.parametrize("language", ["", "zh/"])
def test_hostile_text_is_shown_as_it_is(hostile_site: Path, index: int, language: str) -> None:
    page = parsed(hostile_site / f"{language}runs/hostile-{index}/index.html")
    wanted = "".join(plain(builders.HOSTILE[index]).split())
    assert wanted in "".join("".join(page.text).split())


def test_hostile_text_stays_text_in_the_search_index(hostile_site: Path) -> None:
    index = json.loads((hostile_site / "search" / "search_index.json").read_text("utf-8"))
    for entry in index["docs"]:
        searched = Parsed()
        searched.feed(f"<article>{entry['title']} {entry['text']}</article>")
        assert not FORBIDDEN & set(searched.tags)
        assert not searched.handlers


def test_titles_hold_no_markup(hostile_site: Path) -> None:
    for path in pages_of(hostile_site):
        head = path.read_text("utf-8").partition("<body")[0]
        title = head.partition("<title>")[2].partition("</title>")[0]
        assert "<" not in title
        assert ">" not in title


def test_no_page_asks_a_third_party(site: Path) -> None:
    for path in pages_of(site):
        page = parsed(path)
        assert page.asked, path
        assert not [link for link in page.asked if link.startswith(("http:", "https:", "//"))], path


def test_both_languages_have_the_same_pages(site: Path) -> None:
    english = {path.relative_to(site) for path in pages_of(site) if path.relative_to(site).parts[0] != "zh"}
    chinese = {path.relative_to(site / "zh") for path in (site / "zh").rglob("*.html")}
    assert english - chinese <= {Path("404.html")}
    assert chinese <= english


def test_data_are_published_with_the_site(site: Path) -> None:
    assert (site / "data" / "runs" / "test.jsonl").is_file()


def test_charts_are_in_the_page_and_their_ids_are_unique(site: Path) -> None:
    page = (site / "models" / "resnet50" / "index.html").read_text("utf-8")
    assert page.count("<svg role=") >= 4
    ids = [part.partition('"')[0] for part in page.split(' id="')[1:]]
    assert len(ids) == len(set(ids))


@pytest.mark.parametrize("language", ["", "zh/"])
def test_models_stand_in_the_navigation_in_their_order(site: Path, language: str) -> None:
    page = (site / language / "models" / "index.html").read_text("utf-8")
    navigation = page.partition('<nav class="md-nav md-nav--primary')[2].partition("</nav>\n</div>")[0]
    order = [navigation.find(f'href="{name}/"') for name in ("resnet50", "bert", "model-test-net-7")]
    assert order == sorted(order)
    assert min(order) > 0


def test_the_page_for_wrong_addresses_is_in_the_default_language(site: Path) -> None:
    assert '<html lang="en"' in (site / "404.html").read_text("utf-8")


def test_run_pages_are_not_searched(site: Path) -> None:
    for home in (site, site / "zh"):
        index = json.loads((home / "search" / "search_index.json").read_text("utf-8"))
        assert not [each for each in index["docs"] if "runs/resnet50" in each["location"]]
        assert any(each["location"].startswith("models/resnet50/") for each in index["docs"])
