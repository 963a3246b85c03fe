"""The site built from made-up runs, once for all tests that look at HTML."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from ingest.site import builder
from tests.site import fixture

ROOT = Path(__file__).resolve().parents[2]
PROBLEM = {"code": "empty", "path": "raw_logs/test/empty.log", "line": 0, "args": {}}


def html(folder: Path) -> Path:
    """Builds `folder/docs` strictly, with the project's own configuration, and returns the site's folder."""
    shutil.copy(ROOT / "mkdocs.yml", folder / "mkdocs.yml")
    (folder / "report_templates").symlink_to(ROOT / "report_templates")
    environment = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet"],
        cwd=folder, env=environment, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "WARNING" not in done.stderr, done.stderr
    return folder / "site"


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Pages of the ordinary fixture, not yet HTML, for tests that only look."""
    folder = tmp_path_factory.mktemp("built")
    builder.build(fixture.runs(), [], folder / "docs", cache=folder / "cache.json")
    return folder


@pytest.fixture
def copied(built: Path, tmp_path: Path) -> Path:
    """A copy of the built pages that a test may change."""
    shutil.copytree(built, tmp_path / "copy")
    return tmp_path / "copy"


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The HTML of the ordinary fixture."""
    folder = tmp_path_factory.mktemp("site")
    builder.build(fixture.runs(), [PROBLEM], folder / "docs", cache=folder / "cache.json")
    data = folder / "docs" / "data" / "runs"
    data.mkdir(parents=True)
    (data / "test.jsonl").write_text("{}\n", "utf-8")
    return html(folder)


@pytest.fixture(scope="session")
def hostile_site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The HTML of runs whose every text tries to become markup."""
    folder = tmp_path_factory.mktemp("hostile")
    builder.build(fixture.hostile(), [], folder / "docs", cache=folder / "cache.json")
    return html(folder)
