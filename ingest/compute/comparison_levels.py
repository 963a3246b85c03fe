"""How alike two results must be for a ratio of their figures: three levels; the reader of the page Compare chooses one.

- `identical`: everything that both state is equal. A statement of one alone is not known to differ, except a fact of
  the case, such as the batch size, and an option of the workload, such as the image size.
- `workload`, the level of every other page and of all verdicts: both did the same work on the same hardware.
  FP16, BF16 and AMP are one precision; versions that differ after their second number, builds of one version and
  digests of one image are the same; options that say how the same work is done, such as DALI, XLA and the data layout,
  may differ. Batch size, devices, all other options, and the rule of a figure are part of the
  workload.
- `everything`: all results on the same hardware with the same number of devices, if their figures have the same unit.

A level forbids a ratio and hides no result: what differs is stated with each result, at every level.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable, Mapping
from typing import Literal, get_args

from perfledger.schema.vocabulary import FACTS, TUNING, precision_group

Level = Literal["identical", "workload", "everything"]
#: From the strictest to the loosest.
LEVELS: tuple[Level, ...] = get_args(Level)
DEFAULT: Level = "workload"
#: The statements about a fact as sorted texts, so that `535` and `["535"]` are the same; empty without a statement.
Values = tuple[str, ...]

_WORK = ("devices", "nodes", "batch_size", "workload")
#: Statements that all results of one place on a page share, as keys of a record of `results.json`; `workload` is the
#: options that make another one.
PLACE: Mapping[Level, tuple[str, ...]] = {
    "identical": ("hardware", "precision", *_WORK),
    "workload": ("hardware", "group", *_WORK),
    "everything": ("hardware", "devices"),
}
_VERSIONS = frozenset({"cuda", "cudnn", "driver", "framework_version", "kernel", "nccl", "os", "python"})
_BEHIND_SECOND = re.compile(r"(\d+\.\d+)[\w.+~-]*")
_DIGEST = re.compile(r"@.*")
_SWITCH = frozenset({"true", "false"})


@functools.lru_cache(maxsize=4096)
def coarse(name: str, values: Values) -> Values:
    """Return the values of a fact or a condition as far as the level `workload` distinguishes them."""
    if name == "precision":
        return tuple(sorted({precision_group(each, each) for each in values}))
    if name in _VERSIONS:
        return tuple(sorted({_BEHIND_SECOND.sub(r"\1", each) for each in values}))
    return tuple(sorted({_DIGEST.sub("", each) for each in values})) if name == "image" else values


def coarse_option(name: str, values: Values) -> Values:
    """Return the values of an option as far as the level `workload` distinguishes them."""
    return ("tuning",) if values and is_tuning(name, values) else values


def is_tuning(name: str, values: Iterable[str]) -> bool:
    """Return whether an option says how the same work was done; so does a switch that the vocabulary does not know."""
    return name in TUNING or (name not in FACTS and _SWITCH.issuperset(values))


def level_rank(level: Level | None) -> int:
    """Return the place of the strictest level that tolerates a difference; `len(LEVELS)` if no level does."""
    return len(LEVELS) if level is None else LEVELS.index(level)
