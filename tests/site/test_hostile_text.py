"""Text from outside is shown as text, wherever it comes from and wherever it goes: pages, drawings, feeds, tables."""

from __future__ import annotations

import csv
import html
import json
import re
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from perfledger.ingest.common.words import own
from perfledger.ingest.site.render import jinja
from perfledger.ingest.site.render.chart import Chart, Dot, Dots, Panel
from perfledger.ingest.site.render.text import plain
from tests.site import markup, planted
from tests.site.markup import Element

WORDS = own()
#: Hosts that the planted sources and our own words name.
HOSTS = {"", "example.org", "example.net", "github.com", "json-schema.org"}
ADDRESSES = {"href", "src", "xlink:href", "action", "formaction", "srcset", "data", "poster"}
#: Shown in another form: shortened, split, or as what a file of another encoding holds.
UNLIKE = {"surrogate", "null", "lines", "return", "tabbed", "long"}
#: What a drawing is made of.
DRAWN = {"svg", "title", "desc", "a", "g", "path", "polyline", "circle", "text", "rect"}
#: What a spreadsheet takes for the beginning of a formula, in half and in full width.
FORMULA = ("=", "+", "-", "@", "\uff1d", "\uff0b", "\uff0d", "\uff20")
NUMBER = re.compile(r"[+-]?\d+(?:\.\d+)?(?:e[+-]?\d+)?")


def elements(site: Path, *tags: str) -> Iterator[tuple[Path, Element]]:
    return ((path, each) for path in markup.pages(site) for each in markup.read(path).elements(*tags))


@cache
def shapes(site: Path) -> frozenset[tuple[str, str]]:
    """Return which elements a site has, and which attributes each has."""
    return frozenset((each.tag, name) for _, each in elements(site) for name in ("", *each.given))


def outputs(site: Path, *ends: str) -> list[Path]:
    found = [path for path in sorted(site.rglob("*")) if path.name.endswith(ends) and path.is_file()]
    return [each for each in found if "assets" not in each.relative_to(site).parts]


def test_no_page_has_an_element_or_attribute_that_the_templates_do_not_make(planted_site: Path, whole: Path) -> None:
    assert shapes(planted_site) - shapes(whole) == frozenset()


def test_every_link_leads_to_the_site_or_to_a_source(planted_site: Path) -> None:
    for path, each in elements(planted_site):
        for name in ADDRESSES & set(each.given):
            address = urlsplit(each.given[name].strip())
            assert address.scheme in ("", "https"), (path, each.given)
            assert address.netloc in HOSTS, (path, each.given)


def test_scripts_and_styles_are_those_of_the_templates(planted_site: Path) -> None:
    for path, each in elements(planted_site, "script", "style"):
        assert "src" in each.given or each.given.get("type") == "application/json" or path.name == "404.html", path
    for path, each in elements(planted_site):
        style = each.given.get("style", "")
        assert "evil" not in style + each.given.get("class", ""), path
        assert re.fullmatch(r"[\w.:-]+", each.given.get("id", "none")), (path, each.given)
        assert "url(" not in style.replace("url(#", ""), path


@pytest.mark.parametrize("language", ["en", "zh"])
def test_every_text_can_be_read_as_it_is(planted_site: Path, language: str) -> None:
    paths = [path for path in markup.pages(planted_site) if ("zh" in path.parts) == (language == "zh")]
    found = "".join("".join(markup.read(path).text() for path in paths).split())
    texts = {key: "".join(plain(text).split()) for key, text in planted.TEXTS.items() if key not in UNLIKE}
    assert [key for key, text in texts.items() if text not in found] == []
    assert len(texts) > 45


def test_nothing_is_computed_or_included(planted_site: Path) -> None:
    for path in outputs(planted_site, ".html", ".json", ".jsonl", ".csv", ".xml", ".svg", ".js"):
        text = path.read_text("utf-8")
        assert planted.PRODUCT not in text, path
        assert planted.CANARY not in text, path
    assert (planted_site / "data" / "canary.txt").read_text("utf-8") == planted.CANARY  # MkDocs could have read it


