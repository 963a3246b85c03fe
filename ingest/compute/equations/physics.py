"""Physics: no device computes more than its peak."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path

from msgspec import Struct

from perfledger.ingest.common.toml_file import read
from perfledger.ingest.compute.equations.evaluation import Given, Sides
from perfledger.ingest.compute.peaks import highest_peak, peak_of
from perfledger.ingest.compute.refusals import not_stated
from perfledger.schema.records import Facts
from perfledger.schema.vocabulary import PRECISION_GROUPS, UNITS

WORKLOADS = Path(__file__).resolve().parent / "workloads.toml"


def sides(given: Given) -> Sides:
    """Return the peak of a device, and the arithmetic that the figure needs of each."""
    case, figure = given.case, given.figure
    devices = case.get("devices") if figure.scope == "job" else 1
    each = flops_of_sample(case, figure.unit)
    if not devices or each is None:
        raise not_stated("operations")
    peak = _peak(case.get("hardware"), case.get("precision"))
    if peak is None:
        raise not_stated("peak")
    needed = each * figure.value / devices / 1e12
    arithmetic = f"{each:.5g} × {figure.value:.6g} / {devices} / 1e12"
    return Sides(peak, needed, "TFLOP/s", arithmetic, verdict="agrees" if needed <= peak else "disagrees")


def _peak(hardware: str | None, precision: str | None) -> float | None:
    """Return the most that a device can do in TFLOP/s; of any device if it is not named, None if it is unknown.

    FP32 may be computed as TF32: frameworks allow it by default on some devices, and logs do not say so.
    """
    if precision is None:
        allowed: Iterable[str] = PRECISION_GROUPS
    else:
        allowed = ("fp32", "tf32") if precision == "fp32" else (precision,)
    known = [peak for each in allowed if (peak := peak_of(hardware, each) if hardware else highest_peak(each))]
    return max(known, default=None)


class SampleCost(Struct, frozen=True, forbid_unknown_fields=True):
    """An entry of workloads.toml: GFLOP of a forward pass over images of `side` pixels, or the network's shape."""

    forward: float = 0.0
    side: int = 224
    layers: int = 0
    hidden: int = 0


def flops_of_sample(case: Facts, unit: str) -> float | None:
    """Return floating-point operations of forward and backward pass per sample; None if they are not known.

    A backward pass takes twice the forward pass. Of transformers only the layers count, by the shape that the case or
    the table of workloads gives: `72 s l h² (1 + s / 6h)` per sequence of s tokens (Narayanan et al., 2021, equation 3,
    without recomputation and vocabulary).
    """
    known = _workloads().get(str(case.get("model")), SampleCost())
    if known.forward and unit in {"images/s", "samples/s"}:
        return 3e9 * known.forward * (float(case.get("image_size") or known.side) / known.side) ** 2
    layers, hidden = case.get("layers") or known.layers, case.get("hidden") or known.hidden
    length = case.get("sequence_length")
    if not (layers and hidden and length) or UNITS[unit].counts == "unknown":
        return None
    s, l, h = float(length), float(layers), float(hidden)  # noqa: E741
    return 72 * s * l * h**2 * (1 + s / (6 * h)) / (s if UNITS[unit].counts == "part" else 1.0)


@cache
def _workloads() -> Mapping[str, SampleCost]:
    return read(WORKLOADS, dict[str, dict[str, SampleCost]]).data["workload"]
