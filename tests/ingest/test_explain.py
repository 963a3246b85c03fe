"""`explain` prints how a figure is computed, so that a reader can repeat it by hand."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from made_logs import pytorch_bert, run_json, seg
from made_trees import Called, write_run

from tests.parsers.golden import logs

Ingest = Callable[..., Called]


def explained(ingest: Ingest, log: Path, *more: object) -> str:
    called = ingest("explain", log, *more)
    assert (called.code, called.err) == (0, "")
    return called.out


def test_a_figure_is_explained_with_lines_and_arithmetic(tmp_path: Path, ingest: Ingest) -> None:
    log = write_run(
        tmp_path, "x/1", ["GPUs used: 2", *seg([1.0, 10.0, 20.0, 10.0, 20.0, 10.0])], run=run_json(devices=2)
    )
    out = explained(ingest, log)
    for said in (
        "paddle.seg (PaddleSeg, first on line 2)",
        "session    1 of 1, lines 1-7, truncated, step 60 of 9999",
        "fact       batch_size = 4   (run.json)",
        "fact       framework = PaddlePaddle   (run.json)",
        "records    6 of span interval, scope device, unit samples/s",
        "used       5 records: lines 3-7",
        "dropped    1 records: line",
        "median     20 samples/s (job), 5 used, 1 dropped, lines 3-7: median of 5 × 2",
        "mean       28 samples/s (job)",
        "Σ / n: 70 / 5 × 2",
        "sustained",
        "Σ samples / Σ s: ",
        "reported   —  not_stated, missing summary",
        "paddle     —  too_few_records, records 6, needed 21",
        "witness    arithmetic agrees: 4 against 4 samples printed (+0 %",
        "witness    clock is silent (coarse_clock, ",
        "witness    physics is silent (not_stated, missing operations)",
    ):
        assert said in out, (said, out)
    assert f"sustained  {5 / (3 / 20 + 2 / 40):.10g} samples/s" in out


def test_other_metrics_are_explained_too(tmp_path: Path, ingest: Ingest) -> None:
    log = write_run(tmp_path, "x/1", seg([10.0, 10.0, 20.0, 10.0, 20.0, 20.0]), run=run_json())
    out = explained(ingest, log)
    assert "latency    280 ms, log, lines 2-6: 1000 × Σ s / Σ steps: 1000 × 14 / 50" in out
    assert "loss       2.0594, log, lines 6-6: 2.0594 → 2.0594" in out
    log.write_text("".join(f"{each}\n" for each in pytorch_bert([(1, 0.5), (2, 2.5), (3, 4.5)])))
    assert "latency    2000 ms, log, lines 3-3: 1000 × Σ s / Σ steps: 1000 × 2 / 1" in explained(ingest, log)


def test_a_second_run_in_a_session_is_reported(tmp_path: Path, ingest: Ingest) -> None:
    """The figure is not published, so the output must not look as if it were."""
    lines = seg([10.0, 10.0, 20.0, 10.0, 20.0, 20.0])
    log = write_run(tmp_path, "x/1", lines, run=run_json())
    assert "second run" not in explained(ingest, log)
    later = [each.replace("2026-11-20", "2026-11-21") for each in lines]
    log.write_text("".join(f"{each}\n" for each in [*lines, *later]))
    assert "train.log:7: contains a second run" in explained(ingest, log)


@pytest.mark.parametrize(
    ("stated", "said"),
    [
        ({"smoke": True}, "no result  its outcome is trial"),
        ({"outcome": "stopped"}, "no result  its outcome is stopped"),
        ({"disturbances": ["a backup ran"]}, "no result  it was disturbed (a backup ran), and --if-busy count was"),
        ({"disturbances": ["a backup ran"], "accept_disturbed": True}, ""),
        ({}, ""),
    ],
)
def test_the_reason_why_a_run_is_not_in_results_is_printed(
    tmp_path: Path, ingest: Ingest, stated: dict[str, object], said: str
) -> None:
    """The figures are still computed, and the output must not look as if they were published."""
    log = write_run(tmp_path, "x/1", seg([10.0, 10.0, 20.0, 10.0, 20.0, 20.0]), run=run_json(**stated))
    out = explained(ingest, log)
    assert said in out if said else "no result" not in out


def test_an_invalid_run_json_and_an_unread_log_have_messages(tmp_path: Path, ingest: Ingest) -> None:
    log = write_run(tmp_path, "x/1", seg([10.0, 10.0]), run=run_json(outcome="done"))
    assert "x/1/run.json: is invalid: outcome: expected one of " in explained(ingest, log)
    log.write_text("")
    assert "not read   " in explained(ingest, log)
    assert "is empty: it contains no run. Remove it, or fetch the log again." in explained(ingest, log)
    assert "is a folder; give the path of one file" in ingest("explain", log.parent).err


@pytest.mark.parametrize("log", logs(), ids=lambda log: log.parent.name)
def test_every_format_is_explained(log: Path, ingest: Ingest) -> None:
    out = explained(ingest, log)
    assert f"format     {log.parent.name} (" in out
    assert "sustained  " in out


def test_facts_name_their_source(tmp_path: Path, ingest: Ingest) -> None:
    log = tmp_path / "4n8g" / "rn50_b32_fp32_1.log"
    log.parent.mkdir()
    log.write_text("\n".join(["GPUs used: 16", *seg([4.0, 5.0])]) + "\n")
    out = explained(ingest, log, "--layout", "dlperf")
    assert "fact       nodes = 4   (layout dlperf)" in out
    assert "fact       devices = 16   (line 1)" in out
    derived = "nodes (layout dlperf), devices_per_node (layout dlperf)"
    assert f"contradiction  devices: 16 (line 1) against 32 ({derived})" in out


def test_a_missing_log_ends_the_command(tmp_path: Path, ingest: Ingest) -> None:
    for path in (tmp_path / "gone.log", tmp_path):
        called = ingest("explain", path)
        assert called.code == 2
        assert str(path) in called.err


def test_text_of_a_log_cannot_move_the_cursor(tmp_path: Path, ingest: Ingest) -> None:
    log = tmp_path / "\x1b[2J.log"
    log.write_text("\n".join(["model:", "  type: x", *seg([4.0, 5.0])]))
    assert "\x1b" not in explained(ingest, log)


def test_a_fact_of_several_lines_is_one_line_and_hides_no_other(tmp_path: Path, ingest: Ingest) -> None:
    lines = seg([4.0, *[20.0] * 9])
    log = write_run(tmp_path, "x/1", lines, run=run_json(model="A\n# B"))
    plain = write_run(tmp_path, "y/1", lines, run=run_json(model="A # B"))
    assert explained(ingest, log).splitlines()[1:] == explained(ingest, plain).splitlines()[1:]
