"""Lines whose meaning another part of the log decides: conditions of readings, and ranks that all start."""

from __future__ import annotations

from pathlib import Path

import pytest

from ingest.compute import rules
from parsers.engine.read import read
from parsers.engine.session import Session
from schema.records import Figure, NoFigure

HEAD = """\
TensorFlow:  1.15
Model:       resnet50
Mode:        {mode}
Batch size:  {job} global
             64 per device
Devices:     [{devices}]
Variables:   {variables}
Step\tImg/sec\ttotal_loss
"""
STEPS = "".join(
    f"{step}\timages/sec: {speed:.1f} +/- 0.1 (jitter = 0.2)\t7.5\n" for step, speed in [(10, 90), (20, 100)]
)
TOTAL = "total images/sec: 400.00\n"
LOCAL = ", ".join(f"'/gpu:{each}'" for each in range(4))
HOROVOD = ", ".join(f"'horovod/gpu:{each}'" for each in range(4))
WORKERS = ", ".join(f"'/job:worker/replica:0/task0/gpu:{each}'" for each in range(2))


def sessions(text: str, folder: Path) -> tuple[Session, ...]:
    path = folder / "train.log"
    path.write_text(text)
    return read(path).sessions


def head(devices: str, variables: str, mode: str = "training") -> str:
    return HEAD.format(devices=devices, variables=variables, mode=mode, job=256)


@pytest.mark.parametrize(
    ("text", "expected", "scope"),
    [
        (head(LOCAL, "replicated") + STEPS, 100.0, "job"),
        (head(LOCAL, "parameter_server") + STEPS, 100.0, "job"),
        (head(HOROVOD, "horovod") + STEPS, 400.0, "job"),
        (head(HOROVOD, "horovod") + STEPS * 4, 400.0, "job"),
        (head(WORKERS, "parameter_server") + STEPS, 100.0, "node"),
    ],
)
def test_what_a_speed_counts_is_told_by_the_head(text: str, expected: float, scope: str, tmp_path: Path) -> None:
    (session,) = sessions(text + TOTAL, tmp_path)
    found = rules.figure("median", session, {name: each.value for name, each in session.facts.items()})
    assert isinstance(found, Figure)
    assert (found.value, found.scope) == (expected, scope)


def test_without_a_head_nobody_knows_what_a_speed_counts(tmp_path: Path) -> None:
    (session,) = sessions(STEPS + TOTAL, tmp_path)
    assert isinstance(rules.figure("median", session, {}), NoFigure)
    found = rules.figure("reported", session, {})
    assert isinstance(found, Figure)
    assert found.value == 400.0


def test_inference_is_another_case(tmp_path: Path) -> None:
    (session,) = sessions(head(LOCAL, "replicated", "forward-only") + STEPS, tmp_path)
    assert session.facts["mode"].value == "inference"
    (session,) = sessions(head(LOCAL, "replicated") + STEPS, tmp_path)
    assert "mode" not in session.facts


def test_ranks_that_all_announce_themselves_are_one_start(tmp_path: Path) -> None:
    """Four ranks print the head, tagged and out of order; a second run is appended."""
    lines = head(HOROVOD, "horovod") + STEPS + TOTAL
    run = "".join(f"[1,{rank}]<stdout>:{line}\n" for line in lines.splitlines() for rank in (2, 0, 3, 1))
    found = sessions(run * 2, tmp_path)
    assert [[len(each) for each in session.records] for session in found] == [[0, 8, 0, 4]] * 2
    figure = rules.figure("median", found[1], {"devices": 4, "batch_size": 64})
    assert isinstance(figure, Figure)
    assert figure.value == 400.0


def test_ranks_without_tags_that_all_announce_themselves_are_one_start(tmp_path: Path) -> None:
    """Four processes print the head line by line, and the steps; a second run is appended, and one that died early."""
    early = head(HOROVOD, "horovod") + "Traceback (most recent call last):\n"
    run = "".join(f"{line}\n" * 4 for line in (head(HOROVOD, "horovod") + STEPS + TOTAL).splitlines())
    found = sessions(early + run * 2, tmp_path)
    assert [[len(each) for each in session.records] for session in found] == [[0] * 4, [0, 8, 0, 4], [0, 8, 0, 4]]
    figure = rules.figure("median", found[2], {"devices": 4, "batch_size": 64})
    assert isinstance(figure, Figure)
    assert figure.value == 400.0


def test_a_log_of_one_rank_that_is_not_the_first_has_its_starts(tmp_path: Path) -> None:
    run = "".join(f"[1,3]<stdout>:{line}\n" for line in (head(LOCAL, "replicated") + STEPS).splitlines())
    assert len(sessions(run * 2, tmp_path)) == 2
