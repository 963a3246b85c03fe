"""Every code point as part of a name: each form that a name is written in gives it back."""

from __future__ import annotations

import csv
import html
import io
import json
import sys
from collections.abc import Iterator
from xml.etree import ElementTree

import pytest
from mkdocs.utils.meta import get_data

from perfledger.ingest.common.frame import no_formula
from perfledger.ingest.common.words import own
from perfledger.ingest.site.model import Hit, Page
from perfledger.ingest.site.render import jinja
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
        page = Page("index.md", "index", title=name, description="", context=dict)
        written = jinja._front_matter(own(), "en", page, ["a.js"], [Hit("a", name, "a.md")])
        text, data = get_data(f"{written}text")
        assert text == "text"
        assert (data["title"], data["hits"]) == (title(name), [["a", title(name), "a.md"]])


def test_html_shows_each_name() -> None:
    for name in names():
        assert html.unescape(escape(name)) == plain(name)


def test_csv_keeps_each_name_in_its_cell() -> None:
    for name in names():
        out = io.StringIO()
        csv.writer(out, lineterminator="\n").writerow([no_formula(name), "next"])
        assert list(csv.reader(io.StringIO(out.getvalue(), newline=""))) == [[no_formula(name), "next"]]


def test_json_gives_each_name_back() -> None:
    for name in names():
        assert json.loads(json.dumps(name, ensure_ascii=False).encode()) == name


def test_xml_takes_each_name() -> None:
    for name in names():
        text = ElementTree.fromstring(f"<title>{html.escape(name)}</title>").text
        assert text == name


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
