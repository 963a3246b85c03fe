"""What real trainers of the PaddlePaddle and MindSpore families print under adverse conditions, as measured on a CPU.

Lines are made up after theirs; figures are worked out by hand.
"""

from __future__ import annotations

import datetime as dt
from pathlib import Path

import pytest
from test_dialects import facts_of, reason, session_of, value

from ingest.compute.measurement import measured
from schema.records import Figure, NoFigure, Reason


def nlp_run(epoch: str, speed: str) -> list[str]:
    """Return a run of PaddleNLP's Trainer of 100 planned steps of 4 samples that prints no losses, 3 seconds long."""
    head = "[2026-11-20 11:06:40,250] [    INFO] - "
    return [
        head + "***** Running training *****",
        head + "  Num examples = 10,000",
        head + "  Num Epochs = 1",
        head + "  Instantaneous batch size per device = 4",
        head + "  Total train batch size (w. parallel, distributed & accumulation) = 4",
        head + "  Gradient Accumulation steps = 1",
        head + "  Total optimization steps = 100",
        head + "Training completed.",
        head + f"train_runtime: 3.0, train_samples_per_second: {speed}, train_steps_per_second: 33.3, train_loss: 0.7, "
        f"progress_or_epoch: {epoch}",
    ]


def test_paddlenlp_summary_of_a_run_that_stopped_early_counts_planned_steps(tmp_path: Path) -> None:
    # 30 of 100 steps were taken in 3 seconds: 40 samples/s, of which the summary makes 400 / 3.
    stopped = session_of(nlp_run("0.012", "133.3333"), tmp_path, "paddle.nlp_trainer")
    assert facts_of(stopped)["data_set_size"] == 10_000
    found = measured(stopped, facts_of(stopped)).headline
    assert isinstance(found, NoFigure)
    assert found.reason == Reason("early_summary", {"done": "0.012", "total": "0.04", "line": 9})
    whole = session_of(nlp_run("0.04", "133.3333"), tmp_path, "paddle.nlp_trainer")
    headline = measured(whole, facts_of(whole)).headline
    assert isinstance(headline, Figure)
    assert headline.value == 133.3333


def test_paddlenlp_tells_the_seconds_of_one_interval_where_lines_are_missing(tmp_path: Path) -> None:
    # 10 updates of 32 samples in 5 s, of which every third interval is printed, but for the last ones.
    head = [
        each.replace("10,000", "32,000").replace("accumulation) = 4", "accumulation) = 32")
        for each in nlp_run("", "")[:6]
    ]
    for told, found in ((5.0, 64), (2.5, "withheld")):
        lines = []
        for step in (*range(30, 900, 30), *range(900, 1001, 10)):
            at = dt.datetime(2026, 11, 20, 12) + dt.timedelta(seconds=step / 2)
            lines.append(
                f"[{at:%Y-%m-%d %H:%M:%S},250] [    INFO] - loss: 8.125, learning_rate: 1e-05, global_step: {step}, "
                f"interval_runtime: {told}, interval_samples_per_second: 64.0, interval_steps_per_second: 2.0, epoch: 0"
            )
        session = session_of([*head, *lines], tmp_path, "paddle.nlp_trainer")
        headline = measured(session, facts_of(session)).headline
        assert (headline.value if isinstance(headline, Figure) else headline.reason.code) == found


def detection(epoch: int, seconds: float, total: int) -> str:
    """Return the line of an epoch's first iteration, of 4 images per batch."""
    return (
        f"[11/20 13:14:40] ppdet.engine INFO: Epoch: [{epoch}] [0/{total}] learning_rate: 0.001 loss: 1.0 eta: 0:00:05 "
        f"batch_cost: {seconds:.4f} data_cost: 0.0010 ips: {4 / seconds:.4f} images/s"
    )


def test_paddledetection_in_short_epochs_shows_its_start_for_some_of_them(tmp_path: Path) -> None:
    # Epochs of 5 iterations of 0.2 s, the first of 60.2 s: means of 20 iterations hold it up to the fourth line.
    means = [(60 + 0.2 * seen) / seen for seen in (1, 6, 11, 16)] + [0.2] * 6
    lines = [detection(epoch, mean, 5) for epoch, mean in enumerate(means)]
    session = session_of(lines, tmp_path, "frameworks.paddle_detection")
    assert session.records[0]["epoch"].tolist() == [0, 4, 5, 6, 7, 8, 9]
    assert value(session, "sustained") == pytest.approx(20)


def test_paddledetection_in_epochs_of_the_usual_interval_keeps_all_lines(tmp_path: Path) -> None:
    lines = [detection(epoch, 0.2, 20) for epoch in range(10)]
    assert len(session_of(lines, tmp_path, "frameworks.paddle_detection").records[0]) == 10


