"""MkDocs hook: links in our HTML lead to pages, and every table lies beside its page as CSV and as JSON.

The files are made of the page's own HTML: what a table shows and what its files say cannot differ, and no table can be
forgotten. Values before rounding stand in attributes, which `ingest/site/render/table.py` writes:

    data-key           on a column's head: its name in the files
    data-value         the figure of a cell, or of one of several entries (class pl-entry) in it
    data-d-*, data-s-* numbers and texts beside it: spread, repeats, runs
    data-view          what is seen in one view only: the first of the table's is called by the key alone
"""

from __future__ import annotations

import bisect
import csv
import io
import json
import logging
import posixpath
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

LOG = logging.getLogger("mkdocs.hooks.tables")
ABSENT = "—"

_PAGE_LINK = re.compile(r'(?<=\s)(href|src)="(?![a-z][a-z0-9+.-]*:|/)([^"#?]+\.(?:md|jsonl))(#[^"]*)?"')
_TABLE = re.compile(
    r'(?:<p class="pl-caption">(?P<caption>(?:(?!</p>).)*)</p>\s*)?'
    r'(?P<table><div class="pl-table".*?</table>(?:</div>)?)',
    re.DOTALL,
)
_HEADING = re.compile(r'<h[1-6] id="([^"]+)"')
_NOTE = re.compile(r'<li id="(fn-[^"]+)"[^>]*><sup>.*?</sup> (.*?) <a class="pl-back"', re.DOTALL)
_NAME = re.compile(r' data-name="([^"]+)"')
_NUMBER = re.compile(r"-?[0-9]+(\.[0-9]+)?(e[-+]?[0-9]+)?")
#: A spreadsheet takes a text that begins so for a formula.
_FORMULA = ("=", "+", "-", "@", "\t", "\r")


def on_page_content(html: str, page: Any, config: Any, files: Any) -> str:
    """Resolves links to pages, and writes the files of the page's tables below its folder `tables/`."""
    html = _PAGE_LINK.sub(lambda link: _resolved(link, page, files), html)
    if 'class="pl-table"' not in html:
        return html
    notes = {found[1]: _text(found[2]) for found in _NOTE.finditer(html)}
    headings = [(found.start(), found[1]) for found in _HEADING.finditer(html)]
    plain = iter(range(1, html.count("<table") + 1))

    def completed(found: re.Match[str]) -> str:
        return _completed(found, page, config, notes, headings, plain)

    return _TABLE.sub(completed, html)


def _resolved(link: re.Match[str], page: Any, files: Any) -> str:
    """A link to a Markdown file as a link to its page: MkDocs sees only the links that are written in Markdown."""
    target = posixpath.normpath(posixpath.join(posixpath.dirname(page.file.src_uri), link[2]))
    file = files.get_file_from_path(target)
    if file is None:
        LOG.warning("Doc file '%s' contains a link '%s', but there is no such page.", page.file.src_uri, link[2])
        return link[0]
    return f'{link[1]}="{file.url_relative_to(page.file)}{link[3] or ""}"'


def _completed(
    found: re.Match[str],
    page: Any,
    config: Any,
    notes: Mapping[str, str],
    headings: list[tuple[int, str]],
    plain: Iterator[int],
) -> str:
    """A table with its name, what it is labelled by, and links to its files."""
    html = _named(found["table"], plain)
    name = _NAME.search(html)
    assert name
    before = headings[: bisect.bisect(headings, (found.start(), ""))]
    label = f"{name[1]}-caption" if found["caption"] else before[-1][1] if before else ""
    caption = f'<p class="pl-caption" id="{label}">{found["caption"]}</p>\n' if found["caption"] else ""
    if label:
        html = html.replace(" data-name=", f' aria-labelledby="{label}" data-name=', 1)
    _write(Path(config["site_dir"]), _folder(page.file.dest_uri), name[1], parse(html, notes), page)
    # The words of `[ui]`, as hooks/words.py put them there.
    said = config["extra"]["ui"][_language(config)]["table_file"]
    return f"{caption}{html}{_links(page, name[1], said)}"


