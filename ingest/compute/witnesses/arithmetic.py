"""Arithmetic on the line: speed times seconds against the samples of a step, and batch sizes against each other."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from msgspec.structs import replace

from perfledger.ingest.compute import rules
from perfledger.ingest.compute.digits import is_as_printed, rounding
from perfledger.ingest.compute.intervals import TIMED, Intervals, shown_steps
from perfledger.ingest.compute.refusals import NoFigureError, no_figure
from perfledger.ingest.compute.samples import TOKENS, UNCOUNTED, samples_per_step, scoped
from perfledger.ingest.compute.witnesses.judging import TOLERANCE, judged, least_alike
from perfledger.ingest.read.facts import CUTS, shares_samples
from perfledger.parsers.engine.session import Session
from perfledger.schema.records import Facts, Figure, Reason, Witness

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Column = NDArray[np.float64]
    Rows = NDArray[np.intp]

#: Facts that count the samples of all devices together.
_OF_JOB = frozenset({"batch_size_of_job", "tokens_per_step"})


def arithmetic_witness(session: Session, case: Facts, given: Intervals, headline: Figure) -> Witness:
    """Compare samples over seconds with the speed, all of the same lines; or the batch sizes that are stated."""
    if not given.prints("throughput", "restated"):
        return _batch_arithmetic(session, case)
    return _line_arithmetic(session, case, given)


def _line_arithmetic(session: Session, case: Facts, given: Intervals) -> Witness:
    """Compare speed times seconds with the samples that the line or the case states.

    The line in the middle tells, or, where it agrees, those that do not, where the figure is another one without them.
    """
    import numpy as np

    frame = given
    seconds = frame.step_seconds
    if seconds is None:
        raise no_figure("no_seconds_on_line")
    if frame.reading.span == "epoch" and not frame.prints("samples", "steps"):
        raise no_figure("no_steps_per_epoch")
    told = next(each for each in ("throughput", "restated") if frame.prints(each))
    implied = frame.printed[told] * seconds
    try:
        samples = _line_samples(session, case, frame)
    except NoFigureError as error:
        reading = frame.reading
        if reading.unit in TOKENS | UNCOUNTED or error.reason.code != "no_accumulation":
            raise
        # However many batches an update accumulates, it takes one at least.
        samples = np.full(len(frame), float(case["batch_size"] * case["devices"] / scoped(reading, case)[0]))
        if not np.nanmedian(implied / samples) < least_alike("arithmetic"):
            raise
    known = np.isfinite(implied) & np.isfinite(samples) & (samples > 0)
    if not known.any():
        raise no_figure("no_seconds_on_line")
    # Seconds that the format computed may be whole numbers by chance.
    timed = next(each for each in TIMED if each in frame.printed)
    rounded = [told, timed] if timed in frame.reading.columns else [told]
    digits = {name: 100 * rounding(frame.records, name, frame.printed[name]) for name in rounded}
    # The last digit of a slow line is a larger share of it.
    shares = (each * np.nanmedian(frame.printed[name]) / frame.printed[name] for name, each in digits.items())
    rounds = sum(shares, np.zeros(len(frame)))
    ratios = np.where(known, implied / samples, np.nan)
    middle = int(np.flatnonzero(known)[np.argsort(ratios[known])[known.sum() // 2]])
    found = _of_line(frame, told, middle, samples, sum(digits.values()))
    if found.verdict == "disagrees":
        if frame.prints("samples", "batch"):
            return replace(found, reason=Reason("count_likelier"))
        return replace(found, reason=Reason("of_micro_batch")) if _counts_micro_batch(found, session) else found
    odd = np.flatnonzero(np.abs(np.log(ratios)) > np.log1p((TOLERANCE["arithmetic"] + rounds) / 100))
    if not _decide(odd, given):
        return found
    # A speed that the format made of the printed one, as of a smaller last batch, contradicts nothing.
    wrong = np.array([each for each in odd if is_as_printed(frame.records, int(frame.row[each]), told)], np.intp)
    if not _decide(wrong, given):
        return found
    worst = int(wrong[np.argmax(np.abs(np.log(ratios[wrong])))])
    found = _of_line(frame, told, worst, samples, float(rounds[worst]))
    return replace(found, reason=Reason("unlike_others"))


def _counts_micro_batch(found: Witness, session: Session) -> bool:
    """Return whether a line counts one of the micro batches that an update accumulates, as the log states it."""
    if not found.value or not found.against or "accumulation" not in session.facts:
        return False
    steps = int(session.facts["accumulation"].value)
    return steps > 1 and abs(found.value / found.against / steps - 1) <= TOLERANCE["arithmetic"] / 100


def _of_line(frame: Intervals, told: str, row: int, samples: Column, rounds: float) -> Witness:
    """Compare the speed of a line times its seconds with the samples of its step."""
    assert frame.step_seconds is not None
    speed, seconds = float(frame.printed[told][row]), float(frame.step_seconds[row])
    line, arithmetic = frame.records.lines([int(frame.row[row])])[0], f"{speed:.8g} × {seconds:.6g} s"
    return judged(
        "arithmetic", float(samples[row]), speed * seconds, "samples", arithmetic, (line, line), rounds
    )  # fmt: skip


def _decide(wrong: Rows, given: Intervals) -> bool:
    """Return whether the figure rests on lines that contradict themselves: without them it is another one."""
    import numpy as np

    used = rules.used_records(rules.HEADLINE, given)
    rest = used if not len(wrong) else np.setdiff1d(used, wrong)
    if len(rest) == len(used):
        return False
    speeds = [float(given.samples[each].sum() / given.seconds[each].sum()) for each in (used, rest) if len(each)]
    return len(rest) == 0 or not least_alike("arithmetic") <= speeds[0] / speeds[1] <= 1 / least_alike("arithmetic")


def _line_samples(session: Session, case: Facts, frame: Intervals) -> Column:
    """Return samples per step at the printed scope, from the line, otherwise from the case."""
    import numpy as np

    for name, per in (("samples", shown_steps(frame)), ("batch", 1.0)):
        if frame.prints(name):
            return frame.printed[name] / per
    reading = frame.reading
    if reading.unit in UNCOUNTED:
        raise no_figure("no_seconds_on_line")
    if reading.scope == "device" and "devices" not in case:
        case = {name: each for name, each in case.items() if name not in _OF_JOB} | {"devices": 1}
    multiplier, scope = scoped(reading, case)
    if scope != "job":
        raise no_figure("no_devices")
    whole = {name: each for name, each in case.items() if name != "data_set_size"}  # Printers count whole batches.
    return np.full(len(frame), samples_per_step(session, reading, whole) / multiplier)


def _batch_arithmetic(session: Session, case: Facts) -> Witness:
    """Compare the job's batch size with that of a device times devices and accumulation, where all are stated.

    Of devices that share samples, a trainer states the batch size of their group as that of a device. Where the devices
    are not stated, they are one at least.
    """
    stated = session.facts
    job_of = "batch_size_of_job" if "batch_size_of_job" in stated else "tokens_per_step"
    names = (job_of, "batch_size", "accumulation", *(["sequence_length"] if job_of == "tokens_per_step" else []))
    if not all(name in stated for name in names):
        raise no_figure("no_seconds_on_line")
    job, each, steps, *length = (int(stated[name].value) for name in names)
    samples, devices = job // math.prod(length), int(stated["devices"].value) if "devices" in stated else 1
    if "devices" not in stated and samples >= each * steps:
        raise no_figure("no_seconds_on_line")
    if any(case.get(name, 1) != 1 for name in CUTS) or shares_samples(samples, each, devices, steps):
        raise no_figure("no_seconds_on_line")
    line, told = stated[job_of].line, " × ".join(map(str, (each, devices, steps, *length)))
    value = each * devices * steps * math.prod(length)
    return judged("arithmetic", value, job, "samples", told, (line, line))


def summary_arithmetic(session: Session, case: Facts, summary: Figure) -> Witness:
    """Compare the trainer's own figure with the samples over the seconds that it prints for the whole run."""
    return over_seconds(session, summary) or _batch_arithmetic(session, case)


def over_seconds(session: Session, summary: Figure) -> Witness | None:
    """Return the same comparison; None where no samples and seconds are printed."""
    for records in session.records:
        if records.reading.span == "run" and len(records) and "samples" in records and "seconds" in records:
            samples, seconds = float(records["samples"][-1]), float(records["seconds"][-1])
            if (records.reading.scope, records.reading.unit) != (summary.scope, summary.unit) or not seconds > 0:
                continue
            line = records.lines([len(records) - 1])[0]
            told = f"{samples:.10g} / {seconds:.8g}"
            return judged("arithmetic", samples / seconds, summary.value, summary.unit, told, (line, line))
    return None
