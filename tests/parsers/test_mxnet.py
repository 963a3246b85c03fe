"""MXNet's callbacks print one line for what may be a worker or a job; which, the head says."""

from __future__ import annotations

from pathlib import Path

import pytest

from ingest.compute import rules
from parsers.engine.read import read
from parsers.engine.session import Session
from schema.records import Figure

FIT = "2026-11-20 09:00:00,000 Node[0] start with arguments Namespace(batch_size=256, kv_store='{}', network='vgg')\n"
SPEEDS = "".join(
    f"2026-11-20 09:00:{i:02},000 Node[{{node}}] Epoch[0] Batch [{20 * i}]\tSpeed: {100 * i}.00 samples/sec\t"
    f"accuracy={i}.0\n"
    for i in range(1, 4)
)
ARCFACE = (
    "Called with argument: Namespace(batch_size=512, ctx_num=8, kvstore='{}', network='r100', per_batch_size=64) {{}}\n"
)
FACES = "".join(
    f"INFO:root:Epoch[0] Batch [{20 * i - 20}-{20 * i}]\tSpeed: {100 * i}.00 samples/sec\tacc=0.000000\tlossvalue=4.0\n"
    for i in range(1, 4)
)


def session_of(text: str, folder: Path) -> Session:
    path = folder / "train.log"
    path.write_text(text)
    (session,) = read(path).sessions
    return session


@pytest.mark.parametrize(
    ("text", "nodes", "expected", "scope"),
    [
        (FIT.format("device") + SPEEDS.format(node=0), None, 250, "node"),
        (FIT.format("device") + SPEEDS.format(node=0), 1, 250, "job"),
        (FIT.format("dist_device_sync") + SPEEDS.format(node=0), 2, 500, "job"),
        (FIT.format("dist_device_sync") + SPEEDS.format(node=0) + SPEEDS.format(node=1), 2, 500, "job"),
        (FIT.format("dist_device_sync") + SPEEDS.format(node=0), None, 250, "node"),
        (FIT.format("horovod") + SPEEDS.format(node=0), 2, 250, "job"),
        (ARCFACE.format("device") + FACES, 2, 250, "job"),
        (FACES, 2, 250, "job"),
        (ARCFACE.format("dist_device_sync") + FACES, 2, 500, "job"),
        (ARCFACE.format("dist_device_sync") + FACES, None, 250, "node"),
    ],
)
def test_what_a_speed_counts(text: str, nodes: int | None, expected: float, scope: str, tmp_path: Path) -> None:
    found = rules.figure("mean", session_of(text, tmp_path), {"nodes": nodes} if nodes else {})
    assert isinstance(found, Figure)
    assert (found.value, found.scope) == (expected, scope)


@pytest.mark.parametrize(("store", "stated"), [("device", True), ("local", True), ("dist_sync", False)])
def test_a_store_of_one_machine_says_how_many_there_are(store: str, stated: bool, tmp_path: Path) -> None:
    facts = session_of(FIT.format(store) + SPEEDS.format(node=0), tmp_path).facts
    assert ("nodes" in facts, "batch_size_of_job" in facts) == (stated, stated)
    assert ("batch_size_of_job" in session_of(ARCFACE.format(store) + FACES, tmp_path).facts) == stated
