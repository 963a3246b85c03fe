"""Printers of today whose lines mean something only together: dialects, bars, events; figures worked out by hand."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ingest.compute import rules
from ingest.compute.metrics import metrics
from ingest.compute.rules import Figure
from parsers.engine.read import Log, read
from parsers.engine.session import Session
from schema.records import NoFigure

ALL = "sustained:skip=0"


def log_of(lines: list[str], folder: Path) -> Log:
    path = folder / "train.log"
    path.write_text("".join(f"{each}\n" for each in lines))
    return read(path)


def session_of(lines: list[str], folder: Path, format_id: str) -> Session:
    log = log_of(lines, folder)
    assert [each.format.id for each in log.claims] == [format_id]
    (session,) = log.sessions
    return session


def facts_of(session: Session) -> dict[str, Any]:
    return {name: each.value for name, each in session.facts.items()}


def figure(session: Session, rule: str = ALL, **case: Any) -> Figure | NoFigure:
    return rules.figure(rule, session, facts_of(session) | case)


def value(session: Session, rule: str = ALL, **case: Any) -> float:
    found = figure(session, rule, **case)
    assert isinstance(found, Figure), found
    return found.value


def mllog(at: float, key: str, of: Any = None, **metadata: Any) -> str:
    """A line of MLPerf's, `at` seconds after the start."""
    kind = {"start": "INTERVAL_START", "stop": "INTERVAL_END"}.get(key.rpartition("_")[2], "POINT_IN_TIME")
    line = {"namespace": "", "time_ms": 1795168800000 + round(at * 1000), "event_type": kind, "key": key, "value": of}
    return ":::MLLOG " + json.dumps(line | {"metadata": {"file": "train.py", "lineno": 7} | metadata})


def epochs(numbers: list[int]) -> list[str]:
    """Epochs of 100 s, evaluated for 20 s each; the last is given up after 50 s."""
    lines = []
    for at, number in enumerate(numbers):
        took = 50 if number == numbers[-1] else 100
        lines += [
            mllog(120 * at, "epoch_start", epoch_num=number),
            mllog(120 * at + took, "epoch_stop", epoch_num=number),
            mllog(120 * at + took + 20, "eval_accuracy", 0.5 + at / 8, epoch_num=number),
        ]
    return lines


def test_mlperf_size_of_the_data_set_counts_per_whole_epoch(tmp_path: Path) -> None:
    lines = [mllog(-9, "run_start"), mllog(-8, "train_samples", 5000), *epochs([1, 2, 3]), mllog(310, "run_stop")]
    session = session_of(lines, tmp_path, "frameworks.mlperf")
    found = figure(session)
    assert isinstance(found, Figure)
    assert (found.value, found.used, found.first_line, found.last_line) == (50.0, 2, 4, 7)
    assert metrics(session, {}, found)["accuracy"].value == 0.75


def test_mlperf_samples_that_the_run_has_processed(tmp_path: Path) -> None:
    lines = [mllog(-50, "run_start"), *epochs([1]), mllog(200, "run_stop"), mllog(200, "train_samples", 5000)]
    assert value(session_of(lines, tmp_path, "frameworks.mlperf")) == pytest.approx(5000 / 250)


@pytest.mark.parametrize(
    "lines",
    [
        [mllog(-8, "train_samples", 5000), *epochs([1])],
        [mllog(-8, "train_samples", 5000), *epochs([1000, 2000, 3000])],
        [*epochs([1, 2, 3])],
        [*epochs([1]), mllog(200, "train_samples", 5000)],
    ],
    ids=["one-epoch", "epochs-in-samples", "no-samples", "no-run"],
)
def test_mlperf_without_what_a_figure_takes(lines: list[str], tmp_path: Path) -> None:
    assert isinstance(figure(session_of(lines, tmp_path, "frameworks.mlperf")), NoFigure)


