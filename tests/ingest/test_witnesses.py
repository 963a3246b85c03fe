"""Equations: verdicts on the headline figure. The expected figures were computed by hand."""

from __future__ import annotations

import datetime as dt
import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from made_logs import clas_dygraph, clock, pytorch_resnet50, seg
from made_sessions import session_of
from msgspec.structs import replace

from perfledger.ingest.compute.equations import TOLERANCE, Given, physics
from perfledger.ingest.compute.measurement import Measurement, measured
from perfledger.parsers.engine.read import read
from perfledger.schema.records import Figure, NoFigure, Witness

ONE = {"devices": 1, "batch_size": 16, "nodes": 1}


def measure(lines: Sequence[str], folder: Path, case: dict[str, Any] | None = None) -> Measurement:
    session = session_of(lines, folder)
    return measured(session, {**{name: q.value for name, q in session.facts.items()}, **(case or ONE)})


def witness(found: Measurement, kind: str) -> Witness:
    (one,) = (each for each in found.witnesses if each.kind == kind)
    return one


def steady(*, speed: float, second: float, count: int = 60) -> list[str]:
    """Return a log of lines that are `second` apart and print the same speed."""
    return pytorch_resnet50([(i, speed) for i in range(count)], second=second)


@pytest.mark.parametrize(("stall", "verdict"), [(0.0, "agrees"), (60.0, "disagrees")])
def test_stalls_between_the_lines_of_metric_logger_contradict_them(stall: float, verdict: str, tmp_path: Path) -> None:
    """A line appears every 50 iterations, and its `time` is the mean over the last 20."""
    total = dt.timedelta(seconds=600 * 0.5 + 12 * stall)
    lines = ["Not using distributed mode"]
    for epoch in range(2):
        head = f"Epoch: [{epoch}]  "
        lines += [
            f"{head}[{i:3d}/600]  eta: 0:00:21  loss: 0.0739 (0.0704)  time: 0.5000  data: 0.0001  max mem: 16887"
            for i in [*range(0, 600, 50), 599]
        ]
        lines += [f"Epoch: [{epoch}] Total time: {total} ({total.total_seconds() / 600:.4f} s / it)"]
    found = measure(lines, tmp_path)
    assert witness(found, "summary").verdict == verdict
    assert isinstance(found.headline, Figure) == (verdict == "agrees")


def test_each_kind_of_equation_gives_one_verdict_in_a_fixed_order(tmp_path: Path) -> None:
    found = measure(steady(speed=32.0, second=0.5), tmp_path)
    assert [each.kind for each in found.witnesses] == list(TOLERANCE)
    assert {each.verdict for each in found.witnesses} <= {"agrees", "silent"}


def test_the_clock_agrees_if_lines_are_as_far_apart_as_their_speed_says(tmp_path: Path) -> None:
    found = witness(measure(steady(speed=32.0, second=0.5), tmp_path), "clock")
    assert (found.verdict, found.unit) == ("agrees", "images/s")
    assert found.value == pytest.approx(32.0, rel=1e-6)
    assert (found.first_line, found.last_line) == (12, 60)


@pytest.mark.parametrize("second", [0.4, 0.6])
def test_a_clock_that_contradicts_withholds_only_the_headline(second: float, tmp_path: Path) -> None:
    found = measure(steady(speed=32.0, second=second), tmp_path)
    by_clock, headline = witness(found, "clock"), found.figures["sustained"]
    assert by_clock.verdict == "disagrees"
    assert by_clock.value == pytest.approx(16 / second, rel=1e-6)
    assert by_clock.difference == pytest.approx(100 * (32.0 * second / 16 - 1), abs=1e-2)
    assert isinstance(headline, NoFigure)
    assert (headline.reason.code, headline.reason.args["witness"]) == ("withheld", "clock")
    assert isinstance(found.figures["median"], Figure)


