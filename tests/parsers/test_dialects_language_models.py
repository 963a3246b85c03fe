"""Logs of language-model, translation and speech trainers as people leave them: figures worked out by hand."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator
from pathlib import Path

import pytest
from test_dialects import ALL, facts_of, log_of, metrics_of, reason, session_of, value

from ingest.compute.witnesses import measured

BEGUN = dt.datetime(2026, 11, 20, 10)


def at(seconds: float, pattern: str = "%Y-%m-%d %H:%M:%S") -> str:
    return f"{BEGUN + dt.timedelta(seconds=seconds):{pattern}}"


def bar(seconds: float) -> str:
    """Return the time as tqdm prints it, cut to whole seconds."""
    minutes, rest = divmod(int(seconds), 60)
    return f"{minutes // 60}:{minutes % 60:02d}:{rest:02d}" if minutes >= 60 else f"{minutes:02d}:{rest:02d}"


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


# Marian


def marian(runs: int = 1) -> Iterator[str]:
    """Yield runs of 20 lines of 100 s; every fifth line is behind a minute of validation."""
    now = 0
    for _ in range(runs):
        yield f"[{at(now)}] [marian] Marian v1.7.6 9cc5b17 2018-12-14 15:11:34 -0800"
        yield from (f"[{at(now)}] [config] {each}" for each in ("devices:", "  - 0", "  - 1", "dim-vocabs:", "  - 0"))
        now += 30
        for n in range(1, 21):
            took = 160 if n % 5 == 1 and n > 1 else 100
            now += took - 60 * (took > 100)
            done = f"Ep. 1 : Up. {500 * n} : "
            speed = f"Time {took}.00s : {1e6 / took:.2f} words/s : L.r. 1e-04"
            yield f"[{at(now)}] {done}Sen. {64000 * n:,} : Cost 4.5 : {speed}"
            if n % 5 == 0:
                yield f"[{at(now)}] Saving model weights and runtime parameters to model/model.npz"
                now += 60
                yield f"[{at(now)}] [valid] {done}cross-entropy : 57.25 : new best"


def test_the_validations_that_marian_times_are_no_training(tmp_path: Path) -> None:
    session = session_of(list(marian()), tmp_path, "frameworks.marian")
    assert facts_of(session)["devices"] == 2
    assert value(session, "sustained") == pytest.approx(10000)
    found = measured(session, facts_of(session))
    assert next(each for each in found.witnesses if each.kind == "clock").verdict == "agrees"


def test_marian_announces_each_run(tmp_path: Path) -> None:
    log = log_of(list(marian(runs=2)), tmp_path)
    assert [value(each, "sustained") for each in log.sessions] == pytest.approx([10000, 10000])


# OpenNMT-py


OPENNMT = "Step {n:2d}/ 2000; acc: {acc:6.2f}; ppl:  8.43; xent: 2.13; lr: 0.00066; "
OPENNMT_SPEEDS = "{src:3.0f}/{tgt:3.0f} tok/s; {now:6.0f} sec"
OPENNMT_EPOCH = "Epoch  1, {n:5d}/ 2000; acc: {acc:6.2f}; ppl: 8.43;"


@pytest.mark.parametrize("told", [
    OPENNMT + OPENNMT_SPEEDS,
    OPENNMT + "sents:   12800; bsz: 1500/ 900/ 8; " + OPENNMT_SPEEDS + ";",
    OPENNMT_EPOCH + "{src:3.0f} src tok/s; {tgt:3.0f} tgt tok/s; {now:6.0f} s elapsed",
])  # fmt: skip
@pytest.mark.parametrize("stamp", [True, False])
def test_opennmt_counts_the_target_and_no_validation(told: str, stamp: bool, tmp_path: Path) -> None:
    lines, now, validated = [], 0, 0
    for n in range(1, 41):
        took, now, validated = 10 + validated, now + 10, 0
        line = told.format(n=50 * n, acc=51.25, src=80000 / took, tgt=70000 / took, now=now)
        lines.append(f"[{at(now)},500 INFO] " * stamp + line)
        if n % 5 == 0:
            now, validated = now + 20, 20
            lines.append(f"[{at(now)},500 INFO] " * stamp + "Validation perplexity: 12.5")
    assert value(session_of(lines, tmp_path, "frameworks.opennmt"), "sustained") == pytest.approx(7000)


# JoeyNMT


def joeynmt(since_epoch: bool) -> Iterator[str]:
    """Yield four epochs of ten lines of 10 s and 70000 tokens, every third of them in 8 s."""
    now = 0.0
    for epoch in range(1, 5):
        for n in range(1, 11):
            took = 8 if n % 3 == 0 else 10
            now += took
            step = 100 * (10 * epoch - 10 + n)
            speed = f"Tokens per Sec: {70000 * (n if since_epoch else 1) / took:8.0f}"
            yield f"{at(now)},500 Epoch {epoch:3d} Step: {step:8d} Batch Loss: 4.5 {speed}, Lr: 0.000300"


def test_joeynmt(tmp_path: Path) -> None:
    session = session_of(list(joeynmt(since_epoch=False)), tmp_path, "frameworks.joeynmt")
    assert value(session, ALL) == pytest.approx(70000 * 10 / 94, rel=1e-3)


def test_tokens_of_an_epoch_over_the_seconds_of_a_line_are_no_speed(tmp_path: Path) -> None:
    assert reason(session_of(list(joeynmt(since_epoch=True)), tmp_path, "frameworks.joeynmt")) == "no_records"


# Transformer-XL, and the language models of PyTorch's examples


def test_the_evaluation_that_transformer_xl_times_is_no_training(tmp_path: Path) -> None:
    lines = ["    - data : data/wikitext-103", "    - batch_size : 60", "    - tgt_len : 150", "    - max_step : 10000"]
    for n in range(1, 41):
        ms = 250 + 100 * (n % 10 == 1 and n > 1)  # 200 batches, and 20 s of evaluation
        step = f"step {200 * n:8d} |"
        lines.append(
            f"| epoch   1 {step} {200 * n:6d} batches | lr 0.00025 | ms/batch {ms:.2f} | loss  6.54 | ppl 692.291"
        )
        if n % 10 == 0:
            lines += ["-" * 100, f"| Eval {n // 10:3d} at {step} time: 20.50s | valid loss  4.50 | valid ppl    90.017"]
    session = session_of(lines, tmp_path, "frameworks.language_model")
    assert facts_of(session)["sequence_length"] == 150
    assert value(session, "sustained") == pytest.approx(240)


# ESPnet2


def espnet(accumulated: int) -> Iterator[str]:
    """Yield three epochs of 2000 batches of an eighth of a second, and a minute and a half between them."""
    now = 0.0
    for epoch in (1, 2, 3):
        now += 90
        for n in range(1, 21):
            now += 12.5
            yield (
                f"[host:0/2] {at(now)},{round(now % 1 * 1000):03d} (trainer:753) INFO: "
                f"{epoch}epoch:train:{100 * n - 99}-{100 * n}batch: iter_time=1.250e-04, loss=153.500, "
                f"optim0_lr0=1.007e-05, train_time={accumulated / 8:.3f}"
            )


@pytest.mark.parametrize("accumulated", [1, 4])
def test_the_dates_of_espnet_tell_the_batches_of_an_update(accumulated: int, tmp_path: Path) -> None:
    session = session_of(list(espnet(accumulated)), tmp_path, "frameworks.espnet")
    assert metrics_of(session)["latency"].value == pytest.approx(125)  # type: ignore[union-attr]
    assert value(session, ALL, devices=2, batch_size=16) == pytest.approx(256)


def test_without_dates_espnet_tells_no_time_of_a_batch(tmp_path: Path) -> None:
    lines = [each.partition("INFO: ")[2] for each in espnet(4)]
    assert reason(session_of(lines, tmp_path, "frameworks.espnet"), devices=2, batch_size=16) == "coarse_seconds"


# Coqui's trainer


@pytest.mark.parametrize(("bold", "plain"), [("\x1b[1m", "\x1b[0m"), ("[1m", "[0m"), ("", "")])
def test_the_dates_of_coqui_tell_the_time_of_a_batch(bold: str, plain: str, tmp_path: Path) -> None:
    # Epochs of 110 batches of half a second, and 20 s of evaluation behind each.
    lines, now = [], 0.0
    for epoch in range(6):
        lines += [f"{bold} > EPOCH: {epoch}/100{plain}", f"{bold} > TRAINING ({at(now)}) {plain}"]
        for n in range(110):
            now += 0.5
            if n % 20 == 0:
                told = f"--> TIME: {at(now)} -- STEP: {n}/110 -- GLOBAL_STEP: {110 * epoch + n}"
                lines += [f"{bold}   {told}{plain}", "     | > step_time: 0.25000  (0.25000)", ""]
        now += 20
        lines += [f"{bold} > EVALUATION {plain}", f"  {bold}--> EVAL PERFORMANCE{plain}", " > BEST MODEL : best.pth"]
    session = session_of(lines, tmp_path, "frameworks.coqui")
    assert value(session, "sustained", devices=1, batch_size=16) == pytest.approx(32, rel=0.01)


# NeMo


@pytest.mark.parametrize("more", [", iteration_time=1.20", ", val_loss=7.050", ""])
def test_bars_of_nemo_without_a_timing(more: str, tmp_path: Path) -> None:
    # A step takes a second and a quarter, a validation behind every hundredth ten seconds.
    now, drawn = 0.0, ["global_batch_size: 256\n"]
    for n in range(1, 601):
        now += 1.25
        drawn += [
            f"\rEpoch 0:  22%|##1   | {n}/20101 [{bar(now)}<7:48:37,  1.25s/it, loss=2.43, v_num=5, "
            f"reduced_train_loss=2.500, global_step={step}.0, consumed_samples=1.5e+5{more}]"
            for step in (n - 1, n)
        ]
        if n % 100 == 0:
            drawn += [f"\rValidating:  {k}0%|# | {k}/10 [00:{k:02d}<00:00,  1.00s/it]" for k in range(1, 11)]
            now += 10
    session = session_of(["".join(drawn)], tmp_path, "frameworks.nemo_bar")
    assert value(session, "sustained") == pytest.approx(256 / 1.25, rel=0.005)


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
