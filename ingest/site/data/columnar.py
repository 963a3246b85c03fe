"""Results, runs, and the problems of many logs, as Parquet: rows with typed columns, for queries at size."""

from __future__ import annotations

import io
import json
from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any

from perfledger.ingest.common.problems import TABLE, file_of
from perfledger.ingest.common.words import LANGUAGES, Words
from perfledger.ingest.compute.results import version
from perfledger.ingest.site import addresses
from perfledger.ingest.site.data import problems, results
from perfledger.ingest.site.data.measured import date_of
from perfledger.ingest.site.model import Site, options_text
from perfledger.schema.records import Run
from perfledger.schema.results import ResultRecord

if TYPE_CHECKING:
    import pyarrow as pa

RESULTS = "data/results.parquet"
RUNS = "data/runs.parquet"
#: Written into each file, and raised where a column is removed or changes its meaning.
VERSION = 1
#: Rows that are written at once, so that few are in memory twice.
_ROWS = 10_000
_COUNTS = frozenset({
    "nodes", "devices", "batch_size", "repeats", "hosts", "session", "bytes", "lines", "observations",
})  # fmt: skip
_NUMBERS = frozenset({
    "value", "low", "high", "spread", "spread_within", "spread_between", "speedup", "efficiency", "latency_ms",
    "energy_per_sample_J", "samples_per_joule", "energy_per_token_J", "tokens_per_joule", "memory_MiB",
})  # fmt: skip
_FLAGS = frozenset({"diverged", "published", "placed"})
_LISTS = frozenset({"runs", "problems"})
_RUN = (
    "id", "path", "session", "sha256", "bytes", "lines", "format", "outcome", "observations", "model", "framework",
    "framework_version", "hardware", "nodes", "devices", "batch_size", "precision", "options", "rule", "unit", "value",
    "date", "published", "duplicate_of", "problems", "page",
)  # fmt: skip
#: The line of a problem is a number, that of a result a text, which may name several.
_PROBLEM = ("code", "path", "line", "args", *(f"said_{each}" for each in LANGUAGES))


def files(site: Site, found: Sequence[ResultRecord], words: Words) -> dict[str, bytes]:
    """Return the files of runs and of the results that were found; with the problems if these are not JSON lines."""
    runs = (_run(site, each) for each in site.runs)
    made = {RESULTS: _written(results.COLUMNS, map(_result, found)), RUNS: _written(_RUN, runs)}
    if site.all_problems and file_of(site.runs) == TABLE:
        said = (_problem(each) for each in problems.records(site, words))
        made[TABLE] = _written(_PROBLEM, said, frozenset({"line"}))
    return made


def _result(found: ResultRecord) -> Mapping[str, Any]:
    return {**results.flat(found), "runs": [each.id for each in found.runs]}


def _run(site: Site, run: Run) -> Mapping[str, Any]:
    headline = run.figure(run.rule)
    of_job = headline if headline and headline.scope == "job" else None
    case = run.case.known()
    return {
        **{name: getattr(run, name) for name in _RUN if hasattr(run, name)},
        **{name: case.get(name) for name in _RUN if name in run.case.__struct_fields__},
        "options": options_text(run.case.options),
        "framework_version": version(run),
        "unit": of_job.unit if of_job else None,
        "value": of_job.value if of_job else None,
        "date": date_of(run),
        "problems": [each.code for each in run.problems],
        "page": addresses.served(site.page(run)),
    }


def _problem(found: Mapping[str, Any]) -> Mapping[str, Any]:
    said = {f"said_{language}": sentence for language, sentence in found["said"].items()}
    return {**found, **said, "args": json.dumps(found["args"], sort_keys=True, ensure_ascii=False)}


def _written(columns: Sequence[str], rows: Iterable[Mapping[str, Any]], counts: frozenset[str] = _COUNTS) -> bytes:
    """Return rows as Parquet: the same bytes for the same rows and the same version of the library."""
    import pyarrow as pa
    from pyarrow import parquet

    schema = pa.schema([(name, _type(name, counts)) for name in columns], metadata={"perfledger": str(VERSION)})
    stream, left = io.BytesIO(), iter(rows)
    with parquet.ParquetWriter(stream, schema, compression="zstd") as writer:
        for some in iter(lambda: list(islice(left, _ROWS)), []):
            arrays = [pa.array([row.get(name) for row in some], schema.field(name).type) for name in columns]
            writer.write_table(pa.Table.from_arrays(arrays, schema=schema))
    return stream.getvalue()


def _type(name: str, counts: frozenset[str]) -> pa.DataType:
    import pyarrow as pa

    if name in _LISTS:
        return pa.list_(pa.string())
    if name in _FLAGS:
        return pa.bool_()
    if name in counts:
        return pa.int64()
    return pa.float64() if name in _NUMBERS else pa.string()
