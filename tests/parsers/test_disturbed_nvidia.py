"""What NVIDIA's printers print under adverse conditions, as measured with a clock of our own.

Lines are made up after theirs; figures are worked out by hand.
"""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import pytest
from test_dialects import facts_of, reason, session_of, value

from ingest.compute.measurement import measured
from ingest.compute.second_run import second_run
from parsers.engine.read import read
from schema.records import Figure, NoFigure


def nemo(epoch: int, iteration: int, step: int, batch: str, seconds: str, consumed: int) -> str:
    """Return a line of NeMo 2.0's progress printer."""
    return (
        f"Training epoch {epoch}, iteration {iteration}/25 | lr: 1e-06 | global_batch_size: {batch} | "
        f"global_step: {step} | reduced_train_loss: 9.5 | train_step_timing in s: {seconds} | "
        f"consumed_samples: {consumed}"
    )


def test_nemo_line_that_begins_an_epoch_sums_the_end_of_the_one_before(tmp_path: Path) -> None:
    # Steps of 8 samples in 0.5 s, printed every 10 in epochs of 25: the sum of 15 steps is divided by 10 as well.
    lines = []
    for epoch in range(6):
        begun = 25 * epoch
        if epoch:
            lines.append(nemo(epoch, 10, begun + 9, "12", "0.75", 12 * (begun + 3)))
        else:
            lines.append(nemo(0, 10, 9, "8", "0.5", 44))
        lines.append(nemo(epoch, 20, begun + 19, "8", "0.5", 8 * begun + 124))
    session = session_of(lines, tmp_path, "frameworks.nemo")
    assert value(session) == pytest.approx(16)
    assert facts_of(session)["batch_size_of_job"] == 8
    # In epochs of 12, every line but the first one is such a sum, and a batch of 8 reads 9.6.
    lines = [nemo(0, 10, 9, "8", "0.5", 44), *(nemo(each, 10, 12 * each + 9, "9.6", "0.6", 90) for each in range(1, 9))]
    assert value(session_of(lines, tmp_path, "frameworks.nemo"), batch_size_of_job=8) == pytest.approx(16)


def test_nemo_first_line_after_a_resumption_sums_fewer_steps(tmp_path: Path) -> None:
    # Resumed at step 15: 5 steps of 0.5 s, divided by 10.
    resumed = [nemo(0, 20, 19, "4", "0.25", 72)]
    resumed += [nemo(0, 10 * n, 10 * n - 1, "8", "0.5", 80 * n - 36) for n in range(3, 12)]
    session = session_of(resumed, tmp_path, "frameworks.nemo")
    assert value(session) == pytest.approx(16)
    assert facts_of(session)["batch_size_of_job"] == 8
    assert len(session.records[2]) == 9
    # Into the same file: stopped behind step 28, and resumed from the checkpoint of step 25.
    first = [nemo(0, 10 * n, 10 * n - 1, "8", "0.5", 80 * n - 36) for n in (1, 2)]
    again = [nemo(0, 30, 29, "4", "0.25", 112), *resumed[2:]]
    session = session_of(first + again, tmp_path, "frameworks.nemo")
    assert value(session) == pytest.approx(16)
    assert len(session.records[2]) == 10


def test_nemo_batch_that_grows_is_no_resumption(tmp_path: Path) -> None:
    # 8 samples per step of 0.5 s, later 16 per second; the line of step 39 holds both, half of each.
    lines = [nemo(0, 10 * n, 10 * n - 1, "8", "0.5", 80 * n - 36) for n in (1, 2, 3)]
    lines.append(nemo(0, 40, 39, "12", "0.75", 304))
    lines += [nemo(0, 10 * n, 10 * n - 1, "16", "1", 280 + 160 * (n - 4) + 88) for n in range(5, 10)]
    session = session_of(lines, tmp_path, "frameworks.nemo")
    assert len(session.records[2]) == 9
    assert facts_of(session)["batch_size_of_job"] == 8


def dllogger(unix: float, step: object, data: dict[str, object]) -> str:
    return "DLLL " + json.dumps({"timestamp": f"{unix:.6f}", "type": "LOG", "step": step, "data": data})


def resnet50(unix: float, step: Sequence[int], waits: Sequence[float], batch: float = 256) -> Iterator[str]:
    """Yield the two lines of iterations that compute for 0.24 s each and wait before, as means of each iteration's."""
    count = len(waits)
    compute_ips, total_ips = batch / 0.24, sum(batch / (0.24 + each) for each in waits) / count
    yield dllogger(unix, step, {"train.compute_ips": compute_ips, "train.total_ips": total_ips, "train.lr": 0.1})
    yield dllogger(unix, step, {"train.data_time": sum(waits) / count, "train.compute_time": 0.24})


def resnet50_run(waits: Sequence[Sequence[float]]) -> list[str]:
    """Return a run that prints every ten iterations, with what it says of the whole run."""
    unix, lines = 1795169472.5, [dllogger(1795169472.5, "PARAMETER", {"arch": "resnet50", "batch_size": 32})]
    for number, each in enumerate(waits, 1):
        unix += sum(each) + 0.24 * len(each)
        lines += resnet50(unix, [0, 10 * number], each)
    return [*lines, *resnet50(unix, [], [one for each in waits for one in each])]


