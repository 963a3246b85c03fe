"""Numbers, escaping, tables and charts, each by itself."""

from __future__ import annotations

import math
import re
import xml.etree.ElementTree as ElementTree
from functools import partial

import pytest

from ingest.common import numbers
from ingest.common.words import load, phrase
from ingest.site.pages.model import _group_labels
from ingest.site.render import drawing, table
from ingest.site.render.chart import Chart, ChartError, literal, localise
from ingest.site.render.html_table import Writer
from ingest.site.render.text import code_block, command, escape, file_slug, front_matter, plain, slug, slugs, title


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


def test_escape_leaves_nothing_to_markdown() -> None:
    said = escape('a|b `c` *d* [e](f) <g> {h} \\ & "i"\n# j _k_ l_m')
    assert not re.search(r"[|`*\[\]<>{}\\\"\n]", said)
    assert "l_m" in said
    assert "_k_" not in said


@pytest.mark.parametrize("text", ["# a", "- a", "+ a", "1. a", "2) a", "=== a", "!!! a", "~~~", ": a", "/// a"])
def test_escape_leaves_nothing_that_starts_a_block(text: str) -> None:
    assert escape(text).startswith("&#")


def test_control_and_direction_characters_become_visible() -> None:
    assert plain("a\x00b\u202ec\td") == "a\\u0000b\\u202ec d"


def test_front_matter_survives_quotes_and_colons() -> None:
    assert front_matter('a: "b" </title>') == '"a: ”b” ‹/title›"'


def test_code_keeps_lines_and_says_nothing_else() -> None:
    block = code_block('a\n\n--8<-- "x"')
    assert "\n" not in block
    assert "&#10;&#10;" in block
    assert "8<" not in block
    assert command(["a b", "$c"]) == (
        '<pre class="pl-code" data-search-exclude><code>&#39;a b&#39; &#39;&#36;c&#39;</code></pre>'
    )


def test_slugs_are_safe_and_apart() -> None:
    assert slug("ResNet-50 v1.5") == "resnet-50-v1-5"
    assert re.fullmatch(r"x[0-9a-f]{8}", slug("模型"))
    assert file_slug("../../etc/passwd").startswith("etc-passwd-")
    assert file_slug("a-1") == "a-1"
    assert len(set(slugs(["a b", "a-b", "c"]).values())) == 3


def test_tables_keep_cells_apart_and_notes_below() -> None:
    given = table.Table(
        (table.Column("a|b"), table.Column(phrase("table.devices"), True)),
        ((table.cell("x|y", "runs/r.md"), table.absent("why not")), (table.absent("why not"), table.cell(""))),
    )
    said = Writer(load(), "zh", lambda page: f"../{page}").table(given)
    assert '<th scope="col" data-key="a_b">a&#124;b</th>' in said
    assert '<th scope="row"><a href="../runs/r.md">x&#124;y</a></th>' in said
    assert "\n\n" not in said, "a blank line would end the block of HTML"
    assert said.count("why not") == 1
    assert said.count('href="#fn-table-1-a"') == 2
    assert said.count('id="fr-table-1-a"') == said.count('href="#fr-table-1-a"') == 1


TRACE = drawing.DrawnTrace(tuple(range(1, 31)), tuple(60.0 if i != 20 else 5.0 for i in range(30)), 6, 60.0, "images/s")
BARS = drawing.Bars(
    ("1 × 8", "2 × 8"), (drawing.Series("PyTorch <&> $x$", (1.0, None), (0.5, None), (1.5, None)),), "吞吐/s"
)
LINES = drawing.Lines((("PyTorch", (1, 8), (1.0, 7.5)),))
DRAWN = [(drawing.trace, TRACE), (drawing.bars, BARS), (drawing.speedup, LINES)]


