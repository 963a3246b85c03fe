"""The colours of frameworks: visible on both backgrounds, distinct for colour-blind readers and in black and white."""

from __future__ import annotations

import itertools
import re
from pathlib import Path

import pytest

from perfledger import TEMPLATES
from perfledger.ingest.common.toml_file import FileError
from perfledger.ingest.site.render import colours, drawing, svg
from perfledger.ingest.site.render.chart import Axis, ChartLine, Dot, Dots, Lines, Panel, Point

PAPER, SLATE = "#ffffff", "#1c2027"
CORE = ("paddle", "pytorch", "tensorflow", "mxnet")
Linear = tuple[float, float, float]
#: Machado, Oliveira and Fernandes (2009), severity 1, on linear RGB.
SIGHT: dict[str, tuple[Linear, Linear, Linear]] = {
    "ordinary": ((1, 0, 0), (0, 1, 0), (0, 0, 1)),
    "protanopia": ((0.152286, 1.052583, -0.204868), (0.114503, 0.786281, 0.099216), (-0.003882, -0.048116, 1.051998)),
    "deuteranopia": ((0.367322, 0.860646, -0.227968), (0.280085, 0.672501, 0.047413), (-0.01182, 0.04294, 0.968881)),
}


def linear(colour: str) -> Linear:
    red, green, blue = (int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5))
    return (_linear(red), _linear(green), _linear(blue))


def _linear(channel: float) -> float:
    return channel / 12.92 if channel <= 0.04045 else float(((channel + 0.055) / 1.055) ** 2.4)


def luminance(light: Linear) -> float:
    return 0.2126729 * light[0] + 0.7151522 * light[1] + 0.072175 * light[2]


def contrast(one: str, other: str) -> float:
    low, high = sorted((luminance(linear(one)), luminance(linear(other))))
    return (high + 0.05) / (low + 0.05)


def lab(light: Linear) -> Linear:
    """Return the colour in CIE L*a*b* under D65."""
    red, green, blue = light
    x = (0.4124564 * red + 0.3575761 * green + 0.1804375 * blue) / 0.95047
    z = (0.0193339 * red + 0.119192 * green + 0.9503041 * blue) / 1.08883
    fx, fy, fz = (t ** (1 / 3) if t > 216 / 24389 else (24389 / 27 * t + 16) / 116 for t in (x, luminance(light), z))
    return (116 * fy - 16, 500 * (fx - fy), 200 * (fy - fz))


def seen(colour: str, sight: str) -> Linear:
    light = linear(colour)
    red, green, blue = (min(1.0, max(0.0, sum(a * b for a, b in zip(row, light, strict=True)))) for row in SIGHT[sight])
    return lab((red, green, blue))


def distance(one: str, other: str, sight: str) -> float:
    pairs = zip(seen(one, sight), seen(other, sight), strict=True)
    return float(sum((a - b) ** 2 for a, b in pairs) ** 0.5)


def pairs() -> list[tuple[colours.Ink, colours.Ink]]:
    found = list(itertools.combinations(colours.inks(), 2))
    assert len(found) > 20
    return found


def test_the_arithmetic_of_colour_is_that_of_the_standards() -> None:
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    assert contrast("#777777", "#ffffff") == pytest.approx(4.48, abs=0.01)
    assert lab(linear("#808080"))[0] == pytest.approx(53.59, abs=0.01)
    assert distance("#00a000", "#b07000", "deuteranopia") < distance("#00a000", "#b07000", "ordinary") / 3


@pytest.mark.parametrize("ink", colours.inks(), ids=lambda each: each.id)
def test_an_ink_is_seen_on_both_grounds(ink: colours.Ink) -> None:
    assert contrast(ink.light, PAPER) >= 3
    assert contrast(ink.dark, SLATE) >= 3


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("sight", SIGHT)
def test_inks_are_told_apart_by_colour_or_by_marker(sight: str, scheme: str) -> None:
    for one, other in pairs():
        apart = distance(getattr(one, scheme), getattr(other, scheme), sight)
        assert apart >= 18 or one.marker != other.marker, (one.id, other.id, apart)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_frameworks_that_meet_most_differ_in_lightness(scheme: str) -> None:
    """In black and white, dots of one chart differ in nothing else."""
    core = [each for each in colours.inks() if each.id in CORE]
    assert len(core) == len(CORE)
    light = sorted(seen(getattr(each, scheme), "ordinary")[0] for each in core)
    assert min(b - a for a, b in itertools.pairwise(light)) >= 8
    for one, other in itertools.combinations(core, 2):
        assert min(distance(getattr(one, scheme), getattr(other, scheme), sight) for sight in SIGHT) >= 20


def test_every_ink_has_a_marker_of_its_own() -> None:
    markers = [each.marker for each in colours.inks()]
    assert len(markers) == len(set(markers))


