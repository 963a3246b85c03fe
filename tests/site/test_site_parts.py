"""Numbers, escaping, tables and charts, each by itself."""

from __future__ import annotations

import html
import math
import re
import xml.etree.ElementTree as ElementTree
from collections.abc import Sequence
from functools import partial
from typing import Any, get_type_hints

import pytest
from msgspec import structs

from perfledger.ingest.common import numbers
from perfledger.ingest.common.words import own, phrase
from perfledger.ingest.site.pages import guides
from perfledger.ingest.site.render import drawing, jinja, scale, table
from perfledger.ingest.site.render.chart import (
    Axis,
    Chart,
    ChartLine,
    Dot,
    Dots,
    Level,
    Lines,
    Panel,
    Point,
    Spec,
    Tick,
)
from perfledger.ingest.site.render.html_table import Writer
from perfledger.ingest.site.render.text import (
    code_block,
    escape,
    file_slug,
    plain,
    slug,
    slugs,
    title,
)


@pytest.mark.parametrize(
    ("value", "spread", "written"),
    [
        (1234.5678, None, "1,235"),
        (61.234, None, "61.23"),
        (61.234, 0.03, "61"),
        (61.234, 0.003, "61.2"),
        (61.234, 1e-9, "61.234"),
        (12345.6, 0.05, "12,300"),
        (0.01234, None, "0.01234"),
        (9.999, 0.5, "10"),
        (0.0, None, "0"),
        (math.nan, None, "—"),
        (None, None, "—"),
    ],
)
def test_figures_have_no_more_digits_than_their_spread_supports(value: float, spread: float, written: str) -> None:
    assert numbers.figure(value, spread) == written


def test_shares_ratios_and_durations() -> None:
    assert numbers.percent(0.1234) == "12.3%"
    assert numbers.signed_percent(-0.05) == "−5.0%"
    assert numbers.ratio(7.618) == "7.62×"
    assert numbers.plus_minus(math.nan) == ""
    assert numbers.quantity(True) == "true"


def test_escape_leaves_nothing_to_html() -> None:
    text = 'a|b <g> &amp; "i"'
    assert not re.search(r'[<>"]', escape(text))
    assert html.unescape(escape(text)) == text


def test_pages_of_prose_print_no_text_from_outside() -> None:
    """Markdown reads them, for which nothing is escaped: they print numbers, and tables as HTML."""
    made = {
        "data": guides.DataPage, "method": guides.MethodPage, "running": guides.RunningPage,
        "submitting": guides.SubmittingPage,
    }  # fmt: skip
    assert set(jinja.OF_MARKDOWN) == made.keys()
    for kind in made.values():
        assert {*get_type_hints(kind).values()} <= {int, float, table.Table, table.Table | None}


def test_control_and_direction_characters_become_visible() -> None:
    assert plain("a\x00b\u202ec\td") == "a\\u0000b\\u202ec d"


def test_code_keeps_lines_and_says_nothing_else() -> None:
    block = code_block('a\n\n<b "x"')
    assert "\n" not in block
    assert "&#10;&#10;" in block
    assert "<b" not in block


def test_slugs_are_safe_and_apart() -> None:
    assert slug("ResNet-50 v1.5") == "resnet-50-v1-5"
    assert re.fullmatch(r"x[0-9a-f]{8}", slug("模型"))
    assert file_slug("../../etc/passwd").startswith("etc-passwd-")
    assert file_slug("a-1") == "a-1"
    assert len(set(slugs(["a b", "a-b", "c"]).values())) == 3


def test_tables_keep_cells_apart() -> None:
    given = table.Table(
        (table.Column("a|b"), table.Column(phrase("table.devices"), True)),
        ((table.cell("x|y", "runs/r.md"), table.absent("why not")), (table.absent("why not"), table.cell(""))),
    )
    said = Writer(own(), "zh", lambda page: f"../{page}").table(given)
    assert '<th scope="col" data-key="a_b">a|b</th>' in said
    assert '<th scope="row"><a href="../runs/r.md">x|y</a></th>' in said
    assert "\n\n" not in said, "a blank line would end the block of HTML"
    assert said.count('aria-label="why not"') == 2


def trace_of(values: Sequence[float], **more: Any) -> Lines:
    points = tuple(Point(x=at, y=value) for at, value in enumerate(values, 1))
    return Lines(title="T", unit="images/s", x=Axis("step"), series=(ChartLine("", "", points),), **more)


