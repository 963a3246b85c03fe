"""The site built from made-up runs, once for all tests that look at HTML."""

from __future__ import annotations

import fcntl
import functools
import http.server
import os
import shutil
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any, Protocol

import pytest

from ingest.compute.comparison_tables import Figures, tables
from ingest.published import publications
from ingest.read import plans
from ingest.site import builder
from ingest.site.data import results
from ingest.site.model import suites
from ingest.site.pages import formats
from ingest.site.run_paging import Limits
from schema.records import Problem, Run, from_text, text_of
from schema.results import ResultRecord
from tests import builders
from tests.site import kinds, planted

ROOT = Path(__file__).resolve().parents[2]
#: Most pages of our own site are those of runs, all alike.
FEW_PAGES = Limits(pages=20)
ALL_FORMATS = formats._described_formats
BLANK = '<svg class="pl-chart-still"></svg>'
#: What a workflow says of the commit that it builds, and no test may depend on.
NOWHERE = dict.fromkeys(("PERFLEDGER_COMMIT", "GITHUB_SHA", "GITHUB_REPOSITORY"), "")
PROBLEM = Problem("empty", "raw_logs/test/empty.log")


class Build(Protocol):
    """Writes the pages of a site into `folder/docs`, with the drawings of `cache`."""

    def __call__(self, folder: Path, cache: Path) -> object: ...


