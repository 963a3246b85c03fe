"""Simulated logs of PaddlePaddle's programs, whose steps are known.

These logs are too long for files, or have smoothed or random numbers. Small logs are cases in tests/golden.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from made import ONE, bars, dllogger, facts_of, figure, log_of, metrics_of, reason, session_of, value

from perfledger.ingest.compute.measurement import measured
from perfledger.ingest.compute.metrics import metrics
from perfledger.ingest.compute.one_run import one_run
from perfledger.ingest.read.beside import PathFacts
from perfledger.ingest.read.facts import merge
from perfledger.schema.records import Figure, MetricFigure, NoFigure, Reason

CLAS_BATCHES = [
    "[2026/11/20 10:00:00] ppcls INFO: Train : ",
    "[2026/11/20 10:00:00] ppcls INFO:     sampler : ",
    "[2026/11/20 10:00:00] ppcls INFO:         batch_size : 64",
]


def clas_batches(epochs: Sequence[Sequence[int]]) -> list[str]:
    """Return lines of PaddleClas of 2024: `ips` is the last batch's size over the mean cost; a batch takes 0.2 s."""
    return CLAS_BATCHES + [
        f"[2026/11/20 10:00:00] ppcls INFO: [Train][Epoch {epoch + 1}/{len(epochs)}][Iter: {step}/{len(sizes)}]"
        f"lr(Cosine): 0.1, loss: 2.3, batch_cost: 0.20000s, reader_cost: 0.08870, ips: {size / 0.2:.5f} samples/s"
        for epoch, sizes in enumerate(epochs)
        for step, size in enumerate(sizes)
        if step % 10 == 0
    ]


@pytest.mark.parametrize(("steps", "last"), [(51, 44), (201, 40), (201, 3), (11, 3)])
def test_paddle_clas_counts_a_smaller_last_batch_once(tmp_path: Path, steps: int, last: int) -> None:
    epochs = [[64] * (steps - 1) + [last]] * 10
    session = session_of(clas_batches(epochs), tmp_path, "paddle.clas_dygraph")
    assert value(session, devices=4) == pytest.approx(4 * sum(epochs[0]) / (0.2 * steps), rel=1e-3)
    latency = metrics_of(session, devices=4)["latency"]
    assert isinstance(latency, MetricFigure)
    assert latency.value == pytest.approx(200)


@pytest.mark.parametrize(("steps", "code"), [(500, "batch_sizes"), (30000, "")])
def test_paddle_clas_with_several_scales_needs_many_records(tmp_path: Path, steps: int, code: str) -> None:
    """A stated batch size is that of one scale, so it does not help."""
    sizes = np.random.default_rng(1).choice([41, 64, 114], steps).tolist()
    session = session_of(clas_batches([sizes]), tmp_path, "paddle.clas_dygraph")
    if code:
        assert reason(session, "sustained", devices=1) == code
    else:
        assert value(session, devices=1) == pytest.approx(sum(sizes) / (0.2 * steps), rel=0.01)


OCR_DIALECTS = {
    "samples": "reader_cost: 0.01000 s, batch_cost: {cost:.5f} s, samples: {samples}, ips: {ips:.5f}",
    "avg_samples": "avg_reader_cost: 0.01000 s, avg_batch_cost: {cost:.5f} s, avg_samples: {mean}, "
    "ips: {ips:.5f} samples/s, eta: 0:10:00",
}


OCR = "[2026/11/20 10:00:00] {logger} INFO: epoch: [{epoch}/{epochs}], {step}: {at}, lr: 0.1, loss: 2.5, {told}"


def ocr(dialect: str, length: int, epochs: int, last: int, first: int) -> list[str]:
    """Return lines of PaddleOCR: a step has 16 samples except an epoch's last; sums are divided by ten."""
    lines = [
        "[2026/11/20 10:00:00] ppocr INFO: Train : ",
        "[2026/11/20 10:00:00] ppocr INFO:         batch_size_per_card : 16",
    ]
    steps = samples = 0
    for at in range(first, first + length * epochs):
        end = (at - first) % length == length - 1
        steps, samples = steps + 1, samples + (last if end else 16)
        if end or (at > 0 and at % 10 == 0):
            told = OCR_DIALECTS[dialect].format(
                cost=0.02 * steps, samples=samples, mean=samples / 10, ips=samples / (0.2 * steps)
            )
            old, epoch = dialect == "samples", (at - first) // length + 1
            lines.append(
                OCR.format(
                    logger="root" if old else "ppocr", epoch=epoch, epochs=epochs, at=at, told=told,
                    step="iter" if old else "global_step",
                )
            )  # fmt: skip
            steps = samples = 0
    return lines


