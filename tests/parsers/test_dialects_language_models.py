"""Logs of language-model, translation and speech trainers as people leave them: figures worked out by hand."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator
from pathlib import Path

import pytest
from test_dialects import ALL, facts_of, log_of, metrics_of, reason, session_of, value

from ingest.compute.measurement import measured
from ingest.compute.second_run import second_run
from parsers.engine.read import read
from schema.records import Figure, NoFigure

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
    "step {:4d} | loss: 9.5 | time: {:.2f}ms | norm: 1.2500 | speed: {:.2f} tokens/sec",
    "step {}, loss 9.5 | dt: {:.2f} ms | norm: 1.25 | Tokens per second: {:.2f} | tokens processed: 16384",
    "step:{:4d} | loss: 9.5 | lr :0.0003 | time: {:.4f}ms | norm: 1.2500 | token/sec:{:.4f}",
    "epoch 1 | step {} | train loss: 9.5 | norm: 1.2500 | dt: {:.2f}ms | tok/sec: {:,.2f} | total toks: 1,234,567",
    "2026-11-20 10:00:00 | Step {} | Loss: 9.5 | Time: {:.2f}ms | lr: 3.0e-04 | {:,.0f} tok/s | mem: 1.5GB",
    "step {:05d}/00040 (2.5%) | loss: 9.5000 | dt: {:.0f}ms | tok/s: {:,.0f} | mfu: 40.0% | epoch: 1 | eta: 1.0m",
    "iter {:4d} | loss: 9.5 | dt: {:.2f}ms | tok/sec: {:.2f}",
    "iter {}: loss 9.5000, time {:.2f}ms, mfu 40.00%, tok/s {:.0f}",
    "[rank0] Iter {} | loss 9.5 | norm 1.25 | dt {:.2f} ms | {:,.0f} tokens/s",
])  # fmt: skip
def test_copies_of_build_nanogpt(line: str, tmp_path: Path) -> None:
    seconds = [0.5 if n % 4 == 3 else 0.25 for n in range(40)]
    lines = [line.format(n, 1000 * took, 16384 / took) for n, took in enumerate(seconds)]
    session = session_of(lines, tmp_path, "frameworks.nanogpt")
    assert value(session, ALL) == pytest.approx(16384 * 40 / (30 * 0.25 + 10 * 0.5))


@pytest.mark.parametrize("speed", ["{:,.0f} tok/s/gpu", "{:,.0f} tokens/s per GPU", "tok/s: {:.0f} (per device)"])
def test_a_speed_of_one_device_in_a_copy_is_none_of_the_job(speed: str, tmp_path: Path) -> None:
    lines = [f"step {n} | loss 9.5 | dt: {250 + n % 3:.2f}ms | {speed.format(65536 - n)}" for n in range(40)]
    log = log_of(["total desired batch size: 131072", *lines], tmp_path)
    assert not any(len(each.main) for each in log.sessions)


def test_a_speed_per_millisecond_is_none(tmp_path: Path) -> None:
    # 16384 tokens in a quarter of a second are 65.536 in a thousandth of that: no step has so many.
    lines = [
        f"step {n} | loss: 9.5 | dt: {250 + n / 100:.2f}ms | tok/sec: {16384 / (250 + n / 100):.2f}" for n in range(40)
    ]
    assert reason(session_of(lines, tmp_path, "frameworks.nanogpt")) == "no_tokens_per_step"
    stated = ["total desired batch size: 16384", *lines]
    found = session_of(stated, tmp_path, "frameworks.nanogpt")
    assert [each.verdict for each in measured(found, facts_of(found)).witnesses if each.kind == "arithmetic"] == [
        "disagrees"
    ]


def test_seconds_since_the_start_are_of_no_step(tmp_path: Path) -> None:
    # A quarter of a second each, and half a minute between two of them that no speed shows.
    lines = [
        f"step {n} | loss: 9.5 | time: {n / 4 + 30 * (n > 60):.2f}s | tok/sec: {65536 + n % 2}" for n in range(1, 101)
    ]
    found = session_of(lines, tmp_path, "frameworks.nanogpt")
    assert value(found) == pytest.approx(65536, rel=1e-4)


def test_a_speed_since_the_start_is_undone(tmp_path: Path) -> None:
    # Half a minute for the first step, a quarter of a second for the others, and half of one for every fourth.
    lines, seconds = [], 30.0
    for n in range(1, 101):
        seconds += 0.5 if n % 4 == 0 else 0.25
        lines.append(f"step {n} | loss: 9.5 | time: {seconds:.2f}s | tok/sec: {16384 * n / seconds:.2f}")
    session = session_of(lines, tmp_path, "frameworks.nanogpt")
    assert value(session, "sustained") == pytest.approx(16384 / 0.3125, rel=0.01)


@pytest.mark.parametrize("line", [
    "iter {}: loss 4.2500, lr 6.00e-04, time {:.2f}ms, mfu 12.30%",
    "iter {}: train loss 4.2500, time {:.2f}ms, mfu 12.30%, cuda memory 0.499G, total time 1.30s",
    "{} | loss 4.2500 | lr 3.000000e-04 | {:.2f}ms | mfu 12.30%",
    "{} | loss 4.2500 | kl 0.1250 | lr 3.000000e-04 | {:.2f}ms | mfu 12.30%",
    "step {:5d} | loss: 4.2500 | lr 3.0000e-04 | norm: 1.2500 | dt: {:.2f}ms",
    "iter {}/600: loss 4.2500, lr 0.0006, time {:.2f} ms, mfu 12.30%",
    "Iter {}: loss 4.2500, time {:.2f}ms, mfu 12.30%",
])  # fmt: skip
def test_copies_of_nanogpt_that_print_the_milliseconds_alone(line: str, tmp_path: Path) -> None:
    lines = [
        "tokens per iteration will be: 65,536",
        "breaks down as: 4 grad accum steps * 2 processes * 32 batch size * 256 max seq len",
        *(line.format(n, 500 if n % 4 == 3 else 250) for n in range(40)),
    ]
    session = session_of(lines, tmp_path, "frameworks.nanogpt")
    assert value(session, ALL) == pytest.approx(65536 * 40 / (30 * 0.25 + 10 * 0.5))
    stated = facts_of(session)
    assert [stated[name] for name in ("devices", "batch_size", "accumulation", "sequence_length")] == [2, 32, 4, 256]


@pytest.mark.parametrize(("head", "line"), [
    (["    batch_size: 64", "running on device cuda"], "iter_dt {1:.2f}ms; iter {0}: train loss 1.23456"),
    (["{'work_dir': 'out', 'device': 'cuda', 'batch_size': 64}"], "step {0} | loss 2.3456 | step time {1:.2f}ms"),
])  # fmt: skip
def test_mingpt_and_makemore_print_the_milliseconds_of_a_batch(head: list[str], line: str, tmp_path: Path) -> None:
    lines = [*head, *(line.format(10 * n, 50 if n % 4 == 0 else 25) for n in range(1, 41))]
    session = session_of(lines, tmp_path, "frameworks.nanogpt")
    assert value(session, ALL) == pytest.approx(64 * 40 / (30 * 0.025 + 10 * 0.05))


# Lit-LLaMA


def test_the_speed_of_lit_llama_stands_at_the_end_of_an_update(tmp_path: Path) -> None:
    # Every eighth update takes twice as long as the others.
    lines = []
    for n in range(160):
        speed = f"{4096 if n % 32 == 31 else 8192}" if n % 4 == 3 else "-"
        lines.append(f"iter {n}: loss 9.5000, time: 250.00ms, speed: {speed} toks/s/device")
    session = session_of(lines, tmp_path, "frameworks.litgpt")
    assert value(session, ALL, devices=2) == pytest.approx(2 * 8192 * 8 / 9)


@pytest.mark.parametrize(("said", "stated"), [
    ("'devices': 4, 'micro_batch_size': 8", {"devices": 4}),
    ("'num_of_devices': 16, 'micro_batch_size': 8", {"devices": 16}),
    ("'devices': 4, 'micro_batch_size': 8, 'num_nodes': 2", {"devices_per_node": 4, "nodes": 2}),
])  # fmt: skip
def test_litgpt_names_nodes_where_it_can_have_several(said: str, stated: dict[str, int], tmp_path: Path) -> None:
    lines = [f"{{'seed': 1337, {said}}}"]
    lines += [f"iter {n} step {n}: loss 8.8, iter time: 250.00ms (optimizer.step)" for n in range(40)]
    facts = facts_of(session_of(lines, tmp_path, "frameworks.litgpt"))
    assert {name: facts.get(name) for name in ("devices", *stated)} == {"devices": None, **stated}


@pytest.mark.parametrize("line", [
    "Epoch 1 | iter {} | step {}: loss train: 2.500, val: n/a | iter time: {:.2f} ms{}",
    "Epoch 1 | iter {} | step {}: loss train: 2.500, val: 2.625 | iter time: {:.2f} ms{}, remaining time: 1.20 days",
    "Epoch 1 | iter {} step {} | loss train: 2.500, val: n/a | grad_norm: 0.5 | lr: 3.0e-04 | iter time: {:.2f} ms{}",
    "[iter {} step {}]: loss 2.5000, lr 3.0000000000E-04, iter time: {:.2f}ms{}",
])  # fmt: skip
def test_lines_of_litgpt_between_its_first_and_its_present_ones(line: str, tmp_path: Path) -> None:
    lines = ["{'devices': 2, 'num_nodes': 1, 'precision': 'bf16-true', 'global_batch_size': 16, 'micro_batch_size': 4}"]
    lines += [line.format(n, n // 2, 290 if n % 2 == 0 else 250, " (step)" * (n % 2 == 0)) for n in range(1, 41)]
    session = session_of(lines, tmp_path, "frameworks.litgpt")
    assert value(session, ALL, devices=2, batch_size=4) == pytest.approx(16 / 0.54)


# NeMo Automodel


def automodel(head: list[str], copies: int | None, end: str, lie: float = 1.0) -> list[str]:
    """Return a log of 262,144 tokens a second, in brackets shared by so many copies of the model, or by none."""
    lines = ["2026-11-20 10:00:00 | INFO | root | World size: 8", *head]
    for n in range(40):
        speed = 262144 / (1 + n % 4)
        each = f"({speed / copies:.2f}/gpu)" if copies else ""
        lines.append(f"step {n} | epoch 0 | loss 1.88 | lr 1e-05 | mem 40.25 GiB | tps {speed * lie:.2f}{each} | {end}")
    return lines


@pytest.mark.parametrize(("head", "copies", "end"), [
    (["  tp_size: 2", "  cp_size: 1"], 4, "num_label_tokens 32768"),
    (["  tp_size: 2", "  pp_size: 2"], 2, "num_label_tokens 32768"),
    (["  tp_size: 1", "  cp_size: 2"], 8, "num_label_tokens 32768"),
    (["  tp_size: 2"], None, "num_label_tokens 32768"),
    ([], None, "kd_ratio 0.50 | temperature 1.00"),
    ([], 8, "mode dflash"),
])  # fmt: skip
def test_automodel_shares_its_tokens_among_copies(
    head: list[str], copies: int | None, end: str, tmp_path: Path
) -> None:
    session = session_of(automodel(head, copies, end), tmp_path, "frameworks.nemo_automodel")
    assert value(session, ALL) == pytest.approx(262144 / 2.5)
    if copies:
        lying = session_of(automodel(head, copies, end, lie=2.0), tmp_path, "frameworks.nemo_automodel")
        assert reason(lying) == "lines_contradict"


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


@pytest.mark.parametrize(("batches", "sound"), [([256], True), ([64, 128, 256], False), ([128], False)])
def test_bars_of_nemo_count_other_samples_than_those_of_the_stated_batch(
    batches: list[int], sound: bool, tmp_path: Path
) -> None:
    seen, drawn = 0, ["global_batch_size: 256\n"]
    for n in range(1, 301):
        seen += batches[n * len(batches) // 301]
        drawn.append(
            f"\rEpoch 0:  22%|##1   | {n}/20101 [{bar(2 * n)}<7:48:37,  2.00s/it, loss=2.43, v_num=5, "
            f"reduced_train_loss=2.500, global_step={n}.0, consumed_samples={seen:.3g}]"
        )
    session = session_of(["".join(drawn)], tmp_path, "frameworks.nemo_bar")
    found = measured(session, facts_of(session)).headline
    if sound:
        assert isinstance(found, Figure)
        assert found.value == pytest.approx(128, rel=0.01)
    else:
        assert isinstance(found, NoFigure)
        assert found.reason.args["witness"] == "counters"


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


# GPT-NeoX, and other forks of Megatron-LM


def neox(name: str, printed: object) -> str:
    """Return an argument as GPT-NeoX prints it: dots behind its value as well, and whether that is the default."""
    return f"  {name} {'.' * (32 - len(name))} {printed}".ljust(64, ".") + "updated"


def test_gpt_neox_evaluates_within_an_interval_and_says_so(tmp_path: Path) -> None:
    # Ten iterations of 0.25 s, and 5 s for an evaluation behind every fifth line.
    arguments = {"distributed_backend": "nccl", "global_num_gpus": 16, "model_parallel_size": 2,
                 "pipe_parallel_size": 1, "precision": "bfloat16", "train_batch_size": 64,
                 "train_micro_batch_size_per_gpu": 4, "world_size": None, "zero_stage": 1}  # fmt: skip
    lines = ["-------------------- arguments --------------------", *(neox(*each) for each in arguments.items())]
    # DeepSpeed's world is that of the data parallel devices.
    lines += ["[2026-11-20 10:00:00,500] [INFO] [config.py:960:print]   world_size ................... 8"]
    for n in range(1, 41):
        each = 0.75 if n % 5 == 1 else 0.25
        lines.append(
            f" samples/sec: {64 / each:.3f} | iteration {10 * n:8d}/     400 | elapsed time per iteration (ms): "
            f"{1000 * each:.1f} | "
            "learning rate: 9.375E-06 | approx flops per GPU: 24.5TFLOPS | lm_loss: 1.0875E+01 | number of "
            "skipped iterations:   0 |"
        )
        if n % 5 == 0:
            lines.append(
                f" validation results at iteration {10 * n} | lm_loss value: 6.25E+00 | lm_loss_ppl value: 5.1E+02 | "
            )
    session = session_of(lines, tmp_path, "dlperf.megatron")
    assert value(session, "sustained") == pytest.approx(256)
    stated = facts_of(session)
    names = ("devices", "batch_size_of_job", "micro_batch", "precision", "tensor_parallel", "pipeline_parallel", "zero")
    assert [stated[each] for each in names] == [16, 64, 4, "bf16", 2, 1, "1"]


def megatron(n: int, each: float, stamp: str = "") -> str:
    return (
        f" {stamp}iteration {10 * n:8d}/     400 | consumed samples: {640 * n:12d} | elapsed time per "
        f"iteration (ms): {1000 * each:.1f} | "
        "learning rate: 1.5E-05 | global batch size:    64 | lm loss: 7.25E+00 | loss scale: 1.0 |"
    )


@pytest.mark.parametrize("said", [
    " test loss at iteration 50 | lm loss value: 6.25E+00 | ",
    "calculating metrics ...",
    " validation loss at iteration 50 on 320-sample draw from validation set | lm loss value: 6.25E+00 | ",
])  # fmt: skip
def test_what_else_megatron_evaluates_is_no_training(said: str, tmp_path: Path) -> None:
    lines = []
    for n in range(1, 41):
        lines += [megatron(n, 0.75 if n % 5 == 1 else 0.25), *([said] if n % 5 == 0 else [])]
    assert value(session_of(lines, tmp_path, "dlperf.megatron"), "sustained") == pytest.approx(256)


def test_the_fine_tuning_of_megatron_evaluates_within_an_interval_that_is_dated_too(tmp_path: Path) -> None:
    lines, seconds = [], 0.0
    for n in range(1, 41):
        each = 0.75 if n % 5 == 1 else 0.25
        seconds += 10 * each
        lines += [megatron(n, each, f"[{at(seconds)}] "), *(["calculating metrics ..."] if n % 5 == 0 else [])]
    assert value(session_of(lines, tmp_path, "dlperf.megatron"), "sustained") == pytest.approx(256)


def test_the_fork_of_argonne(tmp_path: Path) -> None:
    lines = []
    for n in range(1, 41):
        each = 0.5 if n % 4 == 3 else 0.25
        lines.append(
            f"[2026-11-20 10:00:00][INFO][training_log:661] -  iteration={n:8d}/  317892 | "
            f"consumed_samples={64 * n:12d} | "
            f"consumed_tokens={262144 * n:12d} | elapsed_time_per_iteration_ms={1000 * each:.1f} | "
            "learning_rate=9.4e-09 | "
            "global_batch_size=64 | lm loss=11.125 | loss_scale=1.0 | grad_norm=6.250 | actual_seqlen= 4096 | "
            f"samples_per_second={64 / each:.3f} | tokens_per_gpu_per_second_tgs=4432.5 | [LM]TFLOPs=20.25 | "
            "[DS]TFLOPs=26.25 |"
        )
    session = session_of(lines, tmp_path, "dlperf.megatron")
    assert value(session, ALL) == pytest.approx(64 * 40 / (30 * 0.25 + 10 * 0.5))


@pytest.mark.parametrize(("hybrid", "precision"), [("True", "fp8"), ("False", "bf16")])
def test_the_first_releases_of_megatron_with_fp8_name_its_formats(hybrid: str, precision: str, tmp_path: Path) -> None:
    arguments = {
        "bf16": "True",
        "distributed_backend": "nccl",
        "fp16": "False",
        "fp8_e4m3": "False",
        "fp8_hybrid": hybrid,
    }
    lines = ["------------------------ arguments ------------------------"]
    lines += [f"  {name} {'.' * (48 - len(name))} {printed}" for name, printed in arguments.items()]
    session = session_of([*lines, *(megatron(n, 0.25) for n in range(1, 9))], tmp_path, "dlperf.megatron")
    assert facts_of(session)["precision"] == precision


# DeepSpeed's pipelines


@pytest.mark.parametrize("line", [
    "steps: {} loss: 7.5250 lm loss: 7.5000 moe loss: 0.0250 iter time (s): {:.3f} samples/sec: {:.3f}",
    "step: {:5d} /  5000 loss: 7.5250 iter time (s): {:.3f} samples/sec: {:.3f} eta: 3h26m ",
])  # fmt: skip
def test_pipelines_of_deepspeed_print_further_losses_and_totals(line: str, tmp_path: Path) -> None:
    seconds = [0.5 if n % 4 == 3 else 0.25 for n in range(40)]
    lines = [line.format(10 * n + 10, took, 64 / took) for n, took in enumerate(seconds)]
    session = session_of(lines, tmp_path, "dlperf.deepspeed")
    assert value(session, ALL) == pytest.approx(64 * 40 / (30 * 0.25 + 10 * 0.5))


# NeMo


def nemo_bar(n: int, samples: float) -> str:
    return (
        f"Epoch 0: :  20%|##        | {n}/900 [{bar(2.0 * n)}<10:00, v_num=1, reduced_train_loss=10.40, "
        f"global_step={n - 1}.000, "
        f"consumed_samples={samples:.1f}, train_step_timing in s=2.000]\r"
    )


def test_a_bar_of_nemo_states_the_samples_of_a_step(tmp_path: Path) -> None:
    session = session_of([nemo_bar(n, 96 * n) for n in range(5, 45)], tmp_path, "frameworks.nemo")
    assert facts_of(session)["batch_size_of_job"] == 96
    assert value(session, "sustained") == pytest.approx(48)
    # Where the batch grew on the way, the first state does not tell that of a step.
    assert "batch_size_of_job" not in facts_of(
        session_of([nemo_bar(n, 96 * n - 7) for n in range(5, 45)], tmp_path, "frameworks.nemo")
    )


def test_each_trainer_of_nemo_is_a_start(tmp_path: Path) -> None:
    lines = []
    for batch, seconds in ((128, 4.0), (64, 1.0)):
        lines += ["GPU available: True (cuda), used: True"] + [
            f"Training epoch 0, iteration {n}/99 | lr: 1e-05 | global_batch_size: {batch} | global_step: {n} | "
            f"reduced_train_loss: 11.03 | train_step_timing in s: {seconds:.3f} | consumed_samples: {batch * (n + 1)}"
            for n in range(40)
        ]
    assert [value(each, "sustained") for each in log_of(lines, tmp_path).sessions] == pytest.approx([32, 64])


# Composer


def test_the_metrics_of_composer_state_the_first_batch(tmp_path: Path) -> None:
    lines = []
    for n in range(40):
        lines += [f"[batch={n + 1}/100]:", f"\t Train time/batch: {n}", f"\t Train time/sample: {48 * n}"]
        lines += ["\t Train throughput/batches_per_sec: 0.0026", "\t Train throughput/tokens_per_sec: 262.1440"]
        lines += ["\t Train throughput/device/tokens_per_sec: 32.7681"]
    session = session_of(lines, tmp_path, "frameworks.composer")
    assert value(session) == pytest.approx(262.144)
    assert facts_of(session)["batch_size_of_job"] == 48


# RWKV-LM, whose bars are Lightning's


def test_the_head_of_rwkv_states_its_job(tmp_path: Path) -> None:
    lines = ["#", "# RWKV-4 BF16 on 2x8 GPU, bsz 2x8x6=96, deepspeed_stage_2 with grad_cp", "#",
             "# Model = 12 n_layer, 768 n_embd, 1024 ctx_len", "#"]  # fmt: skip
    lines += [
        f"\rEpoch {n}: 100%|##########| 420/420 [02:20<00:00,  3.00it/s, loss=4.200, lr=0.0006, REAL "
        "it/s=3.010, Kt/s=295.0]"
        for n in range(4)
    ]
    session = session_of(lines, tmp_path, "frameworks.lightning")
    assert value(session) == pytest.approx(288)
    stated = facts_of(session)
    assert [stated[name] for name in ("devices", "batch_size_of_job", "sequence_length", "precision")] == [
        16,
        96,
        1024,
        "bf16",
    ]


# XLM


@pytest.mark.parametrize(
    "told", ["{:7.2f} sent/s - {:8.2f} words/s - ", "{:7.2f} equations/s - {:8.2f} words/s -  MEM: 2048.50 MB - "]
)
def test_xlm_evaluates_between_its_lines(told: str, tmp_path: Path) -> None:
    # Five batches of 32 sentences and 4000 words a second, for each of two processes; 40 s for each evaluation.
    lines, seconds = [], 0
    lines += ["INFO - 11/20/26 10:00:00 - 0:00:00 - ============ Initialized logger ============"] * 2
    lines += ["                                  batch_size: 32", "                                  world_size: 2"]
    for n in range(1, 121):
        waited = 40 if n % 40 == 1 and n > 1 else 0
        seconds += 1 + waited
        speed = told.format(160 / (1 + waited), 4000 / (1 + waited))
        stamp = f"INFO - 11/20/26 10:00:00 - {seconds // 3600}:{seconds // 60 % 60:02d}:{seconds % 60:02d} - "
        lines += [f"{stamp}{5 * n:7d} - {speed}MLM-en:  7.1250 - model LR: 1.0000e-04"] * 2
        if n % 40 == 0:
            lines += [
                f'{stamp}__log__:{{"epoch": {n // 40 - 1}, "valid_en_mlm_ppl": 12.5}}',
                f"{stamp}Saving checkpoint to out/checkpoint.pth ...",
            ]
    session = session_of(lines, tmp_path, "frameworks.xlm")
    assert value(session, "sustained") == pytest.approx(8000)
    assert facts_of(session)["batch_size"] == 32


# MiniLLM


def test_minillm_prints_the_seconds_of_an_update_between_those_of_its_batches(tmp_path: Path) -> None:
    # Updates of four batches of 8 sequences on each of two devices take a second, and every fourth two.
    lines = ["using world size: 2", "arguments:", "  batch_size .................... 8"]
    lines += ["  gradient_accumulation_steps ... 4"]
    for n in range(1, 41):
        line = f"train | epoch   0 | Iter: {4 * n:6d}/   160 | global iter: {n:6d}/    40 | loss: 2.2500 | "
        line += "ds_loss: 1.1250 | lr: 5.0000e-06 | scale:  2048.0000 | micro time: 0.250 | step time: "
        lines += [f"{line}0.000"] * 4 + [f"{line}{2 if n % 4 == 0 else 1:.3f}"]
    session = session_of(lines, tmp_path, "frameworks.minillm")
    assert value(session, ALL) == pytest.approx(64 * 40 / 50)


# UER-py


@pytest.mark.parametrize("stamp", ["", "[2026-11-20 10:11:12,500 INFO] "])
def test_the_workers_of_uer_are_one_start(stamp: str, tmp_path: Path) -> None:
    lines = []
    for speed in (4000, 8000):
        lines += [f"{stamp}Worker {n} is training ... " for n in range(4)]
        lines += [
            f"{stamp}| {100 * n:8d}/  100000 steps| {speed:8.2f} tokens/s| loss    7.79| acc: 0.052"
            for n in range(1, 21)
        ]
    assert [value(each) for each in log_of(lines, tmp_path).sessions] == pytest.approx([4000, 8000])


# Two programs that write into one file, and ranks that do


def titan(n: int, seconds: float, speed: float) -> str:
    stamp = f"{at(seconds)},{int(seconds % 1 * 1000):03d}"
    more = f"loss:  7.1250  memory: 20.50GiB(25.88%)  tps: {speed:,.0f}  mfu: 38.40%"
    return f"{stamp} - root - INFO - step: {10 * n:2d}  {more}"


@pytest.mark.parametrize(("other", "ahead", "code"), [
    (10.0, 0.1, None), (10.0, 200.0, None), (10.8, 0.1, "steps_go_back"), (10.8, 200.0, "steps_go_back"),
    (17.0, 0.1, "steps_go_back"),
])  # fmt: skip
def test_programs_that_print_the_same_steps_drift_apart_and_ranks_do_not(
    other: float, ahead: float, code: str | None, tmp_path: Path
) -> None:
    # 81920 tokens in ten seconds, and in as many or in more in another process, the clock of which may be ahead.
    lines = [
        (seconds * n, titan(n, seconds * n + clock, 81920 / seconds))
        for seconds, clock in ((10.0, 0), (other, ahead))
        for n in range(1, 101)
    ]
    session = session_of([line for _, line in sorted(lines)], tmp_path, "frameworks.torchtitan")
    found = second_run(session)
    assert (found and found[1].code) == code
    if not code:
        assert value(session, devices=2) == pytest.approx(2 * 8192)


def test_a_bar_that_is_drawn_again_behind_a_validation_is_no_second_program(tmp_path: Path) -> None:
    lines, waited = [], 0
    for n in range(1, 81):
        lines.append(nemo_bar(n, 96 * n).replace(f"[{bar(2.0 * n)}", f"[{bar(2.0 * n + waited)}"))
        if n % 5 == 0:
            waited += 60
            lines.append(nemo_bar(n, 96 * n).replace(f"[{bar(2.0 * n)}", f"[{bar(2.0 * n + waited)}"))
    session = session_of(lines, tmp_path, "frameworks.nemo")
    assert second_run(session) is None


# parameter-golf


def later_golf(times: float = 1.0, head: bool = True) -> list[str]:
    """Return a line per 500 steps of 65,536 tokens, of 0.1 s each and from step 500 on 0.2 s, until 560 s are over."""
    named = ["Hyperparameters:", "  train_batch_tokens: 65536", "  val_batch_tokens: 32768", "  world_size: 4"]
    lines = [*(named if head else ()), "warmup_step: 20/20", "0/20000 val_loss: 6.9000 val_bpb: 3.1000"]
    for step in (1, 2, 3, *range(500, 3001, 500)):
        seconds = 0.1 * min(step, 500) + 0.2 * max(0, step - 500)
        speed = times * 65536 * step / seconds
        lines.append(f"{step}/20000 train_loss: 3.5000 train_time: {seconds / 60:.1f}m tok/s: {speed:.0f}")
        if step == 2000:
            lines.append("2000/20000 val_loss: 3.4000 val_bpb: 1.5000")
    lines.append("stopping_early: wallclock_cap train_time: 560000ms step: 3050/20000")
    return [*lines, "peak memory allocated: 9 MiB reserved: 9 MiB"]


@pytest.mark.parametrize("head", [True, False])
def test_means_of_later_parameter_golf_are_undone(head: bool, tmp_path: Path) -> None:
    session = session_of(later_golf(head=head), tmp_path, "frameworks.parameter_golf")
    assert value(session, ALL) == pytest.approx(65536 * 3000 / 550)
    assert value(session, "sustained") == pytest.approx(65536 * 2999 / 549.9)
    assert session.ending.outcome == "completed"
    if head:
        assert value(session, "reported") == pytest.approx(65536 * 3050 / 560)
        assert facts_of(session)["devices"] == 4


@pytest.mark.parametrize("times", [0.5, 2.0, 4.0])
def test_speeds_of_later_parameter_golf_are_held_against_their_minutes(times: float, tmp_path: Path) -> None:
    assert reason(session_of(later_golf(times), tmp_path, "frameworks.parameter_golf")) == "lines_contradict"


def test_later_parameter_golf_begins_with_its_hyperparameters(tmp_path: Path) -> None:
    path = tmp_path / "train.log"
    path.write_text("\n".join(later_golf() * 2))
    assert [session.first_line for session in read(path).sessions] == [1, len(later_golf()) + 1]


# nanoGPT without the lines of its evaluations


def nanogpt(every: int, slow: dict[int, float]) -> list[str]:
    """Return every tenth of 3,000 iterations of 16,384 tokens in 0.5 s, or in 36 s where one evaluates unsaid."""
    return [
        "tokens per iteration will be: 16,384",
        *(
            f"iter {step}: loss 3.5000, time {slow.get(step, 36500 if step % every == 0 else 500):.2f}ms"
            for step in range(10, 3001, 10)
        ),
    ]


def test_evaluations_that_nanogpt_does_not_print_are_found(tmp_path: Path) -> None:
    for every in (50, 250, 1300):
        session = session_of(nanogpt(every, {}), tmp_path, "frameworks.nanogpt")
        assert value(session, "sustained") == pytest.approx(32768), every
    # Of one more that is slow nobody knows why. The first fifth of 300 lines, and ten evaluations, do not count.
    session = session_of(nanogpt(250, {1730: 5000}), tmp_path, "frameworks.nanogpt")
    assert value(session, "sustained") == pytest.approx(16384 * 230 / (229 * 0.5 + 5))


@pytest.mark.parametrize("slow", [(1500,), (700, 1200, 1730, 2410)])
def test_slow_iterations_of_nanogpt_at_no_distance_count(slow: tuple[int, ...], tmp_path: Path) -> None:
    session = session_of(nanogpt(10**9, dict.fromkeys(slow, 5000)), tmp_path, "frameworks.nanogpt")
    assert value(session, "sustained") == pytest.approx(16384 * 240 / (0.5 * (240 - len(slow)) + 5 * len(slow)))
