"""Detectors of 2017 to 2019 and what was made of them: lines whose time per step was known; by hand."""

from __future__ import annotations

from pathlib import Path

import pytest
from test_dialects import facts_of, log_of, session_of, value

ARGUMENTS = (
    "Namespace(batch_size={}, cuda=True, dataset='tiny', disp_interval=100, mGPUs=False, max_epochs=4, net='vgg16')"
)


def epochs(first: int, last: int, seconds: float, told: str = "lr: 1.00e-03\n\t\t\tfg/bg=(32/96), ") -> list[str]:
    """Return epochs of 1,040 steps, of which the first of each takes 30 s longer."""
    lines = []
    for epoch in range(first, last + 1):
        for step in range(0, 1040, 100):
            took = seconds * 100 if step else seconds + 30
            lines.append(f"[session 1][epoch {epoch:2}][iter {step:4}/1040] loss: 1.2500, {told}time cost: {took:.6f}")
            lines.append("\t\t\trpn_cls: 0.6445, rpn_box: 0.2561, rcnn_cls: 0.5042, rcnn_box 0.6625")
        lines.append(f"save model: models/vgg16/tiny/faster_rcnn_1_{epoch}_1039.pth")
    return lines


def test_faster_rcnn_in_pytorch_was_started_anew_with_another_batch(tmp_path: Path) -> None:
    """Steps of four images in 0.5 s, then of one image in 0.2 s; the first line of an epoch is of one step."""
    head = ["Called with args:", ARGUMENTS.format(4)]
    again = ["Called with args:", ARGUMENTS.format(1)]
    first, second = log_of([*head, *epochs(1, 4, 0.5), *again, *epochs(1, 4, 0.2)], tmp_path).sessions
    assert facts_of(first)["devices"] == 1
    assert value(first, "median") == pytest.approx(8)
    # The last three of the eleven lines of the first epoch count, and all of the three others, of 1,001 steps.
    assert value(first, "sustained") == pytest.approx(4 * 3303 / (3303 * 0.5 + 90))
    assert value(second, "median") == pytest.approx(5)


def test_faster_rcnn_of_two_domains_without_a_head(tmp_path: Path) -> None:
    told = "loss_sup: 0.0000, lr: 3.00e-03\n\t\t\tfg/bg=(15/241), "
    session = session_of(epochs(2, 3, 0.25, told)[7:], tmp_path, "frameworks.faster_rcnn")
    assert value(session, "median", batch_size_of_job=1) == pytest.approx(4)


def test_faster_rcnn_times_are_those_since_the_last_line_that_was_printed(tmp_path: Path) -> None:
    """Lines that are missing leave no time behind, and a bar may be drawn over and over before the time."""
    lines = [ARGUMENTS.format(4), *epochs(1, 4, 0.5)]
    drawn = [each.replace("\t\t\tfg/bg", "\n 10%|# | 1/9\r 20%|## | 2/9\r\t\t\tfg/bg") for each in lines]
    missing = [each for each in lines if not any(f"[iter {step:4}/" in each for step in (200, 500, 600))]
    figures = [
        value(session_of(each, tmp_path, "frameworks.faster_rcnn"), "sustained") for each in (lines, drawn, missing)
    ]
    assert figures[0] == pytest.approx(4 * 3303 / (3303 * 0.5 + 90))
    assert figures[1] == figures[0]
    assert figures[2] == pytest.approx(4 * 2403 / (2403 * 0.5 + 90), rel=0.02)
