"""Figures other than throughput: time per step, memory, arithmetic done, loss; each with unit and direction.

A metric that a log does not state is left out.
"""

from __future__ import annotations

import math
from dataclasses import replace as replaced

import numpy as np
from msgspec.structs import replace
from numpy.typing import NDArray

from perfledger.ingest.common.numbers import shortened
from perfledger.ingest.compute.chain import between_clocks, intervals_of
from perfledger.ingest.compute.intervals import Intervals
from perfledger.ingest.compute.kinds import confirmed
from perfledger.ingest.compute.peaks import peak_of
from perfledger.ingest.compute.refusals import NoFigureError, refuse_impossible
from perfledger.ingest.compute.throughput import throughput
from perfledger.ingest.compute.window import TOO_FEW, coarse, training, warm_up
from perfledger.parsers.contract import Column, Reading
from perfledger.parsers.contract.statistics import median
from perfledger.parsers.engine.session import Session
from perfledger.parsers.engine.table import SessionRecords
from perfledger.schema.records import Facts, Figure, MetricFigure, NoFigure, Reason
from perfledger.schema.vocabulary import METRICS, PRECISIONS

#: Above this multiple of the first loss, training counts as diverged; smaller rises are noise.
_DIVERGED = 2.0
#: Error of a sum of whole steps, in floating point.
_COUNT_ROUNDING = 1e-6


def metrics(
    session: Session,
    case: Facts,
    headline: Figure | NoFigure,
    slower: float = 1.0,
    untimed: Reason | None = None,
) -> dict[str, MetricFigure]:
    """Return every metric that a session supports, in the order of METRICS.

    Args:
        session: what the log states.
        case: facts of the case, as the rules get them.
        headline: the throughput under the house rule.
        slower: clock over printed seconds, where the clock gives the headline.
        untimed: why the seconds of the records are not a time per step.
    """
    with np.errstate(all="ignore"):  # Overflows are detected afterwards.
        found: dict[str, MetricFigure | None] = {
            "latency": _slower(_latency(session, case, headline, untimed), slower),
            "memory": _memory(session),
            "power": _printed_median(session, "power"),
            "energy": _printed_median(session, "energy"),
            **_flops(session, case, headline),
            **_to_target(session, headline),
            "loss": _last(session, "loss"),
            "accuracy": _last(session, "accuracy"),
        }
    return {name: _possible(figure) for name in METRICS if (figure := found.get(name))}


def _possible(found: MetricFigure) -> MetricFigure:
    """Return the figure, or that it is larger than any number."""
    if found.value is None or math.isfinite(found.value):
        return found
    reason = Reason("impossible_figure", {"line": found.first_line, "count": 1})
    return MetricFigure(None, found.unit, reason=reason)


def _slower(found: MetricFigure | None, ratio: float) -> MetricFigure | None:
    """Return a time by the clock, where the printed one is known to leave something out."""
    if found is None or found.value is None or ratio == 1.0:
        return found
    return replace(found, value=shortened(found.value * ratio), arithmetic=f"{found.arithmetic} × {ratio:.6g}")


def _latency(session: Session, case: Facts, headline: Figure | NoFigure, untimed: Reason | None) -> MetricFigure | None:
    """Return milliseconds per step, which is an optimizer update, over the house window.

    It is seconds over steps, running means undone. Printers of micro batches print several records for one update.
    """
    if isinstance(headline, NoFigure) and headline.reason.code in TOO_FEW:
        untimed = headline.reason
    if untimed:
        return MetricFigure(None, METRICS["latency"].unit, reason=untimed)
    try:
        return _stepped(session, case) or _of_throughput(session, case)
    except NoFigureError as error:
        return MetricFigure(None, METRICS["latency"].unit, reason=error.reason)


def _stepped(session: Session, case: Facts) -> MetricFigure | None:
    """Return the same from printed seconds or clocks, which need no batch size."""
    for records in _steps(session):
        given = intervals_of(records)
        per_step = None if _speed_is_finer(given) else given.step_seconds
        if per_step is None and "clock" in given.printed and "throughput" not in given.printed and len(given) > 1:
            given = between_clocks(given)
            if reason := coarse(given):
                raise NoFigureError(reason)
            per_step = given.seconds / given.steps if len(given) else None
        # An epoch is not a step; it counts if the log states its steps.
        counted = records.reading.span != "epoch" or "steps" in given.printed
        if per_step is not None and counted and records.reading.scope != "thread":
            refuse_impossible(per_step, records, given.row)
            # The last step of an epoch may have fewer samples, and a log may count it as a part of one.
            steps = np.ceil(given.steps - _COUNT_ROUNDING)
            return _per_step(replaced(confirmed(given), steps=steps, samples=steps), case)
    return None