def test_no_cell_begins_a_formula(planted_site: Path) -> None:
    tables, quoted = outputs(planted_site, ".csv"), 0
    for path in tables:
        with path.open(encoding="utf-8", newline="") as stream:
            for cell in (cell for row in csv.reader(stream) for cell in row):
                quoted += cell.startswith("'")
                assert NUMBER.fullmatch(cell) or not cell.lstrip().startswith(FORMULA), (path, cell)
    assert {"published.csv", "audit.csv", "results.csv"} <= {path.name for path in tables}
    assert quoted > 10


def test_data_are_json_that_holds_the_texts_unchanged(planted_site: Path) -> None:
    for path in outputs(planted_site, ".json", ".jsonl"):
        for document in path.read_bytes().splitlines() if path.suffix == ".jsonl" else [path.read_bytes()]:
            json.loads(document)
    results = json.loads((planted_site / "data" / "results.json").read_text("utf-8"))["results"]
    known = " ".join(each["framework"] for each in results if each["origin"] == "measured")
    assert [
        key for key in ("image", "script", "expression", "equals", "cdata") if planted.TEXTS[key] not in known
    ] == []


def test_data_within_pages_are_json(planted_site: Path) -> None:
    for _, each in elements(planted_site, "script"):
        if "src" not in each.given:
            json.loads("".join(map(str, each.children)))


def test_feeds_and_the_sitemap_are_well_formed(planted_site: Path) -> None:
    for path in outputs(planted_site, ".xml"):
        assert ET.fromstring(path.read_text("utf-8")).tag.startswith("{http")
    for name in ("feed.xml", "zh/feed.xml"):
        titles = [
            each.text or "" for each in ET.parse(planted_site / name).iter("{http://www.w3.org/2005/Atom}summary")
        ]
        assert any(planted.TEXTS["image"] in title for title in titles), titles


def test_drawings_are_well_formed_and_only_draw(planted_site: Path) -> None:
    pattern = re.compile(r'<svg class="pl-svg .*?</svg>', re.DOTALL)
    drawings = [found for path in markup.pages(planted_site) for found in pattern.findall(path.read_text("utf-8"))]
    assert drawings
    for each in drawings:
        found = {part.tag.rpartition("}")[2] for part in ET.fromstring(each).iter()}
        assert found <= DRAWN, found - DRAWN


@pytest.mark.parametrize("text", planted.TEXTS.values())
def test_a_text_in_a_chart_is_text_in_its_drawing(text: str) -> None:
    row = Dot(label=text, series=text, value=1.0, text=f"1 {text}", about=text)
    chart = Chart("a", Dots(title=text, unit=text, panels=(Panel(text, (row, row)),)), text)
    root = ET.fromstring(jinja._figure(WORDS, "en", chart, str))
    for drawn in root.iter("svg"):
        assert {part.tag for part in drawn.iter()} <= DRAWN
        assert drawn.get("aria-label") == plain(text)
        assert [each.text.splitlines() for each in drawn.iter("title")] == [[plain(text), plain(f"1 {text}")]] * 2


def test_what_is_searched_is_plain_text_as_it_is(planted_site: Path) -> None:
    """The search worker escapes it; `test_planted_in_browser` looks at what it shows."""
    for folder in ("", "zh/"):
        index = json.loads((planted_site / folder / "search" / "search_index.json").read_text("utf-8"))
        assert len(index["docs"]) > 20
        known = " ".join(f"{each['title']} {each['text']}" for each in index["docs"])
        signs = {key: " ".join(text.split()) for key, text in planted.TEXTS.items() if "<" in text or "&" in text}
        assert [key for key, text in signs.items() if text in known]
        assert not [key for key, text in signs.items() if html.escape(text, quote=False) in known]
