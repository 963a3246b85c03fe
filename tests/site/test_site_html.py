"""The built HTML: charts within pages, the order of the navigation, and what is searched."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tests.site import markup


def test_charts_are_in_the_page_and_their_ids_are_unique(whole: Path) -> None:
    page = (whole / "models" / "resnet50" / "index.html").read_text("utf-8")
    drawn = [page.count(f'<svg class="pl-svg pl-{each}"') for each in ("wide", "narrow")]
    assert drawn == [page.count('<figure class="pl-chart"')] * 2
    assert drawn[0] > 2
    ids = [part.partition('"')[0] for part in page.split(' id="')[1:]]
    assert len(ids) == len(set(ids))


@pytest.mark.parametrize("language", ["", "zh/"])
def test_the_navigation_has_the_models_in_their_order(whole: Path, language: str) -> None:
    page = (whole / language / "models" / "index.html").read_text("utf-8")
    navigation = page.partition('<nav class="md-nav md-nav--primary')[2].partition("</nav>\n</div>")[0]
    order = [navigation.find(f'href="{name}/"') for name in ("resnet50", "bert", "model-test-net-7")]
    assert order == sorted(order)
    assert min(order) > 0


def test_run_pages_are_not_searched(whole: Path) -> None:
    for home in (whole, whole / "zh"):
        index = json.loads((home / "search" / "search_index.json").read_text("utf-8"))
        assert not [each for each in index["docs"] if "runs/resnet50" in each["location"]]
        assert any(each["location"].startswith("models/resnet50/") for each in index["docs"])


def test_no_page_shows_markdown(whole: Path) -> None:
    """Words are escaped: emphasis and links in them would be shown as they are typed."""
    typed = re.compile(r"\*\*[^*\s]|\]\([\w./#-]+\)")
    shown = {
        str(path.relative_to(whole)): found
        for path in markup.translated(whole)
        if (found := typed.findall(markup.article(path).text(lambda each: each.tag in {"pre", "code"})))
    }
    assert shown == {}
