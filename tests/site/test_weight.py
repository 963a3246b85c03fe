"""How much a browser loads of a site as large as ours, with all published figures."""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import pytest

from perfledger.ingest.common.words import LANGUAGES
from tests.site.conftest import ROOT

FRONT_PAGE = 150_000
ALL_RUNS = 250_000
TALL = 6000
#: The page of our own ResNet-50, which has most results, with its evidence open.
RESNET = 2750
#: Lists, which are as long as what they list, and the one text that is read from its beginning to its end.
#: Reports have every table of their source open.
MAY_BE_TALLER = re.compile(r"(data|method|problems)/|.*(runs|log|changes)/|reports/")
INDEX = 100_000


def home(site: Path, language: str) -> Path:
    return site if language == "en" else site / language


def packed(path: Path) -> int:
    """Return the bytes that GitHub Pages sends: compressed, where that helps."""
    content = path.read_bytes()
    return min(len(content), len(gzip.compress(content, 6)))


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_front_page_and_that_of_all_runs_load_little(
    visit: Callable[..., Any], real: Path, real_home: str, language: str
) -> None:
    front = loaded(visit, real, f"{real_home}{'' if language == 'en' else 'zh/'}")
    page = (home(real, language) / "index.html").read_text("utf-8")
    assert '<figure class="pl-chart"' not in page  # charts would be missing below
    index = "search/search_index.json" if language == "en" else f"{language}/search/search_index.json"
    assert "assets/css/all.css" in front
    assert index not in front, "the index waits for a reader who searches"
    assert any("bundle" in each for each in front)
    assert any("search-worker" in each for each in front)
    assert sum(front.values()) < FRONT_PAGE, front
    runs = loaded(visit, real, f"{real_home}{'' if language == 'en' else 'zh/'}runs/")
    parts = {each: weight for each, weight in runs.items() if each.startswith("data/explorer/")}
    assert parts
    count = sum(len(path.read_text("utf-8").splitlines()) for path in (real / "data/runs").glob("*.jsonl"))
    assert sum(parts.values()) < 20 * count
    assert "assets/vendor/tabulator.min.js" in runs
    assert sum(runs.values()) < ALL_RUNS, runs


def loaded(visit: Callable[..., Any], real: Path, address: str) -> dict[str, int]:
    """Return the bytes of all that a page loads, by file."""
    asked: set[str] = set()
    page = visit("about:blank", wide=390, high=844)
    page.context.on("request", lambda request: asked.add(request.url))
    page.goto(address, wait_until="networkidle")
    # The browser does not report a worker's own requests: it loads its code, and what that loads by name.
    config = json.loads(page.text_content("#__config"))
    asked.add(page.evaluate("path => new URL(path, location).href", config["search"]))
    files = {real / unquote(urlsplit(each).path).removeprefix("/sub/") for each in asked}
    files = {each / "index.html" if each.is_dir() else each for each in files}
    return {each.relative_to(real).as_posix(): packed(each) for each in files if each.is_file()}


def test_only_the_page_of_all_runs_loads_the_library_of_its_table(real: Path) -> None:
    pages = [path for path in real.rglob("*.html") if "tabulator" in path.read_text("utf-8")]
    assert sorted(each.relative_to(real).as_posix() for each in pages) == ["runs/index.html", "zh/runs/index.html"]


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_search_index_is_small_and_of_one_language(real: Path, language: str) -> None:
    path = home(real, language) / "search" / "search_index.json"
    assert packed(path) < INDEX
    docs = json.loads(path.read_text("utf-8"))["docs"]
    assert not [each for each in docs if each["location"].startswith("zh/")]
    assert any(each["location"].startswith("models/resnet50/#") for each in docs)
    assert all((home(real, language) / re.split("[#?]", each["location"])[0]).is_dir() for each in docs)


@pytest.mark.parametrize("language", LANGUAGES)
def test_figures_of_tables_and_samples_of_logs_are_not_searched(real: Path, language: str) -> None:
    docs = json.loads((home(real, language) / "search" / "search_index.json").read_text("utf-8"))["docs"]
    page = (home(real, language) / "models" / "bert" / "index.html").read_text("utf-8")
    figures = set(re.findall(r"<td[^>]*>(?:<[^>]+>)*(\d[\d,]*\.\d+)<", page))
    assert len(figures) > 30
    words = " ".join(each["text"] for each in docs if each["location"].startswith("models/bert/"))
    assert sum(each in words for each in figures) < len(figures) / 10  # sentences name some
    assert not [each for each in docs if "batch_cost: " in each["text"]]


def test_the_style_sheet_joins_all_of_ours_in_the_order_of_their_names(whole: Path) -> None:
    parts = sorted((ROOT / "report_templates" / "css").glob("*.css"))
    assert len(parts) > 5
    style = (whole / "assets" / "css" / "all.css").read_text("utf-8")
    places = [style.index(path.read_text("utf-8")) for path in parts]
    assert places == sorted(places)
    assert "--pl-ink-" in style[: places[0]]
    assert re.findall(r'rel="stylesheet" href="(assets/css/[^"]+)"', (whole / "index.html").read_text("utf-8")) == [
        "assets/css/all.css"
    ]


def test_our_html_is_in_the_pages_although_it_went_round_markdown(real: Path) -> None:
    for path in real.rglob("*.html"):
        text = path.read_text("utf-8")
        assert "data-block=" not in text, path
        assert "<!--block" not in text, path
        assert text.count("<div") == text.count("</div>"), path
        assert '"pl-table"' not in text or text.count("<table") == text.count("</table>") > 0, path


def test_no_page_but_lists_and_the_method_is_taller_than_6000_pixels(
    visit: Callable[..., Any], real: Path, real_home: str
) -> None:
    """Look at the two of each kind with most HTML, with all charts."""
    kinds: dict[tuple[str, int], list[Path]] = {}
    for path in real.rglob("index.html"):
        place = path.parent.relative_to(real).as_posix() + "/"
        if not place.startswith("zh/") and not MAY_BE_TALLER.match(place):
            kinds.setdefault((place.partition("/")[0], place.count("/")), []).append(path)
    largest = [each for of in kinds.values() for each in sorted(of, key=lambda path: -path.stat().st_size)[:2]]
    assert len(largest) >= 20
    page, found = visit("about:blank"), {}
    for path in largest:
        place = path.parent.relative_to(real).as_posix()
        page.set_viewport_size({"width": 1440, "height": TALL})
        page.goto(f"{real_home}{place}/")
        page.set_viewport_size({"width": 1440, "height": 900})
        page.wait_for_function("() => innerHeight === 900")  # a busy browser resizes later
        found[place] = page.evaluate("document.documentElement.scrollHeight")
    assert {each: height for each, height in found.items() if height > TALL} == {}
    assert found["models/resnet50"] < RESNET
