"""Fixtures of the engine's tests: a made-up tree of logs, and calls of the command."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from made_logs import run_json, seg
from made_trees import Called, write_run

from ingest.cli import main


@pytest.fixture
def ingest(capfd: pytest.CaptureFixture[str]) -> Callable[..., Called]:
    """Calls the command in this process and returns its exit code and what it printed."""

    def call(*arguments: object) -> Called:
        capfd.readouterr()
        code = main([str(each) for each in arguments])
        printed = capfd.readouterr()
        assert "Traceback" not in printed.err
        return Called(code, printed.out, printed.err)

    return call


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """Two cases of one model with two repeats each, and one run of another model."""
    root = tmp_path / "logs"
    for batch in (2, 4):
        for repeat in (1, 2):
            speeds = [batch * 1.0] * 2 + [batch * (5.0 + 0.1 * repeat + 0.01 * i) for i in range(10)]
            write_run(
                root,
                f"seg/paddleseg/bs{batch}/{repeat}",
                seg(speeds, batch=batch),
                run=run_json(batch_size=batch, repeat=repeat),
            )
    write_run(root, "seg/paddleseg/fast/1", seg([9.0] * 6, batch=3), run=run_json(model="FastSCNN", batch_size=3))
    return root
