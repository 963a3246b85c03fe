"""What trainers of PyTorch print where they are disturbed: lines like theirs, with figures worked out by hand."""

from __future__ import annotations

from pathlib import Path

import pytest
from test_dialects import ALL, facts_of, session_of, value

from ingest.compute.measurement import measured
from parsers.engine.read import read
from schema.records import Figure, NoFigure

ONE = {"devices": 1, "batch_size": 8}


def bar(epoch: int, done: int, total: int, took: str, rate: str, more: str = "") -> str:
    return f"Epoch {epoch}: {100 * done // total:3}%|##########| {done}/{total} [{took}<00:00, {rate:>9}{more}]"


# PyTorch Lightning


def test_the_time_of_a_slow_epoch_tells_more_than_a_rate_of_two_decimals(tmp_path: Path) -> None:
    # 40 steps of 75 s: 0.0133 per second are printed as 0.01, which is 100 s.
    lines = [bar(epoch, 40, 40, "50:00", "0.01it/s") for epoch in range(3)]
    session = session_of(lines, tmp_path, "frameworks.lightning")
    assert value(session, ALL, **ONE) == pytest.approx(8 * 40 / 3000.5)


def test_a_rate_tells_more_than_the_seconds_of_a_short_epoch(tmp_path: Path) -> None:
    lines = [bar(epoch, 60, 60, "00:24", "2.50it/s") for epoch in range(3)]
    session = session_of(lines, tmp_path, "frameworks.lightning")
    assert value(session, ALL, **ONE) == pytest.approx(8 * 2.5)


@pytest.mark.parametrize("warning", [[], ["/opt/loops.py:180: UserWarning: you are resuming", "  rank_zero_warn("]])
def test_a_bar_that_begins_within_an_epoch_counts_the_steps_since_then(warning: list[str], tmp_path: Path) -> None:
    # Of 300 steps 99 were done before: 201 took 100.5 s, which the bar takes for 2.99 steps per second.
    lines = [
        "Epoch 0:   0%|          | 0/300 [00:00<?, ?it/s]", *warning,
        bar(0, 100, 300, "00:00", "200.00it/s"), bar(0, 200, 300, "00:50", "3.96it/s"),
        bar(0, 300, 300, "01:40", "2.99it/s"),
    ]  # fmt: skip
    session = session_of(lines, tmp_path, "frameworks.lightning")
    assert value(session, ALL, **ONE) == pytest.approx(8 * 2.99 * 201 / 300)


def test_a_bar_that_is_drawn_every_hundred_fast_steps_begins_with_the_epoch(tmp_path: Path) -> None:
    lines = [
        "Epoch 0:   0%|          | 0/9000 [00:00<?, ?it/s]", bar(0, 100, 9000, "00:00", "150.00it/s"),
        bar(0, 9000, 9000, "01:00", "150.00it/s"),
    ]  # fmt: skip
    session = session_of(lines, tmp_path, "frameworks.lightning")
    assert value(session, ALL, **ONE) == pytest.approx(8 * 150)


@pytest.mark.parametrize(
    ("before", "stated"),
    [(bar(0, 60, 80, "00:30", "2.00it/s", ", loss=0.5"), True), (bar(0, 60, 60, "00:30", "2.00it/s"), False)],
)
def test_a_validation_within_an_epoch_is_in_the_time_of_its_bar(before: str, stated: bool, tmp_path: Path) -> None:
    validation = [
        "\rValidation: 0it [00:00, ?it/s]",
        "\rValidation DataLoader 0: 100%|#| 20/20 [00:04<00:00,  5.00it/s]",
    ]
    lines = [before, *validation, bar(0, 80, 80, "00:34", "2.35it/s")]
    session = session_of(lines, tmp_path, "frameworks.lightning")
    assert facts_of(session).get("validation") == ("included" if stated else None)


def rich(done: int, total: int, took: str, rate: str) -> str:
    return f"Epoch 2/2  ━━━━━━━━━━━━━━━━ {done}/{total} {took} • 0:00:00 {rate}it/s "


@pytest.mark.parametrize(
    ("took", "rate", "seconds"),
    [
        ("0:00:39", "1.58", 39.5 / 60),  # Stalls before the last half minute.
        ("0:00:20", "3.00", 1 / 3),  # The rate is of the whole epoch.
        ("0:00:39", "1.00", 1.0),  # Of the 60 steps some were done before the run was resumed.
    ],
)
def test_the_bar_of_rich_tells_the_time_of_an_epoch(took: str, rate: str, seconds: float, tmp_path: Path) -> None:
    session = session_of([rich(60, 60, took, rate)], tmp_path, "frameworks.lightning")
    assert value(session, ALL, **ONE) == pytest.approx(8 / seconds)


