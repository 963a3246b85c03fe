"""The labels that charts write at their values, and their titles for a reader who points at one."""

from __future__ import annotations

import re
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from msgspec import structs

from perfledger.ingest.common import words
from perfledger.ingest.site.render import drawing
from perfledger.ingest.site.render.chart import Axis, ChartLine, Dot, Dots, Lines, Panel, Point, Spec
from perfledger.ingest.site.render.scale import shortened
from tests.site.test_reports import charts_of, cut_of, named

ROOT = Path(__file__).resolve().parents[2]
TITLE = re.compile(r"<title>([^<]*)</title>")


def drawn(spec: Spec, width: int = drawing.WIDE) -> str:
    return drawing.draw(spec, width, partial(words.load().say, "en"))


def dots(*rows: Dot, **more: Any) -> str:
    return drawn(Dots(title="T", unit="images/s", panels=(Panel("8 devices", rows),), **more))


def places(svg: str) -> list[float]:
    return [float(each) for each in re.findall(r'<path d="M([\d.]+) [^"]*" class="pl-dot', svg)]


WRITTEN = [
    ("10,984.436", "10,984"), ("12,411.97", "12,412"), ("999.99", "1,000"), ("9,999.6", "10,000"),
    ("147.14", "147.1"), ("61.0", "61.0"), ("7.3", "7.3"), ("2.720", "2.720"), ("22.414", "22.41"),
    ("0.00125", "0.00125"), ("383", "383"), ("1,265,000", "1,265,000"), ("9,099.5 images/s", "9,100"),
    ("93.187% (7.46×)", "93.19%"), ("7.4567×", "7.457×"), ("0.3.1", "0.3.1"), ("OOM", "OOM"), ("", ""),
]  # fmt: skip


@pytest.mark.parametrize(("written", "wanted"), WRITTEN)
def test_a_value_has_four_digits_and_no_digit_before_the_point_less(written: str, wanted: str) -> None:
    assert shortened(written) == wanted


def test_dots_say_their_label_and_the_value_in_full() -> None:
    svg = dots(Dot(label="OneFlow", value=12411.97, text="12,411.97 images/s"), Dot(label="PyTorch", text="OOM"))
    assert TITLE.findall(svg) == ["OneFlow\n12,411.97 images/s\n8 devices", "PyTorch\nOOM\n8 devices"]
    assert ">12,412</text>" in svg
    assert ">OOM</text>" in svg
    assert "12,411.97</text>" not in svg


def test_a_value_that_is_not_ranked_has_an_outline_and_a_range_is_a_line() -> None:
    given = Dot(label="A", ink="paddle", value=10.0, low=9.0, high=11.0, n=5, text="10")
    one = structs.replace(given, low=None, high=None, n=1)
    found = [dots(given), dots(one), dots(structs.replace(one, ranked=False))]
    assert ["pl-outline" in each for each in found] == [False, False, True]
    assert ["pl-range" in each for each in found] == [True, False, False]
    assert [TITLE.findall(each)[0].splitlines()[3] for each in found] == ["5 runs, 9 to 11", "single run", "single run"]


def test_dots_begin_at_zero_and_are_as_far_as_their_values() -> None:
    svg = dots(*(Dot(label="A", value=value, text=str(value)) for value in (100.0, 50.0, 25.0)))
    (zero, *_) = re.findall(r'd="M([\d.]+) [\d.]+L[^"]*" class="pl-stem"', svg)
    farthest = places(svg)[0] - float(zero)
    assert [round((place - float(zero)) / farthest, 2) for place in places(svg)] == [1.0, 0.5, 0.25]


def test_panels_share_a_scale_unless_they_are_apart() -> None:
    panels = tuple(Panel(str(n), (Dot(label="A", value=float(n), text=str(n)),)) for n in (10, 100))
    first, second = (places(drawn(Dots(title="T", unit="x", panels=panels, apart=each))) for each in (False, True))
    assert first[0] < first[1]
    assert second[0] == second[1]


