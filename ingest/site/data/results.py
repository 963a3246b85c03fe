"""`results.json`, every result as a line, and `results.csv`, the same as a flat table."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from msgspec import UNSET, Struct

from perfledger.ingest.common.cells import no_formula
from perfledger.ingest.common.words import Words
from perfledger.ingest.site.data import measured, printed
from perfledger.ingest.site.model import Site, options_text
from perfledger.schema.plans import Plan
from perfledger.schema.records import Run, RunJson, schema_of, to_json
from perfledger.schema.results import RESULTS_VERSION, Metric, ResultRecord, ResultsDocument
from perfledger.schema.vocabulary import METRICS

SCHEMA = "results.schema.json"
_CASE = (
    "id", "origin", "submitter", "suite", "model", "framework", "framework_version", "hardware", "nodes", "devices",
    "batch_size", "precision", "options", "round", "source", "place", "line", "address",
)  # fmt: skip
_FIGURES = (
    "rule", "unit", "value", "low", "high", "spread", "repeats", *measured.MACHINES, "witnesses", "speedup",
    "efficiency",
)  # fmt: skip
#: A column of a metric is named with its unit, where all have one.
_METRICS = {
    each: f"{each}_{METRICS[each].unit.replace('/', '_per_')}" for each in ("latency", "memory", "energy_per_sample")
}
_METRICS |= {
    "samples_per_joule": "samples_per_joule",
    "energy_per_token": "energy_per_token_J",
    "tokens_per_joule": "tokens_per_joule",
}
COLUMNS = (
    *_CASE, *_FIGURES, *_METRICS.values(), "outcome", "reason", "diverged", "runs", "page",
    "placed", "missing", "scope",
)  # fmt: skip


def records(site: Site, words: Words) -> list[ResultRecord]:
    """Return all results, the measured ones first, each kind by id."""
    return [*measured.records(site, words), *printed.records(site, words)]


def document(found: Sequence[ResultRecord]) -> bytes:
    """Return the results as JSON with a line each, so that a changed figure is a changed line."""
    head = f'{{\n"schema": "{SCHEMA}",\n"version": {RESULTS_VERSION},\n"results": '
    return f"{head}{lines(map(to_json, found))}\n}}\n".encode()


def lines(found: Iterable[Mapping[str, Any]]) -> str:
    """Return objects as a JSON array with a line each."""
    each = ",\n".join(json.dumps(one, sort_keys=True, ensure_ascii=False, allow_nan=False) for one in found)
    return f"[\n{each}\n]" if each else "[]"


def table(found: Iterable[ResultRecord]) -> bytes:
    """Return the results as CSV; a missing figure or fact is an empty cell."""
    text = io.StringIO()
    writer = csv.DictWriter(text, COLUMNS, restval="", lineterminator="\n")
    writer.writeheader()
    writer.writerows({name: _cell(value) for name, value in flat(each).items()} for each in found)
    return text.getvalue().encode()


def flat(found: ResultRecord) -> dict[str, object]:
    """Return a result as a row: what it lacks is left out, or None."""
    known = {name: each for name in COLUMNS if (each := getattr(found, name, UNSET)) is not UNSET}
    source = {name: getattr(found.source, name, None) for name in ("place", "line", "address")}
    return {
        **known,
        "options": options_text(found.options),
        "source": found.source.name if found.source else None,
        **source,
        **{_METRICS[name]: each.value for name, each in found.metrics.items() if _fits(name, each)},
        "reason": found.reason.code if found.reason else None,
        "runs": " ".join(each.id for each in found.runs),
        "missing": " ".join(found.missing or ()),
    }


def _fits(name: str, metric: Metric) -> bool:
    return name in _METRICS and metric.unit == METRICS[name].unit


def schemas() -> dict[str, bytes]:
    """Return JSON Schemas by file name: of the results, of a line of the ledger, of a run.json, and of a plan."""
    kinds: dict[str, type[Struct]] = {
        SCHEMA: ResultsDocument,
        "runs.schema.json": Run,
        "run_json.schema.json": RunJson,
        "plan.schema.json": Plan,
    }
    return {name: _schema(kind) for name, kind in kinds.items()}


def _schema(kind: type[Struct]) -> bytes:
    head = {"$schema": "https://json-schema.org/draft/2020-12/schema"}
    return json.dumps(head | schema_of(kind), indent=1, ensure_ascii=False).encode() + b"\n"


def _cell(value: Any) -> Any:
    """Return a cell; text that a spreadsheet would run gets an apostrophe in front."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return no_formula(value) if isinstance(value, str) else value
