"""What printers of TensorFlow, Keras, MXNet and OneFlow printed of runs whose time per step was known; by hand."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest
from test_dialects import ALL, ONE, bar, facts_of, figure, reason, session_of, value

from ingest.compute.measurement import measured
from ingest.compute.second_run import second_run
from parsers.engine.read import read
from parsers.engine.session import Session
from schema.records import Figure, NoFigure


def epochs(*lasts: str, first: int = 1, of: int = 9) -> list[str]:
    return [line for epoch, last in enumerate(lasts, first) for line in (f"Epoch {epoch}/{of}", last)]


def test_keras_2_prints_the_seconds_of_a_step_at_the_end_of_the_line(tmp_path: Path) -> None:
    """`verbose=2` of TensorFlow 2.4 to 2.15: 2 s are too coarse, 85 ms are not."""
    last = "20/20 - 2s - loss: 0.7244 - accuracy: 0.5188{} - 2s/epoch - 85ms/step"
    session = session_of(epochs(*[last.format("")] * 6), tmp_path, "frameworks.keras")
    assert value(session, "sustained", **ONE) == pytest.approx(32 / 0.085)
    validated = last.format(" - val_loss: 0.7322 - val_accuracy: 0.4875")
    session = session_of(epochs(*[validated] * 6), tmp_path, "frameworks.keras")
    assert value(session, "sustained", **ONE) == pytest.approx(32 / 0.085)
    assert facts_of(session)["validation"] == "included"
    short = "20/20 - 0s - loss: 0.7244 - 412ms/epoch - 21ms/step"
    assert value(session_of(epochs(*[short] * 6), tmp_path, "frameworks.keras"), **ONE) == pytest.approx(32 / 0.021)


def test_keras_3_draws_its_bar_with_signs_of_the_terminal(tmp_path: Path) -> None:
    """Where the output is not UTF-8, as on Windows."""
    drawn = [bar("100 12s 121ms/step - accuracy: 0.7500 - loss: 0.5000", "=" * 20)] * 6
    begun = [line.replace("100/100", "  1/100") for line in epochs(*drawn)]
    lines = [f"{one}\r{each}" if "step" in each else each for one, each in zip(begun, epochs(*drawn), strict=True)]
    session = session_of(lines, tmp_path, "frameworks.keras")
    assert value(session, "sustained", **ONE) == pytest.approx(32 / 0.121)


def test_keras_3_shows_the_seconds_that_are_left_until_the_last_state(tmp_path: Path) -> None:
    """Steps of 7 s are told by the seconds of the epoch, which the last state shows."""
    left, last = (bar(f"20 {seconds} 7s/step - loss: 0.5000", "━" * 20) for seconds in ("0s", "141s"))
    session = session_of(epochs(*[f"{left}\n{last}"] * 6), tmp_path, "frameworks.keras")
    assert value(session, "sustained", **ONE) == pytest.approx(32 * 20 / 141)


def test_keras_leaves_the_first_step_of_an_epoch_out_of_its_milliseconds(tmp_path: Path) -> None:
    """100 steps of 121 ms, but for the first, which waits ten seconds for the loader: an epoch takes 22 s, not 12.1."""
    slow, quick = (bar(f"100 {seconds}s 121ms/step - loss: 0.5") for seconds in (22, 12))
    session = session_of(epochs(*[f"{slow} "] * 6), tmp_path, "frameworks.keras")
    assert value(session, "sustained", **ONE) == pytest.approx(3200 / 21.5)
    session = session_of(epochs(*[f"{quick} "] * 6), tmp_path, "frameworks.keras")
    assert value(session, "sustained", **ONE) == pytest.approx(3200 / 12.1)


def test_keras_compiles_in_the_first_step_of_a_program(tmp_path: Path) -> None:
    """The first epoch took 52 s, 40 of which compiled; so did that of a run resumed in the middle of an epoch."""
    compiled, later = (bar(f"100 {seconds}s 121ms/step - loss: 0.5 ") for seconds in (52, 12))
    stopped = "Epoch 3/9\r\n 50/100 [==>...] - ETA: 6s - loss: 0.5"
    lines = [*epochs(compiled, later), *stopped.split("\r\n"), *epochs(compiled, later, later, first=3)]
    session = session_of(lines, tmp_path, "frameworks.keras")
    assert value(session, ALL, **ONE) == pytest.approx(3200 / 12.1)
    # The head of the epoch stands on the line of the bar that was killed.
    glued = [*epochs(compiled, later, later), "Epoch 4/9", " 50/100 [==>...] - ETA: 6s - loss: 0.6Epoch 4/9", compiled]
    session = session_of([*glued, *epochs(later, later, first=5)], tmp_path, "frameworks.keras")
    assert value(session, ALL, **ONE) == pytest.approx(3200 / 12.1)
    # The seconds of the epoch have more digits than the milliseconds of a step, and hold the compilation too.
    compiled, later = (bar(f"1000 {seconds}s 12ms/step - loss: 0.5 ") for seconds in (52, 12))
    session = session_of(epochs(compiled), tmp_path, "frameworks.keras")
    assert value(session, ALL, **ONE) == pytest.approx(32 / 0.0125)


def estimator(hooks: Sequence[int], ranks: Sequence[float] = (1.0,), of: int = 1200) -> list[str]:
    """Return lines of steps of 20 ms, as hooks at several intervals and several processes print them."""
    lines = ["INFO:tensorflow:Using config: {}", "INFO:tensorflow:loss = 2.5, step = 0"]
    for step in range(10, of + 1, 10):
        lines += ["INFO:tensorflow:global_step/sec: 50.000"] * (step % 100 == 0)
        for each in hooks:
            told = [f"loss = 0.125, step = {step} ({0.02 * each * rank:.3f} sec)" for rank in ranks]
            lines += [f"INFO:tensorflow:{one}" for one in told if step % each == 0]
    return lines


@pytest.mark.parametrize(
    ("hooks", "ranks"),
    [
        ((100,), (1,)),
        ((100, 50), (1,)),
        ((100, 30), (1,)),
        ((100, 50), (1, 1)),
        ((100, 200), (1,)),
        ((100,), (1, 1.001)),
    ],
)
def test_hooks_of_estimator_at_two_intervals(hooks: Sequence[int], ranks: Sequence[float], tmp_path: Path) -> None:
    """What the second hook prints covers other steps than those since the line above, which is of the first."""
    session = session_of(estimator(hooks, ranks), tmp_path, "frameworks.tf_estimator")
    assert value(session, "sustained", **ONE) == pytest.approx(32 / 0.02, rel=2e-3)


def test_seconds_of_epochs_of_a_program_that_was_started_twice(tmp_path: Path) -> None:
    """Both starts print the same epochs: the records of each count once against its seconds."""
    lines = []
    for epoch in range(4):
        speeds = [
            f"INFO:root:Epoch[{epoch}] Batch [{at}-{at + 20}]\tSpeed: 320.00 samples/sec" for at in range(0, 180, 20)
        ]
        lines += [*speeds, f"INFO:root:Epoch[{epoch}] Time cost=19.950"]
    case = ONE | {"nodes": 1}
    for each in (lines, lines * 2):
        found = measured(session_of(each, tmp_path, "frameworks.mxnet_fit"), case)
        # 180 of 200 batches of 0.1 s are in the records.
        assert isinstance(found.headline, Figure)
        assert found.headline.value == pytest.approx(320)
        summary = next(one for one in found.witnesses if one.kind == "summary")
        assert (summary.verdict, summary.reason and summary.reason.args) == ("silent", {"percent": "9.77"})


def test_orbit_without_clocks(tmp_path: Path) -> None:
    """What stdout shows: the loop behind an evaluation or a checkpoint holds it; rates of one decimal."""
    told = "train | step: {:6d} | steps/sec: {:6.1f} | output: {{'loss': 0.5}}"
    lines = [told.format(step, 1.0 if step % 500 == 100 else 2.5) for step in range(100, 2001, 100)]
    for at in (15, 10, 5):
        lines[at:at] = [
            f" eval | step: {100 * at:6d} | running complete evaluation...",
            "saved checkpoint to out/ckpt.",
        ]
    session = session_of(lines, tmp_path, "frameworks.orbit")
    assert value(session, "sustained", **ONE) == pytest.approx(80)
    slow = [told.format(step, 0.4) for step in range(100, 2001, 100)]
    assert reason(session_of(slow, tmp_path, "frameworks.orbit"), **ONE) == "coarse_seconds"


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-16-le"])
def test_marks_of_an_encoding_are_no_text(encoding: str, tmp_path: Path) -> None:
    """`>` of PowerShell writes UTF-16 with a mark before the first line, which here begins an epoch."""
    lines = epochs(*["100/100 - 12s - loss: 0.5000 - accuracy: 0.7500"] * 3, of=3)
    path = tmp_path / "train.log"
    path.write_bytes("".join(f"{each}\r\n" for each in lines).encode(encoding))
    (session,) = read(path).sessions
    assert session.main["epoch"].tolist() == [1, 2, 3]


@pytest.mark.parametrize("name", ["ckpt-{}.", "a-long-name"])
def test_orbit_by_its_clocks(name: str, tmp_path: Path) -> None:
    """Loops of 100 steps in 50 s, each followed by a checkpoint of 30 s, every second one by an evaluation."""
    lines, at = [], 0

    def said(message: str, *, after: int) -> None:
        nonlocal at
        at += after
        lines.append(f"I1120 {at // 3600:02}:{at // 60 % 60:02}:{at % 60:02}.500000 140 controller.py:531] {message}")

    said("train | step:      0 | training until step 200...", after=0)
    for step in range(100, 2001, 100):
        said(f"train | step: {step:6d} | steps/sec:    1.2 | output: {{}}", after=50)
        said("saved checkpoint to out/" + name.format(step), after=30)
        if step % 200 == 0:
            said(f" eval | step: {step:6d} | running complete evaluation...", after=0)
            said(f"train | step: {step:6d} | training until step {step + 200}...", after=60)
    session = session_of(lines, tmp_path, "frameworks.orbit")
    assert value(session, "sustained", **ONE) == pytest.approx(64)


@pytest.mark.parametrize("summary", [sum, max])
def test_a_summary_that_is_the_mean_of_the_speeds(summary: Callable[[list[float]], float], tmp_path: Path) -> None:
    """Every fifth step waits: the mean of the speeds lies above samples over time, and says nothing against them."""
    seconds = [1.0 if step % 5 == 4 else 0.25 for step in range(20, 120)]
    speeds = [512 / each for each in seconds]
    lines = ["DLL 2026-11-20 10:00:00.000000 - PARAMETER arch : resnet50  mode : training_benchmark  batch_size : 64 "]
    for step, took, speed in zip(range(20, 120), np.cumsum(seconds), speeds, strict=True):
        at = f"2026-11-20 10:{int(took) // 60:02}:{took % 60:09.6f}"
        lines.append(f"DLL {at} - (0, {step}) imgs_per_sec : {speed}  cross_entropy : 7.1 ")
    told = summary(speeds) / (len(speeds) if summary is sum else 1)
    lines.append(f"DLL 2026-11-20 10:02:00.000000 - () train_throughput : {told} images/s")
    session = session_of(lines, tmp_path, "ngc.tensorflow_resnet50")
    found = measured(session, facts_of(session) | {"devices": 8}).headline
    if summary is sum:
        assert isinstance(found, Figure)
        assert found.value == pytest.approx(512 / 0.4)
    else:
        assert isinstance(found, NoFigure)


@pytest.mark.parametrize("told", ["global_step/sec: 4", "examples/sec: 128"])
def test_a_rate_without_a_step_is_no_match_for_the_clock(told: str, tmp_path: Path) -> None:
    """What TPUEstimator prints every 100 steps: its lines do not say how many, and took a hundred times one step."""
    lines = ["INFO:tensorflow:Using config: {}"]
    for at in range(0, 1000, 25):
        clock = f"I1120 10:{at // 60:02}:{at % 60:02}.500000"
        lines.append(f"{clock} 140000000000000 tpu_estimator.py:2160] {told}")
    session = session_of(lines, tmp_path, "frameworks.tf_estimator")
    found = measured(session, ONE)
    assert isinstance(found.headline, Figure)
    assert found.headline.value == pytest.approx(128)
    told_by_clock = next(each for each in found.witnesses if each.kind == "clock").reason
    assert told_by_clock
    assert told_by_clock.code == "no_steps_of_line"


def nvidia_bert(seconds: Sequence[float], accumulation: int) -> list[str]:
    """Return what NVIDIA's BERT in TensorFlow 2 prints of loops of 100 steps on 8 devices, 64 sequences on each."""
    flags = f"--train_batch_size=64 --num_accumulation_steps={accumulation} --use_fp16"
    lines, at, perf = [f"+ mpirun -np 8 python run_pretraining.py {flags}"], 0.0, []
    for n, took in enumerate(seconds, 1):
        at += took
        stamp = f"I1120 10:{int(at) // 60:02}:{at % 60:09.6f} 139 model_training_utils.py:516] "
        perf.append(100 * 512 * accumulation / took)
        lines.append(f"{stamp}Step: {100 * n} Lr 0.0001 Loss scale 65536")
        lines.append(f"{stamp}Train Step: {100 * n}/2000  / loss = 7.25 / time = {took:.3f} sec  acc = 0.1")
        lines.append(f"{stamp}Perf {perf[-1]:.2f}")
        if n % 5 == 0:
            lines.append(f"{stamp}Running evaluation after step: {100 * n}.")
            at += 40
    told = ["  Batch size = 64", "hvd.size() = 8", "Throughput Average (sentences/sec) with overhead = 900.00"]
    told.append(f"Throughput Average (sentences/sec) = {sum(perf[2:]) / len(perf[2:]):.2f}")
    return [*lines, *(f"{stamp}{each}" for each in told)]


