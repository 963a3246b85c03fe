"""Names of hosts and users: one host is one pseudonym in all that is published of a log, and words stay words."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from made_logs import run_json, seg
from made_trees import Called, contents, write_run

from schema.records import Problem
from schema.redaction.names import NO_NAMES, names_in
from schema.redaction.redact import redact_record, redacted, redacted_lines

NCCL = "{}:4242:4299 [0] NCCL INFO NET/IB : Using"


def through(*lines: str) -> list[str]:
    names = names_in(["\n".join(lines)])
    return [line for block in redacted_lines(lines, names) for line in block.lines or ()]


def test_a_host_is_one_pseudonym_by_order_of_appearance() -> None:
    assert through(
        NCCL.format("zgx-b7"), NCCL.format("zgx-a1"), "zgx-b7 waits for zgx-a1.cluster.local", "HOSTNAME=zgx-a1"
    ) == [
        NCCL.format("host-1"),
        NCCL.format("host-2"),
        "host-1 waits for host-2",
        "HOSTNAME=host-2",
    ]


def test_a_user_who_is_named_once_is_gone_everywhere() -> None:
    assert through("USER=zoltan", "data of zoltan, zoltan's and zoltan_2") == [
        "USER=<user>",
        "data of <user>, <user>'s and zoltan_2",
    ]
    assert through("/home/zoltan/.local/lib/x.py: zoltan", "C zoltan")[1] == "C <user>"


@pytest.mark.parametrize(
    "line",
    [
        "USER=root, root mean square",
        "USER=abc, abc",
        "HOSTNAME=gpu0 then gpu0: 95 %",
        "USER=data, data loader",
        "/home/models/x models",
        "USER=4242 step 4242",
    ],
)
def test_a_word_of_every_log_stays(line: str) -> None:
    assert through(line)[0].split()[1:] == line.split()[1:]


def test_a_name_is_whole() -> None:
    assert through("USER=zoltan", "zoltans /zoltan x.zoltan zoltan") == [
        "USER=<user>",
        "zoltans /<user> x.zoltan <user>",
    ]


def test_a_name_without_a_number_stays_a_host() -> None:
    """Where the names of a log are not known, such as in run.json beside another."""
    assert redacted(NCCL.format("zgx-b7")) == NCCL.format("<host>")


def test_facts_and_paths_are_what_they_are_whatever_a_log_names() -> None:
    names = names_in(["USER=resnet50v"])
    problem = Problem("empty", "logs/resnet50v/x.log", args={"printed": "of resnet50v"})
    found = redact_record(problem, names)
    assert (found.path, found.args) == ("logs/resnet50v/x.log", {"printed": "of <user>"})


def test_names_that_a_record_states_are_numbered_after_those_of_its_log() -> None:
    found = redact_record(Problem("x", args={"a": "HOSTNAME=zgx-c3", "b": "zgx-a1"}), names_in(["HOSTNAME=zgx-a1"]))
    assert found.args == {"a": "HOSTNAME=host-2", "b": "host-1"}


def test_a_log_of_endless_names_is_given_up() -> None:
    found = names_in("\n".join(f"HOSTNAME=zgx{letter}{number}" for number in range(500)) for letter in "abcdef")
    assert len(found.hosts) == 1000
    assert names_in(["no names"]) == NO_NAMES


def test_page_and_record_call_a_host_alike(tmp_path: Path, ingest: Callable[..., Called]) -> None:
    run = run_json(notes="zgx-b7 was slow, zgx-a1 was not")
    log = [NCCL.format("zgx-a1"), NCCL.format("zgx-b7"), *seg([4.0, *[5.0] * 5])]
    write_run(tmp_path / "logs", "seg/paddleseg/x/1", log, run=run)
    called = ingest(tmp_path / "logs", "--out", tmp_path / "docs", "--json")
    assert called.lines[0]["notes"] == "host-2 was slow, host-1 was not"
    pages = b"".join(data for name, data in contents(tmp_path / "docs").items() if name.startswith("logs/"))
    assert b"host-1:4242" in pages
    assert b"zgx" not in pages