def test_a_validation_within_an_epoch_is_in_its_time_by_rich(tmp_path: Path) -> None:
    validation = "Validation ━━━━━━━━━━━━━━━━ 3/10 0:00:00 • 0:00:02 5.00it/s "
    lines = [rich(15, 60, "0:00:07", "2.00"), validation, rich(60, 60, "0:00:36", "1.70")]
    session = session_of(lines, tmp_path, "frameworks.lightning")
    assert facts_of(session)["validation"] == "included"


@pytest.mark.parametrize(("done", "stated"), [(30, "included"), (60, None)])
def test_a_metric_of_a_validation_before_the_first_epoch_is_over(done: int, stated: str | None, tmp_path: Path) -> None:
    row = f"Epoch 0/2  ━━━━━━━━━━━━━━━━ {done}/60 0:00:19 • 0:00:20 1.57it/s train_loss: 0.106 val_loss: 0.182"
    session = session_of([row, rich(60, 60, "0:00:36", "1.70")], tmp_path, "frameworks.lightning")
    assert facts_of(session).get("validation") == stated


# MMEngine


def test_an_evaluation_of_mmengine_is_in_no_record(tmp_path: Path) -> None:
    # 10 iterations of 0.5 s, and an evaluation of 20 s behind each record: only the clocks of the lines hold it.
    lines: list[str] = []
    at = 0
    for step in range(10, 310, 10):
        for took, told in (
            (
                5,
                f"Iter(train) [{step:5}/300]  lr: 1.0000e-02  eta: 0:00:30  time: 0.5000  data_time: 0.0010  loss: 0.5",
            ),
            (20, "Iter(val) [20/20]    mIoU: 70.5000  data_time: 0.0010  time: 1.0000"),
        ):
            at += took
            lines.append(f"2026/11/20 12:{at // 60:02}:{at % 60:02} - mmengine - INFO - {told}")
    session = session_of(lines, tmp_path, "frameworks.mmseg")
    found = measured(session, facts_of(session) | ONE).headline
    assert isinstance(found, Figure), found
    assert found.value == pytest.approx(16)


def test_a_checkpoint_of_mmengine_is_no_training(tmp_path: Path) -> None:
    # 10 iterations of 0.5 s; the checkpoint at 50 takes 20 s of the record of 60, and the clock of all.
    lines: list[str] = []
    at = 0
    for step in range(10, 310, 10):
        stopped = step % 50 == 10 and step > 50
        at += 5 + 20 * stopped
        head = f"2026/11/20 12:{at // 60:02}:{at % 60:02} - mmengine - INFO - "
        lines.append(
            f"{head}Iter(train) [{step:5}/300]  lr: 1.0000e-02  eta: 0:00:30  time: {2.5 if stopped else 0.5:.4f}  "
            "data_time: 0.0010  loss: 0.5000"
        )
        if step % 50 == 0:
            lines.append(f"{head}Saving checkpoint at {step} iterations")
    session = session_of(lines, tmp_path, "frameworks.mmseg")
    found = measured(session, facts_of(session) | ONE).headline
    assert isinstance(found, Figure), found
    assert found.value == pytest.approx(16)


# MMCV


def test_what_takes_time_between_epochs_is_nothing_that_a_clock_contradicts(tmp_path: Path) -> None:
    # Five records of 10 iterations, of 0.5 s each, per epoch; its evaluation takes 6 s, and the timer begins anew.
    lines, at = [], 0
    for epoch in range(1, 7):
        for step in range(10, 60, 10):
            at += 5
            clock = f"2026-11-20 12:{at // 60:02}:{at % 60:02},000"
            lines.append(
                f"{clock} - mmdet - INFO - Epoch [{epoch}][{step}/50]\tlr: 1.000e-02, eta: 0:00:30, time: 0.500, "
                "data_time: 0.001, loss: 0.5000"
            )
        at += 6
        lines.append(
            f"2026-11-20 12:{at // 60:02}:{at % 60:02},000 - mmdet - INFO - Epoch(val) [{epoch}][20]\tbbox_mAP: 0.5"
        )
    session = session_of(lines, tmp_path, "frameworks.mmseg")
    found = measured(session, facts_of(session) | ONE).headline
    assert isinstance(found, Figure), found
    assert found.value == pytest.approx(16)


# fairseq


