"""What redaction takes out of real logs, by rule: each entry was looked at, and a further one must be, too."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from perfledger.ingest import check_secrets
from perfledger.schema.redaction import redact
from tests.corpus import ROOT, corpus

#: Of our own logs: folders of the Python environments. Of others': paths of data, of Python's files and of modules;
#: addresses of a job's own network; jobs in paths; `root@localhost` and accounts such as `six@gpu`; hosts, and the
#: UUIDs of GPUs.
OURS = {"path": 50}
OTHERS = {
    "paddle-perf": {"path": 154, "network-address": 74, "job-of-a-cluster": 2, "user-at-an-address": 1},
    "public": {
        "path": 2327,
        "path-of-windows": 1872,
        "path-of-a-home": 1,
        "user-at-an-address": 8,
        "named-host": 14,
        "internal-host": 2,
        "host-of-a-message": 2,
        "numbered-host": 1,
        "device-number": 16,
        "network-address": 8,
    },
}


@pytest.fixture(autouse=True)
def unhurried(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let no block be cut out whole because a busy machine held up its search: what is counted is what is found."""
    monkeypatch.setattr(redact, "_TIMEOUT_SECONDS", 240.0)


def taken(folder: Path) -> dict[str, int]:
    found = Counter[str]()
    for path in check_secrets.files(folder):
        found.update(each.rule for each in check_secrets.found_in(path))
    return dict(found)


def test_only_paths_are_redacted_in_our_own_logs() -> None:
    assert taken(ROOT / "raw_logs") == OURS


@pytest.mark.parametrize("below", OTHERS)
def test_what_is_taken_out_of_the_logs_of_others_is_known(below: str) -> None:
    assert taken(corpus(below)) == OTHERS[below]
