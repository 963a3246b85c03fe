"""What Paddle's model libraries print under adverse conditions.

Lines are made up after theirs; figures are worked out by hand.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable
from pathlib import Path

import pytest
from test_dialects import facts_of, reason, session_of, value

from ingest.compute.measurement import measured
from ingest.compute.second_run import second_run
from schema.records import Figure, NoFigure

#: Samples per step, the seconds of a step that does not wait, and those of one that does.
BATCH, QUICK, SLOW = 96, 0.25, 0.75


def bert(head: str, seconds: Iterable[float], *, twice: bool = False, samples: float = BATCH) -> list[str]:
    """Return lines of BERT's pre-training, of 10 steps each; what a step takes above QUICK is waiting for data."""
    return [
        f"{head} {10 * n}, epoch: 0, batch: {10 * n - 1}, loss: 9.500000, avg_reader_cost: {each - QUICK:.5f} sec, "
        f"avg_batch_cost: {each:.5f} sec, avg_samples: {samples:.5f}, "
        f"ips: {samples / (each + (each - QUICK if twice else 0)):.5f} sequences/sec"
        for n, each in enumerate(seconds, 1)
    ]


@pytest.mark.parametrize(("head", "twice"), [("total step:", True), ("tobal step:", False), ("global step:", False)])
def test_bert_waits_for_data_within_its_batch_cost(head: str, twice: bool, tmp_path: Path) -> None:
    # 2 of 4 records wait: 40 steps in 20 seconds. The static graph divides by the wait twice.
    session = session_of(bert(head, [QUICK, SLOW] * 10, twice=twice), tmp_path, "paddle.nlp_bert")
    assert value(session, devices=8) == pytest.approx(8 * BATCH / 0.5)


def test_bert_counts_each_step_once_though_every_rank_prints_it(tmp_path: Path) -> None:
    ranks = [bert("total step:", [QUICK + rank / 1000] * 20) for rank in range(4)]
    session = session_of([line for step in zip(*ranks, strict=True) for line in step], tmp_path, "paddle.nlp_bert")
    assert second_run(session) is None
    assert value(session, devices=4) == pytest.approx(4 * BATCH / (QUICK + 0.0015), rel=1e-3)


def test_bert_of_another_file_counts_its_own_steps(tmp_path: Path) -> None:
    # In the fifth record a file of data ends after 6 steps, of which it says nothing: its `ips` is that of 10.
    lines = bert("global step:", [QUICK] * 10)
    lines[4] = lines[4].replace("96.00000", "38.40000").replace("384.00000", "153.60000")
    session = session_of(lines, tmp_path, "paddle.nlp_bert")
    assert session.records[0]["step"].tolist() == [10, 20, 30, 40, 60, 70, 80, 90, 100]
    assert value(session, devices=2) == pytest.approx(2 * BATCH / QUICK)


def test_bert_states_its_arguments_in_lines(tmp_path: Path) -> None:
    head = ["-----------  Configuration Arguments -----------", "batch_size: 96", "max_steps: 100", "use_amp: True"]
    lines = [*head, "model_name_or_path: bert-base-uncased", *bert("global step:", [QUICK] * 6)]
    assert facts_of(session_of(lines, tmp_path, "paddle.nlp_bert")) == {
        "batch_size": 96, "precision": "amp", "model": "bert-base-uncased", "total_steps": 100,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("words", "unit"), [("sequences", "sequences/s"), ("sample", "samples/s"), ("words", "words/s")]
)
def test_tipc_counts_what_its_model_reads(words: str, unit: str, tmp_path: Path) -> None:
    # Every other record waits as long as it trains.
    lines = [
        f"global step {10 * n} / 1000, loss: 0.25, avg_reader_cost: 0.00200 sec, avg_batch_cost: {each:.5f} sec, "
        f"avg_samples: 4.00000, ips: {4 / each:.5f} {words}/sec"
        for n, each in enumerate([0.25, 0.5] * 10, 1)
    ]
    session = session_of(lines, tmp_path, "paddle.nlp_bert")
    found = measured(session, facts_of(session) | {"devices": 8}).headline
    assert isinstance(found, Figure)
    assert (found.unit, found.value) == (unit, pytest.approx(8 * 4 / 0.375))


