"""The sites that tests look at, each built once for a test run, and the browser.

There are five: `whole` has every kind of page, `real` is our own, `large` has more of everything than a page has room
for, `planted` has texts that try to become markup, and `published` is `whole` as a publisher gives it away.
"""

from __future__ import annotations

import fcntl
import functools
import http.server
import os
import re
import shutil
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from html import escape
from pathlib import Path
from types import MappingProxyType
from typing import Any, Protocol

import pytest
from msgspec import UNSET

from perfledger.ingest.compute.comparison_tables import THROUGHPUT, Figures, tables
from perfledger.ingest.compute.contrast import Measured
from perfledger.ingest.published import publications
from perfledger.ingest.read import plans
from perfledger.ingest.site import builder
from perfledger.ingest.site.data import results
from perfledger.ingest.site.model import site_of_runs, suites
from perfledger.ingest.site.pages import formats
from perfledger.ingest.site.run_paging import Limits
from perfledger.parsers.contract import Format
from perfledger.schema.records import Run, from_text, text_of
from perfledger.schema.results import Metric, ResultRecord
from tests import builders
from tests.site import kinds, planted
from tests.site import large as many

ROOT = Path(__file__).resolve().parents[2]
#: Most pages of our own site are those of runs, all alike.
FEW_PAGES = Limits(pages=20)
ALL_FORMATS = formats.shown_formats
#: A workflow states its commit in these variables; no test may depend on them.
NOWHERE = dict.fromkeys(("PERFLEDGER_COMMIT", "GITHUB_SHA", "GITHUB_REPOSITORY"), "")


class Build(Protocol):
    """Writes the pages of a site into `folder/docs`, and reads the cache in `cache`."""

    def __call__(self, folder: Path, cache: Path) -> object: ...


