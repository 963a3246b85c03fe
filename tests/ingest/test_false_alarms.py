"""Texts that redaction removes from real logs, counted by rule. Review each new entry by hand."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from perfledger.ingest import check_secrets
from perfledger.schema.redaction import redact
from tests.corpus import ROOT, corpus

#: Our own logs have folders of Python environments. Public logs have paths of data, Python's files and modules,
#: addresses of a job's own network, jobs in paths, `root@localhost` and accounts such as `six@gpu`, hosts (also in
#: folders of TensorBoard), and UUIDs of GPUs.
OURS = {"path": 50}
OTHERS = {
    "paddle-perf": {
        "path": 154,
        "network-address": 74,
        "job-of-a-cluster": 2,
        "user-at-an-address": 1,
        "host-of-a-message": 2,
    },
    "public": {
        "path": 2327,
        "path-of-windows": 1872,
        "path-of-a-home": 1,
        "user-at-an-address": 8,
        "named-host": 14,
        "internal-host": 2,
        "host-of-a-message": 4,
        "host-of-a-system": 4,
        "device-number": 16,
        "network-address": 8,
    },
}


@pytest.fixture(autouse=True)
def unhurried(monkeypatch: pytest.MonkeyPatch) -> None:
    """Extend the timeout, so that a busy machine does not remove whole blocks."""
    monkeypatch.setattr(redact, "_TIMEOUT_SECONDS", 240.0)


def taken(folder: Path) -> dict[str, int]:
    found = Counter[str]()
    for path in check_secrets.files(folder):
        found.update(each.rule for each in check_secrets.found_in(path))
    return dict(found)


def test_only_paths_are_redacted_in_our_own_logs() -> None:
    assert taken(ROOT / "raw_logs") == OURS


@pytest.mark.parametrize("below", OTHERS)
def test_redactions_in_public_logs_are_the_known_ones(below: str) -> None:
    assert taken(corpus(below)) == OTHERS[below]
