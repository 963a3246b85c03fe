"""Made-up logs in the formats that are understood, with numbers chosen by hand. None was measured anywhere."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Sequence
from typing import Any

START = dt.datetime(2026, 11, 20, 8, 0, 0)


#: Usual facts of a case.
CASE = {
    "model": "DeepLabV3+", "framework": "PaddlePaddle", "hardware": "made-up", "nodes": 1, "devices": 1,
    "batch_size": 4, "precision": "fp32", "options": {},
}  # fmt: skip


def run_json(**changed: Any) -> dict[str, Any]:
    """Return a valid run.json with changed facts of its case, and changed or further keys."""
    case = {name: changed.pop(name, value) for name, value in CASE.items()}
    return {"schema": "perfledger.run/1", "outcome": "completed", "case": case, "repeat": 1} | changed


def clock(seconds: float) -> str:
    return (START + dt.timedelta(seconds=seconds)).strftime("%Y-%m-%d %H:%M:%S.%f")


def seg(speeds: Iterable[object], *, batch: int = 4, steps: Sequence[int] | None = None) -> list[str]:
    """Return lines of PaddleSeg with speeds of one device per interval; a text is printed unchanged."""
    lines, at, before = [], dt.datetime(2026, 11, 20, 11, 50), 0
    for i, v in enumerate(speeds):
        step = steps[i] if steps else 10 * (i + 1)
        seconds = batch / v if isinstance(v, float) and 1e-3 < v < 1e9 else 0.5
        at, before = at + dt.timedelta(seconds=seconds * max(1, step - before)), step
        lines.append(
            f"{at:%Y-%m-%d %H:%M:%S} [INFO]\t[TRAIN] epoch: 1, iter: {step}/9999, loss: 2.0594, lr: 0.010000, "
            f"batch_cost: {batch / v if isinstance(v, float) and v else 0.5:.6f}, reader_cost: 0.00247, "
            f"ips: {v if isinstance(v, str) else format(v, '.4f')} samples/sec | ETA 00:00:00"
        )
    return lines


def clas_static(records: Iterable[tuple[int, int, float]], *, batch: int = 16) -> list[str]:
    """Return lines of PaddleClas's static graph for (epoch, step, running mean of one device's speed)."""
    return [
        f"[2026/11/20 13:16:10] ppcls INFO: epoch:{epoch}   train step:{step}   lr: 0.100000, loss:  7.0662 "
        f"top1:  0.0000 top5: -0.0039 batch_cost: {batch / ips:.5f} s, reader_cost: 0.00110 s, "
        f"ips: {ips:.5f} samples/sec."
        for epoch, step, ips in records
    ]


def clas_dygraph(records: Iterable[tuple[int, int, float]], *, batch: int = 16, epochs: int = 1) -> list[str]:
    """Return lines of PaddleClas's dynamic graph for (epoch, step, speed of one device since the last line)."""
    return [
        f"[2026/11/20 13:14:40] ppcls INFO: [Train][Epoch {epoch}/{epochs}][Iter: {step}/100]lr(PiecewiseDecay): "
        f"0.10000000, top1: 0.12500, CELoss: 2.30000, loss: 2.30000, batch_cost: {batch / ips:.5f}s, "
        f"reader_cost: 0.08870, ips: {ips:.5f} samples/s, eta: 0:00:14"
        for epoch, step, ips in records
    ]


CLAS_BANNER = "[2026/11/20 13:14:00] ppcls INFO: =    PaddleClas is powered by PaddlePaddle !    ="


def nlp_bert(records: Iterable[tuple[int, float]], *, batch: int = 96) -> list[str]:
    """Return lines of PaddleNLP's BERT for (step, speed of one device)."""
    return [
        f"total step: {step}, epoch: 0, batch: {step - 1}, loss: 11.089721, avg_reader_cost: 0.00000 sec, "
        f"avg_batch_cost: {batch / ips:.5f} sec, avg_samples: {batch:.5f}, ips: {ips:.5f} sequences/sec"
        for step, ips in records
    ]


