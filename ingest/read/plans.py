"""Plans: recipes with their cases, run or not, as `python -m runners export` writes them next to the logs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from perfledger.ingest.common.documents import cause, head, read_bytes
from perfledger.schema.plans import PLANS_FOLDER, SCHEMA, Plan
from perfledger.schema.records import Problem, from_text
from perfledger.schema.redaction.redact import redact_record

#: A plan names its schema within its first bytes, this many; other files in folders called `plans` are left alone.
_HEAD = 200


@dataclass(frozen=True)
class Plans:
    """Plans by the name of their recipe, in the order of their names."""

    by_recipe: Mapping[str, Plan] = field(default_factory=dict)
    problems: tuple[Problem, ...] = ()


def is_plans(folder: Path) -> bool:
    """Return whether a folder contains plans instead of logs."""
    return folder.name == PLANS_FOLDER and any(_is_plan(path) for path in folder.glob("*.json"))


def found(paths: Iterable[Path]) -> Plans:
    """Return the plans directly below the given paths; of two of one recipe, the one of the later path counts.

    A file with a fault is a problem, and the others count.
    """
    plans: dict[str, Plan] = {}
    problems: list[Problem] = []
    for path in (file for each in paths for file in _files(each / PLANS_FOLDER)):
        try:
            plan = redact_record(from_text(read_bytes(path), Plan))
        except (OSError, ValueError) as error:
            problems.append(Problem("wrong_file", f"{PLANS_FOLDER}/{path.name}", 0, {"cause": cause(error)}))
            continue
        plans[plan.recipe] = plan
    return Plans(dict(sorted(plans.items())), tuple(problems))


def _files(folder: Path) -> Iterator[Path]:
    if is_plans(folder):
        yield from sorted(folder.glob("*.json"))


def _is_plan(path: Path) -> bool:
    return SCHEMA.encode() in head(path, _HEAD)
