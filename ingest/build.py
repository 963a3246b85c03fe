"""Read logs, compute their figures, and write the pages or check them."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from hashlib import blake2b
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from perfledger.ingest.common.errors import UsageError
from perfledger.ingest.common.files import stamp
from perfledger.schema.records import Plain, Problem

if TYPE_CHECKING:
    from perfledger.ingest.published.publications import Publications
    from perfledger.ingest.read.accelerators import Accelerators
    from perfledger.ingest.read.change_notes import ChangeNotes
    from perfledger.ingest.read.layout import Layout
    from perfledger.ingest.read.plans import Plans
    from perfledger.ingest.read.walk import FoundFiles
    from perfledger.ingest.record.ledger import Ledger
    from perfledger.ingest.record.reader import Reader
    from perfledger.ingest.record.remote import StoredFolder
    from perfledger.ingest.record.store import Store
    from perfledger.ingest.site.builder import Built

#: Fewest logs that make further processes pay off.
_MANY_LOGS = 200
#: Fewest bytes of logs that make further processes pay off.
_MANY_BYTES = 64 << 20


@dataclass(frozen=True)
class Inputs:
    """The inputs of a build: logs or folders of logs, the layout of their names, and the folders of others' figures.

    `assumed` are facts that the user states for all logs, as (name, value) pairs. `stores` are addresses of folders in
    object stores, which are read in addition to the paths. `ledger` is the folder or address of the ledger; if empty,
    the ledger is with the data of the pages. `out` is the folder of the pages, with the ledger of the last build.
    `jobs` is the number of processes; with 0, it depends on the amount of work. `on` names a Dask cluster; if empty,
    processes of this machine read.
    """

    paths: tuple[Path, ...]
    layout: str = "perfledger"
    jobs: int = 0
    out: Path = Path("docs")
    published: tuple[Path, ...] = ()
    on: str = ""
    stores: tuple[str, ...] = ()
    ledger: str = ""
    assumed: tuple[tuple[str, Plain], ...] = ()


@dataclass(frozen=True)
class State:
    """Everything that was read and computed, before any file is written.

    `logs` are the places of logs on this machine, by their redacted path, which several may share. `store` has the
    ledger, and `sources` the state of the files that it was read from. `fresh` are new values for the cache. `folders`
    are those of object stores. `problems` are all problems, `of_no_run` those that do not belong to a run.
    """

    inputs: Inputs
    logs: Mapping[str, tuple[Path, ...]]
    ledger: Ledger
    store: Store
    publications: Publications
    accelerators: Accelerators
    changes: ChangeNotes
    plans: Plans
    problems: tuple[Problem, ...]
    of_no_run: tuple[Problem, ...]
    sources: str
    fresh: Mapping[str, bytes]
    folders: Sequence[StoredFolder] = ()


@dataclass(frozen=True)
class Written:
    """The numbers of files that a build wrote, left unchanged, and removed; and how many the site now has.

    `lasting` says whether the next build from the same files would write the same.
    """

    written: int
    unchanged: int
    removed: int
    pages: int
    lasting: bool


def checked(inputs: Inputs) -> Layout:
    """Check the inputs, and return the layout of the logs.

    Raises:
        UsageError: a path, the layout or the output folder cannot be used; the message says how to give another one.
    """
    from perfledger.ingest.read import layout
    from perfledger.ingest.read.walk import refuse_missing

    named = layout.load(inputs.layout)
    if inputs.stores and inputs.assumed:
        raise UsageError("--assume: is of logs in folders; for logs in an object store, write a layout")
    if inputs.out.exists() and not inputs.out.is_dir():
        raise UsageError(f"--out {inputs.out}: is a file; give a folder")
    for path in inputs.paths:
        refuse_missing(path)
    return named


def read(inputs: Inputs) -> State:
    """Read all logs; those that have not changed come from the cache.

    Raises:
        UsageError: a path, the layout or the output folder cannot be used, or the paths contain no logs.
    """
    from perfledger.ingest.common import processes, sources
    from perfledger.ingest.common.cache import Cache
    from perfledger.ingest.published import publications
    from perfledger.ingest.read import accelerators, change_notes, layout, objects, plans, reader_facts
    from perfledger.ingest.read.walk import labels, walk
    from perfledger.ingest.record import ledger, remote
    from perfledger.ingest.record.folders import LogFiles
    from perfledger.ingest.record.store import store_of

    processes.keep_objects()
    checked(inputs)
    before, store = sources.state(inputs.paths, inputs.layout), store_of(inputs.ledger, inputs.out)
    others = publications.read(list(dict.fromkeys([*publications.folders(inputs.paths), *inputs.published])))
    stores = [objects.object_folder(each) for each in inputs.stores]
    names = labels([*inputs.paths, *(each.path for each in stores)])
    here, there = names[: len(inputs.paths)], names[len(inputs.paths) :]
    walked = walk(inputs.paths, here)
    inputs = replace(inputs, layout=layout.with_own_files(inputs.layout, walked))
    named = layout.load(inputs.layout)
    found = reader_facts.with_facts(named.logs_of(walked), dict(inputs.assumed))
    stated = accelerators.found(inputs.paths)
    folders, wrong = remote.listed(dict(zip(there, stores, strict=True)), inputs.layout, others.rules_of)
    changes, planned = change_notes.found(inputs.paths), plans.found(inputs.paths)
    found = _with_problems(found, (*others.problems, *stated.problems, *changes.problems, *planned.problems, *wrong))
    if not (found.inputs or folders):
        nothing, problems = ledger.Ledger(), found.problems
        return State(inputs, {}, nothing, store, others, stated, changes, planned, problems, problems, before, {})
    logs = LogFiles(found.inputs, found.beside, inputs.layout, others.rules_of)
    with (
        Cache(_cache(inputs.out), read_only=True) as cached,
        _reader(inputs, found, folders) as reader,
        _progress(len(found.inputs) + sum(len(each.logs) for each in folders)) as progress,
    ):
        collected = ledger.collect(logs, store, cached, folders, reader, progress)
    found = _with_problems(found, collected.problems)
    return State(
        inputs,
        _places(found, collected),
        collected,
        store,
        others,
        stated,
        changes,
        planned,
        _distinct(found, collected),
        found.problems,
        before,
        cached.new,
        folders,
    )


def write(state: State) -> Written:
    """Write the ledger and the site, each file only where its bytes change.

    Raises:
        UsageError: a template, a word or a suite is wrong, and nothing was written; or a file cannot be written, and
            those before it are complete.
    """
    from perfledger.ingest.common import sources
    from perfledger.ingest.common.files import notes, refuse_ways_out, remove_unfinished
    from perfledger.ingest.record import ledger
    from perfledger.ingest.record.kept import passes
    from perfledger.ingest.site.builder import WRITTEN_TO

    out = state.inputs.out
    try:
        refuse_ways_out(out.absolute().parent, [".perfledger/any"])
        remove_unfinished([notes(out), *(out / each for each in WRITTEN_TO)])
        # Before the ledger: a mistake in a template or a word stops here, and nothing has been written then.
        built = _site(state, check=False)
        written, removed = ledger.write(state.ledger, state.store)
        sources.record(out, state.sources)
        remember(state)
    except OSError as error:
        in_place = isinstance(error, (IsADirectoryError, NotADirectoryError, FileExistsError))
        remedy = "move away what has its place" if in_place else "free space, or make the folder writable"
        raise UsageError(
            f"{error.filename or out}: {error.strerror}; what was written before is complete, and the next run writes "
            f"the rest: {remedy}, and run again"
        ) from None
    lasting = built.lasting and not passes(state.ledger.runs, state.problems)
    return Written(
        len(written) + len(built.written),
        len(built.unchanged),
        len(removed) + len(built.removed),
        len(built.written) + len(built.unchanged),
        lasting,
    )


def remember(state: State) -> None:
    """Write new values to the cache."""
    from perfledger.ingest.common.cache import Cache

    with Cache(_cache(state.inputs.out)) as cache:
        cache.keep(state.fresh)


def stale(state: State) -> list[str]:
    """Return the paths of committed files that differ from those of a new build."""
    from perfledger.ingest.record import ledger

    pages = _site(state, check=True).stale
    return [*ledger.stale(state.ledger, state.store), *(str(state.inputs.out / each) for each in pages)]


def _site(state: State, *, check: bool) -> Built:
    from perfledger.ingest.site import builder
    from perfledger.ingest.site.model import site_of_runs
    from perfledger.ingest.site.run_paging import LIMITS, chosen

    site = site_of_runs(
        state.ledger.completed(chosen(state.ledger.runs, LIMITS)),
        state.of_no_run,
        published=state.publications,
        logs={} if check else {**state.logs, **_stored_logs(state)},
        shards=state.ledger.shards if state.store.is_of_pages else {},
        passed_over=state.ledger.passed_over,
        accelerators=state.accelerators,
        changes=state.changes,
        plans=state.plans,
        limits=LIMITS,
    )
    return builder.build(site, state.inputs.out, _cache(state.inputs.out), check)


def _cache(out: Path) -> Path:
    return out.absolute().parent / ".perfledger" / "cache.sqlite"


def _places(found: FoundFiles, ledger: Ledger) -> dict[str, tuple[Path, ...]]:
    """Return the places of each log, by its redacted path."""
    from perfledger.schema.redaction.redact import redact

    redacted = {run.path for run in ledger.runs}  # few names have something to redact
    places: dict[str, tuple[Path, ...]] = {}
    for each in found.inputs:
        name = each.name if each.name in redacted else redact(each.name)
        places[name] = (*places.get(name, ()), each.path)
    return places


def _stored_logs(state: State) -> dict[str, tuple[Path, ...]]:
    """Return the local places of logs from object stores whose lines are shown on pages."""
    from perfledger.ingest.common.files import notes
    from perfledger.ingest.record import remote
    from perfledger.ingest.site.run_paging import LIMITS, chosen

    ids = chosen(state.ledger.runs, LIMITS) if state.folders else ()
    wanted = {run.path for run in state.ledger.runs if run.id in ids}
    return remote.kept(state.folders, wanted, notes(state.inputs.out) / "objects")


def _with_problems(found: FoundFiles, more: Iterable[Problem]) -> FoundFiles:
    """Add further problems to the found files, redacted, since the output of a CI run may be public."""
    from dataclasses import replace

    from perfledger.schema.redaction.redact import redact_record

    return replace(found, problems=tuple(map(redact_record, (*found.problems, *more))))


def _distinct(found: FoundFiles, ledger: Ledger) -> tuple[Problem, ...]:
    """Return every problem once: several sessions of a log, or several logs of a run.json, may have the same one."""
    met = chain(found.problems, (each for run in ledger.runs for each in run.problems))
    # Hashes, since the texts of problems may take more memory than all other data of many logs.
    return tuple({blake2b(msgspec.json.encode(each), digest_size=16).digest(): each for each in met}.values())


@contextmanager
def _reader(inputs: Inputs, found: FoundFiles, folders: Sequence[StoredFolder]) -> Iterator[Reader]:
    """Return the reader: one process, several for many logs, or the cluster that the user names."""
    if inputs.on:
        from perfledger.ingest.record import cluster

        with cluster.connected(inputs.on, inputs.jobs, inputs.layout, inputs.paths) as reader:
            yield reader
        return
    size = sum(at[0] for each in found.inputs if (at := stamp(each.path)))
    worth = len(found.inputs) >= _MANY_LOGS or size >= _MANY_BYTES or len(folders) > 1  # fetching is waiting
    count = inputs.jobs or (os.cpu_count() or 1 if worth else 1)
    from perfledger.ingest.record.reader import Processes

    yield Processes(count, fresh=bool(folders))


@contextmanager
def _progress(logs: int) -> Iterator[Any]:
    """Show a bar on a terminal, for more logs than are read in a moment."""
    if logs < _MANY_LOGS or not sys.stderr.isatty():
        yield None
        return
    from tqdm import tqdm

    with tqdm(total=logs, unit="log", leave=False) as bar:
        yield bar.update