def pytorch_resnet50(steps: Iterable[tuple[int, float]], *, second: float = 1.0) -> list[str]:
    """Return lines of NGC PyTorch's ResNet-50 for (iteration, speed of the job), `second` apart."""
    return [
        f"DLL {clock(i * second)} - Epoch: 0 Iteration: {step}  train.loss : 5.83243 None train.compute_ips : 4684.38 "
        f"images/s train.total_ips : {ips:.2f} images/s train.lr : 0.1  train.grad_scale : 256.00000 None"
        for i, (step, ips) in enumerate(steps)
    ]


def pytorch_bert(lines: Iterable[tuple[int, float]], whole: tuple[float, float] | None = None) -> list[str]:
    """Return lines of NGC PyTorch's BERT for (iteration, clock in seconds), and (speed, seconds) of the whole run."""
    found = [
        f"DLL {clock(at)} - Training Epoch: 0 Training Iteration: {step}  average_loss : 11.184912941672586  "
        f"learning_rate : 0.0010552234016358852  skipped_steps : 0 "
        for step, at in lines
    ]
    if whole:
        found.append(
            f"DLL {clock(9999)} -  e2e_train_time : 9999.3 s training_sequences_per_second : {whole[0]} sequences/s "
            f"final_loss : 8.56 None raw_train_time : {whole[1]} s"
        )
    return found


def tensorflow_resnet50(steps: Iterable[tuple[int, float]]) -> list[str]:
    """Return lines of NGC TensorFlow's ResNet-50 for (step, speed of the job), with a step per second."""
    return [f"DLL {clock(step)} - (0, {step}) total_ips : {ips:.10f} " for step, ips in steps]


def mxnet_speed(records: Iterable[tuple[int, int, float]]) -> list[str]:
    """Return lines of NGC MXNet before DLLogger for (rank, batch, speed of the job), with a batch per second."""
    return [
        f"[1,{rank}]<stderr>:{clock(batch).replace('.', ',')[:-3]}:INFO: Epoch[0] Batch [{batch}-{batch}]"
        f"\tSpeed: {ips:.6f} samples/sec\tLR: 0.0039936\t"
        for rank, batch, ips in records
    ]


def oneflow_resnet50(records: Iterable[tuple[int, float, float]], *, batch: int, devices: int, nodes: int) -> list[str]:
    """Return a header of OneFlow's ResNet-50, and lines for (iteration, speed of the job, Unix time)."""
    return [
        "model = resnet50",
        f"batch_size_per_device = {batch}",
        f"gpu_num_per_node = {devices // nodes}",
        f"num_nodes = {nodes}",
        *(
            f"train: epoch 0, iter {step}, loss: 7.087004, top_1: 0.000000, top_k: 0.000000, "
            f"samples/s: {ips:.3f} {at:.7f}"
            for step, ips, at in records
        ),
    ]


def paddle_rec(
    epochs: Iterable[tuple[float, float]],
    *,
    trainers: int,
    reader: str = "DataLoader",
    job: str = "",
    warnings: int = 0,
) -> list[str]:
    """Return lines of PaddleRec for (seconds, samples/s of a node) of each epoch; `job` is the run's name."""
    stamp, lines = "2026-11-20 14:38:09,247 - INFO - Epoch:", [
        "2026-11-20 14:26:20,125 - INFO - Run Worker Begin",
        f"I1120 14:26:20.288252 17480 communicator.h:205] trainers: {trainers}",
        *["W1120 14:26:20.439005 17480 build_strategy.cc:423] a pass is skipped."] * warnings,
    ]  # fmt: skip
    for epoch, (seconds, ips) in enumerate(epochs):
        lines.append(f"{stamp} {epoch}, Running {reader} Begin.")
        if reader == "DataLoader":
            lines.append(
                f"{stamp} {epoch}, Batch: 100, auc: [0.66], cost: [0.49],  avg_batch_cost: {16000 / ips:.5f} sec, "
                f"avg_samples: 1000.00000, ips: {ips / 16:.5f} example/sec"
            )
        lines.append(f"{stamp} {epoch}, using time {seconds} second, ips {ips} example/sec.")
    return [*lines, *([f"/data/1.user--{job}_conv/io.py:13: UserWarning: the states are not zero"] if job else [])]
