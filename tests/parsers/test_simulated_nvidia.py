"""Simulated logs of NVIDIA's examples and MLPerf, whose steps are known.

These logs are too long for files, or have smoothed or random numbers. Small logs are cases in tests/golden.
"""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from made import blamed, dllogger, facts_of, metrics_of, published, reason, session_of, value

from perfledger.ingest.compute import rules
from perfledger.ingest.compute.measurement import measured
from perfledger.ingest.compute.metrics import metrics
from perfledger.parsers.engine.session import Session
from perfledger.schema.records import Figure


def gnmt(step: int, speed: float, seconds: float) -> str:
    return (
        f"0: TRAIN [0][{step}/4400]\tTime 0.206 ({seconds:.3f})\tData 1.49e-04 (1.78e-04)\t"
        f"Tok/s 134750 ({speed:.0f})\tLoss/tok 7.1250 (7.5)\tLR 8.319e-04"
    )


def test_gnmt_means_late_in_an_epoch_are_undone_over_several_intervals(tmp_path: Path) -> None:
    """After 4,000 iterations the last digit is 4 s, so an interval of 2 s could seem to have a negative time."""
    lines = [gnmt(step, 100e3, 0.201 if step % 20 else 0.2) for step in range(10, 4410, 10)]
    session = session_of(lines, tmp_path, "ngc.pytorch_gnmt")
    assert (session.main["duration"] > 0).all()
    assert metrics_of(session, devices=1)["latency"].value == pytest.approx(200, rel=5e-3)
    assert value(session, devices=1) == pytest.approx(100e3)


def test_electra_counts_seconds_since_the_start(tmp_path: Path) -> None:
    """A line of two ranks has ten updates of 1.5 s, and a checkpoint of 25 s follows each tenth line."""
    lines, at = ["gradient_accumulation_steps 3", "train_batch_size 176", "=" * 80, "Running training", "=" * 80], 0
    for step in range(10, 1001, 10):
        at += 15
        told = f"Elapsed: {at // 3600:2d}h{at // 60 % 60:2d}m{at % 60:2d}s, ETA:  1h 0m 0s, "
        line = (
            f"Step:{step:6d}, Loss: 40.125000, Gen_loss:  9.250000, Disc_acc: 85.25, Perf:9999, Loss Scaler: 1, {told}"
        )
        lines += [line] * 2
        if step % 100 == 0:
            at += 25
            lines.append(f" ** Saved model checkpoint for step {step}: out/ckpt-{step}")
    session = session_of(lines, tmp_path, "ngc.tensorflow2_electra")
    assert value(session, "sustained", **facts_of(session), devices=8) == pytest.approx(176 * 3 * 8 / 1.5)


def mllog(at: float, key: str, told: object = None, **metadata: object) -> str:
    """Return a line of MLPerf, `at` seconds after a fixed time in 2026."""
    event = {"namespace": "", "time_ms": 1795169472500 + round(1000 * at), "event_type": "POINT_IN_TIME", "key": key}
    return f":::MLLOG {json.dumps(event | {'value': told, 'metadata': metadata})}"


def run_of(benchmark: str, batch: int, lines: Sequence[str], end: float, **more: object) -> list[str]:
    """Return a log: its head with further settings, and a run that meets its target at the end."""
    stated = {"submission_benchmark": benchmark, "global_batch_size": batch} | more
    head = [mllog(-9, key, each) for key, each in stated.items()]
    return [*head, mllog(0, "run_start"), *lines, mllog(end, "run_stop", status="success")]


