"""Counters: samples, steps and epochs that the program counts, and the size of the data set."""

from __future__ import annotations

from msgspec.structs import replace

from perfledger.ingest.compute.chain import intervals_of
from perfledger.ingest.compute.intervals import Intervals, shown_steps
from perfledger.ingest.compute.kinds import smaller_steps
from perfledger.ingest.compute.refusals import NoFigureError, no_figure
from perfledger.ingest.compute.samples import of_short_epochs, samples_per_step, scoped
from perfledger.ingest.compute.witnesses.judging import TOLERANCE, judged
from perfledger.parsers.contract.statistics import median
from perfledger.parsers.engine.session import Session
from perfledger.schema.records import Facts, Figure, Witness


def summary_counters(session: Session, case: Facts, summary: Figure) -> Witness:
    """Compare the stated number of steps with what epochs over the data set need."""
    if found := _data_set(case, session):
        return found
    raise no_figure("no_counters")


def counters_witness(session: Session, case: Facts, given: Intervals, headline: Figure) -> Witness:
    """Compare steps times batch with the samples that the program counts."""
    import numpy as np

    frame = intervals_of(given.records)  # of clocks, with the line at which they begin
    if not frame.prints("consumed") or len(frame) < 2 or "step" not in given.records:
        return _data_set(case, session, given) or _epoch(session, case, given) or _planned(session, given)
    counted, steps = np.diff(frame.printed["consumed"]), np.diff(frame.step)
    kept = (steps > 0) & (counted > 0) & ~smaller_steps(frame)[1:]
    if not kept.any():
        raise no_figure("no_counters")
    per_step = _per_step(session, case, frame)
    first, last = given.records.lines([int(frame.row[0]), int(frame.row[-1])])
    return judged(
        "counters", float(counted[kept].sum()), float(per_step * steps[kept].sum()), "samples",
        f"{per_step:.8g} × {steps[kept].sum():.8g}", (first, last),
    )  # fmt: skip


def _per_step(session: Session, case: Facts, frame: Intervals) -> float:
    """Return samples per step at the printed scope, as the lines state it, otherwise the case."""
    import numpy as np

    reading = frame.reading
    if frame.prints("batch"):
        return float(np.nanmedian(frame.printed["batch"]))
    multiplier, scope = scoped(reading, case)
    if scope != "job":
        raise no_figure("no_devices")
    return samples_per_step(session, reading, case) / multiplier


def _planned(session: Session, given: Intervals) -> Witness:
    """Compare the last step or epoch with the number that was planned: a run that ended early says nothing."""
    counted = session.counters
    if counted is None:
        raise no_figure("no_counters")
    if not counted.reached:
        raise no_figure("ended_early", done=counted.done, total=counted.total)
    line = given.records.lines([int(given.row[-1])])[0]
    # A printer of every nth step need not print the last one.
    told = f"{counted.done} / {counted.total}"
    found = judged("counters", counted.total, counted.done, f"{counted.unit}s", told, (line, line))
    return replace(found, verdict="agrees")


def _epoch(session: Session, case: Facts, given: Intervals) -> Witness | None:
    """Compare the steps of whole epochs with what one over the data set needs, which rounds; None unless they disagree.

    An epoch may be told to leave something out, so that one that agrees shows no more than a run that reached its end.
    """
    frame, size = given, case.get("data_set_size")
    if not size or frame.reading.span != "epoch" or not frame.prints("steps") or frame.prints("samples"):
        return None
    if len(frame) < 2:
        return None  # A single one may have been left unfinished.
    try:
        # The images of a data set are shared out to all devices.
        of_job = scoped(frame.reading, case)[0]
        steps, per_step = median(shown_steps(frame)), of_job * _per_step(session, case, frame)
    except NoFigureError:
        return None
    line = session.facts["data_set_size"].line if "data_set_size" in session.facts else 0
    told = f"{steps:g} × {per_step:g}"
    found = judged("counters", size, steps * per_step, "samples", told, (line, line), 100 / steps)
    return found if found.verdict == "disagrees" else None


def _data_set(case: Facts, session: Session, given: Intervals | None = None) -> Witness | None:
    """Compare the stated number of steps with what epochs over the data set need; each epoch may round by one step.

    A printer of speeds counts the rest that ends a short epoch as a whole batch.
    """
    names = ("data_set_size", "total_epochs", "total_steps", "batch_size_of_job")
    if not all(case.get(name) for name in names):
        return None
    samples, epochs, steps, batch = (float(case[name]) for name in names)
    if (epochs - 1) * samples < steps * batch < (epochs - TOLERANCE["counters"] / 100) * samples:
        return None  # A limit of the steps ends the run within its last epoch.
    line = session.facts["total_steps"].line if "total_steps" in session.facts else 0
    mean = of_short_epochs(case, batch)
    counted, resolution = (
        (batch, 0.0)
        if mean < batch and given is not None and given.source == "throughput"
        else (mean, 100 * epochs * batch / min(samples * epochs, steps * batch))
    )
    return judged(
        "counters", samples * epochs, steps * counted, "samples", f"{steps:g} × {counted:g}", (line, line), resolution
    )
