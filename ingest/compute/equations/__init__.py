"""Equations: relations between the numbers of a log that must be true, and their verdicts on a figure.

Each uses the columns and facts that the log has, whatever printed them, and is unknown if they do not suffice.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from perfledger.ingest.compute.equations import clock, counter, line, physics, summary
from perfledger.ingest.compute.equations.evaluation import TOLERANCE, Equation, Given, evaluate
from perfledger.schema.records import Witness

#: The equations of each kind; the first one whose numbers the log has decides.
Equations = Mapping[str, tuple[Equation, ...]]
EQUATIONS: Equations = {
    "clock": (clock.sides,),
    "arithmetic": (line.sides, line.batch),
    "summary": (summary.sides,),
    "framework": (summary.program,),
    "counters": (counter.sides, counter.steps_of_run, counter.steps_of_epoch, counter.planned_steps),
    "physics": (physics.sides,),
}
#: Equations for a figure that is the trainer's own summary.
OF_SUMMARY: Equations = {
    "arithmetic": (summary.parts_of_summary, line.batch),
    "counters": (counter.steps_of_run,),
    "physics": (physics.sides,),
}
#: Equations for such a figure if the log has intervals, but too few for a figure of theirs.
OF_FEW: Equations = {**OF_SUMMARY, "summary": (summary.of_few_intervals,)}


def check(given: Given, equations: Equations) -> tuple[Witness, ...]:
    """Return the verdict of each kind of equation on a figure, in their order."""
    with np.errstate(all="ignore"):  # Overflows are unknown sides.
        return tuple(evaluate(kind, of_kind, given) for kind, of_kind in equations.items())


__all__ = ["EQUATIONS", "OF_FEW", "OF_SUMMARY", "TOLERANCE", "Given", "check"]
