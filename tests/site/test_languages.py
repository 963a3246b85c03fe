"""The two languages, page by page: one structure, the same numbers, links, tables, charts, and words of their own."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urljoin

import pytest

from tests.site import markup
from tests.site.markup import Element
from tests.site.test_links import address

BLOCKS = frozenset(
    ["h1", "h2", "h3", "h4", "h5", "h6", "p", "ul", "ol", "li", "dl", "dt", "dd", "table", "thead", "tbody", "tr", "th",
     "td", "figure", "figcaption", "pre", "details", "summary", "section", "div", "svg", "img", "form", "noscript"]
)  # fmt: skip
#: Elements that contain prose; a block within another counts for itself.
PROSE = frozenset(["h1", "h2", "h3", "h4", "p", "li", "dt", "dd", "figcaption", "summary", "small", "th", "td", "a"])
NUMBER = re.compile(r"\d+(?:\.\d+)*")
HAN = re.compile(r"[\u3400-\u9fff]")
#: Numbers that are words in one language and digits in the other.
ENGLISH_WORDS = {
    "1": "[Oo]ne|[Ff]irst|[Ss]ingle|January", "2": "[Tt]wo|[Ss]econd|[Bb]oth|February", "3": "[Tt]hree|[Tt]hird|March",
    "4": "[Ff]our|April", "5": "[Ff]ive|[Ff]ifth|May", "6": "[Ss]ix|June", "7": "[Ss]even|July", "8": "[Ee]ight|August",
    "9": "[Nn]ine|September", "10": "[Tt]en|October", "11": "[Ee]leven|November", "12": "[Tt]welve|December",
    "16": "[Ss]ixteen", "18": "[Ee]ighteen", "100": "hundred",
}  # fmt: skip
CHINESE_WORDS = {"1": "[一单首]", "2": "[二两双]"} | dict(zip(map(str, range(3, 11)), "三四五六七八九十", strict=True))
SCALES = {"万": 10**4, "亿": 10**8, "million": 10**6}
#: Four English words in a row: a sentence, or the rest of one.
ENGLISH = re.compile(r"(?:[A-Za-z][a-z'’]+[,;]? ){3,}[A-Za-z][a-z'’]+")


@pytest.fixture(params=["whole", "real"])
def built(request: Any) -> Path:
    found: Path = request.getfixturevalue(request.param)
    return found


def pairs(site: Path) -> Iterator[tuple[Path, Path]]:
    """Yield each English page with the Chinese one."""
    for path in markup.translated(site):
        below = path.relative_to(site)
        if below.parts[0] != "zh" and below.name != "404.html":
            yield path, site / "zh" / below


def differing(site: Path, seen: Any) -> list[tuple[str, Any, Any]]:
    """Return the pages whose `seen` differs between the languages, with the first difference."""
    found = []
    for one, other in pairs(site):
        here, there = list(seen(one)), list(seen(other))
        first = next((n for n, each in enumerate(zip(here, there, strict=False)) if each[0] != each[1]), None)
        if here != there:
            at = min(len(here), len(there)) if first is None else first
            found.append((one.relative_to(site).as_posix(), here[at : at + 3], there[at : at + 3]))
    return found


def test_every_page_has_its_twin(built: Path) -> None:
    for one, other in pairs(built):
        assert other.is_file(), one
    chinese = {each.relative_to(built / "zh") for each in markup.pages(built / "zh")}
    assert chinese == {one.relative_to(built) for one, _ in pairs(built)}


def test_the_structure_is_the_same(built: Path) -> None:
    def structure(path: Path) -> Iterator[str]:
        for each in markup.article(path).walk(is_told):
            if isinstance(each, Element) and each.tag in BLOCKS:
                yield f"{each.tag}.{'.'.join(sorted(each.classes))}"

    assert differing(built, structure) == []


def test_values_behind_figures_are_the_same_in_the_same_order(built: Path) -> None:
    def values(path: Path) -> Iterator[Any]:
        for each in markup.article(path).elements():
            known = {name: value for name, value in each.given.items() if re.match("data-(value|d-|s-)", name)}
            if known:
                yield known

    assert sum(1 for one, _ in pairs(built) for _ in values(one)) > 500
    assert differing(built, values) == []


def test_numbers_are_the_same(built: Path) -> None:
    """Compare block by block; within a sentence the order may differ, and small numbers may be words."""
    found = []
    for one, other in pairs(built):
        for here, there in zip(blocks(one), blocks(other), strict=True):
            if sorted(numbers_in(here)) != sorted(numbers_in(there)) and not in_words(here, there):
                found.append((one.relative_to(built).as_posix(), here[:200], there[:200]))
    assert found == []


def test_numbers_of_charts_are_the_same(whole: Path) -> None:
    """Text by text; within one the order may differ (`8 devices on 2 machines`), and a small number may be a word."""
    found, compared = [], 0
    for one, other in pairs(whole):
        for here, there in zip(texts_of_charts(one), texts_of_charts(other), strict=True):
            compared += 1
            if sorted(numbers_in(here)) != sorted(numbers_in(there)) and not in_words(here, there):
                found.append((one.relative_to(whole).as_posix(), here, there))
    assert compared > 100
    assert found == []


def texts_of_charts(path: Path) -> Iterator[str]:
    for figure in markup.article(path).elements("figure"):
        yield from (text.text() for text in figure.elements("title", "desc"))


def numbers_in(text: str) -> list[str]:
    """Return numbers without separators, with thousands and millions written out."""
    bare = re.sub(r"(?<=\d),(?=\d{3})", "", text)
    whole = re.sub(r"(\d+(?:\.\d+)?) ?(万|亿|million)", lambda each: f"{float(each[1]) * SCALES[each[2]]:.0f}", bare)
    return NUMBER.findall(whole)


def in_words(english: str, chinese: str) -> bool:
    """Return whether numbers of one text are words in the other: `first ten` and `前 10`, `December` and `12 月`."""
    here, there = Counter(numbers_in(english)), Counter(numbers_in(chinese))
    return all(re.search(ENGLISH_WORDS.get(each, "$^"), english) for each in there - here) and all(
        re.search(CHINESE_WORDS.get(each, "$^"), chinese) for each in here - there
    )


def blocks(path: Path) -> Iterator[str]:
    yield from own_text(markup.article(path))


def is_told(element: Element) -> bool:
    """Return whether it describes a format: its texts in the two languages are written separately."""
    return "pl-told" in element.classes


def own_text(found: Element) -> Iterator[str]:
    """Yield the text of each block of prose, without the text of blocks inside it."""
    for each in found.walk(is_told):
        if isinstance(each, Element) and each.tag in PROSE & BLOCKS:
            yield alone(each)


def alone(outer: Element, foreign: frozenset[str] = BLOCKS) -> str:
    """Return the text of an element, without the text of foreign elements inside it."""

    def skip(inner: Element) -> bool:
        return inner is not outer and inner.tag in foreign

    return outer.text(skip)


def test_links_lead_to_the_same_pages(built: Path) -> None:
    def links(path: Path) -> list[str]:
        file = path.relative_to(built).as_posix()
        found = [each for each in markup.article(path).elements("a") if "headerlink" not in each.classes]
        return sorted(folded(file, each.given.get("href", "")) for each in found)

    assert differing(built, links) == []


def folded(file: str, link: str) -> str:
    """Return the target of a link without its language."""
    return urljoin(address(file), link).replace("/sub/zh/", "/sub/")


def test_tables_have_the_same_columns(built: Path) -> None:
    def tables(path: Path) -> Iterator[Any]:
        for each in markup.article(path).elements("table"):
            yield each.given.get("data-name"), [head.given.get("data-key") for head in each.elements("th")]

    assert differing(built, tables) == []


def test_charts_are_drawn_alike(whole: Path) -> None:
    def drawn(path: Path) -> Iterator[Any]:
        for each in markup.article(path).elements("svg"):
            yield [inner.given.get("class") for inner in each.elements("polyline", "circle", "a", "g")]

    charts = [svg for one, _ in pairs(whole) for svg in markup.article(one).elements("svg")]
    assert len(charts) > 10
    assert differing(whole, drawn) == []


def test_no_english_is_left_on_chinese_pages(built: Path) -> None:
    """Texts of logs and sources are shown as they are; the data files have them, too."""
    stated, left = data(built), []
    for _, path in pairs(built):
        for text in own_text_but_names(markup.article(path)):
            found = [each for each in ENGLISH.findall(" ".join(text.split())) if each not in stated]
            left += [(path.relative_to(built).as_posix(), each) for each in found]
    assert left == []


def data(site: Path) -> str:
    files = [*sorted((site / "data").rglob("*.csv")), *sorted((site / "data" / "runs").glob("*.jsonl"))]
    assert files
    return " ".join(" ".join(each.read_text("utf-8") for each in files).split())


def own_text_but_names(found: Element) -> Iterator[str]:
    """Yield text without code, quotations, charts and what is marked as English."""
    foreign = frozenset(["code", "pre", "q", "blockquote", "svg", "select"])
    for each in found.elements(*(PROSE & BLOCKS)):
        if each.given.get("lang") != "en":
            yield re.sub("“[^”]*”", "", alone(each, foreign | BLOCKS))


def test_no_chinese_is_left_on_english_pages(built: Path) -> None:
    stated, left = data(built), []
    for path, _ in pairs(built):
        text = markup.article(path).text(lambda each: each.given.get("lang") == "zh" or each.tag in ("code", "pre"))
        found = [each for each in re.findall(r"[\u3400-\u9fff]+", text) if each not in stated]
        left += [(path.relative_to(built).as_posix(), each) for each in found]
    assert left == []


def test_the_words_around_the_page_are_in_its_language(built: Path) -> None:
    """Look at navigation, header, search and footer, without the names in the language switch."""
    for english, chinese in pairs(built):
        for path, wanted in ((english, False), (chinese, True)):
            [body] = markup.read(path).elements("body")
            outside = body.walk(lambda each: each.tag == "article" or "md-nav--secondary" in each.classes)
            around = [each for each in outside if isinstance(each, Element) and each.tag != "link"]
            given = [each.given.get("aria-label") or each.given.get("title") or "" for each in around]
            said = set(filter(None, given)) - {"Perfledger"}
            assert len(said) > 4
            assert {bool(HAN.search(each)) for each in said} == {wanted}, (path, said)


def test_the_switch_stays_on_the_page(whole: Path) -> None:
    """Search engines read the same from `hreflang`."""
    for one, other in pairs(whole):
        for path in (one, other):
            file = path.relative_to(whole).as_posix()
            switch = [each for each in markup.read(path).elements("a") if "md-select__link" in each.classes]
            told = {each.given["hreflang"]: urljoin(address(file), each.given["href"]) for each in switch}
            wanted = {"en": one.relative_to(whole).as_posix(), "zh": other.relative_to(whole).as_posix()}
            assert told == {language: address(found) for language, found in wanted.items()}, file
