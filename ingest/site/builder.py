"""Builds the site's pages and charts, and of those only what changed.

Every file is a target with a key: a hash of the data it shows, of the templates and of the modules that make it. Keys
of the last build lie in a manifest outside the site; a target whose key is the same and whose file is untouched is not
rendered again.
"""

from __future__ import annotations

import functools
import hashlib
import json
import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ingest.common import words as words_module
from ingest.common.files import write_if_changed
from ingest.common.words import LANGUAGES, TEMPLATES, WORDS, Words
from ingest.published.audit import table as audit_table
from ingest.published.publications import Publications
from ingest.published.publications import table as published_table
from ingest.site import log
from ingest.site.charts import Chart, of_run, of_suite
from ingest.site.data import badges, changes, problems, results
from ingest.site.model import Site, Suite, suites
from ingest.site.pages import Page, all_problems, pages
from ingest.site.render import colours
from ingest.site.render.text import digest
from ingest.site.reports import model
from ingest.site.reports import pages as report_pages
from ingest.site.run_paging import LIMITS, Limits
from schema.records import Problem, Result, Run, text_of
from schema.vocabulary import VOCABULARY

PUBLISHED, AUDIT = "data/published.csv", "data/audit.csv"
RESULTS, RESULTS_TABLE, CHANGES = "data/results.json", "data/results.csv", "data/changes.json"
PROBLEMS = "data/problems.jsonl"
_DATA = (PUBLISHED, AUDIT, RESULTS, RESULTS_TABLE, CHANGES, PROBLEMS)
#: Under which the manifest keeps the names of the badges; no suite and no report can be called so.
BADGES = "data:badges"
#: One file, made of those in report_templates/css/: a browser paints nothing before it has all style sheets.
STYLES = "assets/css/all.css"
NOTE = b"\ngenerated: "
OWN_NOTES = {".svg": b'class="pl-chart"', ".html": b'class="pl-log"'}


@dataclass(frozen=True)
class Built:
    """What a build did, as paths relative to the site's folder. With `check`, `stale` is what it would have changed."""

    written: tuple[str, ...] = ()
    unchanged: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    stale: tuple[str, ...] = ()


@dataclass(frozen=True)
class Target:
    """One file of the site. With `words`, `key` leaves them out: those that are asked for are kept beside it."""

    path: str
    key: str
    render: Callable[[], bytes]
    words: Words | None = None


@dataclass(frozen=True)
class Manifest:
    """What the last build left: per file its key, hash, size, time and words; per suite the names of its charts."""

    targets: Mapping[str, Any]
    names: Mapping[str, Any]


def build(
    runs: Sequence[Run],
    problems: Iterable[Problem],
    out: Path,
    *,
    cache: Path,
    check: bool = False,
    published: Publications | None = None,
    logs: Mapping[str, tuple[Path, ...]] | None = None,
    shards: Mapping[str, str] | None = None,
    limits: Limits = LIMITS,
) -> Built:
    """Writes pages, charts, tables of published figures and assets under `out`; `cache` is the manifest of keys.

    `logs` says where the logs lie whose lines are shown, by the path that their runs state; `shards`
    names the ledger's file of each run, by its id.

    Raises:
        WordsError: the words or a suite lack an entry or a language; nothing has been written then.
        OSError: a file cannot be written; what was written before it stays, and each file is whole.
    """
    manifest = _load_manifest(cache)
    ordered = tuple(sorted(runs, key=lambda run: run.id))
    found = published or Publications()
    site = Site(ordered, tuple(problems), suites(), _results_of, found, shards or {}, limits, logs or {})
    targets, names = _targets(site, words_module.load(), manifest.names)
    if check:
        return _checked(targets, out, manifest)
    built, entries = _written(targets, out, manifest)
    now = Manifest(entries, names)
    if now != manifest:
        write_if_changed(cache, json.dumps({"targets": entries, "names": names}, sort_keys=True).encode())
    return built


def _results_of(runs: Sequence[Run]) -> Sequence[Result]:
    from ingest.compute.results import results

    return results(runs)


