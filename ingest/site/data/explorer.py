"""The runs as columns, in parts, for the page that filters and sorts them: one set of files for both languages.

A column is a list with an entry per run, or `{"of": [...], "at": [...]}` if many are equal: `at` has the place of each
run's entry in `of`. A text that differs by language is `[en, zh]`, and several sentences are lines of one text. Figures
are written as on pages, and sorted by the number that readers see.

The files are compressed, to a tenth: the scripts of the pages read them, and people read `runs.parquet`.

Runs without a page, which are shown on demand, have parts of their own: the same columns and more, by the names of the
runs in addresses, so that a reader who opens one run loads one small part.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from perfledger.ingest.common.words import LANGUAGES, Text, Words, coded, phrase
from perfledger.ingest.site import addresses, reproduce, run_names, run_tables
from perfledger.ingest.site.data.measured import date_of
from perfledger.ingest.site.hardware_names import product
from perfledger.ingest.site.model import Site, precision_name, written
from perfledger.ingest.site.options import in_words, listed
from perfledger.ingest.site.render.table import Facets
from perfledger.ingest.site.render.text import digest, file_slug, plain
from perfledger.ingest.site.verdict_words import devices_short
from perfledger.schema.records import Figure, Run
from perfledger.schema.submission import submitter_of

FOLDER = "data/explorer"
ENDING = ".json.gz"
#: Runs per part; the average is somewhat lower.
SIZE = 4000
#: Runs per part, at most.
MOST = 5000
#: Runs per part with details that are shown on demand; the average is somewhat lower.
DETAILED = 400
#: Runs per part with details, at most.
MOST_DETAILED = 500
#: Replacement for the run's name in the address of its page.
_NAME = "*"

#: The content of a column for a run.
Shown = Text | tuple[Text, ...] | int | None
ColumnOfRuns = Callable[[Run], Shown]
#: A column as it is written: a value per run; or the different values, and the number of that of each run.
Written = list[object] | dict[str, list[object]]


@dataclass(frozen=True)
class RunPart:
    """Some of the runs, by model and id, in a file that is named after the first of them."""

    runs: tuple[Run, ...]

    @property
    def name(self) -> str:
        """The name of the file, which stays while parts before it come and go."""
        return digest(self.runs[0].id)[:12]

    @property
    def details(self) -> str:
        """The name of the file where the part is one of details."""
        return f"details_{self.name}"

    @property
    def first(self) -> str:
        """The name in addresses of the first run: runs of details are sorted by it."""
        return file_slug(self.runs[0].id)


def parts(site: Site) -> tuple[RunPart, ...]:
    """Return the runs by model, those of none last, and id, cut so that one more run changes few other parts."""
    by_id = {run.id: run for run in sorted(site.runs, key=lambda run: (not run.case.model, run.case.model, run.id))}
    return tuple(RunPart(tuple(by_id[each] for each in part)) for part in cut(tuple(by_id), SIZE, MOST))


def details(site: Site) -> tuple[RunPart, ...]:
    """Return the runs that have no page, by their names in addresses, cut like the other parts."""
    by_name = {file_slug(run.id): run for run in site.runs if not site.has_page(run)}
    return tuple(RunPart(tuple(by_name[n] for n in part)) for part in cut(sorted(by_name), DETAILED, MOST_DETAILED))


def cut(ids: Sequence[str], size: int, most: int) -> Iterator[tuple[str, ...]]:
    """Yield parts of somewhat less than `size` ids on average, and of `most` at most.

    A part begins where an id's hash says so, but has at least half of `size`: adding or removing an id changes its
    part, and seldom later parts, which begin at the same ids as before.
    """
    part: list[str] = []
    for each in ids:
        begins = len(part) >= size // 2 and int(digest(each)[:8], 16) % max(1, size // 2) == 0
        if part and (begins or len(part) == most):
            yield tuple(part)
            part = []
        part.append(each)
    if part:
        yield tuple(part)


def facets(site: Site, run: Run) -> Facets:
    """Return a run's names and values for the filters of the page of all runs."""
    return (("model", site.suite_of[run.id].id), *run_tables.facets_of_run(run), ("outcome", run.outcome))