@pytest.mark.parametrize("dialect", OCR_DIALECTS)
@pytest.mark.parametrize("first", [0, 1])
@pytest.mark.parametrize(("length", "last"), [(12, 16), (63, 16), (13, 5), (4, 16), (6, 16), (30, 16), (10, 16)])
def test_paddle_ocr_divides_by_the_steps_of_the_interval(
    tmp_path: Path, dialect: str, length: int, last: int, first: int
) -> None:
    """The end of an epoch is not a multiple of `print_batch_step`, and steps count from 0 or 1."""
    session = session_of(ocr(dialect, length, 40, last, first), tmp_path, "frameworks.paddle_ocr")
    of_epoch = 16 * (length - 1) + last
    assert value(session, "sustained", devices=1) == pytest.approx(of_epoch / (0.2 * length), rel=0.01)
    latency = metrics_of(session, devices=1)["latency"]
    assert isinstance(latency, MetricFigure)
    assert latency.value == pytest.approx(200, rel=1e-3)
    found = measured(session, facts_of(session) | {"devices": 1})
    # Epochs of ten steps, which count from 1, print multiples of five as well as of ten.
    verdict = "silent" if (dialect, length, first) == ("samples", 10, 1) else "agrees"
    assert [each.verdict for each in found.witnesses if each.kind == "arithmetic"] == [verdict]


def test_paddle_clas_static_reports_epochs_shorter_than_its_mean(tmp_path: Path) -> None:
    lines = [
        f"ppcls INFO: epoch:{epoch}   train step:{step}   lr: 0.1, loss:  2.5 batch_cost: 0.20000 s, "
        "reader_cost: 0.0 s, ips: 80.00000 samples/sec."
        for epoch in range(60)
        for step in range(4)
    ]
    found = figure(session_of(lines, tmp_path, "paddle.clas_static"), "sustained", **ONE)
    assert found == NoFigure(Reason("not_stated", {"missing": "line_steps"}))


def test_paddlenlp_trainer_with_bars_is_paddle(tmp_path: Path) -> None:
    at = "[2026-11-20 10:00:00,123] [    INFO] - "
    lines = [
        f"{at}***** Running training *****",
        f"{at}  Instantaneous batch size per device = 8",
        f"{at}  Total train batch size (w. parallel, distributed & accumulation) = 32",
        f"{at}  Gradient Accumulation steps = 2",
        *bars(600, "2.50it/s"),
        "{'loss': 0.25, 'learning_rate': 4.5e-05, 'global_step': 150, 'epoch': 2.0}",
    ]
    session = session_of(lines, tmp_path, "frameworks.hf_trainer")
    assert facts_of(session)["framework"] == "PaddlePaddle"
    other = session_of([each.rpartition("] - ")[2] for each in lines], tmp_path, "frameworks.hf_trainer")
    assert "framework" not in facts_of(other)


@pytest.mark.parametrize("evaluated", [True, False])
def test_first_paddle_clas_has_evaluations_in_its_means(evaluated: bool, tmp_path: Path) -> None:
    """A mean covers iteration 5 of an epoch to 4 of the next; a batch of 32 takes 0.5 s, and the last 0.1 s."""
    at = "[2021/11/20 10:00:00] root INFO: "
    told = "[Train][Epoch {}/6][Iter: {}/36]loss: 2.3, batch_cost: {:.5f}s, reader_cost: 0, ips: {:.5f} images/sec"
    between = (
        ["[Eval][Epoch 1][Avg]CELoss: 2.3, loss: 2.3", "Already save model in ./output/epoch_1"] if evaluated else []
    )
    lines = []
    for epoch in range(1, 7):
        carried = (30 * 0.5 + 0.1, 31)
        first = 0.5 if epoch == 1 else (carried[0] + (30 if evaluated else 0) + 0.5) / (carried[1] + 1)
        lines += [told.format(epoch, 0, first, 32 / first)]
        lines += [told.format(epoch, step, 0.5, 64) for step in range(5, 35)]
        lines += [told.format(epoch, 35, carried[0] / carried[1], 4 / (carried[0] / carried[1])), *between]
    session = session_of([at + each for each in lines], tmp_path, "paddle.clas_dygraph")
    assert value(session, "sustained", devices=2) == pytest.approx(2 * (30 * 32 + 4) / 15.1, rel=2e-3)


def test_seconds_that_the_clock_contradicts_are_not_a_time_per_step(tmp_path: Path) -> None:
    """A step takes 5 s, and PaddleOCR of 2021 prints 2.25 s, without the metrics."""
    told = "lr: 0.001, loss: 1.5, acc: 0.5, reader_cost: 0.00100 s, batch_cost: 2.25000 s, samples: 512, ips: 227.55556"
    lines = [
        f"[2021/11/20 10:{i // 12:02}:{5 * (i % 12):02}] root INFO: epoch: [1/500], iter: {i}, {told}"
        for i in range(1, 40)
    ]
    session = session_of(lines, tmp_path, "frameworks.paddle_ocr")
    found = measured(session, ONE)
    assert isinstance(found.headline, NoFigure)
    latency = metrics(session, ONE, found.headline, found.slower, found.untimed)["latency"]
    assert (latency.value, latency.reason) == (None, found.headline.reason)