def marked(every: int, evaluated: int, factor: float = 1.0) -> list[str]:
    """Return events of TorchTitan: 120 steps of 64 in 1 s, and evaluations of 20 s; a block is the first of some steps.

    Its end repeats the numbers of its beginning, with the speed of all steps since the last one. The timer begins
    with the run, so that the first of these speeds counts steps that are not done.
    """
    lines, at, before = [], 0.0, 0.0
    for step in range(120):
        marks, done = step % every == 0, 64 * step
        lines += [mllog(at, "block_start", "training_step", samples_count=done)] if marks else []
        at += 1
        if marks:
            told = {"throughput": factor * 64 * every / (at - before), "train_step_time": (at - before) / every}
            lines += [mllog(at, "tracked_stats", told, step_num=step)]
            lines += [mllog(at, "block_stop", "training_step", samples_count=done)]
            before = at
        if (step + 1) % evaluated == 0:
            for key in ("eval_start", "eval_accuracy", "eval_stop"):
                lines.append(mllog(at + 20 * (key != "eval_start"), key, 0.6, samples_count=done + 64))
            at += 20
    return run_of("flux1", 64, lines, at)


def session_of_mlperf(lines: Sequence[str], folder: Path) -> Session:
    return session_of(lines, folder, "frameworks.mlperf")


def metric(session: Session, name: str) -> Any:
    case: dict[str, Any] = facts_of(session)
    return metrics(session, case, rules.figure("sustained", session, case)).get(name)


def samples_to_train(session: Session) -> float | None:
    found = metric(session, "samples_to_train")
    return found.value if found else None


@pytest.mark.parametrize("every", [1, 2, 5, 10])
@pytest.mark.parametrize("evaluated", [10, 30])
def test_blocks_may_mark_only_some_steps(every: int, evaluated: int, tmp_path: Path) -> None:
    session = session_of_mlperf(marked(every, evaluated), tmp_path)
    assert (value(session), samples_to_train(session)) == (pytest.approx(64), 64 * 120)


@pytest.mark.parametrize("first", [True, False])
def test_speed_that_is_logged_twice_counts_once(first: bool, tmp_path: Path) -> None:
    # RNN-T has epochs of 6400 samples in 100 s, an evaluation of 10 s in each block, and two lines with the same speed.
    lines = []
    for epoch in range(1, 21):
        at = 110 * epoch - 110
        lines += [mllog(at, "block_start", first_epoch_num=epoch, epoch_count=1)]
        lines += [mllog(at, "epoch_start", epoch_num=epoch), mllog(at + 100, "epoch_stop", epoch_num=epoch)]
        speeds = [
            mllog(at + 100, "throughput", 64.0),
            mllog(at + 100, "tracked_stats", {"throughput": 64.0}, step=epoch),
        ]
        lines += speeds if first else speeds[::-1]
        lines += [mllog(at + 100, "eval_start", epoch_num=epoch), mllog(at + 110, "eval_stop", epoch_num=epoch)]
        lines += [mllog(at + 110, "block_stop", first_epoch_num=epoch)]
    session = session_of_mlperf(run_of("rnnt", 64, lines, 2200, train_samples=6400), tmp_path)
    found = measured(session, facts_of(session)).figures["sustained"]
    assert isinstance(found, Figure)
    assert (found.value, samples_to_train(session)) == (pytest.approx(64), 128000)


@pytest.mark.parametrize(("every", "expected"), [(1, None), (10, 32)])
def test_dllogger_may_print_planned_steps_after_the_step(every: int, expected: float | None, tmp_path: Path) -> None:
    """If every step has a line, the steps may be epochs."""
    lines = [dllogger(0.25 * step, [step, 640], {"loss": "5.5000"}) for step in range(0, 640, every)]
    session, case = (
        session_of(lines, tmp_path, "frameworks.dllogger"),
        {"devices": 1, "batch_size": 8, "accumulation": 1},
    )
    if expected is None:
        assert reason(session, "sustained", **case) == "epoch_length"
    else:
        assert value(session, "sustained", **case) == pytest.approx(expected)


