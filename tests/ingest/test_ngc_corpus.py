"""The NGC collection with its layout: every log is read, and gives the publisher's figure under a rule with a name."""

from __future__ import annotations

import csv
from functools import cache
from pathlib import Path

import pytest

from ingest.read.layout import OWN, load
from ingest.read.walk import Input, walk
from ingest.record.run import runs_of
from schema.records import Run
from tests.corpus import folder, shared

TREE = "corpus/ngc-pytorch"
LISTED = folder("ngc-pytorch") / "expected.csv"
ROWS = list(csv.DictReader(LISTED.read_text().splitlines())) if LISTED.exists() else []
#: How near the rules of this system come to what the publisher took from each log: to the digits printed there. The
#: speed of ResNet-50 is that of computing, without waiting for data, which the log prints too and no rule uses.
NEAR = {"resnet50": 1e-3}
#: What the folder says and the log denies, or what the log contradicts within itself: such a figure is withheld.
DENIED = "contradiction"


@cache
def runs() -> dict[str, list[Run]]:
    named = load("lambda-deeplearning-benchmark")
    found = named.logs_of(walk([shared(TREE)])).inputs
    return {each.name.partition("/")[2]: runs_of(each, named, each.name) for each in found}


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row["path"].removeprefix("results"))
def test_each_log_is_read_or_failed_with_the_line(row: dict[str, str]) -> None:
    (run,) = runs()[row["path"]]
    assert run.format is not None
    if not row["publisher"]:
        lines = (shared(TREE) / row["path"]).read_text("utf-8", "replace").splitlines()
        assert run.outcome == "failed"
        assert lines[run.outcome_line - 1].startswith("Traceback")
        assert [each.code for each in run.problems] == ["no_step"]
        return
    printed = float(row["publisher"])
    found = run.figure("reported")
    assert run.outcome == "completed"
    assert found is not None
    assert found.value == pytest.approx(printed, rel=NEAR.get(row["model"], 5e-6))
    assert found.scope == "job"


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row["path"].removeprefix("results"))
def test_no_published_figure_is_far_from_the_log_without_a_word(row: dict[str, str]) -> None:
    """What is published under the house rule lies near the trainer's own summary: it leaves out start and warm-up."""
    (run,) = runs()[row["path"]]
    sustained = run.figure("sustained")
    if run.published and sustained and run.figure("reported"):
        assert sustained.value == pytest.approx(float(row["publisher"]), rel=0.06)
    if not run.published:
        assert run.problems


SSD = Path("results/2x2080Ti_trt2/PyTorch_SSD_AMP/23-06-2020_20-22-33.txt")
SSD_OF_DLLOGGER = Path("results/H100_80GB_SXM5_v1/PyTorch_SSD_FP32/14-02-2023_05-37-40.txt")


def read(tmp_path: Path, text: str) -> list[Run]:
    log = tmp_path / "a.log"
    log.write_text(text)
    return runs_of(Input(log, "a.log"), load(OWN), "")


def figures(found: list[Run]) -> list[float | None]:
    return [figure.value if (figure := each.figure("reported")) else None for each in found]


def test_appended_runs_of_ssd_are_told_apart(tmp_path: Path) -> None:
    """Every rank announces itself, and is no run of its own; a second run of the program is one."""
    text = (shared(TREE) / SSD).read_text()
    second = text.replace("Training performance = 274.0139465332031", "Training performance = 280.5")
    found = read(tmp_path, text + second)
    assert figures(found) == [pytest.approx(274.0139465), 280.5]
    assert [each.outcome for each in found] == ["completed", "completed"]
    crashed = (
        text.partition("Done benchmarking")[0] + "Traceback (most recent call last):\n  File\nValueError: x\nDONE!\n"
    )
    found = read(tmp_path, crashed + second)
    assert figures(found) == [None, 280.5]
    assert [each.outcome for each in found] == ["failed", "completed"]


def test_ranks_of_ssd_that_print_the_job_each_are_one_run(tmp_path: Path) -> None:
    """Two ranks print parameters and the job's figure; the sum of both is twice too high and is not read."""
    text = (shared(TREE) / SSD_OF_DLLOGGER).read_text()
    doubled = [
        line for line in text.splitlines() for _ in range(1 + (" - PARAMETER " in line or " avg_img/sec" in line))
    ]
    wrong = "\n".join(doubled).replace("Training performance = 524", "Training performance = 1048") + "\n"
    found = read(tmp_path, wrong)
    assert figures(found) == [pytest.approx(524.283, rel=1e-6)]
    assert found[0].facts["batch_size"].value == 256
    assert len(read(tmp_path, wrong * 2)) == 2


def test_the_sum_of_the_ranks_is_not_read_where_dllogger_has_printed(tmp_path: Path) -> None:
    text = (shared(TREE) / SSD_OF_DLLOGGER).read_text()
    without = "".join(line for line in text.splitlines(keepends=True) if "avg_img/sec" not in line)
    assert figures(read(tmp_path, without)) == [None]
