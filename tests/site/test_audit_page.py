"""The page of the audit, from made-up runs and figures, in both languages."""

from __future__ import annotations

import csv
import html
import re
import shutil
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from perfledger.ingest.common import numbers, words
from perfledger.ingest.published import audit
from perfledger.ingest.published import publications as published_figures
from perfledger.ingest.published.publications import Publications
from perfledger.ingest.read import walk
from perfledger.ingest.site import addresses, builder
from perfledger.ingest.site.audit_summary import audit_summary
from perfledger.ingest.site.model import Site, site_of_runs
from perfledger.schema.records import Figure
from tests import builders
from tests.site.kinds import LOG, figure, made_up

Visit = Callable[..., Any]
FIGURES = (
    figure(),
    figure(place="other.md", value="450.25"),
    figure(log="test/bert-pytorch-1/train.log", model="BERT-base", unit="sequences/s", value="95"),
    figure(log="test/nowhere.log", value="12.5", devices="8"),
    figure(log="", model="CycleGAN", value="", state="oom"),
    figure(log="", model="CycleGAN", value="7.25"),
)


def publications(path: Path, rows: Iterable[Mapping[str, str]] = FIGURES) -> Publications:
    found = published_figures.read([made_up(path, rows)])
    assert found.problems == ()
    return found


def build(folder: Path, found: Publications, runs: Any = None) -> builder.Built:
    site = site_of_runs(builders.runs() if runs is None else runs, published=found)
    return builder.build(site, folder / "docs", folder / "cache.sqlite")


