"""The hook of the search divides a page into sections, and passes over what is marked."""

from __future__ import annotations

import pytest

from tests.hooks import hook

SEARCH = hook("search")

PAGE = """<h1 id="page">Page<a class="headerlink" href="#page">&para;</a></h1>
<p>One<br>line</p><p>and <code>code</code>.</p>
<div data-search-exclude><div>hidden</div>hidden</div>
<h2 id="part">Part <small>one</small></h2>
<ul><li>a</li><li>b</li></ul>
<h2 id="left-out" data-search-exclude>Left out</h2>
<p>hidden</p>
"""


def sections(page: str) -> list[tuple[str | None, str, str]]:
    """Return id, title and text of each section that is searched."""
    found = SEARCH.Sections()
    found.feed(page)
    found.close()
    kept = (each for each in found.data if not each.is_excluded())
    return [(each.id, "".join(each.title), " ".join("".join(each.text).split())) for each in kept]


def test_a_page_is_divided_by_its_headings() -> None:
    assert sections(PAGE) == [(None, "Page", "Oneline and code."), ("part", "Part one", "a b")]


@pytest.mark.parametrize("page", ["", " \n", "<div data-search-exclude>hidden</div>"])
def test_a_page_without_text_has_no_section(page: str) -> None:
    assert sections(page) == []


def test_text_above_the_first_heading_is_a_section() -> None:
    assert sections('<p>first</p><h2 id="y">Then</h2>') == [(None, "", "first"), ("y", "Then", "")]