@pytest.mark.parametrize(("draw", "data"), DRAWN)
def test_charts_are_the_same_twice_and_parse(draw: object, data: object) -> None:
    assert callable(draw)
    said = localise(draw(data), "a", lambda _: "词", "T<", "D")
    assert said == localise(draw(data), "a", lambda _: "词", "T<", "D")
    root = ElementTree.fromstring(said)
    assert root.get("aria-label") == "T<"
    assert "currentColor" in said
    assert "#000000" not in said
    assert "DejaVu" not in said
    assert "\n\n" not in said


def test_a_token_without_a_word_fails_with_the_chart_and_the_token() -> None:
    drawn = drawing.curves(drawing.Curves((), "@acceleration@ (m/s²)", "W"))
    chart = Chart("bert-gpu", partial(str), phrase("chart.trace_title", run="a"), "chart.trace_text", args=(("n", 1),))
    with pytest.raises(ChartError, match=r"chart 'bert-gpu': there is no word for the token @acceleration@"):
        chart.localised(drawn, load(), "en")


def test_every_token_is_replaced_by_the_word_of_its_name() -> None:
    chart = Chart("bert-gpu", partial(str), phrase("chart.trace_title", run="a"), "chart.trace_text", args=(("n", 1),))
    said = chart.localised("<svg x=''>@devices@, @speedup......@, @unknown@</svg>", load(), "en")
    assert re.search(r"(?i)devices, speed-?up.*, not known", said)
    assert "@" not in said


def test_text_of_a_log_is_no_token() -> None:
    assert literal("@acceleration@ user@host @a@b@") == "＠acceleration＠ user@host ＠a＠b@"


def test_ids_differ_between_charts_on_one_page() -> None:
    drawn = drawing.trace(TRACE)
    one, two = (set(re.findall(r' id="([^"]+)"', localise(drawn, name, lambda _: "x", "", ""))) for name in "ab")
    assert one
    assert not one & two


def test_names_in_charts_are_text() -> None:
    assert "PyTorch &lt;&amp;&gt; $x$" in drawing.bars(BARS)


def test_long_figures_of_an_axis_get_room() -> None:
    """The title of the axis stands left of its figures, and inside the chart."""
    for most in (9.0, 39_000.0, 1_500_000.0):
        series = (drawing.Series("PyTorch", (most,)), drawing.Series("MXNet", (most / 2,)))
        svg = drawing.bars(drawing.Bars(("1",), series, "words/s"))
        (at,) = re.findall(r'x="([-0-9.]+)"[^>]*>words/s<', svg)
        assert float(at) > 8, most


def test_options_that_all_groups_have_are_not_repeated_below_each() -> None:
    groups = [(4, 4, 100, "reader=A threads=16"), (8, 8, 100, "reader=B threads=16")]
    assert _group_labels(groups) == ("4 × 100 reader=A", "8 × 100 reader=B")
    assert _group_labels(groups[:1]) == ("4 × 100 reader=A threads=16",)


def test_a_trace_marks_slow_records_and_shades_warm_up() -> None:
    drawn = drawing.trace(TRACE)
    assert re.search(r"@slow\.*@", drawn)
    assert re.search(r"@warmup\.*@", drawn)
    assert "@slow" not in drawing.trace(drawing.DrawnTrace((1, 2, 3), (1.0, 1.0, 1.0), 1, 1.0, "x"))


@pytest.mark.parametrize(
    ("given", "wanted"), [("Wide & Deep", "Wide & Deep"), ("&lt;b>", "＆lt;b›"), ("R&D &", "R＆D ＆")]
)
def test_an_ampersand_stands_in_a_title_unless_it_could_begin_an_entity(given: str, wanted: str) -> None:
    assert title(given) == wanted


def test_what_is_written_in_a_chart_keeps_its_decimals() -> None:
    series = drawing.Series("A", (0.00125,), labels=("0.00125",))
    assert ">0.00125</text>" in drawing.bars(drawing.Bars(("lr=0.0625",), (series,), "samples/s"))
    assert ">lr=0.0625</text>" in drawing.bars(drawing.Bars(("lr=0.0625",), (series,), "samples/s"))
