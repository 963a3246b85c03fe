"""The site built from made-up runs, once for all tests that look at HTML."""

from __future__ import annotations

import functools
import http.server
import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from ingest.compute.comparison_tables import tables
from ingest.published import publications
from ingest.site import builder
from ingest.site.data import results
from ingest.site.model import suites
from schema.records import Problem, Run, from_text, text_of
from schema.results import ResultRecord
from tests import builders
from tests.site import kinds

ROOT = Path(__file__).resolve().parents[2]
PROBLEM = Problem("empty", "raw_logs/test/empty.log")


def html(folder: Path) -> Path:
    """Build `folder/docs` strictly with the project's own configuration and return the folder of the site."""
    shutil.copy(ROOT / "mkdocs.yml", folder / "mkdocs.yml")
    (folder / "report_templates").symlink_to(ROOT / "report_templates")
    environment = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict"],  # --quiet would keep warnings from --strict
        cwd=folder, env=environment, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "WARNING" not in done.stderr, done.stderr
    return folder / "site"


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Pages of the ordinary fixture, not yet HTML, for tests that only look."""
    folder = tmp_path_factory.mktemp("built")
    builder.build(builders.runs(), [], folder / "docs", cache=folder / "cache.sqlite")
    return folder


@pytest.fixture
def copied(built: Path, tmp_path: Path) -> Path:
    """Return a copy of the built pages that a test may change."""
    shutil.copytree(built, tmp_path / "copy")
    return tmp_path / "copy"


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the HTML of the ordinary fixture."""
    folder = tmp_path_factory.mktemp("site")
    builder.build(builders.runs(), [PROBLEM], folder / "docs", cache=folder / "cache.sqlite")
    data = folder / "docs" / "data" / "runs"
    data.mkdir(parents=True)
    (data / "test.jsonl").write_text("{}\n", "utf-8")
    return html(folder)


@pytest.fixture(scope="session")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the HTML of a site that has every kind of page and is built for a known address."""
    folder = tmp_path_factory.mktemp("whole")
    kinds.build(folder, PROBLEM)
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("SITE_URL", kinds.ADDRESS)
        return html(folder)


@pytest.fixture(scope="session")
def real(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the HTML of the committed ledger and figures, for any test; its charts are blank since they cost most."""
    folder = tmp_path_factory.mktemp("real")
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(builder, "drawn", lambda *_: "<svg></svg>")
        builder.build(
            [from_text(line.encode(), Run) for line in ledger()], [], folder / "docs", cache=folder / "cache.sqlite",
            published=publications.read([ROOT / "raw_logs" / "published"]),
        )  # fmt: skip
    shutil.copytree(ROOT / "docs" / "data" / "runs", folder / "docs" / "data" / "runs")
    return html(folder)


def ledger() -> Iterator[str]:
    for shard in sorted((ROOT / "docs" / "data" / "runs").glob("*.jsonl")):
        yield from shard.read_text("utf-8").splitlines()


@pytest.fixture(scope="session")
def hostile_site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the HTML of runs in which every text tries to become markup."""
    folder = tmp_path_factory.mktemp("hostile")
    builder.build(builders.hostile(), [], folder / "docs", cache=folder / "cache.sqlite")
    return html(folder)


CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
FLAGS = (
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync",
)  # fmt: skip


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_: Any) -> None:
        """Log nothing, since tests have output of their own."""


class Server(http.server.ThreadingHTTPServer):
    def handle_error(self, *_: Any) -> None:
        """Ignore the error, since a browser that closes a page drops its connections."""


@contextmanager
def served(site: Path, root: Path) -> Iterator[str]:
    """Serve a built site below `root`, under a sub-path as GitHub Pages serves a project, and yield its address."""
    root.mkdir(parents=True, exist_ok=True)
    (root / "sub").symlink_to(site)
    server = Server(("127.0.0.1", 0), functools.partial(Quiet, directory=str(root)))
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}/sub/"
    server.shutdown()
    server.server_close()
    thread.join()


@pytest.fixture(scope="session")
def address(site: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Yield the address of the ordinary fixture's site."""
    with served(site, tmp_path_factory.mktemp("served")) as found:
        yield found


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    """Chromium; a test that asks for it is skipped where there is none."""
    if CHROMIUM is None:
        pytest.skip("no Chromium on this machine: apt-get install chromium")
    api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    with api.sync_playwright() as playwright:
        launched = playwright.chromium.launch(executable_path=CHROMIUM, args=list(FLAGS))
        yield launched
        launched.close()


@pytest.fixture
def page(browser: Any, address: str) -> Iterator[Any]:
    """Yield a fresh page that fails its test on a script error or a request to any other address."""
    opened = browser.new_page(viewport={"width": 1280, "height": 900})
    wrong: list[str] = []
    opened.on("pageerror", lambda error: wrong.append(str(error)))
    opened.on(
        "request", lambda asked: None if asked.url.startswith((address, "data:", "blob:")) else wrong.append(asked.url)
    )
    yield opened
    opened.close()
    assert not wrong


def serve(page: Any, found: Sequence[ResultRecord]) -> None:
    """Make the compare page read these results instead of those of the site."""
    workloads = {each.id: each.workload for each in suites()}
    bodies = {"results": results.document(found), "comparisons": text_of(tables(found, workloads)).encode()}
    for name, body in bodies.items():
        page.route(f"**/data/{name}.json", functools.partial(_fulfil, body))


def _fulfil(body: bytes, route: Any) -> None:
    route.fulfill(body=body, content_type="application/json")