def translated(steps: Iterable[int], per_line: int = 50_000) -> list[str]:
    """Return lines of PaddleNLP's Transformer: steps of 0.5 s and 5,000 words, of which ten are printed together."""
    return [
        f"2026-11-20 {17 + n // 7200}:{n // 120 % 60:02d}:{n // 2 % 60:02d},000-INFO: step_idx: {n}, epoch: 0, "
        f"batch: {n}, avg loss: 8.5, normalized loss: 7.1, ppl: 5000.0, avg_speed: 2.00 step/s, "
        f"batch_cost: 0.50000 sec, reader_cost: 0.00010 sec, tokens: {per_line}, ips: 10000.00000 words/sec"
        for n in steps
    ]


def test_translation_tells_the_words_of_one_interval_where_lines_are_missing(tmp_path: Path) -> None:
    # Two of three lines are missing, but for the last ones.
    steps = [*range(30, 900, 30), *range(900, 1000, 10)]
    session = session_of(translated(steps), tmp_path, "paddle.nlp_transformer")
    found = measured(session, facts_of(session) | {"devices": 8}).headline
    assert isinstance(found, Figure)
    assert found.value == pytest.approx(8 * 10000)
    session = session_of(translated(range(10, 1000, 10), 100_000), tmp_path, "paddle.nlp_transformer")
    assert isinstance(measured(session, facts_of(session)).headline, NoFigure)


@pytest.mark.parametrize(("first", "unit"), [(0, "ins/s"), (1, "images/sec")])
def test_paddlerec_divides_the_first_batch_of_an_epoch_by_the_interval(first: int, unit: str, tmp_path: Path) -> None:
    # Batches of 50 samples in 0.05 s; the first line of an epoch is of one batch or two, of which it tells a tenth.
    lines = []
    for epoch in range(3):
        for batch in range(first, 60, 10):
            share = 1 if batch > 1 else 0.1 * (1 + first)
            lines.append(
                f"2026-11-20 13:37:10,000 - INFO - epoch: {epoch}, batch_id: {batch}, auc:0.500000,  "
                f"avg_reader_cost: 0.00000 sec, avg_batch_cost: {0.05 * share:.5f} sec, "
                f"avg_samples: {50 * share:.5f}, ips: 1000.00000 {unit}"
            )
    head = "2026-11-20 13:37:10,000 - INFO - use_gpu: True, train_batch_size: 50, epochs: 3, print_interval: 10"
    for log in (lines, [head, *lines]):
        session = session_of(log, tmp_path, "paddle.rec")
        assert facts_of(session)["batch_size"] == 50
        assert value(session, devices=1) == pytest.approx(1000)


def gan(images: int, batch: int | None = None) -> list[str]:
    """Return lines of PaddleGAN, 10 iterations of 0.5 s each, whose `ips` counts so many images per iteration."""
    lines = [
        f"[11/20 13:14:40] ppgan.engine.trainer INFO: Iter: {10 * n}/200 lr: 1.000e-04 loss_pixel: 0.125 "
        f"batch_cost: 0.50000 sec reader_cost: 0.01000 sec ips: {images / 0.5:.5f} images/s eta: 0:23:20"
        for n in range(1, 21)
    ]
    head = f"ppgan INFO: Configs: {{'dataset': {{'train': {{'name': 'A', 'batch_size': {batch}}}, 'test': {{}}}}}}"
    return [head, *lines] if batch else lines


def test_paddlegan_that_counts_one_image_per_iteration_is_read_by_its_seconds(tmp_path: Path) -> None:
    for images in (1, 16):
        session = session_of(gan(images, 16), tmp_path, "paddle.gan")
        assert value(session, "sustained", devices=8) == pytest.approx(8 * 32)
    # Where no configuration is printed, one image per iteration may be a batch of one, or of any size.
    assert reason(session_of(gan(1), tmp_path, "paddle.gan"), "sustained", devices=8) == "no_batch_size"
    assert value(session_of(gan(1, 1), tmp_path, "paddle.gan"), "sustained", devices=8) == pytest.approx(16)