def test_a_pause_after_an_update_of_fairseq_is_in_the_record_after_the_one_that_is_drawn_next(tmp_path: Path) -> None:
    # 10 updates of 1000 tokens take 5 s. What is told of update 50 is drawn behind its validation, which took 20 s.
    def drawn(done: int, told: int) -> str:
        seconds = 25 if told % 50 == 10 and told > 50 else 5
        return (
            f"\repoch 001:  {done // 3:2}%|## | {done}/300 [00:30<00:30, 2.00it/s, loss=1, wps={10_000 / seconds:.1f}, "
            f"ups=2, wpb=1000, bsz=8, num_updates={told}, lr=0.1, train_wall=5, wall=30]"
        )

    lines = []
    for told in range(10, 300, 10):
        if told % 50 == 0:
            lines.append(
                "2026-11-20 09:11:00 | INFO | valid | epoch 001 | valid on 'valid' subset | loss 4 | wps 9 | wpb 8"
            )
        lines += [drawn(done, told) for done in range(told, told + 10, 3)]
    session = session_of(lines, tmp_path, "frameworks.fairseq")
    assert value(session, "sustained", devices=1) == pytest.approx(2000)


# OLMo-core


@pytest.mark.parametrize(("seconds", "agrees"), [(0.5, True), (0.75, False)])
def test_lines_that_are_kept_and_printed_together_are_held_against_the_clock_together(
    seconds: float, agrees: bool, tmp_path: Path
) -> None:
    # Steps of 0.5 s, each 17th of 3.5 s, are printed five at a time. A clock of half as much again contradicts.
    lines: list[str] = []
    kept: list[tuple[int, float]] = []
    at = total = 0.0
    for step in range(1, 201):
        took = 3.5 if step % 17 == 0 else 0.5
        at, total = at + took * seconds / 0.5, total + took * (step > 40)
        kept.append((step, took))
        if step % 5 == 0:
            stamp = f"2026-03-02 09:{int(at) // 60:02}:{at % 60:06.3f}"
            for number, each in kept:
                lines.append(f"{stamp}\thost:0\tolmo_core.train:149\tINFO\t[step={number}/200,epoch=1]")
                lines.append(f"    throughput/device/TPS={16384 / each:,.3f}\n    throughput/device/BPS={1 / each:.4f}")
            kept = []
    session = session_of(lines, tmp_path, "frameworks.olmo_core")
    found = measured(session, facts_of(session) | {"devices": 1}).headline
    if agrees:
        assert isinstance(found, Figure), found
        assert found.value == pytest.approx(16384 * 160 / total, rel=1e-3)
    else:
        assert isinstance(found, NoFigure)
        assert (found.reason.code, found.reason.args["witness"]) == ("withheld", "clock")


@pytest.mark.parametrize(
    "bar", [b"\rGet: 100%|##########| 44M/44M [00:02<00:00, 22.0MB/s]\r\n", b" 10%|# | 1/9\r 20%|## | 2/9\r"]
)
@pytest.mark.parametrize("format_id", ["frameworks.env_steps", "frameworks.chainer", "frameworks.nvlog"])
def test_a_bar_within_a_record_of_several_lines_hides_no_record(format_id: str, bar: bytes, tmp_path: Path) -> None:
    path, names = tmp_path / "train.log", ("step", "throughput", "clock")
    text = (Path(__file__).parents[1] / "golden" / format_id / "made-up.log").read_bytes()
    found = []
    for each in (text, b"\n".join(bar + line for line in text.split(b"\n"))):
        path.write_bytes(each)
        found.append([
            {name: each.records[0][name].tolist() for name in names if name in each.records[0].columns}
            for each in read(path).sessions
        ])  # fmt: skip
    assert found[0] == found[1]
    assert any(len(each) > 1 for each in found[0][0].values())


def test_a_bar_of_chainer_that_lost_its_rate_takes_none_of_the_next(tmp_path: Path) -> None:
    text = (Path(__file__).parents[1] / "golden" / "frameworks.chainer" / "made-up.log").read_bytes()
    (tmp_path / "whole.log").write_bytes(text)
    lines = text.split(b"\n")
    lost = [at for at, line in enumerate(lines) if b" iters/sec" in line][3]
    (tmp_path / "lost.log").write_bytes(b"\n".join(lines[:lost] + lines[lost + 1 :]))
    (whole,), (less,) = (read(tmp_path / name).sessions for name in ("whole.log", "lost.log"))
    steps = whole.main["step"].tolist()
    assert less.main["step"].tolist() == steps[:2] + steps[3:]
