"""Links of the reports: editions, the report before and after, and siblings; in both languages, without scripts."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import pytest

from perfledger.ingest.published.declarations import Report, ReportError, reports
from perfledger.ingest.published.publications import Publications, Publisher
from perfledger.ingest.site.model import Site, suites
from perfledger.ingest.site.report_links import Links, Shelf, links, shelf
from tests.site.test_reports import HEAD, declared, figures, markdown, site_of

ALL = {each.id: each for each in reports()}
EDITIONS = {
    "perf-front": {"perf-front": ("2023", "e7a07c4"), "perf-2021": ("2021", "commit unknown")},
    "perf-deeplabv3p": {
        "perf-deeplabv3p": ("2023", "e7a07c4"), "perf-deeplabv3p-pending": ("date unknown", "commit unknown")
    },
}  # fmt: skip


@cache
def made() -> Shelf:
    return shelf(site_of(figures()))


def of(identifier: str) -> Links:
    return links(made(), ALL[identifier])


def pages(found: tuple[object, ...]) -> list[str]:
    return [str(getattr(each, "page", "")).removeprefix("reports/").removesuffix(".md") for each in found]


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
                linked = re.search(rf"\[([^\]]+)\]\({edition}\.md\)", line)
                said = re.search(r"\*\*([^*]+)\*\*", line)
                assert bool(linked) == (edition != shown)
                where = linked if linked else said
                assert where
                assert [each for each in known if unknown.get(each, each) not in where[1]] == []


def test_reports_without_another_edition_name_none() -> None:
    assert "Editions of this report" not in text_of("en", "perf-resnet50")
    assert of("perf-resnet50").editions == ()


def test_previous_and_next_go_through_all_reports_of_a_publisher() -> None:
    for first in ("perf-front", "dlperf-round"):
        series = [each.id for each in made().series(ALL[first])]
        assert of(series[0]).previous is None
        assert of(series[-1]).next is None
        walked = [first]
        while following := of(walked[-1]).next:
            walked += pages((following,))
            back = of(walked[-1]).previous
            assert back is not None
            assert pages((back,)) == walked[-2:-1]
        assert walked == series
    assert "perf-2021" in walked or "perf-2021" in [each.id for each in made().series(ALL["perf-front"])]


def test_a_framework_page_leads_to_its_models_report_and_back() -> None:
    assert "perf-resnet50" in pages(of("perf-mxnet-resnet50").same_model)
    assert "perf-mxnet-resnet50" in pages(of("perf-resnet50").same_model)
    assert "perf-bert" in pages(of("perf-resnet50").same_section)
    assert "perf-mxnet-resnet50" not in pages(of("perf-bert").same_model)
    assert "dlperf-mxnet-resnet50" not in pages(of("perf-resnet50").same_model)


def test_a_summary_of_many_models_has_only_the_siblings_of_its_section() -> None:
    assert of("perf-front").same_model == ()
    assert pages(of("dlperf-round").same_section) == ["dlperf-summaries"]


def test_no_report_is_its_own_sibling_and_each_sibling_stands_once() -> None:
    for identifier in ALL:
        found = of(identifier)
        siblings = pages((*found.same_model, *found.same_section))
        assert identifier not in siblings
        assert len(set(siblings)) == len(siblings)


@pytest.mark.parametrize("language", ["en", "zh"])
def test_links_are_at_the_top_and_with_full_titles_at_the_bottom(language: str) -> None:
    text = text_of(language, "perf-bert")
    top, _, bottom = text.partition("\n## ")
    for page in ("perf-resnet50", "perf-transformer"):
        assert f"]({page}.md)" in top
        assert f"[{getattr(ALL[page].title, language)}]({page}.md)" in bottom


@pytest.mark.parametrize("language", ["en", "zh"])
def test_pending_cells_are_called_pending(real_pages: Path, language: str) -> None:
    word = {"en": "pending", "zh": "待测"}[language]
    tables = re.findall(r"<table.*?</table>", text_of(language, "perf-deeplabv3p-pending"), re.DOTALL)
    cells = re.findall(r"<td[^>]*>(.*?)</td>", " ".join(tables), re.DOTALL)
    assert sum(re.sub(r"<[^>]+>", "", each).strip() == word for each in cells) == 18
    assert "not measured" not in " ".join(tables)
    model = (real_pages / language / "models" / "deeplabv3p" / "index.md").read_text("utf-8")
    assert len(re.findall(rf"<td[^>]*>\s*{word}", model)) >= 12


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
    found = shelf(Site((), (), suites(), lambda _: (), Publications(rows, sources)))
    alone: list[Report] = list(found.reports)
    assert [each.id for each in alone] == ["perf-2021"]
    assert links(found, alone[0]) == Links((), None, None, (), ())
