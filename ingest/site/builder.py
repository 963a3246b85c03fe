"""Builds the site: a file is written only where its bytes change.

Pages and pictures to share, which cost most, are kept in a cache by content (`ingest.common.cache`).
"""

from __future__ import annotations

import importlib.metadata
import os
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache as once
from functools import partial
from hashlib import sha256
from itertools import chain
from pathlib import Path

import msgspec

from perfledger import TEMPLATES
from perfledger.ingest.common import frame
from perfledger.ingest.common import problems as problem_messages
from perfledger.ingest.common import words as words_module
from perfledger.ingest.common.cache import Cache, key_of
from perfledger.ingest.common.documents import head
from perfledger.ingest.common.files import refuse_ways_out, write_if_changed
from perfledger.ingest.common.project import project
from perfledger.ingest.common.sources import CODE, own_files
from perfledger.ingest.common.words import LANGUAGES, Words
from perfledger.ingest.published.audit import table as audit_table
from perfledger.ingest.published.publications import table as published_table
from perfledger.ingest.site import addresses
from perfledger.ingest.site.data import badges, columnar, explorer, results
from perfledger.ingest.site.data import changes as changes_data
from perfledger.ingest.site.data import problems as problems_data
from perfledger.ingest.site.model import Page, Site
from perfledger.ingest.site.pages import compare, log, pages
from perfledger.ingest.site.render import colours, share
from perfledger.schema.results import ResultRecord

PUBLISHED = "data/published.csv"
AUDIT = "data/audit.csv"
RESULTS = "data/results.json"
RESULTS_TABLE = "data/results.csv"
CHANGES = "data/changes.json"
#: For the compare page alone; it follows from the results.
COMPARISONS = "data/comparisons.json"
#: Committed, for those who read figures without building the site, and for `--diff`.
COMMITTED = (PUBLISHED, AUDIT, RESULTS, RESULTS_TABLE, CHANGES, problem_messages.LINES)
#: One file, made of those in report_templates/css/: a browser paints nothing before it has all style sheets.
STYLES = "assets/css/all.css"
#: Folders with files that we write and do not commit; others may write there, too.
FOLDERS = ("en", "zh", "logs", share.FOLDER, badges.FOLDER, explorer.FOLDER)
#: Folders where a killed run may have left unfinished files.
WRITTEN_TO = (*FOLDERS, "data", "assets/css")
#: Text that marks our files there, by their ending.
MARKS = {".md": b"\ngenerated: ", ".svg": b'class="pl-', ".html": b'class="pl-log'}

#: Endings of our files, by the name of a folder that only we write to.
KINDS = {share.FOLDER: ".png", Path(explorer.FOLDER).name: ".gz"}
#: Further attributes of a page in its front matter.
_PLACE = ("boost", "order", "group", "scripts")

Files = dict[str, bytes]


@dataclass(frozen=True)
class Built:
    """The result of a build, as paths relative to the site's folder. With `check`, `stale` are outdated files.

    `lasting` says whether the same files would give the same site.
    """

    written: tuple[str, ...] = ()
    unchanged: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    stale: tuple[str, ...] = ()
    lasting: bool = True


def build(site: Site, out: Path, cache: Path, check: bool = False) -> Built:
    """Write pages, tables and data under `out`, and remove our files that are no longer made.

    With `check`, write nothing, and only compare the committed data. `cache` is the file of the cache.

    Raises:
        WordsError: the words or a template are wrong; no file was written.
        OSError: a file cannot be written; earlier files stay, and each is whole.
    """
    words = words_module.own()
    if check:
        return Built(stale=tuple(_stale(_data(site, words, results.records(site, words)), out)))
    # All pages are rendered before anything is written: an error in a template leaves no mixture of old and new pages.
    records = results.records(site, words)
    with Cache(cache) as cached:
        known_words = sorted((name, dict(entry)) for name, entry in words.entries.items())
        code = key_of(_code(), _drawing_code(), repr(known_words))
        rendered = {**_pages(site, words, cached, code), **_logs(site, words, cached, code)}
    built = _written(chain([rendered], _programs_files(site, words, records)), out)
    return replace(built, lasting=_shows_all_logs(site, rendered))


def _programs_files(site: Site, words: Words, records: Sequence[ResultRecord]) -> Iterator[Files]:
    """Yield the files that no template writes; those of one kind at a time, since they grow with the runs."""
    placed = [each for each in records if not each.missing]
    yield _data(site, words, records)
    yield badges.badges(site, words)
    yield {STYLES: _styles(), COMPARISONS: compare.data(site, placed)}
    yield columnar.files(site, records, words)
    yield explorer.files(site, words)


def _shows_all_logs(site: Site, files: Mapping[str, bytes]) -> bool:
    """Return whether the site shows each log that was read. If one changed meanwhile, the next build may show it."""
    made = (files.get(addresses.log_file(run)) for run in site.runs if run.format)
    return all(log.shows_lines(page) for page in made if page is not None)


def _written(made: Iterable[Files], out: Path) -> Built:
    """Write files where their bytes differ, and remove our files that were not made."""
    refuse_ways_out(out, [f"{each}/any" for each in FOLDERS])
    written: list[str] = []
    unchanged: list[str] = []
    for files in made:
        refuse_ways_out(out, files)
        for name, content in files.items():
            (written if write_if_changed(out / name, content) else unchanged).append(name)
    removed = _left(out, {*written, *unchanged})
    for name in removed:
        (out / name).unlink(missing_ok=True)
    return Built(tuple(written), tuple(unchanged), tuple(removed))


