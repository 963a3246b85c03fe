"""Names of hosts and users: a host has one pseudonym in all published texts of a log, and other words stay."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from made_logs import run_json, seg
from made_trees import Called, contents, write_run
from msgspec.structs import replace

from perfledger.schema.records import Problem
from perfledger.schema.redaction.names import NO_NAMES, names_in
from perfledger.schema.redaction.redact import redact_record, redacted, redacted_text

NCCL = "{}:4242:4299 [0] NCCL INFO NET/IB : Using"


def through(*lines: str) -> list[str]:
    names = names_in(["\n".join(lines)])
    return redacted_text(lines, names)[0]


def test_a_host_is_one_pseudonym_by_order_of_appearance() -> None:
    assert through(
        NCCL.format("zgx-b7"), NCCL.format("zgx-a1"), "zgx-b7 waits for zgx-a1.cluster.local", "HOSTNAME=zgx-a1"
    ) == [
        NCCL.format("host-1"),
        NCCL.format("host-2"),
        "host-1 waits for host-2",
        "HOSTNAME=host-2",
    ]


def test_hosts_whose_names_differ_in_numbers_are_hosts() -> None:
    assert through("HOSTNAME=zgx-b17", "ok: ['zgx-b17', 'zgx-b9']", "HOSTNAME=llama-0", "llama-3 8B") == [
        "HOSTNAME=host-1",
        "ok: ['host-1', '<host>']",
        "HOSTNAME=host-2",
        "llama-3 8B",
    ]
    assert through("nodes=zibex[05-06]", "x zibex05", "y zibex06")[1:] == ["x host-1", "y <host>"]
    assert through(NCCL.format("zgx-b17"), NCCL.format("zgx-b18"), "at zgx-b18")[2] == "at host-2"


def test_a_user_who_is_named_once_is_removed_everywhere() -> None:
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


def test_only_whole_names_are_replaced() -> None:
    assert through("USER=zoltan", "zoltans /zoltan x.zoltan zoltan") == [
        "USER=<user>",
        "zoltans /<user> x.zoltan <user>",
    ]


def test_a_name_without_a_number_stays_a_host() -> None:
    """The names of a log may be unknown, for example in the run.json of another log."""
    assert redacted(NCCL.format("zgx-b7")) == NCCL.format("<host>")


def test_facts_codes_and_paths_are_not_replaced_by_names_of_a_log() -> None:
    names = names_in(["USER=resnet50v", "LOGNAME=too_few", "USERNAME=paddleseg2"])
    problem = Problem("too_few", "logs/resnet50v/x.log", args={"printed": "of resnet50v", "fact": "resnet50v"})
    found = redact_record(problem, lambda: names)
    assert found == replace(problem, args={"printed": "of <user>", "fact": "resnet50v"})


def test_names_in_a_record_are_numbered_after_those_of_its_log() -> None:
    problem = Problem("x", args={"printed": "HOSTNAME=zgx-c3", "cause": "zgx-a1"})
    assert redact_record(problem, lambda: names_in(["HOSTNAME=zgx-a1"])).args == {
        "printed": "HOSTNAME=host-2",
        "cause": "host-1",
    }


def test_a_user_with_the_name_of_a_format_changes_nothing(tmp_path: Path, ingest: Callable[..., Called]) -> None:
    lines = seg([4.0, *[5.0] * 5])
    named = ["USER=dlperf", "USER=paddle_seg", "USER=DeepLabV3", "LOGNAME=completed", "USER=sustained", "USER=images"]
    write_run(tmp_path / "logs", "seg/paddleseg/x/1", lines)
    write_run(tmp_path / "others", "seg/paddleseg/x/1", [*named, *lines])
    runs = [ingest(tmp_path / name, "--json").lines[0] for name in ("logs", "others")]
    for name in ("case", "facts", "format", "outcome", "rule", "metrics", "observations"):
        assert without_lines(runs[0][name]) == without_lines(runs[1][name])


def without_lines(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: without_lines(each) for key, each in value.items() if "line" not in key and key != "where"}
    return value


def test_at_most_a_thousand_names_of_hosts_are_collected() -> None:
    found = names_in("\n".join(f"HOSTNAME=zgx{letter}{number}" for number in range(500)) for letter in "abcdef")
    assert len(found.hosts) == 1000
    assert names_in(["no names"]) == NO_NAMES


def test_page_and_record_have_the_same_pseudonym(tmp_path: Path, ingest: Callable[..., Called]) -> None:
    run = run_json(notes="zgx-b7 was slow, zgx-a1 was not")
    log = [NCCL.format("zgx-a1"), NCCL.format("zgx-b7"), *seg([4.0, *[5.0] * 5])]
    write_run(tmp_path / "logs", "seg/paddleseg/x/1", log, run=run)
    called = ingest(tmp_path / "logs", "--out", tmp_path / "docs", "--json")
    assert called.lines[0]["notes"] == "host-2 was slow, host-1 was not"
    pages = b"".join(data for name, data in contents(tmp_path / "docs").items() if name.startswith("logs/"))
    assert b"host-1:4242" in pages
    assert b"zgx" not in pages


@pytest.mark.parametrize(("user", "after"), [("zol", "zol waits"), ("zola", "<user> waits"), ("zolan", "<user> waits")])
def test_a_name_of_four_letters_is_removed_everywhere(user: str, after: str) -> None:
    """Shorter names may be part of any text."""
    assert through(f"USER={user}", f"{user} waits") == ["USER=<user>", after]
