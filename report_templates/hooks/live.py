"""MkDocs hook: under `mkdocs serve` pages follow the logs, templates, suites and words; `mkdocs build` is as ever.

What goes wrong does not stop the server: the last good pages stay, and a banner on each says what to mend. MkDocs has
no event that can come before a build or survive its failure, so its `build` is wrapped, for `serve` alone.
"""

from __future__ import annotations

import html
import logging
import os
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from mkdocs import utils
from mkdocs.commands import serve as serving

#: The module, whose name `build` is replaced.
SERVE: Any = serving
log = logging.getLogger("mkdocs.hooks.live")

#: Beside mkdocs.yml: what pages are made of, other than the logs.
SOURCES = ("report_templates", "ingest", "parsers", "schema")
WORDS = Path(__file__).resolve().parents[1] / "words.toml"
#: Exit codes of ingest after which the pages are right: all was understood, or the page of problems says what was not.
WRITTEN = (0, 1)
#: Lines of a message that a page shows; the terminal has them all.
SHOWN_LINES = 12

Stamps = Mapping[str, tuple[int, int, int]]
App = Callable[[dict[str, Any], Callable[..., Any]], Iterable[bytes]]


@dataclass
class Preview:
    """One `mkdocs serve`: what the pages were made of, and what keeps them from being up to date.

    `broken` is why the pages are older than their sources; `warnings` are what `mkdocs build --strict` would stop at.
    """

    seen: Stamps = field(default_factory=dict)
    built: bool = False
    broken: str = ""
    warnings: tuple[str, ...] = ()
    told: frozenset[str] = frozenset()

    def build(self, build: Callable[..., None], config: Any, **options: Any) -> None:
        """Stands in for MkDocs' `build`: ingest first, then the site; no failure leaves this function."""
        # Before ingest reads them: what is written meanwhile differs from these, and is read with the next change.
        now = _stamps(_watched(config))
        if now == self.seen:
            return  # an editor's swap file, or bytecode
        self.seen = now
        self.broken = self._ingest(config)
        if self.broken:
            log.error(self.broken)
        if not self.broken or not self.built:
            self._site(partial(build, config, **options), config)

    def on_every_page(self, language: str) -> str:
        """The banner for a page in that language; empty where all is well."""
        if self.broken:
            return _banner(_said("broken", language), self.broken, "#a4161a")
        if self.warnings:
            return _banner(_said("warned", language), "\n".join(self.warnings), "#7a4b00")
        return ""

    def _ingest(self, config: Any) -> str:
        """Runs ingest over the logs; why it wrote nothing, or an empty text."""
        logs, layout = _logs(config)
        command = [sys.executable, "-m", "ingest", *logs, "--layout", layout, "--out", str(config.docs_dir)]
        done = subprocess.run(command, cwd=_root(config), capture_output=True, text=True, errors="replace", check=False)
        said = done.stderr.strip().splitlines()
        if done.returncode not in WRITTEN:
            return _reason(said) or f"python -m ingest ended with exit code {done.returncode} and no message"
        for line in said:
            if line not in self.told:
                log.info(line)  # a problem: the page of problems shows it, and a warning would count as a fault
        self.told = frozenset(said)
        return ""

    def _site(self, build: Callable[[], None], config: Any) -> None:
        """The site from the pages as they are; where that fails, the one before it comes back."""
        config.strict = False  # a page with a bad link is shown, with a banner, instead of stopping the server
        try:
            with _kept(Path(config.site_dir)), _warnings() as met:
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


#: What stands below the banner where no build has succeeded yet; MkDocs puts its reloading into it.
EMPTY = (
    '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Perfledger</title></head><body></body></html>'
)
PREVIEW = Preview()


def on_startup(command: str, dirty: bool) -> None:
    """Wraps the build of `mkdocs serve`, the first one included."""
    if command == "serve" and not _is_wrapped():
        SERVE.build = partial(PREVIEW.build, SERVE.build)


def on_serve(server: Any, config: Any, builder: Any) -> Any:
    """Watches what pages are made of instead of the pages, which would be built a second time after each change."""
    if not _is_wrapped():
        return server
    server.unwatch(config.docs_dir)
    for path in _watched(config):
        if path.exists():
            server.watch(str(path))
    server.set_app(_bannered(server.get_app()))
    return server


def _is_wrapped() -> bool:
    return isinstance(SERVE.build, partial) and SERVE.build.func == PREVIEW.build


def _root(config: Any) -> Path:
    return Path(config.config_file_path).resolve().parent