def test_mlperf_of_2018_counts_epochs_once(tmp_path: Path) -> None:
    head = ":::MLPv0.5.0 resnet {at:.9f} (/w/log.py:49) "
    events = [(0, "run_start"), (1, "input_size: 1000")]
    events += [(10 + 25 * (each // 2), f"train_epoch: {each // 2}") for each in range(8)]
    lines = [head.format(at=1795168800 + at) + event for at, event in events]
    found = figure(session_of(lines, tmp_path, "frameworks.mlperf"))
    assert isinstance(found, Figure)
    assert (found.value, found.used) == (40.0, 3)


def test_mlperf_stands_above_the_training_program(tmp_path: Path) -> None:
    lines = []
    for each in range(6):
        lines += [
            f"Epoch[{each}] Batch [0-20]\tSpeed: {900 + each}.00 samples/sec\taccuracy=0.5",
            mllog(each, "throughput", 1000.0),
        ]
    assert value(session_of(lines, tmp_path, "frameworks.mlperf")) == 1000


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        (
            (
                "DLL 2026-11-20 10:00:{at:06.3f}000 - {step} reduced_train_loss : 2.5  global_step : {step}.0  "
                "consumed_samples : {seen}.0  train_step_timing in s : 9.75  epoch : 0 "
            ),
            64 / 4,
        ),
        (
            (
                "Training epoch 0, iteration {step}/99 | lr: 1e-06 | global_batch_size: 64 | global_step: {step} | "
                "reduced_train_loss: 2.5 | train_step_timing in s: 5.0 | consumed_samples: {seen}"
            ),
            64 / 5,
        ),
        # NeMo 2.0 without the samples: the global batch size stands on the line.
        (
            (
                "Training epoch 0, iteration {step}/99 | lr: 1e-06 | global_batch_size: 64 | global_step: {step} | "
                "reduced_train_loss: 2.5 | train_step_timing in s: 5.0"
            ),
            64 / 5,
        ),
    ],
)
def test_nemo_dialects(line: str, expected: float, tmp_path: Path) -> None:
    lines = [line.format(at=4.0 * step, step=step, seen=64 * (step + 1)) for step in range(6)]
    assert value(session_of(lines, tmp_path, "frameworks.nemo")) == pytest.approx(expected)


def test_nemo_bars_count_a_step_once(tmp_path: Path) -> None:
    """Each bar is drawn again while the next step runs, and `consumed_samples` is rounded from seven figures on."""
    bar = (
        "Epoch 0: :  5%|#    | {n}/20 [00:21<06:46, v_num=, reduced_train_loss=2.50, global_step={step:.2f}, "
        "consumed_samples={seen}, train_step_timing in s={took:.3f}]"
    )
    lines = ["    global_batch_size: 8192"]
    for step in range(10, 20):
        text = bar.format(n=step, step=step, seen=f"{8192 * (step + 1):.2e}", took=4.0 if step % 2 else 6.0)
        lines += [text, text]
    found = figure(session_of(lines, tmp_path, "frameworks.nemo"))
    assert isinstance(found, Figure)
    assert (found.value, found.used) == (pytest.approx(8192 / 5), 10)


def bars(total: int, rate: str, every: int = 1) -> list[str]:
    return [f" 10%|#    | {step}/{total} [00:21<06:46,  {rate}]" for step in range(every, total + 1, every)]


LOSS = "{'loss': 2.5, 'learning_rate': 5e-05, 'epoch': 0.5}"
EVAL = "{'eval_loss': 2.25, 'eval_runtime': 12.5, 'eval_samples_per_second': 80.5, 'epoch': 1.0}"


def test_hugging_face_bar_of_training_is_found_without_the_head(tmp_path: Path) -> None:
    """The evaluation comes first and has more steps, but lasts 5 s; training lasts 20 s."""
    lines = [*bars(50, "10.00it/s", 10), EVAL, *bars(10, "2.00s/it"), LOSS, *bars(50, "10.00it/s", 10), EVAL]
    session = session_of(lines, tmp_path, "frameworks.hf_trainer")
    assert value(session, batch_size_of_job=64) == pytest.approx(32)
    found = metrics(session, {"batch_size_of_job": 64}, figure(session, batch_size_of_job=64))
    assert (found["latency"].value, found["loss"].value) == (pytest.approx(2000), 2.5)


def test_hugging_face_bar_of_training_is_that_of_the_stated_length(tmp_path: Path) -> None:
    head = ["***** Running training *****", "  Total train batch size (w. parallel, distributed & accumulation) = 64"]
    head.append("  Total optimization steps = 10")
    lines = [*head, *bars(10, "2.00s/it"), LOSS, *bars(50, "3.00s/it", 10), EVAL]
    assert value(session_of(lines, tmp_path, "frameworks.hf_trainer")) == pytest.approx(32)


def test_hugging_face_bars_alone_name_no_program(tmp_path: Path) -> None:
    assert log_of(bars(10, "2.00s/it"), tmp_path).claims == ()


def test_hugging_face_runs_are_told_apart_by_their_heads(tmp_path: Path) -> None:
    """Two nodes each; what the nodes print one after the other before the first step is one start."""
    run = ["***** Running training *****", "  Num examples = 64", "***** Running training *****", "  Num examples = 64"]
    run += [*bars(10, "2.00s/it"), LOSS]
    log = log_of(run * 2, tmp_path)
    assert [len(each.main) for each in log.sessions] == [9, 9]


def test_hugging_face_table_alone_is_the_tools_figure(tmp_path: Path) -> None:
    lines = [LOSS, "***** train metrics *****", "  epoch                    =        1.0"]
    lines += ["  train_runtime            = 0:08:32.50", "  train_samples_per_second =     19.512"]
    lines += ["  train_steps_per_second   =      0.305"]
    assert value(session_of(lines, tmp_path, "frameworks.hf_trainer"), "reported") == 19.512


def test_hugging_face_of_before_4_7_calls_steps_samples(tmp_path: Path) -> None:
    lines = [LOSS, "{'train_runtime': 400.0, 'train_samples_per_second': 1.25, 'epoch': 3.0}"]
    lines += ["***** train metrics *****", "  train_samples_per_second =       1.25"]
    session = session_of(lines, tmp_path, "frameworks.hf_trainer")
    assert value(session, "reported", batch_size_of_job=64) == 80
    unknown = figure(session, "reported")
    assert isinstance(unknown, NoFigure)
    assert unknown.reason.code == "no_devices"


def test_torchtitan_ranks_without_tags_count_once(tmp_path: Path) -> None:
    line = "2026-11-20 10:00:{step:02d},250 - root - INFO - step: {step:2d}  loss: 2.5000  memory: 20.50GiB(25.92%)  "
    line += "wps: {speed:,}  mfu: 30.00%"
    lines = ["2026-11-20 10:00:00,250 - root - INFO - Starting job: a run"] * 2
    for step in range(10, 60, 10):
        lines += [line.format(step=step, speed=speed) for speed in (9900, 10100)]
    session = session_of(lines, tmp_path, "frameworks.torchtitan")
    found = figure(session, devices=2)
    assert isinstance(found, Figure)
    assert (found.value, found.used) == (pytest.approx(20000), 5)
    assert metrics(session, {"devices": 2}, found)["memory"].value == 20.5 * 1024


def test_torchtitan_seconds_need_the_length_of_a_sequence(tmp_path: Path) -> None:
    """8 sequences of 4096 tokens at 8192 tokens per second are 4 s, not a thousandth of one."""
    line = "2026-11-20 10:00:{step:02d},250 - root - INFO - step: {step:2d}  loss: 2.5000  memory: 20.50GiB(25.92%)  "
    lines = [line.format(step=step) + "tps: 4,096  tflops: 380.10  mfu: 30.00%" for step in range(10, 60, 10)]
    session = session_of(lines, tmp_path, "frameworks.torchtitan")
    case = {"devices": 2, "batch_size": 4}
    assert "latency" not in metrics(session, case, figure(session, **case))
    case["sequence_length"] = 4096
    assert metrics(session, case, figure(session, **case))["latency"].value == pytest.approx(4000)


@pytest.mark.parametrize(
    "line",
    [
        (
            "step {step:05d}/21400 (0.09%) | loss: 8.125000 | grad norm: 1.2500 | lrm: 1.00 | dt: 250.00ms | "
            "tok/sec: 4,096 | mfu: 48.50 | total time: 0.10m"
        ),
        "step {step:5d} | loss: 2.512500 | lr 2.5000e-04 | norm: 1.7500 | dt: 250.00ms | tok/sec: 4096.00",
        (
            "step {step:4d}/19560 | loss 7.125000 (+1.50z)| norm 1.2500 (-0.50z)| lr 3.00e-05 | 250.00 ms | "
            "40.1% bf16 MFU | 4096 tok/s"
        ),
    ],
)
def test_nanogpt_dialects(line: str, tmp_path: Path) -> None:
    session = session_of([line.format(step=step) for step in range(6)], tmp_path, "frameworks.nanogpt")
    found = figure(session)
    assert isinstance(found, Figure)
    assert (found.value, found.unit, found.scope) == (4096, "tokens/s", "job")
    assert metrics(session, {}, found)["latency"].value == 250


def test_modded_nanogpt_without_the_tokens_of_a_step_has_no_figure(tmp_path: Path) -> None:
    lines = [f"step:{step}/1770 train_time:{step * 50}ms step_avg:50.00ms" for step in range(11, 60)]
    session = session_of(lines, tmp_path, "frameworks.modded_nanogpt")
    found = figure(session, devices=8, batch_size=64)
    assert isinstance(found, NoFigure)
    assert found.reason.code == "no_tokens_per_step"
    assert value(session, devices=8, batch_size=1, sequence_length=1024) == pytest.approx(8 * 1024 / 0.05)


def dlll(step: Any, data: dict[str, Any]) -> str:
    line = {"timestamp": "1795168800.500000", "elapsedtime": "9.5", "type": "LOG", "step": step, "data": data}
    return "DLLL " + json.dumps(line)


def test_dllogger_epochs_where_no_iteration_is_printed(tmp_path: Path) -> None:
    lines = [dlll([each], {"train_throughput": 2000.5, "validation_throughput": 9000.5}) for each in range(5)]
    lines.append(dlll([], {"train_throughput": 1900.5, "best_accuracy": 0.5}))
    session = session_of(lines, tmp_path, "frameworks.dllogger")
    assert value(session) == pytest.approx(2000.5)
    assert value(session, "reported") == 1900.5


def test_horovod_on_other_devices(tmp_path: Path) -> None:
    lines = ["Model: resnet50", "Batch size: 8", "Number of CPUs: 2"]
    lines += [f"Iter #{each}: 10.0 img/sec per CPU" for each in range(5)] + ["Total img/sec on 2 CPU(s): 20.0 +-0.0"]
    session = session_of(lines, tmp_path, "frameworks.horovod_synthetic")
    assert (value(session), value(session, "reported")) == (20.0, 20.0)
