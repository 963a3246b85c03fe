"""Energy per sample or token: mean power of all devices while the records that count, over the job's throughput."""

from __future__ import annotations

from collections.abc import Mapping

from perfledger.ingest.common.numbers import shortened
from perfledger.ingest.compute.telemetry_figures import seconds_of
from perfledger.schema.machine import Telemetry
from perfledger.schema.records import MetricFigure, Reason, Run
from perfledger.schema.vocabulary import METRICS, UNITS

#: Joules per sample, and the inverse.
_PER_SAMPLE = ("energy_per_sample", "samples_per_joule")
#: The same for tokens.
_PER_TOKEN = ("energy_per_token", "tokens_per_joule")
#: The unit of a throughput that counts parts of samples, and still has an energy.
_TOKENS = "tokens/s"
#: Share of the window, in percent, that evaluations and the like may take: throughput leaves them out, power does not.
_MOST_PAUSES = 5.0
#: Samples of each device that a mean power over a window needs.
_FEWEST = 5
#: Share of the window that the samples must cover: both clocks are the same then.
_COVERED = 0.9


def metrics(run: Run, telemetry: Telemetry) -> Mapping[str, MetricFigure]:
    """Return joules per sample or token and its inverse, or why they are absent; empty if no power was sampled.

    Args:
        run: with its figures and pauses.
        telemetry: its samples.
    """
    if telemetry.power_mean_w is None or (found := run.headline) is None:
        return {}
    names = _PER_TOKEN if found.unit == _TOKENS else _PER_SAMPLE
    power = _power(run, telemetry)
    why = power if isinstance(power, str) else _refused(run, power)
    if isinstance(power, str) or why:
        return {name: MetricFigure(None, METRICS[name].unit, reason=Reason(why)) for name in names}
    watts, speed = f"{power:.8g} W", f"{found.value:.10g} {found.unit}"
    lines = ("telemetry", found.first_line, found.last_line)
    each = MetricFigure(shortened(power / found.value), METRICS[names[0]].unit, *lines, f"{watts} / {speed}")
    inverse = MetricFigure(shortened(found.value / power), METRICS[names[1]].unit, *lines, f"{speed} / {watts}")
    return {names[0]: each, names[1]: inverse}


def _power(run: Run, telemetry: Telemetry) -> float | str:
    """Return the watts of all devices, a mean over the time of the records that count, or the code of a reason."""
    if not telemetry.measured or run.measured_clock is None:
        return "energy_clock"
    found, devices = telemetry.measured, run.case.devices
    if not devices or found.devices != devices:
        return "energy_devices"
    if not found.samples or found.samples < _FEWEST * devices or not found.seconds:
        return "energy_few"
    begin, end = map(seconds_of, run.measured_clock)
    # The first and the last sample may each be one gap inside the window without a missing sample.
    gap = found.seconds / (found.samples / devices - 1)
    if found.seconds + 2 * gap < _COVERED * (end - begin):
        return "energy_clock"
    return "energy_few" if found.energy_j is None else found.energy_j / found.seconds


def _refused(run: Run, power: float) -> str:
    """Return the code of the reason for a missing energy, empty if there is one."""
    found = run.headline
    is_of_job = found is not None and found.scope == "job" and found.value > 0 and power > 0
    if found is None or not is_of_job or not _counts_samples(found.unit):
        return "energy_speed"
    if run.pauses and (run.pauses.percent is None or run.pauses.percent > _MOST_PAUSES):
        return "energy_evaluation"
    return ""


def _counts_samples(unit: str) -> bool:
    return unit == _TOKENS or (unit in UNITS and UNITS[unit].counts == "sample")