def _named(html: str, plain: Iterator[int]) -> str:
    """A table as ours are; one that was written in Markdown gets a name and a box to scroll in."""
    if _NAME.search(html):
        return html
    box = f'<div class="pl-scroll"><table class="pl-grid" data-name="text-{next(plain)}">'
    return f"{re.sub('<table[^>]*>', box, html)}</div>"


def _folder(destination: str) -> str:
    folder, name = posixpath.split(destination)
    return posixpath.join(folder, "tables") if name == "index.html" else f"{destination.removesuffix('.html')}/tables"


def _links(page: Any, name: str, label: str) -> str:
    home = posixpath.dirname(page.file.dest_uri)
    at = posixpath.relpath(_folder(page.file.dest_uri), home or ".")
    said = (
        f'<a href="{at}/{name}.{kind.lower()}" download aria-label="{label.format(kind=kind)}">{kind}</a>'
        for kind in ("CSV", "JSON")
    )
    return f'<p class="pl-files">{" · ".join(said)}</p>'


def _language(config: Any) -> str:
    return "zh" if str(config["theme"]["language"]).startswith("zh") else "en"


def _write(site: Path, folder: str, name: str, table: Parsed, page: Any) -> None:
    target = site / folder
    target.mkdir(parents=True, exist_ok=True)
    fields, rows = flat(table)
    (target / f"{name}.csv").write_text(as_csv(fields, rows), "utf-8", newline="")
    about = {"name": name, "page": page.url, "title": page.title}
    (target / f"{name}.json").write_text(as_json(about, fields, rows), "utf-8")


@dataclass
class Entry:
    """One figure: its text, its value and what else is known of it, the words beside it, and why it is absent."""

    view: str = ""
    text: list[str] = field(default_factory=list)
    beside: list[str] = field(default_factory=list)
    known: dict[str, Any] = field(default_factory=dict)
    value: Any = None
    absent: bool = False
    note: str = ""

    @property
    def said(self) -> str:
        """Its text in one line."""
        return " ".join("".join(self.text).split())


@dataclass
class Head:
    """A column: its key, title and kind; and per view its unit, and what is said of that below the title."""

    key: str
    title: list[str] = field(default_factory=list)
    number: bool = False
    units: dict[str, str] = field(default_factory=dict)
    said: dict[str, str] = field(default_factory=dict)


@dataclass
class Parsed:
    """A table as it was read from HTML: its columns, and its cells as lists of entries."""

    heads: list[Head] = field(default_factory=list)
    rows: list[list[list[Entry]]] = field(default_factory=list)


def parse(html: str, notes: Mapping[str, str]) -> Parsed:
    """Reads a table from HTML; `notes` are the texts of the page's footnotes by id."""
    reader = _Reader(notes)
    reader.feed(html)
    reader.close()
    return reader.table


