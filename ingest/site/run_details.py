"""The tables of a run's page: its figures, facts, environment, telemetry and origin."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from msgspec import structs

from perfledger.ingest.common import numbers
from perfledger.ingest.common.words import Text, phrase, word_for
from perfledger.ingest.compute.rules import NAMES
from perfledger.ingest.site.model import Site, precision_name
from perfledger.ingest.site.options import in_words
from perfledger.ingest.site.recipe_tables import noted
from perfledger.ingest.site.render.table import Cell, Entry, Table, cell
from perfledger.ingest.site.result_tables import metric_title, not_finite_cell
from perfledger.ingest.site.run_tables import (
    ENVIRONMENT,
    fact_place,
    figure_cell,
    lines_cell,
    packages,
    source_of,
    value_text,
)
from perfledger.ingest.site.table_of import ColumnOf, table_of
from perfledger.schema.machine import Telemetry, TelemetryFile
from perfledger.schema.records import Figure, Plain, Run
from perfledger.schema.submission import submitter_of
from perfledger.schema.vocabulary import CASE, METRICS

#: Figures of telemetry in the order of their importance for readers.
ORDER = (
    "memory_peak_mib", "memory_mean_mib", "memory_total_mib", "utilisation_mean", "memory_utilisation_mean",
    "power_mean_w", "power_peak_w", "power_limit_w", "energy_j", "temperature_peak_c", "temperature_mean_c",
    "memory_temperature_peak_c", "sm_clock_mean_mhz", "graphics_clock_mean_mhz", "memory_clock_mean_mhz",
    "cpu_mean", "disk_read_mean_mib_s", "disk_written_mean_mib_s", "load_mean", "load_peak",
    "host_memory_peak_mib", "host_memory_mean_mib", "host_memory_total_mib",
)  # fmt: skip
#: Beginnings of the names of figures of the machine as a whole.
_OF_HOST = ("host", "load", "cpu", "disk")
_COUNTED = frozenset({"memory_peak_mib", "memory_total_mib", "host_memory_peak_mib", "host_memory_total_mib"})
#: An item and its value; None if it is not known.
Item = tuple[Text, Text | Cell | None]


def fact_table(site: Site, run: Run) -> Table | None:
    """Return the facts of a run: value, source and place in it."""
    names = [*(each for each in CASE if each in run.facts), *sorted(set(run.facts) - set(CASE))]
    columns = [
        ColumnOf[str](phrase("table.fact"), lambda name: word_for("fact", name)),
        ColumnOf(phrase("table.value"), lambda name: _fact_value(name, run.facts[name].value)),
        ColumnOf(phrase("table.source"), lambda name: word_for("source", run.facts[name].source)),
        ColumnOf(phrase("table.where"), lambda name: fact_place(site, run, run.facts[name])),
    ]
    return table_of("facts", names, columns)


def figure_table(site: Site, run: Run) -> Table | None:
    """Return the figure of each rule that gives one, with its window and arithmetic; None if no rule does."""
    of = ColumnOf[tuple[str, Figure]]
    columns = [
        of(phrase("table.rule"), lambda of: word_for("rule", of[0])),
        of(phrase("table.value"), lambda of: figure_cell(of[1]), True),
        of(phrase("table.scope"), lambda of: word_for("scope", of[1].scope)),
        of(phrase("table.used"), lambda of: numbers.quantity(of[1].used), True),
        of(phrase("table.skipped"), lambda of: numbers.quantity(of[1].skipped), True),
        of(phrase("table.window"), lambda of: lines_cell(site, run, of[1])),
        of(phrase("table.arithmetic"), lambda of: of[1].arithmetic),
    ]
    found = sorted(run.all_figures.items(), key=lambda each: NAMES.index(each[0]) if each[0] in NAMES else len(NAMES))
    return table_of("figures", [(rule, each) for rule, each in found if isinstance(each, Figure)], columns)


def metric_table(site: Site, run: Run) -> Table | None:
    """Return a run's metrics other than throughput, with the source of each."""
    columns = [
        ColumnOf[str](phrase("table.metric"), metric_title),
        ColumnOf(phrase("table.value"), lambda name: _metric(run, name), True),
        ColumnOf(phrase("table.source"), lambda name: word_for("source", run.metrics[name].source or "")),
        ColumnOf(phrase("table.window"), lambda name: lines_cell(site, run, run.metrics[name])),
        ColumnOf(phrase("table.arithmetic"), lambda name: run.metrics[name].arithmetic or None),
    ]
    return table_of("metrics", [name for name in METRICS if name in run.metrics], columns)


def environment_table(run: Run) -> Table | None:
    """Return the machine and software of one run."""
    found = run.environment
    others = sorted(set(found) - set(ENVIRONMENT) - {"packages"})
    rows: list[Item] = [(phrase(f"environment.{key}"), _stated(found.get(key))) for key in ENVIRONMENT]
    rows += [(word_for("environment", name), _stated(found[name])) for name in others]
    installed = [f"{name} {version}" for name, version in sorted(packages(run).items())]
    return _items("environment", [*rows, (phrase("environment.packages"), _entries(installed))])


def provenance(run: Run) -> Table | None:
    """Return who measured a run, its times, and its code."""
    rows: dict[str, Text | Cell | None] = {
        "measured_by": _measured_by(run),
        "start": run.start,
        "end": run.end,
        "wall": phrase("run.wall_of", seconds=numbers.seconds(run.wall_seconds)) if run.wall_seconds else None,
        "source": source_of(run),
        "recipe": _recipe(run),
        "records": _records_asked(run),
        "notes": noted(run),
        "secrets": ", ".join(run.secrets or ()),
        **{f"site_{name}": "; ".join(lines) for name, lines in (structs.asdict(run.site) if run.site else {}).items()},
        "nodes": _entries(
            [
                phrase("run.node_of", folder=each.folder, outcome=word_for("outcome", each.outcome or ""))
                for each in run.nodes or ()
            ]
        ),
    }
    return _items("provenance", [(phrase(f"run.{name}"), value) for name, value in rows.items()])