def losses(epochs: int, steps: int, every: int, last: int) -> list[str]:
    """Return the losses of every so many steps of 0.25 s, that begin anew with the epoch, and nothing else.

    Args:
        epochs: how many there are.
        steps: of an epoch.
        every: steps from one line of an epoch to the next.
        last: number of the first step that is printed.
    """
    told = [(epoch, step) for epoch in range(epochs) for step in range(last, steps, every)]
    return [dllogger(0.25 * (steps * epoch + step), [epoch, step], {"loss": 5.5}) for epoch, step in told]


@pytest.mark.parametrize("last", [0, 99])
@pytest.mark.parametrize("steps", [170, 190, 200, 240, 270])
def test_clocks_between_two_epochs_may_hold_other_steps(steps: int, last: int, tmp_path: Path) -> None:
    """Nothing tells how many steps of 8 images lie between the last line of an epoch and the first of the next."""
    session = session_of(losses(20, steps, 100, last), tmp_path, "frameworks.dllogger")
    case = {"devices": 1, "batch_size": 8, "accumulation": 1}
    if steps < 200 and last:
        # One line per epoch.
        assert reason(session, "sustained", **case) == "no_steps_per_epoch"
    else:
        assert value(session, "sustained", **case) == pytest.approx(32)


@pytest.mark.parametrize(("every", "expected"), [(1, None), (10, 32)])
def test_dllogger_may_print_the_steps_that_are_planned_behind_the_step(
    every: int, expected: float | None, tmp_path: Path
) -> None:
    """Of steps one by one nothing tells that they are no epochs."""
    lines = [dllogger(0.25 * step, [step, 640], {"loss": "5.5000"}) for step in range(0, 640, every)]
    session, case = (
        session_of(lines, tmp_path, "frameworks.dllogger"),
        {"devices": 1, "batch_size": 8, "accumulation": 1},
    )
    if expected is None:
        assert reason(session, "sustained", **case) == "no_steps_per_epoch"
    else:
        assert value(session, "sustained", **case) == pytest.approx(expected)


@pytest.mark.parametrize("text", [False, True])
@pytest.mark.parametrize("steps", [500, 450])
def test_efficientnet_of_tensorflow_2_prints_its_speed_as_a_parameter(steps: int, text: bool, tmp_path: Path) -> None:
    """Batches of 1024 images in 0.25 s; a validation of 25 s ends an epoch, and falls within some of the lines."""
    lines, at, begun = [], 0.0, 0.0
    for step in range(1, 4 * steps + 1):
        begun = at if step % 100 == 1 else begun
        at += 0.25
        if step % 100 == 0:
            speed, took = 102400 / (at - begun), f"{at - begun:.2f} seconds"
            data = {"TimeHistory": took, "examples/second": speed, "steps": [step - 100, step]}
            stamp = (dt.datetime(2026, 11, 20) + dt.timedelta(seconds=at)).strftime("%Y-%m-%d %H:%M:%S.%f")
            told = f"TimeHistory : {took}  examples/second : {speed}  steps : ({step - 100}, {step}) "
            lines.append(f"DLL {stamp} - PARAMETER {told}" if text else dllogger(at, "PARAMETER", data))
        if step % steps == 0:
            at += 25
            lines.append(f"{steps}/{steps} - 150s - loss: 5.5000 - val_loss: 4.5000")
    session = session_of(lines, tmp_path, "frameworks.dllogger_text" if text else "frameworks.dllogger")
    found = measured(session, facts_of(session)).headline
    assert isinstance(found, Figure), found
    assert (found.value, found.unit) == (pytest.approx(4096), "images/s")


def test_dllogger_mean_of_speeds_hides_what_waits(tmp_path: Path) -> None:
    # Nine iterations of 0.25 s and one of 3.24 s: 2560 images in 5.49 s, while the mean speed is that of 2.75 s.
    session = session_of(resnet50_run([[0.01] * 9 + [3.0]] * 30), tmp_path, "frameworks.dllogger")
    found = measured(session, facts_of(session)).headline
    assert isinstance(found, Figure)
    assert found.value == pytest.approx(2560 / 5.49)
    # Only some of the lines hold one: 2560 images in 2.5 s, or 5.49 s.
    waits = [[0.01] * 9 + [3.0 if number % 3 == 0 else 0.01] for number in range(30)]
    session = session_of(resnet50_run(waits), tmp_path, "frameworks.dllogger")
    found = measured(session, facts_of(session)).headline
    assert isinstance(found, Figure)
    assert found.value == pytest.approx(3 * 2560 / (2 * 2.5 + 5.49))
    # Where all iterations take the same time, the program's own figure stays.
    session = session_of(resnet50_run([[0.01] * 10] * 30), tmp_path, "frameworks.dllogger")
    assert value(session) == pytest.approx(1024)
    assert value(session, "reported") == pytest.approx(1024)