def test_the_batch_of_paddlegan_is_that_of_its_training(tmp_path: Path) -> None:
    train, test = "'train': {{'name': 'A'{}}}", "'test': {'name': 'B', 'batch_size': 1}"
    for batch, told in ((", 'batch_size': 16", 16), ("", None)):
        for sections in ((test, train.format(batch)), (train.format(batch), test)):
            head = f"ppgan INFO: Configs: {{'dataset': {{{', '.join(sections)}}}, 'epochs': 2}}"
            session = session_of([head, *gan(16)], tmp_path, "paddle.gan")
            assert facts_of(session).get("batch_size") == told, sections


def test_glue_counts_each_step_once_and_no_evaluation(tmp_path: Path) -> None:
    # 50 steps in 5 s, of 32 samples on each of 2 devices; behind every fourth line an evaluation of 45 s.
    lines = ["init nccl context nranks: 2 local rank: 0", "batch_size: 32"]
    for n in range(1, 21):
        rate = 1.0 if n % 4 == 1 and n > 1 else 10.0
        lines += [
            f"global step {50 * n}/1000, epoch: 0, batch: {50 * n - 1}, rank_id: {rank}, loss: 0.500000, "
            f"lr: 0.0000100000, speed: {rate:.4f} step/s"
            for rank in range(2)
        ]
        if n % 4 == 0:
            lines.append("eval loss: 0.500000, acc: 0.750000, eval done total : 45.0 s")
    assert value(session_of(lines, tmp_path, "paddle.nlp_glue"), "sustained") == pytest.approx(640)


def test_ernie_saves_within_the_record_that_follows(tmp_path: Path) -> None:
    # 20 updates of 512 sequences in 10 s; of every fifth record 15 s are a checkpoint.
    head = "[    INFO] - "
    lines = [head + f"{'global_batch_size':20}:512"]
    for n in range(1, 26):
        seconds = 25 if n % 5 == 1 and n > 1 else 10
        lines.append(
            f"{head}global step {20 * n}, loss: 8.250000, lm_loss: 7.500000, sop_loss: 0.750000, "
            f"speed: {20 / seconds:.2f} steps/s, ips: {20 * 512 / seconds:.2f} seqs/s, learning rate: 1.00000e-05, "
        )
        if n % 5 == 0:
            lines.append("[   DEBUG] - saving models to output/model_last")
    session = session_of(lines, tmp_path, "paddle.fleetx")
    assert facts_of(session)["batch_size_of_job"] == 512
    assert value(session, "sustained") == pytest.approx(1024)


def test_paddlespeech_times_one_batch_in_each_line(tmp_path: Path) -> None:
    lines = [
        f"Train: Rank: 0, epoch: 0, step: {5 * n}, lr: 0.001, batch_size: 32, accum: 2, loss: 9.5, step_cost: 0.4, "
        f"iter: {10 * n}, total: 1000, reader_cost: 0.1, batch_cost: 0.5, samples: 32, ips: 64.0 sent./sec"
        for n in range(1, 11)
    ]
    assert value(session_of(lines, tmp_path, "paddle.speech"), devices=8) == pytest.approx(512)


LAUNCHED = [
    "LAUNCH INFO 2026-11-20 07:49:49,627 devices: None",
    "LAUNCH INFO 2026-11-20 07:49:49,627 nnodes: 4",
    "LAUNCH INFO 2026-11-20 07:49:49,628 Run Pod: abcdef, replicas 8, status ready",
]
SEG = (
    "2026-11-20 11:50:10 [INFO]\t[TRAIN] epoch: 1, iter: {}/900, loss: 2.5, lr: 0.01, batch_cost: 0.5000, "
    "reader_cost: 0.00100, ips: 8.0000 samples/sec | ETA 00:03:57"
)
VIDEO = (
    "[11/20 10:00:00] epoch:[  1/50 ] train step:{} loss: 1.25 lr: 0.01 batch_cost: 0.50000 sec, "
    "reader_cost: 0.00100 sec, ips: 8.00000 instance/sec."
)
HAPI = "step {}/900 - loss: 0.1 - 500ms/step"


