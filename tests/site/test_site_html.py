"""The built HTML: no markup from logs, charts within pages, and what is searched."""

from __future__ import annotations

import json
import posixpath
import re
from pathlib import Path

import pytest

from ingest.site.render.text import plain
from tests import builders
from tests.site import markup
from tests.site.markup import Element

FORBIDDEN = {"script", "iframe", "object", "embed", "base", "meta", "link"}
#: Our own choices of what a page shows, which send nothing anywhere.
FORMS = {"pl-choose", "pl-filters"}
#: The pictures with which pages of frameworks are shared, by names that are slugs.
SHARED = re.compile(r"(\.\./)+share/[a-z0-9-]+\.png")


def scripts(page: Element) -> list[str]:
    """Return the names of the files of a page's scripts, and the code within it."""
    return [
        posixpath.basename(each.given["src"]) if "src" in each.given else "".join(map(str, each.children))
        for each in page.elements("script")
    ]


def handlers(page: Element) -> list[str]:
    return [name for each in page.elements() for name in each.given if name.startswith("on")]


def test_no_text_becomes_markup_or_script(site: Path, hostile_site: Path) -> None:
    ours = {script for path in markup.pages(site) for script in scripts(markup.read(path))}
    for path in markup.pages(hostile_site):
        page = markup.read(path)
        inside = list(markup.article(path).elements())
        assert not FORBIDDEN & {each.tag for each in inside}, path
        assert all(SHARED.fullmatch(each.given.get("src", "")) for each in inside if each.tag == "img"), path
        forms = [each.given for each in inside if each.tag == "form"]
        assert all(each.get("class") in FORMS and "action" not in each for each in forms), path
        assert not handlers(page), path
        links = [
            each.given.get(name, "") for each in page.elements() for name in ("href", "src", "xlink:href", "action")
        ]
        assert not [each for each in links if each.lower().startswith(("javascript", "data:", "vbscript"))], path
        for script in scripts(page):
            assert script in ours or '"base":' in script, (path, script)


@pytest.mark.parametrize("index", range(len(builders.HOSTILE)))
def test_hostile_text_is_shown_as_it_is(hostile_site: Path, index: int) -> None:
    wanted = "".join(plain(builders.HOSTILE[index]).split())
    for language in ("", "zh/"):
        page = markup.article(hostile_site / f"{language}runs/hostile-{index}/index.html")
        assert wanted in "".join(page.text().split())


def test_hostile_text_stays_text_in_the_search_index(hostile_site: Path) -> None:
    index = json.loads((hostile_site / "search" / "search_index.json").read_text("utf-8"))
    for entry in index["docs"]:
        searched = markup.parsed(f"{entry['title']} {entry['text']}")
        assert not FORBIDDEN & {each.tag for each in searched.elements()}
        assert not handlers(searched)


def test_titles_hold_no_markup(hostile_site: Path) -> None:
    for path in markup.pages(hostile_site):
        head = path.read_text("utf-8").partition("<body")[0]
        title = head.partition("<title>")[2].partition("</title>")[0]
        assert "<" not in title
        assert ">" not in title


def test_data_are_published_with_the_site(site: Path) -> None:
    assert (site / "data" / "runs" / "test.jsonl").is_file()


def test_charts_are_in_the_page_and_their_ids_are_unique(site: Path) -> None:
    page = (site / "models" / "resnet50" / "index.html").read_text("utf-8")
    assert page.count("<svg role=") == 3
    ids = [part.partition('"')[0] for part in page.split(' id="')[1:]]
    assert len(ids) == len(set(ids))


@pytest.mark.parametrize("language", ["", "zh/"])
def test_models_stand_in_the_navigation_in_their_order(site: Path, language: str) -> None:
    page = (site / language / "models" / "index.html").read_text("utf-8")
    navigation = page.partition('<nav class="md-nav md-nav--primary')[2].partition("</nav>\n</div>")[0]
    order = [navigation.find(f'href="{name}/"') for name in ("resnet50", "bert", "model-test-net-7")]
    assert order == sorted(order)
    assert min(order) > 0


def test_run_pages_are_not_searched(site: Path) -> None:
    for home in (site, site / "zh"):
        index = json.loads((home / "search" / "search_index.json").read_text("utf-8"))
        assert not [each for each in index["docs"] if "runs/resnet50" in each["location"]]
        assert any(each["location"].startswith("models/resnet50/") for each in index["docs"])


def test_no_page_shows_markdown(site: Path) -> None:
    """Words are escaped: emphasis and links in them would be shown as they are typed."""
    typed = re.compile(r"\*\*[^*\s]|\]\([\w./#-]+\)")
    shown = {
        str(path.relative_to(site)): found
        for path in markup.pages(site)
        if (found := typed.findall(markup.article(path).text(lambda each: each.tag in {"pre", "code"})))
    }
    assert shown == {}
