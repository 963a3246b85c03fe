"""Logs of vision trainers whose numbers contradict each other; figures are worked out by hand."""

from __future__ import annotations

import datetime as dt
from pathlib import Path

import pytest
from test_dialects import facts_of, session_of
from test_disturbed_vision import timm

from ingest.compute.witnesses import measured
from parsers.engine.session import Session
from schema.records import Figure, NoFigure

JOB = {"devices": 8, "batch_size": 64}


def said(session: Session, **case: int) -> float | tuple[str, str]:
    """Return the figure, or the witness that withholds it and the unit that it compares."""
    found = measured(session, facts_of(session) | case).headline
    if isinstance(found, Figure):
        return found.value
    assert isinstance(found, NoFigure)
    assert found.reason.code == "withheld", found.reason
    return str(found.reason.args["witness"]), str(found.reason.args["unit"])


# timm


@pytest.mark.parametrize("share", [1, 2])
@pytest.mark.parametrize(
    ("right", "wrong"), [("100.00/s)", "200.00/s)"), ("(2.560s", "(1.280s"), ("(2.560s", "(5.120s")]
)
def test_the_means_of_timm_are_held_against_the_last_update(right: str, wrong: str, share: int, tmp_path: Path) -> None:
    lines = [line for epoch in range(4) for line in timm(epoch, 101 * [256], 10)]
    assert right in lines[0].replace(" ", "") or right in lines[0]
    lines = [
        each.replace(right, wrong).replace(f" {right}", wrong) if i % share == 0 else each
        for i, each in enumerate(lines)
    ]
    session = session_of(lines, tmp_path, "frameworks.timm")
    assert said(session) == ("arithmetic", "s")


def test_a_stated_batch_tells_which_pair_of_timm_is_right(tmp_path: Path) -> None:
    head = "Learning rate (0.1) calculated from base learning rate (0.1) and effective global batch size (256) with x."
    lines = [line for epoch in range(4) for line in timm(epoch, 101 * [256], 10)]
    lines = [head, *(each.replace("2.560s,  100.00/s", "2.560s,  200.00/s", 1) for each in lines)]
    session = session_of(lines, tmp_path, "frameworks.timm")
    assert said(session) == pytest.approx(100)


# MetricLogger


def metric_logger(epoch: int, every: int, *, time: float = 0.5, eta: float = 0.5, total: float = 0.0) -> list[str]:
    """Return the lines of an epoch of 1000 iterations, with the seconds that each number tells of one."""
    lines = [
        f"Epoch: [{epoch}]  [{i:4}/1000]  eta: {dt.timedelta(seconds=int(eta * (1000 - i)))}  lr: 0.0001  "
        f"loss: 6.5 (6.5)  time: {time:.4f}  data: 0.0010  max mem: 8021"
        for i in [*range(0, 1000, every), 999]
    ]
    told = f"Epoch: [{epoch}] Total time: {dt.timedelta(seconds=int(1000 * total))} ({total:.4f} s / it)"
    return [*lines, told] if total else lines


@pytest.mark.parametrize("every", [10, 20])
@pytest.mark.parametrize("time", [0.25, 0.6, 1.0])
def test_the_time_that_is_left_contradicts_the_means_of_a_metric_logger(
    every: int, time: float, tmp_path: Path
) -> None:
    lines = [line for epoch in range(2) for line in metric_logger(epoch, every, time=time)]
    session = session_of(lines, tmp_path, "frameworks.metric_logger")
    assert said(session, **JOB) == ("arithmetic", "s")


@pytest.mark.parametrize("every", [10, 20])
def test_of_times_that_differ_the_total_of_an_epoch_tells_which_is_right(every: int, tmp_path: Path) -> None:
    lines = [line for epoch in range(2) for line in metric_logger(epoch, every, eta=1.0, total=0.5)]
    session = session_of(lines, tmp_path, "frameworks.metric_logger")
    assert said(session, **JOB) == pytest.approx(1024)
    lines = [line for epoch in range(2) for line in metric_logger(epoch, every, time=1.0, total=0.5)]
    session = session_of(lines, tmp_path, "frameworks.metric_logger")
    assert said(session, **JOB) == ("summary", "s")


def test_stalls_that_no_mean_holds_do_not_contradict_the_time_that_is_left(tmp_path: Path) -> None:
    lines = [line for epoch in range(2) for line in metric_logger(epoch, 50, eta=0.8)]
    session = session_of(lines, tmp_path, "frameworks.metric_logger")
    # Of each 50 iterations 20 take 0.5 s, and all together 40 s.
    assert said(session, **JOB) == pytest.approx(640, rel=0.01)
