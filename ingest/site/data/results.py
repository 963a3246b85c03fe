"""`results.json`, every result as a line, and the columns of `results.csv` and `results.parquet`."""

from __future__ import annotations

import json
from collections.abc import Sequence
from operator import attrgetter

from msgspec import Struct

from perfledger.ingest.common.frame import DataColumn, fields, json_array
from perfledger.ingest.common.words import Words
from perfledger.ingest.site.data import measured, printed
from perfledger.ingest.site.model import Site, options_text
from perfledger.schema.plans import Plan
from perfledger.schema.records import Run, schema_of, to_json
from perfledger.schema.results import RESULTS_VERSION, ResultRecord, ResultsDocument, Source
from perfledger.schema.run_json import RunJson
from perfledger.schema.vocabulary import METRICS

SCHEMA = "results.schema.json"


def _metric(name: str, column: str) -> DataColumn[ResultRecord]:
    """Return a column of a metric, of the results that have it in its usual unit."""

    def value(result: ResultRecord) -> float | None:
        found = result.metrics.get(name)
        return found.value if found and found.unit == METRICS[name].unit else None

    return DataColumn(column, float, value)


COLUMNS: tuple[DataColumn[ResultRecord], ...] = (
    *fields(
        ResultRecord, "id", "origin", "submitter", "suite", "model", "framework", "framework_version", "hardware",
        "nodes", "devices", "batch_size", "precision",
    ),
    DataColumn("options", str, lambda each: options_text(each.options)),
    *fields(ResultRecord, "round"),
    DataColumn("source", str, lambda each: each.source.name if each.source else None),
    *fields(Source, "place", "line", "address", of=attrgetter("source")),
    *fields(
        ResultRecord, "rule", "unit", "value", "low", "high", "spread", "repeats", "hosts", "spread_within",
        "spread_between", "witnesses", "speedup", "efficiency",
    ),
    _metric("latency", "latency_ms"),
    _metric("memory", "memory_MiB"),
    _metric("energy_per_sample", "energy_per_sample_J"),
    _metric("samples_per_joule", "samples_per_joule"),
    _metric("energy_per_token", "energy_per_token_J"),
    _metric("tokens_per_joule", "tokens_per_joule"),
    *fields(ResultRecord, "outcome"),
    DataColumn("reason", str, lambda each: each.reason.code if each.reason else None),
    *fields(ResultRecord, "diverged"),
    DataColumn("runs", list, lambda each: [run.id for run in each.runs]),
    *fields(ResultRecord, "page", "placed"),
    DataColumn("missing", str, lambda each: " ".join(each.missing or ())),
    *fields(ResultRecord, "scope"),
)  # fmt: skip


def records(site: Site, words: Words) -> list[ResultRecord]:
    """Return all results, the measured ones first, each kind by id."""
    return [*measured.records(site, words), *printed.records(site, words)]


def document(found: Sequence[ResultRecord]) -> bytes:
    """Return the results as JSON with a line each, so that a changed figure is a changed line."""
    head = f'{{\n"schema": "{SCHEMA}",\n"version": {RESULTS_VERSION},\n"results": '
    return f"{head}{json_array(map(to_json, found))}\n}}\n".encode()


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