def test_dllogger_of_efficientdet_prints_the_steps_of_an_epoch_before_the_step(tmp_path: Path) -> None:
    # 32 images per step; of ten steps nine take 0.51 s, and one 3.5 s: 320 images in 8.09 s. Means restart at step 10.
    unix, lines = 1795169472.5, [dllogger(1795169472.5, "PARAMETER", {"model_name": "efficientdet-d0"})]
    for epoch in range(3):
        for step in range(9, 100, 10):
            unix += 60 if step == 9 else 8.09
            mean = {"train_batch_time": 6.0 if step == 9 else 0.809, "train_loss": 5 - epoch}
            speeds = {"throughput": 0.9 * 32 / 0.51 + 0.1 * 32 / 3.5, "lr": 0.1, "train_data_time": 0.3}
            lines.append(dllogger(unix, [epoch, 100, step], mean | speeds))
        unix += 20
        lines.append(dllogger(unix, [epoch], {"train_loss": 5 - epoch, "train_batch_time": 0.809}))
    session = session_of(lines, tmp_path, "frameworks.dllogger")
    assert second_run(session) is None
    found = measured(session, facts_of(session) | {"batch_size": 4, "devices": 8}).headline
    assert isinstance(found, Figure)
    assert found.value == pytest.approx(320 / 8.09)


def test_mlperf_ranks_that_name_the_benchmark_begin_one_session(tmp_path: Path) -> None:
    def lines(time: int, key: str, told: object = None, **metadata: int | str) -> list[str]:
        event = {"namespace": "", "time_ms": 1795169472500 + 1000 * time, "event_type": "POINT_IN_TIME", "key": key}
        return [f":::MLLOG {json.dumps(event | {'value': told, 'metadata': metadata})}"] * 2

    log = lines(0, "submission_benchmark", "resnet") + lines(0, "global_batch_size", 256)
    log += lines(0, "train_samples", 25600) + lines(1, "run_start")
    for epoch in range(1, 6):
        # 25600 samples in 25 s, and an evaluation of 30 s.
        log += lines(55 * epoch - 54, "epoch_start", epoch_num=epoch) + lines(
            55 * epoch - 29, "epoch_stop", epoch_num=epoch
        )
        log += lines(55 * epoch - 29, "eval_start", epoch_num=epoch) + lines(55 * epoch, "eval_stop", epoch_num=epoch)
    session = session_of([*log, *lines(275, "run_stop", status="success")], tmp_path, "frameworks.mlperf")
    assert facts_of(session)["batch_size_of_job"] == 256
    assert value(session) == pytest.approx(1024)


def test_dllogger_text_of_efficientdet_has_its_step_last(tmp_path: Path) -> None:
    # The same means as text: 320 images in 8.09 s.
    lines = [
        f"DLL 2026-11-20 10:{int(minute):02}:{seconds:06.3f}000 - (0, 200, {step}) train_batch_time : 0.809  "
        "train_loss : 5.0  throughput : 57.4  lr : 0.1  train_data_time : 0.3 "
        for step in range(19, 200, 10)
        for minute, seconds in [divmod(0.5 + 0.809 * step, 60)]
    ]
    session = session_of(lines, tmp_path, "frameworks.dllogger_text")
    assert second_run(session) is None
    found = measured(session, facts_of(session) | {"batch_size": 4, "devices": 8}).headline
    assert isinstance(found, Figure)
    assert found.value == pytest.approx(320 / 8.09)


def convnets(epochs: Sequence[Sequence[float]], interval: int = 10, devices: int | None = 8) -> list[str]:
    """Return the console of the ConvNets: iterations of 256 images that compute for 0.24 s and wait before."""

    def line(step: str, waits: Sequence[float]) -> str:
        speed = sum(256 / (0.24 + each) for each in waits) / len(waits)
        stamp = (dt.datetime(2026, 11, 20) + dt.timedelta(seconds=clock)).isoformat(" ", "microseconds")
        return (
            f"DLL {stamp} - {step} train.loss : 6.5 None train.compute_ips : {256 / 0.24:.2f} images/s "
            f"train.total_ips : {speed:.2f} images/s train.lr : 0.1"
        )

    def times(step: str, waits: Sequence[float]) -> str:
        mean = f"train.data_time : {sum(waits) / len(waits):.5f} s train.compute_time : 0.24000 s"
        return f"DLL 2026-11-20 23:59:59.500000 - {step} {mean}"

    clock, lines = 10.5, []
    if devices:
        lines.append(
            f"DLL 2026-11-20 00:00:10.500000 - PARAMETER arch : resnet50  batch_size : 32  world_size : {devices} "
        )
    for epoch, waits in enumerate(epochs):
        for done, wait in enumerate(waits, 1):
            clock += 0.24 + wait
            if done % interval == 0:
                lines.append(line(f"Epoch: {epoch} Iteration: {done} ", waits[done - interval : done]))
        clock += 30
        lines += [line(f"Epoch: {epoch} ", waits), times(f"Epoch: {epoch} ", waits)]
    run = [one for each in epochs for one in each]
    return [*lines, line("Summary:", run), times("Summary:", run)]