@pytest.mark.parametrize(
    ("name", "ink"),
    [("PaddlePaddle", "paddle"), ("PaddleClas", "paddle"), ("NGC PyTorch", "pytorch"), ("NGC TensorFlow", "tensorflow"),
     ("HugeCTR", "hugectr"), ("Megatron-LM", "megatron"), ("JAX", "jax"), ("MindSpore", "mindspore"),
     ("MXNet", "mxnet")],
)  # fmt: skip
def test_a_framework_is_drawn_in_the_ink_of_its_family(name: str, ink: str) -> None:
    assert colours.ink(name).id == ink


def test_an_unknown_framework_has_an_ink_that_follows_from_its_name() -> None:
    found = {name: colours.ink(name).id for name in ("Tinygrad", "Caffe", "MLX", "", "词")}
    assert set(found.values()) <= {"other-1", "other-2"}
    assert found == {name: colours.ink(name).id for name in reversed(found)}


def test_charts_take_their_inks_from_the_style_sheet() -> None:
    """Colours in the style sheet follow the scheme, and are light on paper."""
    rows = tuple(Dot(label=each, ink=colours.ink(each).id, value=1.0, text="1") for each in ("PaddlePaddle", "OneFlow"))
    data = Dots(title="T", unit="images/s", panels=(Panel("1 device", rows),))
    drawn, style = drawing.draw(data, drawing.WIDE, str), colours.stylesheet()
    for ink in (colours.ink("PaddlePaddle"), colours.ink("OneFlow")):
        assert f"pl-mark pl-ink-{ink.id}" in drawn
        assert ink.light not in drawn
        assert f"--pl-ink-{ink.id}: {ink.light};" in style
        assert f"--pl-ink-{ink.id}: {ink.dark};" in style.partition("@media screen")[2]


def test_lines_of_one_framework_share_its_ink_and_marker_and_differ_in_how_they_are_cut() -> None:
    names = ("PaddleClas trainer=dygraph", "PaddleClas trainer=static", "PyTorch")
    points = tuple(Point(x=x, y=1.0, text="1") for x in (1, 8))
    series = tuple(ChartLine(name, colours.ink(name).id, points) for name in names)
    drawn = drawing.draw(Lines(title="T", unit="%", x=Axis("devices"), series=series), drawing.WIDE, str)
    lines = re.findall(r'<polyline [^>]*class="([^"]+)"', drawn)
    assert lines == ["pl-line pl-ink-paddle", "pl-line pl-cut-1 pl-ink-paddle", "pl-line pl-ink-pytorch"]
    assert [drawn.count(svg.SHAPES[each]) for each in ("circle", "square")] == [4, 2]


def test_every_marker_of_a_framework_can_be_drawn() -> None:
    assert {each.marker for each in colours.inks()} <= svg.SHAPES.keys()


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("[a]\nlight = 1", "a.light: expected a colour such as #1a2b3c, got 1"),
        (
            '[a]\nmatch = []\nlight = "red"\ndark = "#ffffff"\nmarker = "circle"',
            "a.light: expected a colour such as #1a2b3c, got 'red'",
        ),
        ('[a]\nlight = "#000000"', "a: the key 'match' is missing"),
    ],
)
def test_an_error_in_the_inks_is_named(tmp_path: Path, text: str, wrong: str) -> None:
    source = tmp_path / "frameworks.toml"
    source.write_text(text, "utf-8")
    with pytest.raises(FileError, match=re.escape(wrong)) as raised:
        colours.inks(source)
    assert str(source) in str(raised.value)


def tokens(scheme: str) -> dict[str, str]:
    """Return the colours that base.css gives a scheme."""
    style = (TEMPLATES / "css/10-base.css").read_text("utf-8")
    block = style.partition(f'[data-md-color-scheme="{scheme}"] {{')[2].partition("}")[0]
    found = dict(re.findall(r"--([a-z-]+): (#[0-9a-f]{3,6});", block))
    assert len(found) > 25
    return {
        name: value if len(value) == 7 else "#" + "".join(2 * each for each in value[1:])
        for name, value in found.items()
    }


@pytest.mark.parametrize("scheme", ["default", "slate"])
@pytest.mark.parametrize(
    "text",
    ["md-default-fg-color", "md-default-fg-color--light", "md-typeset-a-color", "md-accent-fg-color", "pl-good",
     "pl-bad", "pl-warn", "md-code-hl-comment-color", "md-code-hl-number-color", "md-code-hl-string-color",
     "md-code-hl-keyword-color"],
)  # fmt: skip
def test_text_is_read_on_every_ground(scheme: str, text: str) -> None:
    """WCAG 2.2 AA asks for 4.5:1."""
    found = tokens(scheme)
    grounds = ["md-code-bg-color"] if "-hl-" in text else ["md-default-bg-color", "pl-field", "md-footer-bg-color"]
    for ground in grounds:
        assert contrast(found[text], found[ground]) >= 4.5, ground


def test_the_dark_ground_is_the_one_that_inks_are_measured_on() -> None:
    assert tokens("slate")["md-default-bg-color"] == SLATE
    assert tokens("default")["md-default-bg-color"] == PAPER
