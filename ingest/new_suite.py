"""Create a suite: a file with every key explained, filled from the existing runs; a person writes its texts."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from perfledger import INSTALLED, TOP, as_called, project_folder
from perfledger.ingest.common import suites
from perfledger.ingest.common.errors import UsageError
from perfledger.ingest.common.files import write_if_changed
from perfledger.ingest.common.toml_file import display_path
from perfledger.ingest.common.words import LANGUAGES, own
from perfledger.ingest.record.store import FolderStore, lines_of
from perfledger.schema.records import Run, from_text

#: The words that describe one model; the other words are true of most models.
OWN_WORDS = ("summary", "what", "setup")
_NAME = re.compile(r"[a-z0-9]+(?:[_-][a-z0-9]+)*")
#: Characters of a name, at most.
_LONGEST_NAME = 60
#: Names that the site uses for pages of models without a suite.
_TAKEN = re.compile(r"index|other|model-.*")
_ORDER = ("Paddle", "TensorFlow", "PyTorch", "MXNet", "OneFlow")


@dataclass(frozen=True)
class ModelFacts:
    """The known facts of a model without a suite: spellings and frameworks, the most frequent first."""

    runs: int = 0
    models: tuple[str, ...] = ()
    frameworks: tuple[str, ...] = ()
    unit: str = ""
    row_options: tuple[str, ...] = ()
    #: Format to the words for the model that its logs print.
    printed: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


def place() -> Path:
    """Return the folder of new suites: that of the user's project; in our own repository, that of our suites.

    Raises:
        UsageError: there is neither.
    """
    project = project_folder()
    if project is None and INSTALLED:
        raise UsageError("new-suite: this folder has no perfledger.toml; perfledger init DIR makes a folder with one")
    return suites.SUITES if project in (None, TOP) else project / "suites"


def create(name: str, runs: Path, folder: Path | None = None) -> str:
    """Write `folder/name.toml`, and return what to do next.

    Args:
        name: name of the file and of the pages' folder.
        runs: the folder of the ledger; its runs of that model fill the file.
        folder: folder of the suites; `place` by default.

    Raises:
        UsageError: the name is invalid or taken, or the file cannot be written.
    """
    folder = folder or place()
    path = folder / f"{name}.toml"
    _check(name, path)
    lines = list(_without_suite(runs))
    known = _facts_of_model([run for run in lines if suites.folded(run.case.model or "") == suites.folded(name)])
    try:
        write_if_changed(path, _text(name, known, _last_order(folder) + 10).encode())
    except OSError as error:
        raise UsageError(f"{display_path(path)}: {error.strerror}; nothing was written") from None
    return "\n".join([_written(path, known), *_others(lines, known), _next(path)])


def unfilled(files: Iterable[Path]) -> list[str]:
    """Return the texts of suites that are still as `create` wrote them, each as `path:line: what to do`."""
    standard = own().entries
    found = []
    for path in files:
        file = suites.suite_file(path)
        for key in OWN_WORDS:
            entry = getattr(file.data.words, key)
            same = [each for each in LANGUAGES if entry and getattr(entry, each) == standard[f"suite.{key}"][each]]
            if same:
                at = f"{display_path(path)}:{file.line(('words', key))}"
                found.append(f"{at}: words.{key} is as new-suite wrote it ({', '.join(same)}); write your own")
    return found


def _check(name: str, path: Path) -> None:
    if not _NAME.fullmatch(name) or len(name) > _LONGEST_NAME or _TAKEN.fullmatch(name):
        why = "is what the site calls other pages" if _TAKEN.fullmatch(name) else (
            f"is no name of a suite: small letters and digits, joined by - or _, at most {_LONGEST_NAME}"
        )  # fmt: skip
        near = re.sub(r"[^a-z0-9_]+", "-", name.lower().removeprefix("model-"))[:_LONGEST_NAME].strip("-_")
        hint = f"; for example new-suite {near}" if _NAME.fullmatch(near) and not _TAKEN.fullmatch(near) else ""
        raise UsageError(f"new-suite {name}: {why}{hint}")
    if path.exists():
        raise UsageError(f"new-suite {name}: {display_path(path)} is there already; edit it, or choose another name")
    if owner := suites.suite(name):
        other = display_path(suites.path_of(owner))
        raise UsageError(f"new-suite {name}: {other} compares {suites.model(name)} already; edit it, or rename yours")


def _without_suite(runs: Path) -> Iterator[Run]:
    """Yield the ledger's runs of models that no suite compares, without lines that cannot be read."""
    place = FolderStore(runs, Path())
    for name in place.names():
        for line in _lines(name, place.get(name) or b""):
            try:
                run = from_text(line, Run)
            except ValueError:
                continue
            if run.case.model is not None and suites.suite_of_name(run.case.model) is None:
                yield run


def _lines(name: str, data: bytes) -> list[bytes]:
    try:
        return lines_of(name, data)
    except ValueError:
        return []