@pytest.mark.parametrize("accumulation", [1, 4])
def test_the_batch_of_nvidias_bert_is_that_of_a_device(accumulation: int, tmp_path: Path) -> None:
    """Every fourth loop waits for data, and takes twice as long."""
    lines = nvidia_bert([20.0 if n % 4 else 40.0 for n in range(20)], accumulation)
    session = session_of(lines, tmp_path, "ngc.tensorflow2_bert")
    assert facts_of(session)["accumulation"] == accumulation
    found = measured(session, facts_of(session)).headline
    assert isinstance(found, Figure)
    assert found.value == pytest.approx(51200 * accumulation / 25)


def test_electra_of_nvidia_counts_the_seconds_since_the_start(tmp_path: Path) -> None:
    """Ten updates of 1.5 s per line of two ranks; a checkpoint of 25 s behind each tenth; `Perf` is of dispatch."""
    lines, at = ["gradient_accumulation_steps 3", "train_batch_size 176", "=" * 80, "Running training", "=" * 80], 0
    for step in range(10, 1001, 10):
        at += 15
        told = f"Elapsed: {at // 3600:2d}h{at // 60 % 60:2d}m{at % 60:2d}s, ETA:  1h 0m 0s, "
        line = (
            f"Step:{step:6d}, Loss: 40.125000, Gen_loss:  9.250000, Disc_acc: 85.25, Perf:9999, Loss Scaler: 1, {told}"
        )
        lines += [line] * 2
        if step % 100 == 0:
            at += 25
            lines.append(f" ** Saved model checkpoint for step {step}: out/ckpt-{step}")
    session = session_of(lines, tmp_path, "ngc.tensorflow2_electra")
    assert value(session, "sustained", **facts_of(session), devices=8) == pytest.approx(176 * 3 * 8 / 1.5)


