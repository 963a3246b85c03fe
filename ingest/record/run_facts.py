"""Facts of a run: from run.json, the log, files next to it and its path, and from the records themselves."""

from __future__ import annotations

from typing import TYPE_CHECKING

from perfledger.ingest.compute.metrics import has_tf32
from perfledger.ingest.read import facts
from perfledger.ingest.read.beside import PathFacts
from perfledger.ingest.read.run_json import RunJsonFile
from perfledger.parsers.contract.statistics import median
from perfledger.parsers.engine.session import Session
from perfledger.parsers.engine.table import SessionRecords
from perfledger.schema.records import FactValue, Stated
from perfledger.schema.vocabulary import UNITS

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

#: Frameworks as NVIDIA packs them: since containers 20.06, which Ampere needs, they allow TF32 by default.
_ALLOWS_TF32 = "NGC "
_OVERRIDE = "NVIDIA_TF32_OVERRIDE"
#: Facts that state the batch size of a device, or that a step is not one batch of each.
_NO_BATCH_OF_RECORDS = frozenset({"batch_size", "accumulation", *facts.CUTS})
#: Largest relative distance of a product of two printed figures from a whole batch.
_ROUNDED = 0.005


def facts_of(session: Session, run_json: RunJsonFile, path_facts: PathFacts) -> facts.Merged:
    """Merge the facts of a session: from its run.json, its log, files next to it, and its path by the layout."""
    within = session.view.format.framework if session.view else ""
    implied, said = {"framework": session.format.framework or within}, session.format.id
    merged = facts.merge(run_json.case(), session.facts, path_facts, implied, said)
    if not _NO_BATCH_OF_RECORDS & merged.stated.keys():
        merged = merged.with_facts_of_records(_with_devices(_batch_of_records(session), merged))
    return _with_tf32(merged, run_json)


def environment_of(session: Session, run_json: RunJsonFile, path_facts: PathFacts) -> dict[str, Stated]:
    """Return the environment by run.json, completed by the log and by files next to it."""
    known = dict(run_json.document.environment) if run_json.document else {}
    for fact, name in (("gpu", "gpu"), ("framework_version", "framework_version")):
        if fact in session.facts:
            known.setdefault(name, session.facts[fact].value)
    return {**path_facts.environment, **known}


def _with_tf32(merged: facts.Merged, run_json: RunJsonFile) -> facts.Merged:
    """Return the facts with the precision TF32 or FP32 if the framework may compute FP32 as TF32.

    A precision in run.json stays, and so does one that a switch in the log states.
    """
    used = {name: merged.stated[name] for name in ("precision", "framework", "hardware") if name in merged.stated}
    if len(used) < 3 or used["precision"].value != "fp32" or used["precision"].source == "run.json":
        return merged
    variables = (run_json.document.environment_variables if run_json.document else None) or {}
    allowed = merged.stated.get("tf32")
    forbidden = str(variables.get(_OVERRIDE)) == "0" or (allowed and str(allowed.value).lower() == "false")
    by_default = str(used["framework"].value).startswith(_ALLOWS_TF32) and has_tf32(str(used["hardware"].value))
    if forbidden or not (by_default or allowed):
        return merged
    found = facts.computed("tf32", **used, tf32=allowed) if allowed else facts.computed("fp32_tf32", **used)
    return merged.with_fact("precision", found)


def _batch_of_records(session: Session) -> dict[str, FactValue]:
    """Return the batch size, of a device or the job, from all speeds times their seconds."""
    import numpy as np

    counted = next((each for each in session.records if len(each) and each.reading.span != "run"), session.main)
    products = _batch_products(counted)
    if products is None or UNITS[counted.reading.unit].counts != "sample":
        return {}
    if not len(products) or not np.isfinite(products).all():
        return {}
    batch = round(median(products))
    if not batch or float(np.max(np.abs(products / batch - 1))) > _ROUNDED:
        return {}
    first, last = counted.lines([0, len(counted) - 1])
    lines = f"lines {first}-{last}" if last > first else f"line {first}"
    name = "batch_size" if counted.reading.scope == "device" else "batch_size_of_job"
    return {name: FactValue(batch, facts.DERIVED, f"throughput ({lines}), step_seconds ({lines})")}


def _with_devices(found: dict[str, FactValue], merged: facts.Merged) -> dict[str, FactValue]:
    """Add the number of devices that share the stated batch of the job, if one of the two is not stated."""
    job, each = merged.stated.get("batch_size_of_job"), found.get("batch_size")
    if job is None:
        return found
    if each is None or "devices" in merged.stated or job.value % each.value:
        return {}
    return {**found, "devices": facts.computed(job.value // each.value, batch_size_of_job=job, batch_size=each)}


def _batch_products(records: SessionRecords) -> NDArray[np.float64] | None:
    """Return speed times seconds of each record that counts a device or the job; None where it does not print both.

    If a record prints its samples, its batch size is only an upper limit.
    """
    printed = "step_seconds" in records and "throughput" in records and "samples" not in records
    if records.reading.scope not in {"device", "job"} or not printed:
        return None
    return records["throughput"] * records["step_seconds"]
