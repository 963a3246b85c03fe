"""`mkdocs serve` on a small copy of the project: it shows what is saved, and no mistake stops it."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from perfledger.ingest.common import sources
from tests.hooks import hook
from tests.site.projects import copy_code

ROOT = Path(__file__).resolve().parents[2]
CASE = Path("raw_logs/resnet50/pytorch/cpu-n1d1-bs8-fp32")
LOG = CASE / "1" / "train.log"
RUN = "runs/resnet50-pytorch-cpu-n1d1-bs8-fp32-1/"
WORDS = Path("report_templates/words.toml")
LANGUAGES = {"": "en", "zh/": "zh"}
#: A template that writes Markdown.
PROSE = Path("report_templates/pages/data.md.j2")
TEMPLATES = {"": Path("report_templates/pages/index.md.j2"), "zh/": Path("report_templates/pages/index.md.j2")}
SUITE = Path("report_templates/suites/resnet50.toml")
STYLES = Path("report_templates/css/10-base.css")
BANNER = 'id="pl-live"'
PATIENCE = 180.0  # only a server that will never show it is waited for so long


@dataclass(frozen=True)
class Served:
    """A running server, and the project that it shows."""

    folder: Path
    address: str
    output: Path

    def get(self, path: str) -> str:
        try:
            with urllib.request.urlopen(self.address + path, timeout=PATIENCE) as answer:
                return str(answer.read().decode())
        except urllib.error.HTTPError as error:
            return error.read().decode()

    def wait(self, path: str, shows: Callable[[str], bool]) -> str:
        """Return the page as soon as it shows something."""
        until = time.monotonic() + PATIENCE
        while not shows(page := self.get(path)):
            assert time.monotonic() < until, f"{path} never showed it\n{page[-2000:]}\n{self.said()[-4000:]}"
            time.sleep(0.2)
        return page

    def said(self) -> str:
        return self.output.read_text("utf-8")

    def edit(self, path: Path, change: Callable[[str], str]) -> None:
        before = (self.folder / path).read_text("utf-8")
        after = change(before)
        assert after != before, "the test has to change something"
        (self.folder / path).write_text(after, "utf-8")


def project(folder: Path) -> Path:
    copy_code(folder)
    shutil.copy(ROOT / "mkdocs.yml", folder)
    shutil.copytree(ROOT / CASE / "1", folder / CASE / "1")
    (folder / "docs").mkdir()
    return folder


def environment(folder: Path) -> dict[str, str]:
    """Return an environment in which MkDocs builds for its server below the test's folder, to be removed with it."""
    (folder / "tmp").mkdir(exist_ok=True)
    return {**os.environ, "NO_MKDOCS_2_WARNING": "1", "PYTHONUNBUFFERED": "1", "TMPDIR": str(folder / "tmp")}


def serve(folder: Path) -> Iterator[Served]:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    output = folder / "serve.log"
    with output.open("w") as log:
        server = subprocess.Popen(
            [sys.executable, "-m", "mkdocs", "serve", "--dev-addr", f"127.0.0.1:{port}"],
            cwd=folder, env=environment(folder), stdout=log, stderr=subprocess.STDOUT,
        )  # fmt: skip
    try:
        until = time.monotonic() + PATIENCE
        while f"Serving on http://127.0.0.1:{port}/" not in output.read_text("utf-8"):
            assert server.poll() is None, output.read_text("utf-8")
            assert time.monotonic() < until, output.read_text("utf-8")
            time.sleep(0.2)
        yield Served(folder, f"http://127.0.0.1:{port}/", output)
        assert server.poll() is None, f"the server has stopped\n{output.read_text('utf-8')}"
    finally:
        server.terminate()
        server.wait()


@dataclass(frozen=True)
class Started:
    """A server that was started while the words were broken, and the first page that it showed then."""

    server: Served
    first: str


@pytest.fixture(scope="module")
def started(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Started]:
    folder = project(tmp_path_factory.mktemp("live"))
    good = (folder / WORDS).read_text("utf-8")
    (folder / WORDS).write_text(good + "\n[made_up\n", "utf-8")
    for server in serve(folder):
        first = server.wait("", lambda page: BANNER in page)
        (folder / WORDS).write_text(good, "utf-8")
        server.wait("zh/" + RUN, lambda page: "train.log" in page and BANNER not in page)
        yield Started(server, first)