def _pages(site: Site, words: Words, cached: Cache, code: str) -> Files:
    """Return each page in both languages, and the pictures to share."""
    files: Files = {}
    for each in pages(site):
        page = replace(each, context=once(each.context))
        key = _page_key(page, code)
        if not (made := _kept(page, cached.get(key))):
            made = _rendered(words, page)
            cached.put(key, msgspec.msgpack.encode(made))
        files.update(made)
        if page.picture is not None:
            for picture in (page.picture(words, language) for language in LANGUAGES):
                drawing = cached.get_or_make(key_of(_drawing_code(), repr(picture)), partial(share.draw, picture))
                files[picture.path] = drawing if drawing.startswith(share.SIGNATURE) else share.draw(picture)
    return files


def _rendered(words: Words, page: Page) -> Files:
    """Return a page in both languages."""
    from perfledger.ingest.site.render import jinja

    both = zip(LANGUAGES, jinja.rendered(words, page), strict=True)
    return {f"{language}/{page.path}": rendered.encode() for language, rendered in both}


def _logs(site: Site, words: Words, cached: Cache, code: str) -> Files:
    """Return the page of each log that has one; a log is read again if it or its run has changed."""
    files: Files = {}
    for run in filter(site.log_page, site.runs):
        key = key_of("log", code, str(project().title), site.hashes[run.id], log.state_of(site, run))
        page = cached.get(key) or b""
        if not log.shows_lines(page):
            page = log.document(site, words, run)
            if log.shows_lines(page):
                cached.put(key, page)
        files[addresses.log_file(run)] = page
    return files


def _page_key(page: Page, code: str) -> str:
    """Return a hash of everything that a page depends on."""
    about = [getattr(page, each) for each in ("path", "template", "title", "description", *_PLACE)]
    content = msgspec.msgpack.encode((about, (page.basis or page.context)()), enc_hook=dict)
    return key_of("page", code, sha256(content).hexdigest())


def _kept(page: Page, known: bytes | None) -> Files | None:
    """Return the files of a page as an earlier build made them; None if they are not known, or are those of others."""
    try:
        files = msgspec.msgpack.decode(known or b"", type=Files)
        refuse_ways_out(Path(), files)
    except (ValueError, OSError, RecursionError):
        return None
    return files if files.keys() == {f"{each}/{page.path}" for each in LANGUAGES} else None


def _code() -> str:
    """Return a hash of modules, templates and declarations."""
    kinds = ("py", "toml", "j2", "css")
    ours = (path for folder in CODE for kind in kinds for path in folder.rglob(f"*.{kind}"))
    return _contents([*ours, *own_files()])


@once
def _drawing_code() -> str:
    """Hash what a picture to share depends on besides its data."""
    return _contents([Path(share.__file__), Path(colours.__file__), TEMPLATES / "frameworks.toml"])


def _contents(paths: Iterable[Path]) -> str:
    """Hash of files; and of the library that draws, whose versions draw a little differently."""
    version = importlib.metadata.version("matplotlib")
    return key_of(version, *(path.read_bytes().decode("utf-8", "replace") for path in sorted(paths)))


def _data(site: Site, words: Words, found: Sequence[ResultRecord]) -> Files:
    """Return the files for programs, which are committed."""
    files = {
        RESULTS: results.document(found),
        RESULTS_TABLE: frame.csv(results.COLUMNS, found),
        CHANGES: changes_data.document(site, found),
        **{f"data/{name}": content for name, content in results.schemas().items()},
    }
    if site.published.rows:
        files |= {PUBLISHED: published_table(site.published.rows), AUDIT: audit_table(site.audited)}
    if site.all_problems and problem_messages.file_of(site.runs) == problem_messages.LINES:
        files[problem_messages.LINES] = problems_data.document(site.all_problems, words)
    return files


def _styles() -> bytes:
    """Return the colours of the frameworks, followed by the style sheets in the order of their names."""
    parts = (path.read_text("utf-8") for path in sorted(TEMPLATES.glob("css/*.css")))
    return "\n".join([colours.stylesheet(), *parts]).encode()


def _stale(data: Files, out: Path) -> Iterator[str]:
    """Yield committed files whose content is wrong; times and sizes would miss an edit by hand."""
    for name in dict.fromkeys([*COMMITTED, *data]):
        path = out / name
        if (path.read_bytes() if path.is_file() else None) != data.get(name):
            yield name


def _left(out: Path, files: Container[str]) -> list[str]:
    """Return the files of ours that an earlier build left and that are not among `files`."""
    found = [Path(top, name) for each in FOLDERS for top, _, names in os.walk(out / each) for name in names]
    others = [path for path in found if path.relative_to(out).as_posix() not in files and is_ours(path)]
    named = [out / name for name in (*COMMITTED, problem_messages.TABLE) if name not in files]
    return sorted(path.relative_to(out).as_posix() for path in (*others, *filter(Path.is_file, named)))


def is_ours(path: Path) -> bool:
    """Return whether ingest wrote a file: most carry a mark, and others lie in a folder of their kind."""
    if path.suffix not in MARKS:
        return path.suffix == KINDS.get(path.parent.name)
    begin = head(path, 2048)
    return begin.startswith((b"---\n", b"<")) and MARKS[path.suffix] in begin
