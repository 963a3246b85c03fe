"""MkDocs hook: the pages follow the logs, templates, suites, words and code that they are made of.

`mkdocs build` runs ingest where pages are missing or older than their sources, and stops with its message if that
fails. `mkdocs serve` runs it after each change, and goes on: the last good pages stay, and a banner on each says what
to correct. MkDocs has no event that survives the failure of a build, so `serve` gets a build function of ours.
"""

from __future__ import annotations

import base64
import hashlib
import logging
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any
from wsgiref.types import StartResponse, WSGIApplication, WSGIEnvironment

from mkdocs import utils
from mkdocs.commands import serve as serving
from mkdocs.exceptions import PluginError
from mkdocs.plugins import event_priority

# In a checkout, `mkdocs` does not look next to mkdocs.yml; the hooks after this one find what it has imported.
sys.path.insert(0, str(next(each for each in Path(__file__).resolve().parents if (each / "perfledger").is_dir())))

from perfledger import PROJECT_VARIABLE, TOP
from perfledger.ingest.common import processes, project, sources, words
from perfledger.ingest.common.errors import UsageError
from perfledger.ingest.site.render.text import escape, verbatim

#: The module whose `build` is replaced.
SERVE: Any = serving
log = logging.getLogger("mkdocs.hooks.pages")
BUILD_LOG = logging.getLogger("mkdocs.commands.build")
#: Exit codes of ingest after which the pages are right: all was understood, or the page of problems says what was not.
WRITTEN = (0, 1)
#: Lines of a message that a page shows; the terminal shows all of them.
MOST_LINES = 12
#: The page below the banner before any build has succeeded; MkDocs adds its reloading script.
EMPTY = (
    '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Perfledger</title></head><body></body></html>'
)

#: In a page's policy, as theme/partials/publish/policy.html has it.
POLICY = "script-src 'self'"


def on_startup(command: str, dirty: bool) -> None:
    """Give `mkdocs serve` our build function, for the first build too; pages live until the end of any build."""
    processes.keep_objects()
    if command == "build":
        _quiet_about_itself()
    if command == "serve" and not PREVIEW.active:
        PREVIEW.active = True
        SERVE.build = partial(PREVIEW.build, SERVE.build)


def _quiet_about_itself() -> None:
    """Leave out what MkDocs and its plugins report about their own steps, unless --verbose asks for it.

    Warnings stay, and --strict still counts them, as it would not with --quiet.
    """
    mkdocs = logging.getLogger("mkdocs")
    if mkdocs.level == logging.INFO:
        for handler in mkdocs.handlers:
            handler.addFilter(_concerns_its_user)


def _concerns_its_user(record: logging.LogRecord) -> bool:
    return record.levelno > logging.INFO or record.name.startswith("mkdocs.hooks")


@event_priority(100)
def on_config(config: Any) -> Any:
    """Write the pages before MkDocs reads them, if `mkdocs build` finds them missing or old."""
    os.environ.setdefault(PROJECT_VARIABLE, str(_root(config)))  # MkDocs may run in another folder
    if not PREVIEW.active and sources.are_newer(Path(config.docs_dir), _logs(config), _layout(config)):
        log.info("The pages are missing or older than their sources: running python -m ingest")
        if message := _run_ingest(config):
            raise PluginError(message)
    return config


def on_serve(server: Any, config: Any, builder: Any) -> Any:
    """Watch what the pages are made of instead of the pages, which would be built a second time after each change."""
    server.unwatch(config.docs_dir)
    for path in filter(Path.exists, _watched(config)):
        server.watch(str(path))
    server.set_app(_with_banner(server.get_app()))
    return server