def _targets(site: Site, words: Words, names: Mapping[str, Any]) -> tuple[list[Target], dict[str, Any]]:
    """Every file the site is made of, none of them rendered yet; and the names of the suites' charts."""
    everything = [*pages(site), *report_pages.pages(site)]
    found = [each for page in everything for each in _page_targets(site, words, page)]
    found += _run_charts(site, words) + _published_tables(site) + _problems(site, words) + _assets() + _schemas()
    exported, badge_names = _results(site, words, names.get(BADGES))
    found += exported
    known: dict[str, Any] = {BADGES: badge_names}
    for suite in site.shown:
        drawn = functools.cache(functools.partial(_by_name, site, suite))
        known[suite.id] = _suite_charts(site, suite, names.get(suite.id), drawn)
        for name in known[suite.id]["names"]:
            found += _chart_targets(words, name, known[suite.id]["key"], functools.partial(_named, drawn, name))
    for report in model.shown(site):
        made = functools.cache(functools.partial(report_pages.charts_of, site, report))
        key = _hash([_chart_code(), site.published.digest, repr(report)])
        known[f"report:{report.id}"] = _named_charts(key, names.get(f"report:{report.id}"), made)
        for name in known[f"report:{report.id}"]["names"]:
            found += _chart_targets(words, name, key, functools.partial(_named, made, name))
    return found, known


def _page_targets(site: Site, words: Words, page: Page) -> list[Target]:
    """A page in each language; and the lines of a log, next to the pages that show them, so that it is read once."""
    found = [_page_target(words, language, page) for language in LANGUAGES]
    if page.log is None:
        return found
    key = _hash([_chart_code(), *page.depends])
    return [*found, Target(log.file(page.log), key, functools.partial(log.snippet, site, page.log))]


def _page_target(words: Words, language: str, page: Page) -> Target:
    def render() -> bytes:
        from ingest.site.render import jinja

        return jinja.markdown(words, language, page).encode()

    head = [language, page.path, page.template, repr(page.title), repr(page.description), repr(page.scripts), _code()]
    return Target(f"{language}/{page.path}", _hash([*head, *page.depends]), render, words)


def _run_charts(site: Site, words: Words) -> list[Target]:
    found = []
    for run in site.runs:
        if site.has_page(run) and (chart := of_run(run)):
            found += _chart_targets(words, chart.name, site.digests[run.id], functools.partial(_same, chart))
    return found


def _suite_charts(
    site: Site, suite: Suite, known: Mapping[str, Any] | None, drawn: Callable[[], Mapping[str, Chart]]
) -> Mapping[str, Any]:
    """The names of a suite's charts. They follow from its results, which are costly: so they are kept by key."""
    key = _hash([_chart_code(), *(site.digests[run.id] for run in site.runs_of(suite))])
    return _named_charts(key, known, drawn)


def _named_charts(key: str, known: Mapping[str, Any] | None, drawn: Callable[[], Iterable[str]]) -> Mapping[str, Any]:
    return known if known and known["key"] == key else {"key": key, "names": list(drawn())}


def _by_name(site: Site, suite: Suite) -> Mapping[str, Chart]:
    return {chart.name: chart for chart in of_suite(site, suite)}


def _named(drawn: Callable[[], Mapping[str, Chart]], name: str) -> Chart:
    return drawn()[name]


def _same(chart: Chart) -> Chart:
    return chart


def _chart_targets(words: Words, name: str, data: str, found: Callable[[], Chart]) -> list[Target]:
    chart = functools.cache(found)
    drawing = functools.cache(lambda: chart().draw())

    def target(language: str) -> Target:
        def render() -> bytes:
            from ingest.site.render import jinja

            return jinja.chart(words, language, chart(), drawing()).encode()

        return Target(f"charts/{language}/{name}.svg", _hash([language, name, data, _chart_code()]), render, words)

    return [target(language) for language in LANGUAGES]


def _published_tables(site: Site) -> list[Target]:
    """What others published, and its audit, as tables for programs."""
    if not site.published.rows:
        return []
    runs = _hash([site.published.digest, _code(), *site.digests.values()])
    return [
        Target(PUBLISHED, _hash([site.published.digest, _code()]), lambda: published_table(site.published.rows)),
        Target(AUDIT, runs, lambda: audit_table(site.audited)),
    ]


