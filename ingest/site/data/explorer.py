"""The runs as columns, in parts, for the page that filters and sorts them: one set of files for both languages.

A column is a list with an entry per run, or `{"of": [...], "at": [...]}` where many are equal: `at` holds the place of
each run's entry in `of`, and is left out where all are the same. A text that differs by language is `[en, zh]`. Figures
are as pages write them, and sorted by the number that readers see.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ingest.common.words import LANGUAGES, Text, Words, phrase
from ingest.site import addresses, run_tables
from ingest.site.data.measured import date_of
from ingest.site.model import Site, written
from ingest.site.options import in_words
from ingest.site.render.text import digest, file_slug, plain
from ingest.site.run_paging import cut
from schema.records import Run

FOLDER = "data/explorer"
#: Runs per part: on average somewhat fewer than SIZE, and MOST at most.
SIZE, MOST = 4000, 5000
#: What the run's own name is replaced by in the address of its page.
_NAME = "*"


@dataclass(frozen=True)
class RunPart:
    """Some of the runs, by model and id, in a file that is named after the first of them."""

    runs: tuple[Run, ...]

    @property
    def name(self) -> str:
        """The name of the file, which stays while parts before it come and go."""
        return digest(self.runs[0].id)[:12]

    @property
    def models(self) -> tuple[str, ...]:
        """The models of the runs, so that a reader who chose one loads the parts that hold it."""
        return tuple(dict.fromkeys(plain(model_of(run)) for run in self.runs))


def parts(site: Site) -> tuple[RunPart, ...]:
    """Return the runs by model and id, cut so that one more run changes its part and seldom another."""
    by_id = {run.id: run for run in sorted(site.runs, key=lambda run: (model_of(run), run.id))}
    return tuple(RunPart(tuple(by_id[each] for each in part)) for part in cut(tuple(by_id), SIZE, MOST))


def model_of(run: Run) -> str:
    """Return a run's model; empty where it is not known."""
    return run.case.model or ""


def files(site: Site, words: Words) -> dict[str, bytes]:
    """Return the parts by their paths."""
    return {f"{FOLDER}/{each.name}.json": document(site, words, each) for each in site.once(parts)}


def document(site: Site, words: Words, part: RunPart) -> bytes:
    """Return a part as JSON with a line per column."""
    columns = [f"{json.dumps(name)}:{_json(column)}" for name, column in _columns(site, words, part.runs).items()]
    return ("{\n" + ",\n".join(columns) + "\n}\n").encode()


def _columns(site: Site, words: Words, runs: Sequence[Run]) -> Mapping[str, Any]:
    found = [run_tables.headline(run) for run in runs]
    texts: Mapping[str, Iterable[Text | None]] = {
        "options": (in_words(run.case.options) for run in runs),
        "machines": map(_machines, runs),
        "said": map(run_tables.outcome, runs),
        "why": (None if run_tables.headline(run) else run_tables.why_absent(run) for run in runs),
        "mark": (next(iter(run_tables.unproven(run)), None) for run in runs),
    }
    names: Mapping[str, Iterable[str | int | None]] = {
        "id": (run.id for run in runs),
        "slug": (None if file_slug(run.id) == run.id else file_slug(run.id) for run in runs),
        "page": (_place(site, run) for run in runs),
        "log": (run.path for run in runs),
        "model": map(model_of, runs),
        "framework": (run.case.framework or "" for run in runs),
        "hardware": (run.case.hardware or "" for run in runs),
        "devices": (run.case.devices for run in runs),
        "batch_size": (run.case.batch_size for run in runs),
        "precision": (run.case.precision or "" for run in runs),
        "outcome": (run.outcome for run in runs),
        "tone": map(run_tables.tone_of, runs),
        "date": map(date_of, runs),
        "figure": (written(each) if each else None for each in found),
        "unit": (each.unit if each else None for each in found),
    }
    said = {name: _column(each, lambda text: _said(words, text)) for name, each in texts.items()}
    return {name: _column(each, _shown) for name, each in names.items()} | said


def _machines(run: Run) -> Text | None:
    """Return the number of devices with that of machines, where there are several."""
    case = run.case
    several = case.nodes is not None and case.nodes > 1 and case.devices is not None
    return phrase("table.machines", devices=case.devices, nodes=case.nodes) if several else None


def _column(values: Iterable[Hashable], shown: Callable[[Any], Any]) -> Any:
    """Return a column; of values that few runs share, as a list."""
    listed = list(values)
    places = {value: place for place, value in enumerate(dict.fromkeys(listed))}
    of = [shown(each) for each in places]
    if len(of) > len(listed) / 2 and len(of) > 1:
        return [of[places[each]] for each in listed]
    return {"of": of} if len(of) == 1 else {"of": of, "at": [places[each] for each in listed]}


def _shown(value: str | int | None) -> str | int | None:
    return plain(value) if isinstance(value, str) else value


def _said(words: Words, text: Text | None) -> str | list[str] | None:
    """Return a text in both languages, once where they are the same."""
    if text is None:
        return None
    said = [plain(words.say(language, text)) for language in LANGUAGES]
    return said[0] if len(set(said)) == 1 else said


def _place(site: Site, run: Run) -> str:
    """Return the address of a run with a sign for its name, which most runs of a list share."""
    before, _, after = str(addresses.served(site.page(run))).rpartition(file_slug(run.id))
    return before + _NAME + after


def _json(column: Any) -> str:
    return json.dumps(column, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
