"""What charts write on their bars, and what they say to a reader who points at one."""

from __future__ import annotations

import re
from typing import Any
from xml.etree import ElementTree

import pytest

from ingest.common import words
from ingest.site.pages.reports import report_charts
from ingest.site.render import drawing
from ingest.site.render.drawing import shortened
from tests.site.test_reports import cut_of, named

TITLE = re.compile(r"<g><title>([^<]*)</title>")


@pytest.mark.parametrize(
    ("written", "wanted"),
    [
        ("10,984.436", "10,984"), ("12,411.97", "12,412"), ("999.99", "1,000"), ("9,999.6", "10,000"),
        ("147.14", "147.1"), ("61.0", "61.0"), ("7.3", "7.3"), ("2.720", "2.720"), ("22.414", "22.41"),
        ("0.00125", "0.00125"), ("383", "383"), ("1,265,000", "1,265,000"), ("9,099.5 [BS=208]", "9,100 [BS=208]"),
        ("0.3.1", "0.3.1"), ("OOM", "OOM"), ("", ""),
    ],
)  # fmt: skip
def test_a_bar_carries_four_digits_and_no_digit_before_the_point_less(written: str, wanted: str) -> None:
    assert shortened(written) == wanted


def test_bars_say_series_group_and_the_value_in_full() -> None:
    series = drawing.Series("OneFlow", (12411.97, None), labels=("12,411.97", ""))
    svg = drawing.bars(drawing.Bars(("32", "64"), (series,), "@throughput@ (images/s)"))
    assert TITLE.findall(svg) == ["OneFlow · 32 · 12,411.97 images/s"]
    assert ">12,412</text>" in svg
    assert "12,411.97</text>" not in svg


def test_points_of_lines_say_their_values() -> None:
    speeds = drawing.speedup(drawing.Lines((("OneFlow", (1, 8), (1.0, 7.456)),)))
    assert TITLE.findall(speeds) == ["OneFlow · 1 · 1.00×", "OneFlow · 8 · 7.46×"]
    versions = drawing.Bars(("0.2.0", "0.3.1"), (drawing.Series("8", (1.0, 2.5), labels=("1.0", "2.50")),), "images/s")
    assert TITLE.findall(drawing.trend(versions)) == ["8 · 0.2.0 · 1.0 images/s", "8 · 0.3.1 · 2.50 images/s"]
    curve = drawing.Curve("8", (1.0,), (2.0,), ("bsz=4",), ("2.00 images/s",))
    assert TITLE.findall(drawing.curves(drawing.Curves((curve,), "ms", "x"))) == ["8 · bsz=4 · 2.00 images/s"]


def test_names_of_others_stay_text_in_what_a_chart_says() -> None:
    name = '"><script>alert(1)</script>&'
    svg = drawing.bars(drawing.Bars(("1",), (drawing.Series(name, (1.0,), labels=("1.25",)),), "x/s"))
    root = ElementTree.fromstring(svg)
    assert "script" not in {each.tag.rpartition("}")[2] for each in root.iter()}
    assert f"{name} · 1 · 1.25 x/s" in {each.text for each in root.iter() if each.tag.endswith("title")}


def test_names_of_groups_that_are_too_long_for_one_line_take_several() -> None:
    groups = (
        "1 × 32",
        "8 × 32",
        "16 × 32",
        "16 × 48",
        "32 × 32",
        "32 × 48",
        "32 × 32 W/O AccGrad",
        "32 × 48 W/O AccGrad",
    )
    svg = drawing.bars(drawing.Bars(groups, (drawing.Series("A", (1.0,) * 8),), "x"))
    below = [each for each in re.findall(r"<text[^>]*>([^<]*)</text>", svg) if "×" in each or "Acc" in each]
    assert below.count("32 × 32") == 2
    assert below.count("AccGrad") == 2
    assert "rotate(-90" not in "".join(re.findall(r"<text[^>]*>[^<]*×[^<]*</text>", svg))


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
def test_no_label_of_a_chart_covers_another(browser: Any, language: str) -> None:
    known = words.load()
    charts = [each for name in ("perf-2021", "perf-resnet50", "perf-bert") for each in _charts(name)]
    drawn = [each.localised(each.draw(), known, language) for each in (*charts, *_charts("dlperf-round")[:4])]
    assert len(drawn) > 12
    page = browser.new_page()
    for wide in (390, 1440):
        page.set_viewport_size({"width": wide, "height": 900})
        style = "svg { display: block; width: 100%; max-width: 46rem; min-width: 30rem; font-family: sans-serif }"
        page.set_content(f"<style>{style}</style>{''.join(drawn)}")
        assert page.evaluate(OVERLAPS) == []
    page.close()


def _charts(report: str) -> Any:
    return report_charts(named(report), cut_of(named(report)))
