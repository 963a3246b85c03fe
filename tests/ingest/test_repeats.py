"""Logs of the same run: equal bytes, equal records, ranks, several formats, and names that disagree."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from made_logs import CLAS_BANNER, clas_dygraph, clas_static, paddle_rec, run_json, seg
from made_trees import Called, write_run

from perfledger.ingest.record.identity import _together

Ingest = Callable[..., Called]
#: (seconds, samples per second of a node) of four epochs.
EPOCHS = [(708.5, 15500.25), (690.25, 15940.5), (693.75, 15850.125), (701.0, 15600.75)]
CTR, WIDE = "CtrDnn/logs/CtrDnn_{}_16Thread_{}Node", "WideDeep/logs/WideDeep_{}_16Thread_{}Node"
SPEEDS = [20.0 + i / 8 for i in range(12)]


def write(root: Path, name: str, lines: list[str]) -> str:
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(f"{each}\n" for each in lines))
    return name


def problems(called: Called) -> dict[str, list[Any]]:
    """Return the problems of each log: code and other log, or fact and its two values."""
    found: dict[str, list[Any]] = {}
    for line in called.lines:
        for each in line["problems"]:
            args, path = each["args"], line["path"].partition("/")[2]
            if each["code"] == "contradiction":
                found.setdefault(path, []).append((args["fact"], args["first"], args["second"]))
            else:
                found.setdefault(path, []).append((each["code"], args["original"].partition("/")[2]))
    return found


def counted(called: Called) -> list[str]:
    return sorted(each["path"].partition("/")[2] for each in called.lines if each["published"])


def test_the_copy_whose_name_is_right_counts(tmp_path: Path, ingest: Ingest) -> None:
    """A log of 32 nodes has three names, and the first in the alphabet is wrong."""
    lines = paddle_rec(EPOCHS, trainers=32)
    names = [WIDE.format("DataLoader", 16), WIDE.format("DataLoader", 32), WIDE.format("DataSet", 4)]
    for name in names:
        write(tmp_path / "perf", name, lines)
    called = ingest(tmp_path / "perf", "--layout", "paddle-perf", "--json")
    assert counted(called) == [names[1]]
    assert problems(called) == {
        names[0]: [("nodes", "32", "16"), ("duplicate", names[1])],
        names[2]: [("reader", "DataLoader", "DataSet"), ("nodes", "32", "4"), ("duplicate", names[1])],
    }
    for line in called.lines:
        assert (line["duplicate_of"] is None) == line["published"]
    (by_nodes,) = (each for each in called.problems if "DataLoader_16Thread_16Node:" in each and "nodes" in each)
    assert "nodes: 32 (line 2) and 16 (layout paddle-perf)" in by_nodes


def test_a_log_that_prints_its_model_belongs_only_to_that_model(tmp_path: Path, ingest: Ingest) -> None:
    lines = paddle_rec(EPOCHS, trainers=8, reader="Dataset", job="CtrDnn_benchamrk_8_DataSet_async")
    right, wrong = CTR.format("DataSet", 8), WIDE.format("DataSet", 8)
    for name in (right, wrong):
        write(tmp_path / "perf", name, lines)
    called = ingest(tmp_path / "perf", "--layout", "paddle-perf", "--json")
    assert problems(called) == {wrong: [("model", "CTR-DNN", "Wide & Deep"), ("duplicate", right)]}
    assert counted(called) == [right]


def test_equal_logs_with_contradicting_names_are_both_refused(tmp_path: Path, ingest: Ingest) -> None:
    one, other = CTR.format("DataLoader", 4), WIDE.format("DataLoader", 4)
    for name in (one, other):
        write(tmp_path / "perf", name, paddle_rec(EPOCHS, trainers=4))
    called = ingest(tmp_path / "perf", "--layout", "paddle-perf", "--json")
    contradiction = ("model", "CTR-DNN", "Wide & Deep")
    assert problems(called) == {one: [contradiction], other: [("duplicate", one), contradiction]}
    assert counted(called) == []
    (first, second) = (each for each in called.problems if "Wide & Deep" in each)
    for each in (first, second):
        assert f"CTR-DNN (perf/{one}: layout paddle-perf) and Wide & Deep (perf/{other}: layout paddle-perf)" in each


def test_the_same_records_in_other_bytes_are_one_run(tmp_path: Path, ingest: Ingest) -> None:
    """PaddlePaddle/Perf has such a pair: one log has additional warnings, and the other has the wrong name."""
    right, wrong = CTR.format("DataLoader", 16), CTR.format("DataLoader", 8)
    write(tmp_path / "perf", right, paddle_rec(EPOCHS, trainers=16, warnings=5))
    write(tmp_path / "perf", wrong, paddle_rec(EPOCHS, trainers=16))
    called = ingest(tmp_path / "perf", "--layout", "paddle-perf", "--json")
    assert problems(called) == {wrong: [("nodes", "16", "8"), ("duplicate", right)]}
    assert counted(called) == [right]
    assert called.codes[f"perf/{wrong}"] == "duplicate"


@pytest.mark.parametrize(
    ("fact", "change"),
    [
        ("a speed", {"epochs": [*EPOCHS[:3], (701.0, 15600.875)]}),
        ("a time", {"epochs": [*EPOCHS[:3], (701.125, 15600.75)]}),
        ("one epoch more", {"epochs": [*EPOCHS, (700.0, 15601.5)]}),
        ("the number of nodes", {"trainers": 8}),
    ],
)
def test_runs_that_differ_in_one_fact_are_not_duplicates(
    tmp_path: Path, ingest: Ingest, fact: str, change: dict[str, Any]
) -> None:
    given: dict[str, Any] = {"epochs": EPOCHS, "trainers": 16}
    changed = given | change
    write(tmp_path / "perf", CTR.format("DataLoader", 16), paddle_rec(given["epochs"], trainers=16))
    other = CTR.format("DataLoader", changed["trainers"]).replace("CtrDnn/", "second/CtrDnn/")
    write(tmp_path / "perf", other, paddle_rec(changed["epochs"], trainers=changed["trainers"], warnings=1))
    called = ingest(tmp_path / "perf", "--layout", "paddle-perf", "--json")
    assert problems(called) == {}, fact
    assert len(counted(called)) == 2


@pytest.mark.parametrize(("records", "codes"), [(4, []), (12, ["duplicate"])])
def test_logs_with_few_equal_records_are_not_duplicates(
    tmp_path: Path, ingest: Ingest, records: int, codes: list[str]
) -> None:
    for folder in ("a", "b"):
        lines = [f"note {folder}", *seg(SPEEDS[:records])]
        write(tmp_path / "perf", f"{folder}/DeepLabV3P/logs/paddle/Deeplabv3_FP32_BS4-N1.log", lines)
    called = ingest(tmp_path / "perf", "--layout", "paddle-perf", "--json")
    found = [each["code"] for line in called.lines for each in line["problems"]]
    assert [each for each in found if each != "too_few"] == codes
    assert len(counted(called)) == 2 - len(codes)


def test_logs_whose_run_json_states_the_repeat_are_not_compared(tmp_path: Path, ingest: Ingest) -> None:
    for repeat in (1, 2):
        lines = [f"note {repeat}", *seg(SPEEDS)]
        write_run(tmp_path / "logs", f"seg/paddleseg/case/{repeat}", lines, run=run_json(repeat=repeat))
    called = ingest(tmp_path / "logs", "--json")
    assert called.problems == []
    assert [each["fingerprint"] for each in called.lines] == [None, None]


def test_a_duplicate_counts_after_its_original_is_removed(tmp_path: Path, ingest: Ingest) -> None:
    """The duplicate is not read again; only its entry in the ledger changes."""
    root, out = tmp_path / "perf", tmp_path / "docs"
    one, other = CTR.format("DataLoader", 16), WIDE.format("DataLoader", 16)
    for name in (one, other):
        write(root, name, paddle_rec(EPOCHS, trainers=16))
    arguments = (root, "--layout", "paddle-perf", "--out", out)
    first, second = (ingest(*arguments, "--json") for _ in range(2))
    assert first.lines == second.lines
    assert counted(second) == []
    (root / one).unlink()
    assert ingest(*arguments).code == 0
    (shard,) = (out / "data" / "runs").glob("*.jsonl")
    (line,) = map(json.loads, shard.read_text().splitlines())
    assert (line["published"], line["duplicate_of"], line["problems"]) == (True, None, [])


def of_two_ranks(
    root: Path, names: tuple[str, str], *, later: str = "", devices: int = 2, nodes: int = 1, dated: bool = True
) -> None:
    """Write logs of two ranks with slightly different speeds in the same hour, or the second in hour `later`."""
    for number, name in enumerate(names):
        lines = seg([each + number / 16 for each in SPEEDS])
        lines = [each.replace(" 11:", f" {later}:") if later and number else each for each in lines]
        lines = lines if dated else [each[20:] for each in lines]
        write(root, name, lines)
        (root / name).with_name("run.json").write_text(json.dumps(run_json(devices=devices, nodes=nodes)))


OF_RANKS = [
    ("job/workerlog.0", "job/workerlog.1"),
    ("job/rank_0/a.log", "job/rank_1/a.log"),
    ("job/local_rank=0.log", "job/local_rank=1.log"),
]
OF_MACHINES = [("node0/a.log", "node1/a.log"), ("job/host_0.log", "job/host_1.log")]


@pytest.mark.parametrize(
    ("names", "more"),
    [
        *((names, {"dated": dated}) for names in OF_RANKS for dated in (True, False)),
        *((names, {"devices": 16, "nodes": 2}) for names in OF_MACHINES),
    ],
)
def test_logs_of_ranks_or_machines_of_one_job_are_one_run(
    tmp_path: Path, ingest: Ingest, names: tuple[str, str], more: dict[str, Any]
) -> None:
    of_two_ranks(tmp_path / "logs", names, **more)
    called = ingest(tmp_path / "logs", "--json")
    assert problems(called) == {names[1]: [("other_log", names[0])]}
    assert counted(called) == [names[0]]


@pytest.mark.parametrize(
    ("names", "more"),
    [
        (("job/workerlog.0", "job/workerlog.1"), {"later": "13"}),
        (("job/workerlog.0", "job/workerlog.1"), {"devices": 1}),
        (("a/rank_0/a.log", "b/rank_0/a.log"), {}),
        (("job/a.log", "job/b.log"), {}),
        (("job/lora_rank_8/a.log", "job/lora_rank_16/a.log"), {"dated": False}),
        (("job/rank_0/a.log", "job/rank_1/a.log"), {"dated": False, "devices": 1}),
        (("node0/a.log", "node1/a.log"), {"devices": 8}),
        (("node0/a.log", "node1/a.log"), {"devices": 16, "nodes": 2, "later": "13"}),
    ],
    ids=[
        "hours apart",
        "one device",
        "two folders",
        "other names",
        "no numbers of ranks",
        "one device, no times",
        "a job of each machine",
        "machines, hours apart",
    ],
)
def test_logs_that_are_not_ranks_are_repeats(
    tmp_path: Path, ingest: Ingest, names: tuple[str, str], more: dict[str, Any]
) -> None:
    of_two_ranks(tmp_path / "logs", names, **more)
    called = ingest(tmp_path / "logs", "--json")
    assert problems(called) == {}
    assert counted(called) == sorted(names)


def test_sessions_of_one_file_at_the_same_time_are_ranks(tmp_path: Path, ingest: Ingest) -> None:
    """The file contains the logs of two ranks, one after the other. A second run would have later times."""
    lines = []
    for speed in (160.0, 161.0):
        lines.append(CLAS_BANNER)
        for number, line in enumerate(clas_dygraph([(1, 10 * each, speed) for each in range(1, 13)])):
            lines.append(line.replace("13:14:40", f"13:14:{number + 10}"))
    write(tmp_path / "logs", "job/train.log", lines)
    stated = run_json(model="ResNet50", devices=2, batch_size=16)
    (tmp_path / "logs/job/run.json").write_text(json.dumps(stated))
    called = ingest(tmp_path / "logs", "--json")
    assert problems(called) == {"job/train.log": [("other_log", "job/train.log")]}
    assert [each["session"] for each in called.lines if each["published"]] == [1]


def ticking(lines: list[str], hour: int) -> list[str]:
    """Return the lines with times that are 1 s apart, from 14 minutes past `hour`."""
    return [re.sub(r"\d\d:\d\d:\d\d", f"{hour}:14:{10 + number}", each, count=1) for number, each in enumerate(lines)]


#: A log of the job in one of two formats; both print the speed per device.
CONSOLE = ticking([CLAS_BANNER, *clas_dygraph([(1, 10 * each, 160.0) for each in range(1, 41)])], 13)


def in_two_formats(root: Path, second: str, speed: float, hour: int = 13) -> None:
    write(root, "job/train.log", CONSOLE)
    write(root, second, ticking(clas_static([(1, 10 * each, speed) for each in range(1, 41)]), hour))
    for folder in {root / "job", (root / second).parent}:
        (folder / "run.json").write_text(json.dumps(run_json(model="ResNet50", devices=1, batch_size=16)))


def test_a_run_with_logs_in_two_formats_counts_once(tmp_path: Path, ingest: Ingest) -> None:
    in_two_formats(tmp_path / "logs", "job/vis_data.log", 161.0)
    called = ingest(tmp_path / "logs", "--json")
    assert problems(called) == {"job/vis_data.log": [("other_log", "job/train.log")]}
    assert counted(called) == ["job/train.log"]


@pytest.mark.parametrize(
    ("second", "speed", "hour"),
    [("job/other.log", 190.0, 13), ("job2/other.log", 161.0, 13), ("job/other.log", 161.0, 15)],
    ids=["another figure", "another folder", "another time"],
)
def test_logs_in_two_formats_are_two_runs_if_figure_folder_or_time_differ(
    tmp_path: Path, ingest: Ingest, second: str, speed: float, hour: int
) -> None:
    in_two_formats(tmp_path / "logs", second, speed, hour)
    called = ingest(tmp_path / "logs", "--json")
    assert problems(called) == {}
    assert counted(called) == sorted(["job/train.log", second])


@pytest.mark.parametrize(("minutes", "expected"), [(54, True), (53, False)])
def test_ranks_share_nine_tenths_of_their_time(minutes: int, expected: bool) -> None:
    """Both logs were written for an hour."""
    begun, hour = datetime(2026, 11, 20, 8), timedelta(hours=1)
    later = begun + hour - timedelta(minutes=minutes)
    assert _together((begun, begun + hour), (later, later + hour)) == expected