def console_of_convnets(epochs: Sequence[Sequence[float]], interval: int = 10) -> list[str]:
    """Return the console of the ConvNets: iterations of 256 images wait, and then compute for 0.24 s."""

    def line(step: str, waits: Sequence[float]) -> str:
        speed = sum(256 / (0.24 + each) for each in waits) / len(waits)
        stamp = (dt.datetime(2026, 11, 20) + dt.timedelta(seconds=clock)).isoformat(" ", "microseconds")
        return (
            f"DLL {stamp} - {step} train.loss : 6.5 None train.compute_ips : {256 / 0.24:.2f} images/s "
            f"train.total_ips : {speed:.2f} images/s train.lr : 0.1"
        )

    def times(step: str, waits: Sequence[float]) -> str:
        mean = f"train.data_time : {sum(waits) / len(waits):.5f} s train.compute_time : 0.24000 s"
        return f"DLL 2026-11-20 23:59:59.500000 - {step} {mean}"

    clock = 10.5
    lines = ["DLL 2026-11-20 00:00:10.500000 - PARAMETER arch : resnet50  batch_size : 32  world_size : 8 "]
    for epoch, waits in enumerate(epochs):
        for done, wait in enumerate(waits, 1):
            clock += 0.24 + wait
            if done % interval == 0:
                lines.append(line(f"Epoch: {epoch} Iteration: {done} ", waits[done - interval : done]))
        clock += 30
        lines += [line(f"Epoch: {epoch} ", waits), times(f"Epoch: {epoch} ", waits)]
    run = [one for each in epochs for one in each]
    return [*lines, line("Summary:", run), times("Summary:", run)]


def test_console_of_convnets_hides_waits_of_several_iterations(tmp_path: Path) -> None:
    # Nine of ten iterations take 0.25 s and one takes 3.24 s: 2560 images in 5.49 s. The printed mean implies 2.75 s.
    epochs = [([0.01] * 9 + [3.0]) * 10] * 3
    session = session_of(console_of_convnets(epochs), tmp_path, "ngc.pytorch_resnet50")
    assert blamed(session) == "clock"
    # Lines of one iteration show their waits, and equal waits do not change the mean.
    session = session_of(console_of_convnets(epochs, interval=1), tmp_path, "ngc.pytorch_resnet50")
    assert value(session) == pytest.approx(2560 / 5.49, rel=1e-4)
    session = session_of(console_of_convnets([[0.26] * 100] * 3), tmp_path, "ngc.pytorch_resnet50")
    assert value(session) == pytest.approx(512)
    assert value(session, "reported") == pytest.approx(512)


#: Items per second of ten iterations of 20,000 items, including the wait for data.
TRUE_SPEED = 200_000 / (10 * 0.5 + 9 * 0.01 + 3)


def iterations(count: int, epochs: int) -> Iterator[tuple[int, int, float]]:
    """Yield epoch, iteration and clock: 0.5 s each, 0.01 s for data or 3 s for every tenth, and 10 s between epochs."""
    clock = 0.5
    for epoch in range(1, epochs + 1):
        for iteration in range(1, count + 1):
            clock += 0.5 + (3.0 if iteration % 10 == 5 else 0.01)
            yield epoch, iteration, clock
        clock += 10


def stamp(seconds: float) -> str:
    return (dt.datetime(2026, 11, 20) + dt.timedelta(seconds=seconds)).isoformat(" ", "microseconds")


def fastpitch(epochs: int) -> Iterator[str]:
    for epoch, iteration, clock in iterations(50, epochs):
        yield (
            f"DLL {stamp(clock)} - epoch {epoch:>4} | iter {iteration:>3}/50 | loss 30.25 | mel loss 28.50 | "
            "  40000.00 frames/s | took 0.50 s | lrate 1.00e-03"
        )
        if iteration == 50:
            yield (
                f"DLL {stamp(clock)} - epoch {epoch:>4} | avg train loss 30.25 | avg train mel loss 28.50 | "
                "  24000.00 frames/s | took 40.45 s"
            )


def speech_json(epochs: int) -> Iterator[str]:
    for epoch, iteration, clock in iterations(50, epochs):
        data = {"train_loss": 30.25, "train_frames/s": 40000.0, "train_took": 0.5}
        yield dllogger(1795169472 + clock, [epoch, iteration, 50], data)
        if iteration == 50:
            yield dllogger(1795169472 + clock, [epoch], {"train_avg_loss": 30.25, "train_avg_took": 40.45})