@pytest.mark.parametrize(("format_id", "line"), [("paddle.seg", SEG), ("paddle.video", VIDEO), ("paddle.hapi", HAPI)])
def test_the_launcher_states_nodes_and_devices(format_id: str, line: str, tmp_path: Path) -> None:
    head = [*LAUNCHED, "Epoch 1/1"]
    session = session_of([*head, *(line.format(10 * n) for n in range(1, 9))], tmp_path, format_id)
    assert {name: facts_of(session)[name] for name in ("nodes", "devices_per_node")} == {
        "nodes": 4,
        "devices_per_node": 8,
    }


@pytest.mark.parametrize(
    ("degrees", "devices"),
    [
        ("dp_degree: 8, mp_degree: 1, pp_degree: 1", 8),
        ("mp_degree: 1, sharding_degree: 1, pp_degree: 1, dp_degree: 8", 8),
        ("mp_degree: 1, sharding_degree: 4, pp_degree: 1, dp_degree: 2, sep_degree: 1", 8),
        # A rank has no batch of its own, and what it prints is not its share of the job.
        ("mp_degree: 1, sharding_degree: 1, pp_degree: 1, dp_degree: 2, sep_degree: 4", None),
        ("mp_degree: 4, sharding_degree: 1, pp_degree: 1, dp_degree: 2", None),
    ],
)
def test_fleet_states_the_devices(degrees: str, devices: int | None, tmp_path: Path) -> None:
    line = "2026-11-20 13:37:10,000 - INFO - epoch: 0, batch_id: {}, auc:0.500000,  avg_reader_cost: 0.00000 sec, "
    costs = "avg_batch_cost: 0.05000 sec, avg_samples: 50.00000, ips: 1000.00000 ins/s"
    head = (
        f"[2026-11-20 13:37:09,000] [    INFO] topology.py:215 - HybridParallelInfo: rank_id: 0, {degrees}, "
        "mp_group: [0]"
    )
    lines = [head, *(line.format(10 * n) + costs for n in range(1, 9))]
    session = session_of(lines, tmp_path, "paddle.rec")
    assert facts_of(session).get("devices") == devices
    assert value(session) == pytest.approx(1000 * (devices or 1))


def test_erniekit_counts_samples_of_the_job_and_no_rounded_steps(tmp_path: Path) -> None:
    # 64 samples in 160 s; 0.00625 steps per second are printed as 0.0063.
    lines = ["[2026-11-20 11:06:40,250] [    INFO] - ***** Running training *****"]
    lines += [
        f"[    INFO] - loss: 2.5, loss_cur_dp: 2.25, learning_rate: 1.666667e-06, global_step: {n}, "
        "mem_allocated_gb: 20.25, max_mem_allocated_gb: 40.5, global_runtime: 160.000000, "
        "global_samples_per_second: 0.400000, global_steps_per_second: 0.006300, tokens_trained_current_step: 524288, "
        "tokens_per_sec_per_card: 3303.000000, progress_or_epoch: 0.020000"
        for n in range(1, 11)
    ]
    session = session_of(lines, tmp_path, "paddle.nlp_trainer")
    assert value(session) == pytest.approx(0.4)
    assert session.records[0]["memory"].tolist() == [41472] * 10


TRANSFORMER = (
    "step_idx: {step}, epoch: 0, batch: {step}, avg loss: 8.06, normalized loss: 6.69, ppl: 3173.40, "
    "avg_speed: 2.00 step/sec, batch_cost: 0.50000 sec, reader_cost: 0.00014 sec, tokens: 90000, ips: 9000.0 words/sec"
)
BERT = (
    "global step: {step}, epoch: 0, batch: 9, loss: 9.5, avg_reader_cost: 0.00100 sec, avg_batch_cost: 0.50000 sec, "
    "avg_samples: 4500.00000, ips: 9000.00000 sequences/sec"
)
GPT = (
    "global step {step}, epoch: 0, batch: 9, loss: 10.5, avg_reader_cost: 0.00100 sec, avg_batch_cost: 0.50000 sec, "
    "speed: 2.00 step/s, ips_total: 9000 tokens/s, ips: 9000 tokens/s, learning rate: 1.00000e-05"
)


