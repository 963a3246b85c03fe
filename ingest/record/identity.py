"""Which run a log is of: the run's id, its fingerprint, and logs that record the same run, which counts once.

Duplicates are logs with the same bytes, with the same records, of several ranks of one job, or in several formats. They
are looked for among all runs at every call: the copies may be in any folders, and adding or removing a log can change
which one is the original.
"""

from __future__ import annotations

import hashlib
import posixpath
import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import datetime, timedelta

from msgspec.json import encode
from msgspec.structs import replace

from perfledger.ingest.common.grouping import by_key
from perfledger.ingest.compute.results import ALIKE
from perfledger.ingest.read import facts
from perfledger.ingest.read.facts import Contradiction
from perfledger.parsers.engine.session import Session
from perfledger.schema.records import FactValue, Problem, Run

#: Pairs of runs by their index: the one that counts, and a copy of it.
Copies = Iterator[tuple[int, int]]
#: Measured columns. Steps, epochs and losses do not count: they are the same in every repeat of a seeded run.
_MEASURED = frozenset(
    {"throughput", "step_seconds", "steps_per_second", "duration", "reader_seconds", "clock", "seconds"}
)
#: Two different runs do not share this many different measured numbers.
_ENOUGH = 10
_CODES = frozenset({"duplicate", "other_log"})
#: Names that launchers give the log of one rank: `rank_3/info.log`, `workerlog.1`, `local_rank=0.log`.
_RANK = re.compile(r"(?i)(?<![a-z])(local_?rank|rank|workerlog|worker|trainer)[._=-]?([0-9]+)(?![0-9])")
#: Names of the log of one machine. They count only if a job runs on several: jobs of one machine each may run at the
#: same time.
_MACHINE = re.compile(r"(?i)(?<![a-z])(node|machine|host)[._=-]?([0-9]+)(?![0-9])")
#: Ranks of a job print at the same time: share of the shorter log's time.
_TOGETHER = 0.9


def fingerprint(session: Session) -> str | None:
    """Hash the records and facts of a session, not other lines of its log; return None if there are too few of them.

    A log with a run.json does not need one: the runner states there which run it was, and the hash of its bytes.
    """
    import numpy as np

    digest, numbers = hashlib.sha256(session.format.id.encode()), 0
    for name, quoted in sorted(session.facts.items()):
        digest.update(f"{name}={quoted.value}\n".encode())
    for number, records in enumerate(session.records):
        for name in sorted(records.columns) if len(records) else ():
            digest.update(f"{number} {name} {len(records)}\n".encode() + records[name].tobytes())
            numbers += len(np.unique(records[name][:_ENOUGH])) if name in _MEASURED else 0
    return digest.hexdigest() if numbers >= _ENOUGH else None


def identify(runs: Sequence[Run]) -> list[Run]:
    """Give every run its `id`: a slug of its path, with a hash if two paths make one slug."""
    slugs = [_slug(each) for each in runs]
    used = Counter(slugs)
    return [replace(run, id=_id(run, slug, alone=used[slug] == 1)) for run, slug in zip(runs, slugs, strict=True)]


def _id(run: Run, slug: str, *, alone: bool) -> str:
    if alone and len(slug) <= 100:
        return slug
    digest = hashlib.sha256(f"{run.path}#{run.session}".encode()).hexdigest()[:8]
    return f"{slug[:90].rstrip('-')}-{digest}"


def _slug(run: Run) -> str:
    path = run.path.partition("/")[2] or run.path
    path = path.removesuffix("/train.log")
    slug = re.sub(r"[^a-z0-9]+", "-", path.lower()).strip("-") or "log"
    return slug if run.sessions == 1 else f"{slug}-s{run.session}"


def mark(runs: Sequence[Run]) -> list[Run]:
    """Mark the duplicates of other runs, and report where two names of one run disagree."""
    found = {index: _unmarked(run) for index, run in enumerate(runs)}
    for code, copies in (
        ("duplicate", _of_equal_bytes),
        ("duplicate", _of_equal_records),
        ("other_log", _of_ranks),
        ("other_log", _in_other_formats),
    ):
        left = {index: run for index, run in found.items() if run.format and not run.duplicate_of}
        again = list(copies(left))
        for first, copy in again:
            problem = Problem(code, found[copy].path, args={"original": found[first].path})
            found[copy] = replace(_with_problem(found[copy], problem), duplicate_of=found[first].path)
        for first, copy in again if code == "duplicate" else ():
            _compare(found, copy, first)
    return list(found.values())


def _of_equal_bytes(runs: Mapping[int, Run]) -> Copies:
    """Yield the runs of logs with the same bytes as another log; sessions of one log share its bytes."""
    for group in by_key(runs, lambda each: runs[each].sha256).values():
        yield from ((first, copy) for first, copy in _copies(runs, group) if runs[copy].path != runs[first].path)


def _of_equal_records(runs: Mapping[int, Run]) -> Copies:
    """Yield the runs with the records and facts of another one, whose name does not contradict its log."""
    for group in by_key(
        (each for each in runs if runs[each].fingerprint), lambda each: runs[each].fingerprint
    ).values():
        yield from ((first, copy) for first, copy in _copies(runs, group) if runs[first].sound)


def _of_ranks(runs: Mapping[int, Run]) -> Copies:
    """Yield the logs of other ranks of a run: their names differ in the rank alone, or they are in one file."""
    some = [each for each, run in runs.items() if run.sound and run.case.devices != 1]
    groups = by_key(some, lambda each: encode([runs[each].format, runs[each].case, _unnumbered(runs[each])]))
    for group in groups.values():
        for ranks in _jobs({each: runs[each] for each in group}):
            yield from _copies(runs, ranks)