def _logs(config: Any) -> tuple[list[str], str]:
    """The paths of logs and their layout: `extra.logs` and `extra.layout` of mkdocs.yml."""
    extra = config.extra
    return [str(each) for each in extra.get("logs", ["raw_logs"])], str(extra.get("layout", "perfledger"))


def _watched(config: Any) -> list[Path]:
    """Files and folders whose change is shown; those that are not there are watched for nothing."""
    paths = [config.config_file_path, *_logs(config)[0], *SOURCES, *config.watch]
    return [_root(config) / each for each in paths]


def _stamps(paths: Sequence[Path]) -> Stamps:
    """Size, time and inode of every file; editors' and Python's own files do not count."""
    found = {}
    for path in (each for top in paths for each in _files(top)):
        try:
            at = path.stat()
        except OSError:
            continue  # gone since the folder was read
        found[str(path)] = (at.st_size, at.st_mtime_ns, at.st_ino)
    return found


def _files(top: Path) -> Iterator[Path]:
    if not top.is_dir():
        yield top
    for folder, below, names in os.walk(top):
        below[:] = [each for each in below if each != "__pycache__" and not each.startswith(".")]
        yield from (Path(folder) / each for each in names if not each.startswith(".") and not each.endswith("~"))


def _reason(said: Sequence[str]) -> str:
    """What ingest says of its own end; the problems of single inputs stand before it."""
    starts = [number for number, line in enumerate(said) if line.startswith(("Traceback", "ingest: "))]
    return "\n".join(said[starts[0] :] if starts else said)


@contextmanager
def _kept(site: Path) -> Iterator[None]:
    """A folder that is as before where filling it anew fails."""
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


BUILD_LOG = logging.getLogger("mkdocs.commands.build")


@contextmanager
def _warnings() -> Iterator[list[str]]:
    """What MkDocs, its plugins and hooks warn of meanwhile."""
    met: list[str] = []

    class Handler(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            if record.name != "mkdocs.livereload":  # readers' wrong addresses
                met.append(record.getMessage())

    handler = Handler(logging.WARNING)
    logger = logging.getLogger("mkdocs")
    logger.addHandler(handler)
    try:
        yield met
    finally:
        logger.removeHandler(handler)


def _bannered(app: App) -> App:
    """The server's pages with the banner of the moment in them; files on the disk stay as they were built."""

    def answer(environ: dict[str, Any], start: Callable[..., Any]) -> Iterable[bytes]:
        head: list[Any] = []
        body = app(environ, lambda *given: head.extend(given))  # waits for a build under way, so before the banner
        status, headers = head[0], dict(head[1])
        if headers.get("Content-Type") != "text/html":
            start(status, list(headers.items()))
            return body
        page = _with_banner(b"".join(body).decode("utf-8", "replace")).encode()
        if hasattr(body, "close"):
            body.close()
        start(status, list({**headers, "Content-Length": str(len(page))}.items()))
        return [page]

    return answer


def _with_banner(page: str) -> str:
    language = "zh" if re.search(r"<html[^>]* lang=\"?zh", page) else "en"
    banner = PREVIEW.on_every_page(language)
    body = re.search(r"<body[^>]*>", page)
    at = body.end() if body else 0
    return page[:at] + banner + page[at:]


def _banner(title: str, message: str, colour: str) -> str:
    """Styled in place: it has to be readable on a page without the site's style sheet, too."""
    lines = message.splitlines()
    shown = ["…", *lines[-SHOWN_LINES:]] if len(lines) > SHOWN_LINES else lines  # the cause stands last
    style = (
        f"position:fixed;z-index:99;bottom:0;left:0;right:0;max-height:50vh;overflow:auto;background:{colour};color:#fff;"
        "padding:.6rem 1.2rem;font-size:.7rem"  # at the foot: a page that reloads stays where it was scrolled to
    )
    return (
        f'<div id="pl-live" role="alert" tabindex="0" style="{style}"><strong>{html.escape(title)}</strong>'
        '<pre style="margin:.4rem 0 0;white-space:pre-wrap;overflow-wrap:anywhere;font-family:monospace">'
        f"{html.escape(chr(10).join(shown))}</pre></div>"
    )


_said_before: dict[tuple[str, str], str] = {}


def _said(key: str, language: str) -> str:
    """A text of `[live]`; while the words are broken themselves, as it was before."""
    with suppress(OSError, ValueError, LookupError, TypeError):
        _said_before[key, language] = tomllib.loads(WORDS.read_text("utf-8"))["live"][key][language]
    return _said_before.get((key, language), "")
