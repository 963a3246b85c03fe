"""Samples of a step: from the facts of a case, at the scope of the job if its size is known."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from perfledger.ingest.compute.intervals import usual_gap
from perfledger.ingest.compute.refusals import not_stated
from perfledger.ingest.read.facts import CUTS
from perfledger.parsers.contract import Column, Reading, Scope
from perfledger.parsers.contract.statistics import median
from perfledger.parsers.engine.session import Session
from perfledger.parsers.engine.table import SessionRecords
from perfledger.schema.records import Facts
from perfledger.schema.vocabulary import UNITS

#: Units that are parts of one sample, as batch sizes count samples.
TOKENS = frozenset(name for name, unit in UNITS.items() if unit.counts == "part")
#: Units whose number per sample is unknown.
UNCOUNTED = frozenset(name for name, unit in UNITS.items() if unit.counts == "unknown")
#: Epochs with this many times fewer samples than their batches have end with a part of a batch.
_REST_SHOWS = 1.05
#: Largest number of batches of a run that is factored.
_MOST_BATCHES = 10**7
#: Rounding error of the run's own speed and seconds, as a share of their product.
_WHOLE_NUMBER = 1e-4
#: Difference between the updates of a run and those that its usual seconds give, as a share.
_UPDATES_DIFFER = 0.05
#: The fact that turns a figure of this scope into that of the job, as a factor.
_MULTIPLIER: Mapping[Scope, str | None] = {"job": None, "node": "nodes", "device": "devices", "thread": None}


def scoped(reading: Reading, case: Facts) -> tuple[int, Scope]:
    """Return (multiplier, scope): scope `job` if the factor is known, else 1 and the printed scope."""
    if reading.scope == "job":
        return 1, "job"
    known = case.get(_MULTIPLIER[reading.scope] or "")
    return (int(known), "job") if known else (1, reading.scope)


def samples_per_step(session: Session, reading: Reading, case: Facts) -> float:
    """Return samples of the whole job per printed step; tokens, if the reading counts tokens.

    Raises:
        NoFigureError: devices, batch size, accumulation, or tokens per sample are not known.
    """
    if reading.unit not in TOKENS:
        return _sequences_per_step(session, reading, case)
    if tokens := case.get("tokens_per_step"):
        return float(tokens)
    if (length := case.get("sequence_length")) is None:
        raise not_stated("tokens_per_step")
    return float(length) * _sequences_per_step(session, reading, case)


def _sequences_per_step(session: Session, reading: Reading, case: Facts) -> float:
    """Return the same as the batch size of the case counts samples.

    If steps are optimizer updates, the accumulation must be known or follow from the run's own figure.
    """
    if job := case.get("batch_size_of_job"):
        return of_short_epochs(case, float(job))
    if (devices := case.get("devices")) is None:
        raise not_stated("devices")
    # A trainer's batch is that of the devices that share its samples.
    devices //= math.gcd(devices, math.prod(case.get(name, 1) for name in CUTS))
    if reading.per_update and (per_device := case.get("samples_per_update_and_device")):
        return float(per_device * devices)
    if (batch := case.get("batch_size")) is None:
        raise not_stated("batch_size")
    if not reading.per_update:
        return float(batch * devices)
    if accumulation := case.get("accumulation"):
        return float(batch * devices * accumulation)
    return _from_whole_run(session, batch * devices)


def of_short_epochs(case: Facts, batch_of_job: float) -> float:
    """Return the samples of a step; the mean, if epochs are so short that their smaller last batches matter."""
    names = ("data_set_size", "total_epochs", "total_steps")
    if not all(case.get(name) for name in names):
        return batch_of_job
    samples, epochs, steps = (float(case[name]) for name in names)
    rounded_up = steps == epochs * math.ceil(samples / batch_of_job)
    mean = samples * epochs / steps
    return mean if rounded_up and batch_of_job > _REST_SHOWS * mean else batch_of_job


def _from_whole_run(session: Session, batch_of_job: int) -> float:
    """Return samples per update from the run's own `throughput * seconds`, a whole number of batches of the job.

    The number of updates is the divisor of that number closest to the run's seconds over the usual time between two
    lines; the printed step does not serve, since updates that the loss scaler skips do not advance it.
    """
    whole = next((each for each in session.records if len(each) and {"throughput", "seconds"} <= {*each.columns}), None)
    lines = next((each for each in session.records if len(each) > 1 and "clock" in each), None)
    if whole is None or lines is None:
        raise not_stated("accumulation")
    exact = float(whole["throughput"][-1] * whole["seconds"][-1]) / batch_of_job
    if not math.isfinite(exact):  # The last summary need not state both.
        raise not_stated("accumulation")
    batches, usual = round(exact), median(_between_neighbours(lines))
    if not (0 < batches < _MOST_BATCHES and usual > 0) or abs(exact - batches) > _WHOLE_NUMBER * batches:
        raise not_stated("accumulation")
    expected = float(whole["seconds"][-1]) / usual
    divisors = (each for each in range(1, batches + 1) if batches % each == 0)
    updates = min(divisors, key=lambda each: abs(each - expected))
    if abs(updates - expected) > _UPDATES_DIFFER * expected:
        raise not_stated("accumulation")
    return float(batches // updates * batch_of_job)


def _between_neighbours(lines: SessionRecords) -> Column:
    """Return the seconds between lines with no line missing in between."""
    seconds = np.diff(lines["clock"])
    if "step" not in lines:
        return seconds
    gaps = np.diff(lines["step"])
    return seconds[gaps <= usual_gap(gaps)]
