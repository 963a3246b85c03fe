"""Equations: relations between the numbers of a log that must be true, and their verdicts on a figure.

Each uses the columns and facts that the log has, whatever printed them, and is unknown if they do not suffice.
"""

from __future__ import annotations

import numpy as np

from perfledger.ingest.compute.equations import clock, counter, line, physics, summary
from perfledger.ingest.compute.equations.evaluation import TOLERANCE, Equation, Given, evaluate
from perfledger.schema.records import Witness

EQUATIONS = (
    Equation("clock", clock.sides),
    Equation("arithmetic", line.sides),
    Equation("arithmetic", line.batch),
    Equation("summary", summary.sides),
    Equation("framework", summary.program),
    Equation("counters", counter.sides),
    Equation("counters", counter.steps_of_run),
    Equation("counters", counter.steps_of_epoch),
    Equation("counters", counter.planned_steps),
    Equation("physics", physics.sides),
)
#: Equations for a figure that is the trainer's own summary.
OF_SUMMARY = (
    Equation("arithmetic", summary.parts_of_summary),
    Equation("arithmetic", line.batch),
    Equation("counters", counter.steps_of_run),
    Equation("physics", physics.sides),
)
#: Equations for such a figure if the log has intervals, but too few for a figure of theirs.
OF_FEW = (*OF_SUMMARY, Equation("summary", summary.of_few_intervals))


def check(given: Given, equations: tuple[Equation, ...]) -> tuple[Witness, ...]:
    """Return the verdict of each kind of equation on a figure, in their order."""
    with np.errstate(all="ignore"):  # Overflows are unknown sides.
        return tuple(evaluate(kind, equations, given) for kind in dict.fromkeys(each.kind for each in equations))


__all__ = ["EQUATIONS", "OF_FEW", "OF_SUMMARY", "TOLERANCE", "Given", "check"]
