"""What trainers of vision models print as people left it, in forks, older releases and copies; figures by hand."""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from test_dialects import ALL, facts_of, log_of, reason, session_of, value

from ingest.compute.measurement import measured
from parsers.engine.session import Session
from schema.records import Figure, NoFigure

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


def test_mmdetection_names_its_devices_where_it_scales_the_learning_rate(tmp_path: Path) -> None:
    told = f"{at(0)} - mmdet - INFO - Training with 8 GPU(s) with 2 samples per GPU. The total batch size is 16."
    head = ["data = dict(", "    samples_per_gpu=2,", "    workers_per_gpu=2)", "gpu_ids = range(0, 1)", told]
    lines = [*head, *iterations(lambda t: f"{at(t)} - mmdet - INFO - ")]
    assert value(session_of(lines, tmp_path, "frameworks.mmseg")) == pytest.approx(32)


@pytest.mark.parametrize("level", ["INFO", "[4m[97mINFO[0m", "\x1b[4m\x1b[97mINFO\x1b[0m"])
def test_a_level_of_mmengine_may_be_coloured(level: str, tmp_path: Path) -> None:
    lines = [
        f"11/20 10:{i:02}:00 - mmengine - {level} - Epoch(train)  [1][{10 * i:3}/300]  lr: 1e-02  "
        f"eta: {(30 - i) // 2}:00  time: 0.5000  data_time: 0.0010  loss: 1.5000"
        for i in range(1, 21)
    ]
    session = session_of(lines, tmp_path, "frameworks.mmseg")
    assert value(session, ALL, devices=1, batch_size=2) == pytest.approx(4)


@pytest.mark.parametrize(
    "head", ['"lr": 0.02, ', '"base_lr": 0.02, "lr": 0.01, ', '"generator.lr": 0.02, "discriminator.lr": 0.01, ']
)
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


@pytest.mark.parametrize(
    "configuration",
    ["DATALOADER:\n  TRAIN_X:\n    BATCH_SIZE: 32\n    SAMPLER: Random", "train:\n  batch_size: 32\n  max_epoch: 50"],
)
@pytest.mark.parametrize("bar", ["", " 10%|#   | 1/9\r 20%|##  | 2/9\r"])
def test_a_redrawn_bar_of_another_program_hides_no_batch_size(configuration: str, bar: str, tmp_path: Path) -> None:
    lines = [(bar if "batch_size:" in each.lower() else "") + each for each in configuration.split("\n")]
    lines += epochs(
        lambda epoch, i, took, mean: DASSL.format(epoch=epoch + 1, step=i + 1, total=50, took=took, mean=mean),
        [2.5] + 49 * [0.5], range(4, 50, 5),
    )  # fmt: skip
    assert facts_of(session_of(lines, tmp_path, "frameworks.torchreid"))["batch_size_of_job"] == 32


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


# LAVIS, BLIP-2, MiniGPT-4


LAVIS = [
    "| distributed init (rank 1, world 4): env://",
    "2026-11-20 10:00:00,250 [INFO] ",
    "=====  Running Parameters    =====",
    "2026-11-20 10:00:00,250 [INFO] {",
    '    "accum_grad_iters": 2,',
    '    "amp": true,',
    '    "batch_size_eval": 2,',
    '    "batch_size_train": 16,',
    '    "max_epoch": 2,',
    '    "world_size": 4',
    "}",
    '    "arch": "mini_gpt4",',
]


@pytest.mark.parametrize("head", ["Train: data epoch: [{}]", "Train: data epoch: [0]; inner epoch [{}]"])
def test_lavis_prints_its_parameters_as_json(head: str, tmp_path: Path) -> None:
    # The first iteration of an epoch takes 4.5 s, the others 0.5 s.
    lines = list(LAVIS)
    for epoch in (0, 1):
        for i in (*range(0, 500, 50), 499):
            left = dt.timedelta(seconds=int((4.5 + 0.5 * i) / (i + 1) * (500 - i)))
            took = 4.5 if i == 0 else 0.5
            lines.append(
                f"{head.format(epoch)}  [{i:3}/500]  eta: {left}  lr: 0.0001  loss: 2.5000  time: {took:.4f}  "
                "data: 0.0000  max mem: 20913"
            )
        lines.append(f"{head.format(epoch)} Total time: 0:04:14 (0.5080 s / it)")
    session = session_of(
        [*lines, "2026-11-20 10:08:30,250 [INFO] Training time 0:08:29"], tmp_path, "frameworks.metric_logger"
    )
    facts = facts_of(session)
    assert facts.items() >= {"devices": 4, "batch_size": 16, "accumulation": 2, "model": "mini_gpt4"}.items()
    assert (facts["precision"], facts["total_epochs"]) == ("amp", 2)
    assert value(session, ALL) == pytest.approx(64 / 0.508, rel=0.005)


