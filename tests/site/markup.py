"""Built pages as trees, for tests that look at every one of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from html.parser import HTMLParser
from pathlib import Path

#: Elements without an end.
VOID = frozenset(["area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr"])


@dataclass(eq=False)
class Element:
    """An element; its children are elements and texts."""

    tag: str
    given: Mapping[str, str]
    children: list[Element | str] = field(default_factory=list)

    @property
    def classes(self) -> frozenset[str]:
        return frozenset(self.given.get("class", "").split())

    def walk(self, skip: Callable[[Element], bool] = lambda _: False) -> Iterator[Element | str]:
        """Yield the element and all inside it in the order of the page, without what is skipped."""
        if skip(self):
            return
        yield self
        for each in self.children:
            if isinstance(each, str):
                yield each
            else:
                yield from each.walk(skip)

    def elements(self, *tags: str) -> list[Element]:
        """Return the elements inside this one that have one of these names, or all elements if no name is given."""
        return [each for each in self.walk() if isinstance(each, Element) and (not tags or each.tag in tags)]

    def text(self, skip: Callable[[Element], bool] = lambda _: False) -> str:
        """Return the readable text of the element."""
        hidden = frozenset(("script", "style", "template"))
        return "".join(
            each for each in self.walk(lambda found: found.tag in hidden or skip(found)) if isinstance(each, str)
        )


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.open = [Element("", {})]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        made = Element(tag, {name: value or "" for name, value in attrs})
        self.open[-1].children.append(made)
        if tag not in VOID:
            self.open.append(made)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.open[-1].children.append(Element(tag, {name: value or "" for name, value in attrs}))

    def handle_endtag(self, tag: str) -> None:
        """Close the innermost element of this name and those left open in it; ignore a tag that was not opened."""
        depth = next((n for n in range(len(self.open) - 1, 0, -1) if self.open[n].tag == tag), 0)
        if depth:
            del self.open[depth:]

    def handle_data(self, data: str) -> None:
        self.open[-1].children.append(data)


@cache
def read(path: Path) -> Element:
    """Read a file of HTML."""
    return parsed(path.read_text("utf-8"))


def parsed(text: str) -> Element:
    """Return HTML as a tree."""
    reader = _Reader()
    reader.feed(text)
    reader.close()
    return reader.open[0]


def pages(site: Path) -> list[Path]:
    """Return every page of a site."""
    found = sorted(site.rglob("*.html"))
    assert len(found) > 40
    return found


def translated(site: Path) -> list[Path]:
    """Return the pages that exist in each language: a page of a log is one for both."""
    return [each for each in pages(site) if each.parent != site / "logs"]


def article(path: Path) -> Element:
    """Return the article of a page, which holds its content."""
    [found] = read(path).elements("article")
    return found