@dataclass(frozen=True)
class Shared:
    """A folder that all processes of a test run share, so that each site in it is built once."""

    top: Path

    def pages(self, name: str, build: Build) -> Path:
        """Return the folder whose `docs` has the pages of that name, not HTML yet."""

        def made() -> Path:
            folder = self.top / name
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir()
            build(folder, self.top / "cache.sqlite")
            return folder

        return self._once(name, made)

    def site(self, pages: Path, **options: Any) -> Path:
        """Return the HTML of pages; `options` are those of `html`."""
        return self._once(f"{pages.name}-site", lambda: html(pages, **options))

    def _once(self, name: str, make: Callable[[], Path]) -> Path:
        """Make something in the process that comes first, while the others wait for it."""
        note = self.top / f"{name}.txt"
        with (self.top / f"{name}.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not note.exists():
                note.write_text(str(make()), "utf-8")
        return Path(note.read_text("utf-8"))


@pytest.fixture(scope="session")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Shared:
    """Return the folder of the sites: that of the whole run, if several processes run the tests."""
    own = tmp_path_factory.getbasetemp()
    top = (own.parent if "PYTEST_XDIST_WORKER" in os.environ else own) / "sites"
    top.mkdir(exist_ok=True)
    return Shared(top)


def html(
    folder: Path, address: str = "", configuration: str = "", extra: str = "", *, is_offline: bool = False
) -> Path:
    """Build `folder/docs` strictly with the project's own configuration, and more, and return the folder of the site.

    `extra` are further lines of its `extra`. A site that `is_offline` is read from the disk.

    MkDocs runs in a process of its own: its plugins change what they share with the next build.
    """
    own = (ROOT / "mkdocs.yml").read_text("utf-8")
    assert own.count("\nextra:\n") == 1
    (folder / "mkdocs.yml").write_text(configuration + own.replace("\nextra:\n", f"\nextra:\n{extra}"), "utf-8")
    if not (folder / "report_templates").exists():
        (folder / "report_templates").symlink_to(ROOT / "report_templates")
    more = {"NO_MKDOCS_2_WARNING": "1", "SITE_URL": address, "OFFLINE": "true" if is_offline else "false"}
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict"],  # --quiet would keep warnings from --strict
        cwd=folder, env={**os.environ, **NOWHERE, **more}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "WARNING" not in done.stderr, done.stderr
    return folder / "site"


def _of_repository(folder: Path, cache: Path) -> None:
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(formats, "shown_formats", ALL_FORMATS)
        site = site_of_runs(
            [from_text(line.encode(), Run) for line in ledger()],
            published=publications.read([ROOT / "raw_logs" / "published"]), limits=FEW_PAGES,
            plans=plans.found([ROOT / "raw_logs"]),
        )  # fmt: skip
        builder.build(site, folder / "docs", folder / "cache.sqlite")
    shutil.copytree(ROOT / "docs" / "data" / "runs", folder / "docs" / "data" / "runs")


@pytest.fixture(scope="session", autouse=True)
def _few_formats() -> Iterator[None]:
    """Describe some formats on made-up sites, those of runs among them; all of them are most of a small site."""

    def few(runs: Counter[str], every: bool) -> Sequence[Format]:
        return [each for at, each in enumerate(ALL_FORMATS(runs, every)) if at % 60 == 0 or runs[each.id]]

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(formats, "shown_formats", few)
        yield


@pytest.fixture(scope="session")
def built(shared: Shared) -> Path:
    """Return the pages of the ordinary fixture, not yet HTML, with their cache, for tests that only look."""
    return shared.pages(
        "built",
        lambda folder, _: builder.build(site_of_runs(builders.runs()), folder / "docs", folder / "cache.sqlite"),
    )


@pytest.fixture
def copied(built: Path, tmp_path: Path) -> Path:
    """Return a copy of the built pages that a test may change."""
    shutil.copytree(built, tmp_path / "copy")
    return tmp_path / "copy"


@pytest.fixture(scope="session")
def whole_pages(shared: Shared) -> Path:
    """Return the Markdown pages of `whole`."""
    return shared.pages("whole", kinds.build) / "docs"


@pytest.fixture(scope="session")
def whole(shared: Shared, whole_pages: Path) -> Path:
    """Return the HTML of a site that has every kind of page and is built for a known address."""
    return shared.site(whole_pages.parent, address=kinds.ADDRESS)


@pytest.fixture(scope="session")
def real_pages(shared: Shared) -> Path:
    """Return the Markdown pages of `real`."""
    return shared.pages("real", _of_repository) / "docs"


@pytest.fixture(scope="session")
def real(shared: Shared, real_pages: Path) -> Path:
    """Return the HTML of the committed ledger and figures; few runs have their own page."""
    return shared.site(real_pages.parent)


@pytest.fixture(scope="session")
def planted_site(shared: Shared) -> Path:
    """Return the HTML of logs whose texts all try to become markup, made by the commands of users."""
    return shared.site(shared.pages("planted", planted.build), address=planted.ADDRESS)


@pytest.fixture(scope="session")
def large(shared: Shared) -> Path:
    """Return the HTML of a site of more hardware, models and runs than its pages have room for."""
    return shared.site(shared.pages("large", many.build))


@pytest.fixture(scope="session")
def published(shared: Shared, whole_pages: Path) -> Path:
    """Return the HTML of `whole` as a publisher gives it away: with its name and repository, read from the disk."""

    def build(folder: Path, _: Path) -> None:
        shutil.copytree(whole_pages.parent / "made" / "raw_logs", folder / "raw_logs")
        (folder / "lab.svg").write_text(kinds.LOGO, "utf-8")
        shutil.copytree(whole_pages, folder / "docs")

    return shared.site(
        shared.pages("published", build), address=kinds.ADDRESS, configuration=f"repo_url: {kinds.REPOSITORY}\n",
        extra=kinds.PUBLISHER, is_offline=True,
    )  # fmt: skip


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
def home(whole: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Yield the address of the site that has every kind of page."""
    with served(whole, tmp_path_factory.mktemp("served-whole")) as found:
        yield found


@pytest.fixture(scope="session")
def real_home(real: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Yield the address of our own site."""
    with served(real, tmp_path_factory.mktemp("served-real")) as found:
        yield found


@pytest.fixture(scope="session")
def large_home(large: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Yield the address of the large site."""
    with served(large, tmp_path_factory.mktemp("served-large")) as found:
        yield found


#: Requests of the test that is running which Chromium dropped because a network interface came or went.
_dropped: list[str] = []


def _watched(make: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function that makes a page or a context and records its dropped requests."""

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
    """Name a dropped request as the cause of a failure, so that the test is run again."""
    _dropped.clear()
    try:
        yield
    except Exception as error:
        if changed := [each for each in _dropped if CHANGED in each]:
            raise RuntimeError(changed[0]) from error
        raise


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    """Chromium; its tests are skipped if it is not installed."""
    if CHROMIUM is None:
        pytest.skip("no Chromium on this machine: apt-get install chromium")
    api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    with api.sync_playwright() as playwright:
        launched = playwright.chromium.launch(executable_path=CHROMIUM, args=list(FLAGS))
        launched.new_page, launched.new_context = map(_watched, (launched.new_page, launched.new_context))
        yield launched
        launched.close()


#: Beginnings of the addresses that a page may load from.
OWN = ("http://127.0.0.1:", "file:", "data:", "blob:")


@contextmanager
def visitor(browser: Any) -> Iterator[Callable[..., Any]]:
    """Yield a function that opens an address in a page of its own, by default on a wide screen.

    In the end it fails on a script error, an error or a warning on the console, a dialogue, or a request to others. A
    test that provokes one takes it out of the list `wrong` of the page.
    """
    contexts, wrong = [], list[str]()

    def opened(address: str, wide: int = 1280, high: int = 900, **options: Any) -> Any:
        context = browser.new_context(viewport={"width": wide, "height": high}, **options)
        contexts.append(context)
        page = context.new_page()
        page.wrong = wrong
        page.on("pageerror", lambda error: wrong.append(str(error)))
        page.on("console", lambda said: wrong.append(said.text) if said.type in ("error", "warning") else None)
        page.on("dialog", lambda dialog: (wrong.append(dialog.message), dialog.dismiss()))
        page.on("request", lambda asked: None if asked.url.startswith(OWN) else wrong.append(asked.url))
        page.goto(address)
        return page

    yield opened
    for each in contexts:
        each.close()
    assert wrong == []


@pytest.fixture
def visit(browser: Any) -> Iterator[Callable[..., Any]]:
    """Yield a function that opens pages for one test."""
    with visitor(browser) as opened:
        yield opened


@pytest.fixture(scope="module")
def stay(browser: Any) -> Iterator[Callable[..., Any]]:
    """Yield a function that opens pages which the tests of a file share."""
    with visitor(browser) as opened:
        yield opened


def serve(page: Any, found: Sequence[ResultRecord], measured: Figures = MappingProxyType({})) -> None:
    """Make the compare page read these results instead of those of the site."""
    workloads = {each.id: each.workload for each in suites()}
    made = tables(found, workloads, {**as_stated(found), **measured})
    bodies = {"results": results.document(found), "comparisons": text_of(made).encode()}
    for name, body in bodies.items():
        page.route(f"**/data/{name}.json", functools.partial(_fulfil, body))
    page.route(re.compile(r"/compare/(\?.*)?$"), functools.partial(_with_chips, found))


def as_stated(found: Sequence[ResultRecord]) -> Figures:
    """Return the figures of results as their records state them."""
    figures = {(each.id, name): metric for each in found for name, metric in {THROUGHPUT: each, **each.metrics}.items()}
    return {key: _measured(each) for key, each in figures.items() if each.value is not None}


def _measured(figure: ResultRecord | Metric) -> Measured:
    assert figure.value is not None
    low, high = (each if isinstance(each, float | int) else figure.value for each in (figure.low, figure.high))
    repeats = 1 if figure.repeats is UNSET else figure.repeats
    return Measured(figure.value, low, high, repeats, unit=figure.unit or "")


#: The fact of a result that each group of chips of the compare page chooses.
_CHOSEN = {
    "hardware": "hardware", "model": "suite", "precision": "group", "batch": "batch_size", "devices": "devices",
    "framework": "framework",
}  # fmt: skip


def _with_chips(found: Sequence[ResultRecord], route: Any) -> None:
    """Add the values of some results to the chips of the compare page."""
    answer = route.fetch()
    text = answer.text()
    for name, fact in _CHOSEN.items():
        start, fieldset, rest = text.partition(f'<fieldset data-name="{name}"')
        group, end, after = rest.partition("</fieldset>")
        for value in dict.fromkeys(escape(str(getattr(each, fact))) for each in found):
            if f'value="{value}"' not in group and "<select" in group:
                group = group.replace("</select>", f'<option value="{value}">{value}</option></select>')
            elif f'value="{value}"' not in group:
                group += f'<button type="button" class="pl-chip" aria-pressed="false" value="{value}"><b>0</b></button>'
        text = f"{start}{fieldset}{group}{end}{after}"
    route.fulfill(response=answer, body=text)


def _fulfil(body: bytes, route: Any) -> None:
    route.fulfill(body=body, content_type="application/json")