def test_a_clock_of_whole_seconds_is_too_coarse_for_a_short_run(tmp_path: Path) -> None:
    def lines(count: int) -> list[str]:
        return [
            re.sub(r"\[.*?\]", f"[2026/11/20 13:{i // 60:02}:{i % 60:02}]", each, count=1)
            for i, each in enumerate(clas_dygraph([(1, 10 * i, 160.0) for i in range(1, count + 1)]))
        ]

    short, long = (witness(measure(lines(count), tmp_path), "clock") for count in (20, 200))
    assert short.verdict == "silent"
    assert short.reason is not None
    assert short.reason.code == "coarse_clock"
    assert long.verdict == "agrees"
    assert 0 < (long.resolution or 0) <= 3


def test_the_clock_cannot_contradict_a_speed_with_one_digit(tmp_path: Path) -> None:
    """A printed 0.02 images/s may be 0.015 or 0.025."""
    found = witness(measure(steady(speed=0.02, second=700.0), tmp_path), "clock")
    assert (found.verdict, found.reason and found.reason.code) == ("silent", "coarse_clock")


def detection(*, ips: float, second: float) -> list[str]:
    """Return lines of PaddleDetection, each of 20 iterations, that are `second` apart."""
    stamps = (dt.datetime(2026, 11, 20, 8) + dt.timedelta(seconds=round(i * second)) for i in range(30))
    return [
        f"[{stamp:%m/%d %H:%M:%S}] ppdet.engine INFO: Epoch: [0] [{20 * i:4}/9999] learning_rate: 0.000100 "
        f"loss: 4.250000 "
        f"eta: 1:02:03 batch_cost: {8 / ips:.4f} data_cost: 0.0003 ips: {ips:.4f} images/s"
        for i, stamp in enumerate(stamps)
    ]


def test_the_clock_gives_the_figure_if_the_printer_is_known_to_omit_time(tmp_path: Path) -> None:
    """PaddleDetection measures `batch_cost` before it updates the moving average of the weights."""
    found = measure(detection(ips=16.0, second=11.0), tmp_path, {"devices": 2, "batch_size": 8})
    by_clock, headline = witness(found, "clock"), found.figures["sustained"]
    assert (by_clock.verdict, by_clock.reason and by_clock.reason.code) == ("corrects", "omits_time")
    assert isinstance(headline, Figure)
    assert headline.value == pytest.approx(2 * 8 * 20 / 11, rel=1e-3)
    median = found.figures["median"]
    assert isinstance(median, Figure)
    assert median.value == 32.0
    assert found.slower == pytest.approx(11 / 10, rel=1e-3)


def test_time_that_a_printer_omits_does_not_explain_larger_differences(tmp_path: Path) -> None:
    for second in (8.0, 12.0, 30.0):
        found = measure(detection(ips=16.0, second=second), tmp_path, {"devices": 1, "batch_size": 8})
        assert witness(found, "clock").verdict == "disagrees"
        assert isinstance(found.figures["sustained"], NoFigure)


def test_speed_times_seconds_is_the_batch_size(tmp_path: Path) -> None:
    found = measure(seg([22.0, 23.0, 24.0] * 4, batch=4), tmp_path, {"devices": 2, "batch_size": 4})
    assert witness(found, "arithmetic").value == 4
    wrong = measure(seg([22.0, 23.0, 24.0] * 4, batch=4), tmp_path, {"devices": 2, "batch_size": 8})
    assert witness(wrong, "arithmetic").verdict == "disagrees"
    assert witness(wrong, "arithmetic").against == pytest.approx(4, rel=1e-3)
    assert witness(wrong, "clock").verdict == "disagrees"
    assert isinstance(wrong.headline, NoFigure)
    # The wrong batch size is the cause.
    assert wrong.headline.reason.args["witness"] == "arithmetic"


@pytest.mark.parametrize(
    ("printed", "verdict"),
    [
        (32.0, "agrees"),
        (31.0, "agrees"),
        (30.45, "silent"),
        (20.0, "silent"),
        (16.3, "disagrees"),
        (96.0, "disagrees"),
        (3.0, "disagrees"),
    ],
)
def test_a_summary_may_count_more_time_but_not_be_faster(printed: float, verdict: str, tmp_path: Path) -> None:
    lines = [
        *steady(speed=32.0, second=0.5),
        f"DLL {clock(99)} - Summary: train.loss : 6.6  train.total_ips : {printed:.2f} img/s",
    ]
    assert witness(measure(lines, tmp_path), "summary").verdict == verdict


