"""Numbers of Paddle's logs that contradict each other, and what decides between them.

Lines are made up after those of the printers; figures are worked out by hand.
"""

from __future__ import annotations

import datetime as dt
from pathlib import Path

import pytest
from test_dialects import facts_of, session_of

from ingest.compute.measurement import Measurement, measured
from ingest.read.beside import PathFacts
from ingest.read.facts import Contradiction, merge
from ingest.read.run_json import RunJsonFile
from ingest.record.run import facts_of as of_run
from parsers.engine.session import Session
from schema.records import Figure, NoFigure

LAUNCHED = "LAUNCH INFO 2026-11-20 10:00:00,123 "


def launcher(*, devices: int = 4, **options: str) -> list[str]:
    """Return what `paddle.distributed.launch` prints of its options, in their order, and of its processes."""
    told = {"devices": ",".join(map(str, range(devices))), "ips": "None", "master": "None", "nnodes": "1"} | options
    head = [f"{LAUNCHED}-----------  Configuration  ----------------------"]
    lines = [f"{LAUNCHED}{name}: {each}" for name, each in sorted(told.items())]
    return [*head, *lines, f"{LAUNCHED}Run Pod: xkcdab, replicas {devices}, status ready"]


def clas(*, cost: float = 0.25, batch: int = 48) -> list[str]:
    """Return an epoch of PaddleClas in lines of 10 iterations."""
    return [
        f"[2026/11/20 10:{n // 60:02d}:{n % 60:02d}] ppcls INFO: [Train][Epoch 1/1][Iter: {10 * n}/400]lr: 0.1, "
        f"loss: 2.30000, batch_cost: {cost:.5f}s, reader_cost: 0.00100, ips: {batch / cost:.5f} samples/s, eta: 0:00:14"
        for n in range(1, 40)
    ]


def conflict(session: Session) -> list[tuple[str, int, int]]:
    found: tuple[Contradiction, ...] = merge({}, session.facts, None, "", {}, session.format.id).contradictions
    return [(each.fact, each.first.value, each.second.value) for each in found]


def withheld(found: Measurement) -> str:
    assert isinstance(found.headline, NoFigure), found.headline
    assert found.headline.reason.code == "withheld"
    return str(found.headline.reason.args["witness"])


@pytest.mark.parametrize(
    ("options", "nodes"),
    [
        ({}, 1),
        # Hosts that are listed make the job, although their number is not told; a master takes no notice of them.
        ({"ips": "10.0.0.1,10.0.0.2,10.0.0.3"}, 3),
        ({"ips": "10.0.0.1"}, 1),
        ({"ips": "10.0.0.1,10.0.0.2,10.0.0.3", "master": "10.0.0.1:6070", "nnodes": "2"}, 2),
    ],
)
def test_hosts_that_the_launcher_lists_are_the_machines(options: dict[str, str], nodes: int, tmp_path: Path) -> None:
    session = session_of([*launcher(**options), *clas()], tmp_path, "paddle.clas_dygraph")
    facts = merge({}, session.facts, None, "", {})
    assert (facts.value("nodes"), facts.value("devices")) == (nodes, 4 * nodes)
    assert conflict(session) == []


def test_more_ranks_than_the_machines_have_contradict_them(tmp_path: Path) -> None:
    ranks = "I1120 init nccl context nranks: 8 local rank: 0"
    session = session_of([*launcher(), ranks, *clas()], tmp_path, "paddle.clas_dygraph")
    assert conflict(session) == [("devices", 8, 4)]
    session = session_of([*launcher(ips="10.0.0.1,10.0.0.2"), ranks, *clas()], tmp_path, "paddle.clas_dygraph")
    assert conflict(session) == []


