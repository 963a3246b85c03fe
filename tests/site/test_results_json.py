"""results.json, results.csv, changes.json and the badges: their schemas, and that pages show the same figures."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from msgspec.structs import replace

from perfledger.ingest.common import frame, words
from perfledger.ingest.published import publications as published_figures
from perfledger.ingest.site import addresses, builder, hardware_names
from perfledger.ingest.site.data import badges, changes, measured, results
from perfledger.ingest.site.model import Site, site_of_runs
from perfledger.ingest.site.published_figures import is_shown
from perfledger.schema.records import Run, from_text, to_json
from perfledger.schema.results import ResultRecord
from perfledger.schema.vocabulary import METRICS
from tests import builders

ROOT = Path(__file__).resolve().parents[2]
Record = dict[str, Any]
SCHEMA = json.loads(results.schemas()["results.schema.json"])
VALIDATOR = jsonschema.Draft202012Validator(SCHEMA, format_checker=jsonschema.FormatChecker())


def site_of(runs: list[Run], found: published_figures.Publications | None = None) -> Site:
    return site_of_runs(runs, published=found or published_figures.Publications())


def typed(runs: list[Run], found: published_figures.Publications | None = None) -> list[ResultRecord]:
    return results.records(site_of(runs, found), words.load())


def records(runs: list[Run], found: published_figures.Publications | None = None) -> list[Record]:
    return [to_json(each) for each in typed(runs, found)]


@cache
def publications() -> published_figures.Publications:
    found = published_figures.read([ROOT / "raw_logs" / "published"])
    assert len(found.rows) > 2000
    return found


@cache
def ours() -> tuple[ResultRecord, ...]:
    """Return every result of this repository."""
    ledger = sorted((ROOT / "docs" / "data" / "runs").glob("*.jsonl"))
    runs = [from_text(line, Run) for path in ledger for line in path.read_text("utf-8").splitlines()]
    assert len(runs) > 20
    return tuple(typed(runs, publications()))


def by_id(found: list[Record]) -> dict[str, Record]:
    assert len({each["id"] for each in found}) == len(found)
    return {each["id"]: each for each in found}


# The schema.


def test_the_schema_is_one_and_says_what_every_key_means() -> None:
    VALIDATOR.check_schema(SCHEMA)
    holders = [SCHEMA, *SCHEMA["$defs"].values()]
    keys = [(name, each) for holder in holders for name, each in holder.get("properties", {}).items()]
    assert len(keys) > 50
    assert [name for name, each in keys if not (each.get("description") or "$ref" in each)] == []


def test_every_result_of_ours_keeps_the_schema() -> None:
    document = json.loads(results.document(list(ours())))
    assert list(VALIDATOR.iter_errors(document)) == []
    assert {each["origin"] for each in document["results"]} == {"measured", "published"}


@pytest.mark.parametrize("runs", [builders.runs(), builders.hostile(), []], ids=["made up", "hostile", "none"])
def test_results_of_any_runs_keep_the_schema(runs: list[Run]) -> None:
    assert list(VALIDATOR.iter_errors(json.loads(results.document(typed(runs))))) == []


def test_every_run_of_ours_and_its_run_json_keep_their_schemas() -> None:
    """Every eighth is enough: they differ in few keys."""
    ledger = sorted((ROOT / "docs/data/runs").glob("*.jsonl"))
    runs = [line for path in ledger for line in path.read_text().splitlines()][::8]
    documents = [path.read_text("utf-8") for path in sorted((ROOT / "raw_logs").rglob("run.json"))][::8]
    for name, texts in (("runs.schema.json", runs), ("run_json.schema.json", documents)):
        validator = jsonschema.Draft202012Validator(json.loads(results.schemas()[name]))
        validator.check_schema(validator.schema)
        assert texts
        assert [error.message for text in texts for error in validator.iter_errors(json.loads(text))] == []
        assert not validator.is_valid(json.loads(texts[0]) | {"case": 5})


BAD: Mapping[str, Callable[[Record], object]] = {
    "a key is missing": lambda each: each.pop("conditions"),
    "a key is unknown": lambda each: each.update(speed=1.0),
    "a number is text": lambda each: each.update(value="29.3"),
    "a speed is negative": lambda each: each.update(value=-1.0),
    "a figure has no unit": lambda each: each.update(unit=None),
    "a figure has no text": lambda each: each.update(text=None),
    "no figure and no reason": lambda each: each.update(
        value=None, text=None, low=None, high=None, spread=None, speedup=None, efficiency=None, repeats=0
    ),
    "a figure and a reason": lambda each: each.update(reason={"code": "x", "args": {}, "text": {"en": "x", "zh": "x"}}),
    "a figure of no run": lambda each: each.update(runs=[]),
    "a figure of no repeat": lambda each: each.update(repeats=0),
    "a language is missing": lambda each: each.update(title={"en": "x"}),
    "a measured result has a source": lambda each: each.update(source={}),
    "a measured result has no rule": lambda each: each.update(rule=None),
    "another origin": lambda each: each.update(origin="guessed"),
    "an id that is no address": lambda each: each.update(id="ResNet-50 v1.5"),
    "a date that is none": lambda each: each["runs"][0].update(date="2026-13-45"),
    "a list of one condition": lambda each: each.update(conditions={"driver": ["550.1"]}),
    "an unknown condition": lambda each: each.update(conditions={"weather": "fine"}),
    "a metric without direction": lambda each: each.update(
        metrics={"latency": {"value": 1, "text": "1", "unit": "ms"}}
    ),
    "no devices": lambda each: each.update(devices=0),
}


@pytest.mark.parametrize("wrong", BAD)
def test_the_schema_refuses_a_result_that_is_wrong(wrong: str) -> None:
    document = json.loads(results.document(typed(builders.runs())))
    one = next(each for each in document["results"] if each["value"] is not None)
    document["results"] = [one]
    assert VALIDATOR.is_valid(document)
    BAD[wrong](one)
    assert not VALIDATOR.is_valid(document)


@pytest.mark.parametrize("more", [{"version": 2}, {"schema": "other.json"}, {"extra": 1}])
def test_the_schema_refuses_a_file_of_another_version(more: Record) -> None:
    document = json.loads(results.document(typed(builders.runs())))
    assert not VALIDATOR.is_valid(document | more)


# The figures are those of the pages.


def shown(folder: Path) -> set[float]:
    """Return the exact values of the figures in the tables of the models' pages."""
    pages = (folder / "docs" / "en" / "models").rglob("*.md")
    return {float(each) for path in pages for each in re.findall(r'data-value="([\d.e+-]+)"', path.read_text("utf-8"))}