def test_dlrm_of_nvidia_shares_its_timer_with_evaluations(tmp_path: Path) -> None:
    """Fifty steps of 10 ms per line; the line behind an evaluation has begun within it, and is half as long."""
    lines = ["Command line flags:", "{", '    "amp": true,', '    "batch_size": 65536,', "}"]
    for step in range(150, 3001, 50):
        ms = 5.0 if step % 500 == 50 else 10.0
        lines.append(
            f"step={step}, throughput={65.536 / ms:.3f}M, step_time={ms:.3f} ms, learning_rate=24.0, loss=0.125,"
        )
        if step % 500 == 0:
            lines.append("validation_step=49, validation_throughput=30.125M, step_time=2.125 ms")
            lines.append("Evaluation completed, AUC: 0.750000, test_loss: 0.125000")
    session = session_of(lines, tmp_path, "ngc.tensorflow2_dlrm")
    assert value(session, "sustained", devices=8) == pytest.approx(65536 / 0.01, rel=1e-4)


def test_nmt_repeats_its_last_line(tmp_path: Path) -> None:
    """A hundred steps of 1250 words in half a second each, and every fifth hundred waits as long again for data."""
    speeds = [1.25 if n % 5 == 4 else 2.5 for n in range(25)]
    told = "step {} lr 1 step-time 0.50s wps {:.2f}K ppl 452.41 gN 8.58 bleu 0.00"
    lines = ["# Start step 0, lr 1, Fri Nov 20 10:11:12 2026"]
    lines += ["  " + told.format(100 * n, speed) for n, speed in enumerate(speeds, 1)]
    lines += ["# Final, " + told.format(2500, 9.99)]
    session = session_of(lines, tmp_path, "frameworks.tf_nmt")
    assert session.main["step"][-1] == 2500
    assert len(session.main) == 25
    assert value(session, "sustained") == pytest.approx(125000 / 60)


@pytest.mark.parametrize("first", [25.0, 50.0])
def test_a_resumed_program_starts_within_its_first_record(first: float, tmp_path: Path) -> None:
    """TimeHistory announces nothing: killed behind step 2700, resumed from 2000; a hundred steps of 0.25 s a line."""
    lines = []
    for begin, end in ((0, 2700), (2000, 4000)):
        for step in range(begin + 100, end + 1, 100):
            took = first if step == begin + 100 else 25.0
            told = f"TimeHistory: {took:.2f} seconds, {25600 / took:.2f} examples/second"
            lines.append(f"I1120 10:00:00.500000 140 keras_utils.py:145] {told} between steps {step - 100} and {step}")
    session = session_of(lines, tmp_path, "dlperf.tensorflow2_resnet50")
    headline = measured(session, {"devices": 8, "batch_size": 32}).headline
    assert isinstance(headline, Figure)
    assert headline.value == pytest.approx(1024)
    # The record counts where it took no longer than others.
    assert headline.used == 38 - (first > 25)


@pytest.mark.parametrize(
    "between", ["validation: epoch {}, iter 10, top_1: 0.5, top_k: 0.6, samples/s: 2014.683", "Saving model to out/{}."]
)
def test_oneflow_times_a_validation_with_the_epoch_behind_it(between: str, tmp_path: Path) -> None:
    """Twenty iterations of 64 images in 10 s per line; what stands between two epochs takes 30 s."""
    lines = ["batch_size_per_device = 64", "gpu_num_per_node = 1", "num_nodes = 1"]
    for epoch in range(6):
        for step in range(20, 101, 20):
            speed = 32.0 if step == 20 and epoch else 128.0
            told = "loss: 7.087004, top_1: 0.000000, top_k: 0.000000"
            lines.append(f"train: epoch {epoch}, iter {step}, {told}, samples/s: {speed:.3f}")
        lines.append(between.format(epoch))
    session = session_of(lines, tmp_path, "dlperf.oneflow_resnet50")
    assert value(session, "sustained", devices=1) == pytest.approx(128)


def test_transformer_xl_in_tensorflow_times_a_checkpoint_with_the_steps_behind_it(tmp_path: Path) -> None:
    told = "INFO:tensorflow:step {} | lr 0.003000000 | loss 5.75 | pplx  314.19, bpc  8.2955, tok/s  {:6.0f}"
    lines = []
    for n in range(1, 31):
        # A hundred steps of 49152 tokens in 20 s, and 20 s for the checkpoint behind each fourth line.
        lines.append(told.format(100 * n, 49152 * (2.5 if n > 1 and n % 4 == 1 else 5)))
        lines += ["INFO:tensorflow:Model saved in path: out/model.ckpt"] * (n % 4 == 0)
    session = session_of(lines, tmp_path, "ngc.tensorflow_transformer_xl")
    assert value(session, "sustained", devices=8) == pytest.approx(245760)


def test_a_bar_may_stand_before_the_second_line_of_mindformers(tmp_path: Path) -> None:
    """Every second step waits, and the speed on the second line tells it."""
    lines, head = [], "2026-11-20 10:00:{:02},000 - mindformers[callback.py:497] - INFO - "
    for step in range(1, 31):
        speed = 2.0 if step % 2 else 4.0
        bar = " 10%|#   | 1/9\r 20%|##  | 2/9\r" if step % 2 else ""
        told = f"{{ Epoch:[  1/  2], step:[{step:5d}/   30], loss: 7.900, per_step_time: {round(8000 / speed)}ms, "
        lines.append(f"{head.format(step)}{told}overflow cond: False, train_throughput_per_npu: ")
        lines.append(f"{bar}{head.format(step)}  {step:4.1f}% |██        | {speed:.5f} samples/s/p  0:00:10 }}")
    session = session_of(lines, tmp_path, "frameworks.mindformers")
    assert len(session.main) == 30
    assert value(session, "sustained", devices=1) == pytest.approx(2 / (1 / 2 + 1 / 4))


@pytest.mark.parametrize("clocks", [False, True])
def test_nvidias_fine_tuning_prints_its_figure_through_dllogger_too(clocks: bool, tmp_path: Path) -> None:
    """Eight devices of 8 sequences, 0.2 s a step, and a checkpoint of 20 s behind each fifth line."""
    head = ["Using config: {}", "hvd.size() = 8 hvd.rank() = 0", "***** Running training *****", "  Batch size = 8"]
    lines = [f"INFO:tensorflow:{each}" for each in head]
    for n in range(1, 21):
        took = 40.0 if n % 5 == 1 and n > 1 else 20.0
        told = [f"global_step/sec: {100 / took:g}", f"loss = 2.5, step = {100 * n} ({took:.3f} sec)"]
        told += [f"Saving checkpoints for {100 * n} into out/model.ckpt."] * (n % 5 == 0)
        for each in told:
            lines.append(f"INFO:tensorflow:{each}")
            lines += [f"I1120 10:00:00.5 139 basic_session_run_hooks.py:692] {each}"] * clocks
    lines += [
        "INFO:tensorflow:Loss for final step: 1.2.",
        "DLL 2026-11-20 10:20:00.500000 -  throughput_train : 250.5 ",
    ]
    session = session_of(lines, tmp_path, "frameworks.tf_estimator")
    assert value(session, "sustained", **facts_of(session)) == pytest.approx(320)