@pytest.fixture
def served(started: Started) -> Iterator[Served]:
    """Yield the server, then restore all files that the test changed.

    Nothing is waited for: what the next test changes may be built together with it.
    """
    server = started.server
    kept = {
        path: (server.folder / path).read_bytes() for path in (LOG, WORDS, SUITE, STYLES, PROSE, *TEMPLATES.values())
    }
    yield server
    for path, content in kept.items():
        if (server.folder / path).read_bytes() != content:
            (server.folder / path).write_bytes(content)
    shutil.rmtree(server.folder / CASE / "2", ignore_errors=True)


def test_a_log_that_came_while_ingest_ran_is_forgotten_when_it_goes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The sources then look as they did before; an editor's own file builds nothing."""
    pages, read, come = hook("pages"), list[list[str]](), tmp_path / "come.log"

    def run_ingest(_: object) -> str:
        if not read:
            come.write_text("a log\n", "utf-8")
        read.append(sorted(each.name for each in tmp_path.iterdir()))
        return ""

    monkeypatch.setattr(pages, "_run_ingest", run_ingest)
    monkeypatch.setattr(pages, "_watched", lambda _: [tmp_path])
    monkeypatch.setattr(pages.Preview, "_build_site", lambda *_: None)
    preview = pages.Preview()
    (tmp_path / "first.log").write_text("a log\n", "utf-8")
    for change in (lambda: None, come.unlink, (tmp_path / ".first.log.swp").touch):
        change()
        preview.build(lambda: None, None)
    assert read == [["come.log", "first.log"], ["first.log"]]


def test_the_server_starts_with_broken_words_and_says_so(started: Started) -> None:
    """All other tests show that it recovers."""
    assert "is not TOML" in started.first


def test_a_changed_log_is_shown_and_an_added_one_has_its_page_until_it_goes(served: Served) -> None:
    added = RUN.replace("fp32-1", "fp32-2")
    shutil.copytree(served.folder / CASE / "1", served.folder / CASE / "2")
    digests = {}
    for cut, (page, log) in enumerate(((RUN, LOG), (added, CASE / "2" / "train.log")), 5):
        served.edit(log, lambda text, cut=cut: "".join(text.splitlines(keepends=True)[:-cut]))
        digests[page] = hashlib.sha256((served.folder / log).read_bytes()).hexdigest()
    for language in LANGUAGES:
        for page, digest in digests.items():
            assert BANNER not in served.wait(language + page, lambda shown, digest=digest: digest in shown)
    shutil.rmtree(served.folder / CASE / "2")
    served.wait(added, lambda shown: digests[added] not in shown)


def test_the_script_that_reloads_a_page_runs_under_its_policy(served: Served, browser: Any) -> None:
    page = browser.new_page()
    refused: list[str] = []
    page.on("console", lambda told: refused.append(told.text) if "Content Security Policy" in told.text else None)
    page.route("**/livereload/**", lambda _: None)  # a build that ends just now would load the page again
    page.goto(served.address)
    assert page.evaluate("typeof livereload") == "function"
    assert not refused
    page.evaluate("document.body.append(Object.assign(document.createElement('script'), {textContent: '1'}))")
    assert len(refused) == 1
    page.close()


def test_a_change_of_template_suite_words_and_style_saved_one_after_the_other_is_shown(served: Served) -> None:
    def marked(pattern: str) -> Callable[[str], str]:
        return lambda text: re.sub(pattern, r"\1saved-just-now ", text, count=1)

    for language, key in LANGUAGES.items():
        served.edit(TEMPLATES[language], lambda text: text + "\n<p>saved-just-now</p>\n")
        served.edit(SUITE, marked(rf'(\nsummary = [^\n]*\b{key} = ")'))
        served.edit(WORDS, marked(rf'(\n\[ui\]\n[^\n]*?\b{key} = ")'))
    served.edit(STYLES, lambda text: text + "\n.saved-just-now { color: inherit; }\n")
    for language in LANGUAGES:
        served.wait(language, lambda page: "<p>saved-just-now</p>" in page)
        page = served.wait(f"{language}models/resnet50/", lambda page: "<p>saved-just-now " in page)
        assert re.search(r'id="pl-words">[^<]*saved-just-now', page), "words of scripts follow, too"
    served.wait("assets/css/all.css", lambda page: "saved-just-now" in page)


def test_a_log_that_is_not_understood_is_a_problem_on_the_page_in_both_languages(served: Served) -> None:
    (served.folder / LOG).write_text("nothing that a trainer prints\n", "utf-8")
    for language in LANGUAGES:
        page = served.wait(f"{language}problems/", lambda page: str(LOG) in page or LOG.parent.as_posix() in page)
        assert BANNER not in page
    assert BANNER not in served.get("")