def synthetic(*, images: int = 0) -> list[str]:
    """Return the summary of NVIDIA's SSD300, its only speed, and a line with the images of 10 s if there are any."""
    at = "DLL 2026-01-05 10:00:00.000000 - "
    return [
        f"{at}PARAMETER dataset_path : /coco batch_size : 32 epochs : 1 model_name : SSD300",
        f"{at}() avg_img/sec : 1234.5 images/s med_img/sec : 1234.5 images/s min_img/sec : 1.0 images/s",
        *(
            [f"Done benchmarking. Total images: {images}\ttotal time: 10.000\tAverage images/sec: {images / 10}"]
            if images
            else []
        ),
    ]


def test_a_summary_alone_is_the_headline_under_its_own_rule(tmp_path: Path) -> None:
    found = measure(synthetic(), tmp_path, {**ONE, "model": "SSD300"})
    assert isinstance(found.figures["sustained"], NoFigure)
    assert isinstance(found.headline, Figure)
    assert (found.rule, found.headline.value) == ("reported", 1234.5)
    assert {each.verdict for each in found.witnesses} == {"silent"}


@pytest.mark.parametrize(("images", "verdict"), [(12345, "agrees"), (24690, "disagrees"), (6000, "disagrees")])
def test_a_summary_is_compared_with_its_own_samples_and_seconds(images: int, verdict: str, tmp_path: Path) -> None:
    found = measure(synthetic(images=images), tmp_path, {**ONE, "model": "SSD300"})
    assert witness(found, "arithmetic").verdict == verdict
    assert isinstance(found.headline, Figure) == (verdict == "agrees")
    assert found.rule == "reported"


def trainer(*, resumed: int) -> list[str]:
    """Return a log of the Hugging Face Trainer without bars; it prints a speed only at the end."""
    return [
        "***** Running training *****",
        "  Instantaneous batch size per device = 4",
        "  Total train batch size (w. parallel, distributed & accumulation) = 16",
        "  Gradient Accumulation steps = 1",
        "  Total optimization steps = 40",
        *([f"  Continuing training from global step {resumed}"] if resumed else []),
        *(f"{{'loss': 1.5, 'learning_rate': 1e-05, 'epoch': 0.{step}}}" for step in range(1, 5)),
        "{'train_runtime': 32.0, 'train_samples_per_second': 20.0, 'train_steps_per_second': 1.25, 'epoch': 1.0}",
    ]


def test_the_summary_of_a_resumed_run_gives_no_figure(tmp_path: Path) -> None:
    """The summary divides all samples, including earlier ones, by the seconds since the resumption."""
    fresh, resumed = (measure(trainer(resumed=step), tmp_path, {**ONE, "devices": 4}) for step in (0, 20))
    assert (fresh.rule, resumed.rule) == ("reported", "reported")
    assert isinstance(fresh.headline, Figure)
    assert fresh.headline.value == 20.0
    assert isinstance(resumed.headline, NoFigure)
    assert resumed.headline.reason.code == "resumed"


def summary_of(found: Measurement) -> float | str:
    """Return the figure of the trainer's own summary, or the reason's code if it was refused."""
    assert found.rule == "reported"
    return found.headline.value if isinstance(found.headline, Figure) else found.headline.reason.code


def losses(first: int, mean: str) -> list[str]:
    """Return the lines of 100 steps, one per ten steps from line `first` on, and a summary with a mean loss."""
    lines = [f"{{'loss': {2.1 - each / 10:.2f}, 'learning_rate': 1e-05, 'epoch': {each / 5}}}" for each in range(1, 11)]
    speeds = "'train_samples_per_second': 20.0, 'train_steps_per_second': 1.25"
    return [*lines[first:], f"{{'train_runtime': 32.0, {speeds}, {mean}'epoch': 2.0}}"]