def test_dllogger_counts_where_keras_draws_its_bars_as_well(tmp_path: Path) -> None:
    """Twenty steps of 64 images in two seconds per line, and a bar per epoch of a hundred."""
    lines = []
    for epoch in range(6):
        lines.append(f"Epoch {epoch + 1}/6")
        for step in range(20, 101, 20):
            at = f"2026-11-20 10:{epoch:02}:{step // 10:02}.500000"
            lines.append(f"DLL {at} - ({epoch}, {step}) loss : 6.5  train_throughput : 640.0 images/s")
        lines.append("100/100 - 10s - loss: 6.5000 - accuracy: 0.1250 - 10s/epoch - 100ms/step")
    session = session_of(lines, tmp_path, "frameworks.dllogger_text")
    found = measured(session, {"devices": 1, "batch_size": 64}).headline
    assert isinstance(found, Figure)
    assert found.value == pytest.approx(640)


def test_a_figure_of_the_run_in_another_unit_is_not_of_resnet(tmp_path: Path) -> None:
    line = "DLL 2026-11-20 10:00:{:02}.500000 - (0, {}) train_loss : 6.5  train_throughput : 2560.0 samples/s lr : 0.1 "
    lines = [line.format(n, 40 * n) for n in range(1, 31)]
    lines.append("DLL 2026-11-20 10:01:00.500000 - () train_throughput : 2560.0 samples/s ")
    session = session_of(lines, tmp_path, "frameworks.dllogger_text")
    found = measured(session, {"devices": 1, "batch_size": 64}).headline
    assert isinstance(found, Figure)
    assert (found.value, found.unit) == (pytest.approx(2560), "samples/s")


def states(total: int, *counts: int, eta: bool = False) -> str:
    """Return what an epoch of 15 s draws: the states after so many steps or samples, and the last one."""
    drawn = "".join(f"{each:>5}/{total} [>.............] - ETA: 9s - loss: 2.5\r" for each in counts)
    full = f"{total}/{total} [==============] - "
    twice = f"{full}ETA: 0s - loss: 0.5\r" if eta else ""
    return f"{drawn}{twice}{full}15s {15_000_000 // total}us/step - loss: 0.5 "


def test_keras_by_itself_counts_samples_without_saying_so(tmp_path: Path) -> None:
    """60,000 samples in batches of 32 and 15 s; nothing is validated, so that no line tells their number."""
    backend = "Using TensorFlow backend."
    session = session_of([backend, *epochs(*[states(60000, 32, 6400)] * 6)], tmp_path, "frameworks.keras")
    assert value(session, "sustained", **ONE) == pytest.approx(4000)
    session = session_of(epochs(*[states(60000, 32, 6400)] * 6), tmp_path, "frameworks.keras")
    assert value(session, "sustained", **ONE) == pytest.approx(4000)
    # The bar goes back by backspaces as well.
    backspaced = states(60000, 32, 6400).replace("\r", chr(8) * 50 + "\r")
    session = session_of(epochs(*[backspaced] * 6), tmp_path, "frameworks.keras")
    assert value(session, "sustained", **ONE) == pytest.approx(4000)
    # Where only the last state is kept, the bar may count either.
    session = session_of([backend, *epochs(*[states(60000)] * 6)], tmp_path, "frameworks.keras")
    assert reason(session, "sustained", **ONE) == "no_steps_per_epoch"
    # A generator's steps begin with the first; its validation is no line of samples.
    session = session_of([backend, *epochs(*[states(1875, 1, 200)] * 6)], tmp_path, "frameworks.keras")
    assert value(session, "sustained", **ONE) == pytest.approx(4000)
    validated = f"{states(1875)}- val_loss: 0.75 "
    session = session_of([backend, *epochs(*[validated] * 6)], tmp_path, "frameworks.keras")
    assert value(session, "sustained", **ONE) == pytest.approx(4000)


@pytest.mark.parametrize(
    "head",
    [
        "Created TensorFlow device (/task:0/device:GPU:0 with 15000 MB memory) -> physical GPU (device: {}, name: N)",
        "Train on 60000 samples",
    ],
)
def test_processes_of_keras_count_their_samples(head: str, tmp_path: Path) -> None:
    """Each of two processes that Horovod joins takes all 60,000 samples in 15 s, as a program alone does."""
    drawn, begun = states(60000, 32, 6400), "Epoch 1/9"
    for size, scope in ((1, "job"), (2, "device")):
        heads = [head.format(rank) for rank in range(size)]
        session = session_of([*heads, *epochs(*[drawn] * 6)], tmp_path, "frameworks.keras")
        found = figure(session, "sustained")
        assert isinstance(found, Figure)
        assert (found.value, found.scope) == (pytest.approx(4000), scope)
        assert value(session, "sustained", devices=size) == pytest.approx(4000 * size)
    # What begins an epoch in turn are processes as well.
    session = session_of([begun, *epochs(*[drawn] * 6)], tmp_path, "frameworks.keras")
    assert figure(session, "sustained").scope == "device"
    # Where tags alone tell them apart, the samples may be those of each.
    both = [(rank, line) for epoch in range(1, 7) for rank in range(2) for line in epochs(drawn, first=epoch)]
    lines = [f"[1,{rank}]<stdout>:{line}" for rank, line in both]
    assert reason(session_of(lines, tmp_path, "frameworks.keras"), "sustained") == "speed_of_ranks"


def test_keras_may_take_many_steps_at_once(tmp_path: Path) -> None:
    """`steps_per_execution` of 25 begins with 25 of 1,875 steps, and TensorFlow shows the last state twice."""
    session = session_of(epochs(*[states(1875, 25, 200, eta=True)] * 6), tmp_path, "frameworks.keras")
    assert value(session, "sustained", **ONE) == pytest.approx(4000)


def time_history(first: int, last: int) -> str:
    return f"TimeHistory: 10.00 seconds, 1280.00 examples/second between steps {first} and {last}"


@pytest.mark.parametrize("before", ["", "INFO:tensorflow:", " 99/1251 [=>....] - ETA: 9:12 - loss: 7.1"])
def test_copies_of_timehistory_print_no_stamp(before: str, tmp_path: Path) -> None:
    lines = [f"{before}{time_history(step, step + 100)}" for step in range(0, 1500, 100)]
    session = session_of(lines, tmp_path, "dlperf.tensorflow2_resnet50")
    assert value(session, "sustained", devices=1) == pytest.approx(1280)


def test_orbit_prints_the_steps_that_timehistory_times(tmp_path: Path) -> None:
    """100 steps of 128 take 10 s; an evaluation of 40 s, in which the timer stands, follows every fifth loop."""
    lines, at = [], 0
    for step in range(0, 3000, 100):
        at += 10
        stamp = f"I1120 09:{at // 60:02}:{at % 60:02}.500000 140663 "
        lines.append(f"{stamp}keras_utils.py:145] {time_history(step, step + 100)}")
        told = f"train | step: {step + 100:6} | steps/sec:   10.0 | output: {{'loss': 2.5}}"
        lines.append(f"{stamp}controller.py:479] {told}")
        if step % 500 == 400:
            lines.append(f"{stamp}controller.py:282]  eval | step: {step + 100:6} | running complete evaluation...")
            at += 40
    session = session_of(lines, tmp_path, "dlperf.tensorflow2_resnet50")
    found = measured(session, {"devices": 1}).headline
    assert isinstance(found, Figure)
    assert found.value == pytest.approx(1280)


