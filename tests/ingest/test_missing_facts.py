"""Logs that are refused for missing facts: a run.json with only these facts is enough to publish their figures."""

from __future__ import annotations

import contextlib
import io
import json
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from perfledger.ingest.cli import main
from tests.corpus import corpus

CORPORA = ("public", "today", "mlperf-v5.1")
#: Facts that the user of a log may know. With one device, a speed per device is that of the job.
KNOWN: Mapping[str, Any] = {
    "model": "Made-up net",
    "framework": "Made-up",
    "devices": 1,
    "batch_size": 8,
    "accumulation": 1,
}
#: Devices of logs whose clock or physics contradict one device. The names of two logs state their global batch, the
#: third is GPT-3 175B in 32 parts, and the others print samples/s of batches of 16 and of 1024.
DEVICES = {
    "opt-1.3b-globalBatchSize128": 16,
    "opt-350m_globalBatchSize-64": 16,
    "gpu-recipes__dllogger": 256,
    "TangBinghao__swift": 2,
    "ViTAEv2_B": 128,
}


def lines_of(*paths: Path) -> list[dict[str, Any]]:
    with contextlib.redirect_stdout(io.StringIO()) as out, contextlib.redirect_stderr(io.StringIO()):
        main([*map(str, paths), "--json"])
    return [json.loads(each) for each in out.getvalue().splitlines()]


def missing(line: Mapping[str, Any]) -> list[str]:
    """Return the missing facts of a session that has no other problem, else an empty list."""
    others = {each["code"] for each in line["problems"]} - {"missing_facts"}
    return [] if others else list(line.get("missing", ()))


@cache
def of_corpus(name: str) -> list[dict[str, Any]]:
    return lines_of(corpus(name))


@cache
def refused(name: str) -> dict[str, dict[int, list[str]]]:
    """Return the refused sessions of each log of a corpus, with the missing facts of each."""
    found: dict[str, dict[int, list[str]]] = {}
    for line in of_corpus(name):
        if facts := missing(line):
            found.setdefault(line["path"].partition("/")[2], {})[line["session"]] = facts
    return found


def stated(folder: Path, name: str, path: str, facts: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Read a log again with a run.json of only these facts."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / Path(path).name).symlink_to(corpus(name) / path)
    (folder / "run.json").write_text(json.dumps({"schema": "perfledger.run/1", "case": facts}))
    return lines_of(folder)


def with_missing_facts(folder: Path, name: str, path: str) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    """Read a log with its missing facts in a run.json, and yield these facts and the line of each refused session."""
    sessions = refused(name)[path]
    known = {**KNOWN, "devices": next((each for key, each in DEVICES.items() if key in path), KNOWN["devices"])}
    for number, facts in enumerate(sorted(set(map(tuple, sessions.values())))):
        added = {each: known[each] for each in facts}
        lines = stated(folder / str(number), name, path, added)
        yield from ((added, line) for line in lines if tuple(sessions.get(line["session"], ())) == facts)


@pytest.mark.parametrize("name", CORPORA)
def test_the_missing_facts_are_enough_to_publish_the_figure(tmp_path: Path, name: str) -> None:
    found = refused(name)
    assert found, "no log of this corpus lacks a fact"
    for number, path in enumerate(found):
        for facts, line in with_missing_facts(tmp_path / str(number), name, path):
            figure = line["figures"][line["rule"]]
            assert line["published"], (path, line["session"], facts, line["problems"])
            assert figure["value"] is not None
            assert figure["scope"] == "job"
            assert {each: line["facts"][each]["source"] for each in facts} == dict.fromkeys(facts, "run.json")


#: Largest relative error of the figure of a log of today's trainers.
TRUE = 0.01
#: Rule and tolerance of logs whose true figure is not computed like the headline: a median of rows with every 25th
#: row slow, three of the five iterations in the window, and all steps over a time that includes the warm-up.
STATISTICS = {
    "upernet_vitaev2_s": ("median", TRUE), "waveglow": ("sustained", 0.012), "bert_base_squad": ("sustained", 0.1),
}  # fmt: skip
#: Logs whose only figure is the trainer's own summary.
OWN_SUMMARIES = ("trainer_state.json", "tacotron2_FP16__19-02-2025_08-46-17.txt")
#: Logs whose figure is refused, and the code of the reason.
WITHOUT = {"ncf": "withheld"}


def true_rows() -> list[dict[str, Any]]:
    return list(json.loads(corpus("today/expected.json").read_text("utf-8")))


def alone(folder: Path, path: str, facts: Mapping[str, Any]) -> dict[str, Any]:
    """Read a log of any name with a run.json of these facts, and return its longest session."""
    stated(folder, "today", path, facts)
    return max(lines_of(folder / Path(path).name), key=lambda each: each["observations"])


def known_of(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return the facts that a user who knows the true figure of a log can state."""
    devices = row["devices"] or next((each for key, each in DEVICES.items() if key in row["file"]), 1)
    return {**KNOWN, "devices": devices, "batch_size": max(1, (row["batch_size"] or 1) // devices)}


def figure_of(line: Mapping[str, Any], rule: str, row: Mapping[str, Any]) -> float:
    """Return a figure of a log, per device if the true figure is per device."""
    found = line["figures"][rule]
    of_device = row["throughput"]["scope"] == "device" and found["scope"] == "job"
    return float(found["value"]) / (line["case"]["devices"] if of_device else 1)


def test_figures_of_todays_logs_are_within_a_percent_or_refused(tmp_path: Path) -> None:
    right = 0
    for number, row in enumerate(true_rows()):
        path, folder = row["file"], tmp_path / str(number)
        facts = missing(alone(folder / "bare", path, {}))
        line = alone(folder / "stated", path, {each: known_of(row)[each] for each in facts})
        if why := next((each for name, each in WITHOUT.items() if name in path), None):
            assert [each["code"] for each in line["problems"]] == [why], path
            continue
        own = path.endswith(OWN_SUMMARIES)
        rule, within = next((each for name, each in STATISTICS.items() if name in path), ("sustained", TRUE))
        value = figure_of(line, "reported" if own else rule, row)
        assert value == pytest.approx(row["throughput"]["value"], rel=within), path
        assert line["published"], (path, line["problems"])
        right += 1
    assert right == 25