TRACE = trace_of(
    [60.0 if at != 20 else 5.0 for at in range(30)], shade=Tick(6.5, "warm-up"),
    levels=(Level("median 60", 60.0),),
)  # fmt: skip
NAME = "PyTorch <&> $x$"
ROW = Dot(label=NAME, value=1.0, low=0.5, high=1.5, text="1")
DOTS = Dots(title="T", unit="吞吐/s", panels=(Panel("1", (ROW,)),))
POINTS = tuple(Point(x=x, y=y, text=f"{y}") for x, y in ((1, 100.0), (8, 93.0)))
LINES = Lines(
    title="T",
    unit="%",
    x=Axis("devices", log2=True),
    series=(ChartLine("PyTorch", "pytorch", POINTS),),
    levels=(Level("", 100),),
)
WIDTHS = (drawing.WIDE, drawing.NARROW)


def drawn(data: Spec, width: int = drawing.WIDE) -> str:
    return drawing.draw(data, width, partial(own().say, "en"), "D")


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("data", [TRACE, DOTS, LINES])
def test_charts_are_the_same_twice_and_parse(data: Spec, width: int) -> None:
    svg = drawn(structs.replace(data, title="T<"), width)
    assert svg == drawn(structs.replace(data, title="T<"), width)
    root = ElementTree.fromstring(svg)
    assert root.get("aria-label") == "T<"
    assert root.findtext("desc") == "D"
    assert not re.search(r"style=|\bid=|#[0-9a-f]{6}", svg)


def test_a_chart_is_said_in_the_words_of_each_language_with_its_links_from_the_page() -> None:
    row = Dot(label=phrase("front.batch", n=8), value=1.0, text="1", href="runs/a.md")
    made = Chart(
        "a", Dots(title="T", unit="u", panels=(Panel(phrase("front.one_device"), (row,)),)), phrase("model.chart_text")
    )
    known = own()
    for language in ("en", "zh"):
        (panel,) = made.said(known, language, lambda page: f"../{page}").panels
        assert panel.label == known.text(language, "front.one_device")
        assert panel.rows[0].label == known.text(language, "front.batch", n=8)
        assert panel.rows[0].href == "../runs/a.md"
        assert known.text(language, "front.batch", n=8) in made.described(known, language)


def test_the_figures_of_an_axis_are_inside_the_chart() -> None:
    for most in (9.0, 39_000.0, 4_500_000.0):
        points = tuple(Point(x=x, y=most * x, text="") for x in (0.5, 1.0))
        svg = drawn(Lines(title="T", unit="words/s", x=Axis("x"), series=(ChartLine("A", "", points),)))
        ends = [(float(at), text) for at, text in re.findall(r'x="([-0-9.]+)"[^>]*pl-end">([^<]+)<', svg)]
        assert ends
        assert all(at > 5 * len(text) for at, text in ends), most


@pytest.mark.parametrize(
    ("least", "most", "ticks"),
    [
        (0, 415, [0, 200, 400, 600]),
        (74.3, 100, [70, 80, 90, 100]),
        (5, 5, [0, 2, 4, 6]),
        (0, 0, [0, 0.25, 0.5, 0.75, 1]),
    ],
)
def test_ticks_are_round_and_around_the_values(least: float, most: float, ticks: list[float]) -> None:
    assert scale.nice(least, most) == pytest.approx(ticks)


def test_a_trace_names_its_median_shades_warm_up_and_has_its_values() -> None:
    svg = drawn(TRACE)
    for each in ("median 60", "warm-up"):
        assert f">{each}</text>" in svg
    assert 'data-values="1,60 2,60' in svg
    assert "pl-mark" not in svg
    assert "pl-across" not in drawn(trace_of((1.0, 1.0, 1.0)))


@pytest.mark.parametrize(
    ("given", "wanted"), [("Wide & Deep", "Wide & Deep"), ("&lt;b>", "＆lt;b›"), ("R&D &", "R＆D ＆")]
)
def test_an_ampersand_stands_in_a_title_unless_it_could_begin_an_entity(given: str, wanted: str) -> None:
    assert title(given) == wanted


def test_what_is_written_in_a_chart_keeps_its_decimals() -> None:
    row = Dot(label="lr=0.0625", value=0.00125, text="0.00125")
    svg = drawn(Dots(title="T", unit="samples/s", panels=(Panel("p", (row,)),)))
    assert ">0.00125</text>" in svg
    assert ">lr=0.0625</text>" in svg