def test_mindspore_times_without_states_are_counted_without_evaluations(tmp_path: Path) -> None:
    # Epochs of 20 steps of a second; the evaluation of every other one counts within its time.
    plain = "Train epoch time: 20000.000 ms, per step time: 1000.000 ms"
    evaluated = [
        "Eval epoch time: 25000.000 ms, per step time: 5000.000 ms",
        "Train epoch time: 45000.000 ms, per step time: 2250.000 ms",
    ]
    session = session_of([plain, *evaluated] * 4, tmp_path, "dlperf.mindspore")
    assert session.records[0]["step"].tolist() == [20, 40, 60, 80]
    assert value(session, devices=2, batch_size=8) == pytest.approx(16)


def hapi(epochs: int, means: list[str], *, evaluated: bool = False) -> list[str]:
    """Return the lines of `Model.fit`: in each epoch of 40 steps a line per 10 of them, with these mean times."""
    lines = [
        "The loss value printed in the log is the current step, and the metric is the average value of previous steps."
    ]
    for epoch in range(1, epochs + 1):
        lines.append(f"Epoch {epoch}/{epochs}")
        lines += [f"step {10 * n}/40 - loss: 0.6497 - acc: 1.0000 - {mean}/step" for n, mean in enumerate(means, 1)]
        if evaluated:
            lines += ["Eval begin...", "step 3/3 - loss: 0.2040 - acc: 1.0000 - 2s/step", "Eval samples: 20"]
    return lines


def test_hapi_undoes_the_means_of_an_epoch_and_reads_no_evaluation(tmp_path: Path) -> None:
    # 10 steps of 100 ms, then 10 of 300 ms, then 20 of 100 ms: 6 s for 40 steps of 2 × 8 samples in each epoch.
    lines = hapi(6, ["100ms", "200ms", "167ms", "150ms"], evaluated=True)
    session = session_of(lines, tmp_path, "paddle.hapi")
    assert len(session.records[0]) == 24
    assert value(session, devices=2, batch_size=8) == pytest.approx(640 / 6)


def test_hapi_lines_of_one_digit_are_left_out_where_they_are_few(tmp_path: Path) -> None:
    # A start that takes seconds is printed as a whole number of them.
    lines = hapi(5, ["100ms"] * 4)
    lines[2] = lines[2].replace("100ms", "2s")
    assert len(session_of(lines, tmp_path, "paddle.hapi").records[0]) == 19
    assert reason(session_of(hapi(5, ["1s"] * 4), tmp_path, "paddle.hapi"), devices=1, batch_size=8) == "coarse_seconds"
    assert (
        reason(session_of(hapi(5, ["9ms"] * 4), tmp_path, "paddle.hapi"), devices=1, batch_size=8) == "coarse_seconds"
    )


def test_hapi_states_of_a_bar_are_lines_like_others(tmp_path: Path) -> None:
    bars = [each.replace(" - loss", " [====>...] - loss") for each in hapi(1, ["100ms", "200ms", "167ms", "150ms"])]
    drawn = "\n".join(bars[:2]) + "\n\r" + ("\b" * 80 + "\r").join(bars[2:])
    session = session_of([drawn], tmp_path, "paddle.hapi")
    assert session.records[0]["step"].tolist() == [10, 20, 30, 40]
    assert value(session, devices=2, batch_size=8) == pytest.approx(640 / 6)


def test_hapi_in_full_counts_samples_of_the_job(tmp_path: Path) -> None:
    speed = "- avg_reader_cost: 0.01000 sec - avg_batch_cost: 0.09000 sec - ips: 160.00000 samples/sec - 100ms"
    lines = [each.replace("- 100ms", speed) for each in hapi(6, ["100ms"] * 4, evaluated=True)]
    lines = [each.replace("- 2s", speed.replace("160", "500")) for each in lines]
    assert value(session_of(lines, tmp_path, "paddle.hapi"), devices=2) == pytest.approx(160)


def test_hapi_with_lines_missing_or_between(tmp_path: Path) -> None:
    whole = hapi(6, ["100ms", "100ms", "100ms", "100ms"], evaluated=True)
    noisy = [line for each in whole for line in (each, "ips: 127.0.0.1")]
    # 10 steps of 9 s, then, behind lines that are lost, 30 steps of 3 s: those of another epoch.
    lost = [each for n, each in enumerate(whole) if n not in range(3, 12)]
    lost[2] = lost[2].replace("100ms", "900ms")
    unannounced = [each for each in whole if each != "Eval begin..."]
    for lines in (whole, noisy, unannounced):
        session = session_of(lines, tmp_path, "paddle.hapi")
        assert value(session, "sustained", devices=1, batch_size=8) == pytest.approx(80)
    assert value(session_of(lost, tmp_path, "paddle.hapi"), devices=1, batch_size=8) == pytest.approx(1680 / 29)