def test_every_measured_figure_is_that_of_the_pages(built: Path) -> None:
    """Compare to the last digit, since programs compute with it."""
    document = json.loads((built / "docs" / "data" / "results.json").read_text("utf-8"))
    values = shown(built)
    known = [each for each in document["results"] if each["value"] is not None and len(each["runs"]) > 1]
    assert len(known) > 5
    for each in known:
        assert each["value"] in values
        page = (built / "docs" / "en" / each["page"] / "index.md").read_text("utf-8")
        assert each["text"] in re.sub(r"<[^>]+>", "", page)
        assert (each["range"] is None) == (each["repeats"] < 2)


def test_what_has_no_figure_says_why_in_both_languages() -> None:
    (failed,) = [each for each in records(builders.runs()) if each["outcome"] == "oom"]
    assert (failed["value"], failed["text"], failed["unit"]) == (None, None, None)
    text = {"en": "outcome of the run: out of memory", "zh": "运行状态：显存/内存不足"}
    assert failed["reason"] == {"code": "outcome", "args": {"outcome": "oom"}, "text": text}


def test_every_figure_that_the_pages_of_models_show_of_others_is_there() -> None:
    found: dict[tuple[Any, ...], set[tuple[str, float | None]]] = {}
    for each in map(to_json, ours()):
        if each["origin"] == "published":
            case = tuple(each[name] for name in ("model", "framework", "devices", "batch_size", "precision"))
            said = {(name, metric["value"]) for name, metric in each["metrics"].items()}
            said |= {("throughput", each["value"])}
            found.setdefault((each["source"]["name"], *case), set()).update(said)
    rows = [row for row in publications().rows if is_shown(row)]
    assert len(rows) > 1500
    for row in rows:
        case = (row.source, row.model, row.framework, row.devices, row.batch_size, row.precision or None)
        assert (row.metric, row.value) in found[case], row


def test_a_published_figure_is_written_as_it_was_printed() -> None:
    one = next(each for each in map(to_json, ours()) if each["value"] == 12411.97)
    assert (one["text"], one["unit"], one["rule"], one["runs"]) == ("12,411.97", "images/s", None, ())
    assert (one["model"], one["framework"], one["devices"]) == ("ResNet-50 v1.5", "OneFlow", 32)
    assert (one["round"], one["speedup"]) == ("DLPerf 2022", 31.21)
    assert one["options"] == {"xla": False}
    assert one["source"]["address"].startswith("https://github.com/Oneflow-Inc/DLPerf/blob/")