def _in_other_formats(runs: Mapping[int, Run]) -> Copies:
    """Yield logs of a run in other formats, such as JSON lines next to its output, in its folder or one below."""
    some = [each for each, run in runs.items() if run.sound and run.sessions == 1]
    for group in by_key(some, lambda each: encode(runs[each].case)).values():
        if len({runs[each].format for each in group}) < 2:
            continue
        folders, copies = {each: posixpath.dirname(runs[each].path) for each in group}, set[int]()
        for first in sorted(group, key=lambda each: runs[each].path):
            near = [each for each in group if folders[first] in (folders[each], posixpath.dirname(folders[each]))]
            if first in copies or len({runs[each].format for each in near}) < len(near):
                continue
            same = [each for each in near if each != first and _have_one_figure(runs[first], runs[each])]
            copies.update(same)
            yield from ((first, each) for each in same)


def _copies(runs: Mapping[int, Run], group: Collection[int]) -> Copies:
    """Yield each run of a group except the one that counts; a name that does not contradict its log is preferred."""
    first = min(group, key=lambda each: (not runs[each].sound, runs[each].path, runs[each].session))
    yield from ((first, each) for each in group if each != first)


def _have_one_figure(one: Run, other: Run) -> bool:
    """Return whether two logs give the same figure, and were written at the same time as far as they say when."""
    first, second = one.headline, other.headline
    alike = first and second and abs(first.value / second.value - 1) <= ALIKE
    clocks = [each.measured_clock or each.clock for each in (one, other)]
    periods = [(datetime.fromisoformat(a), datetime.fromisoformat(b)) for a, b in filter(None, clocks)]
    return bool(alike) and (len(periods) < 2 or _together(*periods))


def _jobs(runs: Mapping[int, Run]) -> Iterator[set[int]]:
    """Yield for each job with several ranks the keys of its runs.

    They were written at the same time. Files without times are recognised by names, which number ranks and machines
    from 0.
    """
    clocks = {each: clock for each, run in runs.items() if (clock := run.clock or run.measured_clock)}
    periods = {each: (datetime.fromisoformat(a), datetime.fromisoformat(b)) for each, (a, b) in clocks.items()}
    found: list[set[int]] = []
    open_jobs: list[tuple[tuple[datetime, datetime], set[int]]] = []
    for index, period in sorted(periods.items(), key=lambda each: each[1]):
        open_jobs = [each for each in open_jobs if each[0][1] > period[0]]
        job = next((ranks for other, ranks in open_jobs if _together(other, period)), None)
        if job is None:
            open_jobs.append((period, job := set()))
            found.append(job)
        job.add(index)
    for ranks in map(set, by_key(runs.keys() - periods.keys(), lambda each: runs[each].session).values()):
        case, paths = runs[min(ranks)].case, [runs[each].path for each in ranks]
        if _from_zero(_RANK, paths, case.devices) and _from_zero(_MACHINE, paths, case.nodes):
            found.append(ranks)
    yield from (each for each in found if len(each) > 1)


def _from_zero(names: re.Pattern[str], paths: Sequence[str], most: int | None) -> bool:
    """Return whether names number from 0 on, and no more than there are, or all of them have the same number."""
    numbers = {int(number) for path in paths for _, number in names.findall(path)}
    return len(numbers) < 2 or (numbers == {*range(len(numbers))} and len(numbers) <= (most or len(numbers)))


def _unnumbered(run: Run) -> str:
    """Return the path of a log without the numbers of its rank and its machine."""
    path = _RANK.sub(r"\1#", run.path)
    return _MACHINE.sub(r"\1#", path) if (run.case.nodes or 1) > 1 else path


def _together(one: tuple[datetime, datetime], other: tuple[datetime, datetime]) -> bool:
    """Return whether two logs were written at the same time, nearly all of it."""
    shorter = min(one[1] - one[0], other[1] - other[0])
    common = min(one[1], other[1]) - max(one[0], other[0])
    return shorter > timedelta() and common >= _TOGETHER * shorter


def _unmarked(run: Run) -> Run:
    """Return a run without any mark of a duplicate."""
    problems = tuple(each for each in run.problems if each.code not in _CODES and "other" not in each.args)
    return replace(run, problems=problems, published=run.fits_results, duplicate_of=None)


def _compare(runs: dict[int, Run], again: int, original: int) -> None:
    """Exclude both copies of a run if their names state different facts: it belongs to neither case."""
    if not (runs[again].sound and runs[original].sound):
        return
    for found in list(_contradictions(runs[original], runs[again])):
        for one, other in ((again, original), (original, again)):
            problem = facts.contradiction(runs[one].path, found, other=runs[other].path)
            runs[one] = _with_problem(runs[one], problem)


def _contradictions(first: Run, second: Run) -> Iterator[Contradiction]:
    for name in sorted(first.facts.keys() & second.facts.keys()):
        if not facts.agree(name, first.facts[name], second.facts[name]):
            yield Contradiction(name, _fact_with_path(first, name), _fact_with_path(second, name))


def _fact_with_path(run: Run, name: str) -> FactValue:
    stated = run.facts[name]
    return replace(stated, where=f"{run.path}: {stated.where}")


def _with_problem(run: Run, problem: Problem) -> Run:
    """Return a run with a problem as its line in the ledger says it, with sorted keys: pages are known by runs."""
    told = replace(problem, args=dict(sorted(problem.args.items())))
    return replace(run, problems=(*run.problems, told), published=False)