@dataclass
class Preview:
    """One `mkdocs serve`: the state of its sources, and what keeps the pages from being up to date.

    `broken` is why the pages are older than their sources; `warnings` are what `mkdocs build --strict` would stop at.
    """

    active: bool = False
    seen: str = ""
    built: bool = False
    broken: str = ""
    warnings: tuple[str, ...] = ()
    titles: dict[str, dict[str, str]] = field(default_factory=dict)

    def build(self, build: Callable[..., None], config: Any, **options: Any) -> None:
        """Run ingest and then MkDocs' own `build`; never raise."""
        now = sources.fingerprint(_watched(config))
        if now == self.seen:
            return  # an editor's swap file, or bytecode
        self.broken = _run_ingest(config)
        # A change during the run may have been read; after it is undone, the sources look as before.
        self.seen = now if sources.fingerprint(_watched(config)) == now else ""
        if self.broken:
            log.error(self.broken)
        if not self.broken or not self.built:
            self._build_site(partial(build, config, **options), config)

    def banner(self, language: str) -> str:
        """Return the banner for a page in that language; empty without a problem."""
        with suppress(OSError, UsageError):  # while the words are broken, the titles stay as they were
            entries = words.load().entries
            self.titles = {key: dict(entries[f"live.{key}"]) for key in ("broken", "warned")}
        if self.broken:
            return _banner(self.titles.get("broken", {}).get(language, ""), self.broken, "#a4161a")
        if self.warnings:
            return _banner(self.titles["warned"][language], "\n".join(self.warnings), "#7a4b00")
        return ""

    def _build_site(self, build: Callable[[], None], config: Any) -> None:
        """Build the site from the pages as they are; if that fails, restore the one before."""
        config.strict = False  # a page with a bad link is shown, with a banner, instead of stopping the server
        try:
            with _restored_on_failure(Path(config.site_dir)), _collected_warnings() as met:
                build()
        except (Exception, SystemExit) as error:
            fault = str(error) if isinstance(error, SystemExit) else f"{type(error).__name__}: {error}"
            cause = "\n".join([*met, fault])
            self.broken = self.broken or cause
            log.error(cause)
            if not self.built:
                (Path(config.site_dir) / "index.html").write_text(EMPTY, "utf-8")
        else:
            self.built = True
            self.warnings = tuple(met)


PREVIEW = Preview()


def _root(config: Any) -> Path:
    return Path(config.config_file_path).resolve().parent


def _logs(config: Any) -> list[Path]:
    """Return the paths of the logs: `extra.logs` of mkdocs.yml, or `raw_logs`."""
    return [_root(config) / str(each["path"] if isinstance(each, dict) else each) for each in _stated_logs(config)]


def _stated_logs(config: Any) -> list[Any]:
    return list(config.extra.get("logs", ["raw_logs"]))


def _layout(config: Any) -> str:
    """Return the layout of all logs, `extra.layout`, and those of entries `{path, layout}` of `extra.logs`."""
    whole, of_folders = project.several_layouts(str(config.extra.get("layout", "perfledger")))
    stated = (each for each in _stated_logs(config) if isinstance(each, dict) and "layout" in each)
    own = {str(_root(config) / str(each["path"])): str(each["layout"]) for each in stated}
    return project.joined_layouts(whole, {**of_folders, **own})


def _layout_options(config: Any) -> list[str]:
    whole, of_folders = project.several_layouts(_layout(config))
    return [whole, *(f"{folder}={name}" for folder, name in of_folders.items())]


def _watched(config: Any) -> list[Path]:
    """Return files and folders to watch for changes."""
    return [
        Path(config.config_file_path),
        *_logs(config),
        *sources.CODE,
        *project.parts(),
        *(_root(config) / each for each in config.watch),
    ]


def _run_ingest(config: Any) -> str:
    """Run ingest over the logs, in a process of its own, which reads our modules as they are now.

    Returns:
        why nothing was written, or an empty text.
    """
    logs = [
        each.relative_to(_root(config)).as_posix() if each.is_relative_to(_root(config)) else str(each)
        for each in _logs(config)
    ]
    command = [
        sys.executable,
        "-m",
        "perfledger.ingest",
        *logs,
        *(f"--layout={each}" for each in _layout_options(config)),
        *(f"--assume={each}" for each in config.extra.get("assume", ())),
        "--out",
        str(config.docs_dir),
    ]
    path = os.pathsep.join(filter(None, (str(TOP), os.environ.get("PYTHONPATH"))))
    done = subprocess.run(
        command, cwd=_root(config), env={**os.environ, "PYTHONPATH": path}, capture_output=True, text=True,
        errors="replace", check=False,
    )  # fmt: skip
    lines = done.stderr.strip().splitlines()
    if done.returncode not in WRITTEN:
        return _reason(lines) or f"python -m ingest ended with exit code {done.returncode} and no message"
    for line in lines:
        log.info(line)  # a problem: the page of problems shows it, and a warning would fail a strict build
    return ""