def test_what_several_places_print_alike_is_one_result_and_what_they_print_otherwise_is_several() -> None:
    row = next(each for each in publications().rows if each.metric == "throughput" and each.value)
    elsewhere = replace(row, place="OTHER.md", line="7", framework_source="the same trainer@another-commit")
    otherwise = replace(row, place="THIRD.md", printed="1.5", value=1.5)
    beside = replace(row, metric="latency", unit="ms", printed="9.25", value=9.25)
    found = published_figures.Publications((row, beside, elsewhere, otherwise), publications().sources)
    first, second = sorted(records([], found), key=lambda each: -each["value"])
    assert [each["place"] for each in first["source"]["also"]] == ["OTHER.md"]
    assert first["metrics"]["latency"] == {"value": 9.25, "text": "9.25", "unit": "ms", "better": "lower"}
    assert (second["value"], second["source"]["place"], second["metrics"]) == (1.5, "THIRD.md", {})
    apart = published_figures.Publications((row, replace(beside, place="FOURTH.md")), publications().sources)
    assert len(records([], apart)) == 2, "a latency that stands elsewhere may be that of another figure"
    alone = records([], published_figures.Publications((row,), publications().sources))
    assert [each["id"] for each in alone] == [first["id"]]


# Names of results.


def test_no_two_results_share_a_name() -> None:
    assert len({each.id for each in ours()}) == len(ours())
    assert len(ours()) > 1000


def test_a_further_run_changes_no_other_result() -> None:
    runs = builders.runs()
    before = by_id(records(runs))
    more = [
        builders.run("new-1", framework="JAX", speed=990.0),
        builders.run("new-2", framework="PyTorch", devices=16, speed=7000.0),
        builders.run("new-3", framework="PyTorch", devices=8, speed=3000.0, environment={"packages": {"torch": "9.9"}}),
    ]
    after = by_id(records(more + list(reversed(runs))))
    assert before.keys() <= after.keys()
    assert len(after) == len(before) + 3
    assert {name: after[name] for name in before} == before


def test_a_further_repeat_changes_the_figure_and_not_the_name() -> None:
    one = builders.run("a-1", model="BERT-base", unit="sequences/s", speed=100.0)
    two = builders.run("a-2", model="BERT-base", unit="sequences/s", speed=104.0)
    (before,), (after,) = records([one]), records([two, one])
    assert before["id"] == after["id"]
    assert (before["value"], after["value"], after["repeats"]) == (100.0, 102.0, 2)


def test_a_name_says_its_case_and_differs_with_all_that_parts_results() -> None:
    one = builders.run("a", options={"xla": True})
    (base,) = records([one])
    assert base["id"].startswith("resnet-50-v1-5-pytorch-test-accelerator-made-up-n1d1-bs64-fp32-")
    others = [
        builders.run("b", options={"xla": False}),
        builders.run("c", options={"xla": True}, unit="samples/s"),
        builders.run("d", options={"xla": True}, environment={"framework_version": "2.0"}),
        builders.run("e", options={"xla": True}, facts={"round": {"value": "2026Q4"}}),
        builders.run("f", options={"xla": True}, hardware="Other accelerator"),
        builders.run("g", options={"xla": True}, facts={"round": {"value": "2026q4"}}),
        builders.run("h", options={"xla": True}, environment={"framework_version": "2-0"}),
    ]
    names = [record["id"] for each in others for record in records([each])]
    assert len({base["id"], *names}) == 8
    assert "-2-0-" in names[2]
    assert "-2026q4-" in names[3]


# Conditions.


def test_conditions_say_what_runs_share_and_where_they_differ() -> None:
    def machine(**more: Any) -> Record:
        return {"driver": "550.54", "power_limit": None, "packages": {}, **more}

    runs = [
        builders.run("a-1", environment=machine(gpu_power_limit_watts=400, image="a")),
        builders.run("a-2", environment=machine(gpu_power_limit_watts=400, image="b")),
        builders.run("a-3", environment=machine(gpu_power_limit_watts=400)),
    ]
    (found,) = records(runs)
    assert found["conditions"] == {"driver": "550.54", "power_limit": "400", "image": ("a", "b")}


# The flat table.


def test_the_table_has_a_row_per_result_and_the_same_figures() -> None:
    found = ours()
    rows = list(csv.DictReader(io.StringIO(frame.csv(results.COLUMNS, found).decode())))
    assert list(rows[0]) == [each.name for each in results.COLUMNS]
    assert [row["id"] for row in rows] == [each.id for each in found]
    assert [row["value"] for row in rows] == ["" if each.value is None else repr(each.value) for each in found]
    latencies = [each.metrics.get("latency") for each in found]
    assert any(latencies)
    for row, latency in zip(rows, latencies, strict=True):
        expected = latency.value if latency and latency.unit == METRICS["latency"].unit else None
        assert row["latency_ms"] == ("" if expected is None else repr(expected))


