"""What `python -m ingest figures --json` prints: the figure of each run, and that of each case over its repeats.

`runners` reads it, so that a figure or an interval is decided in one place.
"""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from perfledger.schema.records import Case, Plain


class RunFigure(Struct, frozen=True, kw_only=True):
    """The figure of one run; `value` is None if it has no figure.

    `records` counts the usable records; `path` is that of its log, as it was found. `interval` is that of its case.
    `verdict` says what else in the log supports the figure. `session` is its number in a log of several sessions. A
    figure is `placed` if its case is complete; then it covers the whole job. If not, it is not compared, `scope` says
    what it covers, `missing` names the facts that the log lacks, and a log without throughput has the time per step.
    `reason` says in English why the figure is missing or not placed. `about` is the median speed of the records as
    text, also if they are too few for a figure.
    """

    path: str
    format: str | None
    records: int
    outcome: str
    value: float | None = None
    unit: str = ""
    reason: str = ""
    model: str | None = None
    devices: int | None = None
    interval: tuple[float, float] | None = None
    verdict: str = ""
    session: int | None = None
    scope: str = "job"
    placed: bool = True
    missing: tuple[str, ...] = ()
    about: str = ""


class CaseFigure(Struct, frozen=True, kw_only=True):
    """The figure of a case over its repeats, which are of one version and one round.

    `interval` is the confidence interval of the median, None if there are too few repeats; `spread` is the sample
    standard deviation over the mean, None for one repeat. `runs` are the paths of the logs.
    """

    runs: tuple[str, ...]
    value: float | None
    unit: str
    repeats: int
    case: Case = Case()
    rule: str = ""
    low: float | None = None
    high: float | None = None
    interval: tuple[float, float] | None = None
    spread: float | None = None
    hardware: str | None = None
    version: str | None = None
    round: str | None = None
    start: str | None = None

    @property
    def half_width(self) -> float | None:
        """Half of the interval over the median; None without an interval."""
        if self.interval is None or not self.value:
            return None
        return (self.interval[1] - self.interval[0]) / 2 / self.value


class FiguresFound(Struct, frozen=True, kw_only=True):
    """The figures of runs and cases, and the formats that are known."""

    runs: tuple[RunFigure, ...] = ()
    cases: tuple[CaseFigure, ...] = ()
    formats: tuple[str, ...] = ()


class AcceptedCase(Struct, frozen=True, kw_only=True):
    """A result of a baseline, compared with one that was measured here.

    `ratio` is here over baseline, or baseline over here if less is better: above 1, here is better. `low` and `high`
    are its range. `certainty` says how sure the difference is (`ingest.compute.contrast`), None if a side has no
    repeats. `differs` has the facts that differ, with their values here. `reason` says in English why the figure
    measured here is missing.
    """

    model: str | None
    framework: str | None
    hardware: str | None
    nodes: int | None
    devices: int | None
    batch_size: int | None
    precision: str | None
    options: dict[str, Plain]
    version: str | None
    round: str | None
    unit: str
    baseline: float
    here: float | None = None
    differs: dict[str, str | None] = {}
    ratio: float | None = None
    low: float | None = None
    high: float | None = None
    certainty: Literal["clear", "likely", "close"] | None = None
    verdict: Literal["reached", "below", "missing"] = "missing"
    reason: str = ""


class Acceptance(Struct, frozen=True, kw_only=True):
    """What `python -m ingest against --json` prints: each result of a baseline, and whether all were reached."""

    metric: str
    at_least: float
    accepted: bool
    cases: tuple[AcceptedCase, ...]