def test_convnets_console_hides_what_several_iterations_wait_for(tmp_path: Path) -> None:
    # Of ten iterations nine take 0.25 s and one 3.24 s: 2560 images in 5.49 s; the mean speed is that of 2.75 s.
    epochs = [([0.01] * 9 + [3.0]) * 10] * 3
    session = session_of(convnets(epochs), tmp_path, "ngc.pytorch_resnet50")
    found = measured(session, facts_of(session)).headline
    assert isinstance(found, Figure)
    assert found.value == pytest.approx(2560 / 5.49, rel=1e-4)
    # The mean speed of the run contradicts nothing, though a warning stands before its mean times.
    lines = convnets(epochs)
    session = session_of([*lines[:-1], "Warning: loss scale", lines[-1]], tmp_path, "ngc.pytorch_resnet50")
    assert value(session, "reported") == pytest.approx(930.9, rel=0.01)
    found = measured(session, facts_of(session)).headline
    assert isinstance(found, Figure)
    # Where the devices are unknown, so is the batch: this mean fits one of 510 images as well.
    session = session_of(convnets(epochs, devices=None), tmp_path, "ngc.pytorch_resnet50")
    assert reason(session) == "no_devices"
    # Each epoch begins with a wait of 10 s: 25600 images in 34.99 s, of which the first ten iterations take 12.49 s.
    session = session_of(convnets([[10.0] + [0.01] * 99] * 10), tmp_path, "ngc.pytorch_resnet50")
    assert value(session) == pytest.approx((10 * 25600 - 2560) / (10 * 34.99 - 12.49), rel=1e-4)
    # Lines of one iteration hide nothing, nor do waits that are all alike.
    session = session_of(convnets(epochs, interval=1), tmp_path, "ngc.pytorch_resnet50")
    assert value(session) == pytest.approx(2560 / 5.49, rel=1e-4)
    session = session_of(convnets([[0.26] * 100] * 3), tmp_path, "ngc.pytorch_resnet50")
    assert value(session) == pytest.approx(512)
    assert value(session, "reported") == pytest.approx(512)


def stamp(seconds: float) -> str:
    return (dt.datetime(2026, 11, 20) + dt.timedelta(seconds=seconds)).isoformat(" ", "microseconds")


def iterations(count: int, epochs: int) -> Iterator[tuple[int, int, float]]:
    """Yield epoch, iteration and clock: 0.5 s each and 0.01 s for its data, of every tenth 3 s; 10 s between epochs."""
    clock = 0.5
    for epoch in range(1, epochs + 1):
        for iteration in range(1, count + 1):
            clock += 0.5 + (3.0 if iteration % 10 == 5 else 0.01)
            yield epoch, iteration, clock
        clock += 10


#: Items of ten iterations of 20,000 items over their seconds with the wait for data.
TRUE = 200_000 / (10 * 0.5 + 9 * 0.01 + 3)


def fastpitch(epochs: int) -> Iterator[str]:
    for epoch, iteration, clock in iterations(50, epochs):
        yield (
            f"DLL {stamp(clock)} - epoch {epoch:>4} | iter {iteration:>3}/50 | loss 30.25 | mel loss 28.50 | "
            "  40000.00 frames/s | took 0.50 s | lrate 1.00e-03"
        )
        if iteration == 50:
            yield (
                f"DLL {stamp(clock)} - epoch {epoch:>4} | avg train loss 30.25 | avg train mel loss 28.50 | "
                "  24000.00 frames/s | took 40.45 s"
            )


def tacotron(epochs: int) -> Iterator[str]:
    for epoch, iteration, clock in iterations(50, epochs):
        yield f"DLL {stamp(clock)} - ({epoch}, {iteration}) train_items_per_sec : 40000.0 items/s"
        yield f"DLL {stamp(clock)} - ({epoch}, {iteration}) train_iter_time : 0.5 s"
        if iteration == 50:
            yield f"DLL {stamp(clock)} - ({epoch},) train_epoch_time : 40.45 s"
    yield f"DLL {stamp(clock)} - () train_items_per_sec : 40000.0 items/s"


def speech_json(epochs: int) -> Iterator[str]:
    for epoch, iteration, clock in iterations(50, epochs):
        data = {"train_loss": 30.25, "train_frames/s": 40000.0, "train_took": 0.5}
        yield dllogger(1795169472 + clock, [epoch, iteration, 50], data)
        if iteration == 50:
            yield dllogger(1795169472 + clock, [epoch], {"train_avg_loss": 30.25, "train_avg_took": 40.45})


@pytest.mark.parametrize(
    ("format_id", "lines"),
    [
        ("frameworks.dllogger_text", fastpitch(4)),
        ("frameworks.dllogger", speech_json(4)),
        ("ngc.pytorch_items", tacotron(4)),
        ("ngc.pytorch_items", [each for n, each in enumerate(tacotron(4)) if n not in (150, 301)]),
    ],
)
def test_speech_waits_for_data_between_its_timers(format_id: str, lines: Iterable[str], tmp_path: Path) -> None:
    session = session_of(list(lines), tmp_path, format_id)
    found = measured(session, facts_of(session)).headline
    assert isinstance(found, Figure), found
    # The window begins within the ten, and leaves out what lies between epochs.
    assert found.value == pytest.approx(TRUE, rel=0.02)


def test_speech_that_hardly_waits_keeps_its_own_seconds(tmp_path: Path) -> None:
    # 0.1 s is printed for 0.104 s.
    bar = "epoch    1 | iter {:>3}/90 | loss 30.25 |   40000.00 frames/s | took 0.10 s"
    lines = [f"DLL {stamp(0.1041 * each)} - {bar.format(each)}" for each in range(1, 91)]
    assert value(session_of(lines, tmp_path, "frameworks.dllogger_text")) == pytest.approx(40000)


