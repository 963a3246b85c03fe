"""Identity of a run: its id, and its fingerprint, which is the same for the same run in another file."""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Sequence

from msgspec.structs import replace

from perfledger.parsers.engine.session import Session
from perfledger.schema.records import Run

#: Measured columns. Steps, epochs and losses do not count: they are the same in every repeat of a seeded run.
_MEASURED = frozenset(
    {"throughput", "step_seconds", "steps_per_second", "duration", "reader_seconds", "clock", "seconds"}
)
#: Two different runs do not share this many different measured numbers.
_ENOUGH = 10


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
