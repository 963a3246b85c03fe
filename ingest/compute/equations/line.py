"""Line and batch: speed times seconds are the samples of a step, and batch sizes are multiples of each other."""

from __future__ import annotations

import math

import numpy as np

from perfledger.ingest.compute import rules
from perfledger.ingest.compute.digits import is_as_printed, rounding
from perfledger.ingest.compute.equations.evaluation import TOLERANCE, Given, Sides, judged, least_alike
from perfledger.ingest.compute.intervals import TIMED, Intervals, shown_steps
from perfledger.ingest.compute.refusals import NoFigureError, missing, not_stated
from perfledger.ingest.compute.samples import TOKENS, UNCOUNTED, samples_per_step, scoped
from perfledger.ingest.read.facts import CUTS, shares_samples
from perfledger.parsers.contract import Column, Indices

KIND = "arithmetic"
#: Facts that count the samples of all devices together.
_OF_JOB = frozenset({"batch_size_of_job", "tokens_per_step"})


def sides(given: Given) -> Sides | None:
    """Return the samples of a step, as the line or the case states them, and the speed times the seconds of its line.

    The line in the middle counts; if it agrees, those that do not, if the figure is another one without them.
    """
    table = given.intervals
    speed = next((each for each in ("throughput", "restated") if table.prints(each)), None)
    if speed is None:
        return None
    if table.step_seconds is None:
        raise not_stated("line_numbers")
    if table.reading.span == "epoch" and not table.prints("samples", "steps"):
        raise not_stated("epoch_length")
    implied = table.printed[speed] * table.step_seconds
    samples = _samples(given, table, implied)
    known = np.isfinite(implied) & np.isfinite(samples) & (samples > 0)
    if not known.any():
        raise not_stated("line_numbers")
    ratios, (usual_rounding, rounds) = np.where(known, implied / samples, np.nan), _rounding(table, speed)
    middle = int(np.flatnonzero(known)[np.argsort(ratios[known])[known.sum() // 2]])
    usual = _of_line(table, speed, middle, samples, usual_rounding)
    if judged(KIND, usual).verdict == "disagrees":
        return usual
    odd = np.flatnonzero(np.abs(np.log(ratios)) > np.log1p((TOLERANCE[KIND] + rounds) / 100))
    # A speed that the format made of the printed one, as of a smaller last batch, contradicts nothing.
    if _decide(odd, table):
        odd = np.array([each for each in odd if is_as_printed(table.records, int(table.row[each]), speed)], np.intp)
    if not _decide(odd, table):
        return usual
    worst = int(odd[np.argmax(np.abs(np.log(ratios[odd])))])
    return _of_line(table, speed, worst, samples, float(rounds[worst]))


def _samples(given: Given, table: Intervals, implied: Column) -> Column:
    """Return samples per step at the printed scope, from the line, else from the case."""
    for name, per in (("samples", shown_steps(table)), ("batch", np.ones(len(table)))):
        if table.prints(name):
            return table.printed[name] / per
    reading, case = table.reading, given.case
    if reading.unit in UNCOUNTED:
        raise not_stated("line_numbers")
    if reading.scope == "device" and "devices" not in case:
        case = {name: each for name, each in case.items() if name not in _OF_JOB} | {"devices": 1}
    multiplier, scope = scoped(reading, case)
    if scope != "job":
        raise not_stated("devices")
    case = {name: each for name, each in case.items() if name != "data_set_size"}  # Printers count whole batches.
    try:
        return np.full(len(table), samples_per_step(given.session, reading, case) / multiplier)
    except NoFigureError as error:
        if reading.unit in TOKENS or missing(error.reason) != "accumulation":
            raise
        # However many batches an update accumulates, it takes one at least.
        samples = np.full(len(table), float(case["batch_size"] * case["devices"] / multiplier))
        if not np.nanmedian(implied / samples) < least_alike(KIND):
            raise
        return samples


def _rounding(table: Intervals, speed: str) -> tuple[float, Column]:
    """Return the rounding of speed times seconds in percent, and that of each line: small numbers round more."""
    # Seconds that the format computed may be whole numbers by chance.
    timed = next(each for each in TIMED if each in table.printed)
    names = [speed, timed] if timed in table.reading.columns else [speed]
    usual = {name: 100 * rounding(table.records, name, table.printed[name]) for name in names}
    shares = (each * np.nanmedian(table.printed[name]) / table.printed[name] for name, each in usual.items())
    return sum(usual.values()), np.asarray(sum(shares, np.zeros(len(table))))


def _of_line(table: Intervals, name: str, at: int, samples: Column, rounds: float) -> Sides:
    assert table.step_seconds is not None
    speed, seconds, (number,) = float(table.printed[name][at]), float(table.step_seconds[at]), table.lines([at])
    arithmetic = f"{speed:.8g} × {seconds:.6g} s"
    return Sides(float(samples[at]), speed * seconds, "samples", arithmetic, (number, number), rounds)


def _decide(odd: Indices, table: Intervals) -> bool:
    """Return whether the figure depends on lines that contradict themselves: without them it is another one."""
    used = rules.used_records(rules.HEADLINE, table)
    is_odd = np.zeros(len(table), np.bool_)
    is_odd[odd] = True
    rest = used[~is_odd[used]]
    if len(rest) in (0, len(used)):
        return len(rest) == 0
    speeds = [float(table.samples[each].sum() / table.seconds[each].sum()) for each in (used, rest)]
    return not least_alike(KIND) <= speeds[0] / speeds[1] <= 1 / least_alike(KIND)


def batch(given: Given) -> Sides | None:
    """Return the batch size of a device times devices and accumulation, and that of the job, if all are stated.

    Of devices that share samples, a trainer states the batch size of their group as that of a device. If the devices
    are not stated, they are one at least.
    """
    stated = given.session.facts
    job_of = "batch_size_of_job" if "batch_size_of_job" in stated else "tokens_per_step"
    names = (job_of, "batch_size", "accumulation", *(["sequence_length"] if job_of == "tokens_per_step" else []))
    if not all(name in stated for name in names):
        return None
    job, each, steps, *length = (int(stated[name].value) for name in names)
    samples, devices = job // math.prod(length), int(stated["devices"].value) if "devices" in stated else 1
    is_split = any(given.case.get(name, 1) != 1 for name in CUTS) or shares_samples(samples, each, devices, steps)
    if is_split or ("devices" not in stated and samples >= each * steps):
        return None
    factors, number = (each, devices, steps, *length), stated[job_of].line
    return Sides(math.prod(factors), job, "samples", " × ".join(map(str, factors)), (number, number))
