"""What charts write at their values, and what they say to a reader who points at one."""

from __future__ import annotations

import re
from typing import Any

import pytest

from perfledger.ingest.common import words
from perfledger.ingest.site.render import drawing
from perfledger.ingest.site.render.chart import Axis, ChartLine, Dot, Dots, Lines, Panel, Point, framed
from perfledger.ingest.site.render.drawing import shortened
from perfledger.ingest.site.report_charts import report_charts
from tests.site.test_reports import cut_of, named

TITLE = re.compile(r"<g><title>([^<]*)</title>")


def dots(*rows: Dot, **more: Any) -> str:
    return drawing.dots(Dots(title="T", unit="images/s", panels=(Panel("8 devices", rows),), **more))


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
    assert TITLE.findall(svg) == ["OneFlow · 12,411.97 images/s"]
    assert ">12,412</text>" in svg
    assert ">OOM</text>" in svg
    assert "12,411.97</text>" not in svg


def test_a_single_run_is_hollow_and_a_range_is_a_line() -> None:
    """A median of five with its range, a single run, and a value of which nobody says how many runs it is of."""
    five = dots(Dot(label="A", ink="paddle", value=10.0, low=9.0, high=11.0, n=5, text="10"))
    one, unknown = (dots(Dot(label="A", ink="paddle", value=10.0, n=n, text="10")) for n in (1, None))
    hollow = "fill:var(--md-default-bg-color, #fff)"
    assert [hollow in each for each in (five, one, unknown)] == [False, True, False]
    assert ["stroke-width:2.4" in each for each in (five, one, unknown)] == [True, False, False]


def test_dots_begin_at_zero_and_are_as_far_as_their_values() -> None:
    rows = [Dot(label="A", value=value, text=str(value)) for value in (100.0, 50.0, 25.0)]
    places = [float(each) for each in re.findall(r'<use [^>]*x="([\d.]+)"', dots(*rows))]
    zero = min(float(each) for each in re.findall(r'd="M ([\d.]+) [\d.]+ [\d.]+ [\d.]+"', dots(*rows)))
    assert [round((place - zero) / (places[0] - zero), 2) for place in places] == [1.0, 0.5, 0.25]


def test_panels_share_a_scale_unless_they_are_apart() -> None:
    panels = tuple(Panel(str(n), (Dot(label="A", value=float(n), text=str(n)),)) for n in (10, 100))
    shared, apart = (drawing.dots(Dots(title="T", unit="x", panels=panels, apart=each)) for each in (False, True))
    first, second = ([float(x) for x in re.findall(r'<use [^>]*x="([\d.]+)"', each)] for each in (shared, apart))
    assert first[0] < first[1]
    assert second[0] == second[1]


def test_long_names_are_above_their_rows_and_whole() -> None:
    name = "NGC TensorFlow, batch size 256, DALI off, data layout NHWC"
    assert f">{name}</text>" in dots(Dot(label=name, value=1.0, text="1"))


def test_points_of_lines_say_their_values() -> None:
    points = tuple(Point(x=x, y=y, text=f"{y}%") for x, y in ((1, 100.0), (8, 93.2)))
    data = Lines(title="T", unit="%", x=Axis("devices", log2=True), series=(ChartLine("OneFlow", "oneflow", points),))
    assert TITLE.findall(drawing.lines(data)) == ["OneFlow · 100.0%", "OneFlow · 93.2%"]


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


@pytest.mark.parametrize("language", ["en", "zh"])
def test_no_label_of_a_static_chart_covers_another(browser: Any, language: str) -> None:
    known = words.load()
    charts = [each for name in ("perf-2021", "perf-resnet50", "perf-bert") for each in _charts(name)]
    drawn = [
        framed(drawing.draw(each.said(known, language)), each.name, "T", "D")
        for each in (*charts, *_charts("dlperf-round")[:4])
    ]
    assert len(drawn) > 12
    page = browser.new_page(viewport={"width": 1440, "height": 900})
    style = "svg { display: block; width: 100%; max-width: 46rem; font-family: sans-serif }"
    page.set_content(f"<style>{style}</style>{''.join(drawn)}")
    assert page.evaluate(OVERLAPS) == []
    page.close()


def _charts(report: str) -> Any:
    return report_charts(named(report), cut_of(named(report)))