@pytest.mark.parametrize(
    ("first", "mean", "resumed"),
    [
        (0, "'train_loss': 1.55, ", False),
        (0, "", False),
        # A subclass of the trainer that adds a term to the printed loss.
        (0, "'train_loss': 0.62, ", False),
        # 60 of 100 steps: (1.6 + 1.5 + ... + 1.1) / 10.
        (4, "'train_loss': 0.81, ", True),
        (4, "", True),
        # The log lacks its first lines, but the run trained all steps.
        (4, "'train_loss': 1.55, ", False),
        (9, "'train_loss': 0.11, ", True),
        # One line does not show at which step the log begins.
        (9, "", False),
    ],
)
def test_losses_show_that_a_run_was_resumed(first: int, mean: str, resumed: bool, tmp_path: Path) -> None:
    assert summary_of(measure(losses(first, mean), tmp_path)) == ("resumed_losses" if resumed else 20.0)


@pytest.mark.parametrize(("mean", "resumed"), [(1.1, False), (0.55, True)])
def test_losses_of_the_whole_run_show_that_only_its_end_was_timed(mean: float, resumed: bool, tmp_path: Path) -> None:
    """`train_loss` is the sum of the losses since the resumption, divided by all steps."""
    history = [{"epoch": step / 1000, "loss": 1.1, "step": step} for step in range(10, 1001, 10)]
    history.append({
        "epoch": 1.0, "step": 1000, "total_flos": 1e18, "train_loss": mean, "train_runtime": 1000.5,
        "train_samples_per_second": 31.98, "train_steps_per_second": 1.0,
    })  # fmt: skip
    state = {"best_metric": None, "epoch": 1.0, "global_step": 1000, "log_history": history, "max_steps": 1000}
    found = measure(json.dumps(state, indent=2).splitlines(), tmp_path)
    assert summary_of(found) == ("resumed_losses" if resumed else 31.98)


@pytest.mark.parametrize(
    ("devices", "batch", "steps", "verdict"),
    [
        (4, 4, 1, "agrees"),
        # Two devices share a batch.
        (8, 4, 1, "silent"),
        (8, 1, 4, "silent"),
        (6, 4, 1, "disagrees"),
        (2, 4, 1, "disagrees"),
        # The job's batch may exclude the gradient accumulation.
        (4, 4, 2, "disagrees"),
    ],
)
def test_several_devices_may_share_a_batch(devices: int, batch: int, steps: int, verdict: str, tmp_path: Path) -> None:
    lines = trainer(resumed=0)
    lines[1], lines[3] = f"  Instantaneous batch size per device = {batch}", f"  Gradient Accumulation steps = {steps}"
    lines.insert(0, f"Process rank: 0, world size: {devices}, device: cuda:0")
    lines[-1:] = [f" 10%|#    | {step}/40 [00:{step}<06:46,  1.00s/it]" for step in range(10, 40)]
    found = measure(lines, tmp_path, {"nodes": 1})
    assert witness(found, "arithmetic").verdict == verdict
    assert isinstance(found.headline, NoFigure) == (verdict == "disagrees")


def framed(speed: float) -> list[str]:
    """Return MLPerf's events of 1600 samples in 100 s, with MXNet's speeds between them."""

    def event(second: int, key: str, value: str = "null", more: str = "") -> str:
        return (
            f':::MLLOG {{"namespace": "", "time_ms": {(1_795_169_472 + second) * 1000}, "event_type": "POINT_IN_TIME", '
            f'"key": "{key}", "value": {value}, "metadata": {{"file": "fit.py", "lineno": 1{more}}}}}'
        )

    lines = [event(0, "submission_benchmark", '"resnet"'), event(0, "global_batch_size", "16"), event(0, "run_start")]
    lines += [event(0, "train_samples", "1600")]
    for epoch in range(8):
        lines.append(event(100 * epoch, "epoch_start", more=f', "epoch_num": {epoch + 1}'))
        for step in range(20, 100, 20):
            stamp = clock(100.0 * epoch + step)[:-3].replace(".", ",")
            lines.append(f"{stamp} Node[0] Epoch[{epoch}] Batch [{step}]\tSpeed: {speed} samples/sec\taccuracy=0.5")
        lines.append(event(100 * epoch + 100, "throughput", "16.0", f', "epoch_num": {epoch + 1}'))
        lines.append(event(100 * epoch + 100, "epoch_stop", more=f', "epoch_num": {epoch + 1}'))
    return [*lines, event(800, "run_stop", more=', "status": "success"')]


