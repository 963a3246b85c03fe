"""What redaction takes out of real logs, by rule: each entry was looked at, and a further one must be, too."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from perfledger.ingest import check_secrets
from perfledger.schema.redaction import redact
from tests.corpus import ROOT, corpus

#: Nothing at all of our own logs. Of others': paths of data and of Python's files; the loopback of a job's own network;
#: jobs in paths; `root@localhost` and accounts such as `six@gpu`; the machine of a pod.
OURS: dict[str, int] = {}
OTHERS = {
    "paddle-perf": {"path": 113, "private-network-address": 74, "job-of-a-cluster": 20, "user-at-an-address": 1},
    "public": {"path": 95, "path-of-windows": 1872, "user-at-an-address": 8, "internal-host": 2},
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


def test_nothing_is_taken_out_of_our_own_logs() -> None:
    assert taken(ROOT / "raw_logs") == OURS


@pytest.mark.parametrize("below", OTHERS)
def test_what_is_taken_out_of_the_logs_of_others_is_known(below: str) -> None:
    assert taken(corpus(below)) == OTHERS[below]
