"""The page of the audit, from made-up runs and figures, in both languages."""

from __future__ import annotations

import csv
import re
import shutil
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from perfledger.ingest.common import numbers, words
from perfledger.ingest.published import audit
from perfledger.ingest.published import publications as published_figures
from perfledger.ingest.published.publications import Publications
from perfledger.ingest.site import builder
from perfledger.ingest.site.audit_summary import audit_summary
from perfledger.ingest.site.model import Site
from tests import builders
from tests.site.conftest import BLANK
from tests.site.kinds import LOG, figure, made_up
from tests.site.tabled import rows_in

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


def build(folder: Path, found: Publications, runs: Any = None, **more: Any) -> builder.Built:
    given = builders.runs() if runs is None else runs
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(builder, "drawn", lambda *_: BLANK)
        return builder.build(given, [], folder / "docs", cache=folder / "cache.sqlite", published=found, **more)


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


def test_verdicts_and_differences(audited: Path) -> None:
    text = page(audited, "en")
    line = next(each for each in text.splitlines() if 'data-value="401.6"' in each and "450.25" not in each)
    assert "reproduced" in line
    assert "not supported" not in line
    other = next(each for each in text.splitlines() if "450.25" in each)
    assert "not supported by its log" in other
    assert "12.5" not in text  # its log is not at hand: it counts, and stands in the data
    assert "|[Figures made up](https://example.net/made-up)|1|0|0|2|0|2|" in rows_in(text)


def test_the_largest_deviation_comes_first_and_small_ones_are_no_alarm(audited: Path) -> None:
    """The logs give 401.6 for 401.6 and for 450.25, and 88 for 95."""
    rows = [each for each in page(audited, "en").splitlines() if each.startswith("<tr><th") and "made-up/test/" in each]
    differences = [float(re.findall(r"(−?[\d.]+)%", each)[0].replace("−", "-")) / 100 for each in rows]
    assert differences == sorted(differences, key=abs, reverse=True)
    assert differences == pytest.approx([401.6 / 450.25 - 1, 88.0 / 95 - 1, 0.0], abs=0.002)
    assert ["pl-bad" in each for each in rows] == [True, True, False]


def test_the_histogram_counts_every_figure_with_a_log(audited: Path) -> None:
    between = {"en": ["−20% to −10%", "−10% to −5%", "within ±0.1%"],
               "zh": ["−20%～−10%", "−10%～−5%", "±0.1% 以内"]}  # fmt: skip
    for language in words.LANGUAGES:
        bars = re.findall(r'<li class="pl-(\w+)" title="(.*?)"><b>(\d*)</b>', page(audited, language))
        assert [(side, title, count) for side, title, count in bars if count] == [
            (side, title, "1") for side, title in zip(("below", "below", "within"), between[language], strict=True)
        ]
        assert len(bars) == 13


def test_a_figure_links_to_its_page_its_log_and_our_run(audited: Path) -> None:
    text = "\n".join(rows_in(page(audited, "en")))
    assert "[README.md table 1](https://example.net/made-up/README.md#L7)" in text
    assert f"[{LOG.partition('/')[2]}](https://example.net/made-up/{LOG})" in text
    run = next(each for each in builders.runs() if each.path.endswith(LOG))
    assert f"](runs/{run.id}.md)" in text


def test_pages_that_disagree_are_listed_with_both_places(audited: Path) -> None:
    (line,) = [each for each in page(audited, "en").splitlines() if "401.6 images/s" in each]
    assert "450.25 images/s" in line
    assert "README.md table 1:7" in line
    assert "other.md:7" in line


def test_of_pages_that_print_one_figure_the_finest_is_shown_and_held_against_ours(tmp_path: Path) -> None:
    """The log gives 401.6: 0.149% less than 402.2, and 0.139% less than 402.16."""
    rows = figure(value="402.2"), figure(value="402.16", place="other.md")
    build(tmp_path, publications(tmp_path / "p", rows), [run for run in builders.runs() if run.path.endswith(LOG)])
    (row,) = [each for each in page(tmp_path, "en").splitlines() if "402.16" in each and "data-value" in each]
    assert 'data-value="402.16"' in row
    assert "402.2<" not in row
    assert numbers.signed_percent(401.6 / 402.16 - 1, 3) in row


def test_a_model_without_runs_has_a_page(audited: Path) -> None:
    for language in words.LANGUAGES:
        text = page(audited, language, "models/cyclegan/index.md")
        assert "](../../audit.md)" in text
        assert "models/cyclegan" not in text
        assert "cyclegan/index.md" in page(audited, language, "models/index.md")


def test_the_tables_hold_every_figure(audited: Path) -> None:
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
    assert "The log folders contain no tables of third-party results" in page(changing, "en")


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
    assert summary.recomputed == sum(each.count for each in summary.verdicts) == 3
    assert [(each.verdict, each.count, each.page) for each in summary.verdicts] == [
        (audit.REPRODUCED, 1, "audit.md?verdict=reproduced"),
        (audit.UNSUPPORTED, 2, "audit.md?verdict=not_supported"),
    ]
    assert audit_summary(replace(site, published=Publications())) is None