@pytest.mark.parametrize(
    "summary",
    [
        ["0 Training Performance = 32.0000 sentences/sec"],
        [
            "Total Training Time W/O Overhead = 980.00 for Sentences = 31360",
            "Throughput Average (sentences/sec) with overhead = 31.36",
            "Throughput Average (sentences/sec) = 32.00",
        ],
        [],
    ],
)
def test_nvidias_bert_prints_the_speed_of_a_process(summary: Sequence[str], tmp_path: Path) -> None:
    """One of eight processes logs 4 sequences per second, one per step of each: together 32, as the summary says."""
    told = ["Multi-GPU training with TF Horovod", "hvd.size() = 8 hvd.rank() = 0", "***** Running training *****"]
    told += ["  Batch size = 1", *["global_step/sec: 4.0", "examples/sec: 4.0"] * 30, *summary]
    session = session_of([f"INFO:tensorflow:{each}" for each in told], tmp_path, "frameworks.tf_estimator")
    found = measured(session, facts_of(session)).headline
    assert isinstance(found, Figure), found
    assert found.value == pytest.approx(32)
    if summary:
        assert value(session, "reported") == pytest.approx(32)


def fine_tuned(first: int = 0, told: float = 1.0, horovod: str = "hvd.size() = 8 hvd.rank() = 0") -> list[str]:
    """Return 1000 steps of NVIDIA's BERT on SQuAD, of 8 times 8 sequences in 0.25 s, and its own figure of the run.

    That counts all steps of the plan, also of a run that goes on from a checkpoint, but for 20 at the beginning.
    """
    lines = ["***** Configuaration *****", "  amp: True", horovod, "Using config: {'_model_dir': '/results'}"]
    lines += ["***** Running training *****", "  Num steps = 1000", "  Batch size = 8"]
    lines += [f"Restoring parameters from /results/model.ckpt-{first}"] if first else []
    lines += [f"Saving checkpoints for {first} into /results/model.ckpt.", f"loss = 5.75, step = {first}"]
    for step in range(first + 100, 1001, 100):
        lines += ["global_step/sec: 4.0", f"loss = 1.5, step = {step} (25.000 sec)"]
    done, seconds = 1000 - first, 0.25 * (1000 - first - 20)
    lines += ["Loss for final step: 1.25.", f"Total Training Time = {20 + 0.25 * done:.2f} for Sentences = 64000"]
    lines += [f"Total Training Time W/O Overhead = {seconds:.2f} for Sentences = 62720"]
    lines += ["Throughput Average (sentences/sec) with overhead = 250.00"]
    speed = told * 62720 / seconds
    lines += [f"Throughput Average (sentences/sec) = {speed:.2f}"]
    log = [f"INFO:tensorflow:{each}" for each in lines]
    return [*log, f"DLL 2026-11-20 10:11:12.500000 -  throughput_train : {speed:.3f} sequences/s"]


def without_steps(lines: Sequence[str]) -> list[str]:
    return [each for each in lines if " sec)" not in each and "/sec: " not in each]


@pytest.mark.parametrize("horovod", ["hvd.size() = 8 hvd.rank() = 0", "  horovod: True"])
def test_nvidias_bert_is_read_by_its_steps(horovod: str, tmp_path: Path) -> None:
    session = session_of(fine_tuned(horovod=horovod), tmp_path, "frameworks.tf_estimator")
    found = measured(session, facts_of(session) | {"devices": 8}).headline
    assert isinstance(found, Figure), found
    assert found.value == pytest.approx(256)
    assert (facts_of(session)["batch_size"], facts_of(session)["precision"]) == (8, "amp")
    session = session_of(fine_tuned(told=2.0), tmp_path, "frameworks.tf_estimator")
    wrong = measured(session, facts_of(session)).headline
    assert isinstance(wrong, NoFigure)
    assert wrong.reason.args["witness"] == "summary"


def test_nvidias_bert_sums_up_steps_that_another_run_has_done(tmp_path: Path) -> None:
    # From step 500 on its own figure is more than twice too high.
    session = session_of(fine_tuned(first=500), tmp_path, "frameworks.tf_estimator")
    found = measured(session, facts_of(session))
    assert isinstance(found.headline, Figure)
    assert found.headline.value == pytest.approx(256)
    alone = session_of(without_steps(fine_tuned(first=500)), tmp_path, "frameworks.tf_estimator")
    assert facts_of(session)["resumed_from"] == facts_of(alone)["resumed_from"] == 500
    for each in (found, measured(alone, facts_of(alone))):
        reported = each.figures["reported"]
        assert isinstance(reported, NoFigure)
        assert reported.reason.code == "resumed_summary"


@pytest.mark.parametrize(("told", "expected"), [(1.0, 256), (2.0, None)])
def test_nvidias_bert_prints_what_its_own_figure_is_made_of(
    told: float, expected: float | None, tmp_path: Path
) -> None:
    session = session_of(without_steps(fine_tuned(told=told)), tmp_path, "frameworks.tf_estimator")
    assert "resumed_from" not in facts_of(session)
    found = measured(session, facts_of(session)).figures["reported"]
    if expected:
        assert isinstance(found, Figure)
        assert found.value == pytest.approx(expected)
    else:
        assert isinstance(found, NoFigure)
        assert found.reason.args["witness"] == "arithmetic"


@pytest.mark.parametrize(("told", "expected"), [(1.0, 256), (2.0, None)])
def test_nvidias_bert_pre_training_prints_what_its_own_figure_is_made_of(
    told: float, expected: float | None, tmp_path: Path
) -> None:
    """60 steps of 128 sequences in 0.5 s, of which the first 4 do not count, and nothing that states the devices."""
    lines, stamp = [], "I1120 10:11:12.500000 140 run_pretraining.py:649] "
    for step in range(1, 61):
        at = f"10:00:{step / 2:09.6f}"
        lines.append(f"DLL 2026-11-20 {at} - Iteration: {step}  throughput_train : {told * 256:.3f} sequences/s ")
    lines += [f"{stamp}Total Training Time = 60.00 for Sentences = 7680"]
    lines += [f"{stamp}Total Training Time W/O Overhead = 28.00 for Sentences = 7168"]
    lines += [f"DLL 2026-11-20 10:01:01.500000 -  throughput_train : {told * 256:.3f} sequences/s"]
    session = session_of(lines, tmp_path, "ngc.tensorflow_bert")
    found = measured(session, facts_of(session)).headline
    if expected:
        assert isinstance(found, Figure)
        assert found.value == pytest.approx(expected)
    else:
        assert isinstance(found, NoFigure)
        assert found.reason.args["witness"] == "summary"


@pytest.mark.parametrize(("ranks", "expected"), [(1, 64), (4, None)])
def test_speeds_that_several_processes_print(ranks: int, expected: float | None, tmp_path: Path) -> None:
    """TPUEstimator's speed is that of the job, or of each process that Horovod joins: no line says so."""
    lines = [f"[1,{rank}]<stderr>:INFO:tensorflow:examples/sec: 64.0" for _ in range(30) for rank in range(ranks)]
    session = session_of(lines, tmp_path, "frameworks.tf_estimator")
    if expected is None:
        assert reason(session, "sustained", devices=4) == "speed_of_ranks"
    else:
        assert value(session, "sustained", devices=4) == pytest.approx(expected)


