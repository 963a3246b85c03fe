"""What users of trainers of reinforcement learning left in public, and of their fine-tuning.

Lines are made up; figures are worked out by hand.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from test_dialects import facts_of, log_of, reason, session_of, value

from ingest.compute.measurement import measured
from parsers.engine.read import read
from schema.records import Figure, NoFigure


def clock(seconds: float) -> str:
    """Return seconds as a bar draws them."""
    minutes, rest = divmod(int(seconds), 60)
    return f"{minutes // 60}:{minutes % 60:02d}:{rest:02d}" if minutes >= 60 else f"{minutes:02d}:{rest:02d}"


# verl


def old_verl(devices: int) -> Iterator[str]:
    """Yield steps of 240,000 tokens in 60 s, and every fifth one with 20 s of validation."""
    yield "(main_task pid=7) {'actor_rollout_ref': {'actor': {'ppo_mini_batch_size': 128}},"
    yield "(main_task pid=7)  'trainer': {'critic_warmup': 0,"
    yield f"(main_task pid=7)              'n_gpus_per_node': {devices},"
    yield "(main_task pid=7)              'nnodes': 1}}"
    for step in range(1, 41):
        tested = step % 5 == 0
        seconds = "timing_s/testing:20.000 - timing_s/step:80.000" if tested else "timing_s/step:60.000"
        yield f"(main_task pid=7) epoch 0, step {step}"
        yield (
            f"(main_task pid=7) step:{step} - global_seqlen/min:9000.000 - global_seqlen/mean:{240000 / devices:.3f} - "
            f"actor/lr:0.000 - {seconds} - timing_per_token_ms/gen:0.875"
        )


@pytest.mark.parametrize("devices", [1, 4])
def test_verl_of_early_2025_prints_tokens_of_a_device_and_seconds(devices: int, tmp_path: Path) -> None:
    session = session_of(list(old_verl(devices)), tmp_path, "frameworks.verl")
    assert value(session, "sustained", devices=devices) == pytest.approx(4000)


@pytest.mark.parametrize(("rows", "agrees"), [(False, True), (True, True), (False, False)])
def test_verl_omni_counts_images(rows: bool, agrees: bool, tmp_path: Path) -> None:
    lines = ["{'actor_rollout_ref': {'actor': {}},", " 'trainer': {'n_gpus_per_node': 4, 'nnodes': 1}}"]
    for step in range(1, 41):
        # On half of the devices the speed would be another.
        told = {
            "timing_s/step": 20.0 + step % 3,
            "perf/total_num_images": 64,
            "perf/time_per_step": 20.0 + step % 3,
            "perf/throughput": 64 / (20.0 + step % 3) / (4 if agrees else 2),
        }
        joined = " - ".join(f"{name}:{each}" for name, each in told.items())
        lines.append(json.dumps({"step": step, "data": told}) if rows else f"step:{step} - {joined}")
    session = session_of(lines, tmp_path, "frameworks.verl")
    if agrees:
        assert value(session) == pytest.approx(64 * 40 / (13 * 20 + 14 * 21 + 13 * 22))
    else:
        assert reason(session) == "lines_contradict"


@pytest.mark.parametrize("named", [False, True])
def test_verl_begins_with_its_configuration(named: bool, tmp_path: Path) -> None:
    path = tmp_path / "train.log"
    head = "(main_task pid=7) TaskRunner hostname: node1, PID: 7\n" * named
    path.write_text("".join(head + "".join(f"{each}\n" for each in old_verl(devices)) for devices in (4, 8)))
    found = read(path).sessions
    assert [facts_of(each)["devices_per_node"] for each in found] == [4, 8]
    assert [value(each, "sustained", devices=n) for each, n in zip(found, (4, 8), strict=True)] == pytest.approx(
        [4000] * 2
    )


def test_a_timer_of_verl_that_stops_before_each_checkpoint_holds_none(tmp_path: Path) -> None:
    """240,000 tokens in 60 s; behind each step 20 s of a validation and of a checkpoint."""
    lines = [
        f"step:{step} - actor/lr:1e-06 - timing_s/gen:30.0 - timing_s/step:60.0 - timing_s/testing:15.0 - "
        "timing_s/save_checkpoint:5.0 - perf/total_num_tokens:240000 - perf/time_per_step:60.0 - perf/throughput:500.0"
        for step in range(1, 41)
    ]
    session = session_of(lines, tmp_path, "frameworks.verl")
    found = measured(session, facts_of(session)).headline
    assert isinstance(found, Figure), found
    assert found.value == pytest.approx(4000)


def test_verl_writes_rows_of_json_to_a_file(tmp_path: Path) -> None:
    rows = [
        {"timing_s/testing": 20.0, "timing_s/step": 80, "perf/total_num_tokens": 240000, "perf/time_per_step": 80.0}
        if step % 5 == 0
        else {"actor/lr": 1e-6, "perf/total_num_tokens": 240000, "perf/time_per_step": 60.0, "perf/throughput": 500.0}
        for step in range(1, 41)
    ]
    lines = [json.dumps({"step": step, "data": each}, separators=(",", ":")) for step, each in enumerate(rows, 1)]
    assert value(session_of(lines, tmp_path, "frameworks.verl"), "sustained") == pytest.approx(4000)


def verl_sft(copies: int, shared: int, *, bars: bool) -> Iterator[str]:
    """Yield two epochs of 40 steps of 64 samples in 8 s, with a validation of 30 s in the middle of each."""
    yield f"Normalize batch size by dp {copies}"
    yield f"Using sequence parallel size: {shared}"
    yield f"{{'data': {{'train_batch_size': {64 // copies}, 'micro_batch_size_per_gpu': 2}},"
    yield " 'trainer': {'nnodes': 1, 'n_gpus_per_node': 8}}"
    for epoch in (0, 1):
        waited = 0
        for step in range(1, 41):
            number = 40 * epoch + step
            told = f"step:{number} - train/loss:1.5 - train/lr(1e-3):0.01{'' if bars else ' - train/time(s):7.75'}"
            seconds = 8 * (step - 1) + waited
            bar = f"Epoch {epoch + 1}/2:  {step}%|#  | {step - 1}/40 [{clock(seconds)}<05:00,  8.00s/it]"
            yield bar + told if bars else told
            if step == 20:
                waited = 30
                yield f"step:{number} - val/loss:1.25"


@pytest.mark.parametrize(("copies", "shared"), [(4, 1), (2, 2), (1, 8)])
def test_verl_prints_the_batch_of_a_copy_when_it_fine_tunes(copies: int, shared: int, tmp_path: Path) -> None:
    session = session_of(list(verl_sft(copies, shared, bars=True)), tmp_path, "frameworks.verl_sft")
    stated = facts_of(session)
    assert (stated["batch_size_of_job"], stated["devices"]) == (64, copies * shared)
    assert value(session, "sustained", batch_size_of_job=64, devices=copies * shared) == pytest.approx(8)


def test_verl_fine_tunes_without_bars(tmp_path: Path) -> None:
    session = session_of(list(verl_sft(4, 1, bars=False)), tmp_path, "frameworks.verl_sft")
    assert value(session, "sustained", batch_size_of_job=64, devices=4) == pytest.approx(64 / 7.75)


# NeMo-RL


def nemo_rl(nodes: int) -> Iterator[str]:
    yield from (
        "Loaded configuration from: examples/configs/grpo.yaml",
        "Final config:",
        f"{{'cluster': {{'gpus_per_node': 4, 'num_nodes': {nodes}}},",
        " 'env': {'judge': {'model_name': 'acme/judge', 'num_nodes': 1}},",
        " 'policy': {'generation': {'backend': 'vllm', 'temperature': 1.0},",
        "            'model_name': 'acme/tiny-lm',",
        "            'train_global_batch_size': 512}}",
    )
    for step in range(1, 21):
        yield f"========================= Step {step}/50 ========================="
        yield f"  • Total step time: 60.00s\n    - E2E (Tokens/sec/gpu): {256.25 * nodes:.2f}"


def test_nemo_rl_states_its_model_and_machines(tmp_path: Path) -> None:
    path = tmp_path / "train.log"
    path.write_text("".join(f"{each}\n" for nodes in (2, 4) for each in nemo_rl(nodes)))
    stated = [(facts_of(each), value(each, devices=8)) for each in read(path).sessions]
    assert [(each["model"], each["devices_per_node"], each["nodes"]) for each, _ in stated] == [
        ("acme/tiny-lm", 4, 2),
        ("acme/tiny-lm", 4, 4),
    ]
    assert [each for _, each in stated] == [8 * 512.5, 8 * 1025]


# OpenRLHF


def openrlhf(words: str, command: str = "") -> Iterator[str]:
    """Yield two epochs of 60 batches of 2 on 4 devices in 5 s, and an evaluation of 45 s behind every 20th."""
    yield f"deepspeed --module openrlhf.cli.train --train_batch_size 64 --micro_train_batch_size 2 {command}"
    for epoch in (0, 1):
        seconds, states = 0, list[str]()
        for batch in range(1, 61):
            seconds += 5
            # Words are set before the batch counts.
            for done in (batch - 1, batch):
                at = f"{done}/60 [{clock(seconds)}<05:00,  5.00s/it, {words}]"
                states.append(f"Train step of epoch {epoch}:  {done}%|#  | {at}")
            if batch % 20 == 0:
                seconds += 45
                states.append(f"Eval stage of steps {batch}: 100%|###| 9/9 [00:45<00:00,  5.00s/it, eval {words}]")
        yield "\r".join(states)


@pytest.mark.parametrize("words", ["gpt_loss=1.5, lr=5e-6", "loss=0.69, acc=0.5, chosen_reward=0.1, reject_reward=0.1"])
def test_openrlhf_draws_a_batch_before_it_counts(words: str, tmp_path: Path) -> None:
    session = session_of(list(openrlhf(words)), tmp_path, "frameworks.openrlhf_bars")
    assert value(session, "sustained", batch_size=2, devices=4) == pytest.approx(2 * 4 / 5)


def test_devices_that_share_samples_are_no_copies_in_openrlhf(tmp_path: Path) -> None:
    lines = list(openrlhf("gpt_loss=1.5", "--ring_attn_size 2"))
    assert reason(session_of(lines, tmp_path, "frameworks.openrlhf_bars"), batch_size=2, devices=4) == "no_records"


# Environments


def stable_baselines(steps: int) -> Iterator[str]:
    """Yield iterations of 20 s, and an evaluation of 15 s in every tenth."""
    yield "Using cuda device"
    seconds = 0
    for iteration in range(1, 41):
        seconds += 20
        if iteration % 10 == 0:
            seconds += 15
            yield f"Eval num_timesteps={steps * iteration}, episode_reward=150.25 +/- 12.50"
            yield f"| time/              |          |\n|    total_timesteps | {steps * iteration:<8} |"
        yield f"|    fps                  | {steps * iteration // seconds:<11} |"
        yield f"|    iterations           | {iteration:<11} |"
        yield f"|    time_elapsed         | {seconds:<11} |"
        yield f"|    total_timesteps      | {steps * iteration:<11} |"


def test_stable_baselines_prints_steps_and_seconds_since_the_start(tmp_path: Path) -> None:
    path = tmp_path / "train.log"
    path.write_text("".join(f"{each}\n" for steps in (2048, 4096) for each in stable_baselines(steps)))
    found = read(path).sessions
    assert [each.format.id for each in found] == ["frameworks.env_steps"] * 2
    assert [value(each, "sustained") for each in found] == pytest.approx([102.4, 204.8])


@pytest.mark.parametrize("behaviors", [1, 2])
def test_ml_agents_prints_the_steps_of_each_behavior(behaviors: int, tmp_path: Path) -> None:
    lines = [
        f"[INFO] Agent{each}. Step: {5000 * n}. Time Elapsed: {20.5 * n:.3f} s. Mean Reward: 0.5. Training."
        for n in range(1, 41)
        for each in range(behaviors)
    ]
    session = session_of(lines, tmp_path, "frameworks.env_steps")
    if behaviors == 1:
        assert value(session, "sustained") == pytest.approx(5000 / 20.5)
    else:
        assert reason(session, "sustained") == "no_records"


@pytest.mark.parametrize(
    "line",
    [
        "    Learning iteration {step}/150\n\n    Computation: 4096 steps/s (collection: 1.250s, learning 0.500s)",
        "fps step: 9000 fps step and policy inference: 8000 fps total: 4096 epoch: {step}/150 frames: 65536",
    ],
)
def test_speeds_of_robots_are_those_of_the_whole_iteration(line: str, tmp_path: Path) -> None:
    lines = [line.format(step=step) for step in range(150)]
    assert value(session_of(lines, tmp_path, "frameworks.env_steps"), "sustained") == pytest.approx(4096)


def robots(fps: int, *, totals: bool = True, old: bool = False) -> list[str]:
    """Return every second of 80 iterations of RSL-RL: 98,304 steps in 2.4 s, and 0.331 s of learning."""
    lines = []
    for i in range(0, 80, 2):
        total = 98_304 * (i + 1)
        lines += ["#" * 80, f"\x1b[1m{f' Learning iteration {i}/1500 '.center(80)}\x1b[0m ", ""]
        if old:
            lines.append(f"{'Computation:':>35} {fps} steps/s (collection: 2.400s, learning 0.331s)")
        else:
            lines += [f"{'Total steps:':>40} {total} ", f"{'Steps per second:':>40} {fps} "]
            lines += [f"{'Collection time:':>40} 2.400s ", f"{'Learning time:':>40} 0.331s "]
        lines += [f"{'Mean reward:':>40} 10.50", f"{'Iteration time:':>40} 2.73s"]
        lines += ["-" * 80, f"{'Total timesteps:':>35} {total}"] if old and totals else []
    return lines


@pytest.mark.parametrize("told", [{}, {"old": True}, {"old": True, "totals": False}])
def test_rsl_rl_prints_the_steps_of_all_environments(told: dict[str, bool], tmp_path: Path) -> None:
    session = session_of(robots(35_995, **told), tmp_path, "frameworks.env_steps")
    assert value(session) == pytest.approx(35_995)


@pytest.mark.parametrize("old", [True, False])
def test_speeds_of_rsl_rl_are_those_of_the_steps_so_far(old: bool, tmp_path: Path) -> None:
    session = session_of(robots(71_990, old=old), tmp_path, "frameworks.env_steps")
    told = measured(session, facts_of(session)).headline
    assert isinstance(told, NoFigure)
    assert (told.reason.code, told.reason.args["witness"]) == ("withheld", "arithmetic")


@pytest.mark.parametrize(("times", "before", "right"), [(1, 0, True), (1, 10**6, True), (2, 0, False)])
def test_steps_of_stable_baselines_are_those_of_its_fps(times: int, before: int, right: bool, tmp_path: Path) -> None:
    # A run that goes on from another counts the steps of both.
    lines = ["Using cuda device"]
    for i in range(1, 41):
        told = {"fps": 204, "iterations": i, "time_elapsed": 10 * i, "total_timesteps": before + 2048 * i * times}
        lines += [f"|    {name:<20} | {number:<11} |" for name, number in told.items()]
    session = session_of(lines, tmp_path, "frameworks.env_steps")
    if right:
        assert value(session, "sustained") == pytest.approx(204.8)
    else:
        assert reason(session, "sustained") == "lines_contradict"


def rllib(trials: int) -> Iterator[str]:
    """Return 30 iterations of 4000 steps in 3.25 s of each trial, of which every tenth evaluates for 10 s."""
    for i in range(1, 31):
        for trial in range(trials):
            evaluates = ["  evaluation:", "    episode_reward_mean: 100.0"] if i % 10 == 0 else []
            yield from [f"Result for PPO_CartPole-v1_5f2c1_{trial:05}:", "  done: false", *evaluates]
            yield from ["  time_this_iter_s: 3.25", f"  time_total_s: {3.25 * i + 10 * (i // 10)}", "  timers:"]
            yield from ["    learn_time_ms: 1250.5", f"  timesteps_total: {4000 * i}", f"  training_iteration: {i}"]
            yield from [f"  trial_id: 5f2c1_{trial:05}", "  ", "== Status =="]


def test_a_trial_of_rllib_is_a_run(tmp_path: Path) -> None:
    session = session_of([*rllib(1)], tmp_path, "frameworks.env_steps")
    assert value(session, "sustained") == pytest.approx(4000 / 3.25)
    session = session_of([*rllib(2)], tmp_path, "frameworks.env_steps")
    assert reason(session, "sustained") == "no_records"


# EasyR1 and SkyRL


def easyr1(ray: str, validated: int = 0, lie: float = 1.0) -> list[str]:
    """Return blocks of steps of 80,000 tokens in 50 s on eight devices, of which some hold a validation of 100 s."""
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
        lines += ["  mfu_actor: 0.31", f"  throughput: {lie * 10000 / took:.3f}", f"  time_per_step: {took}"]
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
    assert reason(session_of(easyr1(ray, lie=3.0), tmp_path, "frameworks.verl")) == "lines_contradict"
    both = log_of([*easyr1(ray, validated), *easyr1(ray)], tmp_path).sessions
    assert [value(each, "sustained") for each in both] == pytest.approx([1600] * 2)


def test_skyrl_prints_the_sequences_and_the_seconds_of_a_step(tmp_path: Path) -> None:
    # 640 sequences in 80 s; behind every fifth step an evaluation of as many.
    head, lines = "(skyrl_entrypoint pid=12) 2026-11-20 10:00:00.500 | INFO     | skyrl_train.trainer:train:200 - ", []
    for n in range(1, 31):
        step = ["Started: 'step'", "Finished: 'generate', time cost: 40.00s", "Number of sequences: 640"]
        step += ["Finished: 'train_critic_and_policy', time cost: 40.00s", "Finished: 'step', time cost: 80.00s"]
        lines += step + (["Number of sequences: 640", "Finished: 'eval', time cost: 200.00s"] if n % 5 == 0 else [])
    session = session_of([head + each for each in lines], tmp_path, "frameworks.rl_seconds")
    assert len(session.records[2]) == 30
    assert value(session) == 8


# Habitat


@pytest.mark.parametrize("recent", [False, True])
def test_habitat_prints_frames_with_a_timestamp(recent: bool, tmp_path: Path) -> None:
    """7,500 frames per 10 updates, which take 150 s."""
    lines = []
    for number in range(1, 41):
        at = f"2026-11-20 {10 + number * 150 // 3600:02d}:{number * 150 // 60 % 60:02d}:{number * 150 % 60:02d},500 "
        told = f"frames: {7500 * number}" if not recent else f"Num updates: {10 * number}\tNum frames {7500 * number}"
        lines += [f"{at}update: {10 * number}\tfps: 49.500\t"]
        lines += [at + told if recent else f"{at}update: {10 * number}\tenv-time: 9.500s\tpth-time: 5.250s\t{told}"]
    assert value(session_of(lines, tmp_path, "frameworks.habitat"), "sustained") == pytest.approx(50)