def gpu_table(run: Run) -> Table | None:
    """Return the facts of each GPU; None if the run does not state them."""
    gpus = run.environment_details.gpus if run.environment_details else ()
    keys = dict.fromkeys(key for each in gpus for key in each)
    return table_of("gpus", list(gpus), [_gpu_column(key) for key in keys])


def _items(name: str, found: Iterable[Item]) -> Table | None:
    """Return a table of the items that are known."""
    rows = [(item, value) for item, value in found if value]
    columns = [
        ColumnOf[Item](phrase("table.item"), lambda row: row[0]),
        ColumnOf(phrase("table.value"), lambda row: row[1]),
    ]
    return table_of(name, rows, columns)


def _stated(value: object) -> str | None:
    return None if value in (None, "", {}, []) else value_text(value)


def _entries(texts: Sequence[Text]) -> Cell | None:
    return Cell(tuple(map(Entry, texts))) if texts else None


def _metric(run: Run, name: str) -> Cell:
    found = run.metrics[name]
    if found.value is None:
        return not_finite_cell(found)
    marks = [phrase("metric.diverged")] if found.diverged else []
    return cell(numbers.figure(found.value), None, *marks, value=found.value)


def _measured_by(run: Run) -> Cell | None:
    """Return who measured a run: its submitter, the source of its layout, or the publisher of this site.

    Only a log with a run.json, which our runners write, is known to be the publisher's own. None if nobody knows.
    """
    if run.origin:
        there = run.origin.source if run.origin.source.startswith("https://") else None
        return cell(phrase("run.published_by", title=run.origin.title), there)
    if submitter := submitter_of(run.path):
        return cell(phrase("run.submitted", name=submitter))
    return cell(phrase("run.measured_here")) if run.argv else None


def _fact_value(name: str, value: object) -> Text:
    if name == "precision":
        return precision_name(str(value))
    return in_words(value) if isinstance(value, Mapping) else value_text(value)


def _recipe(run: Run) -> str | None:
    if run.recipe is None:
        return None
    return run.recipe.name + (f" (SHA-256 {run.recipe.sha256[:12]})" if run.recipe.sha256 else "")


def _records_asked(run: Run) -> Text | None:
    if run.records is None or run.records.at_least is None or run.records.count is None:
        return None
    asked, there = numbers.count(run.records.at_least), numbers.count(run.records.count)
    return phrase("run.records_of", at_least=asked, count=there)


def _gpu_column(key: str) -> ColumnOf[Mapping[str, Plain]]:
    def value(gpu: Mapping[str, Plain]) -> Text | None:
        return None if gpu.get(key) is None else numbers.quantity(gpu[key])

    return ColumnOf(word_for("environment", f"gpu_{key}"), value, key=key)


# ---- telemetry ----


def telemetry_table(found: Telemetry) -> Table | None:
    """Return every telemetry figure of the run, and of the time of the records that the headline counts."""
    parts = {"table.value": found, "telemetry.measured": found.measured}
    columns = [
        ColumnOf[str](phrase("telemetry.quantity"), lambda key: phrase(f"telemetry.{key}")),
        *(_telemetry_column(title, of) for title, of in parts.items() if of),
    ]
    return table_of("table", _known(found), columns)


def _known(found: Telemetry) -> list[str]:
    return [key for key in ORDER if getattr(found, key) is not None]


def _telemetry_column(title: str, of: object) -> ColumnOf[str]:
    def value(key: str) -> Cell | None:
        if (found := getattr(of, key)) is None:
            return None
        # Memory is exact; a mean is no more precise than its samples.
        return cell(numbers.grouped(found, 0) if key in _COUNTED else numbers.figure(found), value=found)

    return ColumnOf(phrase(title), value, True)


def telemetry_files(found: Telemetry) -> Table | None:
    """Return the files of telemetry, with the tool that printed each and its hash."""
    columns = [
        ColumnOf[TelemetryFile](phrase("telemetry.file"), lambda each: each.path),
        ColumnOf(phrase("telemetry.printer"), lambda each: each.printer),
        ColumnOf(phrase("run.sha256"), lambda each: each.sha256),
    ]
    return table_of("table", list(found.files), columns)


def telemetry_sentences(found: Telemetry, whole: int | None) -> list[Text]:
    """Say what was sampled, and how often.

    Args:
        found: the samples.
        whole: number of devices of the job, None if unknown.
    """
    if found.samples is None:
        return [phrase("telemetry.maximum")]
    return [phrase("telemetry.intro"), _sampled_devices(found, whole), _sampled_time(found, found.samples)]


def _sampled_devices(found: Telemetry, whole: int | None) -> Text:
    if all(each.startswith(_OF_HOST) for each in _known(found)):
        return phrase("telemetry.host")
    sampled = found.devices
    if sampled is None:
        return phrase("telemetry.devices_unnamed")
    if whole and whole > sampled:
        return phrase("telemetry.devices_some", n=sampled, all=whole)
    return phrase("telemetry.devices", n=sampled)


def _sampled_time(found: Telemetry, count: int) -> Text:
    samples = numbers.count(count)
    if found.first is None or found.last is None:
        return phrase("telemetry.undated", samples=samples)
    clock = {"first": found.first.replace("T", " "), "last": found.last.replace("T", " ")}
    return phrase("telemetry.span", samples=samples, seconds=numbers.seconds(found.seconds), **clock)