@pytest.mark.parametrize("begin", [" - ", ""])
def test_keras_by_itself_prints_the_seconds_of_an_epoch_alone(begin: str, tmp_path: Path) -> None:
    """With `verbose=2`: 60,000 samples in 15 s, of which the validation takes a part."""
    lines = epochs(*[f"{begin}15s - loss: 0.5000 - acc: 0.7500 - val_loss: 0.6250 - val_acc: 0.7000"] * 6)
    said = "Train on 60000 samples, validate on 10000 samples"
    session = session_of([said, *lines], tmp_path, "frameworks.keras")
    assert value(session, "sustained", devices=1) == pytest.approx(4000)
    assert facts_of(session)["validation"] == "included"
    assert reason(session_of(lines, tmp_path, "frameworks.keras"), "sustained", **ONE) == "no_steps_per_epoch"
    assert len(read_sessions([said, *lines, said, *lines], tmp_path)) == 2


@pytest.mark.parametrize(
    "stated", ["{'name': 'batch_size', 'long_value': 128}", "{'long_value': 128, 'name': 'batch_size'}"]
)
def test_batch_of_the_model_gardens_resnet_is_that_of_the_job(stated: str, tmp_path: Path) -> None:
    """It stands in the record of the benchmark: 128 images per step, and 100 steps in 20 s."""
    logger = "I1120 09:00:00.500000 140663 tf_logging.py:115] "
    parameters = f"'run_parameters': [{stated}, {{'name': 'train_epochs', 'long_value': 90}}]"
    lines = [f"{logger}Benchmark run: {{'model_name': 'resnet', 'machine_config': {{}}, {parameters}}}"]
    for step in range(0, 2000, 100):
        told = " (20.000 sec)" if step else ""
        lines.append(f"INFO:tensorflow:loss = 2.5, step = {step}{told}")
    session = session_of(lines, tmp_path, "frameworks.tf_estimator")
    assert value(session, "sustained", devices=4) == pytest.approx(640)


def test_tf_cnn_benchmarks_of_a_whole_training(tmp_path: Path) -> None:
    """Nearly all lines begin with a step, which `cat -n` would put there as well."""
    head = ["TensorFlow:  1.3", "Model:       resnet50", "Batch size:  256 global", "             64.0 per device"]
    head += [
        f"Devices:     {[f'/gpu:{each}' for each in range(4)]}",
        "Variables:   parameter_server",
        "Data type:   float32",
    ]
    gpu = "I gpu_device.cc:1045] Creating TensorFlow device (/gpu:0) -> (device: 0, name: Tesla P40, pci bus id: 0)"
    lines = [gpu, *head]
    lines += [f"{step}\timages/sec: 210.0 +/- 0.5 (jitter = 5.5)\t7.250" for step in (1, *range(10, 2001, 10))]
    session = session_of(lines, tmp_path, "frameworks.tf_cnn_benchmarks")
    assert value(session, "sustained") == pytest.approx(210)
    facts = facts_of(session)
    assert (facts["devices"], facts["batch_size"], facts["precision"], facts["gpu"]) == (4, 64, "fp32", "Tesla P40")


def test_processes_of_an_estimator_that_print_in_turn_and_no_size(tmp_path: Path) -> None:
    """Four processes of TPUEstimator train 32 samples in 0.4 s each, under Horovod, and log without tag or thread."""
    told = ["Using config: {'_evaluation_master': ''}", "***** Running training *****", "  Batch size = 32"]
    told += ["Done calling model_fn.", "Running local_init_op.", "Done running local_init_op."]
    lines = [each for each in told for _ in range(4)]
    for step in range(30):
        lines += [
            f"{what}: {rate + (step + rank) % 3 / 100}"
            for rank in range(4)
            for what, rate in (("global_step/sec", 2.5), ("examples/sec", 80))
        ]
    session = session_of([f"INFO:tensorflow:{each}" for each in lines], tmp_path, "frameworks.tf_estimator")
    assert facts_of(session)["batch_size"] == 32
    assert figure(session, "sustained").scope == "device"
    assert value(session, "sustained", devices=4) == pytest.approx(320, rel=1e-3)
    # One process begins two sessions where the first evaluates.
    alone = [
        *told[:5],
        "Starting evaluation at 2026-11-20T09:00:00Z",
        *told[4:],
        *["global_step/sec: 2.5", "examples/sec: 80.0"] * 30,
    ]
    session = session_of([f"INFO:tensorflow:{each}" for each in alone], tmp_path, "frameworks.tf_estimator")
    assert value(session, "sustained") == pytest.approx(80)
    assert facts_of(session)["batch_size_of_job"] == 32


def test_processes_of_an_estimator_whose_head_was_cut_off(tmp_path: Path) -> None:
    """Two print 80 samples/s each, mostly in turn; one that is printed by two loggers is one."""
    lines = []
    for step in range(30):
        rates = (2.5 + step / 1000, 2.5)
        told = [[f"global_step/sec: {rate}", f"examples/sec: {32 * rate}"] for rate in rates]
        lines += [*told[0], *told[1]] if step % 5 else [each[part] for part in range(2) for each in told]
    session = session_of([f"INFO:tensorflow:{each}" for each in lines], tmp_path, "frameworks.tf_estimator")
    assert figure(session, "sustained").scope == "device"
    twice = []
    for step in range(30):
        twice += [f"global_step/sec: {2.5 + step / 1000}"] * 2 + [f"examples/sec: {80 + step / 100}"] * 2
    session = session_of([f"INFO:tensorflow:{each}" for each in twice], tmp_path, "frameworks.tf_estimator")
    assert figure(session, "sustained").scope == "job"


@pytest.mark.parametrize(
    "told",
    [
        "Using config: {'_train_distribute': <mirrored_strategy.MirroredStrategy object at 0x7f0>, '_master': ''}",
        "Using MirroredStrategy with devices ('/device:GPU:0', '/device:GPU:1')",
    ],
)
def test_replicas_of_an_estimator_take_a_batch_each(told: str, tmp_path: Path) -> None:
    """Two devices train 32 samples each in 0.4 s: the function of the data makes the batches of one replica."""
    lines = [told, "***** Running training *****", "  Num examples = 6400", "  Batch size = 32", "loss = 2.5, step = 0"]
    for step in range(100, 3100, 100):
        lines += ["global_step/sec: 2.5", f"loss = 2.5, step = {step} (40.000 sec)"]
    session = session_of([f"INFO:tensorflow:{each}" for each in lines], tmp_path, "frameworks.tf_estimator")
    assert value(session, "sustained", **{"devices": 2} | facts_of(session)) == pytest.approx(160)


def test_a_program_that_makes_two_estimators_starts_once(tmp_path: Path) -> None:
    lines = ["INFO:tensorflow:Using config: {", "}, '_evaluation_master': ''}"] * 2 + estimator((100,))[1:]
    session = session_of(lines, tmp_path, "frameworks.tf_estimator")
    assert value(session, "sustained", **ONE) == pytest.approx(32 / 0.02, rel=2e-3)
    assert len(read_sessions([*lines, *lines], tmp_path)) == 2


def collapsed(last: str) -> list[str]:
    """Return epochs of which a notebook keeps the last state alone."""
    return epochs(*[last] * 6)