def test_a_value_that_all_are_compared_against_is_a_line_within_the_scale() -> None:
    rows = (Dot(label="A", value=0.5, text="0.50×"), Dot(label="B", value=0.25, text="0.25×"))
    (line,) = re.findall(r'd="M([\d.]+) [^"]*" class="pl-across', dots(*rows, against=1.0))
    assert float(line) > max(places(dots(*rows, against=1.0)))
    assert "pl-across" not in dots(*rows)


@pytest.mark.parametrize("width", [drawing.WIDE, drawing.NARROW])
def test_long_names_are_whole_in_lines_that_fit(width: int) -> None:
    name = "NGC TensorFlow, batch size 256, DALI off, data layout NHWC, XLA on"
    svg = drawn(Dots(title="T", unit="x", panels=(Panel("1", (Dot(label=name, value=1.0, text="1"),)),)), width)
    (mark,) = re.findall(r'class="pl-mark">(.*)</g>', svg, re.DOTALL)
    assert " ".join(re.findall(r"<text[^>]*>([^<]+)</text>", mark)[:-1]) == name


def test_points_of_lines_say_their_values() -> None:
    points = tuple(Point(x=x, y=y, text=f"{y}%") for x, y in ((1, 100.0), (8, 93.2)))
    data = Lines(title="T", unit="%", x=Axis("devices", log2=True), series=(ChartLine("OneFlow", "oneflow", points),))
    assert TITLE.findall(drawn(data)) == ["OneFlow\n100.0%\ndevices 1", "OneFlow\n93.2%\ndevices 8"]


def test_names_of_lines_are_at_their_ends_where_there_is_room_and_otherwise_below() -> None:
    points = (Point(x=1, y=1.0, text="1"), Point(x=2, y=2.0, text="2"))
    data = Lines(title="T", unit="u", x=Axis("n"), series=(ChartLine("A name", "", points),))
    heights = {width: drawn(data, width).partition("viewBox=")[2].split('"')[1].split()[3] for width in (880, 345)}
    assert int(heights[345]) > int(heights[880])
    assert all(drawn(data, width).count(">A name</text>") == 1 for width in heights)


#: Labels that cover each other, by more than a hair.
OVERLAPS = """() => [...document.querySelectorAll("svg")].flatMap((svg) => {
  const texts = [...svg.querySelectorAll("text")].filter((each) => each.textContent.trim());
  const boxes = texts.map((each) => each.getBoundingClientRect());
  return boxes.flatMap((one, i) => boxes.slice(i + 1).flatMap((two, j) => {
    const across = Math.min(one.right, two.right) - Math.max(one.left, two.left);
    const up = Math.min(one.bottom, two.bottom) - Math.max(one.top, two.top);
    return across > 1.5 && up > 2.5 ? [[texts[i].textContent, texts[i + 1 + j].textContent]] : [];
  }));
})"""


#: Letters that are drawn smaller than eleven pixels.
SMALL = """() => [...document.querySelectorAll("svg")].flatMap((svg) => [...svg.querySelectorAll("text")]
  .map((each) => parseFloat(getComputedStyle(each).fontSize) * svg.getScreenCTM().a).filter((size) => size < 11))"""


@pytest.mark.parametrize(("width", "room"), [(drawing.WIDE, 876), (drawing.NARROW, 326)])
@pytest.mark.parametrize("language", ["en", "zh"])
def test_no_label_covers_another_and_all_can_be_read(browser: Any, language: str, width: int, room: int) -> None:
    known = words.load()
    say = partial(known.say, language)
    charts = [each for name in ("perf-2021", "perf-resnet50", "perf-bert") for each in _charts(name)]
    made = [drawing.draw(each.said(known, language), width, say) for each in (*charts, *_charts("dlperf-round")[:4])]
    assert len(made) > 12
    page = browser.new_page(viewport={"width": 1440, "height": 900})
    style = (ROOT / "report_templates" / "css" / "50-charts.css").read_text("utf-8").replace("display: none", "")
    own = f"body {{ width: {room}px; font-family: sans-serif }}"
    page.set_content(f"<style>{style} {own}</style>{''.join(made)}")
    assert page.evaluate(OVERLAPS) == []
    assert page.evaluate(SMALL) == []
    page.close()


def _charts(report: str) -> Any:
    return charts_of(named(report), cut_of(named(report)))