def ocr(epoch: int, step: int, clock: str, seconds: float) -> str:
    """Return a line of PaddleOCR for 10 steps of 8 samples."""
    return (
        f"[2026/11/20 {clock}] ppocr INFO: epoch: [{epoch}/9], global_step: {step}, lr: 0.001000, loss: 1.250000, "
        f"avg_reader_cost: 0.00000 s, avg_batch_cost: {seconds:.5f} s, avg_samples: 8.0, "
        f"ips: {8 / seconds:.5f} samples/s, eta: 0:00:09"
    )


def test_paddleocr_saves_within_the_first_record_of_an_epoch(tmp_path: Path) -> None:
    # Steps of 0.2 s; the 5 s of a checkpoint after each epoch of 30 steps fall to the record that follows.
    lines = []
    for epoch in range(1, 6):
        for part, seconds in enumerate((0.7 if epoch > 1 else 0.2, 0.2, 0.2)):
            step = 30 * (epoch - 1) + 10 * (part + 1)
            lines.append(ocr(epoch, step, "13:14:40", seconds))
        lines.append("[2026/11/20 13:14:40] ppocr INFO: save model in ./output/db_mv3/latest")
    assert value(session_of(lines, tmp_path, "frameworks.paddle_ocr"), "sustained", devices=1) == pytest.approx(40)


def test_an_evaluation_outside_the_timer_says_nothing_against_it(tmp_path: Path) -> None:
    # 200 s of training per record, and before every other one 300 s of evaluation with its line.
    lines, at = [], dt.datetime(2026, 11, 20, 8)
    for n in range(1, 21):
        at += dt.timedelta(seconds=200)
        lines.append(ocr(1, 10 * n, f"{at:%H:%M:%S}", 20))
        if n % 2:
            at += dt.timedelta(seconds=300)
            lines.append(f"[2026/11/20 {at:%H:%M:%S}] ppocr INFO: cur metric, precision: 0.5, hmean: 0.33, fps: 45.5")
    session = session_of(lines, tmp_path, "frameworks.paddle_ocr")
    found = measured(session, facts_of(session) | {"devices": 1})
    assert isinstance(found.headline, Figure)
    assert found.headline.value == pytest.approx(0.4)
    clock = next(each for each in found.witnesses if each.kind == "clock")
    assert (clock.verdict, clock.difference) == ("agrees", pytest.approx(0, abs=0.1))


def seg(n: int, at: dt.datetime) -> str:
    """Return a line of PaddleSeg for 100 iterations of 0.4 s with 4 samples each."""
    return (
        f"{at:%Y-%m-%d %H:%M:%S} [INFO]\t[TRAIN] epoch: 1, iter: {100 * n}/9000, loss: 2.5, lr: 0.009919, "
        "batch_cost: 0.4000, reader_cost: 0.01000, ips: 10.0000 samples/sec | ETA 00:03:57"
    )


@pytest.mark.parametrize("evaluated", [False, True])
def test_paddleseg_leaves_out_the_moving_average_of_the_weights(evaluated: bool, tmp_path: Path) -> None:
    # By the clock 42 s for 100 iterations: 5 % beside `batch_cost`. An evaluation of 20 s stands apart from it.
    lines, at = [], dt.datetime(2026, 11, 20, 8)
    for n in range(1, 41):
        at += dt.timedelta(seconds=42)
        lines.append(seg(n, at))
        if evaluated and n % 2:
            at += dt.timedelta(seconds=20)
            lines.append(f"{at:%Y-%m-%d %H:%M:%S} [INFO]\t[EVAL] #Images: 20 mIoU: 0.1000 Acc: 0.3000")
    session = session_of(lines, tmp_path, "paddle.seg")
    found = measured(session, facts_of(session) | {"devices": 1}).headline
    assert isinstance(found, Figure)
    assert found.value == pytest.approx(10 / 1.05, rel=1e-3)


def clas_2021(epoch: int, iteration: int, seconds: float, size: int = 8) -> str:
    """Return a line of PaddleClas of 2021, whose means run since iteration 5 of the epoch of 41."""
    return (
        f"[2026/11/20 13:14:40] root INFO: [Train][Epoch {epoch}/20][Iter: {iteration}/41]lr: 0.1, CELoss: 2.02106, "
        f"loss: 2.02106, top1: 0.07031, batch_cost: {seconds:.5f}s, reader_cost: 0.02000, "
        f"ips: {size / seconds:.5f} images/sec, eta: 12:17:54"
    )


