"""Pages of results over time: their figures, words and links, in both languages."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Sequence
from html import unescape
from pathlib import Path

import pytest

from perfledger.ingest.common import words
from perfledger.ingest.common.words import LANGUAGES, WordsEntry
from perfledger.ingest.read.change_notes import ChangeNote, ChangeNotes
from perfledger.ingest.site import builder
from perfledger.ingest.site.history import model_histories
from perfledger.ingest.site.history_charts import of_results as of_results_drawn
from perfledger.ingest.site.model import Site, site_of_runs
from perfledger.ingest.site.pages.history import table as history_table
from perfledger.ingest.site.render import drawing
from perfledger.ingest.site.render.chart import Lines
from perfledger.ingest.site.render.table import Table
from perfledger.schema.records import Run
from tests import builders

ROOT = Path(__file__).resolve().parents[2]


def table(pages: Path, language: str, suite: str, name: str) -> list[dict[str, str]]:
    """Return the rows of a table of a page, by the keys of its columns."""
    page = (pages / language / "models" / suite / "history.md").read_text("utf-8")
    found = re.search(rf'data-name="{name}-?\d*"[^>]*>(.*?)</table>', page, re.DOTALL)
    assert found, name
    keys = re.findall(r'data-key="(\w+)"', found[1])
    lines = re.findall(r"<tr>(.*?)</tr>", found[1].partition("<tbody>")[2], re.DOTALL)
    cells = [re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", line, re.DOTALL) for line in lines]
    return [dict(zip(keys, map(_text, line), strict=True)) for line in cells]


def _text(cell: str) -> str:
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", cell)).split())


@pytest.mark.parametrize("language", LANGUAGES)
def test_our_results_of_two_days(real_pages: Path, language: str) -> None:
    known = words.load()
    rows = table(real_pages, language, "fastscnn", "history")
    assert [row["date"].split()[0] for row in rows] == ["2026-11-20", "2026-11-21"] * 2
    assert [row["figure"].split()[0] for row in rows] == ["10.1", "10.7", "11", "10.7"]
    assert re.fullmatch(r"[\d.]+–[\d.]+×", rows[1]["previous"]), "too few runs for a word"
    assert rows[3]["previous"].startswith(known.text(language, "history.word_no_change"))
    assert all("changed" not in row for row in rows), "a kernel is not a cause"


def test_the_pages_are_linked_from_the_models_that_have_one(real_pages: Path) -> None:
    for language in LANGUAGES:
        text = words.load().text(language, "history.link")
        for page in (real_pages / language / "models").glob("*/index.md"):
            linked = f'<a href="history.md">{text}</a>' in page.read_text("utf-8")
            assert linked == page.with_name("history.md").is_file(), page


def runs(speeds: Sequence[Sequence[float]], **other: object) -> list[Run]:
    """Return repeats of one case, those of each version on a day of its own."""
    return [
        builders.run(
            f"v{at}-{repeat}", speed=speed, repeat=repeat, start=f"2026-{at:02}-01T00:00:00Z",
            environment={"driver": f"53{at}", "framework_version": f"2.{at}"}, **other,  # type: ignore[arg-type]
        )
        for at, mine in enumerate(speeds, 1)
        for repeat, speed in enumerate(mine, 1)
    ]  # fmt: skip


NOTES = ChangeNotes((
    ChangeNote(text=WordsEntry("Driver updated", "驱动升级"), date=dt.date(2026, 1, 15)),
    ChangeNote(text=WordsEntry("Kernels fused", "算子融合"), version="2.3", link="https://example.org/3"),
    ChangeNote(text=WordsEntry("Elsewhere", "别处"), version="2.3", framework="JAX"),
    ChangeNote(text=WordsEntry("Later", "之后"), date=dt.date(2026, 6, 1)),
    ChangeNote(text=WordsEntry("<b>bold</b> `code`", "<b>粗体</b> `代码`"), round="v1", model="bert"),
))  # fmt: skip


def site_of(given: Sequence[Run], notes: ChangeNotes = NOTES) -> Site:
    return site_of_runs(given, changes=notes)


def own(site: Site) -> Table:
    (suite,) = site.shown
    found = history_table(site, suite, model_histories(site)[suite.id])
    assert found is not None
    return found


def column(found: Table, key: str, language: str) -> list[str]:
    at = found.keys(known := words.load()).index(key)
    texts = ([[entry.text, *entry.marks] for entry in row[at].entries] for row in found.rows)
    return [" | ".join(" ".join(known.say(language, each) for each in one if each) for one in row) for row in texts]


def test_a_version_is_a_point_with_its_words_and_changes() -> None:
    found = own(site_of(runs([(400, 401, 402), (380, 381, 382), (420, 421, 422)])))
    assert column(found, "date", "en") == ["2026-01-01 2.1", "2026-02-01 2.2", "2026-03-01 2.3"]
    assert column(found, "previous", "en") == [
        "", "regression 0.95×", "improvement 1.10–1.11× | improvement 1.04–1.05× versus 2.1",
    ]  # fmt: skip
    assert [each.partition(" ")[0] for each in column(found, "previous", "zh")] == ["", "性能回退", "性能提升"]
    changed = column(found, "changed", "en")
    assert changed[0] == ""
    assert changed[1] == "Driver version: 531 → 532 | Driver updated"
    assert changed[2] == "Driver version: 532 → 533 | Kernels fused"


def test_of_an_entry_the_address_is_linked() -> None:
    found = own(site_of(runs([(400,), (380,), (420,)])))
    at = found.keys(words.load()).index("changed")
    assert [entry.page for entry in found.rows[2][at].entries][-1] == "https://example.org/3"


def test_one_point_has_no_history() -> None:
    assert model_histories(site_of(runs([(400, 401, 402)]))) == {}


def test_other_batch_sizes_have_their_own_history() -> None:
    first, second = runs([(400,), (500,)])
    site = site_of([first, builders.edited(second, case={"batch_size": 128})])
    assert model_histories(site) == {}


def scored(identifier: str, edition: str, minutes: float, **figures: object) -> Run:
    """Return a run of a round with a score."""
    score = builders.figure(minutes, "min")
    fact = {"value": edition, "source": "layout", "where": "path"}
    return builders.edited(
        builders.run(identifier), start=None, facts={"round": fact}, metrics={"time_to_train": score}, figures=figures
    )


def test_scores_of_two_rounds_are_one_history_whatever_their_throughput() -> None:
    """A throughput that is withheld in one round has no unit there; the score is still compared."""
    without = builders.absent("not_stated", missing="summary")
    given = [scored(f"a{at}", "v5.0", 12.0 + at, sustained=without, median=without) for at in range(3)]
    given += [scored(f"b{at}", "v5.1", 10.0 + at) for at in range(3)]
    site = site_of(given)
    (suite,) = site.shown
    (found,) = model_histories(site)[suite.id]
    assert [(each.point.round, each.point.figure.value) for each in found.moments] == [("v5.0", 13.0), ("v5.1", 11.0)]


def test_runs_without_a_figure_are_left_out() -> None:
    first, second = runs([(400,), (500,)])
    site = site_of([first, builders.edited(second, outcome="oom", published=False)])
    assert model_histories(site) == {}


def test_the_commands_put_entries_on_the_pages(tmp_path: Path) -> None:
    site = site_of_runs(runs([(400,), (380,), (420,)]), changes=NOTES)
    builder.build(site, tmp_path / "docs", tmp_path / "cache.sqlite")
    for language, text in (("en", "Kernels fused"), ("zh", "算子融合")):
        page = (tmp_path / "docs" / language / "models" / "resnet50" / "history.md").read_text("utf-8")
        assert f'<a href="https://example.org/3">{text}</a>' in page
        assert "Elsewhere" not in page
        assert "Later" not in page


def test_a_model_without_a_history_has_no_page_of_it(tmp_path: Path) -> None:
    first, second = runs([(400,), (500,)])
    gone = builders.absent("not_stated", missing="summary")
    lost = builders.edited(second, figures={"sustained": gone, "median": gone})
    builder.build(site_of_runs([first, lost]), tmp_path / "docs", tmp_path / "cache.sqlite")
    folder = tmp_path / "docs" / "en" / "models" / "resnet50"
    assert [(folder / name).exists() for name in ("index.md", "history.md")] == [True, False]


def test_a_new_entry_is_a_new_build(tmp_path: Path) -> None:
    given = runs([(400,), (380,)])
    for notes, written in ((ChangeNotes(), True), (ChangeNotes(), False), (NOTES, True)):
        built = builder.build(site_of_runs(given, changes=notes), tmp_path / "docs", tmp_path / "cache.sqlite")
        assert bool(built.written) == written


def test_a_framework_leads_to_its_histories(real_pages: Path) -> None:
    for language, text in (("en", "Results over time: "), ("zh", "历史变化：")):
        page = (real_pages / language / "frameworks" / "paddleseg.md").read_text("utf-8")
        assert re.search(rf'{text}<a href="\.\./models/fastscnn/history\.md">', page)
        assert "models/bert/history.md" not in page


def test_lines_that_say_no_more_than_a_row_are_not_drawn() -> None:
    """Two points of one configuration are a row; two lines, or three points, are a picture."""
    two = site_of(runs([(400,), (380,)]))
    (suite,) = two.shown
    assert of_results_drawn(two, suite, model_histories(two)[suite.id]) == []
    three = site_of(runs([(400, 410), (380, 390), (420, 430)]))
    (chart,) = of_results_drawn(three, suite, model_histories(three)[suite.id])
    assert chart.name == "resnet50-history-pytorch-test-accelerator-made-up-fp32-images-s"
    (line,) = chart.spec.series
    assert [(each.n, each.y, each.low, each.high) for each in line.points] == [
        (2, 405, 400, 410), (2, 385, 380, 390), (2, 425, 420, 430),
    ]  # fmt: skip
    assert all(each.href.startswith("runs/") for each in line.points)


@pytest.mark.parametrize(("language", "text"), [("en", "level changes here"), ("zh", "水平由此改变")])
def test_a_chart_marks_where_the_level_changes(language: str, text: str) -> None:
    """Six months at 400, six at 500: the mark is on the seventh point, and is written once."""
    site = site_of(runs([(speed + at % 2,) for at, speed in enumerate([400] * 6 + [500] * 6)]))
    (suite,) = site.shown
    (chart,) = of_results_drawn(site, suite, model_histories(site)[suite.id])
    said = chart.said(words.load(), language)
    assert isinstance(said, Lines)
    assert [point.step for point in said.series[0].points] == [""] * 6 + [text] + [""] * 5
    assert drawing.draw(said, drawing.WIDE, str).count(f">{text}</text>") == 1
