"""What a report says at a glance: of figures that may be compared, with digits as printed, and nothing of others."""

from __future__ import annotations

import html
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from perfledger.ingest.common import words
from perfledger.ingest.published.publications import Published
from perfledger.ingest.published.slices import cut
from perfledger.ingest.site.report_headlines import Headline, headline
from tests.site.test_reports import ALL, cut_of, declared, markdown, named, one

WORDS = words.load()
BLOCK = '[[block]]\nrows = "devices"\ncolumns = "framework"\nspeedup = "computed"\nseveral = true\n'


def said(found: Headline, language: str = "en") -> list[str]:
    texts = (*found.sentences, *filter(None, (found.over,)), *found.lines)
    return [WORDS.say(language, each) for each in texts]


def made(folder: Path, rows: Sequence[Published]) -> list[str]:
    return said(headline(cut(declared(folder, BLOCK), rows)))


def test_the_front_page_says_who_is_best_how_often_and_how_far() -> None:
    """Typed from the tables: TensorFlow leads ResNet-50 in FP32, PaddlePaddle the other nine rows."""
    found = said(headline(cut_of(named("perf-front"))))
    assert found[:4] == [
        "How often each is best at the same batch size, unit, and options:",
        "Throughput (12): PaddlePaddle 9 · NGC TensorFlow 3.",
        "AMP and FP16 count as one kind of precision.",
        "Largest setup, 32 devices",
    ]
    assert found[4].endswith("NGC TensorFlow 12,671.9 images/s, 1.15× that of PaddlePaddle (10,984.436 images/s)")
    assert len(found) == 8


def test_the_round_compares_only_what_is_alike() -> None:
    """BERT with the largest batch sizes: 96 and 160 of OneFlow stand beside PaddlePaddle, and not beside NGC."""
    lines = [each for each in said(headline(cut_of(named("dlperf-round")))) if "batch size per device 160" in each]
    assert lines == [
        (
            "BERT-base · AMP · batch size per device 160: OneFlow 15,724.70 sequences/s, 2.88× that of PaddlePaddle"
            " (5,452.35 sequences/s)"
        )
    ]


def test_less_time_is_better_and_memory_that_ran_out_is_counted() -> None:
    found = said(headline(cut_of(named("dlperf-wide-deep"))))
    assert found[1] == "Time per step (14): OneFlow 13 · HugeCTR 1."
    assert found[3] == "Configurations out of memory: HugeCTR 8."
    assert found[-1].endswith("OneFlow 22.399 ms, 0.39× that of HugeCTR (57.718 ms)")


@pytest.mark.parametrize("other", [{"batch_size": 16}, {"unit": "words/s"}, {"options": {"clip": "no"}}], ids=str)
def test_nobody_is_called_the_fastest_of_figures_that_differ(tmp_path: Path, other: dict[str, Any]) -> None:
    rows = [one(devices=8, value=10.0), one(**{"framework": "Beta", "devices": 8, "value": 99.0, **other})]
    assert made(tmp_path, rows) == [
        "No two frameworks state the same unit, batch size, and options, so none can be called the fastest."
    ]


def test_words_and_tokens_are_not_compared() -> None:
    assert len(said(headline(cut_of(named("perf-transformer"))))) == 1


def test_a_report_of_one_framework_says_how_it_scales(tmp_path: Path) -> None:
    rows = [one(value=10.0), one(devices=8, value=75.5), one(devices=32, nodes=4, value=300.2)]
    assert made(tmp_path, rows) == [
        "Largest setup, 32 devices",
        "batch size per device 8: 300.2 images/s, 30.02× one device",
    ]


def test_a_tie_is_called_one_and_unknown_batch_sizes_are_named(tmp_path: Path) -> None:
    rows = [one(value=10.0, batch_size=None), one(framework="Beta", value=10.0, batch_size=None)]
    found = made(tmp_path, rows)
    assert found[1].endswith(": tie 1.")
    assert found[2] == "The source gives no batch sizes, so it is unknown whether they are the same."


def test_pending_reports_say_so_and_an_empty_one_says_nothing(tmp_path: Path) -> None:
    found = said(headline(cut_of(named("perf-deeplabv3p-pending"))))
    assert found == ["All 18 cells are pending: the source has no results yet."]
    assert made(tmp_path, [one()]) == []


@pytest.mark.parametrize("report", ALL, ids=lambda each: each.id)
def test_every_figure_of_a_headline_is_printed_in_its_tables(report: Any) -> None:
    """Ratios and counts are computed; whatever has a unit behind it stands in a table, digit for digit."""
    rows = cut_of(report).rows
    printed = {f"{row.printed} {row.unit}" for row in rows}
    for text in said(headline(cut_of(report))):
        found = re.findall(r"([\d,]+(?:\.\d+)?) ([A-Za-z]+/s|ms|MiB|classes)\b", text)
        assert [each for number, unit in found if (each := f"{number.replace(',', '')} {unit}") not in printed] == []


def test_headlines_are_on_the_pages_of_both_languages() -> None:
    for language in ("en", "zh"):
        text = html.unescape(re.sub(r"<[^>]+>", "", markdown()[language, "reports/perf-front.md"]))
        assert [each for each in said(headline(cut_of(named("perf-front"))), language) if each not in text] == []
