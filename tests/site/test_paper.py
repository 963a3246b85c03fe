"""Printed pages: only the content, dark on white in either scheme, tables to their last column."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.site.kinds import KINDS

#: The inks of every text that is seen, as red, green and blue.
SEEN = """() => {
  const inks = new Set();
  for (const each of document.querySelectorAll("body, body *")) {
    const style = getComputedStyle(each);
    if (!each.getClientRects().length || style.visibility === "hidden") continue;
    const text = [...each.childNodes].some(node => node.nodeType === 3 && node.textContent.trim());
    if (text) inks.add((each.closest("svg") ? style.fill : style.color).match(/[\\d.]+/g).slice(0, 3).join(" "));
  }
  return [...inks];
}"""


@pytest.fixture
def dark(browser: Any, home: str) -> Iterator[Any]:
    """Yield a page of a reader who prefers the dark scheme."""
    # Without motion, since colours would be seen on their way from one to the other.
    page = browser.new_page(color_scheme="dark", reduced_motion="reduce", viewport={"width": 1280, "height": 900})
    page.goto_below = lambda path: page.goto(home + path)
    yield page
    page.close()


def light(colour: str) -> float:
    """Return the relative luminance by WCAG."""
    red, green, blue = (float(each) / 255 for each in colour.split()[:3])
    curve = [each / 12.92 if each <= 0.04045 else ((each + 0.055) / 1.055) ** 2.4 for each in (red, green, blue)]
    return 0.2126 * curve[0] + 0.7152 * curve[1] + 0.0722 * curve[2]


@pytest.mark.parametrize("path", KINDS.values())
def test_paper_is_light_its_text_dark_and_navigation_stays_on_the_screen(dark: Any, path: str) -> None:
    dark.goto_below(path)
    dark.locator("body[data-md-color-scheme=slate]").wait_for()  # set by the theme's script
    dark.emulate_media(media="print")
    inks = dark.evaluate(SEEN)
    assert inks
    # 3:1 on white at the least: colours of syntax and of frameworks stay colours.
    assert [each for each in inks if 1.05 / (light(each) + 0.05) < 3] == []
    frame = dark.locator(".md-header, .md-tabs, .md-sidebar, .pl-to-cite, .md-search, .md-top, .headerlink, .pl-tools")
    assert frame.count() > 3
    assert not frame.locator("visible=true").count()
    footer = dark.locator(".pl-imprint")
    assert "Perfledger" in footer.inner_text()
    assert footer.locator(".pl-on-paper").inner_text().endswith(path)
    assert light(dark.evaluate("getComputedStyle(document.body).backgroundColor.match(/[\\d.]+/g).join(' ')")) == 1


@pytest.mark.skipif(shutil.which("pdftotext") is None, reason="no pdftotext: apt-get install poppler-utils")
@pytest.mark.parametrize(
    ("kind", "language"), [("front", ""), ("model", "zh/"), ("report", "zh/"), ("audit", ""), ("compare", "")]
)
def test_tables_are_printed_to_their_last_column(dark: Any, tmp_path: Path, kind: str, language: str) -> None:
    dark.goto_below(language + KINDS[kind])
    if kind == "compare":
        dark.wait_for_selector("#pl-compare table")
    rows = dark.evaluate(
        """() => [...document.querySelectorAll("article table")].filter(each => each.getClientRects().length)
             .flatMap(each => [...each.querySelectorAll("tbody tr:not([hidden])")]).map(row => row.innerText)"""
    )
    dark.pdf(path=tmp_path / "page.pdf", format="A4", prefer_css_page_size=True)
    text = subprocess.run(
        ["pdftotext", "-raw", str(tmp_path / "page.pdf"), "-"], capture_output=True, text=True, check=True
    ).stdout
    printed = squeezed(text)
    words = [word for row in rows for word in re.findall(r"\d[\d.,]*\d|[^\W\d_]{2,}", row)]
    assert words or kind == "front"
    assert [word for word in words if squeezed(word) not in printed] == []


def squeezed(text: str) -> str:
    """Remove spaces and line ends, which printing may move."""
    return re.sub(r"[\s\u00ad\u200b-]+", "", text)