#: One that ingest finds, with text that must not become markup, and one that MkDocs finds.
MISTAKES: dict[str, tuple[Path, str, str]] = {
    "an unknown word": (
        TEMPLATES[""],
        '\n{{ w("nav.<img src=x onerror=alert(1)>") }}\n',
        "index.md.j2:{last}: ",
    ),
    "a piece of a page that is not there": (PROSE, '\n--8<-- "logs/nothing.html"\n', "nothing.html"),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_leaves_the_last_good_pages_under_a_banner_until_it_is_mended(served: Served, mistake: str) -> None:
    served.wait("zh/" + RUN, lambda page: "train.log" in page)  # what the last test changed is restored
    path, added, message = MISTAKES[mistake]
    good = (served.folder / path).read_text("utf-8")
    served.edit(path, lambda text: text + added)
    last = len((served.folder / path).read_text("utf-8").splitlines())
    for language, heading in (("", "older than your last change"), ("zh/", "不是最新")):
        for place in (language, language + RUN, "nowhere/"):
            page = served.wait(place, lambda page: BANNER in page)
            assert heading in page or place == "nowhere/"
            assert message.format(last=last) in page
            assert "<img src=x" not in page
            assert "&#60;img src=x" in page or mistake != "an unknown word"
        assert "train.log" in served.get(language + RUN), "the last good page has to be there still"
    (served.folder / path).write_text(good, "utf-8")
    for place in ("", "zh/", RUN):
        served.wait(place, lambda page: BANNER not in page)


def test_a_link_to_nowhere_is_shown_with_its_page_under_a_banner(served: Served) -> None:
    for language in LANGUAGES:
        served.edit(TEMPLATES[language], lambda text: text + '\n<a href="nowhere-at-all.md">saved-just-now</a>\n')
    for language, heading in (("", "but mkdocs build would stop here"), ("zh/", "但 mkdocs build 会")):
        page = served.wait(language, lambda page: "saved-just-now</a>" in page and BANNER in page)
        banner = page[page.index(BANNER) :].split("</pre>")[0]
        assert heading in banner
        assert "nowhere-at-all.md" in banner


def quiet(served: Served) -> str:
    """Return the server's output once it stays the same for several rounds of looking for changes, and for a build.

    On a busy machine a build alone takes seconds without a word.
    """
    said, since, deadline = served.said(), time.monotonic(), time.monotonic() + 120
    while time.monotonic() < min(since + 12, deadline):
        time.sleep(1)
        if said != (said := served.said()):
            since = time.monotonic()
    return said


def test_one_change_is_built_once(served: Served) -> None:
    before = quiet(served).count("Building documentation")
    served.edit(TEMPLATES[""], lambda text: text + "\nsaved-just-now\n")
    served.wait("", lambda page: "saved-just-now" in page)
    assert quiet(served).count("Building documentation") == before + 1


def run(folder: Path, *command: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", *command],
        cwd=folder,
        env=environment(folder),
        capture_output=True,
        text=True,
        check=False,
    )


def test_a_build_writes_the_pages_on_a_fresh_checkout_and_again_only_after_a_change(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = project(tmp_path)
    done = run(folder, "mkdocs", "build", "--strict")
    assert done.returncode == 0, done.stderr
    assert "running python -m ingest" in done.stderr
    for language in LANGUAGES:
        assert "train.log" in (folder / "site" / language / RUN / "index.html").read_text("utf-8")
    # The question of the hook before each build.
    monkeypatch.chdir(folder)
    monkeypatch.setattr(sources, "CODE", tuple(folder / each.name for each in sources.CODE))
    asked = folder / "docs", [folder / "raw_logs"], "perfledger"
    assert not sources.are_newer(*asked)
    with (folder / TEMPLATES[""]).open("a") as template:
        template.write("\nsaved-just-now\n")
    assert sources.are_newer(*asked)


def test_a_mistake_stops_a_build_with_its_place(tmp_path: Path) -> None:
    folder = project(tmp_path)
    (folder / WORDS).write_text((folder / WORDS).read_text("utf-8") + '\n[made_up]\nword = { en = "x" }\n', "utf-8")
    done = run(folder, "mkdocs", "build")
    assert done.returncode == 1
    last = len((folder / WORDS).read_text("utf-8").splitlines())
    assert f"words.toml:{last}: made_up.word: no text in 'zh'" in done.stderr
    assert not (folder / "site").exists()
