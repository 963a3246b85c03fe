"""From the files of nodes to a finished run: verified, merged, never half-written and never overwriting."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from perfledger.runners import ingest_link, record
from perfledger.runners.cli import main
from perfledger.runners.job import RequiredRecords, RunnerError
from perfledger.runners.record import finish, published
from perfledger.runners.settings import Settings
from perfledger.schema.run_json import RunJson
from tests.runners.arrivals import FACTS, LINE, arrive, begun, launched, lost, stated
from tests.runners.home import load


def outcome_after(folder, *more):
    """Finish a run, and return the outcome of its run.json."""
    finish(folder, *more)
    return load(folder / "run.json")["outcome"]


@pytest.fixture
def folder(write_recipe, tmp_path):
    """Make a run of one node, before its files arrive."""
    return begun(write_recipe("true"), tmp_path)


@pytest.fixture
def pair(write_recipe, tmp_path):
    """Make a run of two nodes, before their files arrive."""
    return begun(write_recipe("true"), tmp_path, nodes=2)


def names(folder):
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}


def test_collect_writes_run_json_and_clears_up(folder):
    arrive(folder, 0)
    assert outcome_after(folder, launched(folder)) == "completed"
    assert names(folder) == {"run.json", "train.log", "environment.json"}
    found = load(folder / "run.json")
    assert found["case"]["hardware"] == "A CPU, 4 cores (CPU)"
    assert found["files"] == stated(folder)
    assert "nodes" not in found
    assert "warnings" not in found


def test_logs_of_ranks_keep_their_paths(folder):
    node = arrive(folder, 0)
    (node / "ranks/1").mkdir(parents=True)
    (node / "ranks/1/stdout.log").write_text("rank 1\n")
    host = load(node / "host.json") | {"files": stated(node, ("train.log", "ranks/1/stdout.log"))}
    (node / "host.json").write_text(json.dumps(host))
    finish(folder, launched(folder))
    assert set(load(folder / "run.json")["files"]) == {"train.log", "ranks/1/stdout.log"}
    assert (folder / "ranks/1/stdout.log").read_text() == "rank 1\n"


def test_files_of_a_launcher_with_variables_of_the_user_are_dropped(folder):
    node = lost(folder, 0)
    (node / "ranks/paddle").mkdir(parents=True)
    for name in ("envlog.0", "backup_env.0.json", "default.pod.log", "workerlog.0"):
        (node / "ranks/paddle" / name).write_text("TOKEN=secret")
    finish(folder, launched(folder), "the host was restarted")
    assert names(folder) == {"run.json", "train.log", "environment.json", "ranks/paddle/workerlog.0"}


def test_files_are_on_the_disk_before_run_json_names_them(folder, monkeypatch):
    kept = []
    monkeypatch.setattr(os, "fsync", lambda file: kept.append(Path(f"/proc/self/fd/{file}").readlink().name))
    arrive(folder, 0)
    finish(folder, launched(folder))
    assert kept == [".train.log.partial", ".environment.json.partial", ".run.json.partial"]


def test_the_first_node_is_on_top_and_the_others_have_folders(pair):
    arrive(pair, 0, log=LINE.format(step=1) + LINE.format(step=2))
    arrive(pair, 1, log="silent\n", outcome="failed")
    assert outcome_after(pair, launched(pair)) == "failed"
    assert names(pair) == {
        "run.json", "train.log", "environment.json", "node1/train.log", "node1/environment.json",
    }  # fmt: skip
    found = load(pair / "run.json")
    assert (found["records"]["count"], found["exit_status"]) == (2, 1)
    assert found["nodes"] == [
        {"folder": ".", "outcome": "completed", "exit_status": 0},
        {"folder": "node1", "outcome": "failed", "exit_status": 1},
    ]
    assert "invalid" not in (pair / "run.json").read_text()


@pytest.mark.parametrize(("every_node", "on_top", "beside"), [(True, "1", "node0"), (False, "0", "node1")])
def test_the_last_node_is_on_top_where_it_prints_the_figures(write_recipe, tmp_path, every_node, on_top, beside):
    folder = begun(write_recipe(node="last"), tmp_path, nodes=2, every_node=every_node)
    for rank in (0, 1):
        arrive(folder, rank, log=f"node {rank}\n")
    finish(folder, launched(folder))
    assert (folder / "train.log").read_text() == f"node {on_top}\n"
    assert (folder / beside / "train.log").exists()


@pytest.mark.parametrize(
    ("outcomes", "outcome"),
    [
        (("completed", "completed"), "completed"),
        (("completed", "failed"), "failed"),
        (("failed", "oom"), "oom"),
        (("oom", "timeout"), "timeout"),
        (("stopped", "oom"), "oom"),
        (("completed", "stopped"), "stopped"),
    ],
)
def test_the_strongest_outcome_of_the_nodes_is_that_of_the_run(pair, outcomes, outcome):
    for rank, each in enumerate(outcomes):
        arrive(pair, rank, each, log=LINE.format(step=1) if outcome == "completed" else "")
    assert outcome_after(pair, launched(pair)) == outcome


def test_a_lost_node_has_failed_and_its_partial_log_stays(pair):
    arrive(pair, 0)
    lost(pair, 1, log="half a li")
    with pytest.raises(RunnerError, match="node 1 has not said how it ended"):
        finish(pair, launched(pair))
    assert not (pair / "run.json").exists()
    assert outcome_after(pair, launched(pair), "the host was restarted") == "failed"
    found = load(pair / "run.json")
    assert found["warnings"] == ["node 1 was lost: the host was restarted"]
    assert found["nodes"][1] == {"folder": "node1", "outcome": "failed"}
    assert (pair / "node1/train.log").read_text() == "half a li"


def test_unknown_facts_of_a_lost_run_are_left_out(folder):
    lost(folder, 0)
    assert outcome_after(folder, launched(folder), "killed") == "failed"
    found = load(folder / "run.json")
    assert found["case"]["hardware"] == "unknown"
    assert not {"start", "end", "wall_seconds", "exit_status"} & set(found)


def test_a_run_without_any_file_is_finished_without_a_log(folder):
    assert outcome_after(folder, launched(folder), "its folder is not there") == "failed"
    found = load(folder / "run.json")
    assert (found["files"], found["case"]["hardware"], found["records"]["count"]) == ({}, "unknown", 0)


def test_a_file_that_differs_from_its_hash_is_refused(folder):
    node = arrive(folder, 0)
    (node / "train.log").write_text("changed")
    with pytest.raises(RunnerError, match="not as its node left it"):
        finish(folder, launched(folder))
    assert not names(folder) & {"run.json", "train.log"}
    assert (node / "train.log").read_text() == "changed"


@pytest.mark.parametrize("make", ["ln -s /etc/passwd", "mkdir", "true"])
def test_a_link_or_folder_in_place_of_a_file_is_refused(folder, make):
    node = arrive(folder, 0)
    (node / "train.log").unlink()
    subprocess.run([*make.split(), node / "train.log"], check=True)
    with pytest.raises(RunnerError, match="no such file, or a link"):
        finish(folder, launched(folder))
    assert not (folder / "run.json").exists()


def test_a_linked_folder_of_a_host_is_refused(folder):
    node = arrive(folder, 0)
    (folder / "secret").mkdir()
    (folder / "secret/0.log").write_text("secret")
    (node / "ranks").symlink_to(folder / "secret")
    host = load(node / "host.json") | {"files": stated(node, ("train.log", "ranks/0.log"))}
    (node / "host.json").write_text(json.dumps(host))
    with pytest.raises(RunnerError, match="no such file, or a link"):
        finish(folder, launched(folder))


@pytest.mark.parametrize(
    "text", ["[]", "{", '{"schema": "perfledger.host/2"}', '{"schema": "perfledger.host/1"}', "[" * 9999]
)
def test_an_invalid_host_json_leaves_the_run_unfinished(folder, text):
    node = lost(folder, 0)
    (node / "host.json").write_text(text)
    with pytest.raises(RunnerError, match=r"host\.json"):
        finish(folder, launched(folder))
    assert (node / "train.log").exists()
    assert (folder / "launch.json").exists()


def test_another_log_that_is_there_already_is_not_overwritten(folder):
    arrive(folder, 0)
    (folder / "train.log").write_text("an earlier one")
    with pytest.raises(RunnerError, match="is not overwritten"):
        finish(folder, launched(folder))
    assert (folder / "train.log").read_text() == "an earlier one"


@pytest.mark.parametrize("step", ["writing run.json", "clearing up"])
def test_collecting_may_be_interrupted_anywhere_and_repeated(folder, monkeypatch, step):
    arrive(folder, 0)

    def fail(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        if step == "writing run.json":
            patch.setattr(record, "write", fail)
        else:
            patch.setattr(record.shutil, "rmtree", fail)
        with pytest.raises(KeyboardInterrupt):
            finish(folder, launched(folder))
    assert (folder / "incoming/node0/train.log").exists()
    assert outcome_after(folder, launched(folder)) == "completed"
    assert names(folder) == {"run.json", "train.log", "environment.json"}


@pytest.mark.skipif(os.geteuid() != 0 or not shutil.which("mount"), reason="only root may mount a small disk")
def test_a_full_disk_loses_nothing(write_recipe, tmp_path):
    disk = tmp_path / "raw"
    disk.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=160k", "tmpfs", disk], check=False).returncode:
        pytest.skip("no small disk can be mounted here")
    try:
        folder = begun(write_recipe("true"), tmp_path)
        arrive(folder, 0, log=LINE.format(step=1) * 600)
        with pytest.raises(RunnerError, match="make room"):
            finish(folder, launched(folder))
        assert names(folder) >= {"launch.json", "incoming/node0/train.log"}
        assert not names(folder) & {"run.json", "train.log"}
        subprocess.run(["mount", "-o", "remount,size=2m", disk], check=True)
        assert outcome_after(folder, launched(folder)) == "completed"
    finally:
        subprocess.run(["umount", disk], check=True)


def test_the_source_has_the_commit_found_on_the_node(write_recipe, tmp_path):
    path = write_recipe("true", more='[source]\nrepository = "a/b"\ncommit = "0123456789"\n')
    folder = begun(path, tmp_path)
    arrive(folder, 0, source={"commit": "abcdef", "modified": True})
    finish(folder, launched(folder))
    assert load(folder / "run.json")["source"] == {"repository": "a/b", "commit": "abcdef", "modified": True}


def test_records_name_no_host_address_or_folder(pair):
    arrive(pair, 0, warnings=["the sources in /home/me/sources/x are not at the recipe's commit"])
    lost(pair, 1)
    finish(pair, launched(pair), "host1.invalid: there is no space left in /scratch/jobs (10.0.0.7)")
    assert load(pair / "run.json")["warnings"] == [
        "node 1 was lost: node 1: there is no space left in <path> (<address>)",
        "node 0: the sources in <path>/x are not at the recipe's commit",
    ]


def test_what_a_run_states_is_committed_without_secrets(folder):
    token = "gh" + "p_" + "Qz7Wk3" * 6
    arrive(folder, 0, facts={**FACTS, "driver": f"of {token} on 10.0.0.7"})
    finish(folder, launched(folder))
    assert load(folder / "run.json")["environment"]["driver"] == "of <token> on <address>"
    assert not [path for path in folder.rglob("run.json") if token in path.read_text("utf-8")]


def test_redaction_hides_hosts_with_users_but_not_parts_of_words():
    hosts = ("me@gpu1", "gpu11")
    assert published("me@gpu1: gpu11 and gpu1, not gpu1x", hosts) == "node 0: node 1 and node 0, not gpu1x"
    assert published("3/4 at 12:30:01, ::1, fe80::1:2, /home/me/x", ()) == "3/4 at 12:30:01, ::1, <address>, <path>/x"
    assert published("std::bad_alloc", ()) == "std::bad_alloc"


def test_files_are_written_whole_or_not_at_all(tmp_path):
    record.write(tmp_path / "a.json", b"before")
    (tmp_path / ".a.json.partial").mkdir()
    with pytest.raises((RunnerError, OSError)):
        record.write(tmp_path / "a.json", b"after")
    assert (tmp_path / "a.json").read_text() == "before"


def test_unusable_records_do_not_count(tmp_path):
    log = tmp_path / "train.log"
    # Keras' own lines: too short an epoch is printed as of one second, of three milliseconds a step.
    lines = ["1s 3ms/step", "12s 120ms/step", "1s 3ms/step", "11s 110ms/step"]
    bar = "100/100 [==============================] -"
    log.write_text("".join(f"Epoch {n}/4\n{bar} {line} - loss: 0.5\n" for n, line in enumerate(lines, start=1)))
    assert ingest_link.count_records(ingest_link.log_figures(log, RunJson(schema="perfledger.run/1"))) == {
        "frameworks.keras": 2
    }


@pytest.mark.parametrize(
    ("found", "said"),
    [
        ({"a.b": 2}, ""),
        ({"a.b": 1, "c.d": 9}, "the log holds 1 records, and the recipe asks for 2"),
        ({}, "the log is not in the recipe's format a.b: no format knows it"),
        ({"c.d": 9}, "the log is not in the recipe's format a.b: it is in c.d"),
    ],
)
def test_a_log_with_too_few_records_is_short_with_a_reason(found, said):
    assert ingest_link.shortfall(found, RequiredRecords("a.b", 2)) == said


def test_a_run_without_a_log_is_not_said_to_be_in_another_format(write_recipe, tmp_path, capfd):
    folder = begun(write_recipe("true"), tmp_path)
    assert main(["collect", str(folder)]) == 1
    losses = ["node 0 was lost: its folder is not there any more", "nothing was logged"]
    assert load(folder / "run.json")["warnings"] == losses
    assert f"{folder}: failed (its log is empty)" in capfd.readouterr().out


def test_disturbances_are_a_kind_of_their_own_and_acceptance_is_recorded(write_recipe, tmp_path):
    path = write_recipe("true")
    for accepted in (False, True):
        folder = begun(path, tmp_path, settings=Settings(if_busy="count" if accepted else "refuse"))
        arrive(folder, 0, warnings=["it is warm"], disturbances=["other work"])
        finish(folder, launched(folder))
        found = load(folder / "run.json")
        assert (found["warnings"], found["disturbances"]) == (["it is warm"], ["other work"])
        assert found.get("accept_disturbed", False) == accepted
