"""What trainers of vision models print as people left it, in forks, older releases and copies; figures by hand."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from test_dialects import ALL, log_of, reason, session_of, value

START = dt.datetime(2026, 11, 20, 10)


def at(seconds: float) -> str:
    return f"{START + dt.timedelta(seconds=seconds):%Y-%m-%d %H:%M:%S},250"


# OpenMMLab


def iterations(head: Callable[[float], str]) -> list[str]:
    """Return the lines of 20 intervals of 50 iterations of 0.5 s."""
    return [
        f"{head(25 * i)}Epoch [1][{50 * i}/1000]\tlr: 0.002, eta: 0:08:00, time: 0.500, data_time: 0.010, loss: 1.5"
        for i in range(1, 21)
    ]


@pytest.mark.parametrize("name", ["", "root - ", "mmdet - ", "basicdet.ssod - "])
def test_a_logger_of_mmcv_has_any_name_or_none(name: str, tmp_path: Path) -> None:
    session = session_of(iterations(lambda t: f"{at(t)} - {name}INFO - "), tmp_path, "frameworks.mmseg")
    assert value(session, ALL, devices=8, batch_size=2) == pytest.approx(32)


@pytest.mark.parametrize("level", ["INFO", "[4m[97mINFO[0m", "\x1b[4m\x1b[97mINFO\x1b[0m"])
def test_a_level_of_mmengine_may_be_coloured(level: str, tmp_path: Path) -> None:
    lines = [
        f"11/20 10:{i:02}:00 - mmengine - {level} - Epoch(train)  [1][{10 * i:3}/300]  lr: 1e-02  "
        f"eta: {(30 - i) // 2}:00  time: 0.5000  data_time: 0.0010  loss: 1.5000"
        for i in range(1, 21)
    ]
    session = session_of(lines, tmp_path, "frameworks.mmseg")
    assert value(session, ALL, devices=1, batch_size=2) == pytest.approx(4)


@pytest.mark.parametrize("head", ['"lr": 0.02, ', '"base_lr": 0.02, "lr": 0.01, '])
def test_rows_of_mmengine_count_iterations_as_steps(head: str, tmp_path: Path) -> None:
    lines = [f'{{{head}"data_time": 0.01, "loss": 1.5, "time": 0.5, "step": {50 * i}}}' for i in range(1, 21)]
    session = session_of(lines, tmp_path, "frameworks.openmmlab_json")
    assert value(session, ALL, devices=2, batch_size=8) == pytest.approx(32)


# maskrcnn-benchmark and Detectron2


@pytest.mark.parametrize("logger", ["fcos_core.trainer", "maskrcnn_benchmark"])
@pytest.mark.parametrize("begun", [0, 26000])
def test_a_fork_of_maskrcnn_benchmark(logger: str, begun: int, tmp_path: Path) -> None:
    # The first iteration takes 5 s, the others 0.5 s; the mean begins with the program, which may be resumed.
    lines = ["SOLVER:", "  IMS_PER_BATCH: 16", "  MAX_ITER: 90000", "TEST:", "  IMS_PER_BATCH: 8"]
    for done in range(20, 2001, 20):
        took = 4.5 + 0.5 * done
        lines.append(
            f"{at(took)} {logger} INFO: eta: 1 day, 2:00:00  iter: {begun + done}  loss: 1.5000 (2.5000)  "
            f"time: 0.5000 ({took / done:.4f})  data: 0.0100 (0.0200)  lr: 0.001800  max mem: 5694"
        )
    session = session_of(lines, tmp_path, "frameworks.maskrcnn_benchmark")
    assert value(session, "sustained", devices=8) == pytest.approx(32, rel=0.002)


@pytest.mark.parametrize("gap", ["  ", " "])
def test_fastreid_counts_epochs_before_iterations(gap: str, tmp_path: Path) -> None:
    lines = [
        f"[11/20 10:{i:02}:00 fastreid.utils.events]: {gap}eta: 0:10:00{gap}epoch/iter: {i // 5}/{200 * i - 1}{gap}"
        f"total_loss: 1.5{gap}loss_cls: 0.5{gap}time: 0.2500{gap}data_time: 0.01{gap}lr: 3.5e-04{gap}max_mem: 3000M"
        for i in range(1, 21)
    ]
    session = session_of(lines, tmp_path, "frameworks.detectron2")
    assert value(session, ALL, devices=1, batch_size=64) == pytest.approx(256)


# MetricLogger


@pytest.mark.parametrize("wide", [True, False])
def test_a_metric_logger_with_ranges_or_with_single_blanks(wide: bool, tmp_path: Path) -> None:
    ends = " (0.4000 -- 0.6000)" if wide else ""
    lines = [
        f"Epoch: [0]  [{i:3}/400]  eta: {dt.timedelta(seconds=(399 - i) // 2)}  lr: 0.0001  loss: 1.5000 (1.5000)  "
        f"time: 0.5000{ends}  data: 0.0010{ends}  max mem: 8021"
        for i in range(0, 400, 20)
    ]
    lines = lines if wide else [each.replace("  ", " ") for each in lines]
    session = session_of(lines, tmp_path, "frameworks.metric_logger")
    assert value(session, ALL, devices=1, batch_size=16) == pytest.approx(32, rel=0.01)


# PyTorch's ImageNet example, and those that are like it


def epochs(line: Callable[[int, int, float, float], str], took: Sequence[float], printed: Sequence[int]) -> list[str]:
    """Return the lines of eight epochs, each of whose steps takes what `took` says, told of these places."""
    return [line(epoch, i, took[i], sum(took[: i + 1]) / (i + 1)) for epoch in range(8) for i in printed]


def imagenet(epoch: int, i: int, took: float, mean: float) -> str:
    return (
        f"Epoch: [{epoch}][{i}/50]\tTime {took:.3f} ({mean:.3f})\tData 0.001 (0.001)\tLoss 6.9 (6.9)\tPrec@1 0.0 (0.0)"
    )


def test_the_first_step_of_each_epoch_says_nothing_of_the_others(tmp_path: Path) -> None:
    session = session_of(epochs(imagenet, [2.5] + 49 * [0.5], [0]), tmp_path, "dlperf.pytorch_examples")
    assert reason(session, ALL, devices=1, batch_size=64) == "no_records"


DASSL = (
    "epoch [{epoch}/50] batch [{step}/{total}] time {took:.3f} ({mean:.3f}) data 0.001 (0.002) "
    "loss 1.5 (1.5) acc 50.0 (50.0) lr 1e-05 eta 0:10:00"
)
TORCHREID = (
    "epoch: [{epoch}/50][{step}/{total}]\ttime {took:.3f} ({mean:.3f})\tdata 0.001 (0.002)\teta 0:50:00\tloss 1.5 (1.5)"
)
CONTRAST = "Train: [{epoch}][{step}/{total}]\tBT {took:.3f} ({mean:.3f})\tDT 0.001 (0.002)\tloss 1.5 (1.5)"


@pytest.mark.parametrize("line", [DASSL, TORCHREID, CONTRAST])
def test_the_steps_up_to_the_first_line_of_an_epoch_count(line: str, tmp_path: Path) -> None:
    # The first step of an epoch takes 2.5 s, the others 0.5 s; the last of five is told: 100 steps take 52 s.
    lines = epochs(
        lambda epoch, i, took, mean: line.format(epoch=epoch + 1, step=i + 1, total=100, took=took, mean=mean),
        [2.5] + 99 * [0.5], range(4, 100, 5),
    )  # fmt: skip
    session = session_of(lines, tmp_path, "frameworks.torchreid")
    assert value(session, ALL, devices=1, batch_size=52) == pytest.approx(100, rel=0.005)


@pytest.mark.parametrize(("total", "told"), [(50, True), (80, False)])
def test_the_only_line_of_an_epoch_must_hold_nearly_all_of_it(total: int, told: bool, tmp_path: Path) -> None:
    lines = epochs(
        lambda epoch, i, took, mean: DASSL.format(epoch=epoch + 1, step=i + 1, total=total, took=took, mean=mean),
        [2.5] + 49 * [0.5], [49],
    )  # fmt: skip
    session = session_of(lines, tmp_path, "frameworks.torchreid")
    if told:
        assert value(session, ALL, devices=1, batch_size=27) == pytest.approx(50, rel=0.002)
    else:
        assert reason(session, ALL, devices=1, batch_size=27) == "no_records"


# OpenPCDet


def test_a_copy_of_openpcdet_with_single_blanks(tmp_path: Path) -> None:
    lines = [f"{at(0)} INFO batch_size 4", f"{at(0)} INFO Training with a single process"]
    lines += [
        f"{at(25 * i)} INFO Train: 1/80 ( 1%) [{50 * i:4}/3712 ( 5%)] Loss: 3.250 (3.50) LR: 1.000e-03 "
        f"Time cost: 00:25/15:00 [00:25/20:00:00] Acc_iter {50 * i + 1} Data time: 0.00(0.00) Batch time: 0.50(0.50)"
        for i in range(21)
    ]
    session = session_of(lines, tmp_path, "frameworks.openpcdet")
    assert value(session, ALL) == pytest.approx(8)


# HRNet


@pytest.mark.parametrize("clock", [True, False])
def test_means_of_two_decimals_are_too_coarse_for_fast_iterations(clock: bool, tmp_path: Path) -> None:
    lines = [
        f"{at(0.125 * i) + ' ' if clock else ''}Epoch: [0/484] Iter:[{i}/2000], Time: 0.13, lr: [0.01], Loss: 1.500000"
        for i in range(0, 2000, 40)
    ]
    session = session_of(lines, tmp_path, "frameworks.hrnet_seg")
    if clock:
        assert value(session, ALL, devices=4, batch_size=3) == pytest.approx(96, rel=0.01)
    else:
        assert reason(session, ALL, devices=4, batch_size=3) == "coarse_seconds"


# Chinese-CLIP


@pytest.mark.parametrize(("every", "batch"), [(1, 0.375), (10, 9.375)])
def test_a_step_of_chinese_clip_tells_of_itself_alone(every: int, batch: float, tmp_path: Path) -> None:
    # Steps of 0.375 s; where one in ten is printed, it claims 9.375 s, and the stamps of whole seconds tell the speed.
    lines = [
        f"{START + dt.timedelta(seconds=int(0.375 * i)):%Y-%m-%d,%H:%M:%S} | INFO | Rank 0 | Global Steps: {i}/4000 | "
        f"Train Epoch: 1 [{64 * i}/256000 ({i // 40}%)] | Loss: 1.500000 | Data Time: 0.125s | "
        f"Batch Time: {batch:.3f}s | LR: 0.000010 | logit_scale: 4.605 | Global Batch Size: 64"
        for i in range(every, 801, every)
    ]
    session = session_of(lines, tmp_path, "frameworks.chinese_clip")
    assert value(session, ALL, devices=8) == pytest.approx(64 / 0.375, rel=0.01)


# gsplat


def test_a_bar_of_gsplat_begins_with_the_loss(tmp_path: Path) -> None:
    lines = [
        f"loss=0.025| sh degree=3| : {i // 70:3}%|##  | {i}/7000 [{i // 1500:02}:{i // 25 % 60:02}<01:00, 31.5it/s]"
        for i in range(25, 6001, 25)
    ]
    session = session_of(lines, tmp_path, "frameworks.gaussian_splatting", "\r")
    assert value(session, ALL, devices=1, batch_size=1) == pytest.approx(25, rel=0.01)


# Speeds that are not those of training, or not of all steps


def test_the_speed_of_the_last_batch_of_gluons_example_is_not_read(tmp_path: Path) -> None:
    lines = [
        f"INFO:root:Epoch[0] Batch [{i}]\tSpeed: 812.500000 samples/sec\taccuracy=0.125000" for i in range(49, 999, 50)
    ]
    assert not log_of(lines, tmp_path).claims


def test_an_epoch_of_yolov5s_classifier_holds_the_validation(tmp_path: Path) -> None:
    bar = "0.487G      1.234      0.550      0.750          1: 100%|██████████| 40/40 [00:10<00:00,  3.95it/s]"
    lines = [f"      {i}/9     {bar}" for i in range(1, 10)]
    assert not log_of(lines, tmp_path).claims


@pytest.mark.parametrize("lod", ["lod 0.00  minibatch 32   ", ""])
def test_ticks_of_tensorflow_are_not_those_of_pytorch(lod: str, tmp_path: Path) -> None:
    lines = [
        f"tick {i:<5} kimg {4 * i:<8.1f} {lod}time {i}m 00s       sec/tick 50.0    sec/kimg 12.50   "
        "maintenance 2.5    gpumem 5.5"
        for i in range(1, 21)
    ]
    session = session_of(lines, tmp_path, "frameworks.stylegan_tf")
    assert session.format.framework == "TensorFlow"
    assert value(session, ALL, devices=1) == pytest.approx(80)