def _reason(lines: list[str]) -> str:
    """Return why ingest stopped; in its output the problems of single inputs come first."""
    starts = [number for number, line in enumerate(lines) if line.startswith(("Traceback", "ingest: "))]
    return "\n".join(lines[starts[0] :] if starts else lines)


@contextmanager
def _restored_on_failure(site: Path) -> Iterator[None]:
    """Restore the content of the folder if filling it again fails."""
    before = site.with_name(f"{site.name}.before")
    site.rename(before)
    site.mkdir()
    cleaning, filters = utils.clean_directory, list(BUILD_LOG.filters)
    try:
        yield
    except BaseException:
        shutil.rmtree(site)
        before.rename(site)
        # The plugin for languages puts these back only after a build that succeeds.
        utils.clean_directory, BUILD_LOG.filters[:] = cleaning, filters
        raise
    shutil.rmtree(before)


@contextmanager
def _collected_warnings() -> Iterator[list[str]]:
    """Collect the warnings of MkDocs, its plugins and hooks."""
    met: list[str] = []

    class Handler(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            if record.name != "mkdocs.livereload":  # wrong addresses that readers asked for
                met.append(record.getMessage())

    handler = Handler(logging.WARNING)
    logger = logging.getLogger("mkdocs")
    logger.addHandler(handler)
    try:
        yield met
    finally:
        logger.removeHandler(handler)


def _with_banner(app: WSGIApplication) -> WSGIApplication:
    """Wrap the server's application: pages are sent with the present banner; files on the disk stay as built."""

    def answer(environ: WSGIEnvironment, start: StartResponse) -> Iterable[bytes]:
        head: list[Any] = []

        def started(*given: Any) -> Callable[[bytes], object]:
            head.extend(given)
            return lambda _: None

        body = app(environ, started)  # waits for a build under way, so before the banner
        status, headers = head[0], dict(head[1])
        if headers.get("Content-Type") != "text/html":
            start(status, list(headers.items()))
            return body
        page = _insert_banner(_reloadable(b"".join(body).decode("utf-8", "replace"))).encode()
        if hasattr(body, "close"):
            body.close()
        start(status, list({**headers, "Content-Length": str(len(page))}.items()))
        return [page]

    return answer


def _reloadable(page: str) -> str:
    """Return a page whose policy lets the script pass that MkDocs has put at its end, and no other one."""
    script = re.search(r"<script>((?:(?!<script>).)*)</script></body>", page, re.DOTALL)
    digest = base64.b64encode(hashlib.sha256(script[1].encode()).digest()).decode() if script else ""
    return page.replace(POLICY, f"{POLICY} 'sha256-{digest}'", 1) if digest else page


def _insert_banner(page: str) -> str:
    language = "zh" if re.search(r"<html[^>]* lang=\"?zh", page) else "en"
    body = re.search(r"<body[^>]*>", page)
    at = body.end() if body else 0
    return page[:at] + PREVIEW.banner(language) + page[at:]


def _banner(title: str, message: str, colour: str) -> str:
    """Return the banner as HTML with inline styles: it must be readable on a page without the site's style sheet."""
    lines = message.splitlines()
    shown = ["…", *lines[-MOST_LINES:]] if len(lines) > MOST_LINES else lines  # the cause stands last
    style = (
        f"position:fixed;z-index:99;bottom:0;left:0;right:0;max-height:50vh;overflow:auto;background:{colour};color:#fff;"
        "padding:.6rem 1.2rem;font-size:.7rem"  # at the foot: a page that reloads stays where it was scrolled to
    )
    return (
        f'<div id="pl-live" role="alert" tabindex="0" style="{style}"><strong>{escape(title)}</strong>'
        '<pre style="margin:.4rem 0 0;white-space:pre-wrap;overflow-wrap:anywhere;font-family:monospace">'
        f"{chr(10).join(map(verbatim, shown))}</pre></div>"
    )
