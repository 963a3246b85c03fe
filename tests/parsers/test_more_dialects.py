"""Dialects of the later printers that no golden log shows: their records, and the figures that follow."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from ingest.compute import rules
from parsers.engine.read import Log, read
from schema.records import Figure, NoFigure


def log_of(lines: Sequence[str], folder: Path, ends: str = "\n") -> Log:
    path = folder / "train.log"
    path.write_bytes("".join(f"{each}{ends}" for each in lines).encode())
    return read(path)


def claimed(log: Log) -> list[str]:
    return [each.format.id for each in log.claims]


def value(log: Log, rule: str, case: dict[str, int] | None = None) -> float:
    (session,) = log.sessions
    found = rules.figure(rule, session, case or {})
    assert isinstance(found, Figure), found
    return found.value


def fairseq_json(epoch: int, update: float, wps: float, updates: int, **more: str) -> str:
    stats = {"loss": "6.5", "wps": f"{wps:g}", "ups": "1", "wpb": "1000", "num_updates": f"{updates}", **more}
    return json.dumps({"epoch": epoch, "update": update, **stats})


def test_fairseq_json_counts_intervals(tmp_path: Path) -> None:
    """The same number of tokens at 1000, 2000 and 4000 tokens/s; the first is dropped."""
    speeds = [1000.0, 2000.0, 4000.0]
    lines = [
        f"2026-11-20 09:00:00 | INFO | train_inner | {fairseq_json(1, 0.1 * i, speed, 100 * i)}"
        for i, speed in enumerate(speeds, 1)
    ]
    log = log_of(lines, tmp_path)
    assert claimed(log) == ["frameworks.fairseq"]
    assert value(log, "sustained") == pytest.approx(2 / (1 / 2000 + 1 / 4000))


def test_old_fairseq_json_holds_running_means_of_each_epoch(tmp_path: Path) -> None:
    """Epochs of 400 batches; the second half of each takes twice as long as the first, which a running mean hides."""
    lines = []
    for epoch in (1, 2, 3):
        for done, seconds in ((200, 200.0), (400, 600.0)):
            wps = 1000 * done / seconds
            lines.append(fairseq_json(epoch, epoch - 1 + done / 400, wps, 400 * (epoch - 1) + done, oom="0"))
    log = log_of(lines, tmp_path)
    assert claimed(log) == ["frameworks.fairseq_old"]
    # Without the first record: 200 + 400 + 400 batches in 400 + 600 + 600 seconds.
    assert value(log, "sustained") == pytest.approx(1000 * 1000 / 1600)
    assert log.sessions[0].records[1]["step"].tolist() == [200, 400] * 3


def test_old_fairseq_by_the_bar_of_tqdm(tmp_path: Path) -> None:
    states = [
        f"| epoch 001:  25%|##5       | {step}/400 [00:45<01:01,  4.44it/s, loss=7.125, ppl=45.25, wps={wps}, ups=4.4, "
        f"wpb=1000, bsz=300, num_updates={step}, lr=0.0005, oom=0]"
        for step, wps in [(100, 1000), (200, 2000), (200, 2000), (400, 1600)]
    ]
    log = log_of(["\r".join(states)], tmp_path)
    assert claimed(log) == ["frameworks.fairseq_old"]
    # 100 batches took 100 s, 200 took 100 s, 400 took 250 s: the state that is drawn twice counts once.
    assert value(log, "sustained") == pytest.approx(1000 * 300 / 150)


def test_fairseq_by_the_bar_of_tqdm(tmp_path: Path) -> None:
    """A thousand tokens a batch at 1000, 2000 and 4000 tokens/s; each state is drawn three times."""
    bar = "epoch 001:  10%|#  | {n}/1000 [00:15<02:30, 6.66it/s, loss=6.5, wps={wps}, ups=1, wpb=1000, bsz=8, "
    bar += "num_updates={at}, wall=9]"
    drawn = [
        bar.format(n=100 * i + more, wps=wps, at=100 * i)
        for i, wps in enumerate((1000, 2000, 4000), 1)
        for more in (0, 20, 50)
    ]
    log = log_of(["", "\r".join(drawn)], tmp_path)
    assert claimed(log) == ["frameworks.fairseq"]
    assert value(log, "sustained") == pytest.approx(2 / (1 / 2000 + 1 / 4000))


def test_fairseq_with_epochs_alone(tmp_path: Path) -> None:
    lines = [
        f"2026-11-20 09:00:00 | INFO | train | epoch {i:03d} | loss 6.5 | ppl 50 | wps {speed} | ups 1.2 | wpb 25500"
        for i, speed in enumerate((1000, 2000, 4000), 1)
    ]
    log = log_of(lines, tmp_path, "\r\n")
    assert claimed(log) == ["frameworks.fairseq"]
    assert value(log, "mean") == 3000


def estimator(seconds: Sequence[float]) -> list[str]:
    """What Estimator prints every 100 steps of 1.13 and later: each line by both of its loggers."""
    lines = ["INFO:tensorflow:Using config: {'_model_dir': 'made/up'}", "INFO:tensorflow:loss = 9.5, step = 0"]
    for number, took in enumerate(seconds, 1):
        for said in (
            f"global_step/sec: {100 / took:g}",
            f"loss = {9.5 - number}, step = {100 * number} ({took:.3f} sec)",
        ):
            lines += [
                f"INFO:tensorflow:{said}",
                f"I1120 10:00:00.000000 1400 basic_session_run_hooks.py:692] {said}",
            ]
    return [*lines, "INFO:tensorflow:Loss for final step: 3.5."]


def test_lines_of_two_loggers_count_once(tmp_path: Path) -> None:
    log = log_of(estimator([50.0, 20.0, 40.0]), tmp_path)
    assert claimed(log) == ["frameworks.tf_estimator"]
    case = {"devices": 1, "batch_size": 32}
    assert value(log, "sustained", case) == pytest.approx(32 * 200 / 60)
    assert value(log, "mean", case) == pytest.approx(32 * 100 * (1 / 20 + 1 / 40) / 2)


def test_step_rates_alone_need_the_batch_size(tmp_path: Path) -> None:
    lines = [each for each in estimator([50.0, 20.0, 40.0]) if "loss" not in each]
    log = log_of(lines, tmp_path)
    assert value(log, "sustained", {"devices": 1, "batch_size": 32}) == pytest.approx(2 * 32 / (1 / 5 + 1 / 2.5))
    found = rules.figure("sustained", log.sessions[0], {"devices": 1})
    assert isinstance(found, NoFigure)
    assert found.reason.code == "no_batch_size"


def test_examples_per_second_come_before_step_rates(tmp_path: Path) -> None:
    lines = [*estimator([50.0, 20.0]), *(f"INFO:tensorflow:examples/sec: {each}.5" for each in (100, 200, 300))]
    assert value(log_of(lines, tmp_path), "mean") == 250.5


def test_estimator_lines_claim_no_log_that_another_format_reads(tmp_path: Path) -> None:
    other = "DLL 2026-11-20 04:01:45.500000 - (0, 21) imgs_per_sec : 96.969697  cross_entropy : 7.1 "
    assert claimed(log_of([*estimator([50.0, 20.0]), other], tmp_path)) == ["ngc.tensorflow_resnet50"]


def bar(text: str, drawn: str = "[==============================] -") -> str:
    count, rest = text.split(" ", 1)
    return f"{count}/{count} {drawn} {rest}"


def states(last: str, count: int = 100) -> str:
    """A bar redrawn in place, up to its last states."""
    drawn = [f"{n:3d}/{count} [=====>........................] - ETA: 9s - loss: 0.9000" for n in (1, 50, 99)]
    return "\r".join(["", *drawn, last])


ONE = {"devices": 1, "batch_size": 32}


def keras(seconds: Sequence[int], *, more: str = "", drawn: str = "[====] -", per: str = "step") -> list[str]:
    lines = []
    for epoch, took in enumerate(seconds, 1):
        last = f"{took}s {10 * took}ms/{per} - loss: 0.5000 - accuracy: 0.7500{more}"
        lines += [f"Epoch {epoch}/{len(seconds)}", states(bar(f"100 {last}", drawn))]
    return lines


@pytest.mark.parametrize("ends", ["\n", "\r\n"])
@pytest.mark.parametrize("drawn", ["[====] -", "━━━━━━", "-"])
def test_keras_counts_an_epoch_once(drawn: str, ends: str, tmp_path: Path) -> None:
    lines = [*keras([50, 20, 40], drawn=drawn), bar("10 9s 900ms/step - loss: 0.7000")]
    log = log_of(lines, tmp_path, ends)
    assert claimed(log) == ["frameworks.keras"]
    assert value(log, "sustained", ONE) == pytest.approx(32 * 200 / 60)
    (session,) = log.sessions
    assert "validation" not in session.facts
    assert session.main["epoch"].tolist() == [1, 2, 3]
    assert session.main["loss"].tolist() == [0.5] * 3


def test_keras_says_that_the_validation_is_in_the_seconds(tmp_path: Path) -> None:
    log = log_of(keras([50, 20], more=" - val_loss: 0.6000 - val_accuracy: 0.7000"), tmp_path)
    assert log.sessions[0].facts["validation"].value == "included"


def test_keras_before_the_validation_is_redrawn_with_it(tmp_path: Path) -> None:
    """Releases of old draw the complete bar twice; the first state is of the training alone."""
    lines = keras([50, 20, 40])
    lines = [
        each + "\r" + bar("100 90s 900ms/step - loss: 0.5 - val_loss: 0.6") if "/step" in each else each
        for each in lines
    ]
    log = log_of(lines, tmp_path)
    assert value(log, "sustained", ONE) == pytest.approx(32 * 200 / 60)
    assert "validation" not in log.sessions[0].facts


@pytest.mark.parametrize("per", ["step", "sample"])
def test_keras_bars_of_samples(per: str, tmp_path: Path) -> None:
    """100 samples in 20 and in 40 seconds, whatever the unit is called: the bar counts what was announced."""
    lines = ["Train on 100 samples, validate on 10 samples", *keras([50, 20, 40], per=per)]
    log = log_of(lines, tmp_path)
    assert claimed(log) == ["frameworks.keras"]
    assert value(log, "sustained", ONE) == pytest.approx(200 / 60)
    assert value(log, "sustained") == pytest.approx(200 / 60)


def test_keras_whole_numbers_that_say_too_little(tmp_path: Path) -> None:
    lines = ["Epoch 1/2", bar("100 0s 3ms/step - loss: 0.5 "), "Epoch 2/2", bar("100 0s 3ms/step - loss: 0.4 ")]
    found = rules.figure("sustained", log_of(lines, tmp_path).sessions[0], ONE)
    assert isinstance(found, NoFigure)


def test_keras_takes_the_longer_number(tmp_path: Path) -> None:
    lines = ["Epoch 1/2", bar("1000 9s 9ms/step - loss: 0.5 "), "Epoch 2/2", bar("1000 8s 7900us/step - loss: 0.4 ")]
    assert value(log_of(lines, tmp_path), "sustained", ONE) == pytest.approx(32 / 0.0079)
    lines = ["Epoch 1/2", bar("1000 9s 9ms/step - loss: 0.5 "), "Epoch 2/2", bar("9000 72s 8ms/step - loss: 0.4 ")]
    assert value(log_of(lines, tmp_path), "sustained", ONE) == pytest.approx(32 * 9000 / 72)


def test_every_fit_of_a_keras_program_is_a_run(tmp_path: Path) -> None:
    lines = ["Train on 100 samples", "WARNING: of something", *keras([50, 20])]
    log = log_of([*lines, bar("10 9s 900ms/step - loss: 0.7 "), *lines], tmp_path)
    assert [len(each.main) for each in log.sessions] == [2, 2]
    assert all("samples" in each.main for each in log.sessions)


def test_other_programs_with_epochs_are_not_keras(tmp_path: Path) -> None:
    assert claimed(log_of(["Epoch 1/10", "loss: 0.5", "Epoch 2/10", "loss: 0.4"], tmp_path)) == []


def lightning(count: int, rate: str, *, epoch: int = 0, more: str = "") -> str:
    return f"Epoch {epoch}: 100%|##########| {count}/{count} [01:40<00:00,  {rate}{more}]"


def test_lightning_of_old_counts_the_validation_too(tmp_path: Path) -> None:
    old = ", loss=0.625, v_num=0"
    bar_of_its_own = "Validation DataLoader 0: 100%|####| 9/9 [00:01<00:00, 9.00it/s]"
    lines = [f"{bar_of_its_own}\r{lightning(99, '5.00it/s', more=old)}"]
    (session,) = log_of(lines, tmp_path).sessions
    assert session.facts["validation"].value == "included"
    lines = [lines[0].replace(old, ", v_num=0, train_loss=0.625")]
    (session,) = log_of(lines, tmp_path).sessions
    assert "validation" not in session.facts


def test_lightning_turns_its_rate_over(tmp_path: Path) -> None:
    lines = [lightning(100, rate, epoch=epoch) for epoch, rate in enumerate(["9.00it/s", "2.00it/s", "1.50s/it"])]
    log = log_of(lines, tmp_path, "\r\n")
    assert claimed(log) == ["frameworks.lightning"]
    assert value(log, "sustained", ONE) == pytest.approx(32 * 200 / (50 + 150))


def test_lightning_by_the_bars_of_rich(tmp_path: Path) -> None:
    """Three epochs of 100 steps at 5, 4 and 8 steps per second, 32 samples each; every state is drawn twice."""
    bar = "Epoch {epoch}/2  ━━━━━━━━ {n}/100 0:00:20 • 0:00:00 {rate:.2f}it/s v_num: 0.000 train_loss: 0.500"
    states = [(epoch, n, rate) for epoch, rate in enumerate((5, 4, 8)) for n in (50, 100, 100)]
    log = log_of([bar.format(epoch=epoch, n=n, rate=rate) for epoch, n, rate in states], tmp_path)
    assert claimed(log) == ["frameworks.lightning"]
    assert value(log, "sustained", {"batch_size_of_job": 32}) == pytest.approx(32 * 200 / (25 + 12.5))


def test_a_resumed_detectron2_began_its_mean_anew(tmp_path: Path) -> None:
    """Resumed at iteration 5000: 0.5 s each for the first 18 that count, then 0.25 s."""
    lines, spent = [], 0.0
    for number in range(1, 6):
        spent += 18 * 0.5 if number == 1 else 20 * 0.25
        mean = spent / (20 * number - 2)
        lines.append(
            f"[11/20 09:00:00 d2.utils.events]:  eta: 0:02:03  iter: {4999 + 20 * number}  total_loss: 4.1  "
            f"loss_cls: 1.2  time: {mean:.10f}  data_time: 0.01  lr: 0.01  max_mem: 3000M"
        )
    log = log_of(lines, tmp_path, "\r\n")
    assert claimed(log) == ["frameworks.detectron2"]
    assert value(log, "sustained", {"devices": 4, "batch_size": 4}) == pytest.approx(16 / 0.25)


def test_keras_bars_that_are_taken_back_by_backspaces(tmp_path: Path) -> None:
    """Keras 2.0 erases every state before it draws the next; what stays is the last, with the validation in it."""
    lines = ["Train on 100 samples, validate on 10 samples"]
    for epoch in (1, 2):
        drawn = ["50/100 [==>...] - ETA: 9s - loss: 0.9", bar("100 30s - loss: 0.7 - acc: 0.5")] * 3
        drawn.append(bar("100 40s 400ms/step - loss: 0.7 - acc: 0.5 - val_loss: 0.8"))
        erased = "".join(f"{each}{chr(8) * len(each)}\r" for each in drawn[:-1]) + drawn[-1]
        lines += [f"Epoch {epoch}/2", erased]
    log = log_of(lines, tmp_path)
    assert value(log, "sustained") == pytest.approx(100 / 40)
    assert log.sessions[0].facts["validation"].value == "included"


def test_keras_with_warnings_before_the_first_bar(tmp_path: Path) -> None:
    warnings = ["2026-11-20 10:00:00.1: I tensorflow/stream_executor] opened", "WARNING:tensorflow:Callbacks are slow"]
    lines = ["Epoch 1/2", *warnings, " 1/100 [>....] - ETA: 9s - loss: 0.9", bar("100 50s 500ms/step - loss: 0.7")]
    lines += ["Epoch 2/2", "  1/Unknown - 1s 500ms/step - loss: 0.5", bar("100 20s 200ms/step - loss: 0.6")]
    assert value(log_of(lines, tmp_path), "sustained", ONE) == pytest.approx(32 / 0.2)


def test_paddle_detection_of_the_static_graph(tmp_path: Path) -> None:
    lines = [
        f"2026-11-20 13:14:40,123-INFO: iter: {20 * i}, lr: 0.000413, 'loss_cls': '0.5', 'loss': '0.7', "
        f"eta: 1 day, 2:03:04, batch_cost: {2 / speed:.5f} sec, ips: {speed:.5f} images/sec"
        for i, speed in enumerate((2.0, 8.0, 4.0))
    ]
    log = log_of(lines, tmp_path)
    assert claimed(log) == ["frameworks.paddle_detection"]
    assert value(log, "sustained", {"devices": 4, "batch_size": 2}) == pytest.approx(4 * 2 / (1 / 8 + 1 / 4))