def test_jasper_prints_one_step_of_many_and_evaluates_between(tmp_path: Path) -> None:
    # 128 utterances per step of 0.5 s; every fifth step waits for 1 s. A line per 25 steps, none of which has waited.
    lines, clock = [], 0.5
    for step in range(1, 1001):
        clock += 1.5 if step % 5 == 3 else 0.5
        if step % 25 == 0:
            bar = f"epoch    1 | iter {step:>4}/1000 | loss  100.25 | utts/s   256 samples/s | took  0.50 s"
            lines.append(f"DLL {stamp(clock)} - {bar}")
        if step % 200 == 0:
            clock += 30
            lines.append(
                f"DLL {stamp(clock)} - epoch    1 |   avg dev loss  100.25 |   avg dev wer  50.25 % | took 30.00 s"
            )
    session = session_of(lines, tmp_path, "frameworks.dllogger_text")
    found = measured(session, facts_of(session)).headline
    assert isinstance(found, Figure), found
    assert found.value == pytest.approx(5 * 128 / 3.5)


def test_mask_rcnn_saves_and_evaluates_while_its_timer_runs(tmp_path: Path) -> None:
    # 16 images per iteration of 0.25 s; every 100 a checkpoint of 5 s, every 200 an evaluation of 60 s.
    lines = ["2026-11-20 00:00:00,500 maskrcnn_benchmark INFO: Using 8 GPUs", "SOLVER:", "  IMS_PER_BATCH: 16"]
    clock = 0.0
    for step in range(20, 1001, 20):
        clock += 0.25 * 20
        at = stamp(clock)[:-3].replace(".", ",")
        mean = f"loss: 6.5 (6.75)  time: 0.2500 ({clock / step:.4f})  data: 0.0100 (0.0100)"
        lines.append(
            f"{at} maskrcnn_benchmark.trainer INFO: eta: 0:07:21  iter: {step}  {mean}  lr: 0.02  max mem: 7000"
        )
        if step % 100 == 0:
            lines.append(f"{at} maskrcnn_benchmark.utils.checkpoint INFO: Saving checkpoint to out/model_{step:07}.pth")
            clock += 5
        if step % 200 == 0:
            lines.append(
                f"{at} maskrcnn_benchmark.inference INFO: Start evaluation on coco_2017_val dataset(5000 images)."
            )
            clock += 60
    session = session_of(lines, tmp_path, "ngc.pytorch_maskrcnn")
    assert value(session, "sustained") == pytest.approx(64, rel=0.005)


def test_transformer_xl_averages_its_speeds_for_the_run(tmp_path: Path) -> None:
    # 1000 tokens per step of 0.5 s; of every fourth interval of ten steps one takes 5 s more. The mean of the speeds is
    # 1750, and 1600 tokens per second are the truth.
    lines = [
        f"| epoch   1 step {10 * n:>8} | batches {10 * n:>6} / 2585 | lr 1.000e-02 | ms/batch {ms:5.1f} | "
        f"tok/s {1e6 / ms:7.0f} | loss  6.50 | ppl  665.00"
        for n in range(1, 101)
        for ms in [1000.0 if n % 4 == 2 else 500.0]
    ]
    lines.append("Training throughput: 1750.00 tok/s")
    session = session_of(lines, tmp_path, "ngc.pytorch_transformer_xl")
    found = measured(session, facts_of(session)).headline
    assert isinstance(found, Figure), found
    assert found.value == pytest.approx(1600)


def test_tft_waits_for_data_between_its_timers(tmp_path: Path) -> None:
    # 512 samples per step of 0.0625 s, and of every tenth 0.5 s for its data: 5120 samples in 1.125 s.
    unix = 1795169472.5
    lines = [dllogger(unix, "HPARAMS", {"batch_size": 64, "distributed_world_size": 8, "use_amp": True})]
    for step in range(400):
        unix += 0.5625 if step % 10 == 5 else 0.0625
        lines.append(dllogger(unix, step, {"P10": 0.5, "P50": 0.5, "P90": 0.25, "loss": 1.25, "items/s": 8192.0}))
        if step % 100 == 99:
            unix += 20
            lines.append(dllogger(unix, step + 1, {"val_P10": 0.5, "val_loss": 1.5, "val_items/s": 30000.0}))
    lines.append(dllogger(unix, [], {"test_p10": 0.5, "average_ips": 8192.0, "convergence_step": 400}))
    session = session_of(lines, tmp_path, "frameworks.dllogger")
    found = measured(session, facts_of(session)).headline
    assert isinstance(found, Figure), found
    assert found.value == pytest.approx(5120 / 1.125, rel=0.01)


def test_bart_prints_the_mean_of_speeds_since_its_start(tmp_path: Path) -> None:
    # 256 sequences per step of 0.25 s, and 0.25 s for its data; the first step takes a minute.
    lines = []
    for step in range(10, 401, 10):
        mean = {"avg_train_throughput": 1024.0 * (step - 1) / step, "total_loss": 3.5}
        lines.append(dllogger(1795169532.5 + 0.5 * step, [step], mean))
    lines.append(dllogger(1795169732.5, [], {**mean, "avg_train_time": 260.5}))
    session = session_of(lines, tmp_path, "frameworks.dllogger")
    assert reason(session) == "no_devices"
    assert value(session, devices=8, batch_size=32, accumulation=1) == pytest.approx(512)


