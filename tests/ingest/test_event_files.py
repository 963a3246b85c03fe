"""Event files of TensorBoard in folders of logs."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from made_trees import Called

from tests.parsers.made_events import NAME, Point, events, trained


def written(folder: Path, content: bytes) -> Path:
    folder.mkdir(parents=True)
    (folder / NAME).write_bytes(content)
    return folder


def test_the_time_per_step_of_an_event_file_excludes_evaluations(tmp_path: Path, ingest: Callable[..., Called]) -> None:
    """Ten steps take 5 s. After step 100 they take 25 s, since they include an evaluation."""
    points: list[Point] = []
    for tag, step, seconds, value in trained("train/epoch"):
        points.append((tag, step, seconds + (20 if step > 100 else 0), value))
        if (tag, step) == ("train/epoch", 100):
            points.append(("eval/loss", step, seconds + 20, 2.0))
    (line,) = ingest(written(tmp_path / "runs", events(points)), "--json").lines
    assert line["format"] == "frameworks.tensorboard"
    assert line["unproven"]
    assert line["metrics"]["latency"]["value"] == pytest.approx(500.0)


def test_a_file_with_only_evaluations_is_skipped(tmp_path: Path, ingest: Callable[..., Called]) -> None:
    written(tmp_path / "logs" / "train", events(trained("train/epoch")))
    written(tmp_path / "logs" / "eval", events([("eval/loss", 10, 5.0, 2.5), ("train/epoch", 10, 5.0, 0.25)]))
    called = ingest(tmp_path / "logs", "--json")
    assert [each["path"] for each in called.lines] == [f"logs/train/{NAME.replace('box-1', '<host>')}"]


def test_a_damaged_event_file_is_a_problem(tmp_path: Path, ingest: Callable[..., Called]) -> None:
    called = ingest(written(tmp_path / "runs", bytes(500)), "--json")
    (problem,) = called.problems
    assert "the record at offset 0 is damaged: the checksum of its length is wrong" in problem
