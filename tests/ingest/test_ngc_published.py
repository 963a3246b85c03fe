"""What the publisher of the NGC collection prints, entered as published figures: no true one is accused."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Callable
from decimal import ROUND_DOWN, Decimal
from functools import cache
from pathlib import Path

import pytest
from made_trees import Called
from test_published import SOURCE, folder

from ingest.published import audit, publications
from ingest.published.audit import Audited
from ingest.read.layout import load
from ingest.read.walk import walk
from ingest.record.run import runs_of
from schema.records import Figure, Run
from tests.corpus import shared

LAYOUT = "lambda-deeplearning-benchmark"
#: What each model's figure counts.
UNITS = {
    "SSD": "images/s", "resnet50": "images/s", "maskrcnn": "images/s", "gnmt": "tokens/s", "ncf": "samples/s",
    "transformerxlbase": "tokens/s", "transformerxllarge": "tokens/s", "tacotron2": "items/s", "waveglow": "items/s",
    "bert_base_squad": "sequences/s", "bert_large_squad": "sequences/s",
}  # fmt: skip
#: Its figures are inflated by steps that were never done.
INFLATED = "results/1080Ti/PyTorch_bert_large_squad_FP16/03-03-2020_10-35-27.txt"


@cache
def runs() -> tuple[Run, ...]:
    named = load(LAYOUT)
    found = named.logs_of(walk([shared("corpus/ngc-pytorch")])).inputs
    return tuple(run for each in found for run in runs_of(each, named, each.name))


def rows() -> list[dict[str, str]]:
    given = csv.DictReader((shared("corpus/ngc-pytorch") / "expected.csv").read_text().splitlines())
    return [row for row in given if row["publisher"]]


def printed(row: dict[str, str], digits: str) -> str:
    """Return the publisher's figure as its log has it, or as its tables truncate it."""
    number = Decimal(row["publisher"])
    return f"{number:f}" if digits == "all" else str(number.quantize(Decimal(1), ROUND_DOWN))


def table(tmp_path: Path, digits: str, factor: int = 1) -> list[Audited]:
    """Enter the figures as published, each with the case of its log, and audit them."""
    cases = {run.path.partition("/")[2]: run.case for run in runs()}
    entered = []
    for row in rows():
        case = cases[row["path"]]
        value = Decimal(printed(row, digits)) * factor
        entered.append(
            dict.fromkeys(publications.COLUMNS, "")
            | {
                "source": "Made up", "place": "results", "log": row["path"], "model": str(case.model),
                "framework": "NGC PyTorch", "hardware": str(case.hardware), "devices": str(case.devices),
                "precision": {"FP32": "fp32", "FP16": "fp16", "AMP": "amp"}[row["stated_precision"]],
                "metric": "throughput", "unit": UNITS[row["model"]], "value": f"{value:f}", "state": "measured",
            }
        )  # fmt: skip
    held = publications.read([folder(tmp_path / "published", entered, source=SOURCE)])
    assert held.problems == ()
    return list(audit.audit(held, runs()))


@pytest.mark.parametrize("digits", ["all", "whole"])
def test_no_true_figure_is_accused(tmp_path: Path, digits: str) -> None:
    found = table(tmp_path, digits)
    assert len(found) == len(rows()) == 58
    verdicts = Counter(each.verdict for each in found)
    assert set(verdicts) <= {audit.REPRODUCED, audit.OTHER_RULE}, [
        (each.row.log, each.verdict, each.closest) for each in found
        if each.verdict not in {audit.REPRODUCED, audit.OTHER_RULE}
    ]  # fmt: skip


def test_false_figures_are_told_apart_from_true_ones(tmp_path: Path) -> None:
    """The same figures three times as high are not supported, and no other log's: none is of the same case."""
    for each in table(tmp_path, "all", 3):
        denied = audit.contradictions(each.run)
        assert (each.verdict, each.other) == (audit.OTHER_LOG if denied else audit.UNSUPPORTED, None)


def test_an_inflated_figure_is_shown_with_the_witness_that_disagrees(tmp_path: Path) -> None:
    (found,) = (each for each in table(tmp_path, "all") if each.row.log == INFLATED)
    assert found.verdict == audit.OTHER_RULE
    assert found.closest is not None
    assert found.closest.rule == "reported"
    (problem,) = audit.refutations(found.run)
    assert (problem.code, problem.args["value"], problem.args["against"]) == ("witness_summary", "9.8", "8.3333")


def test_the_page_shows_the_witness(tmp_path: Path, ingest: Callable[..., Called]) -> None:
    logs = tmp_path / "logs"
    log = logs / INFLATED
    log.parent.mkdir(parents=True)
    log.write_bytes((shared("corpus/ngc-pytorch") / INFLATED).read_bytes())
    case = {"model": "BERT-large SQuAD", "framework": "NGC PyTorch", "hardware": "GTX 1080 Ti", "precision": "fp16"}
    stated = {"source": "Made up", "place": "results", "log": INFLATED, "devices": "1", "state": "measured"}
    figure = dict.fromkeys(publications.COLUMNS, "") | case | stated
    figure |= {"metric": "throughput", "unit": "sequences/s", "value": "9.8"}
    folder(logs / "published", [figure], source=SOURCE)
    ingest(logs, "--layout", LAYOUT, "--out", tmp_path / "docs")
    page = (tmp_path / "docs" / "en" / "audit.md").read_text("utf-8")
    assert "the same log disagrees (summary): 9.8 vs. 8.3333 sequences/s" in page


def test_every_published_figure_is_that_of_a_rule_with_a_name() -> None:
    """To the digits that the publisher prints, or the ten that we keep."""
    by_path = {run.path.partition("/")[2]: run for run in runs()}
    for row in rows():
        wanted, found = float(row["publisher"]), by_path[row["path"]].figures
        last = 0.5 * 10.0 ** -len(row["publisher"].partition(".")[2])
        values = {name: each.value for name, each in found.items() if isinstance(each, Figure)}
        assert [name for name, each in values.items() if abs(each - wanted) <= max(last, 1e-9 * wanted)], (row, values)
