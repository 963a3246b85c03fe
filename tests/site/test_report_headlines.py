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
from perfledger.ingest.site.report_headlines import headline
from tests.site.test_reports import cut_of, declared, markdown, named, one

WORDS = words.load()
BLOCK = '[[block]]\nrows = "devices"\ncolumns = "framework"\nspeedup = "computed"\nseveral = true\n'


def said(found: Sequence[words.Text], language: str = "en") -> list[str]:
    return [WORDS.say(language, each) for each in found]


def made(folder: Path, rows: Sequence[Published]) -> list[str]:
    return said(headline(cut(declared(folder, BLOCK), rows)))


def test_the_front_page_says_who_is_best_and_how_often() -> None:
    """Typed from the tables: TensorFlow leads ResNet-50 in FP32, PaddlePaddle the other nine rows."""
    assert said(headline(cut_of(named("perf-front")))) == [
        "How often each is best at the same batch size, unit, and options:",
        "Throughput (12): PaddlePaddle 9 · NGC TensorFlow 3.",
        "AMP and FP16 count as one kind of precision.",
    ]


def test_less_time_is_better() -> None:
    assert said(headline(cut_of(named("dlperf-wide-deep"))))[1] == "Time per step (14): OneFlow 13 · HugeCTR 1."


@pytest.mark.parametrize("other", [{"batch_size": 16}, {"unit": "words/s"}, {"options": {"clip": "no"}}], ids=str)
def test_nobody_is_called_the_fastest_of_figures_that_differ(tmp_path: Path, other: dict[str, Any]) -> None:
    rows = [one(devices=8, value=10.0), one(**{"framework": "Beta", "devices": 8, "value": 99.0, **other})]
    assert made(tmp_path, rows) == [
        "No two frameworks state the same unit, batch size, and options, so none can be called the fastest."
    ]


def test_words_and_tokens_are_not_compared() -> None:
    assert len(said(headline(cut_of(named("perf-transformer"))))) == 1


def test_a_tie_is_called_one_and_unknown_batch_sizes_are_named(tmp_path: Path) -> None:
    rows = [one(value=10.0, batch_size=None), one(framework="Beta", value=10.0, batch_size=None)]
    found = made(tmp_path, rows)
    assert found[1].endswith(": tie 1.")
    assert found[2] == "The source gives no batch sizes, so it is unknown whether they are the same."


def test_pending_reports_say_so_and_an_empty_one_says_nothing(tmp_path: Path) -> None:
    found = said(headline(cut_of(named("perf-deeplabv3p-pending"))))
    assert found == ["All 18 cells are pending: the source has no results yet."]
    assert made(tmp_path, [one()]) == []


def test_headlines_are_on_the_pages_of_both_languages() -> None:
    for language in ("en", "zh"):
        text = html.unescape(re.sub(r"<[^>]+>", "", markdown()[language, "reports/perf-front.md"]))
        assert [each for each in said(headline(cut_of(named("perf-front"))), language) if each not in text] == []