@pytest.mark.parametrize(
    ("speed", "verdict"), [(16.0, "agrees"), (12.0, "silent"), (18.0, "disagrees"), (4.0, "disagrees")]
)
def test_speeds_of_the_training_program_are_compared_with_the_events_around_them(
    speed: float, verdict: str, tmp_path: Path
) -> None:
    found = measure(framed(speed), tmp_path, {**ONE, "nodes": 1})
    assert witness(found, "framework").verdict == verdict
    assert isinstance(found.headline, Figure) == (verdict != "disagrees")


def test_the_trainers_counter_is_compared_with_steps_times_batch(tmp_path: Path) -> None:
    lines = [
        f"DLL {clock(2.0 * i)} - {i} reduced_train_loss : 11.25  lr : 0.0  global_step : {i}.0  consumed_samples : "
        f"{128.0 * (i + 1)}  grad_norm : 8.75  train_step_timing in s : 2.0  epoch : 0 "
        for i in range(40)
    ]
    right, wrong = (
        witness(measure(lines, tmp_path, {"devices": 8, "batch_size": each}), "counters") for each in (16, 32)
    )
    assert (right.verdict, right.value, right.against) == ("agrees", 39 * 128, 39 * 128)
    assert (wrong.verdict, wrong.value, wrong.against) == ("disagrees", 39 * 128, 39 * 256)


@pytest.mark.parametrize("devices", [None, 8])
def test_the_batch_of_the_job_does_not_contradict_a_speed_per_device(devices: int | None, tmp_path: Path) -> None:
    """Each device trains 8192 tokens per step in 1.2 s. The time per step follows only if `devices` is known."""
    head = "[titan] {} - root - INFO - "
    lines = [
        head.format("2026-11-20 10:00:00,000") + "Trainer is initialized with local batch size 1, global batch size 8, "
        "gradient accumulation steps 1, sequence length 8192, total steps 30 (warmup 2)"
    ]
    lines += [
        head.format(f"2026-11-20 10:00:{int(1.2 * step):02d},{int(10 * (1.2 * step % 1)):d}00")
        + f"step: {step:2d}  loss:  7.1250  memory: 20.50GiB(25.88%)  tps: 6,827  tflops: 395.21  mfu: 39.96%"
        for step in range(1, 31)
    ]
    found = measure(lines, tmp_path, {"devices": devices} if devices else {"model": "Llama"})
    assert isinstance(found.headline, Figure)
    assert found.headline.value == pytest.approx(6827 * (devices or 1))
    assert witness(found, "clock").verdict == ("agrees" if devices else "silent")


def test_a_speed_above_the_peak_of_the_device_is_withheld(tmp_path: Path) -> None:
    """A burst of epoch tags after a real run on eight V100 gave 600,232,210 images/s."""
    case = {**ONE, "devices": 8, "model": "ResNet-50 v1.5", "hardware": "V100-SXM2-16GB", "precision": "amp"}
    found = measure(steady(speed=600_232_210.0, second=16 * 8 / 600_232_210.0), tmp_path, case)
    assert witness(found, "physics").verdict == "disagrees"
    assert isinstance(found.figures["sustained"], NoFigure)
    real = witness(measure(steady(speed=10_935.0, second=16 * 8 / 10_935.0), tmp_path, case), "physics")
    assert real.verdict == "agrees"
    # Training takes 24.6 GFLOP per image, and each of the eight devices computes 125 TFLOP/s.
    assert real.against == pytest.approx(24.6e9 * 10_935 / 8 / 1e12, rel=1e-6)
    assert real.value == 125


def test_a_speed_per_device_needs_no_number_of_devices(tmp_path: Path) -> None:
    case = {"model": "ResNet-50 v1.5", "hardware": "V100-SXM2-16GB", "precision": "amp"}
    found = measure(steady(speed=1_000.0, second=16 / 1_000.0), tmp_path, ONE)
    assert isinstance(found.headline, Figure)
    of_device = replace(found.headline, scope="device")
    (session,) = read(tmp_path / "train.log").sessions
    for known in (case, {**case, "devices": 8}):
        sides = physics.sides(Given(session, known, of_device, found.given))
        assert sides.printed == pytest.approx(24.6e9 * 1_000 / 1e12, rel=1e-6)


