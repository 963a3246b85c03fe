"""Every code point as part of a name: each form that a name is written in gives it back."""

from __future__ import annotations

import csv
import html
import io
import json
import re
import sys
from collections.abc import Iterator
from xml.etree import ElementTree

import pytest
from mkdocs.utils.meta import get_data

from perfledger.ingest.common import frame
from perfledger.ingest.common.errors import one_line
from perfledger.ingest.common.frame import DataColumn
from perfledger.ingest.common.markdown import escaped
from perfledger.ingest.common.words import own
from perfledger.ingest.site.model import Hit, Page
from perfledger.ingest.site.pages.guides import RunningPage
from perfledger.ingest.site.render import jinja, svg
from perfledger.ingest.site.render.text import escape, plain, title
from perfledger.schema.redaction.redact import redact
from perfledger.schema.visible import visible

_SIZE = 4_096


def names() -> Iterator[str]:
    """Yield names that together have every code point, as they are recorded."""
    for first in range(0, sys.maxunicode + 1, _SIZE):
        yield visible("n" + "".join(map(chr, range(first, first + _SIZE))) + "n")


def test_records_contain_no_character_that_breaks_a_form() -> None:
    for first in range(0, sys.maxunicode + 1, _SIZE):
        codes = [code for code in range(first, first + _SIZE) if chr(code) != "\n"]
        recorded = redact(" \n".join(map(chr, codes)) + " ").split("\n")
        for code, found in zip(codes, recorded, strict=True):
            assert found in (f"{chr(code)} ", f"\\u{code:04x} "), hex(code)
            assert len(found.splitlines()) <= 1, hex(code)
            found.encode("utf-8")


def test_front_matter_gives_each_name_back() -> None:
    for name in names():
        hit = Hit("a", name, "a.md")
        page = Page("index.md", "index", title=name, description="", context=RunningPage)
        written = jinja._front_matter(own(), "en", page, ["a.js"], [hit])
        text, data = get_data(f"{written}text")
        assert text == "text"
        assert (data["title"], data["hits"]) == (title(name), [["a", title(name), "a.md"]])


def test_html_shows_each_name() -> None:
    for name in names():
        assert html.unescape(escape(name)) == plain(name)


def test_csv_keeps_each_name_in_its_cell() -> None:
    columns = (DataColumn[str]("name", str, str), DataColumn[str]("next", str, lambda _: "next"))
    for name in names():
        written = io.StringIO(frame.csv(columns, [name]).decode(), newline="")
        assert list(csv.reader(written)) == [["name", "next"], [frame.no_formula(name), "next"]]


def test_data_of_scripts_give_each_name_back() -> None:
    for name in names():
        written = jinja._script_data(own(), "en", {"name": name}, [])
        page = ElementTree.fromstring(f'<form data-config="{written}"/>')
        assert json.loads(page.attrib["data-config"])["name"] == name


def test_drawings_take_each_name() -> None:
    for name in names():
        drawn = ElementTree.fromstring(svg.tag("g", svg.words("title", name), href=name))
        assert (drawn.attrib["href"], drawn[0].text) == (plain(name), plain(name))


def test_terminals_and_github_get_one_line_of_each_name() -> None:
    for name in names():
        assert len(one_line(name).splitlines()) == 1
        shown = html.unescape(escaped(name))
        assert len(shown.splitlines()) == 1
        assert re.search(r"[@#]\w", shown) is None


@pytest.mark.parametrize(
    ("text", "recorded"),
    [
        ("2.9\r=cmd|'/c calc'!A0", "2.9\\u000d=cmd|'/c calc'!A0"),
        ("a\r\nb\tc\n", "a\nb\tc\n"),
        ("H200\ufffe", "H200\\ufffe"),
        ("F\u2028G\x85H", "F\\u2028G\\u0085H"),
        ("\udcff𠮷🔥", "\\udcff𠮷🔥"),
        ("Net\U0000fdd0", "Net\\ufdd0"),
        ("\x1b[31mred", "\\u001b[31mred"),
    ],
)
def test_what_is_recorded(text: str, recorded: str) -> None:
    assert redact({text: [text]}) == {recorded: [recorded]}
