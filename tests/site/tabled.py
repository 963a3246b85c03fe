"""Tables of a page as a reader sees them: rows of cells, `[text](address)` for links, `**text**` for what is bold."""

from __future__ import annotations

from html.parser import HTMLParser

Rows = list[list[str]]


def tables_in(page: str) -> list[Rows]:
    """Return all tables of a page, heads included, without hidden views."""
    reader = _Reader()
    reader.feed(page)
    reader.close()
    return reader.tables


def plain(page: str) -> Rows:
    """Return the rows of a page's first table, without links and marks."""
    reader = _Reader(marked=False)
    reader.feed(page)
    reader.close()
    return reader.tables[0]


def rows_in(page: str) -> list[str]:
    """Return every row of a page's tables, with bars between its cells."""
    return [f"|{'|'.join(row)}|" for table in tables_in(page) for row in table]


class _Reader(HTMLParser):
    def __init__(self, *, marked: bool = True) -> None:
        super().__init__()
        self.tables: list[Rows] = []
        self.marked = marked
        self.skipped: list[str] = []
        self.inside = False
        self.links: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        if self.skipped or "hidden" in given:
            self.skipped += [tag] if not self.skipped or tag == self.skipped[0] else []
        elif tag == "table":
            self.tables.append([])
        elif tag == "tr":
            self.tables[-1].append([])
        elif tag in ("td", "th"):
            self.inside = True
            self.tables[-1][-1].append("")
        elif (self.inside and tag == "small") or "pl-entry" in (given.get("class") or ""):
            self._add(" ")
        elif self.inside and tag == "a":
            self.links.append(given["href"] or "")
            self._add("[" if self.marked else "")
        elif tag == "strong":
            self._add("**" if self.marked else "")

    def handle_endtag(self, tag: str) -> None:
        if self.skipped:
            self.skipped = self.skipped[:-1] if tag == self.skipped[0] else self.skipped
        elif tag in ("td", "th"):
            self.inside = False
            self.tables[-1][-1][-1] = " ".join(self.tables[-1][-1][-1].split())
        elif tag == "a" and self.links:
            address = self.links.pop()
            self._add(f"]({address})" if self.marked else "")
        elif tag == "strong":
            self._add("**" if self.marked else "")

    def handle_data(self, data: str) -> None:
        if not self.skipped:
            self._add(data)

    def _add(self, text: str) -> None:
        if self.inside:
            self.tables[-1][-1][-1] += text