def test_ssd_in_training_is_read_by_the_clocks_of_its_losses(tmp_path: Path) -> None:
    # 32 images of each of 8 devices in 0.25 s; an epoch of 100 steps ends with an evaluation of 30 s.
    parameters = (
        "dataset path : /coco  epochs : 4  batch size : 32  eval batch size : 32  AMP : True  backbone : resnet50 "
    )
    lines, clock = [f"DLL {stamp(0.5)} - PARAMETER {parameters}"], 0.5
    for step in range(400):
        clock += 0.25
        if step % 20 == 0:
            lines.append(f"DLL {stamp(clock)} - ({step // 100}, {step}) loss : 5.75 ")
        if step % 100 == 99:
            lines.append(f"DLL {stamp(clock)} - ({step // 100},) time : 25.0 ")
            clock += 30
            lines.append(f"DLL {stamp(clock)} - ({step // 100},) mAP : 0.125 ")
    session = session_of([*lines, f"DLL {stamp(clock)} - () total time : 100.0 "], tmp_path, "ngc.pytorch_items")
    assert facts_of(session)["batch_size"] == 32
    assert value(session, "sustained", devices=8) == pytest.approx(1024)


def test_nemo_bar_leaves_the_wait_for_data_out_of_its_timing(tmp_path: Path) -> None:
    def bar(step: int, seconds: int) -> str:
        return (
            f"Epoch 0: :  10%|#         | {step}/2000 [{seconds // 60:02}:{seconds % 60:02}<10:00, v_num=, "
            f"reduced_train_loss=10.40, global_step={step - 1}.000, consumed_samples={32.0 * step}, "
            "train_step_timing in s=1.000]"
        )

    def bars(wait: float) -> list[str]:
        return [bar(step, int(step * (1 + wait))) for step in range(1, 201)]

    session = session_of(bars(0), tmp_path, "frameworks.nemo")
    found = measured(session, facts_of(session) | {"batch_size_of_job": 32}).headline
    assert isinstance(found, Figure), found
    assert found.value == pytest.approx(32)
    session = session_of(bars(0.5), tmp_path, "frameworks.nemo")
    found = measured(session, facts_of(session) | {"batch_size_of_job": 32}).headline
    assert isinstance(found, NoFigure)
    assert found.reason.args["witness"] == "clock"


def test_the_speed_of_an_epoch_may_leave_out_what_follows_it(tmp_path: Path) -> None:
    # The clocks of 100 iterations hold the 10 s between two epochs, whose own speeds do not.
    lines = []
    for epoch, iteration, clock in iterations(50, 2):
        data = {"train_loss": 30.25, "train_frames/s": 40000.0, "train_took": 0.5}
        lines.append(dllogger(1795169472 + clock, [epoch, iteration, 50], data))
        if iteration == 50:
            speed = {"train_avg_loss": 30.25, "train_avg_frames/s": TRUE}
            lines.append(dllogger(1795169472 + clock, [epoch], speed))
    session = session_of(lines, tmp_path, "frameworks.dllogger")
    found = measured(session, facts_of(session)).headline
    assert isinstance(found, Figure), found


def test_nnunet_of_pytorch_is_no_tensorflow_program(tmp_path: Path) -> None:
    lines = ["GPU available: True, used: True", "TPU available: False, using: 0 TPU cores"]
    bar = "Epoch {}: 100%|##########| 150/150 [00:30<00:00,  5.00it/s, loss=0.5, v_num=]"
    lines += [bar.format(0), bar.format(1)]
    lines.append(
        f"DLL {stamp(70.5)} - () throughput_train : 425.5  latency_train_mean : 37.603  latency_train_90 : 38.5 "
    )
    session = session_of(lines, tmp_path, "frameworks.dllogger_text")
    assert value(session, "reported") == pytest.approx(425.5)
    assert session.format.framework == ""


def test_se3_transformer_averages_the_speeds_of_its_steps(tmp_path: Path) -> None:
    # 1920 samples per step; every second step takes 0.25 s, the others 0.5 s: 5760 is the mean speed, 5120 the truth.
    lines = [dllogger(1795169472.5, "PARAMETER", {"epochs": 6, "batch_size": 240, "amp": True, "num_degrees": 4})]
    run = {
        "throughput_train": 5760.0,
        "latency_train_mean": 375.0,
        "total_time_train": 187500.0,
        "latency_train_90": 500.0,
    }
    session = session_of([*lines, dllogger(1795169972.5, [], run)], tmp_path, "frameworks.dllogger")
    assert reason(session, "reported") == "no_devices"
    assert value(session, "reported", devices=8) == pytest.approx(5120)
    # nnU-Net divides by the mean.
    run = {"throughput_train": 425.5, "latency_train_mean": 37.603, "latency_train_90": 38.5}
    session = session_of([dllogger(1795169972.5, [], run)], tmp_path, "frameworks.dllogger")
    assert value(session, "reported") == pytest.approx(425.5)


