"""Editions of reports lead to each other, and pending cells are named, in both languages."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from perfledger.ingest.published.declarations import ReportError, reports
from perfledger.ingest.published.publications import Publications, Publisher
from perfledger.ingest.site.model import Site, suites
from perfledger.ingest.site.pages.reports import editions
from perfledger.ingest.site.published_figures import reports_with_figures
from tests.site.test_reports import HEAD, declared, figures, markdown, site_of

ALL = {each.id: each for each in reports()}
EDITIONS = {
    "perf-front": {"perf-front": ("2023", "e7a07c4"), "perf-2021": ("2021", "commit unknown")},
    "perf-deeplabv3p": {
        "perf-deeplabv3p": ("2023", "e7a07c4"), "perf-deeplabv3p-pending": ("date unknown", "commit unknown")
    },
}  # fmt: skip


def text_of(language: str, report: str) -> str:
    return markdown()[language, f"reports/{report}.md"]


@pytest.mark.parametrize("leading", EDITIONS)
def test_the_editions_of_a_report_lead_to_each_other_by_links(leading: str) -> None:
    for shown in EDITIONS[leading]:
        for language, unknown in (("en", {}), ("zh", {"date unknown": "日期不详", "commit unknown": "提交号不详"})):
            line = next(
                each for each in text_of(language, shown).splitlines() if re.search("Editions of|本报告各版", each)
            )
            for edition, known in EDITIONS[leading].items():
                linked = re.search(rf'<a href="{edition}\.md">([^<]+)</a>', line)
                said = re.search(r"<strong>([^<]+)</strong>", line)
                assert bool(linked) == (edition != shown)
                where = linked if linked else said
                assert where
                assert [each for each in known if unknown.get(each, each) not in where[1]] == []


def test_reports_without_another_edition_name_none() -> None:
    assert "Editions of this report" not in text_of("en", "perf-resnet50")
    assert editions(site_of(figures()), ALL["perf-resnet50"]) == ()


@pytest.mark.parametrize("language", ["en", "zh"])
def test_pending_cells_are_called_pending(real_pages: Path, language: str) -> None:
    word = {"en": "pending", "zh": "待测"}[language]
    tables = re.findall(r"<table.*?</table>", text_of(language, "perf-deeplabv3p-pending"), re.DOTALL)
    cells = re.findall(r"<td[^>]*>(.*?)</td>", " ".join(tables), re.DOTALL)
    assert sum(re.sub(r"<[^>]+>", "", each).strip() == word for each in cells) == 18
    assert "not measured" not in " ".join(tables)
    model = (real_pages / language / "models" / "deeplabv3p" / "index.md").read_text("utf-8")
    assert len(re.findall(rf"<td[^>]*>\s*{word}", model)) >= 12
    assert {"en": "pending at the source: 12 values", "zh": "原文待测：12 个数值"}[language] in model


@pytest.mark.parametrize(
    ("edition_of", "message"), [("nowhere", "there is no report 'nowhere'"), ("made", "there is no report 'made'")]
)
def test_an_edition_of_an_unknown_report_or_of_itself_is_refused(tmp_path: Path, edition_of: str, message: str) -> None:
    head = HEAD.replace("order = 1", f'order = 1\nedition_of = "{edition_of}"')
    with pytest.raises(ReportError, match=message):
        declared(tmp_path, "", head=head)


def test_a_source_needs_neither_year_nor_commit() -> None:
    source = figures().sources["PaddlePaddle/Perf, DeepLabV3P with pending cells"]
    assert (source.year, source.commit) == (None, "")


def test_where_the_first_edition_is_not_here_an_edition_stands_alone() -> None:
    known = figures()
    name = ALL["perf-2021"].source
    rows = tuple(row for row in known.rows if row.source == name)
    sources: dict[str, Publisher] = {name: known.sources[name]}
    alone = Site((), (), suites(), lambda _: (), Publications(rows, sources))
    assert [each.id for each in reports_with_figures(alone)] == ["perf-2021"]
    assert editions(alone, ALL["perf-2021"]) == ()