EIGHT_O_CLOCK = dt.datetime(2026, 11, 20, 8)


def test_paddlespeech_counts_a_batch_of_all_ranks_once(tmp_path: Path) -> None:
    lines = [
        f"Train: Rank: {rank}, epoch: 0, step: {n}, lr: 0.001, batch_size: 32, accum: 1, loss: 9.5, step_cost: 0.4, "
        f"iter: {n}, total: 1000, reader_cost: 0.1, batch_cost: 0.5, samples: 32, ips: 64.0 sent./sec"
        for n in range(1, 101)
        for rank in range(4)
    ]
    session = session_of(lines, tmp_path, "paddle.speech")
    assert one_run(session) is None
    assert value(session, devices=4) == pytest.approx(256)


def test_paddlespeech_begins_with_its_arguments(tmp_path: Path) -> None:
    lines = [
        line
        for size in (32, 16)
        for line in (
            "----------- train.py Configuration Arguments -----------",
            "seed: 0",
            *(
                f"Train: Rank: 0, epoch: 0, step: {n}, lr: 0.001, batch_size: {size}, accum: 1, loss: 9.5, "
                f"step_cost: 0.4, iter: {n}, total: 1000, reader_cost: 0.1, batch_cost: 0.5, samples: {size}, "
                f"ips: {size / 0.5} sent./sec"
                for n in range(1, 101)
            ),
        )
    ]
    assert [value(each, devices=4) for each in log_of(lines, tmp_path).sessions] == [
        pytest.approx(256),
        pytest.approx(128),
    ]


def test_paddleocr_for_documents_times_the_forward_pass_alone(tmp_path: Path) -> None:
    # A step on two devices takes 0.4 s, and `batch_cost` shows 0.05 s. Evaluations take 20 s and checkpoints 5 s.
    at, lines = (
        EIGHT_O_CLOCK,
        ["Instantaneous batch size per GPU = 8", "Total train batch size (w. parallel, distributed) = 16"],
    )
    lines = [f"[2026/11/20 07:59:59] root INFO:   {each}" for each in lines]
    for step in range(1, 1001):
        at += dt.timedelta(seconds=0.4)
        epoch, place = divmod(step - 1, 100)
        lines.append(
            f"[{at:%Y/%m/%d %H:%M:%S}] root INFO: epoch: [{epoch}/200], iter: [{place}/100], global_step:{step}, "
            "train loss: 0.250000, lr: 0.000050, avg_reader_cost: 0.00100 sec, avg_batch_cost: 0.05000 sec, "
            "avg_samples: 8.00000, ips: 160.00000 images/sec"
        )
        for every, seconds, said in (
            (200, 20, f"[epoch {epoch}/200] results: {{}}"),
            (100, 5, "Saving model checkpoint to out"),
        ):
            if step % every == 0:
                at += dt.timedelta(seconds=seconds)
                lines.append(f"[{at:%Y/%m/%d %H:%M:%S}] root INFO: {said}")
    session = session_of(lines, tmp_path, "frameworks.paddle_ocr")
    facts = merge({}, session.facts, PathFacts(""), {}).for_rules()
    told = measured(session, facts | {"devices": 2}).headline
    assert isinstance(told, Figure)
    assert told.value == pytest.approx(2 * 8 / 0.4, rel=0.01)


@pytest.mark.parametrize("text", [False, True])
def test_resnet_of_paddlepaddle_prints_one_step_of_many(text: bool, tmp_path: Path) -> None:
    # A printed step takes 0.25 s, and each of the nine before it 0.5 s. An evaluation of 60 s follows each epoch.
    at, lines = 1795169472.5, []

    def log(step: list[int], **told: float) -> None:
        clock = dt.datetime.fromtimestamp(at, dt.UTC).strftime("%Y-%m-%d %H:%M:%S.%f")
        place = " ".join(f"{word}: {each}" for word, each in zip(("Epoch", "Iteration"), step, strict=False))
        words = "  ".join(f"train.{key} : {each}" for key, each in told.items())
        named = {f"train.{key}": each for key, each in told.items()}
        lines.append(f"DLL {clock} - {place}  {words} " if text else dllogger(at, step, named))

    for epoch in range(3):
        for step in range(10, 401, 10):
            at += 0.25 + 9 * 0.5
            log([epoch, step], loss=6.5, top1=0.25, data_time=0.0125, compute_time=0.2375, batch_time=0.25, ips=4096.0)
        log([epoch], loss=6.5, epoch_time=190.0, ips=2155.79)
        at += 60
    session = session_of(lines, tmp_path, "frameworks.dllogger_text" if text else "frameworks.dllogger")
    found = measured(session, facts_of(session)).figures["sustained"]
    assert isinstance(found, Figure)
    assert found.value == pytest.approx(1024 * 10 / 4.75, rel=0.001)