class _Reader(HTMLParser):
    """Follows where in a table it is: head or body, cell, view, entry, and what kind of text stands there."""

    def __init__(self, notes: Mapping[str, str]) -> None:
        super().__init__()
        self.notes = notes
        self.table = Parsed()
        self.head = False
        self.inside = False
        self.quiet: list[str] = []
        self.small = False
        self.view = ""
        self.entry = Entry()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        if self.quiet:
            self.quiet += [tag] if tag == self.quiet[0] else []
            if tag == "a" and given.get("href", "").startswith("#fn-"):
                self.entry.note = self.notes.get(given["href"][1:], "")
        elif tag == "sup" or given.get("class") == "pl-tools":
            self.quiet.append(tag)
        elif tag in ("thead", "tbody"):
            self.head = tag == "thead"
        elif tag == "tr" and not self.head:
            self.table.rows.append([])
        elif tag in ("th", "td"):
            self._start_cell(given)
        elif self.inside:
            self._start_inside(tag, given)

    def _start_cell(self, given: Mapping[str, str]) -> None:
        self.inside = True
        if self.head:
            key = given.get("data-key") or f"column_{len(self.table.heads) + 1}"
            self.table.heads.append(Head(key, number=given.get("class") == "pl-n"))
            return
        self.table.rows[-1].append([])
        self._start_entry(given, "")

    def _start_entry(self, given: Mapping[str, str], view: str) -> None:
        """A new entry; one in which nothing was said yet gives way to it."""
        cell = self.table.rows[-1][-1]
        if cell and cell[-1] is self.entry and not self.entry.text:
            cell.pop()
        self.entry = Entry(view, value=_number(given.get("data-value")), known=_known(given))
        cell.append(self.entry)

    def _start_inside(self, tag: str, given: Mapping[str, str]) -> None:
        if tag == "small":
            self.small = True
            if self.head and "data-unit" in given:
                self.view = given.get("data-view", "")
                self.table.heads[-1].units[self.view] = given["data-unit"]
        elif self.head:
            return
        elif tag == "div" and "data-view" in given:
            self._start_entry({}, given["data-view"])
        elif given.get("class") == "pl-entry":
            self._start_entry(given, self.entry.view)
        elif given.get("class") == "pl-absent":
            self.entry.absent = True
        elif tag == "br":
            self.entry.text.append("; ")

    def handle_endtag(self, tag: str) -> None:
        if self.quiet:
            self.quiet = self.quiet[:-1] if tag == self.quiet[0] else self.quiet
        elif tag in ("th", "td"):
            self.inside = False
        elif tag == "small":
            self.small = False

    def handle_data(self, data: str) -> None:
        if self.quiet or not self.inside:
            return
        if self.head:
            self._say_head(self.table.heads[-1], data)
        else:
            (self.entry.beside if self.small else self.entry.text).append(data)

    def _say_head(self, head: Head, data: str) -> None:
        if self.small:
            head.said[self.view] = head.said.get(self.view, "") + data
        else:
            head.title.append(data)


@dataclass(frozen=True)
class Field:
    """A column of the files."""

    name: str
    title: str
    unit: str = ""
    number: bool = False


def flat(table: Parsed) -> tuple[list[Field], list[dict[str, Any]]]:
    """Columns and rows for programs: a value per column, and a row per row of the table.

    Further figures in one cell are numbered (`pytorch_2`); what is known of a figure stands behind it
    (`pytorch_spread`), words beside it and why it is absent in `pytorch_note`.
    """
    for index, head in enumerate(table.heads):
        # Beside numbers a word (out of memory) is a note, so that a column is of one kind.
        head.number = any(isinstance(each.value, int | float) for row in table.rows for each in row[index])
    rows = [dict(_flat_row(table, row)) for row in table.rows]
    names: dict[str, Field] = {}
    for index, head in enumerate(table.heads):
        mine = [dict(_flat_cell(head, row[index])) for row in table.rows]
        found = dict.fromkeys([head.key, *(name for each in mine for name in each)])
        for name in sorted(found, key=lambda each: _order(head.key, each)):
            names[name] = _field(head, name, [each.get(name) for each in mine])
    return list(names.values()), [{name: row.get(name) for name in names} for row in rows]


def _flat_row(table: Parsed, row: list[list[Entry]]) -> Iterator[tuple[str, Any]]:
    for head, cell in zip(table.heads, row, strict=True):
        yield from _flat_cell(head, cell)


def _flat_cell(head: Head, cell: list[Entry]) -> Iterator[tuple[str, Any]]:
    """The figures of every view; a note that all views share is said once, with the first."""
    found: dict[str, Any] = {}
    for name, value in _in_views(head, cell):
        if not (name.endswith("_note") and value in found.values()):
            found[name] = value
    yield from found.items()


def _in_views(head: Head, cell: list[Entry]) -> Iterator[tuple[str, Any]]:
    views = list(dict.fromkeys(each.view for each in cell))
    for view in views:
        mine = [each for each in cell if each.view == view]
        figures = [each for each in mine if each.value is not None or each.absent or each.said == ABSENT]
        rest = [each for each in mine if not any(each is one for one in figures)]
        suffix = f"_{view}" if view != views[0] else ""
        for number, each in enumerate(figures, 1):
            yield from _flat_entry(head.key + (f"_{number}" if number > 1 else "") + suffix, each)
        if rest:
            yield from _flat_text(head.key + suffix, rest, beside=bool(figures) or head.number)


