"""The hook that leads our HTML past Markdown: it resolves links to pages and labels tables."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any, ClassVar

import pytest

from tests.hooks import hook

BLOCKS = hook("blocks")


@dataclass(frozen=True)
class File:
    """The part of a file of MkDocs that the hook uses."""

    url: str

    def url_relative_to(self, _: Any) -> str:
        return self.url


class Pages:
    """The part of MkDocs' files that the hook uses."""

    src_uris: ClassVar[dict[str, Any]] = {}

    def get_file_from_path(self, path: str) -> Any:
        here = {"en/runs/a.md": "../runs/a/", "en/index.md": "../", "en/models/x/tables/t-1.csv": "tables/t-1.csv"}
        return File(here[path]) if path in here else None


def resolved(text: str, caplog: pytest.LogCaptureFixture) -> tuple[str, list[str]]:
    page = SimpleNamespace(file=SimpleNamespace(src_uri="en/models/x.md"), meta={"title": "X"})
    with caplog.at_level(logging.WARNING):
        made = BLOCKS.on_page_markdown(text, page, {}, Pages())
    return made, [record.getMessage() for record in caplog.records]


def test_links_to_pages_and_files_are_resolved_and_others_left_alone(caplog: pytest.LogCaptureFixture) -> None:
    kept = '<a href="https://example.org/README.md">x</a><a href="#a.md">y</a><p>href="../runs/a.md"</p>[z](../a.md)'
    links = '<a class="b" href="../runs/a.md#L1-L2">x</a><img src="../index.md"><a href="x/tables/t-1.csv" download>'
    made, warned = resolved(f"{links}{kept}", caplog)
    assert made == (
        f'<a class="b" href="../runs/a/#L1-L2">x</a><img src="../"><a href="tables/t-1.csv" download>{kept}'
    )
    assert warned == []


def test_blanks_around_line_ends_are_left_out_but_where_they_show() -> None:
    kept = '<pre class="pl-log">a\n\n    b\n</pre>', "<textarea>\n  c  \n</textarea>"
    given = f"<p>\n    one  \n\n   two</p>\n\n{kept[0]}\n  {kept[1]}\n"
    assert BLOCKS.on_post_page(given, None) == f"<p>\none\ntwo</p>\n{kept[0]}\n{kept[1]}\n"


def test_a_link_to_a_page_that_is_not_there_is_a_warning(caplog: pytest.LogCaptureFixture) -> None:
    """With --strict, warnings of loggers below `mkdocs` fail the build."""
    made, warned = resolved('<a href="../runs/none.md">x</a>', caplog)
    assert "../runs/none.md" in made
    assert "en/models/x.md" in warned[0]
    assert "../runs/none.md" in warned[0]
    assert {record.name.partition(".")[0] for record in caplog.records} == {"mkdocs"}


def test_a_table_is_labelled_by_its_caption_or_else_by_the_heading_above_it() -> None:
    grid = '<div class="pl-table">\n<div class="pl-scroll"><table class="pl-grid"{} data-name="{}">'
    caption = '<p class="pl-caption"{}>Only <b>this</b></p>\n'
    chart = '<figure class="pl-chart"></figure>\n'
    page = '{}<h2 id="one">1</h2>\n{}{}{}{}{}'.format
    first, third = grid.format("", "t-1"), caption.format("")
    assert BLOCKS.label(page(first, third, grid.format("", "t-2"), third, chart, grid.format("", "t-3"))) == page(
        first, caption.format(' id="t-2-caption"'), grid.format(' aria-labelledby="t-2-caption"', "t-2"),
        third, chart, grid.format(' aria-labelledby="one"', "t-3"),
    )  # fmt: skip


def test_a_page_of_html_gets_what_mkdocs_would_make_of_markdown() -> None:
    page = SimpleNamespace(file=SimpleNamespace(src_uri="en/runs/x.md"), meta={"html": True})
    text = (
        '<h1>A &amp; B: 對比</h1>\n<p id="a-b">x *y*</p>\n<h2 id="one">1</h2>\n'
        '<h3 id="two">2</h3>\n<a href="../index.md#three">z</a>'
    )
    page.markdown = BLOCKS.on_page_markdown(text, page, {}, Pages())
    page.render({}, Pages())
    link = '<a class="headerlink" href="#{}" title="Permanent link">&para;</a>'
    assert page.content == (
        f'<h1 id="a-b_1">A &amp; B: 對比{link.format("a-b_1")}</h1>\n<p id="a-b">x *y*</p>\n'
        f'<h2 id="one">1{link.format("one")}</h2>\n<h3 id="two">2{link.format("two")}</h3>\n<a href="../#three">z</a>'
    )
    (title,) = page.toc
    assert (title.title, title.url, title.children[0].children[0].title) == ("A &amp; B: 對比", "#a-b_1", "2")
    assert page.present_anchor_ids == {"a-b", "a-b_1", "one", "two"}


def test_anchors_that_links_in_html_name_are_checked_by_mkdocs() -> None:
    page = SimpleNamespace(file=SimpleNamespace(src_uri="en/models/x.md"), meta={"title": "X"})
    table = '<div class="pl-table" data-search-exclude>\n<a href="../index.md?a=1#none">x</a>\n</div>'
    BLOCKS.on_page_markdown(f'<a href="../runs/a.md#L1">y</a>\n{table}', page, {}, Pages())
    page.present_anchor_ids, page.links_to_anchors = set(), {"other file": {"b": "b.md#b"}}
    BLOCKS.on_page_content("", page)
    assert list(page.links_to_anchors.values()) == [
        {"L1": "../runs/a.md#L1"},
        {"none": "../index.md?a=1#none"},
        {"b": "b.md#b"},
    ]