@pytest.mark.parametrize("packed", [False, True])
def test_habana_prints_the_sequences_of_a_device_since_the_line_before(packed: bool, tmp_path: Path) -> None:
    """Updates of 8 x 4 sequences on two devices take a second, and a checkpoint behind every fourth line ten."""
    each = 2 if packed else 1
    config = "gradient_accumulation_steps=4, fp16=False, use_autocast=True, use_habana=True"
    lines = ["AVG_SEQ_PER_SAMPLE: 2.0"] if packed else []
    lines += [f'DLL {stamp(0)} - PARAMETER Config : ["Namespace({config})"]', "world_size: 2"]
    lines.append(f"DLL {stamp(1)} - PARAMETER batch_size_per_pu : 8 ")
    now = 10.0
    for line in range(1, 41):
        took = 30.0 if line % 4 == 1 and line > 1 else 20.0
        now += took
        lines.append(
            f"DLL {stamp(now)} - Training Epoch: 0 Training Iteration: {20 * line}  average_loss : 7.5  "
            f"step_loss : 7.5  learning_rate : 0.0005  average_training_time_step : {took / 80}  "
            f"average_perf_per_step : {each * 8 * 4 * 20 / took} "
        )
        lines += [f"DLL {stamp(now)} - PARAMETER checkpoint_step : {20 * line} "] if line % 4 == 0 else []
    session = session_of(lines, tmp_path, "ngc.pytorch_bert")
    assert facts_of(session)["precision"] == "bf16"
    found = measured(session, facts_of(session)).figures["sustained"]
    assert isinstance(found, Figure)
    assert found.value == pytest.approx(each * 64)


def test_nemo_bar_rounds_the_number_of_a_step_from_ten_thousand_on(tmp_path: Path) -> None:
    lines = ["    global_batch_size: 128"]
    for step in range(19990, 20100):
        seconds = 4 * (step - 19989)
        told = float(step - 1) if step <= 10000 else f"{step - 1:.3g}".replace("e+0", "e+")
        lines.append(
            f"Epoch 0: :  20%|##  | {step}/100000 [{seconds // 60:02d}:{seconds % 60:02d}<88:00:00, v_num=0, "
            f"reduced_train_loss=2.500, global_step={told}, consumed_samples=2.56e+6, train_step_timing in s=4.000]"
        )
    assert value(session_of(lines, tmp_path, "frameworks.nemo"), "sustained") == pytest.approx(128 / 4)


def test_dlrm_of_facebook_prints_milliseconds_from_every_rank(tmp_path: Path) -> None:
    lines = ["+ mpirun -np 2 python dlrm_s_pytorch.py --mini-batch-size=2048", "Running on 2 ranks using nccl backend"]
    for step in range(64, 2561, 64):
        # Of two ranks one is ahead.
        told = (
            f"Finished training it {step}/2560 of epoch 0, {each} ms/it, loss 0.512500" for each in ("12.40", "12.60")
        )
        lines += [f"[{rank}] {each}, accuracy 75.125 %" for rank, each in enumerate(told)]
        lines += (
            [f"[0] Testing at - {step}/2560 of epoch 0, loss 0.453765, accuracy 78.625 %"] if step % 640 == 0 else []
        )
    session = session_of(lines, tmp_path, "frameworks.dlrm")
    assert facts_of(session) == {"model": "DLRM", "batch_size_of_job": 2048, "devices": 2}
    assert value(session, "sustained") == pytest.approx(2048 / 0.0125)


def test_dllogger_arguments_begin_a_run(tmp_path: Path) -> None:
    """Updates of 2 x 8 sequences on four devices take a second, and two once the run was started again."""
    lines = []
    for begin, batch in ((0, 8), (500, 4)):
        config = f"Namespace(gradient_accumulation_steps=2, world_size=4, train_batch_size={batch})"
        lines += [
            dllogger(begin, "PARAMETER", {"Config": [config]}),
            dllogger(begin, "PARAMETER", {"train_start": True}),
        ]
        lines.append(dllogger(begin, "PARAMETER", {"batch_size_per_gpu": batch}))
        each = 8 // batch
        lines += [
            dllogger(begin + each * n, [0, n], {"average_loss": 7.5, "step_loss": 7.25, "learning_rate": 0.001})
            for n in range(1, 61)
        ]
    path = tmp_path / "train.log"
    path.write_text("".join(f"{each}\n" for each in lines))
    found = read(path).sessions
    assert [each.format.id for each in found] == ["frameworks.dllogger"] * 2
    assert [value(each, "sustained") for each in found] == pytest.approx([64, 16])


def test_nemo_begins_a_run_where_it_prints_its_configuration(tmp_path: Path) -> None:
    lines = []
    for batch, seconds in ((512, "2.0"), (256, "4.0")):
        lines += ["    ************** Experiment configuration ***********", f"    global_batch_size: {batch}"]
        lines += ["GPU available: True (cuda), used: True", "TPU available: False, using: 0 TPU cores"]
        lines += ["All distributed processes registered. Starting with 8 processes"]
        lines += [nemo(0, n, n, str(batch), seconds, batch * (n + 1)) for n in range(60)]
    path = tmp_path / "train.log"
    path.write_text("".join(f"{each}\n" for each in lines))
    found = read(path).sessions
    assert [facts_of(each)["batch_size_of_job"] for each in found] == [512, 256]
    assert [value(each, "sustained", devices=8) for each in found] == pytest.approx([256, 64])