def test_fp32_is_limited_by_the_peak_of_tf32(tmp_path: Path) -> None:
    """An A100 in "FP32" reaches 25 TFLOP/s, above its peak of 19.5, if it uses TF32 and the log does not say so."""
    case = {**ONE, "model": "ResNet-50 v1.5", "hardware": "A100-PCIE-80GB", "precision": "fp32"}
    assert witness(measure(steady(speed=1014.0, second=16 / 1014), tmp_path, case), "physics").verdict == "agrees"


def test_flops_of_a_transformer_follow_from_its_shape() -> None:
    # 72 s l h² (1 + s / 6h) per sequence, by hand: BERT-base at 128 tokens.
    expected = 72 * 128 * 12 * 768**2 * (1 + 128 / (6 * 768))
    case = {"model": "BERT-base", "sequence_length": 128}
    assert physics.flops_of_sample(case, "sequences/s") == pytest.approx(expected)
    assert physics.flops_of_sample(case, "tokens/s") == pytest.approx(expected / 128)
    assert physics.flops_of_sample({"model": "BERT-base"}, "sequences/s") is None
    assert physics.flops_of_sample({"model": "unheard of"}, "images/s") is None


def test_lines_of_whole_epochs_are_a_summary(tmp_path: Path) -> None:
    """MXNet prints the seconds of an epoch, and its records cannot take longer."""

    def log(cost: float) -> list[str]:
        lines = [(0.5 * i, f"Batch [{i}]\tSpeed: 32.00 samples/sec\taccuracy=0.1") for i in range(1, 41)]
        lines.append((30.0, f"Time cost={cost:.3f}"))
        return [f"{clock(at).replace('.', ',')[:-3]} Node[0] Epoch[0] {each}" for at, each in lines]

    found = [witness(measure(log(cost), tmp_path), "summary") for cost in (20.3, 21.02, 27.0, 12.0)]
    assert [each.verdict for each in found] == ["agrees", "silent", "silent", "disagrees"]
    assert (found[0].value, found[0].against, found[0].unit) == (20.3, 20.0, "s")


def test_the_last_planned_step_is_compared_unless_the_run_ended_early(tmp_path: Path) -> None:
    def last(step: int) -> Witness:
        steps = [*range(10, 90, 10), step]
        return witness(measure(clas_dygraph([(1, each, 160.0) for each in steps]), tmp_path), "counters")

    assert (last(95).verdict, last(95).value, last(95).against, last(95).unit) == ("agrees", 100, 95, "steps")
    early = last(84)
    assert (early.verdict, early.reason and early.reason.code) == ("silent", "ended_early")


def ncf(*epochs: tuple[float, float], best: float) -> list[str]:
    """Return lines of NVIDIA's NCF: samples/s and seconds of each epoch, and the summary."""
    return [
        *(
            f"DLL 2026-11-20 23:23:1{number}.500000 - ({number},) train_throughput : {speed:.4g} samples/s "
            f"hr@10 : 0.8225 None train_epoch_time : {seconds:.3f} s validation_epoch_time : 0.125 s"
            for number, (speed, seconds) in enumerate(epochs)
        ),
        (
            f"DLL 2026-11-20 23:23:19.500000 - () best_train_throughput : {best:.1f} samples/s "
            "best_eval_throughput : 1.5 samples/s mean_train_throughput : 5.0 samples/s"
        ),
    ]


@pytest.mark.parametrize(
    ("epochs", "value", "withheld_by"),
    [
        (((3.2e7, 3.0), (4.8e7, 2.0)), 4.8e7, ""),
        # In a real log of eight devices the last epoch took 3 ms, 170 times as fast as the run.
        (((8.5e7, 1.168), (2.9e10, 0.003)), None, "summary"),
    ],
)
def test_the_summary_replaces_too_few_records(
    tmp_path: Path, epochs: tuple[tuple[float, float], ...], value: float | None, withheld_by: str
) -> None:
    found = measure(ncf(*epochs, best=epochs[-1][0]), tmp_path)
    headline = found.headline
    assert (found.rule, headline.value) == ("reported", value)
    if isinstance(headline, NoFigure):
        assert headline.reason.args["witness"] == withheld_by