@pytest.mark.parametrize(
    ("format_id", "line", "pause"),
    [
        (
            "paddle.nlp_transformer",
            TRANSFORMER,
            "validation, step_idx: 20, avg loss: 4.2, normalized loss: 2.8, ppl: 65",
        ),
        ("paddle.nlp_bert", BERT, "tokenizer config file saved in output/model_20/tokenizer_config.json"),
        ("paddle.fleetx", GPT, "valid step 20, batch: 10, loss: 10.5, avg_reader_cost: 0.1 sec, ips: 900 tokens/s"),
    ],
)
def test_what_the_timer_leaves_out_says_nothing_against_it(
    format_id: str, line: str, pause: str, tmp_path: Path
) -> None:
    # 20 steps of half a second per line, and behind every other line 30 s of something else.
    lines, at = [], dt.datetime(2026, 11, 20, 8)
    for n in range(1, 25):
        at += dt.timedelta(seconds=10)
        lines.append(f"[{at:%Y-%m-%d %H:%M:%S},000] [    INFO] - {line.format(step=20 * n)}")
        if n % 2 == 0:
            at += dt.timedelta(seconds=30)
            lines.append(f"[{at:%Y-%m-%d %H:%M:%S},000] [    INFO] - {pause}")
    session = session_of(lines, tmp_path, format_id)
    found = measured(session, facts_of(session) | {"devices": 1}).headline
    assert isinstance(found, Figure)
    assert found.value == pytest.approx(9000)


def test_fleetx_evaluates_and_saves_within_the_record_that_follows(tmp_path: Path) -> None:
    # Steps of half a second; behind every fifth line of 10 steps 15 s of evaluation and 10 s of a checkpoint.
    head, lines = "[2026-11-20] [    INFO] - ", []
    for n in range(1, 26):
        seconds = 3.0 if n % 5 == 1 and n > 1 else 0.5
        lines.append(
            f"{head}[train] epoch: [0/1], batch: [{10 * n - 1}/1000], loss: 10.5, avg_batch_cost: {seconds:.5f} sec, "
            f"speed: {1 / seconds:.2f} step/s, ips_total: {32768 / seconds:.0f} tokens/s, ips: 1 tokens/s"
        )
        if n % 5 == 0:
            lines.append(
                f"{head}[eval] epoch: [0/1], batch: [9/10], loss: 10.5, avg_eval_cost: 1.5 sec, speed: 1 step/s"
            )
            lines.append(f"{head}Save model to ./output/epoch_0_step_50")
    assert value(session_of(lines, tmp_path, "paddle.fleetx"), "sustained") == pytest.approx(65536)


def test_paddle3d_resumed_undoes_the_means_of_its_program(tmp_path: Path) -> None:
    # From iteration 100 on 10 of half a second each, of which the first is not timed; the second ten of every
    # fourth record take a second each, and behind the tenth record an evaluation of 60 s is timed.
    lines, elapsed, expected = ["Resume model from checkpoint output, current iter set to 100"], 0.0, []
    for n in range(1, 26):
        steps, seconds = 9 if n == 1 else 10, 1.0 if n % 4 == 0 else 0.5
        elapsed += steps * seconds + (60 if n == 11 else 0)
        expected.append(seconds)
        lines.append(
            f"2026-11-20 -     INFO - [TRAIN] epoch=1/9, iter={100 + 10 * n}/900 , total_loss=1.25, lr=0.001, "
            f"batch_cost: {elapsed / (10 * n):.6f} sec, ips: {4 * (10 * n - 1) / elapsed:.6f} images/s | ETA 01:02:03"
        )
        if n == 10:
            lines.append("2026-11-20 -     INFO - evaluate on validate dataset")
    counted = [each for n, each in enumerate(expected[5:], 6) if n != 11]
    session = session_of(lines, tmp_path, "paddle.paddle3d")
    assert value(session, "sustained", devices=8) == pytest.approx(32 * len(counted) / sum(counted), rel=1e-4)


