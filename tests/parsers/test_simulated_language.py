"""Simulated logs of language models and reinforcement learning, whose steps are known.

These logs are too long for files, or have smoothed or random numbers. Small logs are cases in tests/golden.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from made import ALL, blamed, elapsed, facts_of, log_of, published, session_of, value


@pytest.mark.parametrize("more", [", iteration_time=1.20", ", val_loss=7.050", ""])
def test_bars_of_nemo_give_a_speed_without_a_timing(more: str, tmp_path: Path) -> None:
    # A step takes 1.25 s, and a validation after every hundredth step 10 s.
    now, drawn = 0.0, ["global_batch_size: 256\n"]
    for n in range(1, 601):
        now += 1.25
        drawn += [
            f"\rEpoch 0:  22%|##1   | {n}/20101 [{elapsed(now)}<7:48:37,  1.25s/it, loss=2.43, v_num=5, "
            f"reduced_train_loss=2.500, global_step={step}.0, consumed_samples=1.5e+5{more}]"
            for step in (n - 1, n)
        ]
        if n % 100 == 0:
            drawn += [f"\rValidating:  {k}0%|# | {k}/10 [00:{k:02d}<00:00,  1.00s/it]" for k in range(1, 11)]
            now += 10
    session = session_of(["".join(drawn)], tmp_path, "frameworks.nemo_bar")
    assert value(session, "sustained") == pytest.approx(256 / 1.25, rel=0.005)


def test_bars_of_nemo_count_samples(tmp_path: Path) -> None:
    seen, drawn = 0, ["global_batch_size: 256\n"]
    for n in range(1, 301):
        seen += 256
        drawn.append(
            f"\rEpoch 0:  22%|##1   | {n}/20101 [{elapsed(2 * n)}<7:48:37,  2.00s/it, loss=2.43, v_num=5, "
            f"reduced_train_loss=2.500, global_step={n}.0, consumed_samples={seen:.3g}]"
        )
    session = session_of(["".join(drawn)], tmp_path, "frameworks.nemo_bar")
    assert published(session) == pytest.approx(128, rel=0.01)


@pytest.mark.parametrize(
    "told", ["{:7.2f} sent/s - {:8.2f} words/s - ", "{:7.2f} equations/s - {:8.2f} words/s -  MEM: 2048.50 MB - "]
)
def test_xlm_evaluates_between_its_lines(told: str, tmp_path: Path) -> None:
    # Each of two processes trains five batches of 32 sentences and 4000 words per second. An evaluation takes 40 s.
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


def test_minillm_prints_seconds_of_updates_and_of_batches(tmp_path: Path) -> None:
    # An update has four batches of 8 sequences on each of two devices. It takes 1 s, and every fourth takes 2 s.
    lines = ["using world size: 2", "arguments:", "  batch_size .................... 8"]
    lines += ["  gradient_accumulation_steps ... 4"]
    for n in range(1, 41):
        line = f"train | epoch   0 | Iter: {4 * n:6d}/   160 | global iter: {n:6d}/    40 | loss: 2.2500 | "
        line += "ds_loss: 1.1250 | lr: 5.0000e-06 | scale:  2048.0000 | micro time: 0.250 | step time: "
        lines += [f"{line}0.000"] * 4 + [f"{line}{2 if n % 4 == 0 else 1:.3f}"]
    session = session_of(lines, tmp_path, "frameworks.minillm")
    assert value(session, ALL) == pytest.approx(64 * 40 / 50)


@pytest.mark.parametrize("ranks", [1, 2, 4])
def test_record_with_an_evaluation_is_left_out_with_several_ranks(ranks: int, tmp_path: Path) -> None:
    lines = list[str]()
    for step in range(10, 610, 10):
        took = 45 if step % 200 == 10 and step > 10 else 5
        evaluated = ["eval_loss: 6.5, eval_runtime: 40.0, eval_samples_per_second: 12.5, epoch: 1.0"] * (took > 5)
        record = f"loss: 7.75, learning_rate: 1e-05, global_step: {step}, interval_runtime: {took}.0, "
        record += (
            f"interval_samples_per_second: {640 / took:.4f}, interval_steps_per_second: {10 / took:.4f}, epoch: 0.1"
        )
        lines += [
            f"[2026-11-20 10:00:00,000] [    INFO] - {each}" for each in [*evaluated, record] for _ in range(ranks)
        ]
    session = session_of(lines, tmp_path, "paddle.nlp_trainer")
    assert value(session, "sustained", devices=4) == pytest.approx(128)


def time_of_day(seconds: float) -> str:
    return f"{int(seconds // 3600) + 10}:{int(seconds // 60 % 60):02d}:{seconds % 60:06.3f}"


def olmo_core(step: int, seconds: float, clock: str) -> list[str]:
    return [
        f"2026-11-20 {clock}\thost:0\tconsole_logger:149\tINFO\t[step={step}/2000,epoch=1,eta=1h2m]",
        "    train/CE loss=9.250",
        f"    throughput/device/TPS={16384 / seconds:,.0f}",
        "    throughput/device/TPS (actual avg)=4,096",
        f"    throughput/device/BPS={1 / seconds:.4f}",
    ]


def test_olmo_core_leaves_out_evaluated_steps(tmp_path: Path) -> None:
    lines, now = ["world_size: 8"], 0.0
    for step in range(1, 201):
        evaluated = step % 50 == 0
        if evaluated:
            lines.append(f"2026-11-20 {time_of_day(now + 1)}\thost:0\tevaluator_callback:70\tINFO\tRunning lm evals...")
        now += 21.0 if evaluated else 1.0
        lines += olmo_core(step, 21.0 if evaluated else 1.0, time_of_day(now))
    session = session_of(lines, tmp_path, "frameworks.olmo_core")
    assert value(session, "sustained", devices=8, batch_size=1) == pytest.approx(8 * 16384)


def test_timing_in_bar_of_nemo_excludes_the_wait_for_data(tmp_path: Path) -> None:
    def bar(step: int, seconds: int) -> str:
        return (
            f"Epoch 0: :  10%|#         | {step}/2000 [{seconds // 60:02}:{seconds % 60:02}<10:00, v_num=, "
            f"reduced_train_loss=10.40, global_step={step - 1}.000, consumed_samples={32.0 * step}, "
            "train_step_timing in s=1.000]"
        )

    def bars(wait: float) -> list[str]:
        return [bar(step, int(step * (1 + wait))) for step in range(1, 201)]

    session = session_of(bars(0), tmp_path, "frameworks.nemo")
    assert published(session, batch_size_of_job=32) == pytest.approx(32)
    assert blamed(session_of(bars(0.5), tmp_path, "frameworks.nemo"), batch_size_of_job=32) == "clock"


def openrlhf(words: str) -> Iterator[str]:
    """Yield two epochs of 60 batches, and an evaluation of 45 s after every 20th; a batch of 8 samples takes 5 s."""
    yield "deepspeed --module openrlhf.cli.train --train_batch_size 64 --micro_train_batch_size 2"
    for epoch in (0, 1):
        seconds, states = 0, list[str]()
        for batch in range(1, 61):
            seconds += 5
            # The bar shows new words before it counts the batch.
            for done in (batch - 1, batch):
                at = f"{done}/60 [{elapsed(seconds)}<05:00,  5.00s/it, {words}]"
                states.append(f"Train step of epoch {epoch}:  {done}%|#  | {at}")
            if batch % 20 == 0:
                seconds += 45
                states.append(f"Eval stage of steps {batch}: 100%|###| 9/9 [00:45<00:00,  5.00s/it, eval {words}]")
        yield "\r".join(states)


@pytest.mark.parametrize("words", ["gpt_loss=1.5, lr=5e-6", "loss=0.69, acc=0.5, chosen_reward=0.1, reject_reward=0.1"])
def test_openrlhf_draws_a_batch_before_it_counts(words: str, tmp_path: Path) -> None:
    session = session_of(list(openrlhf(words)), tmp_path, "frameworks.openrlhf_bars")
    assert value(session, "sustained", batch_size=2, devices=4) == pytest.approx(2 * 4 / 5)


def easyr1(ray: str, validated: int = 0) -> list[str]:
    """Return blocks of steps with 80,000 tokens in 50 s on eight devices; some include a validation of 100 s."""
    lines = [
        "Config",
        "algorithm:",
        "  adv_estimator: grpo",
        "data:",
        "  rollout_batch_size: 512",
        "trainer:",
        "  n_gpus_per_node: 8",
        "  nnodes: 1",
    ]
    lines += ["worker:", "  actor:", "    model:", "      model_path: /data/tiny-lm"]
    for n in range(1, 31):
        holds = bool(validated) and n % validated == 0
        took = 150.0 if holds else 50.0
        lines += [f"Step {n}", "actor:", "  lr: 1.0e-06", "critic:", "  rewards:", "    mean: 0.5", "perf:"]
        lines += ["  mfu_actor: 0.31", f"  throughput: {10000 / took:.3f}", f"  time_per_step: {took}"]
        lines += ["  total_num_tokens: 80000", "response_length:", "  mean: 612.5", "timing_s:", f"  step: {took}"]
        lines += ["  validation: 100.0"] if holds else []
    return [ray + each for each in lines]


@pytest.mark.parametrize("ray", ["", "(Runner pid=3860) "])
@pytest.mark.parametrize("validated", [0, 5])
def test_easyr1_prints_a_block_of_yaml(ray: str, validated: int, tmp_path: Path) -> None:
    session = session_of(easyr1(ray, validated), tmp_path, "frameworks.verl")
    assert value(session, "sustained") == pytest.approx(1600)
    stated = {"model": "tiny-lm", "devices_per_node": 8, "nodes": 1}
    assert facts_of(session) == stated
    both = log_of([*easyr1(ray, validated), *easyr1(ray)], tmp_path).sessions
    assert [value(each, "sustained") for each in both] == pytest.approx([1600] * 2)
