"""Logs of language models whose numbers contradict each other: what follows is no figure, or that of the rest."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from test_dialects import facts_of, log_of, session_of

from ingest.compute.measurement import Measurement, measured
from ingest.compute.metrics import metrics
from ingest.compute.second_run import second_run
from ingest.read.beside import PathFacts
from ingest.read.run_json import RunJsonFile
from ingest.record.run import facts_of as of_run
from parsers.engine.session import Session
from schema.records import Figure, NoFigure


def judged(session: Session) -> Measurement:
    return measured(session, facts_of(session))


def code(session: Session) -> str:
    """Return why there is no figure, or the witness that contradicts it."""
    found = judged(session).headline
    assert isinstance(found, NoFigure), found
    return str(found.reason.args.get("witness", found.reason.code))


def value(session: Session) -> float:
    found = judged(session).headline
    assert isinstance(found, Figure), found
    return found.value


# Steps that grow

STAGES = [(64, 1.0)] * 6 + [(128, 1.5)] * 6 + [(256, 2.5)] * 12


def growing(stages: Iterable[tuple[int, float]], counted: bool, length: int = 0) -> list[str]:
    """Return lines of Megatron-LM of ten steps each, by their samples, or tens of tokens, and seconds."""
    lines, seen = [f"  global_batch_size {'.' * 30} 256", f"  seq_length {'.' * 37} 2560"], 0
    for number, (size, seconds) in enumerate(stages, 1):
        batch, told = (256, f" actual seqlen: {10 * size:5d} |") if length else (size, "")
        seen += 10 * batch
        consumed = f" consumed samples: {seen:12d} |" if counted else ""
        lines.append(
            f" iteration {10 * number:8d}/    1000 |{consumed} elapsed time per iteration (ms): {1000 * seconds:.1f} |"
            f" learning rate: 1.500E-04 | global batch size: {batch:5d} | lm loss: 7.125000E+00 |{told}"
        )
    return lines


@pytest.mark.parametrize("counted", [True, False])
@pytest.mark.parametrize("length", [0, 1])
def test_steps_before_they_had_grown_are_left_out(counted: bool, length: int, tmp_path: Path) -> None:
    session = session_of(growing(STAGES, counted, length), tmp_path, "dlperf.megatron")
    found = judged(session)
    assert isinstance(found.headline, Figure)
    assert (found.headline.value, found.headline.used) == (pytest.approx(256 / 2.5), 12)
    latency = metrics(session, facts_of(session), found.headline)["latency"]
    assert latency.value == pytest.approx(2500)
    # Batches that shrink again did not grow.
    session = session_of(growing([*STAGES[:12], *STAGES[:12]], counted, length), tmp_path, "dlperf.megatron")
    assert not isinstance(judged(session).headline, Figure) or length


def test_tokens_of_sentences_that_are_sorted_by_length_are_no_batches_that_grow(tmp_path: Path) -> None:
    lines = [
        f"2026-11-20 10:{n:02d}:00 | INFO | train_inner | epoch 001:  {60 * n:5d} / 9000 loss=9.125, nll_loss=8.5, "
        f"ppl=60.25, wps={10000 + 500 * n}.0, ups=1, wpb={10000 + 500 * n}, bsz=800, num_updates={60 * n}, lr=0.0005, "
        f"gnorm=1.5, train_wall=60, wall={60 * n}"
        for n in range(1, 41)
    ]
    found = judged(session_of(lines, tmp_path, "frameworks.fairseq")).headline
    assert isinstance(found, Figure)
    assert found.used == 32


@pytest.mark.parametrize("counted", [True, False])
def test_a_batch_that_never_grew_to_the_stated_one_contradicts_it(counted: bool, tmp_path: Path) -> None:
    assert code(session_of(growing(STAGES[:12], counted), tmp_path, "dlperf.megatron")) == "counters"


def test_sequences_that_never_grew_to_the_stated_length_contradict_it(tmp_path: Path) -> None:
    for stages, told in ((STAGES, []), (STAGES[:12], [("sequence_length", 2560, 1280)])):
        session = session_of(growing(stages, True, 1), tmp_path, "dlperf.megatron")
        found = of_run(session, RunJsonFile(), PathFacts("perfledger")).contradictions
        assert [(each.fact, each.first.value, each.second.value) for each in found] == told


# Lines that contradict themselves


@pytest.mark.parametrize("lie", [2.0, 0.5])
def test_half_of_the_lines_may_contradict_themselves(lie: float, tmp_path: Path) -> None:
    # 16,384 tokens in half a second; every second line, or all since the middle, tells another speed.
    def lines(wrong: Callable[[int], bool]) -> list[str]:
        speeds = [32768 * (lie if wrong(n) else 1) for n in range(40)]
        return [f"step {n:5d} | loss: 7.125 | dt: 500.00ms | tok/sec: {each:.2f}" for n, each in enumerate(speeds)]

    for wrong in (lambda n: n % 2 == 0, lambda n: n >= 20, lambda n: n % 4 == 0):
        assert (
            code(session_of(["total desired batch size: 16384", *lines(wrong)], tmp_path, "frameworks.nanogpt"))
            == "arithmetic"
        )


def test_seconds_that_lie_beside_a_sound_speed_withhold_nothing(tmp_path: Path) -> None:
    lines = [f"step {n:5d} | loss: 7.125 | dt: {50 if n % 8 == 0 else 500}.00ms | tok/sec: 32768.00" for n in range(40)]
    session = session_of(["total desired batch size: 16384", *lines], tmp_path, "frameworks.nanogpt")
    assert value(session) == pytest.approx(32768)


# fairseq


def of_fairseq(epoch: int, step: int, wps: float, ups: float) -> str:
    return (
        f"2026-11-20 | INFO | train_inner | epoch {epoch:03d}: {step:6d} / 4000 loss=7.125, "
        f"nll_loss=5.5, wps={wps:.1f}, ups={ups:.2f}, wpb=4000.0, bsz=120.5, num_updates={step}, "
        "lr=0.0005, train_wall=20, wall=430"
    )


def test_the_speed_of_fairseq_is_that_of_its_updates(tmp_path: Path) -> None:
    # 100 updates of 4,000 tokens take 20 s.
    for wps, ups in ((20000, 5.0), (40000, 5.0), (20000, 10.0)):
        session = session_of([of_fairseq(1, 100 * n, wps, ups) for n in range(1, 31)], tmp_path, "frameworks.fairseq")
        if wps == 4000 * ups:
            assert value(session) == pytest.approx(20000)
        else:
            assert code(session) == "arithmetic"


def test_a_stall_whose_updates_per_second_round_much_contradicts_nothing(tmp_path: Path) -> None:
    # 4,000 tokens each 2.5 s; a stall of 40 s an update prints 0.03 for 0.025 updates per second.
    lines = [of_fairseq(1, 100 * n, *((100, 0.03) if n == 20 else (1600, 0.4))) for n in range(1, 41)]
    assert value(session_of(lines, tmp_path, "frameworks.fairseq")) == pytest.approx(4000 * 32 / (31 * 2.5 + 40))


VALIDATION = {
    "json": 'INFO | valid | {"epoch": 1, "valid_loss": "4.2", "valid_wps": "120000.5"}',
    "text": "INFO | valid | epoch 001 | valid on 'valid' subset | loss 4.2 | wps 120000 | wpb 2500",
}


def epochs_of_fairseq(validation: float, trained: bool, printer: str) -> list[str]:
    """Return epochs of 500 updates of 4,000 tokens, which take 100 s, each with its validation."""
    lines, ups = [], 500 / (100 + validation)
    for n in range(1, 13):
        told = {"epoch": n, "loss": 6.25, "wps": f"{4000 * ups:.1f}", "ups": f"{ups:.2f}", "wpb": 4000, "bsz": 120.5}
        told |= {"num_updates": 500 * n, "lr": 0.0005, **({"train_wall": 100} if trained else {}), "wall": 150 * n}
        lines += [VALIDATION[printer]] if validation else []
        if printer == "json":
            stats = {name if name == "epoch" else f"train_{name}": f"{each}" for name, each in told.items()}
            lines += ["INFO | train | " + json.dumps({**stats, "epoch": n})]
        else:
            stats = {name: f"{each}" for name, each in told.items()} | {"epoch": f"{n:03d}"}
            lines += ["INFO | train | " + " | ".join(f"{name} {each}" for name, each in stats.items())]
    return lines


@pytest.mark.parametrize("printer", ["text", "json"])
def test_an_epoch_of_fairseq_holds_its_validation(printer: str, tmp_path: Path) -> None:
    def session(validation: float, trained: bool) -> Session:
        return session_of(epochs_of_fairseq(validation, trained, printer), tmp_path, "frameworks.fairseq")

    assert [code(session(50, trained)) for trained in (True, False)] == ["only_pauses"] * 2
    assert value(session(2, True)) == pytest.approx(20000, rel=0.03)
    assert code(session(2, False)) == "only_pauses"
    assert [value(session(0, trained)) for trained in (True, False)] == pytest.approx([20000] * 2)


def test_the_seconds_since_the_start_contradict_the_speed_of_old_releases_of_fairseq(tmp_path: Path) -> None:
    # 100 batches of 4,000 tokens take 20 s.
    for wps in (20000, 40000):
        lines = [
            f"| epoch 001: {100 * n:6d} / 4000 loss=7.125, nll_loss=5.5, wps={wps}, ups=5.0, wpb=4000.0, "
            f"bsz=120.5, num_updates={100 * n}, lr=0.0005, oom=0.000, wall={10 + 20 * n}, train_wall={20 * n}"
            for n in range(1, 31)
        ]
        session = session_of(lines, tmp_path, "frameworks.fairseq_old")
        assert code(session) == "clock" if wps == 40000 else value(session) == pytest.approx(20000)


# Megatron-LM


def of_megatron(step: int, consumed: float, seconds: float, batch: int, more: str) -> str:
    return (
        f" iteration {step:8d}/  500000 | consumed samples: {consumed:12.0f} | "
        f"elapsed time per iteration (s): {seconds:.2f} | learning rate: 1.500E-04 | "
        f"global batch size: {batch:5d} | lm loss: 7.375E+00 |{more}"
    )


@pytest.mark.parametrize(
    ("seconds", "counted", "speed", "expected"),
    [
        (2.0, 128, 64.0, 64.0),
        (4.0, 128, 64.0, "arithmetic"),
        (2.0, 256, 64.0, "counters"),
        (2.0, 64, 64.0, "counters"),
        (2.0, 128, 16.0, "arithmetic"),
    ],
)
def test_megatron_tells_its_speed_three_times(
    seconds: float, counted: int, speed: float, expected: float | str, tmp_path: Path
) -> None:
    lines = [
        of_megatron(10 * n, 10 * n * counted, seconds, 128, f" samples per second: {speed:.3f} | TFLOPs: 51.25 |")
        for n in range(1, 31)
    ]
    session = session_of(lines, tmp_path, "dlperf.megatron")
    assert (value(session) if isinstance(expected, float) else code(session)) == expected


def test_a_batch_of_megatron_may_grow_between_two_lines(tmp_path: Path) -> None:
    # From 32 to 320 by 32 every seventh iteration; a line per ten iterations, which take 64 samples a second.
    batches = [32 * min(10, 1 + n // 7) for n in range(300)]
    lines = []
    for n in range(10, 301, 10):
        seconds, batch = sum(batches[n - 10 : n]) / 64 / 10, batches[n - 1]
        more = f" samples per second: {batch / seconds:.3f} |"
        lines.append(of_megatron(n, sum(batches[:n]), seconds, batch, more))
    assert value(session_of(lines, tmp_path, "dlperf.megatron")) == pytest.approx(64, rel=2e-3)


@pytest.mark.parametrize("lie", [1, 2])
def test_the_tokens_of_a_device_contradict_the_seconds_of_megatron(lie: int, tmp_path: Path) -> None:
    # 128 sequences of 2,048 tokens in 2 s, on 16 devices.
    head = ["---------------- arguments ----------------", "  seq_length ...... 2048", "  world_size ...... 16"]
    more = f" tokens per GPU (tokens/s/GPU): {8192 * lie}.0/{8192 * lie}.0 |"
    lines = [of_megatron(10 * n, 1280 * n, 2.0, 128, more) for n in range(1, 31)]
    session = session_of([*head, *lines], tmp_path, "dlperf.megatron")
    assert code(session) == "arithmetic" if lie == 2 else value(session) == 64


# nanotron, OLMo, Composer, MaxText and NeMo


@pytest.mark.parametrize("batch", ["131K", "64", "1.02K"])
@pytest.mark.parametrize(("speed", "expected"), [("105K", 105_000), ("210K", "arithmetic"), ("52.5K", "arithmetic")])
def test_the_batch_of_nanotron_contradicts_its_speed(
    speed: str, expected: float | str, batch: str, tmp_path: Path
) -> None:
    # 131,072 tokens in 1.25 s: 64 sequences of 2,048 tokens, or 1,024 of 128.
    length = 128 if batch == "1.02K" else 2048
    head = [f"tokens=TokensArgs(sequence_length={length}, train_steps=1000, micro_batch_size=4)"]
    lines = [
        f"iteration: {n} / 1000 | consumed_tokens: {n * 131:.3g}K | time_per_iteration_ms: 1.25K | "
        f"tokens_per_sec: {speed} | tokens_per_sec_per_gpu: 13.1K | global_batch_size: {batch} | lm_loss: 9.12 | "
        for n in range(1, 31)
    ]
    session = session_of([*head, *lines], tmp_path, "frameworks.nanotron")
    assert code(session) == expected if isinstance(expected, str) else value(session) == pytest.approx(expected)


@pytest.mark.parametrize("core", [True, False])
@pytest.mark.parametrize(("devices", "speed"), [(64, 1), (128, 1), (32, 1), (64, 2)])
def test_all_tokens_of_olmo_contradict_a_wrong_number_of_devices(
    devices: int, speed: int, core: bool, tmp_path: Path
) -> None:
    # 4,194,304 tokens in 2 s on 64 devices.
    names = ("TPS", "total tokens", "BPS") if core else ("tokens_per_second", "total_tokens", "batches_per_second")
    lines = [f"World size: {devices}"]
    for n in range(1, 31):
        lines += [f"[step={n}/1000,epoch=1]", "    train/CE loss=9.250", f"    throughput/{names[1]}={4194304 * n:,}"]
        lines += [f"    throughput/device/{names[0]}={32768 * speed:,}", f"    throughput/device/{names[2]}=0.5000"]
    session = session_of(lines, tmp_path, "frameworks.olmo_core")
    assert value(session) == 2097152 if (devices, speed) == (64, 1) else code(session) == "arithmetic"


@pytest.mark.parametrize("lie", [1, 2])
def test_the_batches_of_composer_contradict_its_tokens(lie: int, tmp_path: Path) -> None:
    # 100,000 tokens a batch, some of which are padding that is not counted, and two batches a second.
    lines = []
    for n in range(10, 310, 10):
        lines += [f"[batch={n}/4800]:", f"\t Train time/batch: {n - 1}", f"\t Train time/token: {(n - 1) * 100_000}"]
        lines += ["\t Train throughput/batches_per_sec: 2.0000"]
        lines += [f"\t Train throughput/tokens_per_sec: {200_000 * lie}.0000", "\t Train time/total: 0.1"]
    session = session_of(["max_seq_len: 2048", "global_train_batch_size: 64", *lines], tmp_path, "frameworks.composer")
    assert code(session) == "arithmetic" if lie == 2 else value(session) == 200_000


@pytest.mark.parametrize("lie", [1, 2])
def test_the_bar_of_nemo_counts_other_samples_than_the_configuration_says(lie: int, tmp_path: Path) -> None:
    # 512 samples in 8 s.
    bars = [
        f"Epoch 0: :  {n}%|##        | {n}/100 [{8 * n // 60:02d}:{8 * n % 60:02d}<02:17, v_num=0, "
        f"reduced_train_loss=9.25, global_step={n - 1}.00, consumed_samples={512 * n}.0, train_step_timing in s=8.000]"
        for n in range(1, 31)
    ]
    session = session_of([f"  global_batch_size: {512 * lie}", *bars], tmp_path, "frameworks.nemo")
    assert code(session) == "counters" if lie == 2 else value(session) == 64


@pytest.mark.parametrize("lie", [8, 4, 16])
def test_the_batch_of_all_devices_contradicts_their_number_in_maxtext(lie: int, tmp_path: Path) -> None:
    # 4 sequences of 2,048 tokens each in 2 s, on 8 devices.
    told = {"per_device_batch_size": "4.0", "max_target_length": 2048, "global_batch_size_to_train_on": 32}
    told["gradient_accumulation_steps"] = 1
    head = [*(f"Config param {name}: {each}" for name, each in told.items()), f"Num_devices: {lie}, shape (1, {lie})"]
    lines = [
        f"completed step: {n}, seconds: 2.000, TFLOP/s/device: 134.924, Tokens/s/device: 4096.000, loss: 9.5"
        for n in range(30)
    ]
    session = session_of([*head, *lines], tmp_path, "frameworks.maxtext")
    assert value(session) == 32768 if lie == 8 else code(session) == "arithmetic"


@pytest.mark.parametrize(("steps", "processes"), [(4, 8), (2, 8), (4, 12)])
def test_what_the_tokens_of_an_iteration_break_down_to(steps: int, processes: int, tmp_path: Path) -> None:
    head = [
        f"tokens per iteration will be: {4 * 8 * 16 * 256:,}",
        f"breaks down as: {steps} grad accum steps * {processes} processes * 16 batch size * 256 max seq len",
    ]
    lines = [f"{n} | loss 3.2500 | lr 5.000000e-04 | 500.00ms | mfu 40.12%" for n in range(30)]
    session = session_of([*head, *lines], tmp_path, "frameworks.nanogpt")
    assert value(session) == 262144 if (steps, processes) == (4, 8) else code(session) == "arithmetic"


# Two programs


def test_two_programs_that_print_seconds_since_their_start_in_turn(tmp_path: Path) -> None:
    # A tenth of a second a step, and a little more.
    lines = ["train_batch_tokens:524288 train_seq_len:1024 iterations:20000"]
    for n in range(10, 410, 10):
        lines += [
            f"step:{n}/20000 train_loss:2.3750 train_time:{n * each}ms step_avg:{each:.2f}ms" for each in (100, 107)
        ]
    found = second_run(session_of(lines, tmp_path, "frameworks.modded_nanogpt"))
    assert found is not None
    assert found[1].code == "steps_go_back"


# DeepSpeed's pipelines


def test_the_log_of_a_node_on_which_megatron_prints_nothing_but_its_arguments_and_memory(tmp_path: Path) -> None:
    # 24 sequences in 12 s on 32 devices; the lines of Megatron are in the log of the last node.
    told = {
        "bf16": True,
        "fp16": False,
        "global_batch_size": 24,
        "micro_batch_size": 1,
        "pipeline_model_parallel_size": 8,
    }
    told |= {"seq_length": 2048, "tensor_model_parallel_size": 2, "world_size": 32, "zero_stage": 1}
    lines = ["------------------------ arguments ------------------------"]
    lines += [f"  {name} {'.' * (40 - len(name))} {each}" for name, each in told.items()]
    for n in range(1, 31):
        lines += [f"steps: {n} loss: 9.5000 iter time (s): 12.000 samples/sec: 2.000"]
        lines += (
            ["[Rank 4] (after 1 iterations) memory (MB) | allocated: 6365.5 | max allocated: 8745.75 |"]
            if n == 1
            else []
        )
    session = session_of(lines, tmp_path, "dlperf.deepspeed")
    assert value(session) == 2
    facts = {"devices": 32, "batch_size_of_job": 24, "precision": "bf16", "tensor_parallel": 2, "pipeline_parallel": 8}
    assert facts_of(session).items() >= facts.items()


# Numbers that lost a digit


@pytest.mark.parametrize("wrong", ["{:.0f}", "{:.0f}0"])
def test_a_time_since_the_start_that_lost_or_won_a_digit_counts_in_no_interval(wrong: str, tmp_path: Path) -> None:
    # Ten steps a second.
    lines = ["train_batch_tokens:524288 train_seq_len:1024 iterations:20000"]
    for n in range(10, 410, 10):
        told = wrong.format(n * 10 if wrong == "{:.0f}" else n * 100) if n == 200 else f"{n * 100}"
        lines.append(f"step:{n}/20000 train_loss:2.3750 train_time:{told}ms step_avg:100.00ms")
    session = session_of(lines, tmp_path, "frameworks.modded_nanogpt")
    assert value(session) == pytest.approx(5242880)


@pytest.mark.parametrize(
    ("speed", "mfu", "expected"),
    [("10,000", "", None), ("1,000", "", "clock"), ("1,000", "  mfu: 38.40%", None)],
)
def test_the_clock_contradicts_a_speed_that_lost_a_digit(
    speed: str, mfu: str, expected: str | None, tmp_path: Path
) -> None:
    # 80,000 tokens of eight devices in a second, ten seconds a line.
    told = "local batch size 1, global batch size 8, gradient accumulation steps 1, sequence length 10000, "
    lines = [f"2026-11-20 10:00:00,000 - root - INFO - Trainer is initialized with {told}", "World size: 8"]
    lines += [
        f"2026-11-20 10:{n // 6:02d}:{10 * n % 60:02d},000 - root - INFO - step: {10 * n}  loss:  7.1250  "
        f"memory: 20.50GiB(25.88%)  tps: {speed if n == 20 else '10,000'}{mfu}"
        for n in range(1, 31)
    ]
    session = session_of(lines, tmp_path, "frameworks.torchtitan")
    # What the line tells besides shows that the line is damaged.
    assert code(session) == expected if expected else value(session) == pytest.approx(80_000)


# Facts


@pytest.mark.parametrize(("batch", "accumulation", "sound"), [(64, 1, True), (32, 2, True), (32, 1, False)])
def test_the_samples_of_openclip_contradict_its_parameters(
    batch: int, accumulation: int, sound: bool, tmp_path: Path
) -> None:
    # 512 samples in half a second.
    told = {"accum_freq": accumulation, "batch_size": batch, "world_size": 8}
    lines = [f"2026-11-20,10:00:00 | INFO |   {name}: {each}" for name, each in told.items()]
    lines += [
        f"2026-11-20,10:{n * 50 // 60:02d}:{n * 50 % 60:02d} | INFO | Train Epoch: 0 "
        f"[{512 * (100 * n + 1):7d}/9999872 ({n}%)] Data (t): 0.125 Batch (t): 0.500, 1024.00/s, 128.00/s/gpu LR: 1e-6 "
        for n in range(30)
    ]
    session = session_of(lines, tmp_path, "frameworks.open_clip")
    assert value(session) == pytest.approx(1024) if sound else code(session) == "counters"


@pytest.mark.parametrize(("told", "devices"), [("using device: cuda", 1), ("using device: cuda:0", None)])
def test_build_nanogpt_names_its_device_where_it_trains_on_one(told: str, devices: int | None, tmp_path: Path) -> None:
    head = [told, "total desired batch size: 524288", "=> calculated gradient accumulation steps: 32"]
    lines = [f"step {n:5d} | loss: 7.125 | lr 3e-4 | norm: 1.5 | dt: 4000.00ms | tok/sec: 131072.00" for n in range(30)]
    session = session_of([*head, *lines], tmp_path, "frameworks.nanogpt")
    assert facts_of(session).get("devices") == devices
    assert facts_of(session)["accumulation"] == 32
    assert value(session) == 131072


@pytest.mark.parametrize(("speed", "batch"), [(30000, 100), (60000, 100), (60000, 10)])
def test_the_sentences_of_opennmt_tell_its_tokens(speed: int, batch: int, tmp_path: Path) -> None:
    # 50 batches of 6,000 tokens in 10 s. Of ten sentences a batch may be rounded from nine and a half.
    lines = ["[2026-11-20 10:00:00,000 INFO] Starting training on GPU: [0, 1]"]
    lines += ["[2026-11-20 10:00:00,000 INFO] Start training loop and validate every 10000 steps..."]
    lines += [
        f"[2026-11-20 10:{n // 6:02d}:{10 * n % 60:02d},000 INFO] Step {50 * n}/100000; acc: 90.1; "
        f"lr: 0.00125; sents:  {50 * batch}; bsz: 7000/6000/{batch}; 35000/{speed} tok/s;   {10 * n} sec;"
        for n in range(1, 31)
    ]
    session = log_of([*lines, *lines], tmp_path).sessions[1]
    assert facts_of(session)["devices"] == 2
    assert code(session) == "clock" if (speed, batch) == (60000, 100) else value(session) == pytest.approx(speed)


def test_a_release_of_nemo_prints_its_fields_by_their_names(tmp_path: Path) -> None:
    # Four samples in a quarter of a second.
    lines = [
        f"Training epoch 0, iteration {n}/149 | lr: 3e-05 | consumed_samples: {4 * n + 4} | global_batch_size: 4 | "
        f"global_step: {n} | reduced_train_loss: 1.25 | train_step_timing in s: 0.25 | val_loss: 4.125"
        for n in range(30)
    ]
    session = session_of(lines, tmp_path, "frameworks.nemo")
    assert value(session) == pytest.approx(16)
    assert facts_of(session)["batch_size_of_job"] == 4


@pytest.mark.parametrize(("seconds", "expected"), [(4, 32768), (2, "clock"), (8, "clock")])
def test_the_stamps_of_maxtext_contradict_its_seconds(seconds: int, expected: float | str, tmp_path: Path) -> None:
    # 4 sequences of 2,048 tokens on each of 16 devices every four seconds, over midnight.
    lines = ["Num_devices: 16, shape (1, 16, 1)"]
    for n in range(40):
        at = datetime(2026, 11, 20, 23, 59) + timedelta(seconds=4 * n)
        lines.append(
            f"I{at:%m%d %H:%M:%S.%f} 140211 metric_logger.py:226] completed step: {n}, seconds: {seconds}.000, "
            f"TFLOP/s/device: 134.924, Tokens/s/device: {8192 / seconds:.3f}, total_weights: 131072, loss: 9.125"
        )
    session = session_of(lines, tmp_path, "frameworks.maxtext")
    assert code(session) == expected if isinstance(expected, str) else value(session) == expected


@pytest.mark.parametrize("lie", [1, 2])
def test_the_tokens_that_mindspeed_counts_contradict_its_speed(lie: int, tmp_path: Path) -> None:
    # 131,072 tokens a step of 1.25 s.
    lines = [
        f" iteration {20 * n:8d}/    1000 | consumed tokens: {131072 * 20 * n} | "
        f"elapsed time per iteration (ms): 1250.00 | tokens/s: {104857.6 * lie:.2f} | mfu: 38.12 |"
        for n in range(1, 31)
    ]
    session = session_of(lines, tmp_path, "frameworks.mindspeed")
    assert code(session) == "arithmetic" if lie == 2 else value(session) == pytest.approx(104857.6)


# torchtitan, fairseq2, XTuner and LitGPT


def of_torchtitan(n: int, speed: float, lie: float, told: str) -> str:
    beside = {"flops": f"tflops: {speed / 64:,.2f}  mfu: {speed / 640:.2f}%", "mfu": f"mfu: {speed / 640:.2f}%", "": ""}
    return f"step: {10 * n:2d}  loss:  7.1250  memory: 20.50GiB(25.88%)  tps: {round(speed * lie):,}  {beside[told]}"


@pytest.mark.parametrize("told", ["flops", "mfu"])
def test_the_flops_of_torchtitan_contradict_a_speed_on_some_lines(told: str, tmp_path: Path) -> None:
    def session(wrong: Callable[[int], bool], told: str = told) -> Session:
        # Every ninth line is slow by itself.
        speeds = [8192 / (1 + (n % 9 == 0)) for n in range(1, 41)]
        lines = [of_torchtitan(n, each, 1 + wrong(n), told) for n, each in enumerate(speeds, 1)]
        return session_of(lines, tmp_path, "frameworks.torchtitan")

    right = value(session(lambda n: False))
    assert right == value(session(lambda n: False, ""))
    # Half of them, or a third: nothing tells which are wrong.
    assert [code(session(lambda n, every=every: n % every == 0)) for every in (2, 3)] == ["lines_contradict"] * 2
    assert value(session(lambda n: n == 20)) == pytest.approx(right, rel=0.02)


def test_flops_that_are_rounded_to_nothing_contradict_no_speed(tmp_path: Path) -> None:
    # Of a toy 0.1 TFLOP/s are told, give or take a twentieth, and no share of the peak.
    speeds = [1000 + 7 * (n % 9) for n in range(1, 41)]
    lines = [
        f"step: {n}  loss: 7.125  memory: 20.50GiB(25.88%)  tps: {each:,}  tflops: {each / 10000:,.2f}  mfu: 0.00%"
        for n, each in enumerate(speeds, 1)
    ]
    assert value(session_of(lines, tmp_path, "frameworks.torchtitan")) == pytest.approx(1028, rel=0.01)


@pytest.mark.parametrize(
    "seconds",
    [
        "Data Time: <1s | Compute Time: 5s",
        "Data Time: 2s | Compute Time: 3s",
        "Data Time: 0s | Compute Time: 5s",
        "Elapsed Time: 5s",
    ],
)
@pytest.mark.parametrize("lie", [2.0, 1.0, 0.5])
def test_the_elements_of_fairseq2_contradict_its_speed(lie: float, seconds: str, tmp_path: Path) -> None:
    # 32,768 elements a second, in five seconds and a part that is cut off.
    lines = [
        f"INFO fairseq2 - Train Metrics (step {10 * n}) - Loss: 2.5 | {seconds} | "
        f"Elements per Second: {32768 * lie:,.0f} | Number of Elements: {int(32768 * 5.6):,} | Total Time: {7 * n}s"
        for n in range(1, 31)
    ]
    session = session_of(lines, tmp_path, "frameworks.fairseq2")
    assert value(session) == 32768 if lie == 1 else code(session) == "lines_contradict"


@pytest.mark.parametrize(
    ("consumed", "seconds", "speed", "expected"),
    [
        (1, 1, 1, 3276.8),
        (2, 1, 1, "counters"),
        (0.5, 1, 1, "counters"),
        (1, 2, 1, "lines_contradict"),
        (1, 1, 2, "lines_contradict"),
    ],
)
def test_the_tokens_of_a_rank_contradict_those_of_all_ranks_of_xtuner(
    consumed: float, seconds: float, speed: float, expected: float | str, tmp_path: Path
) -> None:
    lines = [of_xtuner(n, consumed, seconds, speed) for n in range(1, 41)]
    session = session_of(lines, tmp_path, "frameworks.xtuner")
    assert (value(session) if isinstance(expected, float) else code(session)) == expected


def of_xtuner(n: int, consumed: float = 1, seconds: float = 1, speed: float = 1) -> str:
    """Return the line of a step of XTuner, of eight ranks of some 4,096 tokens, in ten seconds."""
    tokens = 4096 + 512 * (n % 3 - 1)
    return (
        f"[XTuner][RANK 0][2026-11-20 09:{n // 6:02d}:{n * 10 % 60:02d}][INFO] Epoch 1 Step {n}/100 "
        f"data_time: 0.0000 lr: 2.0e-05 time: {10 * seconds:.4f} text_tokens: {tokens}.0 "
        f"reduced_consumed_tokens: {int(32768 * n * consumed)} local_loss: 1.7, grad_norm: 13.9 "
        f"max_memory: 16.00 GB reserved_memory: 17.87 GB tgs: {tokens * speed / 10:.1f} exp_tgs: 400.0 "
        f"e2e_tgs: 400.0 est_global_batch_tokens: {tokens * 8}.0 eta: 0:03:00 "
    )


def test_tokens_since_the_start_and_the_seconds_of_a_step(tmp_path: Path) -> None:
    # Steps that are lost, or contradict themselves, are in the tokens of the next line, and not in its seconds.
    lost = [of_xtuner(n) for n in range(1, 41) if n % 3]
    assert value(session_of(lost, tmp_path, "frameworks.xtuner")) == pytest.approx(3276.8)
    wrong = [of_xtuner(n, speed=2 if n % 5 == 3 else 1) for n in range(1, 41)]
    assert value(session_of(wrong, tmp_path, "frameworks.xtuner")) == pytest.approx(3276.8)
    back = [of_xtuner(n, 2 if n % 5 == 3 else 1).split("est_global")[0] for n in range(1, 41)]
    assert code(session_of(back, tmp_path, "frameworks.xtuner")) == "count_runs_back"


@pytest.mark.parametrize("nodes", [" 'num_nodes': 1,", " 'out_dir': 'out',"])
@pytest.mark.parametrize(("stated", "expected"), [(8, 64.0), (16, "counters"), (4, "counters")])
def test_the_iterations_of_an_update_contradict_the_devices_of_litgpt(
    stated: int, expected: float | str, nodes: str, tmp_path: Path
) -> None:
    # Updates of 128 samples, in four iterations of 4 samples on each of eight devices.
    head = [
        f"{{'devices': {stated},",
        nodes,
        " 'train': TrainArgs(save_interval=1000,",
        "    global_batch_size=128,",
        "    micro_batch_size=4,",
    ]
    lines = [
        f"Epoch 1 | iter {n} step {n // 4} | loss train: 2.5, val: n/a | iter time: 500.00 ms"
        f"{' (step)' * (n % 4 == 0)} remaining time: 1:02"
        for n in range(1, 81)
    ]
    session = session_of([*head, *lines], tmp_path, "frameworks.litgpt")
    found = measured(session, facts_of(session) | {"devices": stated}).headline
    if isinstance(found, Figure):
        assert found.value == expected
    else:
        assert found.reason.args["witness"] == expected


# Speeds that are told twice, but for a factor


def of_lingua(n: int, speed: float, lie: float) -> str:
    return (
        f"0: INFO    26-11-20 10:00:00.000000 - 0:01:12 - step: {10 * n}  acc: 0  loss:  7.1250  grad: 1.25e+00  "
        f"flops: {2e10 * speed:.2e}  wps: {speed * lie:.2e}  iter:  0.6512  data: 0.0004\n"
    )


def of_olmo(n: int, speed: float, lie: float) -> str:
    return (
        f"INFO\t[step={n}/1000,epoch=1,eta=1h2m]\n    train/CE loss=9.250\n"
        f"    throughput/device/TPS={speed * lie:,.0f}\n    throughput/device/MFU={speed / 200:.2f}\n"
        f"    throughput/device/BPS={speed / 16384:.4f}\n"
    )


def of_olmo_without_mfu(n: int, speed: float, lie: float) -> str:
    return (
        f"INFO\t[step={n}/1000,epoch=1,eta=1h2m]\n    train/CE loss=9.250\n"
        f"    throughput/device/TPS={speed * lie:,.0f}\n    throughput/total tokens={65536 * n:,}\n"
        f"    throughput/device/BPS={speed / 16384:.4f}\n"
    )


def of_automodel(n: int, speed: float, lie: float) -> str:
    return (
        f"step {n} | epoch 0 | loss 1.8800 | grad_norm 0.5000 | lr 1.00e-05 | mem 40.25 GiB | "
        f"tps {speed * 8 * lie:.2f}({speed:.2f}/gpu) | num_label_tokens 32768\n"
    )


def of_nemo_rl(n: int, speed: float, lie: float) -> str:
    return (
        f"========================= Step {n}/50 =========================\n  • Total step time: {4e5 / speed:.2f}s\n"
        f"    - E2E (Tokens/sec/gpu): {speed:.2f}\n  • Throughputs (per Group):\n"
        f"    - E2E (Tokens/sec): {speed * 8 * lie:.2f}\n"
    )


def of_prime_rl(n: int, speed: float, lie: float) -> str:
    return (
        f"10:00:00 [SUCCESS] Step {n} | {1e4 / speed:6.2f}s | Loss 1.8800 | Grad. Norm 0.5000 | LR 1.00e-05 | "
        f"Throughput {speed * 8 * lie:.0f} tokens/s | MFU {speed / 200:.1f}% | Peak Mem. 40.0/79.6 GiB (50.4%)\n"
    )


def of_picotron(n: int, speed: float, lie: float) -> str:
    return (
        f"[rank 0] Step: {n:<5d} | Loss: 8.9219 | Global batch size:   2.05K | "
        f"Tokens/s:  {speed * 8 * lie / 1000:.2f}K | Tokens/s/GPU:   {speed / 1000:.2f}K | "
        "Tokens:  24.60K/1.00M | MFU:  0.43% | Memory usage:   1.75GB\n"
    )


def of_mlx(n: int, speed: float, lie: float) -> str:
    return (
        f"Iter {10 * n}: Train loss 2.125, Learning Rate 1.000e-05, It/sec {speed / 4096:.3f}, "
        f"Tokens/sec {speed * lie:.3f}, Trained Tokens {40960 * n}, Peak mem 8.500 GB\n"
    )


def of_mindformers(n: int, speed: float, lie: float) -> str:
    return (
        f"- INFO - {{ Epoch:[  1/  2], step:[{n:5d}/  500], loss: 8.800, per_step_time: {int(4e6 / speed)}ms, "
        "lr: 1e-05, overflow cond: False\n"
        f"- INFO -    2.4% |█         | {speed * lie / 1000:.5f} samples/s/p  0:10:20 }}\n"
    )


def of_maxtext(n: int, speed: float, lie: float) -> str:
    return (
        f"completed step: {n}, seconds: {8192 / speed:.3f}, TFLOP/s/device: {speed / 20:.3f}, "
        f"Tokens/s/device: {speed * lie:.3f}, total_weights: 65536, loss: 9.250\n"
    )


def of_engine_of_maxtext(n: int, speed: float, lie: float) -> str:
    return (
        f"completed step: {n}, seconds: {8192 / speed:.3f}, train_step_time_ms: {8192e3 / speed:.2f}, "
        f"TFLOP/s/device: {speed / 20:.3f}, Tokens/s/device: {speed * lie:.3f}\n"
    )


def of_internlm(n: int, speed: float, lie: float) -> str:
    # The first steps are of half the batches.
    few = n <= 8
    return (
        f"INFO train.py:323 in record_current_batch_training_metrics -- tflops={speed / (10 if few else 20)},"
        f"step={n},loss=8.5,tgs (tokens/gpu/second)={speed * lie:.2f},lr=6e-07,micro_num={2 if few else 4},"
        f"num_consumed_tokens={65536 * n},\n"
    )


#: The function that prints a step with the speed of a device, so many times the truth; what tells the devices; and the
#: figure over that speed.
TOLD_TWICE = {
    "lingua": (of_lingua, "", 1),
    "olmo_core": (of_olmo, "", 1),
    "olmo_core, without MFU": (of_olmo_without_mfu, "", 1),
    "nemo_automodel": (of_automodel, "world_size: 8\n", 8),
    "nemo_rl": (of_nemo_rl, "", 8),
    "prime_rl": (of_prime_rl, "", 8),
    "picotron": (of_picotron, "world_size: 8\n", 8),
    "mlx_lm": (of_mlx, "", 1),
    "mindformers": (of_mindformers, "", 1e-3),
    "maxtext": (of_maxtext, "", 1),
    "internlm": (of_internlm, "", 1),
    "maxtext, engine": (of_engine_of_maxtext, "", 1),
}


@pytest.mark.parametrize("name", TOLD_TWICE)
def test_a_speed_that_is_told_twice(name: str, tmp_path: Path) -> None:
    line, head, factor = TOLD_TWICE[name]

    def session(wrong: Callable[[int], bool], head: str = head, lie: float = 2.0) -> Session:
        # Every ninth step is slow by itself, and all differ somewhat.
        speeds = [(4000 + 40 * (n % 5)) / (1 + (n % 9 == 0)) for n in range(1, 41)]
        told = [line(n, each, lie if wrong(n) else 1) for n, each in enumerate(speeds, 1)]
        return session_of([head + "".join(told)], tmp_path, f"frameworks.{name.split(',')[0]}")

    assert value(session(lambda n: False)) == pytest.approx(3660 * factor, rel=0.03)
    for lie in (2.0, 0.5):
        # A few that lie are left out, also where no clock tells.
        assert value(session(lambda n: n % 5 == 2, lie=lie)) == pytest.approx(3660 * factor, rel=0.03)
        assert code(session(lambda n: n % 2 == 0, lie=lie)) == "lines_contradict"
        assert code(session(lambda n: n > 20, "", lie)) == "lines_contradict"
        if head or name == "mlx_lm":
            assert code(session(lambda n: True, lie=lie)) == "lines_contradict"


def told_by_megatron(n: int, lie: float, told: str) -> str:
    """Return a line of Megatron-LM of 512 samples in some two seconds; with more on it every ninth is slow."""
    seconds = (2 + 0.02 * (n % 5)) * (2 if told and n % 9 == 0 else 1)
    beside = {
        "flops": f" throughput per GPU (TFLOP/s/GPU): {800 / seconds:.1f} |",
        "tokens": f" tokens per GPU (tokens/s/GPU): {512 * 1024 / 64 / seconds:.1f} |",
        "means": f" tokens/s/GPU inst/harmonic mean: {512 * 1024 / 64 / seconds:.1f}/4000.0 |",
        "": "",
    }
    return of_megatron(10 * n, 5120 * n, seconds * lie, 512, beside[told])


@pytest.mark.parametrize("told", ["flops", "tokens", "means"])
def test_what_megatron_prints_beside_the_seconds_contradicts_some_of_them(told: str, tmp_path: Path) -> None:
    head = ["  world_size ............ 64", "  seq_length ............ 1024"]

    def session(wrong: Callable[[int], bool]) -> Session:
        lines = [told_by_megatron(n, 0.5 if wrong(n) else 1, told) for n in range(1, 41)]
        return session_of([*head, *lines], tmp_path, "dlperf.megatron")

    right = value(session(lambda n: False))
    assert value(session(lambda n: n % 5 == 2)) == pytest.approx(right, rel=0.02)
    assert {code(session(lambda n, every=every: n % every == 0)) for every in (2, 3)} == {"lines_contradict"}
    if told != "flops":
        assert code(session(lambda n: True)) == "arithmetic"


def test_a_coarse_clock_contradicts_the_seconds_of_a_few_lines(tmp_path: Path) -> None:
    # Whole seconds tell little of 20, but all intervals lasted as long.
    def session(lie: float) -> Session:
        stamps = [f"[2026-11-20 10:{20 * n // 60:02d}:{20 * n % 60:02d}] " for n in range(1, 41)]
        lines = [stamp + told_by_megatron(n, lie if n % 5 == 2 else 1, "") for n, stamp in enumerate(stamps, 1)]
        return session_of(lines, tmp_path, "dlperf.megatron")

    assert value(session(1)) == pytest.approx(512 / 2.04, rel=0.01)
    assert code(session(0.5)) == "clock"


@pytest.mark.parametrize(
    ("tokens", "seconds", "sharing", "expected"),
    [(1, 1, 8, 4000), (1, 1, 4, 4000), (2, 1, 8, "lines_contradict"), (1, 0.5, 8, "lines_contradict")],
)
def test_what_verl_tells_of_a_step_twice(
    tokens: float, seconds: float, sharing: int, expected: float | str, tmp_path: Path
) -> None:
    # 200,000 tokens in 50 s, on eight devices, of which two may share theirs.
    lines = ["{'actor_rollout_ref': {'model': {'path': 'a/b'}}, 'trainer': {'n_gpus_per_node': 8, 'nnodes': 1}}"]
    for n in range(1, 31):
        total, took = 200_000 + 1000 * (n % 5), 50 + n % 3
        lines.append(
            f"step:{n} - global_seqlen/mean:{total / sharing:.1f} - actor/lr:1e-06 - timing_s/step:{took:.3f} - "
            f"perf/total_num_tokens:{int(total * tokens)} - perf/time_per_step:{took * seconds:.3f} - "
            f"perf/throughput:{total * tokens / took / seconds / 8:.4f} - training/epoch:0"
        )
    session = session_of(lines, tmp_path, "frameworks.verl")
    assert (code(session) if isinstance(expected, str) else value(session)) == (
        expected if isinstance(expected, str) else pytest.approx(expected, rel=0.03)
    )


def mistral(lie: float, wrong: Callable[[int], bool] = lambda n: True) -> list[str]:
    """Return every tenth step of mistral-finetune of some three seconds, of which every 15th evaluates for a minute."""
    lines, passed = [], 0.0
    for n in range(1, 601):
        took = 3 + 0.05 * (n % 7) + (60 if n % 15 == 0 else 0)
        passed += took
        if n % 15 == 0:
            lines.append(f"step: {n:06d} - eval_perplexity: 5.250 - eval_loss: 1.658 - train_loss: 1.724")
        if n % 10 == 0:
            speed = 8192 / took * (lie if wrong(n) else 1)
            lines.append(
                f"step: {n:06d} - done (%): 5.0 - loss: 1.724 - lr: 4.0e-06 - peak_alloc_mem (GB): 26.5 - "
                f"alloc_mem (GB): 17.9 - words_per_second: {speed:.1f} - "
                f"avg_words_per_second: {8192 * n / passed:.1f} - ETA: >2026-11-21 06:50:16"
            )
    return lines


def test_the_means_since_the_start_contradict_the_speeds_of_mistral_finetune(tmp_path: Path) -> None:
    def session(*told: Any) -> Session:
        return session_of(mistral(*told), tmp_path, "frameworks.mistral_finetune")

    assert value(session(1)) == pytest.approx(8192 / 3.15, rel=0.02)
    for lie in (0.5, 2):
        assert code(session(lie)) == "lines_contradict"
        # Of those between which no evaluation lies.
        assert value(session(lie, lambda n: n % 90 == 10)) == pytest.approx(8192 / 3.15, rel=0.02)
