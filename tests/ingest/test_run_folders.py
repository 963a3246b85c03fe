"""Folders that `run` collected: one run with machines, ranks, hashes and environment; and uncollected runs."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import made_runs
import pytest
from made_logs import run_json, seg
from made_trees import Called, unpacked, write_run

from perfledger.ingest.compute.peaks import peak_of
from perfledger.ingest.compute.results import results
from perfledger.ingest.compute.telemetry_figures import KEYS
from perfledger.ingest.read import environment_json
from perfledger.ingest.read.run_json import RunJsonFile
from perfledger.ingest.read.walk import Input
from perfledger.schema.records import Reason, Run, from_json
from perfledger.schema.run_json import RunJson

Ingest = Callable[..., Called]
GPU = "timestamp, index, name, memory.used [MiB], power.draw [W]\n"


def gpus(hour: int, memory: int) -> str:
    """Return telemetry of two GPUs for 5 s, at 100 W each."""
    rows = [
        f"2026/11/20 {hour:02}:00:0{second}.000, {index}, made-up, {memory + index} MiB, 100.00 W\n"
        for second in range(5)
        for index in (0, 1)
    ]
    return GPU + "".join(rows)


#: Two machines with two GPUs each; the clock of the second is wrong by an hour.
PARTS = {
    "telemetry.csv": gpus(8, 1000),
    "node1/telemetry.csv": gpus(9, 2000),
    "node1/train.log": made_runs.log_of("PyTorch", [999.0] * 50),
    "node1/environment.json": "{}",
    "node1/ranks/3.log": made_runs.log_of("PyTorch", [999.0] * 50),
    "ranks/1.log": "rank 1 says little\n",
}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tmp_path / "logs"


@pytest.fixture
def two(root: Path) -> Path:
    """Make a run on two machines, and return its folder."""
    nodes = [{"folder": each, "outcome": "completed", "exit_status": 0} for each in (".", "node1")]
    source = {"repository": "x", "commit": "0" * 40, "modified": True}
    more: dict[str, Any] = {"nodes": nodes, "warnings": ["clocks differ"], "source": source}
    made_runs.write(root / "a/b/c/1", devices=4, files=PARTS, case_nodes=2, **more)
    return root / "a/b/c/1"


def test_logs_of_ranks_and_other_machines_are_not_separate_runs(two: Path, root: Path, ingest: Ingest) -> None:
    called = ingest(root, "--json")
    (line,) = called.lines
    assert (called.code, called.problems) == (0, [])
    assert line["path"] == "logs/a/b/c/1/train.log"
    assert line["figures"]["sustained"]["value"] == pytest.approx(40.1)
    assert line["case"]["options"] == {"image_size": 64, "threads": 1}


def test_fields_of_run_json_are_in_the_record(two: Path, root: Path, ingest: Ingest) -> None:
    (line,) = ingest(root, "--json").lines
    said = json.loads((two / "run.json").read_text())
    for key in ("recipe", "records", "warnings", "nodes", "argv", "environment_variables", "source"):
        assert line[key] == said[key], key
    assert line["environment_details"] == {
        key: made_runs.ENVIRONMENT[key] for key in ("gpus", "topology", "infiniband", "packages_installed")
    }


def test_the_devices_of_every_machine_are_sampled(two: Path, root: Path, ingest: Ingest) -> None:
    """Clocks may differ, because each file is in the folder of its machine."""
    (line,) = ingest(root, "--json").lines
    found = line["telemetry"]
    assert (found["devices"], found["samples"], found["memory_peak_mib"]) == (4, 20, 2001)
    assert (found["energy_j"], found["memory_mean_mib"]) == (4 * 4 * 100, 1500.5)
    assert {each["path"] for each in found["files"]} == {
        "logs/a/b/c/1/telemetry.csv", "logs/a/b/c/1/node1/telemetry.csv",
    }  # fmt: skip


@pytest.mark.parametrize("name", ["node1/train.log", "ranks/1.log", "node1/environment.json", "environment.json"])
def test_a_changed_or_missing_part_is_a_problem_and_the_run_stays(
    name: str, two: Path, root: Path, ingest: Ingest
) -> None:
    (two / name).write_text("changed")
    called = ingest(root, "--json")
    assert called.codes == {f"logs/a/b/c/1/{name}": "part_changed"}
    assert (called.code, called.lines[0]["published"]) == (1, True)
    (two / name).unlink()
    called = ingest(root, "--json")
    assert called.codes == {f"logs/a/b/c/1/{name}": "part_changed"}
    assert (called.lines[0]["environment_details"] is None) is (name == "environment.json")


def test_an_unnamed_log_in_a_subfolder_is_a_problem_and_not_a_run(two: Path, root: Path, ingest: Ingest) -> None:
    (two / "node1/old.log").write_text(made_runs.log_of("PyTorch", [40.0] * 50))
    called = ingest(root, "--json")
    assert len(called.lines) == 1
    assert ["node1/old.log: is in the folder of a run" in each for each in called.problems] == [True]


def launched(folder: Path) -> None:
    """Make a run that was started and not collected."""
    (folder / "incoming/node0").mkdir(parents=True)
    (folder / "launch.json").write_text('{"schema": "perfledger.launch/1"}')
    for name in ("train.log", "incoming/node0/train.log"):
        (folder / name).write_text(made_runs.log_of("PyTorch", [40.0] * 50))


def test_an_uncollected_run_is_a_problem_and_not_a_run(root: Path, ingest: Ingest) -> None:
    made_runs.write(root / "a/b/c/1")
    launched(root / "a/b/c d/2")
    called = ingest(root, "--json", "--out", root.parent / "docs")
    assert [each["path"] for each in called.lines] == ["logs/a/b/c/1/train.log"]
    (problem,) = called.problems
    assert called.codes == {"logs/a/b/c d/2": "unfinished"}
    assert problem.endswith("python -m runners collect 'logs/a/b/c d/2'")
    assert called.code == 1
    for language in ("en", "zh"):
        page = (root.parent / f"docs/{language}/problems.md").read_text("utf-8")
        assert "python -m runners collect" in page


def test_an_uncollected_run_publishes_no_private_text(root: Path, ingest: Ingest) -> None:
    made_runs.write(root / "a/b/c/1")
    launched(root / "gpu7.corp/b/c/2")
    ingest(root, "--out", root.parent / "docs")
    published = unpacked(root.parent / "docs")
    assert published
    assert [name for name, data in published.items() if b"gpu7.corp" in data] == []


def test_leftover_files_of_a_collected_run_are_not_read(two: Path, root: Path, ingest: Ingest) -> None:
    launched(two / "left")
    (two / "left").rename(two / "x")
    for name in ("launch.json", "incoming"):
        (two / "x" / name).rename(two / name)
    (two / "x/train.log").unlink()
    called = ingest(root, "--json")
    assert (len(called.lines), called.problems) == (1, [])


@pytest.mark.parametrize("text", ["{}", '{"schema": "other/1"}', "", '{"version": "0.2.0", "configurations": []}'])
def test_files_of_our_names_from_other_programs_hide_no_log(text: str, root: Path, ingest: Ingest) -> None:
    write_run(root, "made/run", seg([4.0] * 9), run=run_json())
    (root / "launch.json").write_text(text)
    (root / "run.json").write_text(text)
    called = ingest(root, "--json")
    assert [each["path"] for each in called.lines] == ["logs/made/run/train.log"]


def test_a_run_within_the_folder_of_another_is_its_own(root: Path, ingest: Ingest) -> None:
    made_runs.write(root / "a/b/c/1")
    made_runs.write(root / "a/b/c/1/again", repeat=2)
    called = ingest(root, "--json")
    assert (called.problems, len(called.lines)) == ([], 2)


def test_a_part_is_read_again_only_if_it_changed(two: Path, root: Path, ingest: Ingest) -> None:
    out = root.parent / "docs"
    assert "1 log read" in ingest(root, "--out", out).out
    assert "0 logs read" in ingest(root, "--out", out).out
    (two / "node1/train.log").write_text("changed")
    assert ingest("check", root, "--out", out).code == 2
    assert "1 log read" in ingest(root, "--out", out).out
    (shard,) = (out / "data/runs").glob("*.jsonl")
    assert [each["code"] for each in json.loads(shard.read_text())["problems"]] == ["part_changed"]


def test_load_and_memory_of_a_machine_without_accelerators(root: Path, ingest: Ingest) -> None:
    """The figures are of the machine; they do not show the needs of the run itself."""
    made_runs.write(root / "a/b/c/1")
    called = ingest(root, "--json", "--out", root.parent / "docs")
    (line,) = called.lines
    found = line["telemetry"]
    assert called.problems == []
    assert {key: found[key] for key in KEYS if found[key] is not None} == pytest.approx(
        {"host_memory_peak_mib": 4010, "host_memory_total_mib": 24064, "load_peak": 2.0, "host_memory_mean_mib": 4005,
         "load_mean": 1.5, "cpu_mean": 55.5}
    )  # fmt: skip
    assert (found["devices"], found["samples"]) == (None, 11)
    assert "memory" not in line["metrics"]
    said = {
        "en": ["including other processes", "Mean CPU utilization, all cores (%)"],
        "zh": ["包含其他程序", "CPU 平均利用率"],
    }
    for language, texts in said.items():
        (page,) = (root.parent / f"docs/{language}/runs").glob("a-b-c-1*.md")
        assert [each for each in texts if each not in page.read_text("utf-8")] == []


# ---- environment.json ----

WRONG: dict[str, Any] = {
    "another schema": made_runs.ENVIRONMENT | {"schema": "perfledger.environment/2"},
    "topology without end": made_runs.ENVIRONMENT | {"topology": "x" * 15_001},
    "a package is a number": made_runs.ENVIRONMENT | {"packages_installed": [5]},
    "ports are a text": made_runs.ENVIRONMENT | {"infiniband": "x"},
    "a GPU holds a list": made_runs.ENVIRONMENT | {"gpus": [{"name": []}]},
    "deep": made_runs.ENVIRONMENT | {"facts": {"a": {"b": {"c": {"d": {"e": {"f": {"g": {"h": 1}}}}}}}}},
}


@pytest.mark.parametrize("fault", WRONG)
def test_an_invalid_environment_is_a_problem_and_is_left_out(fault: str, tmp_path: Path) -> None:
    raw = json.dumps(WRONG[fault]).encode()
    (tmp_path / "environment.json").write_bytes(raw)
    files = {"environment.json": {"sha256": hashlib.sha256(raw).hexdigest()}}
    given = RunJsonFile(from_json(run_json(files=files), RunJson))
    found, (problem,) = environment_json.details_of(Input(tmp_path / "train.log", "logs/x/train.log"), given)
    assert (found, problem.code, problem.path) == (None, "wrong_file", "logs/x/environment.json")
    assert len(problem.args["cause"]) <= 201


# ---- results ----


def typed(lines: list[dict[str, Any]]) -> list[Run]:
    return [from_json(each, Run) for each in lines]


def test_frameworks_are_compared_in_the_unit_of_the_models_page(root: Path, ingest: Ingest) -> None:
    """Keras and MXNet print samples, which are images for ResNet-50, and PyTorch and JAX print images."""
    for framework in made_runs.PACKAGES:
        for repeat in (1, 2, 3):
            python = {"numpy": f"1.{repeat}"}
            made_runs.write(root / f"a/{framework}/c/{repeat}", framework=framework, repeat=repeat, packages=python)
    called = ingest(root, "--json")
    assert called.problems == []
    found = {each.framework: (each.unit, each.repeats, each.version) for each in results(typed(called.lines))}
    assert found == dict.fromkeys(made_runs.PACKAGES, ("images/s", 3, "1.0"))
    printed = {line["figures"]["sustained"]["unit"] for line in called.lines}
    assert printed == {"images/s", "samples/s"}


@pytest.mark.parametrize("outcome", ["short", "timeout", "stopped", "failed", "oom"])
def test_a_run_that_did_not_end_well_gives_no_figure_to_a_result(outcome: str, root: Path, ingest: Ingest) -> None:
    made_runs.write(root / "a/b/c/1", outcome=outcome)
    made_runs.write(root / "a/b/d/1", batch_size=32)
    made_runs.write(root / "a/b/d/2", batch_size=32, repeat=2, outcome=outcome, speeds=[4000.0] * 50)
    alone, other = results(typed(ingest(root, "--json").lines))
    assert (alone.repeats, alone.outcome) == (0, outcome)
    assert alone.reason == Reason("outcome", {"outcome": outcome})
    assert (other.repeats, other.value) == (1, pytest.approx(40.1))


BUSY = "the processors of this host are 51 % busy before the run: something else computes here"
CALM = "the driver is 550.1, and was 535.1 in repeat 1"


@pytest.mark.parametrize(
    ("more", "disturbances", "warnings", "published"),
    [
        ({"disturbances": ["other work"]}, ["other work"], None, False),
        ({"disturbances": ["other work"], "accept_disturbed": True}, ["other work"], None, True),
        # Earlier runners wrote disturbances among the warnings.
        ({"warnings": [CALM, BUSY]}, [BUSY], [CALM], False),
        ({"warnings": [f"node 1: {BUSY}"]}, [f"node 1: {BUSY}"], None, False),
        (
            {"warnings": ["GPU 3 is busy: processes on it 1, utilisation 99 %, memory 1 of 9 MiB"]},
            ["GPU 3"],
            None,
            False,
        ),
        ({"warnings": [CALM]}, None, [CALM], True),
        ({"warnings": [f"a text that quotes: {BUSY}"]}, None, [f"a text that quotes: {BUSY}"], True),
    ],
)
def test_a_disturbed_run_is_read_and_not_published(
    root: Path,
    ingest: Ingest,
    more: dict[str, Any],
    disturbances: list[str] | None,
    warnings: list[str] | None,
    published: bool,
) -> None:
    made_runs.write(root / "a/b/c/1", **more)
    called = ingest(root, "--json")
    (line,) = called.lines
    # A disturbed run is not a problem, because the user need not change anything.
    assert (called.code, called.problems) == (0, [])
    assert line["figures"]["sustained"]["value"] == pytest.approx(40.1)
    found = line.get("disturbances")
    assert (found and found[0][:5]) == (disturbances and disturbances[0][:5])
    assert (line["warnings"], line["published"]) == (warnings, published)


HOST = "timestamp,load_1m,cpu_percent,memory_used_mib,memory_total_mib,disk_read_mib_s,disk_written_mib_s\n" + "".join(
    f"2026-11-20T08:00:0{second}Z,1.00,50.0,4000,24064,{100 + second}.0,2.0\n" for second in range(5)
)


def test_telemetry_of_the_machine_is_added_to_that_of_its_gpus(root: Path, ingest: Ingest) -> None:
    """Each figure comes from its own file, and the devices are the GPUs."""
    files = {"telemetry.csv": gpus(8, 1000), "telemetry-host.csv": HOST}
    made_runs.write(root / "a/b/c/1", devices=2, files=files)
    called = ingest(root, "--json", "--out", root.parent / "docs")
    (line,) = called.lines
    assert called.problems == []
    found = line["telemetry"]
    assert (found["devices"], found["energy_j"], found["memory_peak_mib"]) == (2, 2 * 4 * 100, 1001)
    assert (found["cpu_mean"], found["disk_read_mean_mib_s"], found["disk_written_mean_mib_s"]) == (50, 102, 2)
    assert [each["printer"] for each in found["files"]] == ["nvidia_smi_csv", "host_csv"]


def test_samples_of_a_whole_gpu_are_left_out_of_a_slice(root: Path, ingest: Ingest) -> None:
    folder = root / "a/b/c/1"
    made_runs.write(folder, devices=2, files={"telemetry.csv": gpus(8, 1000)})
    said = json.loads((folder / "run.json").read_text())
    said["case"]["hardware"] = "NVIDIA A100-SXM4-40GB (MIG 1g.5gb)"
    (folder / "run.json").write_text(json.dumps(said))
    called = ingest(root, "--json", "--out", root.parent / "docs")
    (line,) = called.lines
    assert (called.problems, line["case"]["hardware"]) == ([], "A100-SXM4-40GB (MIG 1g.5gb)")
    assert {"memory", "energy_per_sample", "peak_share"}.isdisjoint(line["metrics"])
    assert peak_of("A100-SXM4-40GB", "fp32")
    assert peak_of("A100-SXM4-40GB (MIG 1g.5gb)", "fp32") is None