def _facts_of_model(runs: Sequence[Run]) -> ModelFacts:
    cases = [run.case for run in runs]
    figures = [figure for run in runs if (figure := run.headline)]
    unit = next(iter(_frequent(figure.unit for figure in figures)), "")
    stated = {name for case in cases for name in case.options}
    return ModelFacts(
        len(runs),
        _frequent(case.model for case in cases),
        _frequent(case.framework for case in cases),
        unit,
        tuple(sorted(stated & _workload_options(unit))),
        {
            name: _frequent(_printed(run) for run in runs if run.format == name)
            for name in _frequent(map(_by_log, runs))
        },
    )


def _by_log(run: Run) -> str | None:
    """Return the format of a run whose model is a word of its log."""
    return run.format if _printed(run) else None


def _printed(run: Run) -> str | None:
    stated = run.facts.get("model")
    return str(stated.value) if stated and stated.source == "log" else None


def _frequent(names: Iterator[str | None]) -> tuple[str, ...]:
    return tuple(name for name, _ in Counter(each for each in names if each).most_common())


def _workload_options(unit: str) -> set[str]:
    """Return options that make another workload in suites of that unit: image size, sequence length."""
    files = [suites.suite_file(path).data for path in suites.paths()]
    return {name for file in files if file.unit == unit for name in file.row_options}


def _last_order(folder: Path) -> int:
    orders = [suites.suite_file(path).data.order for path in folder.glob("*.toml")]
    return max((each for each in orders if each < 990), default=0)


def _text(name: str, known: ModelFacts, order: int) -> str:
    title = known.models[0] if known.models else name
    words = own().entries
    lines = [
        "# One model's page: what it compares, in which order, and its words in both languages.",
        "# The name of the page, in both languages.",
        f"title = {_both(dict.fromkeys(LANGUAGES, title))}",
        "# Where the page stands among the models: small numbers first.",
        f"order = {order}",
        "# How people, run.json and layouts spell the model; the first is its name. Case and blanks do not matter.",
        f"models = {_list(known.models or (name,))}",
        "# What a figure counts: images/s, sequences/s, tokens/s, words/s or samples/s.",
        f"unit = {_quoted(known.unit or 'samples/s')}",
        "# The order of the frameworks; those that are not listed follow by alphabet.",
        f"frameworks = {_list(known.frameworks or _ORDER)}",
        "# Options that make another workload: only runs with equal ones share a row. image_size, sequence_length, ...",
        f"row_options = {_list(known.row_options)}",
        "# What a log that states no such option is taken to be of.",
        "# usual = { image_size = 224 }",
        "# Other models on the same page, each a list of spellings; they stay different models.",
        '# more = [["Another model", "another_model"]]',
        "# What logs print of the models, by their format: only then is a run of the page.",
        f"printed = {_table(title, known)}" if known.printed else f"# printed = {_EXAMPLE}",
        "",
        "# Write each for an engineer of the field, in both languages, not word for word; ingest says which are left.",
        "[words]",
        "# One sentence for the list of models: the task and the network.",
        f"summary = {_both(words['suite.summary'])}",
        "# What is measured: the network, the workload, what the figure includes and what it leaves out.",
        f"what = {_both(words['suite.what'])}",
        "# What to install and which data to prepare before a run.",
        f"setup = {_both(words['suite.setup'])}",
        "# How to run it so that the figure can be compared.",
        f"steps = {_both(words['suite.steps'])}",
    ]
    return "\n".join(lines) + "\n"


def _quoted(text: str) -> str:
    """Return a text as TOML writes it, which is the form of JSON except for one character."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def _both(entry: Mapping[str, str]) -> str:
    return "{ " + ", ".join(f"{language} = {_quoted(entry[language])}" for language in LANGUAGES) + " }"


def _list(texts: Sequence[str]) -> str:
    return f"[{', '.join(map(_quoted, texts))}]"


_EXAMPLE = '{ "frameworks.keras" = { "another_model" = "Another model" } }'


def _table(title: str, known: ModelFacts) -> str:
    entries = {
        each: ", ".join(f"{_quoted(word)} = {_quoted(title)}" for word in words)
        for each, words in known.printed.items()
    }
    return "{ " + ", ".join(f"{_quoted(each)} = {{ {words} }}" for each, words in entries.items()) + " }"


def _written(path: Path, known: ModelFacts) -> str:
    if not known.runs:
        return f"{display_path(path)}: written; no run of this model was found, so look through its keys"
    runs = f"{known.runs} run{'s' if known.runs > 1 else ''}"
    return f"{display_path(path)}: written, filled from {runs} of {known.models[0]} ({', '.join(known.frameworks)})"


def _others(runs: Sequence[Run], known: ModelFacts) -> list[str]:
    """Return models without a suite, for a message if none matched: one may be another spelling of the model."""
    names = [] if known.runs else _frequent(run.case.model for run in runs)
    return [f"Runs without a suite: {', '.join(names)}; name those of this model in models"] if names else []


def _next(path: Path) -> str:
    file = suites.suite_file(path)
    words = ", ".join(f"{key} (line {file.line(('words', key))})" for key in OWN_WORDS)
    return as_called(
        f"Next: write {words} in both languages; then python -m ingest raw_logs/, and look at models/{path.stem}/ "
        "in both languages"
    )