def test_a_few_speeds_that_lost_a_digit_contradict_the_seconds_of_their_lines(tmp_path: Path) -> None:
    head = ["[2026-11-20 10:00:00,123] [    INFO] -   global_batch_size : 64", "  max_seq_len : 1024", "nranks : 8"]
    steps = [
        f"[2026-11-20 10:{n // 12:02d}:{5 * n % 60:02d},123] [    INFO] - [train] epoch: [0/1], batch: [{10 * n}/500], "
        "loss: 9.500000000, avg_batch_cost: 0.50000 sec, speed: 2.00 step/s, ips_total: 131072 tokens/s, "
        "ips: 16384 tokens/s, learning rate: 1.00000e-05, found_inf: 0"
        for n in range(1, 51)
    ]
    session = session_of([*head, *steps], tmp_path, "paddle.fleetx")
    found = measured(session, facts_of(session)).headline
    assert isinstance(found, Figure)
    assert found.value == pytest.approx(131072)
    lost = [each.replace("131072", "13107") if n % 20 == 15 else each for n, each in enumerate(steps)]
    session = session_of([*head, *lost], tmp_path, "paddle.fleetx")
    found_lost = measured(session, facts_of(session))
    assert withheld(found_lost) == "arithmetic"
    assert isinstance(found_lost.headline, NoFigure)
    assert found_lost.headline.reason.args["likelier"] == "unlike_others"


@pytest.mark.parametrize(
    ("printed", "stated", "likelier"), [(0.5, 48, "other_seconds"), (0.25, 96, None), (0.25, 24, None)]
)
def test_the_clock_tells_whether_seconds_are_wrong(
    printed: float, stated: int, likelier: str | None, tmp_path: Path
) -> None:
    # 10 batches of 48 images in 10 s by the clock, and by the speed.
    head = [f"[2026/11/20 09:59:00] ppcls INFO: {each}" for each in ("Train : ", f"    batch_size : {stated}")]
    lines = [*head, *(each.replace("batch_cost: 1.0", f"batch_cost: {4 * printed:.1f}") for each in clas(cost=1.0))]
    for n, each in enumerate(lines[2:], 1):
        lines[n + 1] = f"[2026/11/20 10:{n // 6:02d}:{10 * n % 60:02d}]{each[each.index(']') :][1:]}"
    session = session_of(lines, tmp_path, "paddle.clas_dygraph")
    found = measured(session, facts_of(session) | {"devices": 1})
    assert withheld(found) == "arithmetic"
    assert isinstance(found.headline, NoFigure)
    assert found.headline.reason.args.get("likelier") == likelier


@pytest.mark.parametrize("wrong", [0.5, 2.0])
def test_fewer_lines_than_half_claim_another_time_than_passed(wrong: float, tmp_path: Path) -> None:
    # 20 iterations of 8 images in 60 s; two of five lines claim another time.
    lines = ["W1120 init nccl context nranks: 2 local rank: 0"]
    for n in range(1, 41):
        cost = 3.0 / wrong if n % 5 in (1, 3) else 3.0
        lines.append(
            f"[11/20 {10 + n // 60}:{n % 60:02d}:00] ppdet.engine INFO: Epoch: [0] [{20 * n:4d}/1320] lr: 0.1 "
            f"loss: 1.5 eta: 1:02:03 batch_cost: {cost:.4f} data_cost: 0.0003 ips: {8 / cost:.4f} images/s"
        )
    session = session_of(lines, tmp_path, "frameworks.paddle_detection")
    assert withheld(measured(session, facts_of(session))) == "clock"


@pytest.mark.parametrize(("factor", "verdict"), [(1, ""), (2, "arithmetic"), (0.5, "arithmetic")])
def test_the_end_of_an_epoch_of_paddlevideo_agrees_with_its_lines(factor: float, verdict: str, tmp_path: Path) -> None:
    # 60 batches of 16 clips in 30 s, on each of 4 devices; the last line of an epoch is that of batch 50.
    lines = [*launcher(), "[11/20 10:00:00] DATASET : ", "[11/20 10:00:00]     batch_size : 16"]
    for epoch in range(1, 7):
        lines += [
            f"[11/20 10:{epoch:02d}:{n // 2:02d}] epoch:[  {epoch}/6  ] train step:{n:<4} loss: 4.00000 lr: 0.010000 "
            "batch_cost: 0.50000 sec, reader_cost: 0.01000 sec, ips: 32.00000 instance/sec."
            for n in range(0, 60, 10)
        ]
        lines.append(
            f"[11/20 10:{epoch:02d}:31] END epoch:{epoch}   train loss_avg: 4.50000 avg_batch_cost: 0.50000 sec, "
            f"avg_reader_cost: 0.01000 sec, batch_cost_sum: 30.0 sec, avg_ips: {32 * factor:.5f} instance/sec."
        )
    session = session_of(lines, tmp_path, "paddle.video")
    found = measured(session, facts_of(session) | {"devices": 4})
    if verdict:
        assert withheld(found) == verdict
    else:
        assert isinstance(found.headline, Figure)
        assert found.headline.value == pytest.approx(4 * 32)