def _flat_entry(name: str, entry: Entry) -> Iterator[tuple[str, Any]]:
    yield name, entry.value
    yield from ((f"{name}_{key}", value) for key, value in entry.known.items())
    words = entry.note or ("" if entry.known else _line(entry.beside))
    if words:
        yield f"{name}_note", words


def _flat_text(name: str, entries: list[Entry], *, beside: bool) -> Iterator[tuple[str, Any]]:
    """Entries that are no figures: the cell's text, or words beside its figures."""
    text = "; ".join(each.said for each in entries if each.said)
    if beside and text:
        yield f"{name}_note", text
    elif not beside:
        yield name, text or None
    yield from ((f"{name}_{key}", value) for each in entries for key, value in each.known.items())
    words = "; ".join(filter(None, (each.note or ("" if each.known else _line(each.beside)) for each in entries)))
    if words and not beside:
        yield f"{name}_note", words


def _order(key: str, name: str) -> tuple[int, bool]:
    """Figures by their number, and each one's note last."""
    number = re.match(r"_(\d+)(?:_|$)", name.removeprefix(key))
    return (int(number[1]) if number else 1, name.endswith("_note"))


def _field(head: Head, name: str, values: list[Any]) -> Field:
    known = [each for each in values if each is not None]
    view = re.sub(r"^(_\d+)?_?", "", name.removeprefix(head.key))
    unit = head.units.get(view, "") if view else next(iter(head.units.values()), "")
    number = all(isinstance(each, int | float) for each in known) if known else head.number and name == head.key
    title = _line(head.title) + (f" ({head.said[view]})" if view and view in head.said else "")
    return Field(name, title, unit, number)


def as_csv(fields: list[Field], rows: list[dict[str, Any]]) -> str:
    """CSV as RFC 4180 has it: a head of keys, nothing for what is absent."""
    out = io.StringIO()
    writer = csv.writer(out)
    writer.writerow([each.name for each in fields])
    writer.writerows([[_csv(row[each.name]) for each in fields] for row in rows])
    return out.getvalue()


def _csv(value: Any) -> str:
    if value is None:
        return ""
    return f"'{value}" if isinstance(value, str) and value.startswith(_FORMULA) else str(value)


def as_json(about: Mapping[str, Any], fields: list[Field], rows: list[dict[str, Any]]) -> str:
    """JSON as Table Schema has it (pandas: `read_json(path, orient="table")`), one line per row."""
    described = [
        {"name": each.name, "type": "number" if each.number else "string", "title": each.title}
        | ({"unit": each.unit} if each.unit else {})
        for each in fields
    ]
    schema = json.dumps({"fields": described}, ensure_ascii=False)
    data = ",\n".join(json.dumps(each, ensure_ascii=False) for each in rows)
    head = json.dumps(dict(about), ensure_ascii=False)[1:-1]
    return f'{{{head},\n"schema": {schema},\n"data": [\n{data}\n]}}\n'


def _number(text: str | None) -> Any:
    """A value before rounding, as the number it is; another text stays one."""
    if text is None or not _NUMBER.fullmatch(text):
        return text
    return float(text) if re.search("[.e]", text) else int(text)


def _known(given: Mapping[str, str]) -> dict[str, Any]:
    numbers = {name[7:]: _number(value) for name, value in given.items() if name.startswith("data-d-")}
    return numbers | {name[7:]: value for name, value in given.items() if name.startswith("data-s-")}


def _line(parts: list[str]) -> str:
    return " ".join("".join(parts).split())


def _text(html: str) -> str:
    reader = _Text()
    reader.feed(html)
    reader.close()
    return _line(reader.parts)


class _Text(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.parts: list[str] = []

    def handle_data(self, data: str) -> None:
        self.parts.append(data)