# Addresses.


@pytest.mark.parametrize(
    ("page", "expected"),
    [
        ("runs/a.md", "runs/a/"),
        ("runs/b.md#c", "runs/b/#c"),
        ("runs/index.md?run=b", "runs/?run=b"),
        ("models/x/index.md", "models/x/"),
        ("runs/index.md#b", "runs/#b"),
        ("runs/my-index.md", "runs/my-index/"),
        (None, None),
    ],
)
def test_addresses_of_pages(page: str | None, expected: str | None) -> None:
    assert addresses.served(page) == expected


# Changes.


def dated(name: str, day: str | None, speed: float, **more: Any) -> Run:
    return builders.run(name, speed=speed, start=f"{day}T10:00:00Z" if day else None, **more)


def changes_of(runs: list[Run]) -> list[dict[str, Any]]:
    site = site_of(runs)
    found: list[dict[str, Any]] = json.loads(changes.document(site, results.records(site, words.load())))["changes"]
    return found


def told(*runs: Run) -> list[tuple[str, str, float | None, float]]:
    found = changes_of(list(runs))
    return [(each["date"], each["kind"], each["before"], each["after"]) for each in found]


def test_a_result_is_new_on_the_day_of_its_first_figure() -> None:
    """With the median of that day's repeats, not with the first of them."""
    found = told(dated("a", "2026-03-01", 100.0), dated("b", "2026-03-01", 104.0))
    assert found == [("2026-03-01", "new", None, 102.0)]


def test_a_figure_that_moves_is_listed_with_its_change() -> None:
    """100, then the median of 100 and 110, which is 105."""
    runs = [dated("a", "2026-03-01", 100.0), dated("b", "2026-03-05", 110.0)]
    assert told(*runs) == [("2026-03-05", "moved", 100.0, 105.0), ("2026-03-01", "new", None, 100.0)]
    newest = changes_of(runs)[0]
    assert newest["share"] == pytest.approx(0.05)
    assert (newest["before_text"], newest["after_text"], newest["unit"]) == ("100.0", "105", "images/s")
    # One run of that day against one before it: never clear.
    assert (newest["grade"], changes_of(runs)[1]["grade"]) == ("likely", None)
    assert [each["id"] for each in newest["runs"]] == ["b"]
    assert newest["result"] == records(runs)[0]["id"]


def test_what_lies_within_the_repeats_or_within_a_percent_has_not_moved() -> None:
    """Median 100 of 90 and 110 becomes 105 of three: within their range. 100 becomes 100.5: half a percent."""
    wide = [dated("a", "2026-03-01", 90.0), dated("b", "2026-03-01", 110.0), dated("c", "2026-03-02", 105.0)]
    assert [each[1] for each in told(*wide)] == ["new"]
    near = [dated("a", "2026-03-01", 100.0), dated("b", "2026-03-02", 101.0)]
    assert [each[1] for each in told(*near)] == ["new"]


def test_slow_drift_is_listed_once_it_is_large_enough() -> None:
    """Medians 100, 100.4, 100.8, 101.2: no step is a percent, and the last is 1.2 % from the last listed one."""
    days = [dated(f"r{day}", f"2026-03-0{day + 1}", 100.0 + 0.8 * day) for day in range(4)]
    assert told(*days) == [("2026-03-04", "moved", 100.0, pytest.approx(101.2)), ("2026-03-01", "new", None, 100.0)]


def test_runs_without_a_date_give_no_change_and_were_always_there() -> None:
    assert told(dated("a", None, 100.0), dated("b", None, 300.0)) == []
    assert told(dated("a", None, 100.0), dated("b", "2026-03-01", 120.0)) == [("2026-03-01", "moved", 100.0, 110.0)]


def test_another_version_is_another_result_and_moves_none() -> None:
    newer = {"framework_version": "2"}
    found = told(dated("a", "2026-03-01", 100.0), dated("b", "2026-03-05", 150.0, environment=newer))
    assert found == [("2026-03-05", "new", None, 150.0), ("2026-03-01", "new", None, 100.0)]


def test_runs_without_a_figure_change_nothing() -> None:
    assert told(dated("a", "2026-03-01", 100.0), dated("b", "2026-03-02", 100.0, outcome="failed")) == [
        ("2026-03-01", "new", None, 100.0)
    ]


