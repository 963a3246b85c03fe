"""A log that is refused for facts that it does not state: a run.json of these facts alone makes its figure public."""

from __future__ import annotations

import contextlib
import io
import json
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from test_public_corpus import ROWS, How, rows

from perfledger.ingest.cli import main
from tests.corpus import corpus

CORPORA = ("public", "today", "mlperf-v5.1")
#: What somebody who ran a log may know of it; one device, so that a figure of a device is that of the job.
KNOWN: Mapping[str, Any] = {
    "model": "Made-up net",
    "framework": "Made-up",
    "devices": 1,
    "batch_size": 8,
    "accumulation": 1,
}
#: Devices that clock or physics contradict if they are one: two logs are named after their global batch, and the third
#: is GPT-3 175B, cut into 32 parts; the others print samples per second of a batch of 16 and of 1024.
DEVICES = {
    "opt-1.3b-globalBatchSize128": 16,
    "opt-350m_globalBatchSize-64": 16,
    "gpu-recipes__dllogger": 256,
    "TangBinghao__swift": 2,
    "ViTAEv2_B": 128,
}
#: Facts without which there is no figure, by the reason that says so.


def lines_of(*paths: Path) -> list[dict[str, Any]]:
    with contextlib.redirect_stdout(io.StringIO()) as out, contextlib.redirect_stderr(io.StringIO()):
        main([*map(str, paths), "--json"])
    return [json.loads(each) for each in out.getvalue().splitlines()]


def missing(line: Mapping[str, Any]) -> list[str]:
    """Return the facts for whose lack alone a session is refused; none where something else is wrong too."""
    others = {each["code"] for each in line["problems"]} - {"missing_facts"}
    return [] if others else list(line.get("missing", ()))


@cache
def of_corpus(name: str) -> list[dict[str, Any]]:
    return lines_of(corpus(name))


def longest(path: str) -> int:
    """Return the session with the most records, of which the table of truths tells."""
    sessions = [each for each in of_corpus("public") if each["path"].partition("/")[2] == path]
    return int(max(sessions, key=lambda each: each["observations"])["session"])


@cache
def refused(name: str) -> dict[str, dict[int, list[str]]]:
    """Return the refused sessions of each log of a corpus, with the facts that each lacks."""
    found: dict[str, dict[int, list[str]]] = {}
    for line in of_corpus(name):
        if facts := missing(line):
            found.setdefault(line["path"].partition("/")[2], {})[line["session"]] = facts
    return found


def stated(folder: Path, name: str, path: str, facts: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Read a log again, beside a run.json of some facts and nothing else."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / Path(path).name).symlink_to(corpus(name) / path)
    (folder / "run.json").write_text(json.dumps({"schema": "perfledger.run/1", "case": facts}))
    return lines_of(folder)


def told(folder: Path, name: str, path: str) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    """Yield each refused session of a log with its line after it was told what it lacks."""
    sessions = refused(name)[path]
    known = {**KNOWN, "devices": next((each for key, each in DEVICES.items() if key in path), KNOWN["devices"])}
    for number, facts in enumerate(sorted(set(map(tuple, sessions.values())))):
        said = {each: known[each] for each in facts}
        lines = stated(folder / str(number), name, path, said)
        yield from ((said, line) for line in lines if tuple(sessions.get(line["session"], ())) == facts)


@pytest.mark.parametrize("name", CORPORA)
def test_what_a_log_lacks_is_enough_to_publish_its_figure(tmp_path: Path, name: str) -> None:
    found = refused(name)
    assert found, "no log of this corpus lacks a fact: the test would hold nothing"
    for number, path in enumerate(found):
        for facts, line in told(tmp_path / str(number), name, path):
            figure = line["figures"][line["rule"]]
            assert line["published"], (path, line["session"], facts, line["problems"])
            assert figure["value"] is not None
            assert figure["scope"] == "job"
            assert {each: line["facts"][each]["source"] for each in facts} == dict.fromkeys(facts, "run.json")


def how(path: str) -> How:
    """Return the rule that gives the figure of a row of the table of truths."""
    (found,) = (each for name, each in ROWS.items() if path.startswith(name))
    return found


def test_the_figure_is_that_of_the_table_of_truths(tmp_path: Path) -> None:
    compared = 0
    for number, path in enumerate(each for each in refused("public") if each in rows()):
        session = longest(path)
        if session not in refused("public")[path]:
            continue
        line = next(line for _, line in told(tmp_path / str(number), "public", path) if line["session"] == session)
        figure = line["figures"][how(path).rule.partition(":")[0]]
        row = rows()[path]
        devices = line["case"]["devices"] if row["scope"] == "per_device" else 1
        assert figure["value"] == pytest.approx(float(row["throughput"]) * devices, rel=0.02), path
        compared += 1
    assert compared > 5


#: How far a figure may lie from the truth of a log of today's trainers.
TRUE = 0.01
#: Truths whose statistic is not that of the headline: a median of rows of which every 25th is slow; three of the five
#: iterations in the window; and all steps over a time that includes the warm-up.
STATISTICS = {
    "upernet_vitaev2_s": ("median", TRUE), "waveglow": ("sustained", 0.012), "bert_base_squad": ("sustained", 0.1),
}  # fmt: skip
#: Logs whose one figure is the trainer's own summary.
OWN_SUMMARIES = ("trainer_state.json", "tacotron2_FP16__19-02-2025_08-46-17.txt")
#: Logs without a figure that can be trusted, and why there is none.
WITHOUT = {"ncf": "withheld"}


def truths() -> list[dict[str, Any]]:
    return list(json.loads(corpus("today/expected.json").read_text("utf-8")))


def alone(folder: Path, path: str, facts: Mapping[str, Any]) -> dict[str, Any]:
    """Read a log by itself, whatever its name, with a run.json of some facts; return its longest session."""
    stated(folder, "today", path, facts)
    return max(lines_of(folder / Path(path).name), key=lambda each: each["observations"])


def known_of(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return what somebody who knows the truth of a log can state of it."""
    devices = row["devices"] or next((each for key, each in DEVICES.items() if key in row["file"]), 1)
    return {**KNOWN, "devices": devices, "batch_size": max(1, (row["batch_size"] or 1) // devices)}


def figure_of(line: Mapping[str, Any], rule: str, row: Mapping[str, Any]) -> float:
    """Return a figure of a log, of one device where its truth is."""
    found = line["figures"][rule]
    of_device = row["throughput"]["scope"] == "device" and found["scope"] == "job"
    return float(found["value"]) / (line["case"]["devices"] if of_device else 1)


def test_every_log_of_today_is_right_within_a_percent_or_refused_for_a_reason(tmp_path: Path) -> None:
    right = 0
    for number, row in enumerate(truths()):
        path, folder = row["file"], tmp_path / str(number)
        facts = missing(alone(folder / "bare", path, {}))
        line = alone(folder / "told", path, {each: known_of(row)[each] for each in facts})
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
