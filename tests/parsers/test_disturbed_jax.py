"""What printers of JAX's trainers printed of runs whose time per step was known; figures worked out by hand."""

from __future__ import annotations

from pathlib import Path

import pytest
from test_dialects import facts_of, log_of, session_of, value

from ingest.compute.measurement import measured
from schema.records import Figure


def glog(at: float, where: str, message: str) -> str:
    return f"I1120 {10 + int(at) // 3600:02}:{int(at) // 60 % 60:02}:{at % 60:09.6f} 140 {where}] {message}"


def big_vision(first: int, last: int) -> list[str]:
    """Return lines of steps of half a second, with an evaluation of a minute each 100; the first step compiles."""
    hello = [f"Hello from process {each} holding 4/8 devices and writing to workdir None." for each in (1, 0)]
    batch = (
        "NOTE: Global batch size 4096 on 2 hosts results in 2048 local batch size. "
        "With 4 dev per host (8 dev total), that's a 512 per-device batch size."
    )
    lines, at = [glog(0, "train.py:87", each) for each in (*hello, batch)], 20.0
    for step in range(first + 50, last + 1, 50):
        at += 25
        lines.append(glog(at, "utils.py:1245", f"[{step}] img/sec/core = {4096 / 0.5 / 8}"))
        if step % 100 == 0:
            lines.append(glog(at, "train.py:77", "NOTE: val evaluation...\nSteps:100/2000 [5.0%]"))
            at += 60
    return lines


def test_big_vision_stops_its_timer_during_evaluations(tmp_path: Path) -> None:
    log = log_of([*big_vision(0, 700), *big_vision(600, 2000)], tmp_path)
    for session in log.sessions:
        found = measured(session, facts_of(session))
        assert isinstance(found.headline, Figure)
        assert found.headline.value == pytest.approx(8192)
        assert found.headline.scope == "job"
        assert next(each for each in found.witnesses if each.kind == "clock").verdict in ("agrees", "silent")
    assert len(log.sessions) == 2


def clu(at: float, step: int, words: str) -> str:
    return glog(at, "logging_writer.py:48", f"[{step}] {words}")


def test_t5x_times_its_training_loop_alone(tmp_path: Path) -> None:
    """Loops of 100 steps in 50 s, each followed by an evaluation of 40 s."""
    lines = []
    for n in range(1, 16):
        told = "timing/seconds=50, timing/seqs=6400, timing/seqs_per_second=128, timing/steps_per_second=2"
        lines += [clu(90 * n, 100 * n, f"collection=train accuracy=0.5, {told}")]
        lines += [
            clu(90 * n + 40, 100 * n, "collection=training_eval/glue timing/seconds=40, timing/seqs_per_second=9")
        ]
    session = session_of(lines, tmp_path, "frameworks.clu")
    found = measured(session, {"devices": 8}).headline
    assert isinstance(found, Figure)
    assert (found.value, found.unit, found.scope) == (pytest.approx(128), "sequences/s", "job")


def test_vision_transformer_sees_steps_started_behind_an_evaluation(tmp_path: Path) -> None:
    """Behind each the queue of the devices is empty: ten steps seem to take a hundredth."""
    lines = []
    for step in range(10, 1001, 10):
        speed = 21300 if step % 100 == 10 else 213
        lines.append(clu(3 * step, step, f"img_sec_core_train={speed}, train_loss=6.5"))
        if step % 100 == 0:
            lines.append(clu(3 * step, step, "accuracy_test=0.5, img_sec_core_test=999.5, lr=0.03"))
    session = session_of(lines, tmp_path, "frameworks.clu")
    assert value(session, "sustained", devices=8) == pytest.approx(213 * 8)


def test_scenic_prints_images_of_the_job(tmp_path: Path) -> None:
    lines = [
        clu(30 * n, 100 * n, "core_hours=1.5, core_hours_TPU v3=1.5, img/sec=3400.5, img/sec/core=425.0625")
        for n in range(20)
    ]
    session = session_of(lines, tmp_path, "frameworks.clu")
    assert value(session, "sustained") == pytest.approx(3400.5)


