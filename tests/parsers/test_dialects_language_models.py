"""Logs of language-model, translation and speech trainers as people leave them: figures worked out by hand."""

from __future__ import annotations

from pathlib import Path

import pytest
from test_dialects import ALL, session_of, value

# build-nanogpt


@pytest.mark.parametrize("line", [
    "step: {:4d} | loss: 9.5 | lr: 3.0000e-04 | norm: 1.2500 | dt: {:.2f}ms | tok/sec: {:.2f}",
    "step{} | loss: 9.5 | dt: {:.2f}ms | tok/sec:  {:.2f}",
    "step {:5d} | loss: 9.5 | lr 3.0000e-04 | dt: {:.2f}ms | tok/sec: {:.2f}",
])  # fmt: skip
def test_copies_of_build_nanogpt(line: str, tmp_path: Path) -> None:
    seconds = [0.5 if n % 4 == 3 else 0.25 for n in range(40)]
    lines = [line.format(n, 1000 * took, 16384 / took) for n, took in enumerate(seconds)]
    session = session_of(lines, tmp_path, "frameworks.nanogpt")
    assert value(session, ALL) == pytest.approx(16384 * 40 / (30 * 0.25 + 10 * 0.5))


# Lit-LLaMA


def test_the_speed_of_lit_llama_stands_at_the_end_of_an_update(tmp_path: Path) -> None:
    # Every eighth update takes twice as long as the others.
    lines = []
    for n in range(160):
        speed = f"{4096 if n % 32 == 31 else 8192}" if n % 4 == 3 else "-"
        lines.append(f"iter {n}: loss 9.5000, time: 250.00ms, speed: {speed} toks/s/device")
    session = session_of(lines, tmp_path, "frameworks.litgpt")
    assert value(session, ALL, devices=2) == pytest.approx(2 * 8192 * 8 / 9)


# fairseq


def test_the_first_releases_of_fairseq_print_the_mean_of_the_epoch(tmp_path: Path) -> None:
    # 4000 batches of 1000 tokens a second, then as many at half that speed, which the mean of the epoch hides.
    lines = []
    for epoch in (1, 2, 3):
        for n in range(1, 9):
            passed = min(n, 4) + 2 * max(n - 4, 0)
            mean = 1000 * n / passed
            lines.append(f"| epoch {epoch:03d}  {1000 * n} / 8223 loss=1.27 (1.50), wps={mean:.0f}, wpb=900, bsz=32")
        lines.append(f"| epoch {epoch:03d} | valid on 'valid' subset | valid loss 1.94 | valid ppl 3.83")
    session = session_of(lines, tmp_path, "frameworks.fairseq_old")
    assert value(session, ALL) == pytest.approx(1000 * 8 / 12, rel=0.01)


# PyTorch Lightning


@pytest.mark.parametrize("form", [
    "\rEpoch {epoch}: 100%|##########| 500/500 [01:40<00:00,  5.00it/s, loss=0.625, v_num=0]",
    "\rEpoch {epoch}: 100% 500/500 [01:40<00:00,  5.00it/s, loss=0.625, v_num=0]",  # narrow, or in a notebook
    "\nEpoch {epoch}    --------------------------- 500/500 0:01:40 \u2022 0:00:00 5.00it/s loss: 0.625 v_num: 0",
])  # fmt: skip
def test_bars_of_lightning_as_screens_draw_them(form: str, tmp_path: Path) -> None:
    drawn = "".join(form.format(epoch=epoch) * 2 for epoch in range(4))
    session = session_of([drawn], tmp_path, "frameworks.lightning")
    assert value(session, ALL, devices=2, batch_size=16) == pytest.approx(160, rel=0.01)