def paddle_bert(merged: int, saved: int) -> Iterator[tuple[float, int, dict[str, object]]]:
    """Yield PaddlePaddle's lines of 20 updates, of 64 sequences and 0.5 s in each pass; a checkpoint takes 30 s."""
    at, before = 1795169472.5, 1795169472.5
    for step in range(1, 241):
        at += 0.5 * merged
        if step % 20 == 0:
            took, samples = at - before, 64 * merged * 20
            told = {"step_cost": took, "step_samples": samples, "seqs_per_sec": samples / took}
            yield at, step, {"loss": 7.5, "learning_rate": 0.001, **told}
            before = at
        at += 30 if saved and step % saved == 0 else 0


@pytest.mark.parametrize("merged", [1, 4])
def test_bert_of_paddlepaddle_prints_the_sequences_of_a_device(merged: int, tmp_path: Path) -> None:
    stated = {"bert_model": "bert-large-uncased", "gradient_merge_steps": merged, "amp": True, "use_pure_fp16": False}
    lines = [dllogger(1795169470, "PARAMETER", stated), dllogger(1795169471, "PARAMETER", {"batch_size_per_gpu": 64})]
    lines += [dllogger(at, [0, step], told) for at, step, told in paddle_bert(merged, 0)]
    session = session_of(lines, tmp_path, "ngc.paddle_bert")
    assert (value(session, devices=8), value(session, devices=1)) == pytest.approx((1024, 128))
    assert facts_of(session) == {
        "accumulation": merged, "batch_size": 64, "model": "bert-large-uncased", "precision": "amp"
    }  # fmt: skip
    # On the console, with a checkpoint, and the summary that PyTorch's prints too.
    lines = [f"DLL {stamp(0)} - PARAMETER batch_size_per_gpu : 64 "]
    for at, step, told in paddle_bert(merged, 120):
        words = "  ".join(f"{key} : {each}" for key, each in told.items())
        clock = dt.datetime.fromtimestamp(at, dt.UTC).strftime("%Y-%m-%d %H:%M:%S.%f")
        lines.append(f"DLL {clock} - Epoch: 0 Step: {step}  {words} ")
        lines += ["2026-11-20 10:11:12,500:INFO: Already save model in out/phase1"] * (step % 120 == 0)
    told = "e2e_train_time : 932.5  training_sequences_per_second : 990.5  final_loss : 7.5  raw_train_time : 900.5 "
    lines.append(f"DLL {stamp(900)} - Summary: {told}")
    session = session_of(lines, tmp_path, "ngc.paddle_bert")
    found = measured(session, facts_of(session) | {"devices": 8}).figures
    assert isinstance(found["sustained"], Figure)
    assert isinstance(found["reported"], Figure)
    assert (found["sustained"].value, found["reported"].value) == pytest.approx((1024, 990.5))


@pytest.mark.parametrize("text", [False, True])
def test_resnet_of_paddlepaddle_prints_one_step_of_many(text: bool, tmp_path: Path) -> None:
    # The printed steps take 0.25 s, the nine before each 0.5 s; an evaluation of 60 s follows each epoch.
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


def test_dllogger_json_of_squad_states_the_batch_of_a_device(tmp_path: Path) -> None:
    # 32 sequences on each device in 0.25 s; steps go on from epoch to epoch, and lines are counted from its beginning.
    arguments = "Namespace(doc_stride=128, gradient_accumulation_steps={}, max_seq_length=384, train_batch_size=32)"
    at, step, lines = 1795169472.5, 0, [dllogger(1795169470, "PARAMETER", {"Config": [arguments.format(1)]})]
    for epoch in range(2):
        for within in range(270):
            at, step = at + 0.25, step + 1
            if within % 50 == 0:
                lines.append(dllogger(at, [epoch, step], {"step_loss": 2.5, "learning_rate": 1e-5}))
    session = session_of(lines, tmp_path, "frameworks.dllogger")
    assert value(session, devices=8) == pytest.approx(1024)
    lines[0] = dllogger(1795169470, "PARAMETER", {"Config": [arguments.format(4)]})
    assert "batch_size" not in facts_of(session_of(lines, tmp_path, "frameworks.dllogger"))


@pytest.mark.parametrize("other", ["NCCL INFO Channel 00/02 :    0   1", " 10%|#   | 1/9\r 20%|##  | 2/9\r"])
def test_gnmt_ranks_are_told_apart_however_few_lines_name_theirs(other: str, tmp_path: Path) -> None:
    # Where most lines begin with a rank, it is taken off as a label; otherwise the record itself names it.
    lines = [
        f"{rank}: TRAIN [0][{step}/200]\tTime 0.250 (0.250)\tData 1.5e-04 (1.5e-04)\tTok/s {speed} ({speed})\t"
        "Loss/tok 6.5 (7.5)\tLR 1e-03"
        for step in range(10, 200, 10)
        for rank, speed in ((0, 90_000), (1, 110_000 if step % 20 else 130_000))
    ]
    whole = session_of(lines, tmp_path, "ngc.pytorch_gnmt")
    hidden = [other + each if other.endswith("\r") else f"{other}\n{other}\n{each}" for each in lines]
    disturbed = session_of(hidden, tmp_path, "ngc.pytorch_gnmt")
    for session in (whole, disturbed):
        assert session.main.ranks().tolist() == [0, 1] * 19
    assert disturbed.main["throughput"].tolist() == whole.main["throughput"].tolist()
    assert set(whole.main["throughput"][::2].tolist()) == {90_000}
