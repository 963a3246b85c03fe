"""Pages of frameworks and hardware: what is won and lost, and that it is what the answers of the front page say."""

from __future__ import annotations

import re
import struct
from collections import Counter
from dataclasses import replace
from html import unescape
from pathlib import Path

import pytest

from perfledger.ingest.common.words import own
from perfledger.ingest.published import publications
from perfledger.ingest.site import scorecards
from perfledger.ingest.site.model import Site, site_of_runs
from perfledger.ingest.site.options import joined
from perfledger.ingest.site.pages import frameworks
from perfledger.ingest.site.render import share
from perfledger.ingest.site.run_tables import stated
from perfledger.schema.records import Run, from_text
from tests import builders
from tests.builders import HARDWARE, run, runs_of
from tests.site.conftest import ledger

WORDS = own()
ROOT = Path(__file__).resolve().parents[2]
SHARED = "SIL Open Font License, Version 1.1"


def kinds(runs: list[Run]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for name, mine in scorecards.placings(site_of_runs(runs)).items():
        found[name] = [each.kind for each in mine]
    return found


def test_the_fastest_wins_and_all_others_lose_as_surely_as_they_are_slower() -> None:
    runs = [*runs_of("PyTorch", 400.0, 3), *runs_of("PaddlePaddle", 320.0, 3), *runs_of("TensorFlow", 200.0, 1)]
    assert kinds(runs) == {"PyTorch": ["clear_win"], "PaddlePaddle": ["clear_loss"], "TensorFlow": ["likely_loss"]}


def test_who_is_too_close_to_the_fastest_ties_and_the_others_lose() -> None:
    runs = [*runs_of("PyTorch", 400.0, 3), *runs_of("PaddlePaddle", 399.9, 3), *runs_of("TensorFlow", 200.0, 3)]
    assert kinds(runs) == {"PyTorch": ["tie"], "PaddlePaddle": ["tie"], "TensorFlow": ["clear_loss"]}


def test_what_may_not_be_compared_is_neither_won_nor_lost() -> None:
    driver = {"environment": {"driver": "535.1"}}, {"environment": {"driver": "550.2"}}
    first = [run(f"a-{n}", speed=400.0, repeat=n, **driver[0]) for n in (1, 2, 3)]
    second = [run(f"b-{n}", framework="TensorFlow", speed=200.0, repeat=n, **driver[1]) for n in (1, 2, 3)]
    assert kinds([*first, *second]) == {}
    words = runs_of("TensorFlow", 9000.0, 3, unit="tokens/s")
    assert kinds([*runs_of("PyTorch", 400.0, 3), *words]) == {}
    assert kinds(runs_of("PyTorch", 400.0, 3)) == {}


def test_a_score_counts_comparisons() -> None:
    runs = [
        *(runs_of("PyTorch", 400.0, 3) + runs_of("TensorFlow", 200.0, 3)),
        *(runs_of("PyTorch", 300.0, 3, devices=2) + runs_of("TensorFlow", 400.0, 3, devices=2)),
        *(runs_of("PyTorch", 100.0, 3, devices=4) + runs_of("TensorFlow", 400.0, 3, devices=4)),
        *runs_of("PyTorch", 800.0, 3, devices=8),
    ]
    found = scorecards.scores(site_of_runs(runs))["PyTorch"]
    assert (found.counts, found.count("clear_win")) == ((1, 0, 2), 1)
    assert [round(each.ratio, 2) for each in found.compared] == [2.0, 0.75, 0.25]


def compared(hardware: str, comparisons: int) -> Site:
    """Return a site where PyTorch is clearly faster than JAX for several cases."""
    runs = [
        each
        for devices in range(1, comparisons + 1)
        for name, speed in (("PyTorch", 400.0), ("JAX", 100.0))
        for each in runs_of(name, speed * devices, 3, devices=devices, hardware=hardware)
    ]
    return site_of_runs(runs)


@pytest.mark.parametrize(
    ("hardware", "comparisons", "telling"),
    [(HARDWARE, 5, True), (HARDWARE, 4, False), ("AMD EPYC (family 25, model 17), 2 cores (CPU)", 5, False)],
)
def test_wins_count_from_five_comparisons_that_are_not_all_on_processors(
    hardware: str, comparisons: int, telling: bool
) -> None:
    site = compared(hardware, comparisons)
    assert scorecards.scores(site)["PyTorch"].is_telling == telling
    page = next(each for each in frameworks.pages(site) if each.title == "PyTorch")
    assert (page.picture is not None) == telling
    content = page.context()
    assert isinstance(content, frameworks.FrameworkPage)
    said = [WORDS.say("en", text) for _, text in content.facts]
    assert said == ["comparisons", *(["clear wins"] if telling else [])]
    assert (content.ratios is not None, bool(content.picture)) == (telling, telling)


@pytest.mark.parametrize(
    ("language", "counted"),
    [("en", "5 won · 0 too close to call · 0 lost"), ("zh", "领先 5 项 · 差距不明显 0 项 · 落后 0 项")],
)
def test_the_picture_has_the_name_the_date_and_the_address_of_the_site(
    language: str, counted: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SITE_URL", "https://example.org/perf/")
    page = next(each for each in frameworks.pages(compared(HARDWARE, 5)) if each.title == "PyTorch")
    assert page.picture is not None
    found = page.picture(WORDS, language)
    assert (found.counts, found.counted) == ((5, 0, 0), counted)
    assert found.foot == "Perfledger · 2026-01-01 · https://example.org/perf/"
    assert found.path == {"en": "share/pytorch.png", "zh": "share/pytorch.zh.png"}[language]
    data = share.draw(found)
    assert (data[:8], struct.unpack(">II", data[16:24])) == (share.SIGNATURE, (1200, 630))
    assert len(data) < 90_000


def test_a_framework_shows_its_published_results_with_the_verdicts_of_the_audit() -> None:
    """84 published results of PaddlePaddle name a log; those that are printed at several places are one row."""
    site = replace(
        site_of_runs([from_text(line.encode(), Run) for line in ledger()]),
        published=publications.read([ROOT / "raw_logs" / "published"]),
    )
    page = next(each for each in frameworks.pages(site) if each.title == "PaddlePaddle").context()
    assert isinstance(page, frameworks.FrameworkPage)
    assert [(n, WORDS.say("en", text)) for n, text in page.facts] == [
        ("2", "comparisons"), ("84", "published results audited"),
    ]  # fmt: skip
    bert = [
        (each.published, each.computed, each.difference.text if each.difference else "", each.audited.verdict)
        for each in page.cases
        if each.audited.row.model == "BERT-base" and each.published in ("665.655", "653.97")
    ]
    assert bert == [
        ("653.97", "665.2165", "+1.7%", "not_supported"), ("665.655", "665.2165", "−0.066%", "reproduced"),
    ]  # fmt: skip
    assert page.throughput is not None
    assert {WORDS.say("en", row[-1].entries[0].text) for row in page.throughput.rows} > {"DLPerf", "PaddlePaddle/Perf"}


def test_a_framework_that_only_others_measured_has_a_page_with_their_figures() -> None:
    published = publications.read([ROOT / "raw_logs" / "published"])
    site = replace(site_of_runs(runs_of("PyTorch", 400.0, 1)), published=published)
    index, *pages = frameworks.pages(site)
    named = [each.title for each in pages]
    assert named[0] == "PyTorch"
    assert set(named) == {"PyTorch", *(row.framework for row in published.rows if row.value is not None)}
    listed = index.context()
    assert isinstance(listed, frameworks.FrameworksIndex)
    assert listed.frameworks is not None
    assert [row[0].entries[0].page for row in listed.frameworks.rows] == [each.path for each in pages]
    page = pages[named.index("OneFlow")].context()
    assert isinstance(page, frameworks.FrameworkPage)
    assert (page.newest, page.comparisons, page.cases) == (None, None, ())
    assert page.throughput is not None
    rows = [[WORDS.say("en", each.entries[0].text) for each in row] for row in page.throughput.rows]
    assert rows[0] == ["ResNet-50 v1.5", "384.9–397.6", "DLPerf"]
    assert {link.text for link in page.models} >= {each.title for each in site.shown if each.id == "bert"}


def test_a_result_states_its_version_driver_and_day() -> None:
    runs = runs_of(
        "PyTorch", 400.0, 1, environment={"driver": "535.1", "cuda": "12.2"}, start="2026-01-02T03:04:05+00:00"
    )
    assert [WORDS.say("en", each) for each in stated(runs[0])][-3:] == [
        "Driver version 535.1",
        "CUDA 12.2",
        "2026-01-02",
    ]
    assert WORDS.say("zh", joined(stated(runs[0]))).endswith("驱动版本 535.1 · CUDA 12.2 · 2026-01-02")


@pytest.mark.parametrize("which", ["made up", "committed"])
def test_placings_are_those_of_the_standings(which: str) -> None:
    runs = builders.runs() if which == "made up" else [from_text(line.encode(), Run) for line in ledger()]
    placings = [each for mine in scorecards.placings(site_of_runs(runs)).values() for each in mine]
    assert len({each.mine.framework for each in placings}) > 1
    for standing in {id(each.standing): each.standing for each in placings}.values():
        there = Counter(each.kind for each in placings if each.standing is standing)
        wins = there["clear_win"] + there["likely_win"]
        assert wins == (standing.verdict.kind in ("clear", "likely"))
        assert there["tie"] == 0 if wins else there["tie"] != 1
        assert not (there["likely_loss"] + there["clear_loss"]) or wins or there["tie"]


@pytest.mark.parametrize("language", ["en", "zh"])
def test_badges_are_pictures_with_code(built: Path, language: str) -> None:
    page = unescape((built / "docs" / language / "frameworks" / "pytorch.md").read_text("utf-8"))
    badges = re.findall(r'<img alt="([^"]+)" src="\.\./\.\./(data/badges/[^"]+\.svg)">', page)
    assert 0 < len(badges) <= frameworks.BADGES
    for label, path in badges:
        assert (built / "docs" / path).is_file()
        assert f"[![{label}](%SITE%/{path})](%SITE%/runs/" in page
        assert len(label) < 60


def test_the_font_of_the_picture_has_every_character_of_its_words() -> None:
    from fontTools.ttLib import TTFont

    known = TTFont(share.FONT).getBestCmap()
    texts = [WORDS.entries[f"scorecard.{name}"]["zh"] for name in ("picture_about", "picture_counts", "picture_line")]
    texts.append(WORDS.entries["hardware.processor"]["zh"])
    assert [each for each in "".join(texts) if ord(each) > 0x2000 and ord(each) not in known] == []
    assert SHARED.encode("utf-16-be") in share.FONT.read_bytes(), "the licence is in the font"