@pytest.mark.parametrize(("stated", "verdict"), [(4, ""), (2, "arithmetic"), (None, "")])
def test_the_batch_of_paddle3d_is_that_of_its_configuration(stated: int | None, verdict: str, tmp_path: Path) -> None:
    # 4 images in 0.5 s; the timer starts behind the first iteration.
    head = ["-Environment Information-", "platform: ", "Linux", *([f"batch_size: {stated}"] if stated else [])]
    steps = [
        f"2026-11-20 10:{n // 12:02d}:{5 * n % 60:02d},000 -     INFO - [TRAIN] epoch=1/80, iter={10 * n}/9000 , "
        f"total_loss=1.250000, batch_cost: {0.5 * (10 * n - 1) / (10 * n):.6f} sec, ips: 8.000000 images/s "
        "| ETA 01:02:03"
        for n in range(1, 51)
    ]
    session = session_of([*head, *steps], tmp_path, "paddle.paddle3d")
    found = measured(session, facts_of(session) | {"devices": 2})
    if verdict:
        assert withheld(found) == verdict
    else:
        assert isinstance(found.headline, Figure)
        assert found.headline.value == pytest.approx(2 * 8, rel=1e-4)


def trainer(examples: int, *, logger: str) -> list[str]:
    """Return 40 epochs over some examples, in updates of 64 that take a second each, as a trainer prints them."""
    total = 40 * -(-examples // 64)
    arguments = {
        "Num examples": examples, "Num Epochs": 40, "Instantaneous batch size per device": 8,
        "Total train batch size (w. parallel, distributed & accumulation)": 64, "Gradient Accumulation steps": 2,
        "Total optimization steps": total,
    }  # fmt: skip
    head = ["***** Running training *****", *(f"  {name} = {each}" for name, each in arguments.items())]
    return [logger.format(0, 0) + each for each in head]


@pytest.mark.parametrize(("examples", "value"), [(640, 64.0), (640 - 10, 64.0), (80, 40.0), (45, 45.0)])
def test_the_rest_that_ends_a_short_epoch_is_no_batch(examples: int, value: float, tmp_path: Path) -> None:
    # 80 examples are one update of 64 and one of 16.
    logger = "[2026-11-20 10:{:02d}:{:02d},000] [    INFO] - "
    steps = 40 * -(-examples // 64)
    lines = [
        logger.format(n // 60, n % 60) + f"loss: 1.5, learning_rate: 1e-05, global_step: {n}, interval_runtime: 5.0, "
        f"interval_samples_per_second: 64.0, interval_steps_per_second: 1.0, epoch: {40 * n / steps:.2f}"
        for n in range(5, steps + 1, 5)
    ]
    devices = logger.format(0, 0) + f"{'world_size':30}: 4"
    session = session_of([devices, *trainer(examples, logger=logger), *lines], tmp_path, "paddle.nlp_trainer")
    found = measured(session, facts_of(session)).headline
    assert isinstance(found, Figure)
    assert found.value == pytest.approx(value)


@pytest.mark.parametrize(("examples", "value"), [(640, 64.0), (80, 40.0)])
def test_nor_is_it_one_of_a_trainer_of_seconds(examples: int, value: float, tmp_path: Path) -> None:
    steps = 40 * -(-examples // 64)
    lines = []
    for n in range(5, steps + 1, 5):
        done, left = (f"{each // 60:02d}:{each % 60:02d}" for each in (n, steps - n))
        lines += [f"{100 * n // steps:3d}%|##        | {n}/{steps} [{done}<{left},  1.00s/it]"]
        lines += [f"{{'loss': 0.5, 'learning_rate': 5e-06, 'epoch': {40 * n / steps:.2f}}}"]
    session = session_of([*trainer(examples, logger=""), *lines], tmp_path, "frameworks.hf_trainer")
    found = measured(session, facts_of(session) | {"devices": 4}).headline
    assert isinstance(found, Figure)
    assert found.value == pytest.approx(value)


@pytest.mark.parametrize(("pictures", "verdict"), [(0.0, "agrees"), (1.5, "corrects"), (10.0, "disagrees")])
def test_paddlegan_writes_pictures_outside_its_batch_cost(pictures: float, verdict: str, tmp_path: Path) -> None:
    # 10 iterations of 8 images in 10 s, on each of 2 devices, and a picture behind each line.
    begun = dt.datetime(2026, 11, 20, 10)
    head = "[11/20 10:00:00] ppgan INFO: Configs: {'dataset': {'train': {'name': 'A', 'batch_size': 8}, 'test': {}}}"
    cost = "lr: 1.0e-04 loss: 0.125 batch_cost: 1.00000 sec reader_cost: 0.01000 sec ips: 8.00000 images/s eta: 0:23:20"
    clocks = [begun + dt.timedelta(seconds=n * (10 + pictures)) for n in range(1, 101)]
    lines = [
        f"[{each:%m/%d %H:%M:%S}] ppgan.engine.trainer INFO: Iter: {10 * n}/2000 {cost}"
        for n, each in enumerate(clocks, 1)
    ]
    session = session_of([head, *lines], tmp_path, "paddle.gan")
    found = measured(session, facts_of(session) | {"devices": 2})
    assert [each.verdict for each in found.witnesses if each.kind == "clock"] == [verdict]
    if verdict != "disagrees":
        assert isinstance(found.headline, Figure)
        assert found.headline.value == pytest.approx(2 * 80 / (10 + pictures), rel=0.01)


def test_epochs_that_end_with_a_smaller_batch_contradict_nothing(tmp_path: Path) -> None:
    # 5 batches of 64 images and one of 16, in a second each; the last line of an epoch is of 5 of them.
    lines = []
    for epoch in range(1, 9):
        for n, images in ((0, 64), (5, 16)):
            lines.append(
                f"[2026/11/20 {epoch:02d}:00:{n:02d}] ppcls INFO: [Train][Epoch {epoch}/8][Iter: {n}/6]lr: 0.1, "
                f"loss: 2.30000, batch_cost: 1.00000s, reader_cost: 0.00100, ips: {images:.5f} samples/s, eta: 0:00:14"
            )
    head = [f"[2026/11/20 10:00:00] ppcls INFO: {each}" for each in ("Train : ", "    batch_size : 64")]
    session = session_of([*head, *lines], tmp_path, "paddle.clas_dygraph")
    found = measured(session, facts_of(session) | {"devices": 1})
    assert "disagrees" not in [each.verdict for each in found.witnesses]
    assert isinstance(found.headline, Figure)
    assert found.headline.value == pytest.approx((5 * 64 + 16) / 6, rel=0.02)


@pytest.mark.parametrize(
    ("job", "facts"), [(192, {"batch_size": 48, "devices": 4}), (100, {}), (None, {"batch_size": 48})]
)
def test_devices_that_share_the_batch_of_the_job_follow_from_its_speed(
    job: int | None, facts: dict[str, int], tmp_path: Path
) -> None:
    # PaddleClas 2.0 states the batch of the job, and prints the speed of a device: 48 images in 0.25 s.
    head = ["TRAIN : ", f"    batch_size : {job}", "VALID : ", "    batch_size : 64"] if job else []
    lines = [
        f"2026-11-20 10:{n // 24:02d}:{int(2.5 * n) % 60:02d} INFO: epoch:0  , train step:{10 * n:<4}, loss: 6.92608, "
        "top1: 0.0, top5: 0.0, lr: 0.100000, batch_cost: 0.25000 s, reader_cost: 0.00056 s, ips: 192.00000 images/sec."
        for n in range(1, 60)
    ]
    session = session_of([*head, *lines], tmp_path, "paddle.clas_static")
    found = of_run(session, RunJsonFile(), PathFacts("perfledger"))
    assert {name: each for name in ("batch_size", "devices") if (each := found.value(name))} == facts


@pytest.mark.parametrize(("factor", "likelier"), [(4, "speed_of_job"), (2, None)])
def test_a_speed_of_all_devices_is_told_from_one_that_omits_time(
    factor: int, likelier: str | None, tmp_path: Path
) -> None:
    # 1024 tokens of each of 4 devices in a second; the lines print the speed of all of them, or twice that of a device.
    logger = "[2026-11-20 10:{:02d}:{:02d},000] [    INFO] - "
    lines = [
        logger.format(n // 6, 10 * n % 60)
        + f"loss: 1.5, learning_rate: 1e-05, global_step: {10 * n}, interval_runtime: 10.0, "
        f"interval_tokens_per_second_per_device: {1024.0 * factor}, progress_or_epoch: 0.5"
        for n in range(1, 41)
    ]
    facts = {"world_size": 4, "max_seq_length": 1024}
    head = [logger.format(0, 0) + f"{name:30}: {each}" for name, each in facts.items()]
    arguments = {"Instantaneous batch size per device": 1, "Gradient Accumulation steps": 1}
    told = [logger.format(0, 0) + f"  {name} = {each}" for name, each in arguments.items()]
    session = session_of([*head, *told, *lines], tmp_path, "paddle.nlp_trainer")
    found = measured(session, facts_of(session))
    assert withheld(found) == "clock"
    assert isinstance(found.headline, NoFigure)
    assert found.headline.reason.args.get("likelier") == likelier


def test_mindspore_takes_as_many_steps_in_each_epoch(tmp_path: Path) -> None:
    # 10 steps of 32 samples in 2.5 s; two lines lost the first digit of one of their times.
    lines = []
    for epoch in range(1, 31):
        whole, each = "500.000" if epoch == 20 else "2500.000", "50.000" if epoch == 12 else "250.000"
        lines += [f"epoch: {epoch} step: 10, loss is 6.5", f"epoch time: {whole} ms, per step time: {each} ms"]
    session = session_of(lines, tmp_path, "dlperf.mindspore")
    found = measured(session, {"devices": 8, "batch_size": 32}).headline
    assert isinstance(found, Figure)
    assert found.value == pytest.approx(8 * 32 / 0.25)


def rec_epochs(*speeds: float, colon: str = "") -> list[str]:
    """Return epochs of PaddleRec, of 600 s and 6 million samples of each of 4 nodes where the speed is 10,000."""
    lines = [
        f"2026-11-20 14:{n}9:09,247 - INFO - Epoch: {n}, using time{colon} 600.0 second, ips{colon} {each} example/sec."
        for n, each in enumerate(speeds)
    ]
    return ["I1120 14:00:09.288252 17480 communicator.h:205] trainers: 4", *lines]


@pytest.mark.parametrize("colon", ["", ":"])
def test_paddlerec_counts_as_many_samples_in_each_epoch(colon: str, tmp_path: Path) -> None:
    for speeds in ((10000.0,) * 4, (10000.0, 20000.0, 10000.0, 10000.0)):
        session = session_of(rec_epochs(*speeds, colon=colon), tmp_path, "paddle.rec")
        found = measured(session, facts_of(session)).headline
        assert isinstance(found, Figure)
        assert found.value == pytest.approx(4 * 10000)
    session = session_of(rec_epochs(20000.0, 10000.0, colon=colon), tmp_path, "paddle.rec")
    found = measured(session, facts_of(session)).headline
    assert isinstance(found, NoFigure)
    assert found.reason.code == "lines_contradict"