RTDETR = {
    "epoches": 2,
    "use_amp": True,
    "yaml_cfg": {
        "train_dataloader": {"dataset": {"ops": ["Resize"]}, "total_batch_size": 16},
        "val_dataloader": {"total_batch_size": 64},
        "config": "configs/rtdetrv2/rtdetrv2_r50vd_6x_coco.yml",
    },
}


@pytest.mark.parametrize("told", [f"cfg:  {RTDETR}", json.dumps(RTDETR, indent=4)])
def test_the_configuration_of_rt_detr_is_a_dictionary(told: str, tmp_path: Path) -> None:
    lines = ["Not init distributed mode.", told, "Start training"]
    for epoch in (0, 1):
        for i in (*range(0, 200, 10), 199):
            left = dt.timedelta(seconds=(200 - i) // 2)
            lines.append(
                f"Epoch: [{epoch}]  [{i:3}/200]  eta: {left}  lr: 0.0001  loss: 2.5000 (2.5000)  time: 0.5000  "
                "data: 0.0010  max mem: 3861"
            )
        lines.append("Test:  [ 0/13]  eta: 0:00:09  time: 0.7000  data: 0.5000  max mem: 3861")
    session = session_of(lines, tmp_path, "frameworks.metric_logger")
    expected = {"batch_size_of_job": 16, "devices": 1, "total_epochs": 2, "precision": "amp"}
    assert facts_of(session) == {**expected, "model": "rtdetrv2_r50vd_6x_coco"}
    assert value(session, ALL, batch_size=16) == pytest.approx(32)


# Ultralytics


def epochs_of_yolo(head: Sequence[str]) -> list[str]:
    """Return the lines of six epochs of 100 batches in 40 s each."""
    size = (
        "train: Scanning labels... 1592 images, 0 backgrounds, 0 corrupt: 100%|██████████| 1592/1592 [00:00<?, ?it/s]"
    )
    bar = (
        "4.8G    0.04291    0.06214    0.02105         90        640: 100%|██████████| 100/100 [00:40<00:00,  2.50it/s]"
    )
    return [*head, size, "Starting training for 6 epochs...", *(f"     {i}/5      {bar}" for i in range(6))]


YOLOV5 = [
    "train: weights=yolov5s.pt, cfg=, data=a.yaml, epochs=6, batch_size=16, imgsz=640, device=, multi_scale=False",
    "YOLOv5 v7.0-1-gabcdef0 Python-3.10.6 torch-2.0.1+cu118 CUDA:0 (Tesla T4, 15102MiB)",
    "",
    "YOLOv5s summary: 157 layers, 7012822 parameters",
]
YOLOV9 = [
    "train_dual: weights=, cfg=models/detect/yolov9-c.yaml, epochs=6, batch_size=16, device=0, multi_scale=False",
    "YOLOv5 1e33dbb Python-3.10.12 torch-2.2.1+cu121 CUDA:0 (Tesla T4, 15102MiB)",
]
YOLOV8 = [
    "Ultralytics YOLOv8.0.37 Python-3.10.8 torch-1.13.1 CUDA:0 (A100-SXM-80GB, 81251MiB)",
    "yolo/engine/trainer: task=detect, mode=train, model=yolov8n.pt, epochs=6, batch=16, device=(0, 1), workers=8",
    "AMP: checks skipped. Setting 'amp=True'.",
]
YOLOV7 = [
    "YOLOR v0.1-115-gabcdef0 torch 1.12.1+cu116 CUDA:0 (Tesla T4, 15109MB)",
    "                                           CUDA:1 (Tesla T4, 15109MB)",
    "",
    "Namespace(cfg='cfg/training/yolov7.yaml', batch_size=16, device='', world_size=1, total_batch_size=16)",
]


@pytest.mark.parametrize(
    ("head", "devices", "model"),
    [(YOLOV5, 1, "YOLOv5s"), (YOLOV9, 1, "yolov9-c"), (YOLOV8, 2, "yolov8n"), (YOLOV7, 2, "yolov7")],
)
def test_devices_of_yolo_as_each_release_says(head: list[str], devices: int, model: str, tmp_path: Path) -> None:
    session = session_of(epochs_of_yolo(head), tmp_path, "frameworks.ultralytics")
    facts = facts_of(session)
    assert (facts["devices"], facts["model"], facts["batch_size_of_job"]) == (devices, model, 16)
    assert facts.get("precision") == ("amp" if head is YOLOV8 else None)
    assert value(session) == pytest.approx(1592 / 40)


@pytest.mark.parametrize(
    "size",
    [
        "train: Scanning labels/train... 72 found, 0 missing, 0 empty, 1 corrupted: 100%|##| 73/73 [00:00<00:00]",
        "Scanning labels a/train.cache (72 found, 0 missing, 2 empty, 0 duplicate, for 72 images): 72it [00:00]",
    ],
)
def test_the_last_batch_of_an_epoch_of_older_yolo_is_smaller(size: str, tmp_path: Path) -> None:
    # Five batches of 16 in 40 s, of which the last has eight images.
    bar = "4.8G    0.04291    0.06214         90        640: 100%|##########| 5/5 [00:40<00:00,  8.00s/it]"
    lines = [*YOLOV7, size, size.replace("72", "20").replace("train", "val"), *(f"  {i}/5  {bar}" for i in range(6))]
    assert value(session_of(lines, tmp_path, "frameworks.ultralytics")) == pytest.approx(72 / 40)


def test_a_run_of_yolo_that_ended_within_its_first_epoch(tmp_path: Path) -> None:
    # 55 of 203 batches in 66 s, and a rate that is smoothed.
    bar = "4.8G    0.04291    0.06214         90        640:"
    size = "train: Scanning labels/train... 3248 images, 0 backgrounds, 0 corrupt: 100%|##| 3248/3248 [00:00]"
    drawn = (
        f"  0/5  {bar}   0%|  | 1/203 [00:02<07:00,  2.08s/it]\r  0/5  {bar}  27%|#  | 55/203 [01:06<01:20,  1.85it/s]"
    )
    lines = [*YOLOV5, size, drawn, "Traceback (most recent call last):", "KeyboardInterrupt"]
    session = session_of(lines, tmp_path, "frameworks.ultralytics")
    assert value(session) == pytest.approx(55 * 16 / 66, rel=0.01)


@pytest.mark.parametrize("between", ["\r", "\n"])
def test_a_run_of_yolo_with_bars_of_its_own_that_ended_within_its_first_epoch(between: str, tmp_path: Path) -> None:
    # 40 of 203 batches in 19 s, and a rate that is smoothed.
    bar = "      1/5      4.8G      1.234     0.5500      1.105         90        640:"
    size = "train: Scanning labels/train... 3248 images, 0 backgrounds, 0 corrupt: 100% ━━━━ 3248/3248 1.2Kit/s 0.1s"
    states = [f"{bar} 0% ──── 1/203 0.5it/s 2.0s<6:44", f"{bar} 9% ╸─── 20/203 2.4it/s 9.9s<1:16"]
    drawn = between.join([*states, f"{bar} 19% ━─── 40/203 2.4it/s 19.0s<1:08"])
    lines = [*YOLOV5, size, *drawn.split("\n"), "Killed"]
    session = session_of(lines, tmp_path, "frameworks.ultralytics")
    assert value(session) == pytest.approx(40 * 16 / 19, rel=0.001)


@pytest.mark.parametrize(
    ("release", "bar", "gib"),
    [
        ("8.3.75", "5/5 [00:40<00:00,  8.00s/it]", False),
        ("8.3.76", "5/5 [00:40<00:00,  8.00s/it]", True),
        ("8.3.100", "5/5 [00:40<00:00,  8.00s/it]", True),
        ("YOLOv8.0.76", "5/5 [00:40<00:00,  8.00s/it]", False),
        ("8.4.1", "5/5 8.0s/it 40.0s", True),
    ],
)
def test_memory_of_ultralytics_is_in_the_unit_of_its_release(release: str, bar: str, gib: bool, tmp_path: Path) -> None:
    head = [f"Ultralytics {release} Python-3.12.3 torch-2.6.0+cu126 CUDA:0 (Tesla T4, 15102MiB)", *YOLOV8[1:]]
    states = [
        f"      {each}/3      4.5G     1.0429     1.5621         90        640: 100% ━ {bar}" for each in (1, 2, 3)
    ]
    session = session_of([*head, *states], tmp_path, "frameworks.ultralytics")
    assert max(session.records, key=len)["memory"].max() == pytest.approx(4.5 * (1024 if gib else 1e9 / 2**20))


@pytest.mark.parametrize(
    ("bar", "seconds"),
    [
        # 8 batches in 22.9 s are 0.349 of them in a second; 30 in 500 s are 0.06.
        ("8/8 0.3it/s 22.9s", 22.9),
        ("30/30 0.1it/s 8:20", 500.0),
        ("30/30 0.0it/s 20:00", 1200.0),
        ("99/99 9.9it/s 10.0s", 10.0),
    ],
)
def test_bars_of_ultralytics_round_their_seconds_and_slow_rates(bar: str, seconds: float, tmp_path: Path) -> None:
    states = [
        f"      {each}/4      4.5G     1.0429     1.5621         90        640: 100% ━ {bar}" for each in range(1, 5)
    ]
    session = session_of([*YOLOV5, *states], tmp_path, "frameworks.ultralytics")
    assert value(session) == pytest.approx(16 * int(bar.partition("/")[0]) / seconds, rel=0.004)
    assert isinstance(measured(session, facts_of(session)).headline, Figure)


@pytest.mark.parametrize(
    "head",
    [
        [*YOLOV5[:3], "WARNING: DP not recommended, use torch.distributed.run for best DDP Multi-GPU results."],
        [*YOLOV5[:2], "                       CUDA:1 (Tesla T4, 15102MiB)"],
        ["Setting OMP_NUM_THREADS environment variable for each process", "*" * 41, *YOLOV5],
    ],
)
def test_yolov5_on_several_devices_may_name_none(head: list[str], tmp_path: Path) -> None:
    session = session_of(epochs_of_yolo(head), tmp_path, "frameworks.ultralytics")
    assert "devices" not in facts_of(session)


# pytorch-cifar


def cifar(total: int, took: float, seen: int) -> str:
    """Return the complete bar of steps that take so long, the first apart, as it is written to a file."""
    whole = (total - 1) * took
    told = f"{int(whole // 60)}m{int(whole % 60)}s" if whole >= 60 else f"{int(whole)}s{int(whole % 1 * 1000)}ms"
    bar = f" [{'=' * 64}>]  Step: 90ms | Tot: {told} | Loss: 1.500 | Acc: 50.000% ({seen // 2}/{seen})"
    first = f" [>...]  Step: 2s | Tot: 0ms | Loss: 2.5 | Acc: 9.0% (9/64) 1/{total} \r"
    return f"{first}{bar}{chr(8) * (len(bar) - 40)} {total}/{total} "


@pytest.mark.parametrize("took", [0.05, 0.5])
def test_the_first_bar_of_an_epoch_of_pytorch_cifar_is_the_training(took: float, tmp_path: Path) -> None:
    epoch = ["", "Epoch: {}", cifar(782, took, 50000), cifar(157, 0.01, 10000), "Saving.."]
    lines = [each.format(i) for i in range(6) for each in epoch]
    session = session_of(lines, tmp_path, "frameworks.pytorch_cifar")
    assert value(session, ALL, devices=1) == pytest.approx(64 / took, rel=0.002)
    assert not log_of([each for each in lines if not each.startswith("Epoch")], tmp_path).claims


def test_a_bar_of_pytorch_cifar_that_is_never_complete_is_not_that_of_the_test(tmp_path: Path) -> None:
    # Each state in a line of its own.
    def bar(done: int, total: int) -> str:
        seconds = f"{done // 20}s{done % 20 * 50}ms"
        return f" [{'=' * 64}>]  Step: 50ms | Tot: {seconds} | Loss: 1.5 | Acc: 50% ({done}/{2 * done}) {done}/{total} "

    def epochs_of(last: int) -> list[str]:
        done, tested = (*range(1, 391, 39), last), (1, 100)
        states = [*(bar(i, 391) for i in done), *(bar(i, 100) for i in tested)]
        return [each for epoch in range(6) for each in (f"Epoch: {epoch}", *states)]

    session = session_of(epochs_of(391), tmp_path, "frameworks.pytorch_cifar")
    assert value(session, ALL, devices=1) == pytest.approx(780 / 19.55, rel=0.01)
    session = session_of(["==> Preparing data..", *epochs_of(390)], tmp_path, "frameworks.pytorch_cifar")
    assert reason(session, ALL, devices=1) == "no_records"


# OpenMMLab


@pytest.mark.parametrize("hook", ["cumulative_iters=4", "accumulative_counts=4"])
def test_batches_of_an_update_of_openmmlab(hook: str, tmp_path: Path) -> None:
    lines = [
        "optimizer_config = dict(",
        f"    type='AnyHook', {hook})",
        *iterations(lambda t: f"{at(t)} - mmdet - INFO - "),
    ]
    session = session_of(lines, tmp_path, "frameworks.mmseg")
    assert facts_of(session)["accumulation"] == 4
    assert value(session, ALL, devices=8, batch_size=2) == pytest.approx(32)


@pytest.mark.parametrize(
    ("logger", "name"),
    [("mmdet", "cascade_rcnn_r50_fpn_1x.v2.py"), ("mmengine", "cascade_rcnn_r50_fpn_1x.v2_20261120_100000")],
)
def test_the_model_is_that_of_the_configuration(logger: str, name: str, tmp_path: Path) -> None:
    lines = iterations(lambda t: f"{at(t)} - mmdet - INFO - ")
    lines.insert(3, f"{at(75)} - {logger} - INFO - Exp name: {name}")
    assert facts_of(session_of(lines, tmp_path, "frameworks.mmseg"))["model"] == "cascade_rcnn_r50_fpn_1x.v2"


def test_files_of_mmcv_that_were_joined_are_a_run_each(tmp_path: Path) -> None:
    lines = []
    for batch, took in ((4, 0.5), (8, 1.25)):
        config = (
            rf"data = dict(\n    samples_per_gpu={batch},\n)\nfp16 = dict(loss_scale=512.0)\ngpu_ids = range(0, 8)\n"
        )
        lines.append(f'{{"env_info": "sys.platform: linux", "config": "{config}"}}')
        lines += [
            f'{{"mode": "train", "epoch": 1, "iter": {i}, "lr": 0.01, "data_time": 0.01, "loss": 1.5, "time": {took}}}'
            for i in range(50, 1001, 50)
        ]
    log = log_of(lines, tmp_path)
    assert [value(each) for each in log.sessions] == pytest.approx([64, 51.2])
    assert [facts_of(each)["precision"] for each in log.sessions] == ["amp", "amp"]


# PyTorch Lightning


def test_the_last_state_of_an_epoch_of_unknown_length_counts(tmp_path: Path) -> None:
    # 400 steps of 0.5 s; the bar is drawn from the first on.
    lines = ["GPU available: True (cuda), used: True", "LOCAL_RANK: 0 - CUDA_VISIBLE_DEVICES: [0]"]
    for epoch in range(4):
        states = (f"{i}/? [{i // 120:02}:{i // 2 % 60:02}<00:00,  2.00it/s, v_num=0, loss=1.5]" for i in (20, 200, 400))
        lines.append("".join(f"\rEpoch {epoch}: |          | {each}" for each in states))
    session = session_of(lines, tmp_path, "frameworks.lightning")
    assert facts_of(session)["devices"] == 1
    assert len(session.main) == 4
    assert value(session, ALL, batch_size=16) == pytest.approx(32, rel=0.005)


def test_a_bar_of_lightning_that_a_terminal_cut_may_hold_the_validation(tmp_path: Path) -> None:
    lines = [
        f"Epoch {i}: 100%|#| 500/500 [01:40<00:00,  5.00it/s, v_num=0, train_loss=1.50, train_acc=0.6" for i in range(4)
    ]
    session = session_of(lines, tmp_path, "frameworks.lightning")
    assert facts_of(session)["validation"] == "included"
    assert value(session, ALL, devices=1, batch_size=16) == pytest.approx(80)


def test_a_run_that_ended_within_its_first_epoch(tmp_path: Path) -> None:
    # 85 steps of 0.8 s, and a rate that is smoothed.
    states = (f"{i}/5049 [{i * 4 // 300:02}:{i * 4 // 5 % 60:02}<46:01,  1.80it/s, loss=0.25]" for i in range(5, 90, 5))
    bar = "".join(f"\rEpoch 1:   1%|          | {each}" for each in states)
    session = session_of([bar, "Traceback (most recent call last):"], tmp_path, "frameworks.lightning")
    assert value(session, ALL, devices=1, batch_size=2) == pytest.approx(2.5, rel=0.01)


def test_one_visible_device_may_be_that_of_a_process_of_several(tmp_path: Path) -> None:
    lines = [
        "Initializing distributed: GLOBAL_RANK: 0, MEMBER: 1/4",
        "LOCAL_RANK: 0 - CUDA_VISIBLE_DEVICES: [0]",
        *(f"Epoch {i}: 100%|##########| 500/500 [01:40<00:00,  5.00it/s, v_num=0]" for i in range(4)),
    ]
    assert facts_of(session_of(lines, tmp_path, "frameworks.lightning"))["devices"] == 4


# OpenPCDet


@pytest.mark.parametrize("seconds", [60, 20])
def test_epochs_of_the_bars_of_openpcdet(seconds: int, tmp_path: Path) -> None:
    # Each state of a bar is drawn twice, with the number of the step before and its own.
    lines = [
        f"train: 100%|######| 80/80 [{seconds // 60:02}:{seconds % 60:02}<00:00,  1.33it/s, total_it={80 * epoch + of}]"
        for epoch in range(1, 7)
        for of in (-1, 0)
    ]
    session = session_of(lines, tmp_path, "frameworks.openpcdet_bar", "\r")
    if seconds == 60:
        assert value(session, ALL, devices=4, batch_size=4) == pytest.approx(80 * 16 / 60, rel=0.01)
    else:
        assert reason(session, ALL, devices=4, batch_size=4) == "coarse_seconds"


# SuperGradients


@pytest.mark.parametrize(("images", "batches"), [(1000, 62), (1000, 63)])
def test_the_last_batch_of_super_gradients_is_dropped_or_smaller(images: int, batches: int, tmp_path: Path) -> None:
    bar = f"{batches}/{batches} [00:25<00:00,  {batches / 25:.2f}it/s, PPYoloELoss/loss=1.25, gpu_mem=8.12]"
    lines = [
        "TRAINING PARAMETERS:",
        "    - Number of GPUs:               2          (2 available on the machine)",
        f"    - Dataset size:                 {images}       (len(train_set))",
        "    - Batch size per GPU:           8          (batch_size)",
        "    - Total batch size:             16         (num_gpus * batch_size)",
        *(f"Train epoch {i}: 100%|##########| {bar}" for i in range(6)),
    ]
    session = session_of(lines, tmp_path, "frameworks.super_gradients")
    assert value(session) == pytest.approx(min(images, 16 * batches) / 25, rel=0.002)


# GluonCV


def test_gluon_cv_prints_nothing_but_epochs_where_they_have_few_batches(tmp_path: Path) -> None:
    lines = ["Start training from [Epoch 0]"]
    for epoch in range(8):
        lines.append(f"[Epoch {epoch}] training: accuracy=0.306944")
        lines.append(f"[Epoch {epoch}] speed: 91 samples/sec     time cost: 7.912088")
        lines.append(f"[Epoch {epoch}] validation: top1=0.425000 top5=1.000000")
    session = session_of(lines, tmp_path, "dlperf.gluon_cv")
    assert value(session, ALL) == pytest.approx(91)


def test_detectron2_writes_through_a_logger_of_the_user(tmp_path: Path) -> None:
    lines = []
    for i in range(1, 21):
        lines.append(
            f"{at(10 * i)} - INFO - detectron2.utils.events  -  eta: 0:08:24  iter: {20 * i - 1}  total_loss: 0.8492  "
            "loss_cls: 0.139  time: 0.5000  data_time: 0.0030  lr: 0.006  max_mem: 5216M"
        )
        lines.append("Data time: 0.00s (0.19%), forward time: 0.250s (50.00%), backward time: 0.250s (49.81%)")
    session = session_of(lines, tmp_path, "frameworks.detectron2")
    assert value(session, ALL, devices=1, batch_size=16) == pytest.approx(32)


# LeRobot


@pytest.mark.parametrize(("first", "known"), [(200, True), (20_200, False)])
def test_steps_of_lerobot_that_are_cut_follow_from_those_before(first: int, known: bool, tmp_path: Path) -> None:
    lines = [
        "INFO 2026-11-20 10:00:00 ts/train.py:130 dataset.num_episodes=50",
        "INFO 2026-11-20 10:00:00 ts/train.py:131 num_learnable_params=51597190 (52M)",
    ]
    for step in range(first, first + 8000, 200):
        told = f"step:{step if step < 1000 else f'{step / 1000:.0f}K'} smpl:1K ep:2 epch:0.10 loss:0.500 grdn:1.250"
        lines.append(f"INFO 2026-11-20 10:00:10 ts/train.py:232 {told} lr:1.0e-05 updt_s:0.200 data_s:0.050")
    session = session_of(lines, tmp_path, "frameworks.lerobot")
    assert value(session, ALL, batch_size=8) == pytest.approx(32)
    assert ("step" in session.main) == known
    if known:
        assert session.main["step"].tolist() == list(range(200, 8200, 200))


def test_checkpoints_of_lerobot_lie_between_its_steps(tmp_path: Path) -> None:
    lines, t = ["INFO 2026-11-20 10:00:00 ot_train.py:246 Effective batch size: 8 x 2 = 16"], 0.0
    for step in range(50, 2001, 50):
        t += 50 * 0.25
        told = f"step:{step if step < 1000 else f'{step / 1000:.0f}K'} smpl:1K ep:2 epch:0.10 loss:0.500 grdn:1.250"
        lines.append(f"INFO {at(t)[:19]} ot_train.py:351 {told} lr:1.0e-05 updt_s:0.200 data_s:0.050")
        if step % 100 == 0:
            lines.append(f"INFO {at(t)[:19]} ot_train.py:360 Checkpoint policy after step {step}")
            t += 30
    session = session_of(lines, tmp_path, "frameworks.lerobot")
    found = measured(session, facts_of(session) | {"batch_size": 8}).headline
    assert isinstance(found, Figure), found
    assert found.value == pytest.approx(64)


# openpi


def withheld_by(session: Session) -> object:
    """Return the witness that contradicts the figure of a session."""
    headline = measured(session, facts_of(session)).headline
    assert isinstance(headline, NoFigure), headline
    assert headline.reason.code == "withheld"
    return headline.reason.args["witness"]


def openpi_bar(seconds: float, steps: float) -> str:
    """Return the bar of openpi for JAX as tqdm_loggable logs it, with three digits of the steps."""
    told = f"{steps:.3g}it" if steps < 999.5 else f"{steps / 1000:#.3g}kit"
    return (
        f"{START + dt.timedelta(seconds=seconds):%H:%M:%S}.125 [I] Progress on: {told}/30.0kit rate:2.0it/s "
        f"remaining:1:00:00 elapsed:{int(seconds) // 3600}:{int(seconds) // 60 % 60:02d}:{int(seconds) % 60:02d} "
        "postfix:-             (1234:tqdm_logging.py:145)"
    )


OPENPI = [
    "10:00:00.125 [I] Running on: node                                                      (1234:train.py:196)",
    "10:00:20.125 [I] Initialized data loader:",
    "[0].images['base_0_rgb']: (32, 224, 224, 3)@float32",
    "[1]: (32, 50, 7)@float32 (1234:train.py:227)",
    "10:01:00.125 [I] Progress on: -/30000 rate:- remaining:? elapsed:00:00 postfix:-       (1234:tqdm_logging.py:145)",
]


def test_bar_of_openpi_counts_where_its_three_digits_tell_enough(tmp_path: Path) -> None:
    """The first step takes 40 s, each other one half a second; one of 12,345 steps is printed as 12,300."""
    lines = [*OPENPI, *(openpi_bar(40 + step / 2, step) for step in range(20, 30001, 20))]
    session = session_of(lines, tmp_path, "frameworks.openpi")
    assert value(session, "sustained") == pytest.approx(64, rel=2e-3)
    assert value(session, "median") == pytest.approx(64, rel=0.02)
    assert facts_of(session) | {"batch_size_of_job": 32, "total_steps": 30000} == facts_of(session)


def test_bar_of_openpi_is_held_against_its_speed(tmp_path: Path) -> None:
    lines = [*OPENPI, *(openpi_bar(40 + step / 4, step) for step in range(40, 12001, 40))]
    assert withheld_by(session_of(lines, tmp_path, "frameworks.openpi")) == "arithmetic"


@pytest.mark.parametrize("whole", [True, False])
def test_lines_of_openpi_that_are_missing_show_by_the_clock(whole: bool, tmp_path: Path) -> None:
    head = (
        "10:00:00.125 [I] Training config: batch_size=64, effective_batch_size=32, num_train_steps=30000 (1234:t.py:4)"
    )
    lines = [
        f"{START + dt.timedelta(seconds=step / 2):%H:%M:%S}.125 [I] step={step} loss=0.1250 lr=2.50e-05 grad_norm=1.25 "
        "time=50.0s                (1234:train_pytorch.py:555)"
        for step in range(100, 4001, 100)
    ]
    session = session_of([head, *(lines if whole else lines[::2])], tmp_path, "frameworks.openpi")
    if whole:
        assert value(session, "sustained") == pytest.approx(128)
    else:
        assert withheld_by(session) == "clock"


# OSTrack


def ostrack(times: float = 1.0, ranks: int = 1) -> list[str]:
    """Return lines of three epochs of 1,000 batches of 32 samples: 0.5 s each, and 1 s in the second half."""
    lines = ["New configuration is shown below.", "TRAIN configuration: {'LR': 0.0004, 'EPOCH': 3, 'BATCH_SIZE': 32}"]
    for epoch in (1, 2, 3):
        for step in range(50, 1001, 50):
            seconds = 0.5 * step + 0.5 * max(0, step - 500)
            fps, mean = f"{times * 32 * step / seconds:.1f}", f"{seconds / step:.3f}"
            line = (
                f"[train: {epoch}, {step} / 1000] FPS: {fps} (32.0)  ,  DataTime: 0.125 (0.002)  ,  "
                f"ForwardTime: 0.375  ,  TotalTime: {mean}  ,  Loss/total: 1.25000  ,  Loss/giou: 0.50000"
            )
            lines += [line] * ranks
    return lines


@pytest.mark.parametrize("ranks", [1, 4])
def test_means_of_ostrack_are_undone_and_of_one_process(ranks: int, tmp_path: Path) -> None:
    session = session_of(ostrack(ranks=ranks), tmp_path, "frameworks.ostrack")
    assert value(session, ALL) == pytest.approx(32 * 1000 / 750, rel=2e-3)
    assert value(session, ALL, devices=4) == pytest.approx(4 * 32 * 1000 / 750, rel=2e-3)


@pytest.mark.parametrize("times", [0.5, 2.0, 8.0])
def test_speeds_of_ostrack_are_held_against_its_seconds(times: float, tmp_path: Path) -> None:
    assert reason(session_of(ostrack(times), tmp_path, "frameworks.ostrack")) == "lines_contradict"


# semseg


def semseg(every: int, times: float = 1.0, stamped: bool = True) -> list[str]:
    """Return lines of three epochs of 1,500 iterations, of 0.5 s and from the middle on 1 s; evaluations take 60 s."""
    lines, begun = [], 0.0
    for epoch in (1, 2, 3):
        for step in range(every, 1501, every):
            seconds = 0.5 * step + 0.5 * max(0, step - 750)
            stamp = f"[{at(begun + seconds)} INFO train.py line 281 1234] " if stamped else ""
            lines.append(
                f"{stamp}Epoch: [{epoch}/3][{step}/1500] Data 0.001 (0.002) Batch 0.500 ({times * seconds / step:.3f}) "
                "Remain 00:10:00 MainLoss 0.2500 AuxLoss 0.1250 Loss 0.3000 Accuracy 0.9125."
            )
        begun += seconds + 60
        lines.append(
            f"[{at(begun - 60)} INFO train.py line 325 1234] >>>>>>>>>>>>>>>> Start Evaluation >>>>>>>>>>>>>>>>"
        )
    return lines


@pytest.mark.parametrize(("every", "stamped"), [(1, True), (1, False), (10, True), (100, False)])
def test_means_of_semseg_are_undone_where_their_digits_tell_enough(every: int, stamped: bool, tmp_path: Path) -> None:
    session = session_of(semseg(every, stamped=stamped), tmp_path, "frameworks.semseg")
    assert value(session, ALL, devices=4, batch_size=2) == pytest.approx(8 * 1500 / 1125, rel=0.015)


def test_means_of_semseg_are_held_against_the_clock(tmp_path: Path) -> None:
    session = session_of(semseg(10, 0.5), tmp_path, "frameworks.semseg")
    headline = measured(session, facts_of(session) | {"devices": 4, "batch_size": 2}).headline
    assert isinstance(headline, NoFigure)
    assert (headline.reason.code, headline.reason.args["witness"]) == ("withheld", "clock")