def test_pax_names_no_step_beside_its_rate(tmp_path: Path) -> None:
    """Ten steps of 0.8 s per line; behind each hundredth step an evaluation of 25 s, which the next interval holds."""
    lines, at = [], 0.0
    for n in range(1, 51):
        took = 8.0 + (25.0 if n > 1 and n % 10 == 1 else 0.0)
        at += took
        lines.append(glog(at, "programs.py:512", f"steps/sec: {10 / took:f}"))
        if n % 10 == 0:
            lines.append(glog(at + 25, "programs.py:837", "Finished eval on eval_test"))
            lines.append(glog(at + 25, "summary_utils.py:349", f"summary tensor at step={10 * n} Steps/sec 2.5"))
    session = session_of(lines, tmp_path, "frameworks.paxml")
    assert value(session, "sustained", devices=8, batch_size=8) == pytest.approx(80, rel=1e-4)


def maxtext(first: int, last: int, seconds: float = 2.0, head: bool = True) -> list[str]:
    """Return lines of steps of a given length; the second step of a start returns before it is computed."""
    lines = ["Config param per_device_batch_size: 4", "Num_devices: 8, shape (1, 8)"] if head else []
    for step in range(first, last):
        took = {first: 20.0, first + 1: 0.01}.get(step, seconds)
        speeds = f"TFLOP/s/device: {200 / took:.3f}, Tokens/s/device: {8192 / took:.3f}"
        lines.append(f"completed step: {step}, seconds: {took:.3f}, {speeds}, total_weights: 65536, loss: 10.375")
    return lines


def test_a_resumed_maxtext_is_a_start_of_its_own(tmp_path: Path) -> None:
    """Killed behind step 70, and resumed from step 60: the steps in between are printed twice."""
    log = log_of([*maxtext(0, 71), *maxtext(60, 120)], tmp_path)
    assert [value(each, "sustained", devices=8) for each in log.sessions] == pytest.approx([32768] * 2)


def test_the_same_steps_of_one_host_are_not_those_of_two(tmp_path: Path) -> None:
    """Without the head of the second start its slow step counts nowhere, the impossible one with its own seconds."""
    session = session_of([*maxtext(0, 71), *maxtext(60, 120, head=False)], tmp_path, "frameworks.maxtext")
    # A fifth of 131 lines is left out; of 105 one took 20 s, and is left out as well, and one 0.01 s.
    assert value(session, "sustained", devices=8) == pytest.approx(104 * 8192 * 8 / (103 * 2 + 0.01), rel=1e-3)


def test_maxtext_may_make_its_mesh_twice(tmp_path: Path) -> None:
    lines = maxtext(0, 60)
    between = [f"a word of XLA {n}" for n in range(800)]
    session = session_of([*lines[:2], *between, *lines[1:]], tmp_path, "frameworks.maxtext")
    assert facts_of(session)["batch_size"] == 4
    assert value(session, "sustained", devices=8) == pytest.approx(32768)


def test_hosts_of_maxtext_print_the_same_steps(tmp_path: Path) -> None:
    lines = [line for each in maxtext(0, 60) for line in (each, each)]
    session = session_of(lines, tmp_path, "frameworks.maxtext")
    assert value(session, "sustained", devices=8) == pytest.approx(32768)


def test_maxtext_of_2024_tells_of_an_evaluation_behind_it(tmp_path: Path) -> None:
    """An evaluation of eight seconds behind each twentieth step, which the next line but one holds."""
    lines = []
    for step, line in enumerate(maxtext(0, 120)[2:]):
        if step % 20 == 2 and step > 20:
            line = line.replace("seconds: 2.000", "seconds: 10.000").replace("/device: 4096.000", "/device: 819.200")
        lines.append(line)
        if step % 20 == 0 and step:
            told = "eval_step_count=4, eval_loss=3.125, total_weights=131072.0"
            lines.append(f"average loss after step={step}: {told}")
    session = session_of(lines, tmp_path, "frameworks.maxtext")
    assert value(session, "sustained", devices=8) == pytest.approx(32768)


def test_a_resumed_example_of_flax_is_a_start_of_its_own(tmp_path: Path) -> None:
    """The first hundred steps of a start take a minute, all others half of it."""
    lines = []
    for first, last in ((0, 1500), (1200, 3000)):
        lines += [glog(0, "main.py:40", "JAX process: 0 / 1"), glog(0, "train.py:50", "batch_size: 128")]
        for step in range(first + 100, last + 1, 100):
            lines.append(
                clu(30 + (step - first) * 0.3, step, f"steps_per_sec={100 / (60 if step == first + 100 else 30)}")
            )
    log = log_of(lines, tmp_path)
    assert [value(each, "sustained", **facts_of(each), devices=1) for each in log.sessions] == pytest.approx(
        [12800 / 30] * 2, rel=1e-3
    )