@pytest.fixture(scope="module")
def audited(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("audited")
    build(folder, publications(folder / "published"))
    return folder


@pytest.fixture
def changing(audited: Path, tmp_path: Path) -> Path:
    """Return a copy of the pages and of the build's cache, for a test that changes its figures."""
    return Path(shutil.copytree(audited, tmp_path / "changing"))


def page(folder: Path, language: str, name: str = "audit.md") -> str:
    return (folder / "docs" / language / name).read_text("utf-8")


def cases(text: str) -> list[str]:
    """Return the rows of the audit's own table, as HTML."""
    return re.findall(r"<tr data-f-source.*?</tr>", text, re.DOTALL)


def case_of(text: str, value: str) -> str:
    """Return the row of a published value."""
    return next(each for each in cases(text) if f'>{value}</span> <small class="pl-unit">' in each)


def test_verdicts_and_differences(audited: Path) -> None:
    text = page(audited, "en")
    same, other = case_of(text, "401.6"), case_of(text, "450.25")
    assert "reproduced" in same
    assert "not supported" not in same
    assert "not supported by its log" in other
    assert "12.5" not in text  # its log is not at hand: it is in the data only


def test_the_largest_deviation_comes_first_with_a_bar_on_its_side(audited: Path) -> None:
    """The logs give 401.6 for 401.6 and for 450.25, and 88 for 95."""
    rows = cases(html.unescape(page(audited, "en")))
    shares = [float(share) for each in rows for share in re.findall(r'</i><span data-value="(.*?)"', each)]
    assert shares == sorted(shares, key=abs, reverse=True)
    assert shares == pytest.approx([401.6 / 450.25 - 1, 88.0 / 95 - 1, 0.0], abs=0.0001)
    bars = [re.findall(r"pl-signed pl-(\w+)\" style=\"--w:([\d.]+)", each) for each in rows]
    assert bars == [[("below", "100.0")], [("below", "73.7")], [("within", "0.0")]]
    assert "−7.4%" in rows[1]


def test_the_histogram_counts_every_figure_with_a_log(audited: Path) -> None:
    for language in words.LANGUAGES:
        bars = re.findall(r'<li class="pl-(\w+)"><b>(\d*)</b>.*?<small>(.*?)</small>', page(audited, language))
        assert [each for each in bars if each[1]] == [
            ("below", "1", "−20%"), ("below", "1", "−10%"), ("within", "1", "±0.1%")
        ]  # fmt: skip
        assert len(bars) == 13
        assert "3" in re.findall(r"<figcaption>(.*?)</figcaption>", page(audited, language))[0]


def test_a_figure_links_to_its_page_its_lines_and_our_run(audited: Path) -> None:
    row = case_of(page(audited, "en"), "401.6")
    assert '<a href="https://example.net/made-up/README.md#L7" title="README.md table 1">README.md</a>' in row
    run = next(each for each in builders.runs() if each.path.endswith(LOG))
    assert f'<a href="runs/{run.id}.md">401.6</a>' in row
    found = run.figures[run.rule]
    assert isinstance(found, Figure)
    lines = f'<a href="https://example.net/made-up/{LOG}">lines {found.first_line}–{found.last_line}</a>'
    assert lines in row, "without a page of the log, the lines are at the source"


def test_lines_have_an_anchor_where_the_source_keeps_its_logs_on_a_forge(tmp_path: Path) -> None:
    folder = made_up(tmp_path / "p", [figure(value="88", log="test/one.log")])
    sources = folder / walk.SOURCES
    sources.write_text(sources.read_text("utf-8").replace("/made-up/{path}", "/blob/1a2b/{path}"), "utf-8")
    one = next(each for each in builders.runs() if each.path.endswith(LOG))
    build(tmp_path, published_figures.read([folder]), [builders.edited(one, path="tree/test/one.log")])
    (row,) = cases(page(tmp_path, "en"))
    assert re.search(r'href="https://example.net/blob/1a2b/test/one.log#L\d+-L\d+">lines', row)


def test_pages_that_disagree_are_listed_with_both_places(audited: Path) -> None:
    (line,) = [each for each in page(audited, "en").splitlines() if "401.6 images/s" in each]
    assert "450.25 images/s" in line
    assert "README.md table 1:7" in line
    assert "other.md:7" in line


def test_pages_that_print_one_figure_share_a_row_with_the_finest_value_and_an_id_each(tmp_path: Path) -> None:
    """The log gives 401.6: 0.149% less than 402.2, and 0.139% less than 402.16."""
    found = publications(tmp_path / "p", (figure(value="402.2"), figure(value="402.16", place="other.md")))
    build(tmp_path, found, [run for run in builders.runs() if run.path.endswith(LOG)])
    (row,) = cases(page(tmp_path, "en"))
    assert 'data-value="402.16"' in row
    assert ">402.2<" not in row
    assert numbers.signed_percent(401.6 / 402.16 - 1, 3) in row
    assert all(f'<span id="{addresses.audit_anchor(each)}">' in row for each in found.rows)
    assert 'data-n="2"' in row


def test_a_model_without_runs_has_a_page(audited: Path) -> None:
    for language in words.LANGUAGES:
        text = page(audited, language, "models/cyclegan/index.md")
        assert '<a href="../../audit.md">' in text
        assert "models/cyclegan" not in text
        assert "cyclegan/index.md" in page(audited, language, "models/index.md")


def test_the_tables_contain_every_figure(audited: Path) -> None:
    data = audited / "docs" / "data"
    assert (data / "published.csv").read_text("utf-8").count("\n") == len(FIGURES) + 1
    rows = list(csv.DictReader((data / "audit.csv").read_text("utf-8").splitlines()))
    assert [each["published"] for each in rows] == ["401.6", "450.25", "95", "12.5"]
    assert [each["verdict"] for each in rows] == [audit.REPRODUCED, audit.UNSUPPORTED, audit.UNSUPPORTED, audit.NO_LOG]


def test_a_changed_figure_makes_its_pages_again_and_no_run_page(changing: Path) -> None:
    assert build(changing, publications(changing / "published")).written == ()
    changed = [figure(value="402.6"), *FIGURES[1:]]
    written = build(changing, publications(changing / "published", changed)).written
    assert {"en/audit.md", "zh/audit.md", "data/audit.csv", "data/published.csv"} <= set(written)
    assert not [name for name in written if "/runs/" in name]


@pytest.mark.parametrize("remembered", [True, False])
def test_without_figures_the_page_says_so_and_tables_go(changing: Path, remembered: bool) -> None:
    if not remembered:
        (changing / "cache.sqlite").unlink()
    built = build(changing, Publications())
    assert {"data/audit.csv", "data/published.csv"} <= set(built.removed)
    assert "The log folders contain no tables of results published by others" in page(changing, "en")


def test_the_page_is_in_the_navigation(whole: Path) -> None:
    for language, title in (("", "Audit"), ("zh/", "数据核验")):
        # Listed with the reports, whose tab every page has.
        assert f">{title}<" in re.sub(r"\s+", "", (whole / language / "reports" / "index.html").read_text("utf-8"))


@pytest.mark.parametrize(
    ("share", "said"), [(0.01162, "+1.162%"), (-0.0019, "−0.190%"), (-1e-7, "0.000%"), (0.0, "0.000%")]
)
def test_a_difference_is_written_as_finely_as_the_tolerance_needs(share: float, said: str) -> None:
    assert numbers.signed_percent(share, 3) == said


def test_the_card_counts_every_verdict_and_links_to_its_results(audited: Path) -> None:
    runs = tuple(builders.runs())
    site = Site(runs, (), (), lambda _: (), publications(audited / "published"))
    summary = audit_summary(site)
    assert summary is not None
    assert summary.recomputed == 3
    assert [(words.own().say("en", each.text), each.page) for each in summary.verdicts] == [
        ("1 reproduced", "audit.md?verdict=reproduced"), ("2 not supported", "audit.md?verdict=not_supported")
    ]  # fmt: skip
    assert audit_summary(replace(site, published=Publications())) is None


def test_chips_choose_rows_and_the_choice_is_in_the_address(visit: Visit, home: str) -> None:
    """A page has two published values with a log: one that the log gives, and one that it does not."""
    page = visit(f"{home}audit/", wide=1440)
    rows = page.locator(".pl-audit tbody tr:visible")
    assert rows.count() == 2
    table = page.locator(".pl-audit").bounding_box()
    assert table["width"] <= page.locator("article").bounding_box()["width"]
    page.get_by_role("button", name="not supported by its log 1").click()
    assert page.url.endswith("audit/?verdict=not_supported")
    assert "450.25" in rows.inner_text()
    assert page.locator(".pl-chips [role=status]").inner_text() == "Values: 1. Rows: 1."
    page.get_by_role("button", name="not supported by its log 1").click()
    assert rows.count() == 2
    page.goto(f"{home}zh/audit/?verdict=reproduced&hardware=Nowhere")
    assert "401.6" in rows.inner_text()
    assert "Nowhere" in page.locator(".pl-chips [role=status]").inner_text()
    plain = visit(f"{home}audit/?verdict=reproduced", java_script_enabled=False)
    assert plain.locator(".pl-audit tbody tr:visible").count() == 2
    assert not plain.locator(".pl-chips").is_visible()


def test_on_a_phone_each_result_is_a_card(visit: Visit, home: str) -> None:
    page = visit(f"{home}audit/", wide=390, high=844)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    boxes = [page.locator(".pl-audit tbody tr").first.locator("> *").nth(each).bounding_box() for each in range(5)]
    assert len({box["y"] for box in boxes[1:4]}) == 1, "published, from the log and the difference are in one line"
    assert boxes[0]["y"] < boxes[1]["y"] < boxes[4]["y"]