def test_keras_whose_first_states_are_lost(tmp_path: Path) -> None:
    """60,000 samples in 5 s, or in 75 s: TensorFlow 1 counted them in its bar, and called the accuracy `acc`."""
    full = "[==============================]"
    shown = ((60000, "5s 83us"), (60000, "75s 1ms"), (1875, "15s 8ms"))
    quick, slow, short = (f"{total}/{total} {full} - {told}/step - loss: 0.5000" for total, told in shown)
    for shown in (" - acc: 0.8750", " - accuracy: 0.8750", "", " - acc: 0.8750 - val_loss: 0.6250 - val_acc: 0.7500"):
        session = session_of(collapsed(f"{quick}{shown}"), tmp_path, "frameworks.keras")
        assert value(session, "sustained", **ONE) == pytest.approx(60000 / 4.98)
    for either in (f"{slow} - acc: 0.8750", f"{short} - acc: 0.8750"):
        session = session_of(collapsed(either), tmp_path, "frameworks.keras")
        assert reason(session, "sustained", **ONE) == "no_steps_per_epoch"
    # TensorFlow 2 says `accuracy`; samples of a validation are said, unless the begin is missing.
    for steps in (f"{short} - accuracy: 0.8750", f"{short} - acc: 0.8750 - val_loss: 0.6250 - val_acc: 0.7500"):
        session = session_of(collapsed(steps), tmp_path, "frameworks.keras")
        assert value(session, "sustained", **ONE) == pytest.approx(4000)
    session = session_of(collapsed(steps)[2:], tmp_path, "frameworks.keras")
    assert reason(session, "sustained", **ONE) == "no_steps_per_epoch"
    # Without a bar, steps are counted.
    session = session_of(
        collapsed("100/100 - 20s - 200ms/step - acc: 0.8750 - loss: 0.5"), tmp_path, "frameworks.keras"
    )
    assert value(session, "sustained", **ONE) == pytest.approx(160)


def test_keras_goes_on_with_another_batch(tmp_path: Path) -> None:
    """YOLOv3 trains the last layers with 38 batches of 32 in 19 s, then all of them with 152 batches of 8 in 152 s."""
    said = "Train on 1216 samples, val on 135 samples, with batch size {}."
    lines = ["Using TensorFlow backend.", said.format(32)]
    lines += epochs(*["38/38 [====] - 19s 500ms/step - loss: 40.5 - val_loss: 41.5"] * 6, of=6)
    lines += ["Unfreeze all of the layers.", said.format(8)]
    lines += epochs(*["152/152 [====] - 152s 1s/step - loss: 30.5 - val_loss: 31.5"] * 6, first=7, of=12)
    first, second = read_sessions(lines, tmp_path)
    assert value(first, "sustained") == pytest.approx(64)
    assert value(second, "sustained") == pytest.approx(8)


def test_mask_rcnn_in_keras_states_its_batch(tmp_path: Path) -> None:
    """A step of two images on each of two devices takes 1.25 s."""
    lines = ["Using TensorFlow backend.", "", "Configurations:", "BACKBONE                       resnet101"]
    lines += [
        "BATCH_SIZE                     4",
        "GPU_COUNT                      2",
        "IMAGES_PER_GPU                 2",
    ]
    lines += epochs(*["100/100 [====] - 125s 1s/step - loss: 1.5 - rpn_class_loss: 0.5 - val_loss: 2.5"] * 6, of=6)
    assert value(session_of(lines, tmp_path, "frameworks.keras"), "sustained") == pytest.approx(3.2)
    # It goes on with all layers, which take twice as long.
    lines += ["Starting at epoch 6. LR=0.0001", "", "Checkpoint Path: out/mask_rcnn.h5", "Selecting layers to train"]
    lines += epochs(*["100/100 [====] - 250s 2s/step - loss: 1.25 - val_loss: 2.5"] * 6, first=7, of=12)
    first, second = read_sessions(lines, tmp_path)
    assert value(first, "sustained") == pytest.approx(3.2)
    assert value(second, "sustained", devices=2, batch_size=2) == pytest.approx(1.6)


def test_keras_fits_twice_and_counts_on(tmp_path: Path) -> None:
    """Some layers take 10 s, all of them 20 s; a program that was killed goes on with the same number of epochs."""
    quick, slow = (f"200/200 [====] - {each}s {each * 5}ms/step - loss: 0.5" for each in (10, 20))
    begun = epochs(*[quick] * 6, of=6)
    found = second_run(session_of([*begun, *epochs(*[slow] * 6, first=6, of=11)], tmp_path, "frameworks.keras"))
    assert found
    assert (found[0], found[1].code) == (len(begun) + 2, "total_changed")
    resumed = epochs(*[quick] * 6), epochs(*[quick] * 3, first=7)
    assert second_run(session_of([*resumed[0], *resumed[1]], tmp_path, "frameworks.keras")) is None


@pytest.mark.parametrize("before", [100, "100/100 [====] - ETA: 0s - d_loss: 0.5000 - g_loss: 1.2500\n100"])
def test_keras_with_losses_of_other_names(before: int | str, tmp_path: Path) -> None:
    """A GAN names its two losses itself: 100 batches in 20 s."""
    bar = f"{before}/100 [====] - 20s 200ms/step - d_loss: 0.5000 - g_loss: 1.2500"
    session = session_of(epochs(*[bar] * 6), tmp_path, "frameworks.keras_losses")
    assert value(session, "sustained", **ONE) == pytest.approx(160)
    named = epochs(*[f"{bar} - loss: 1.7500"] * 6)
    assert value(session_of(named, tmp_path, "frameworks.keras"), "sustained", **ONE) == pytest.approx(160)


def test_scripts_of_the_model_garden_state_their_run(tmp_path: Path) -> None:
    """Two runs in one file, of 64 and of 128 images per step of 0.2 s; the first line holds the compilation."""
    lines = []
    for hour, batch in ((9, 64), (10, 128)):
        stamp = f"I1120 {hour:02}:00:00.500000 140 classifier_trainer.py:190] "
        told = [
            "Base params: {'mode': None,",
            "Final model parameters: {'mode': 'train_and_eval',",
            "Detected 2 devices.",
        ]
        told[1] += "\n 'model': {'model_params': {'model_name': 'efficientnet-b0',\n 'name': 'efficientnet'}}"
        lines += [f"{stamp}{each}" for each in (*told, f"Global batch size: {batch}")]
        for n in range(30):
            took = 20.0 if n else 60.0
            at = 60 + 20 * n
            stamp = f"I1120 {hour:02}:{at // 60:02}:{at % 60:02}.500000 140 keras_utils.py:145] "
            lines.append(
                f"{stamp}TimeHistory: {took:.2f} seconds, {100 * batch / took:.2f} examples/second "
                f"between steps {100 * n} and {100 * n + 100}"
            )
    first, second = read_sessions(lines, tmp_path)
    facts = facts_of(first)
    assert (facts["model"], facts["devices"], facts["batch_size_of_job"]) == ("efficientnet-b0", 2, 64)
    assert value(first, "sustained") == pytest.approx(320)
    assert value(second, "sustained") == pytest.approx(640)