@dataclass(frozen=True)
class Shared:
    """A folder that all processes of a test run share, so that each site in it is built once."""

    top: Path

    def site(self, name: str, build: Build, address: str = "") -> Path:
        """Return the HTML of the site of that name, for a site at that address, if it is known."""
        return self._once(name, build, lambda folder: html(folder, address))

    def pages(self, name: str, build: Build) -> Path:
        """Return the folder of the pages of that name, which are not HTML yet."""
        return self._once(name, build, lambda folder: folder)

    def _once(self, name: str, build: Build, finish: Callable[[Path], Path]) -> Path:
        """Build in the process that comes first, while the others wait for it."""
        folder, note = self.top / name, self.top / f"{name}.txt"
        with (self.top / f"{name}.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not note.exists():
                shutil.rmtree(folder, ignore_errors=True)
                folder.mkdir()
                build(folder, self.top / "drawings.sqlite")
                note.write_text(str(finish(folder)), "utf-8")
        return Path(note.read_text("utf-8"))


@pytest.fixture(scope="session")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Shared:
    """Return the folder of the sites: that of the whole run, if several processes run the tests."""
    own = tmp_path_factory.getbasetemp()
    top = (own.parent if "PYTEST_XDIST_WORKER" in os.environ else own) / "sites"
    top.mkdir(exist_ok=True)
    return Shared(top)


def html(folder: Path, address: str = "", configuration: str = "", extra: str = "") -> Path:
    """Build `folder/docs` strictly with the project's own configuration, and more, and return the folder of the site.

    `extra` are further lines of its `extra`.

    MkDocs runs in a process of its own: its plugins change what they share with the next build.
    """
    own = (ROOT / "mkdocs.yml").read_text("utf-8")
    assert own.count("\nextra:\n") == 1
    (folder / "mkdocs.yml").write_text(configuration + own.replace("\nextra:\n", f"\nextra:\n{extra}"), "utf-8")
    if not (folder / "report_templates").exists():
        (folder / "report_templates").symlink_to(ROOT / "report_templates")
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict"],  # --quiet would keep warnings from --strict
        cwd=folder, env={**os.environ, **NOWHERE, "NO_MKDOCS_2_WARNING": "1", "SITE_URL": address},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "WARNING" not in done.stderr, done.stderr
    return folder / "site"


def _ordinary(folder: Path, cache: Path) -> None:
    builder.build(builders.runs(), [PROBLEM], folder / "docs", cache=cache)
    data = folder / "docs" / "data" / "runs"
    data.mkdir(parents=True)
    (data / "test.jsonl").write_text("{}\n", "utf-8")


def _of_repository(folder: Path, cache: Path) -> None:
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(builder, "drawn", lambda *_: BLANK)
        patched.setattr(formats, "_described_formats", ALL_FORMATS)
        builder.build(
            [from_text(line.encode(), Run) for line in ledger()], [], folder / "docs", cache=folder / "cache.sqlite",
            published=publications.read([ROOT / "raw_logs" / "published"]), limits=FEW_PAGES,
            plans=plans.found([ROOT / "raw_logs"]),
        )  # fmt: skip
    shutil.copytree(ROOT / "docs" / "data" / "runs", folder / "docs" / "data" / "runs")


@pytest.fixture(scope="session", autouse=True)
def _few_formats() -> Iterator[None]:
    """Describe some formats on made-up sites, those of runs among them; all of them are most of a small site."""

    def few(runs: Counter[str]) -> Sequence[Mapping[str, Any]]:
        return [each for at, each in enumerate(ALL_FORMATS(runs)) if at % 12 == 0 or each["runs"]]

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(formats, "_described_formats", few)
        yield


@pytest.fixture(scope="session")
def built(shared: Shared) -> Path:
    """Return the pages of the ordinary fixture, not yet HTML, with their cache, for tests that only look."""
    return shared.pages(
        "built",
        lambda folder, _: builder.build(builders.runs(), [], folder / "docs", cache=folder / "cache.sqlite"),
    )


@pytest.fixture
def undrawn(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave charts blank, for tests that look at pages: to draw them costs most of a build."""
    monkeypatch.setattr(builder, "drawn", lambda *_: BLANK)


@pytest.fixture
def copied(built: Path, tmp_path: Path) -> Path:
    """Return a copy of the built pages that a test may change."""
    shutil.copytree(built, tmp_path / "copy")
    return tmp_path / "copy"


@pytest.fixture(scope="session")
def site(shared: Shared) -> Path:
    """Return the HTML of the ordinary fixture."""
    return shared.site("site", _ordinary)


@pytest.fixture(scope="session")
def whole(shared: Shared) -> Path:
    """Return the HTML of a site that has every kind of page and is built for a known address."""
    return shared.site("whole", lambda folder, cache: kinds.build(folder, PROBLEM, cache), kinds.ADDRESS)


@pytest.fixture(scope="session")
def real(shared: Shared) -> Path:
    """Return the HTML of the committed ledger and figures; its charts are blank, and few runs have their own page."""
    return shared.site("real", _of_repository)


@pytest.fixture(scope="session")
def hostile_site(shared: Shared) -> Path:
    """Return the HTML of runs and published figures in which every text tries to become markup."""
    return shared.site("hostile", kinds.build_hostile)


@pytest.fixture(scope="session")
def planted_site(shared: Shared) -> Path:
    """Return the HTML of logs in which every text tries to become something else, made by the commands of users."""
    return shared.site("planted", planted.build, planted.ADDRESS)


def ledger() -> Iterator[str]:
    for shard in sorted((ROOT / "docs" / "data" / "runs").glob("*.jsonl")):
        yield from shard.read_text("utf-8").splitlines()


#: Without a screen, the shell needs a quarter less of the processor than the whole browser.
BROWSERS = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
CHROMIUM = next(filter(None, map(shutil.which, BROWSERS)), None)
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
def served(site: Path, root: Path, handler: type[Quiet] = Quiet) -> Iterator[str]:
    """Serve a built site below `root`, under a sub-path as GitHub Pages serves a project, and yield its address."""
    root.mkdir(parents=True, exist_ok=True)
    (root / "sub").symlink_to(site)
    server = Server(("127.0.0.1", 0), functools.partial(handler, directory=str(root)))
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
def home(whole: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Yield the address of the site that has every kind of page."""
    with served(whole, tmp_path_factory.mktemp("served-whole")) as found:
        yield found


#: Requests of the test that is running which Chromium dropped because a network interface came or went.
_dropped: list[str] = []


def _watched(make: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function that makes a page or a context, of which dropped requests are noted."""

    def made(**options: Any) -> Any:
        found = make(**options)
        getattr(found, "context", found).on("requestfailed", lambda asked: _dropped.append(str(asked.failure)))
        return found

    return made


#: Tests of containers and cables make network interfaces, at which Chromium drops the connections of others.
CHANGED = "ERR_NETWORK_CHANGED"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Run tests again whose browser dropped a request; to allow that of all tests would take a millisecond of each."""
    for item in items:
        if "browser" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.flaky(reruns=2, only_rerun=[CHANGED]))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call() -> Iterator[None]:
    """Name a dropped request as the cause of what failed without it, so that the test is run again."""
    _dropped.clear()
    try:
        yield
    except Exception as error:
        if changed := [each for each in _dropped if CHANGED in each]:
            raise RuntimeError(changed[0]) from error
        raise


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    """Chromium; a test that asks for it is skipped where there is none."""
    if CHROMIUM is None:
        pytest.skip("no Chromium on this machine: apt-get install chromium")
    api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    with api.sync_playwright() as playwright:
        launched = playwright.chromium.launch(executable_path=CHROMIUM, args=list(FLAGS))
        launched.new_page, launched.new_context = map(_watched, (launched.new_page, launched.new_context))
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


def serve(page: Any, found: Sequence[ResultRecord], measured: Figures = MappingProxyType({})) -> None:
    """Make the compare page read these results instead of those of the site."""
    workloads = {each.id: each.workload for each in suites()}
    bodies = {"results": results.document(found), "comparisons": text_of(tables(found, workloads, measured)).encode()}
    for name, body in bodies.items():
        page.route(f"**/data/{name}.json", functools.partial(_fulfil, body))


def _fulfil(body: bytes, route: Any) -> None:
    route.fulfill(body=body, content_type="application/json")