def _speed_is_finer(given: Intervals) -> bool:
    """Return whether speed and samples give the seconds of a step in more digits than steps per second do."""
    printed = given.printed.keys()
    return (
        "throughput" in printed and not {"duration", "step_seconds"} & printed and bool({"samples", "batch"} & printed)
    )


def _of_throughput(session: Session, case: Facts) -> MetricFigure | None:
    given = throughput(session, case)
    return _per_step(given, case) if given.timed and given.reading.span != "epoch" else None


def _updates_per_record(reading: Reading, case: Facts) -> float:
    """Return optimizer updates per printed step: less than one if the printer counts micro batches."""
    return 1.0 if reading.per_update else 1.0 / (case.get("accumulation") or 1)


def _per_step(given: Intervals, case: Facts) -> MetricFigure | None:
    """Return milliseconds per update over the training intervals of the window."""
    used = training(given)
    took, done = (
        float(given.seconds[used].sum()),
        float(given.steps[used].sum()) * _updates_per_record(given.reading, case),
    )
    if not (len(used) and took > 0 and done > 0):
        return None
    first, last = given.lines([used[0], used[-1]])
    arithmetic = f"1000 × Σ s / Σ steps: 1000 × {took:.8g} / {done:.10g}"
    return MetricFigure(shortened(1000 * took / done), METRICS["latency"].unit, "log", first, last, arithmetic)


def _memory(session: Session) -> MetricFigure | None:
    """Return the largest memory use of one device that the log prints."""
    for records in _steps(session):
        if "memory" in records and np.isfinite(values := records["memory"]).any():
            row = int(np.argmax(np.where(np.isfinite(values), values, -np.inf)))
            if values[row] <= 0:
                continue
            line = records.lines([row])[0]
            arithmetic = f"max of {len(values)}"
            return MetricFigure(shortened(values[row]), METRICS["memory"].unit, "log", line, line, arithmetic)
    return None


def _flops(session: Session, case: Facts, headline: Figure | NoFigure) -> dict[str, MetricFigure | None]:
    """Return TFLOP/s of one device, its share of the device's peak, and PFLOP/s of the job."""
    each = _printed_median(session, "flops") or _computed_flops(case, headline)
    if not each or each.value is None:
        return {"flops": each}
    devices, peak = case.get("devices"), peak_of(case.get("hardware"), case.get("precision"))
    found: dict[str, MetricFigure | None] = {"flops": each}
    if peak and _is_mixed(case.get("precision")):
        found["peak_share"] = MetricFigure(None, METRICS["peak_share"].unit, reason=Reason("mixed_peak"))
    elif peak:
        arithmetic = f"100 × {each.value:.6g} / {peak:g}"
        found["peak_share"] = _like(each, "peak_share", 100 * each.value / peak, arithmetic)
    if devices:
        arithmetic = f"{each.value:.6g} × {devices} / 1000"
        found["flops_of_job"] = _like(each, "flops_of_job", each.value * devices / 1000, arithmetic)
    return found


def _is_mixed(precision: str | None) -> bool:
    """Return whether a part of the arithmetic that counts is at another precision, so that no one peak is its limit.

    With 8 bits and fewer only the linear layers are; attention and often the last layer have 16.
    """
    known = PRECISIONS.get(precision or "")
    return known is not None and known.family in ("fp8", "nvfp4", "int8")


def _like(found: MetricFigure, name: str, value: float, arithmetic: str) -> MetricFigure:
    """Return a metric that follows from another one of the same lines."""
    return replace(found, value=shortened(value), unit=METRICS[name].unit, arithmetic=arithmetic)


def _printed_median(session: Session, name: str) -> MetricFigure | None:
    """Return what the log prints of a device, as the median of the records after the warm-up."""
    for records in _steps(session):
        if name in records and np.isfinite(printed := records[name]).any():
            kept = np.flatnonzero(np.isfinite(printed))[warm_up(int(np.isfinite(printed).sum())) :]
            value = median(printed[kept])
            first, last = records.lines([int(kept[0]), int(kept[-1])])
            return MetricFigure(shortened(value), METRICS[name].unit, "log", first, last, f"median of {len(kept)}")
    return None


