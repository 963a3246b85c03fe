"""Logs of language models whose numbers contradict each other: what follows is no figure, or that of the rest."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from test_dialects import facts_of, session_of

from ingest.compute.witnesses import Measurement, measured
from parsers.engine.session import Session
from schema.records import Figure, NoFigure


def judged(session: Session) -> Measurement:
    return measured(session, facts_of(session))


def code(session: Session) -> str:
    """Return why there is no figure, or the witness that contradicts it."""
    found = judged(session).headline
    assert isinstance(found, NoFigure), found
    return str(found.reason.args.get("witness", found.reason.code))


def value(session: Session) -> float:
    found = judged(session).headline
    assert isinstance(found, Figure), found
    return found.value


# Lines that contradict themselves


@pytest.mark.parametrize("lie", [2.0, 0.5])
def test_half_of_the_lines_may_contradict_themselves(lie: float, tmp_path: Path) -> None:
    # 16,384 tokens in half a second; every second line, or all since the middle, tells another speed.
    def lines(wrong: Callable[[int], bool]) -> list[str]:
        speeds = [32768 * (lie if wrong(n) else 1) for n in range(40)]
        return [f"step {n:5d} | loss: 7.125 | dt: 500.00ms | tok/sec: {each:.2f}" for n, each in enumerate(speeds)]

    for wrong in (lambda n: n % 2 == 0, lambda n: n >= 20, lambda n: n % 4 == 0):
        assert (
            code(session_of(["total desired batch size: 16384", *lines(wrong)], tmp_path, "frameworks.nanogpt"))
            == "arithmetic"
        )


def test_seconds_that_lie_beside_a_sound_speed_withhold_nothing(tmp_path: Path) -> None:
    lines = [f"step {n:5d} | loss: 7.125 | dt: {50 if n % 8 == 0 else 500}.00ms | tok/sec: 32768.00" for n in range(40)]
    session = session_of(["total desired batch size: 16384", *lines], tmp_path, "frameworks.nanogpt")
    assert value(session) == pytest.approx(32768)


# fairseq


def of_fairseq(epoch: int, step: int, wps: float, ups: float) -> str:
    return (
        f"2026-11-20 | INFO | train_inner | epoch {epoch:03d}: {step:6d} / 4000 loss=7.125, "
        f"nll_loss=5.5, wps={wps:.1f}, ups={ups:.2f}, wpb=4000.0, bsz=120.5, num_updates={step}, "
        "lr=0.0005, train_wall=20, wall=430"
    )


def test_the_speed_of_fairseq_is_that_of_its_updates(tmp_path: Path) -> None:
    # 100 updates of 4,000 tokens take 20 s.
    for wps, ups in ((20000, 5.0), (40000, 5.0), (20000, 10.0)):
        session = session_of([of_fairseq(1, 100 * n, wps, ups) for n in range(1, 31)], tmp_path, "frameworks.fairseq")
        if wps == 4000 * ups:
            assert value(session) == pytest.approx(20000)
        else:
            assert code(session) == "arithmetic"


VALIDATION = {
    "json": 'INFO | valid | {"epoch": 1, "valid_loss": "4.2", "valid_wps": "120000.5"}',
    "text": "INFO | valid | epoch 001 | valid on 'valid' subset | loss 4.2 | wps 120000 | wpb 2500",
}


def epochs_of_fairseq(validation: float, trained: bool, printer: str) -> list[str]:
    """Return epochs of 500 updates of 4,000 tokens, which take 100 s, each with its validation."""
    lines, ups = [], 500 / (100 + validation)
    for n in range(1, 13):
        told = {"epoch": n, "loss": 6.25, "wps": f"{4000 * ups:.1f}", "ups": f"{ups:.2f}", "wpb": 4000, "bsz": 120.5}
        told |= {"num_updates": 500 * n, "lr": 0.0005, **({"train_wall": 100} if trained else {}), "wall": 150 * n}
        lines += [VALIDATION[printer]] if validation else []
        if printer == "json":
            stats = {name if name == "epoch" else f"train_{name}": f"{each}" for name, each in told.items()}
            lines += ["INFO | train | " + json.dumps({**stats, "epoch": n})]
        else:
            stats = {name: f"{each}" for name, each in told.items()} | {"epoch": f"{n:03d}"}
            lines += ["INFO | train | " + " | ".join(f"{name} {each}" for name, each in stats.items())]
    return lines


@pytest.mark.parametrize("printer", ["text", "json"])
def test_an_epoch_of_fairseq_holds_its_validation(printer: str, tmp_path: Path) -> None:
    def session(validation: float, trained: bool) -> Session:
        return session_of(epochs_of_fairseq(validation, trained, printer), tmp_path, "frameworks.fairseq")

    assert [code(session(50, trained)) for trained in (True, False)] == ["only_pauses"] * 2
    assert value(session(2, True)) == pytest.approx(20000, rel=0.03)
    assert code(session(2, False)) == "only_pauses"
    assert [value(session(0, trained)) for trained in (True, False)] == pytest.approx([20000] * 2)


def test_the_seconds_since_the_start_contradict_the_speed_of_old_releases_of_fairseq(tmp_path: Path) -> None:
    # 100 batches of 4,000 tokens take 20 s.
    for wps in (20000, 40000):
        lines = [
            f"| epoch 001: {100 * n:6d} / 4000 loss=7.125, nll_loss=5.5, wps={wps}, ups=5.0, wpb=4000.0, "
            f"bsz=120.5, num_updates={100 * n}, lr=0.0005, oom=0.000, wall={10 + 20 * n}, train_wall={20 * n}"
            for n in range(1, 31)
        ]
        session = session_of(lines, tmp_path, "frameworks.fairseq_old")
        assert code(session) == "clock" if wps == 40000 else value(session) == pytest.approx(20000)