@pytest.mark.parametrize("tag", ["[1,{}]<stderr>:", ""])
@pytest.mark.parametrize(
    ("line", "format_id"),
    [
        ("I1120 10:{}:{:02}.50{} 14 keras_utils.py:145] {}", "dlperf.tensorflow2_resnet50"),
        ("INFO:tensorflow:Average examples/sec: 640.0 ({speed}), step = {step}", "frameworks.tf_estimator"),
        ("INFO:root:Epoch[0] Batch [{step}]\tSpeed: {speed:.2f} samples/sec\taccuracy=0.5", "frameworks.mxnet_fit"),
    ],
)
def test_speeds_of_the_job_that_processes_print_in_turn(tag: str, line: str, format_id: str, tmp_path: Path) -> None:
    """Each of two processes prints 640 samples per second: its own under Horovod, the job's with a strategy."""
    for ranks in (1, 2):
        lines = []
        for n in range(1, 31):
            for rank in range(ranks):
                speed = 640 + (n + rank) % 4
                told = f"TimeHistory: {6400 / speed:.4f} seconds, {speed:.2f} examples/second "
                told += f"between steps {100 * n - 100} and {100 * n}"
                at = (10 + n // 6, 10 * (n % 6), rank, told)
                lines.append(tag.format(rank) + line.format(*at, speed=speed, step=100 * n))
        session = session_of(lines, tmp_path, format_id)
        if ranks == 1:
            assert value(session, "sustained") == pytest.approx(640, rel=5e-3)
        else:
            assert reason(session, "sustained") == "speed_of_ranks"


def test_caffe_of_2014_names_its_device(tmp_path: Path) -> None:
    """A hundred iterations of 64 images take 6.4 s, of which a clock alone tells."""
    lines = ["I1120 10:00:00.500000  4321 caffe.cpp:113] Use GPU with device ID 0"]
    lines += ["I1120 10:00:01.500000  4321 caffe.cpp:121] Starting Optimization"]
    lines += ["I1120 10:00:01.500000  4321 net.cpp:39] Initializing net from parameters: ", 'name: "LeNet"']
    lines += ["    batch_size: 64", "I1120 10:00:01.500000  4321 net.cpp:39] Initializing net from parameters: "]
    for n in range(31):
        at = 10.5 + 6.4 * n
        stamp = f"I1120 10:{int(at) // 60:02}:{at % 60:09.6f}  4321 solver.cpp:189]"
        lines.append(f"{stamp} Iteration {100 * n}, loss = 0.5")
    session = session_of(lines, tmp_path, "frameworks.caffe")
    facts = {"accumulation": 1} | facts_of(session)
    assert (facts["devices"], facts["batch_size"]) == (1, 64)
    assert value(session, "sustained", **facts) == pytest.approx(1000)


def test_cntk_of_python_and_of_brainscript(tmp_path: Path) -> None:
    """Epochs of 60,000 samples in 3.75 s, of which the first is slow, and minibatches of 12,800 in 2.5 s."""
    begins = "Training 98778 parameters in 10 {}parameter tensors{}"
    lines = [begins.format("", ".")] * 2
    for epoch in range(1, 13):
        took = 21.75 if epoch == 1 else 3.75
        told = f"metric = 3.09% * 60000 {took:.3f}s ({60000 / took:.1f} samples/s);"
        lines.append(f"Finished Epoch[{epoch} of 12]: [Training] loss = 0.250000 * 60000, {told}")
        lines.append(f"Finished Evaluation [{epoch}]: Minibatch[1-11]: metric = 0.54% * 10000;")
    assert value(session_of(lines, tmp_path, "frameworks.cntk"), "sustained") == pytest.approx(16000)
    lines = [begins.format("out of 10 ", " and 12 nodes with gradient:")]
    for epoch in range(1, 6):
        for last in range(100, 500, 100):
            told = "CE = 1.875 * 12800; Errs = 69.320% * 12800; time = 2.5000s; samplesPerSecond = 5120.0"
            at = f"Epoch[{epoch:2} of 5]-Minibatch[{last - 99:4}-{last:4}, {last / 4:.2f}%]"
            lines.append(f"11/20/2026 10:00:00:  {at}: {told}")
        told = f"CE = 1.875 * 51200; Errs = 69.320% * 51200; totalSamplesSeen = {51200 * epoch}; epochTime=11.5s"
        lines.append(f"11/20/2026 10:00:00: Finished Epoch[{epoch:2} of 5]: [Training] {told}")
    assert value(session_of(lines, tmp_path, "frameworks.cntk"), "sustained") == pytest.approx(5120)


def test_other_programs_with_a_speedometer(tmp_path: Path) -> None:
    """SimpleDet and Sockeye print 200 samples per second; Scala's epochs take milliseconds."""
    speed = (
        "Epoch[0] Batch [{}]\tIter: {}/2000\tLr: 0.0025\tSpeed: 200.00 samples/sec\tTrain-RpnAcc=0.9,\tRpnL1=0.25,\t"
    )
    lines = [f"11-20 10:00:00 {speed.format(step, step)}" for step in range(50, 1050, 50)]
    assert value(session_of(lines, tmp_path, "frameworks.mxnet_fit"), "sustained") == pytest.approx(200)
    told = "Epoch[0] Batch [{}]\tSpeed: {:.2f} samples/sec 5000.00 tokens/sec 6.25 updates/sec\tperplexity=9.5"
    speed = f"[INFO:sockeye.training] {told}"
    lines = []
    for step in range(50, 2050, 50):
        lines.append(speed.format(step, 40 if step % 500 == 50 else 200))
        if step % 500 == 0:
            lines.append(f"[INFO:sockeye.training] Checkpoint [{step // 500}]\tUpdates={step} Epoch=0 Samples=16000")
    assert value(session_of(lines, tmp_path, "frameworks.mxnet_fit"), "sustained") == pytest.approx(200)
    speed = "INFO  Callback$Speedometer: Epoch[{}] Batch [{}]\tSpeed: 200.00 samples/sec\tTrain-accuracy=0.5"
    lines = []
    for epoch in range(4):
        lines += [speed.format(epoch, step) for step in range(50, 550, 50)]
        lines.append(f"INFO  BaseModule: Epoch[{epoch}] Time cost=84000")
    found = measured(session_of(lines, tmp_path, "frameworks.mxnet_fit"), ONE | {"nodes": 1}).headline
    assert isinstance(found, Figure)
    assert found.value == pytest.approx(200)


@pytest.mark.parametrize("tag", ["[1,0]<stdout>:", ""])
def test_resnet_of_nvidia_in_a_table_of_numbers(tag: str, tmp_path: Path) -> None:
    """Two programs are started into one file, with 2,048 and 1,024 images per step, and print means."""
    lines = []
    for batch, size in ((2048, 8), (1024, 4)):
        lines += [
            "PY3.6.4 (default)",
            "[GCC 7.2.0]TF1.12.0",
            f"Horovod size: {size}",
            "  Step Epoch Speed   Loss  FinLoss   LR",
        ]
        for step in (1, *range(10, 310, 10)):
            speed = batch / (8 if step == 1 else 0.4)
            lines.append(f"{step:6} {step * batch / 1281167:5.1f} {speed:7.1f} {7 - step / 400:6.3f}  8.125 0.12500")
        lines.append("Finished in 130.25")
    sessions = read_sessions([tag + line for line in lines], tmp_path)
    assert [each.format.id for each in sessions] == ["frameworks.nvcnn"] * 2
    assert [facts_of(each)["devices"] for each in sessions] == [8, 4]
    assert [value(each, "sustained") for each in sessions] == pytest.approx([5120, 2560])


def read_sessions(lines: Sequence[str], folder: Path) -> list[Session]:
    path = folder / "two.log"
    path.write_text("\n".join(lines) + "\n")
    return list(read(path).sessions)