@pytest.mark.parametrize(
    ("stated", "expected"),
    [
        ({"start": "2026-11-20T23:59:00Z"}, "2026-11-20"),
        ({"start": "2026-11-20T23:59:00-05:00"}, "2026-11-21"),
        ({"start": "2026-11-20T00:30:00+08:00"}, "2026-11-19"),
        ({"start": "2026-11-20T23:59:00"}, "2026-11-20"),
        ({"start": None, "clock": ["2025-01-02T03:04:05", "2025-01-02T04:00:00"]}, "2025-01-02"),
        ({"start": "yesterday", "clock": None}, None),
        ({"start": "2026-02-30T00:00:00Z"}, None),
        ({}, None),
    ],
)
def test_the_day_of_a_run(stated: dict[str, Any], expected: str | None) -> None:
    assert measured.date_of(builders.run("a", **{"start": None, **stated})) == expected


# Badges.


def test_every_measured_result_with_a_figure_has_a_badge(built: Path) -> None:
    document = json.loads((built / "docs" / "data" / "results.json").read_text("utf-8"))
    expected = {f"{each['id']}.svg": each for each in document["results"] if each["value"] is not None}
    assert len(expected) < len(document["results"])
    found = {path.name: _badge(path.read_bytes()) for path in (built / "docs" / "data" / "badges").iterdir()}
    assert found.keys() == expected.keys()
    classes = ("", ", clearly the fastest", ", likely the fastest")
    for name, (label, message) in found.items():
        assert label.startswith(expected[name]["model"])
        figure = f"{expected[name]['text']} {expected[name]['unit']}"
        assert message in [figure + each for each in classes]


def _badge(content: bytes) -> tuple[str, str]:
    """Return the two texts of a badge."""
    label, message = re.findall(r"<text [^>]*>([^<]*)</text>", content.decode())
    return label, message


def test_a_badge_says_what_it_is_about() -> None:
    run = builders.run("a", devices=8, precision="amp", speed=2900.0, hardware="V100-SXM2-32GB")
    (content,) = badges.badges(site_of([run]), words.load()).values()
    assert _badge(content) == ("ResNet-50 v1.5 · 8×V100 · AMP", "2,900 images/s")


@pytest.mark.parametrize(
    ("hardware", "chip"),
    [
        ("Tesla V100", "V100"), ("NVIDIA A100-SXM4-40GB", "A100"), ("H100 80GB HBM3", "H100"),
        ("RTX-2080-Ti", "RTX 2080 Ti"),
        ("AMD EPYC (family 25, model 17), 2 cores (CPU)", "AMD EPYC Genoa"), ("Xeon Gold 5117", "Xeon Gold 5117"),
    ],
)  # fmt: skip
def test_a_badge_names_the_chip(hardware: str, chip: str) -> None:
    assert hardware_names.chip(hardware) == chip


def test_badges_are_bounded_to_the_results_measured_last(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(badges, "AT_MOST", 2)
    runs = [dated(f"r{day}", f"2026-03-0{day}", 100.0, batch_size=day) for day in (3, 1, 4, 2)]
    found = badges.badges(site_of(runs), words.load())
    assert sorted(int(re.findall(r"-bs(\d+)-", each)[0]) for each in found) == [3, 4]


def test_files_of_data_without_a_manifest_are_known_as_ours(copied: Path) -> None:
    (copied / "cache.sqlite").unlink()
    build = builder.build(site_of_runs(()), copied / "docs", copied / "cache.sqlite")
    assert [each for each in build.removed if each.startswith("data/badges/")]


# The files.


def test_a_changed_figure_is_a_changed_line() -> None:
    runs = builders.runs()
    before = results.document(typed(runs)).decode().splitlines()
    changed = builders.with_speed(runs, "bert-pytorch-1", 99.0)
    after = results.document(typed(changed)).decode().splitlines()
    assert len(before) == len(after)
    assert sum(one != two for one, two in zip(before, after, strict=True)) == 1


@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_page_of_data_names_every_file(built: Path, language: str) -> None:
    page = (built / "docs" / language / "data.md").read_text("utf-8")
    folder = built / "docs" / "data"
    made = sorted(path.relative_to(folder.parent).as_posix() for path in folder.rglob("*") if path.is_file())
    assert len(made) > 10
    # The parts of some pages are named after hashes of their content.
    named = {re.sub(r"^(data/explorer)/[^.]*", r"\1/*", each) for each in made}
    named = {re.sub(r"^(data/badges)/[^.]*", r"\1/<id>", each) for each in named}
    assert len(named) > 10
    assert [name for name in sorted(named) if name not in page] == []
