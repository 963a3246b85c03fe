"""Counter and epoch: samples and steps that the program counts, and the size of the data set."""

from __future__ import annotations

import numpy as np

from perfledger.ingest.compute.chain import intervals_of
from perfledger.ingest.compute.equations.evaluation import TOLERANCE, Given, Sides, judged
from perfledger.ingest.compute.intervals import Intervals, shown_steps
from perfledger.ingest.compute.kinds import smaller_steps
from perfledger.ingest.compute.refusals import NoFigureError, no_figure, not_stated
from perfledger.ingest.compute.samples import of_short_epochs, samples_per_step, scoped
from perfledger.parsers.contract.statistics import median


def sides(given: Given) -> Sides | None:
    """Return the samples that the program counts, and steps times the samples of a step."""
    table = intervals_of(given.intervals.records)  # of clocks, with the line at which they begin
    if not table.prints("consumed") or len(table) < 2 or "step" not in table.records:
        return None
    counted, steps = np.diff(table.printed["consumed"]), np.diff(table.step)
    kept = (steps > 0) & (counted > 0) & ~smaller_steps(table)[1:]
    if not kept.any():
        raise not_stated("counters")
    per_step, done = _per_step(given, table), steps[kept].sum()
    first, last = table.lines([0, len(table) - 1])
    arithmetic = f"{per_step:.8g} × {done:.8g}"
    return Sides(float(counted[kept].sum()), float(per_step * done), "samples", arithmetic, (first, last))


def _per_step(given: Given, table: Intervals) -> float:
    """Return samples per step at the printed scope, as the lines state it, else the case."""
    if table.prints("batch"):
        return float(np.nanmedian(table.printed["batch"]))
    multiplier, scope = scoped(table.reading, given.case)
    if scope != "job":
        raise not_stated("devices")
    return samples_per_step(given.session, table.reading, given.case) / multiplier


def steps_of_run(given: Given) -> Sides | None:
    """Return the samples of all epochs, and those of the stated number of steps; each epoch may round by one step.

    A printer of speeds counts the rest that ends a short epoch as a whole batch.
    """
    names = ("data_set_size", "total_epochs", "total_steps", "batch_size_of_job")
    if not all(given.case.get(name) for name in names):
        return None
    samples, epochs, steps, batch = (float(given.case[name]) for name in names)
    if (epochs - 1) * samples < steps * batch < (epochs - TOLERANCE["counters"] / 100) * samples:
        return None  # A limit of the steps ends the run within its last epoch.
    mean, facts = of_short_epochs(given.case, batch), given.session.facts
    counted, rounding = mean, 100 * epochs * batch / min(samples * epochs, steps * batch)
    if mean < batch and not given.is_summary and given.intervals.source == "throughput":
        counted, rounding = batch, 0.0
    line = facts["total_steps"].line if "total_steps" in facts else 0
    arithmetic = f"{steps:g} × {counted:g}"
    return Sides(samples * epochs, steps * counted, "samples", arithmetic, (line, line), rounding)


def steps_of_epoch(given: Given) -> Sides | None:
    """Return the size of the data set, and the samples of the steps of an epoch, which rounds.

    An epoch may leave something out, so that agreement shows no more than a run that reached its end.
    """
    table, size = given.intervals, given.case.get("data_set_size")
    if not size or table.reading.span != "epoch" or not table.prints("steps") or table.prints("samples"):
        return None
    if len(table) < 2:
        return None  # A single one may have been left unfinished.
    try:
        # The images of a data set are shared out to all devices.
        steps, per_step = median(shown_steps(table)), scoped(table.reading, given.case)[0] * _per_step(given, table)
    except NoFigureError:
        return None
    facts = given.session.facts
    line = facts["data_set_size"].line if "data_set_size" in facts else 0
    found = Sides(size, steps * per_step, "samples", f"{steps:g} × {per_step:g}", (line, line), 100 / steps)
    return found if judged("counters", found).verdict == "disagrees" else None


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