def files(site: Site, words: Words) -> dict[str, bytes]:
    """Return the parts by their paths; a part depends only on its runs."""
    found = {each.name: _columns(words, each.runs, _columns_of_all(site)) for each in site.once(parts)}
    for each in site.once(details):
        found[each.details] = _columns(words, each.runs, _columns_of_all(site) | _columns_on_demand(site))
    written_out = partial(json.dumps, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    made: dict[str, bytes] = {}
    for name, of_part in found.items():
        # A line for each column; the same bytes for the same columns.
        lines = ",\n".join(f"{written_out(column)}:{written_out(values)}" for column, values in of_part.items())
        made[f"{FOLDER}/{name}{ENDING}"] = gzip.compress(f"{{\n{lines}\n}}\n".encode(), mtime=0)
    return made


def _columns_of_all(site: Site) -> dict[str, ColumnOfRuns]:
    """Return what is shown of each run in the table of all runs, by the names of the columns."""
    return {
        "id": lambda run: run.id,
        "slug": lambda run: None if file_slug(run.id) == run.id else file_slug(run.id),
        "page": lambda run: _place(site, run),
        "log": lambda run: run.path,
        "facts": lambda run: tuple(f"{name}={value}" for name, value in facets(site, run)),
        "model": lambda run: run.case.model,
        "framework": lambda run: run.case.framework,
        "hardware": lambda run: product(run.case.hardware) if run.case.hardware else None,
        "devices": lambda run: run.case.devices,
        "batch_size": lambda run: run.case.batch_size,
        "precision": lambda run: precision_name(run.case.precision) if run.case.precision else None,
        "tone": run_tables.tone_of,
        "date": date_of,
        "figure": _of_headline(written),
        "unit": _of_headline(lambda figure: figure.unit),
        "options": _options,
        "machines": _machines,
        "said": run_tables.outcome,
        "why": lambda run: None if run_tables.headline(run) else run_tables.why_absent(run),
        "mark": lambda run: next(iter(run_tables.reservations(run)), None),
    }


def _columns_on_demand(site: Site) -> dict[str, ColumnOfRuns]:
    """Return what that table does not show, and a run's own page would."""
    return {
        "report": lambda run: addresses.served(addresses.model_page_of(site, run)),
        "arithmetic": _of_headline(lambda figure: figure.arithmetic),
        "sha256": lambda run: run.sha256[:12],
        "shard": lambda run: site.shards.get(run.id),
        "command": reproduce.explanation,
        "title": lambda run: run_names.name(site, run),
        "tables": run_tables.in_tables,
        "window": _window,
        "problems": _problems,
        "rule": lambda run: phrase(f"rule.{run.rule}") if run_tables.headline(run) else None,
        "session": lambda run: (
            phrase("proof.session", session=run.session, sessions=run.sessions) if run.sessions > 1 else None
        ),
    }


def _columns(words: Words, runs: Sequence[Run], columns: Mapping[str, ColumnOfRuns]) -> dict[str, Written]:
    return {name: _column([of(run) for run in runs], partial(_said, words)) for name, of in columns.items()}


def _of_headline(of: Callable[[Figure], str | None]) -> ColumnOfRuns:
    return lambda run: of(figure) if (figure := run_tables.headline(run)) else None


def _window(run: Run) -> Text | None:
    if (found := run_tables.headline(run)) is None:
        return None
    return listed((run_tables.log_lines_text(found.first_line, found.last_line), run_tables.used_text(run, found)))


def _machines(run: Run) -> Text | None:
    """Return the number of devices with that of machines, where there are several."""
    devices, nodes = run.case.devices, run.case.nodes or 1
    return devices_short(devices, nodes) if nodes > 1 and devices is not None else None


def _problems(run: Run) -> tuple[Text, ...] | None:
    """Return the problems of a run, each as a sentence with its place."""
    said = ((run_tables.place(each), coded("problem", each)) for each in run.problems)
    return tuple(phrase("explorer.problem", place=place, said=problem) for place, problem in said) or None


def _column(values: Sequence[Shown], said: Callable[[Shown], object]) -> Written:
    """Return a column; of values that few runs share, as a list."""
    places = {value: place for place, value in enumerate(dict.fromkeys(values))}
    of = [said(each) for each in places]
    if len(of) > len(values) / 2:
        return [of[places[each]] for each in values]
    return {"of": of, "at": [places[each] for each in values]}


def _options(run: Run) -> Text:
    """Return the options, and who submitted the run: readers filter by both."""
    submitter = submitter_of(run.path)
    return listed((in_words(run.case.options), phrase("table.submitted", name=submitter) if submitter else ""))


def _said(words: Words, value: Shown) -> str | int | tuple[str, ...] | None:
    """Return a text, or several as lines, in both languages, once where they are the same; a number as it is."""
    if value is None or isinstance(value, int):
        return value
    texts = value if isinstance(value, tuple) else (value,)
    said = tuple("\n".join(plain(words.say(language, each)) for each in texts) for language in LANGUAGES)
    return said[0] if len(set(said)) == 1 else said


def _place(site: Site, run: Run) -> str:
    """Return the address of a run with a sign for its name, so that runs of one kind share it."""
    before, _, after = str(addresses.served(site.page(run))).rpartition(file_slug(run.id))
    return before + _NAME + after