def _results(site: Site, words: Words, known: Mapping[str, Any] | None) -> tuple[list[Target], Mapping[str, Any]]:
    """Every result for programs, what became of them, and a badge for each; and the names of the badges."""
    key = _hash([site.published.digest, _code(), _all_words(), *site.linked(site.runs)])
    found = functools.cache(lambda: results.records(site, words))
    drawn = functools.cache(lambda: badges.badges(site, words))
    names = _named_charts(key, known, drawn)
    return [
        Target(RESULTS, key, lambda: results.document(found())),
        Target(RESULTS_TABLE, key, lambda: results.table(found())),
        Target(CHANGES, key, lambda: changes.document(changes.records(site))),
        *(Target(name, key, functools.partial(_badge, drawn, name)) for name in names["names"]),
    ], names


def _badge(drawn: Callable[[], Mapping[str, bytes]], name: str) -> bytes:
    return drawn()[name]


def _problems(site: Site, words: Words) -> list[Target]:
    """Every problem for programs: where there are many, the page shows some of each kind."""
    found = all_problems(site)
    key = _hash([_code(), _all_words(), *map(text_of, found)])
    return [Target(PROBLEMS, key, lambda: problems.document(found, words))] if found else []


def _schemas() -> list[Target]:
    """Return what the data files hold, as JSON Schemas."""
    return [_bytes_target(f"data/{name}", content) for name, content in results.schemas().items()]


def _bytes_target(name: str, content: bytes) -> Target:
    return Target(name, hashlib.sha256(content).hexdigest(), lambda: content)


def _assets() -> list[Target]:
    """Return the style sheet."""
    style = "\n".join([colours.stylesheet(), *(path.read_text("utf-8") for path in _styles())])
    return [Target(STYLES, digest(style), style.encode)]


def _styles() -> list[Path]:
    return sorted(TEMPLATES.glob("css/*.css"))


def _written(targets: Sequence[Target], out: Path, manifest: Manifest) -> tuple[Built, dict[str, Any]]:
    known = manifest.targets
    stale = [target for target in targets if not _fresh(target, out / target.path, known.get(target.path))]
    written, rendered = _replaced(stale, out) if stale else ([], {})
    entries = {
        target.path: _entry(target, out / target.path, *rendered[target.path])
        if target.path in rendered
        else known[target.path]
        for target in targets
    }
    changed = set(written)
    unchanged = [target.path for target in targets if target.path not in changed]
    removed = _orphans(out, entries, manifest)
    for name in removed:
        (out / name).unlink(missing_ok=True)
    return Built(tuple(written), tuple(unchanged), tuple(removed)), entries


def _replaced(targets: Sequence[Target], out: Path) -> tuple[list[str], dict[str, tuple[str, list[str]]]]:
    """Renders targets, and replaces the files whose bytes change; the paths of these, every target's hash and words.

    All is rendered before anything is written: an error in a template leaves no mixture of old and new pages.
    """
    new: dict[str, Path] = {}
    rendered: dict[str, tuple[str, list[str]]] = {}
    out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=out, prefix=".rendered-") as folder:
        for number, target in enumerate(targets):
            with words_module.asked() as keys:
                content = target.render()
            rendered[target.path] = (hashlib.sha256(content).hexdigest(), sorted(keys))
            if _read(out / target.path) != content:
                new[target.path] = Path(folder) / str(number)
                new[target.path].write_bytes(content)
        for name, path in new.items():
            (out / name).parent.mkdir(parents=True, exist_ok=True)
            path.replace(out / name)
    return list(new), rendered


def _checked(targets: Sequence[Target], out: Path, manifest: Manifest) -> Built:
    """Compare the bytes of the committed files: a clock or a size would miss an edit by hand."""
    stale: list[str] = []
    unchanged: list[str] = []
    for target in filter(_is_committed, targets):
        there = _read(out / target.path)
        known = manifest.targets.get(target.path)
        if known and there is not None and _same_key(target, known):
            same = hashlib.sha256(there).hexdigest() == known["sha256"]
        else:
            same = there == target.render()
        (unchanged if same else stale).append(target.path)
    orphans = _orphans(out, {target.path: None for target in targets}, manifest)
    return Built(unchanged=tuple(unchanged), stale=(*stale, *(each for each in orphans if each in _DATA)))


def _is_committed(target: Target) -> bool:
    """Whether strangers and `--diff` find the file in the repository: records, and not what is derived from them."""
    return target.path in _DATA or target.path.endswith(".schema.json")