def test_a_reproduction_counts_a_last_batch_as_it_is(tmp_path: Path) -> None:
    # 10 batches of 32 in 5 s per line; the last line of an epoch is of 5 batches of 32 and 5 of 16.
    lines = ["import paddle", "Namespace(batch_size=32, lr=0.1)"]
    for epoch in range(3):
        for n in range(1, 6):
            size = 24.0 if n == 5 else 32.0
            lines.append(
                f"[Epoch {epoch}, iter: {10 * n}] acc: 0.5, lr: 0.10000, loss: 2.25000, avg_reader_cost: 0.01000 sec, "
                f"avg_batch_cost: 0.50000 sec, avg_samples: {size}, avg_ips: {size / 0.5:.5f} images/sec."
            )
    session = session_of(lines, tmp_path, "paddle.reproduction")
    assert facts_of(session)["framework"] == "PaddlePaddle"
    assert value(session, devices=8) == pytest.approx(8 * (4 * 64 + 48) / 5)


def test_paddlevideo_believes_the_end_of_an_epoch(tmp_path: Path) -> None:
    # Epochs of 40 batches of 16 clips in half a second each; of four one waits for another half, but none that has a
    # line. The first batch of an epoch takes 4 s more, and is not counted.
    lines = ["[11/20 10:00:00]     batch_size : 16"]
    for epoch in range(1, 4):
        place = f"[11/20 10:00:00] epoch:[{epoch:>3}/3  ] train step:"
        lines.append(
            f"{place}0    loss: 1.25 batch_cost: 4.50000 sec, reader_cost: 4.00000 sec, ips: 3.55556 instance/sec."
        )
        lines += [
            f"{place}{10 * n}   loss: 1.25 batch_cost: 0.50000 sec, reader_cost: 0.01 sec, ips: 32.00000 instance/sec."
            for n in range(1, 4)
        ]
        lines.append(
            f"[11/20 10:00:00] END epoch:{epoch}   train loss_avg: 1.25 avg_batch_cost: 0.50000 sec, "
            f"avg_reader_cost: 0.01 sec, batch_cost_sum: 29.00000 sec, avg_ips: {640 / 29:.5f} instance/sec."
        )
    session = session_of(lines, tmp_path, "paddle.video")
    assert session.records[0]["steps"].tolist() == [39] * 3
    assert value(session, "sustained", devices=8) == pytest.approx(8 * 39 * 16 / 24.5, rel=1e-4)
    # Each line twice is the same run.
    twice = [each for each in lines for _ in range(2)]
    assert value(session_of(twice, tmp_path, "paddle.video"), "sustained", devices=8) == pytest.approx(
        8 * 39 * 16 / 24.5, rel=1e-4
    )
    # The last epoch is not over.
    assert value(session_of(lines[:-1], tmp_path, "paddle.video"), devices=8) == pytest.approx(
        8 * 39 * 16 / 24.5, rel=1e-4
    )
    # Where no epoch is over, the lines of batches count, but for the first one.
    assert value(session_of(lines[:5], tmp_path, "paddle.video"), devices=8) == pytest.approx(256)


def test_paddlescience_undoes_its_means(tmp_path: Path) -> None:
    # Iterations of a quarter second, of which every fifteenth stretch of ten takes half a second each; each epoch is
    # one iteration, so that the means run since the start, or the means begin anew at iteration 5 of 200.
    def line(epoch: int, step: int, total: int, mean: float) -> str:
        return (
            f"[2026/11/20 13:14:40] ppsci INFO: [Train][Epoch {epoch}/9000][Iter: {step}/{total}] lr: 0.00100, "
            f"loss: 0.5, EQ: 0.5, batch_cost: {mean:.5f}s, reader_cost: 0.00010s, ips: {100 / mean:.5f} samples/s"
        )

    seconds = [0.5 if n % 15 == 0 else 0.25 for n in range(1, 61)]
    whole = [line(10 * n, 1, 1, sum(seconds[:n]) / n) for n in range(1, 61)]
    parts = []
    for epoch in range(3):
        of_epoch = seconds[20 * epoch : 20 * epoch + 20]
        for n in range(1, 21):
            elapsed = 10 * sum(of_epoch[:n]) - 4 * of_epoch[0]
            parts.append(line(epoch + 1, 10 * n, 200, elapsed / (10 * n - 4)))
    for lines in (whole, parts):
        session = session_of(lines, tmp_path, "paddle.science")
        counted = seconds[12:]
        assert value(session, "sustained", devices=2) == pytest.approx(200 * len(counted) / sum(counted), rel=5e-3)