def _computed_flops(case: Facts, headline: Figure | NoFigure) -> MetricFigure | None:
    """Compute it by the formula for GPT, if the log states the network's shape and whether activations are recomputed.

    Source: D. Narayanan et al., "Efficient Large-Scale Language Model Training on GPU Clusters Using Megatron-LM",
    2021, equation 3, per sequence: `96 s l h² (1 + s / 6h + V / 16 l h)`; 72 in place of 96 without recomputation.
    """
    shape = [case.get(name) for name in ("sequence_length", "layers", "hidden", "vocabulary", "devices")]
    again = case.get("checkpointing")
    if isinstance(headline, NoFigure) or headline.scope != "job" or again is None or not all(shape):
        return None
    if headline.unit not in {"sequences/s", "samples/s"}:
        return None
    s, l, h, v, devices = map(float, shape)  # type: ignore[arg-type]  # noqa: E741
    factor = 96 if again not in (False, "False", "false", "none", "None", 0) else 72
    each = factor * s * l * h**2 * (1 + s / (6 * h) + v / (16 * l * h))
    value = each * headline.value / devices / 1e12
    arithmetic = f"{factor} s l h² (1 + s / 6h + V / 16lh) × {headline.value:.8g} / {devices:g} / 1e12"
    first, last = headline.first_line, headline.last_line
    return MetricFigure(shortened(value), METRICS["flops"].unit, "formula", first, last, arithmetic)


def _to_target(session: Session, headline: Figure | NoFigure) -> dict[str, MetricFigure]:
    """Return minutes and samples to the target of a run that trains to one, or why they are absent."""
    run = next((each for each in session.records if "target_seconds" in each and len(each)), None)
    if run is None:
        return {}
    seconds, reached = float(run["target_seconds"][-1]), float(run["reached"][-1])
    if reached != 1:
        code = "target_missed" if reached == 0 else "target_unknown"
        reason = Reason(code, {"line": run.lines([len(run) - 1])[0]})
        return {"time_to_train": MetricFigure(None, METRICS["time_to_train"].unit, reason=reason)}
    counted = next((each for each in session.records if "target_samples" in each and len(each)), None)
    if counted and (before := float(counted["samples_before"][-1])) > 0:
        reason = Reason("resumed", {"begun": f"{before:.10g} samples"})
        return {"time_to_train": MetricFigure(None, METRICS["time_to_train"].unit, reason=reason)}
    # Not rounded: a score is the mean of these, and published with all its digits.
    found = {"time_to_train": _of_run(run, "time_to_train", seconds / 60, f"{seconds:.10g} s / 60")}
    if counted and isinstance(headline, NoFigure) and headline.reason.code == "withheld":
        # The samples may be the reason why the speed is contradicted.
        found["samples_to_train"] = MetricFigure(None, METRICS["samples_to_train"].unit, reason=headline.reason)
    elif counted:
        found["samples_to_train"] = _of_run(
            counted, "samples_to_train", shortened(float(counted["target_samples"][-1])), ""
        )
    return found


def _of_run(records: SessionRecords, name: str, value: float, arithmetic: str) -> MetricFigure:
    line = records.lines([len(records) - 1])[0]
    return MetricFigure(value, METRICS[name].unit, "log", line, line, arithmetic or None)


def _last(session: Session, column: str) -> MetricFigure | None:
    """Return the last printed value together with the first, and whether training diverged."""
    for records in _steps(session):
        if column not in records:
            continue
        values = records[column]
        printed = _printed_rows(records, column, values)
        if not len(printed):
            continue
        first, last = float(values[printed[0]]), float(values[printed[-1]])
        line = records.lines([int(printed[-1])])[0]
        arithmetic, diverged = f"{first:g} → {last:g}", None
        if column == "loss":
            diverged = not math.isfinite(last) or (first > 0 and last > _DIVERGED * first)
        return MetricFigure(
            _finite(last), METRICS[column].unit, "log", line, line, arithmetic, _finite(first), diverged
        )
    return None


def _printed_rows(records: SessionRecords, column: str, values: Column) -> NDArray[np.intp]:
    """Return rows with a printed value; `nan` counts if printed (divergence), but not as filler of lines without it."""
    printed = ~np.isnan(values)
    if not printed[-1]:
        printed[-1] = bool(records.printed(len(values) - 1, column))
    return np.flatnonzero(printed)


def _steps(session: Session) -> list[SessionRecords]:
    return [each for each in session.records if each.reading.span != "run" and len(each)]


def _finite(value: float) -> float | None:
    return shortened(value) if math.isfinite(value) else None