def _fresh(target: Target, path: Path, known: Mapping[str, Any] | None) -> bool:
    """Whether the file is what the last build wrote for the same key."""
    if not known or not _same_key(target, known):
        return False
    try:
        state = path.stat()
    except OSError:
        return False
    if [state.st_size, state.st_mtime_ns] == [known["size"], known["time"]]:
        return True
    return hashlib.sha256(path.read_bytes()).hexdigest() == str(known["sha256"])


def _same_key(target: Target, known: Mapping[str, Any]) -> bool:
    """Whether data, templates, modules and the words that were asked for are those of the last build."""
    return bool(known["key"] == target.key and known["said"] == _said(target, known["words"]))


def _said(target: Target, keys: Sequence[str]) -> str:
    """What the words say for these keys, as a hash; nothing for a target whose key holds all words."""
    if target.words is None:
        return ""
    entries = target.words.entries
    return _hash(f"{key}\n{dict(entries[key]) if key in entries else None}" for key in keys)


def _entry(target: Target, path: Path, sha256: str, keys: Sequence[str]) -> Mapping[str, Any]:
    state = path.stat()
    words = list(keys) if target.words else []
    return {
        "key": target.key,
        "sha256": sha256,
        "size": state.st_size,
        "time": state.st_mtime_ns,
        "words": words,
        "said": _said(target, words),
    }


def _orphans(out: Path, entries: Mapping[str, Any], manifest: Manifest) -> list[str]:
    """Files of ours that are no longer made: those of the last build, or without one, those that carry our note."""
    if manifest.targets:
        return sorted(name for name in manifest.targets if name not in entries and (out / name).is_file())
    found = [
        *_below(out, "en", "*.md"),
        *_below(out, "zh", "*.md"),
        *_below(out, "charts", "*.svg"),
        *_below(out, "logs", "*.html"),
    ]
    left = [name for path in found if (name := path.relative_to(out).as_posix()) not in entries and _ours(path)]
    named = [*_DATA, *(path.relative_to(out).as_posix() for path in _below(out, badges.FOLDER, "*.json"))]
    return sorted([*left, *(name for name in named if name not in entries and (out / name).is_file())])


def _below(out: Path, folder: str, pattern: str) -> Iterable[Path]:
    return (out / folder).rglob(pattern)


def _ours(path: Path) -> bool:
    with path.open("rb") as file:
        head = file.read(2048)
    return OWN_NOTES[path.suffix] in head if path.suffix in OWN_NOTES else head.startswith(b"---\n") and NOTE in head


def _read(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except OSError:
        return None


def _load_manifest(path: Path) -> Manifest:
    """The keys of the last build; a manifest that cannot be read, or is of another shape, only costs time."""
    try:
        found = json.loads(path.read_text("utf-8"))
        entry = ("key", "sha256", "size", "time", "words", "said")
        targets = {str(name): {key: each[key] for key in entry} for name, each in found["targets"].items()}
        names = {
            str(suite): {"key": each["key"], "names": [*map(str, each["names"])]}
            for suite, each in found["names"].items()
        }
    except (OSError, ValueError, LookupError, TypeError, AttributeError):
        return Manifest({}, {})
    return Manifest(targets, names)


@functools.cache
def _code() -> str:
    """Templates, suites, modules and formats: when one of them changes, pages are made again."""
    formats = (Path(__file__).parents[2] / "parsers").rglob("*.py")
    declared = [path for path in TEMPLATES.rglob("*.toml") if path != WORDS]
    return _contents([*TEMPLATES.rglob("*.j2"), *declared, *_modules(), *formats])


@functools.cache
def _chart_code() -> str:
    """Suites and modules. Charts cost most, and a changed template leaves them alone."""
    declared = [path for path in TEMPLATES.glob("*.toml") if path != WORDS]
    return _contents([*declared, *TEMPLATES.glob("suites/*.toml"), *_modules()])


@functools.cache
def _all_words() -> str:
    return _contents([WORDS])


def _modules() -> list[Path]:
    """All of this package: a list of those that matter would one day miss one, and leave pages stale."""
    return [*Path(__file__).parents[1].rglob("*.py"), *(VOCABULARY.parent).glob("*.py"), VOCABULARY]


def _contents(paths: Iterable[Path]) -> str:
    return _hash([hashlib.sha256(path.read_bytes()).hexdigest() for path in sorted(paths)])


def _hash(parts: Iterable[str]) -> str:
    return digest(json.dumps(list(parts)))