def test_paddleclas_of_2021_prints_means_that_are_undone(tmp_path: Path) -> None:
    # Iterations of 0.2 s, of which one of the second line stalls for 3.2 s: 36 of them take 10.4 s since iteration 5.
    # The last one, of 3 images in place of 8, makes 283 images of 288; line 0 of the next epoch begins in this one.
    means = {0: 0.3, 10: 0.2, 20: 0.4, 30: 8.4 / 26, 40: 10.4 / 36}
    lines = [
        clas_2021(epoch, at, mean, 3 if at == 40 else 8) for epoch in range(1, 5) for at, mean in means.items()
    ]  # fmt: skip
    session = session_of(lines, tmp_path, "paddle.clas_dygraph")
    assert value(session, devices=1, batch_size=8) == pytest.approx(283 / 10.4, rel=1e-3)


def test_mindocr_is_no_other_program_of_mindspore_and_times_no_evaluation(tmp_path: Path) -> None:
    # 20 steps of 0.25 s per line with 8 images each, then an evaluation of a minute that the clock shows.
    lines, at = [], dt.datetime(2026, 11, 20, 8)
    for epoch in range(1, 9):
        for step in (20, 40):
            at += dt.timedelta(seconds=5)
            lines.append(
                f"[{at:%Y-%m-%d %H:%M:%S}] mindocr.utils.callbacks INFO - epoch: [{epoch}/8] step: [{step}/40], "
                "loss: 2.75, lr: 0.000500, per step time: 250.000 ms, fps per card: 32.00 img/s"
            )
        lines.append(
            f"[{at:%Y-%m-%d %H:%M:%S}] mindocr.utils.callbacks INFO - epoch: [{epoch}/8], loss: 2.5, "
            "epoch time: 10.000 s, per step time: 250.000 ms, fps per card: 32.00 img/s"
        )
        at += dt.timedelta(seconds=60)
    assert value(session_of(lines, tmp_path, "frameworks.mindocr"), "sustained", devices=2) == pytest.approx(64)
    of_epochs = [each for each in lines if "epoch time" in each]
    assert value(session_of(of_epochs, tmp_path, "frameworks.mindocr"), "sustained", devices=2) == pytest.approx(64)


def mindcv(epoch: int, batch: int, seconds: float, at: dt.datetime) -> str:
    """Return a line of MindCV, in epochs of 40 batches."""
    return (
        f"[{at:%Y-%m-%d %H:%M:%S}] mindcv.utils.callbacks INFO - Epoch: [{epoch}/12], batch: [{batch}/40], "
        f"loss: 6.875000, lr: 0.050000, time: {seconds:.6f}s"
    )


def test_mindcv_has_one_line_per_epoch_where_the_data_sink(tmp_path: Path) -> None:
    # 40 batches of 8 in 80 s.
    at = dt.datetime(2026, 11, 20, 8)
    lines = [mindcv(epoch, 40, 80, at) for epoch in range(1, 9)]
    session = session_of(lines, tmp_path, "frameworks.mindcv")
    assert value(session, devices=2, batch_size=8) == pytest.approx(8)


def test_mindcv_counts_no_steps_of_a_missing_line(tmp_path: Path) -> None:
    # The line of batch 20 of the second epoch is lost, and the file begins within an epoch.
    at = dt.datetime(2026, 11, 20, 8)
    places = [(1, 30), (1, 40), (2, 1), (2, 10), (2, 30), (2, 40), *((3, each) for each in (1, 10, 20, 30, 40))]
    lines = [mindcv(epoch, batch, 2 if batch == 1 else 18 if batch == 10 else 20, at) for epoch, batch in places]
    session = session_of(lines, tmp_path, "frameworks.mindcv")
    assert session.records[0]["step"].tolist() == [40, 1, 10, 40, 1, 10, 20, 30, 40]
    assert value(session, devices=2, batch_size=8) == pytest.approx(8)


def test_mindcv_waits_for_data_outside_its_time(tmp_path: Path) -> None:
    # 10 batches in 60 s by the clock, of which 40 s are steps; between epochs 100 s pass.
    lines, at = [], dt.datetime(2026, 11, 20, 8)
    for epoch in range(1, 9):
        for batch in (1, 10, 20, 30, 40):
            at += dt.timedelta(seconds=6 if batch == 1 else 54 if batch == 10 else 60)
            lines.append(mindcv(epoch, batch, 4 if batch == 1 else 36 if batch == 10 else 40, at))
        at += dt.timedelta(seconds=100)
        lines.append(
            f"[{at:%Y-%m-%d %H:%M:%S}] mindcv.utils.callbacks INFO - Total time since last epoch: 340.000000(train"
        )
    session = session_of(lines, tmp_path, "frameworks.mindcv")
    found = measured(session, facts_of(session) | {"devices": 2, "batch_size": 8}).headline
    assert isinstance(found, Figure)
    assert found.value == pytest.approx(160 / 60, rel=1e-3)