def tacotron(epochs: int) -> Iterator[str]:
    for epoch, iteration, clock in iterations(50, epochs):
        yield f"DLL {stamp(clock)} - ({epoch}, {iteration}) train_items_per_sec : 40000.0 items/s"
        yield f"DLL {stamp(clock)} - ({epoch}, {iteration}) train_iter_time : 0.5 s"
        if iteration == 50:
            yield f"DLL {stamp(clock)} - ({epoch},) train_epoch_time : 40.45 s"
    yield f"DLL {stamp(clock)} - () train_items_per_sec : 40000.0 items/s"


@pytest.mark.parametrize(
    ("format_id", "lines"),
    [
        ("frameworks.dllogger_text", fastpitch(4)),
        ("frameworks.dllogger", speech_json(4)),
        ("ngc.pytorch_items", tacotron(4)),
        ("ngc.pytorch_items", [each for n, each in enumerate(tacotron(4)) if n not in (150, 301)]),
    ],
)
def test_speech_waits_for_data_between_its_timers(format_id: str, lines: Iterable[str], tmp_path: Path) -> None:
    session = session_of(list(lines), tmp_path, format_id)
    # The window begins within ten iterations, and excludes the time between epochs.
    assert published(session) == pytest.approx(TRUE_SPEED, rel=0.02)


def test_tft_waits_for_data_between_its_timers(tmp_path: Path) -> None:
    # A step of 512 samples takes 0.0625 s, and every tenth also 0.5 s for its data: 5120 samples in 1.125 s.
    unix = 1795169472.5
    lines = [dllogger(unix, "HPARAMS", {"batch_size": 64, "distributed_world_size": 8, "use_amp": True})]
    for step in range(400):
        unix += 0.5625 if step % 10 == 5 else 0.0625
        lines.append(dllogger(unix, step, {"P10": 0.5, "P50": 0.5, "P90": 0.25, "loss": 1.25, "items/s": 8192.0}))
        if step % 100 == 99:
            unix += 20
            lines.append(dllogger(unix, step + 1, {"val_P10": 0.5, "val_loss": 1.5, "val_items/s": 30000.0}))
    lines.append(dllogger(unix, [], {"test_p10": 0.5, "average_ips": 8192.0, "convergence_step": 400}))
    session = session_of(lines, tmp_path, "frameworks.dllogger")
    assert published(session) == pytest.approx(5120 / 1.125, rel=0.01)


def test_time_between_some_lines_contradicts_nothing(tmp_path: Path) -> None:
    # Intervals with an evaluation, which no record covers, are longer than the others.
    lines = ["DLL 2026-11-20 10:00:00.500000 - PARAMETER arch : resnet50  batch_size : 32  world_size : 8 "]
    clock = dt.datetime(2026, 11, 20, 10, 0, 1, 250)
    for line in range(1, 601):
        clock += dt.timedelta(seconds=1.25 if line % 5 == 2 else 0.25)
        lines.append(
            f"DLL {clock.isoformat(' ', 'microseconds')} - Epoch: 0 Iteration: {line}  train.loss : 6.5 None "
            "train.compute_ips : 1034.24 images/s train.total_ips : 1024.00 images/s"
        )
    session = session_of(lines, tmp_path, "ngc.pytorch_resnet50")
    assert published(session) == pytest.approx(1024)


def test_speeds_of_epochs_contradict_those_of_iterations(tmp_path: Path) -> None:
    # The speed of an epoch is a quarter of that of its iterations.
    assert published(session_of(list(fastpitch(4)), tmp_path, "frameworks.dllogger_text"))
    lines = [each.replace("24000.00 frames/s", "6000.00 frames/s") for each in fastpitch(4)]
    assert blamed(session_of(lines, tmp_path, "frameworks.dllogger_text")) == "summary"
