"""Counter and epoch: samples and steps that the program counts, and the size of the data set."""

from __future__ import annotations

import numpy as np

from perfledger.ingest.compute.chain import intervals_of
from perfledger.ingest.compute.equations.evaluation import TOLERANCE, Given, Sides
from perfledger.ingest.compute.kinds import smaller_steps
from perfledger.ingest.compute.refusals import no_figure, not_stated
from perfledger.ingest.compute.samples import of_short_epochs, samples_per_step, scoped


def sides(given: Given) -> Sides | None:
    """Return the samples that the program counts, and steps times the samples of a step."""
    table = intervals_of(given.intervals.records)  # of clocks, with the line at which they begin
    if not table.prints("consumed") or len(table) < 2 or "step" not in table.records:
        return None
    counted, steps = np.diff(table.printed["consumed"]), np.diff(table.step)
    kept = (steps > 0) & (counted > 0) & ~smaller_steps(table)[1:]
    if not kept.any():
        raise not_stated("counters")
    multiplier, scope = scoped(table.reading, given.case)
    if scope != "job":
        raise not_stated("devices")
    per_step, done = samples_per_step(given.session, table.reading, given.case) / multiplier, steps[kept].sum()
    first, last = table.lines([0, len(table) - 1])
    arithmetic = f"{per_step:.8g} × {done:.8g}"
    return Sides(float(counted[kept].sum()), float(per_step * done), "samples", arithmetic, (first, last))


def steps_of_run(given: Given) -> Sides | None:
    """Return the samples of all epochs, and those of the stated number of steps; each epoch may round by one step."""
    names = ("data_set_size", "total_epochs", "total_steps", "batch_size_of_job")
    if not all(given.case.get(name) for name in names):
        return None
    samples, epochs, steps, batch = (float(given.case[name]) for name in names)
    if (epochs - 1) * samples < steps * batch < (epochs - TOLERANCE["counters"] / 100) * samples:
        return None  # A limit of the steps ends the run within its last epoch.
    counted, facts = of_short_epochs(given.case, batch), given.session.facts
    rounding = 100 * epochs * batch / min(samples * epochs, steps * batch)
    line = facts["total_steps"].line if "total_steps" in facts else 0
    arithmetic = f"{steps:g} × {counted:g}"
    return Sides(samples * epochs, steps * counted, "samples", arithmetic, (line, line), rounding)


def planned_steps(given: Given) -> Sides:
    """Return the number of steps or epochs that was planned, and the last one; a run that ended early is unknown."""
    counted, table = given.session.counters, given.intervals
    if counted is None:
        raise not_stated("counters")
    if not counted.reached:
        raise no_figure("ended_early", done=counted.done, total=counted.total)
    # A printer of every nth step need not print the last one.
    (line,), unit, arithmetic = table.lines([len(table) - 1]), f"{counted.unit}s", f"{counted.done} / {counted.total}"
    return Sides(counted.total, counted.done, unit, arithmetic, (line, line), verdict="agrees")
