"""What trainers of language models print, their copies, and what carries their lines: figures worked out by hand."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from test_dialects import ALL, ONE, facts_of, figure, log_of, reason, session_of, value

from ingest.compute.measurement import measured
from parsers.engine.scan import Noise, chunks
from schema.records import Figure, NoFigure, Reason

# modded-nanogpt and parameter-golf


def golf(step: int, ms: int, more: str = "") -> str:
    return f"step:{step}/20000 train_loss:2.3750 train_time:{ms}ms step_avg:{ms / step:.2f}ms{more}"


GOLF = ["world_size:8 grad_accum_steps:1", "train_batch_tokens:524288 train_seq_len:1024 iterations:20000"]


@pytest.mark.parametrize(
    "more", ["", "   ", " lr_scale:0.5000", " qat:1 ", " tok/s:1048576", " tok_s:1", " tok_s:1 [TTT]"]
)
def test_a_copy_of_parameter_golf_may_print_more_behind_the_mean(more: str, tmp_path: Path) -> None:
    # 200 steps take 100 s, whatever speed the copy states.
    session = session_of(
        [*GOLF, *(golf(200 * n, 100_000 * n, more) for n in range(1, 8))], tmp_path, "frameworks.modded_nanogpt"
    )
    assert value(session, ALL) == pytest.approx(524288 * 2)


def test_a_copy_of_modded_nanogpt_may_print_seconds(tmp_path: Path) -> None:
    # 0.25 s each, and every fourth 0.5 s; its clock stands still while it validates.
    lines, seconds = GOLF[1:], 0.0
    for n in range(1, 42):
        seconds += 0.5 if n % 4 == 0 else 0.25
        lines.append(f"step:{n}/41 train_time:{seconds:.3f}s step_avg:{1000 * seconds / n:.2f}ms")
        lines += [f"step:{n}/41 val_loss:3.28000 train_time:{seconds:.3f}s step_avg:312.50ms"] if n % 10 == 0 else []
    session = session_of(lines, tmp_path, "frameworks.modded_nanogpt")
    assert value(session, ALL) == pytest.approx(524288 * 40 / (30 * 0.25 + 10 * 0.5))


@pytest.mark.parametrize("line", [
    "step {}, loss: 9.5, dt: {:.2f}ms, tok/sec: {:.2f}",
    "step {:4d} | loss: 9.5 | dt: {:7.2f}ms | tok/sec: {:8.2f}",
    "step {}, loss: 9.5, | lr: 0.0003 | norm: 1.2500 | dt: {:.2f}ms | tok/sec: {} |  mfu 40.00%",
])  # fmt: skip
def test_the_programs_that_lead_up_to_build_nanogpt(line: str, tmp_path: Path) -> None:
    seconds = [0.5 if n % 4 == 3 else 0.25 for n in range(40)]
    lines = [line.format(n, 1000 * took, 16384 / took) for n, took in enumerate(seconds)]
    session = session_of(lines, tmp_path, "frameworks.nanogpt")
    assert value(session, ALL) == pytest.approx(16384 * 40 / (30 * 0.25 + 10 * 0.5))


@pytest.mark.parametrize("more", ["", " tok_s:1048576", " lr_scale:0.5"])
def test_the_time_of_mlx_counts_nowhere(more: str, tmp_path: Path) -> None:
    # Validations are within its time: 200 steps of 0.5 s, and 100 s of validation.
    lines = ["mlx_version:0.29.1", GOLF[1], *(golf(200 * n, 200_000 * n, more) for n in range(1, 8))]
    session = session_of(lines, tmp_path, "frameworks.modded_nanogpt")
    if "tok_s" in more:
        assert value(session, ALL) == pytest.approx(524288 * 2)
    else:
        assert isinstance(figure(session), NoFigure)


# llm.c


@pytest.mark.parametrize("norm", [" norm 1.2500 |", ""])
def test_llm_c_in_pytorch_prints_its_seconds_in_brackets(norm: str, tmp_path: Path) -> None:
    # 0.25 s each, and every fourth 0.5 s; the validation is in none of them.
    lines = ["total desired batch size: 65536", "=> calculated gradient accumulation steps: 4"]
    for step in range(1, 41):
        ms = 500 if step % 4 == 0 else 250
        speed = 65536 * 1000 / ms
        lines += ["val loss 3.275000"] if step % 10 == 1 else []
        lines.append(f"step {step:4d}/40 | train loss 9.512500 |{norm} lr 2.50e-04 | ({ms:.2f} ms | {speed:.0f} tok/s)")
    session = session_of(lines, tmp_path, "frameworks.nanogpt")
    assert facts_of(session)["tokens_per_step"] == 65536
    assert value(session, ALL) == pytest.approx(65536 * 40 / (30 * 0.25 + 10 * 0.5), rel=1e-4)


TABLE = [
    "| train data pattern    | dev/data/fineweb10B/fineweb_train_*.bin            |",
    "| total batch size      | 524288                                             |",
]


DESIRED = "total desired batch size: 524288"
BRACKETS = "step {n:4d}/200 | train loss 7.125000 | norm 1.2500 | lr 3.00e-05 | ({ms:.2f} ms | {speed} tok/s)"
CUDA = (
    "step {n:4d}/200 | loss 7.12 (+1.50z)| norm 1.25 (-0.50z)| lr 3e-05 | {ms:.2f} ms | 40.1% bf16 MFU | {speed} tok/s"
)
FP32 = "step {n:4d}/200: train loss 7.125000 ({ms:.6f} ms, {speed} tok/s)"
NANO = "step {n:5d} | loss: 7.125 | lr 3.0000e-05 | norm: 1.2500 | dt: {ms:.2f}ms | tok/sec: {speed}.00"


@pytest.mark.parametrize(
    ("head", "line"),
    [(TABLE, CUDA), (TABLE[:1], FP32), ([DESIRED], BRACKETS), ([DESIRED], NANO), ([DESIRED] * 4, NANO)],
)
def test_a_resumption_is_a_start_of_its_own(head: list[str], line: str, tmp_path: Path) -> None:
    # Killed after step 97, and resumed behind step 80 with a slow step, which is no part of the steady half second.
    lines = []
    for first, last in ((1, 97), (81, 200)):
        seconds = [20.0 if n == first else 0.5 for n in range(first, last + 1)]
        steps = enumerate(seconds, first)
        lines += [*head, *(line.format(n=n, ms=1000 * took, speed=round(524288 / took)) for n, took in steps)]
    log = log_of(lines, tmp_path)
    assert [value(each, "sustained") for each in log.sessions] == pytest.approx([524288 * 2] * 2)


# nanochat


@pytest.mark.parametrize("between", ["", "lrm: 1.00 | ", "grad norm: 0.5000 | lrm: 1.00 | "])
def test_a_copy_of_nanochat_may_print_nothing_between_loss_and_seconds(between: str, tmp_path: Path) -> None:
    line = "step {n:05d} ({n:.2f}%) | loss: 2.5 | {between}dt: 500.00ms | tok/sec: 1,048,576 | bf16_mfu: 40.00%"
    session = session_of([line.format(n=n, between=between) for n in range(30)], tmp_path, "frameworks.nanogpt")
    assert value(session, ALL) == pytest.approx(1048576)


# nanotron


@pytest.mark.parametrize("stalled", [False, True])
def test_the_american_dates_of_nanotron_tell_of_stalls_between_its_lines(stalled: bool, tmp_path: Path) -> None:
    # Each line is of one iteration of half a second; in the nine before it one may wait three seconds more.
    lines = []
    for n in range(1, 16):
        at = (5 + 3 * stalled) * n
        lines.append(
            f"11/30/2026 23:{58 + at // 60:02d}:{at % 60:02d} [INFO|DP=0|PP=0|TP=0|host]: " if at < 120 else
            f"12/01/2026 00:{at // 60 - 2:02d}:{at % 60:02d} [INFO|DP=0|PP=0|TP=0|host]: "
        )  # fmt: skip
        lines[-1] += (
            f"iteration: {10 * n} / 150 | consumed_tokens: {n}.31M | time_per_iteration_ms: 500 | "
            "tokens_per_sec: 262K | tokens_per_sec_per_gpu: 262K | global_batch_size: 131K | lm_loss: 9.12 | "
            "lr: 0.0003 | model_tflops_per_gpu: 412 | grad_norm: 1.5"
        )
    session = session_of(lines, tmp_path, "frameworks.nanotron")
    found = measured(session, facts_of(session) | {"devices": 1})
    clock = next(each for each in found.witnesses if each.kind == "clock")
    assert clock.verdict == ("disagrees" if stalled else "agrees")
    assert isinstance(found.headline, NoFigure if stalled else Figure)


# torchtune


def torchtune(epoch: int, steps: int) -> list[str]:
    """Return the bar of an epoch of half a second a step behind the first one of 40 s, in whole seconds."""
    taken = [40 + (n - 1) / 2 for n in range(1, steps + 1)]
    shown = [f"{int(each) // 60:02d}:{int(each) % 60:02d}" for each in taken]
    return [
        f"{epoch}|{n}|Loss: 1.25:  10%|#  | {n}/{steps} [{each}<00:10,  2.00it/s]" for n, each in enumerate(shown, 1)
    ]


def test_a_bar_of_a_few_whole_seconds_gives_no_figure(tmp_path: Path) -> None:
    # The eleven steps behind the first one show as five or six seconds.
    head = ["Running LoRAFinetuneRecipeSingleDevice with resolved config:", "batch_size: 4"]
    head += ["gradient_accumulation_steps: 1"]
    short = session_of([*head, *torchtune(1, 12)], tmp_path, "frameworks.torchtune")
    assert reason(short, "sustained") == "coarse_seconds"
    long = session_of([*head, *torchtune(1, 161), *torchtune(2, 12)], tmp_path, "frameworks.torchtune")
    assert value(long, "sustained") == pytest.approx(8, rel=0.01)


# TRL


def test_two_counts_of_tokens_are_one_interval(tmp_path: Path) -> None:
    # 20,000 tokens in 40 s.
    lines = [
        f"{{'loss': 1.25, 'learning_rate': 1e-05, 'num_tokens': {tokens}.0, 'epoch': 0.05}}\n"
        f" {step}%|#    | {step}/100 [00:{at:02d}<01:00,  4.00s/it]"
        for step, tokens, at in ((5, 9000, 10), (15, 29000, 50))
    ]
    session = session_of(lines, tmp_path, "frameworks.trl")
    assert value(session, "sustained") == pytest.approx(500)


# AReaL


@pytest.mark.parametrize("waited", [0, 40])
def test_the_seconds_since_the_start_of_areal_tell_of_time_between_its_steps(waited: int, tmp_path: Path) -> None:
    # A step takes 200 s, and every fourth 300 s.
    lines, total = [], 150.0
    for n in range(1, 21):
        took = 300 if n % 4 == 0 else 200
        total += took + waited
        lines.append(
            f"20261120-11:11:56 master worker INFO: Epoch 1/1 step {n}/20 (global step {n}) finishes. Average #tokens "
            f"per batch is 111000. #End to end# execution time: *{took}.125*s. Total time consumption: {total}s. "
        )
    session = session_of(lines, tmp_path, "frameworks.rl_seconds")
    found = measured(session, {"batch_size_of_job": 512}).headline
    if waited:
        assert isinstance(found, NoFigure)
    else:
        assert isinstance(found, Figure)
        assert found.value == pytest.approx(512 / 225, rel=1e-3)


# llama-recipes


@pytest.mark.parametrize("ranks", [1, 2])
def test_llama_recipes_evaluates_between_its_bars(ranks: int, tmp_path: Path) -> None:
    # Each of two devices trains 4 sequences in 4 s, and every fifth time in 9 s; two batches are an update. Each epoch
    # begins slowly, and an evaluation of 30 s follows it.
    lines = [
        "torchrun --nnodes 1 --nproc_per_node 2 finetuning.py --batch_size_training 4 --gradient_accumulation_steps 2"
    ]
    lines += ["--> Model acme/tiny-lm", "", "--> Training Set Length = 160"]
    for epoch in (1, 2):
        drawn, seconds = "", 20
        for n in range(1, 41):
            seconds += 9 if n % 5 == 0 else 4
            bar = f"{n // 2}/20 [{seconds // 60:02d}:{seconds % 60:02d}<01:00,  9.00s/it]"
            drawn += f"\rTraining Epoch: {epoch}/2, step {n - 1}/40 completed (loss: 1.25):   5%|#   | {bar}" * ranks
        lines += [drawn, "\revaluating Epoch: 100%|####| 8/8 [00:30<00:00,  3.75s/it]"]
        lines += [f"Epoch {epoch}: train_perplexity=3.5, train_epoch_loss=1.25, epoch time {seconds}.25s"]
    session = session_of(lines, tmp_path, "frameworks.llama_recipes")
    assert value(session, "sustained", devices=2) == pytest.approx(2 * 4 / 5, rel=0.02)


# OpenLM


def test_open_lm_counts_sequences_in_the_words_of_open_clip(tmp_path: Path) -> None:
    # Ten batches of 64 sequences a line, of half a second each, but of four seconds in every fourth line.
    lines = [
        f"2026-11-20,{at(10 * n)[11:]} | INFO | Train Epoch: 0 [{640 * n + 64:8d}/1000000 (1%)] Loss: 8.500 "
        f"Data (t): 0.010 Batch (t): {4 if n % 4 == 0 else 0.5:.3f}, 262144./s, 32768.0/s/gpu LR: 0.000300 "
        for n in range(41)
    ]
    session = session_of(lines, tmp_path, "frameworks.open_clip")
    assert value(session, "sustained:skip=1") == pytest.approx(64 * 40 / (30 * 0.5 + 10 * 4))


# What carries lines


@pytest.mark.parametrize(
    "label", ["{rank}: ", "[{rank}] ", "worker{rank}: ", "trainer-{rank}  | ", "[pod/job-{rank}/main] "]
)
@pytest.mark.parametrize(
    "stamp", ["Nov 20 01:02:03 ", "2026-11-20T01:02:03.123456789Z ", "2026-11-20T01:02:03.5+00:00 stdout F "]
)
@pytest.mark.parametrize("swapped", [False, True])
def test_a_stamp_beside_the_label_of_a_rank(swapped: bool, stamp: str, label: str, tmp_path: Path) -> None:
    # Both devices print 1000 tokens per second each, and their configuration, whose lines must begin with it.
    front = ["".join([stamp, label.format(rank=rank)][:: -1 if swapped else 1]) for rank in (0, 1)]
    lines = [
        front[0] + each for each in ("Running FullFinetuneRecipeDistributed with resolved config:", "batch_size: 4")
    ]
    lines += [f"{front[0]}world_size: 2"]
    for step in range(1, 21):
        lines.append(
            f"{front[0]}Step {step} | loss:1.25 lr:2e-05 tokens_per_second_per_gpu:1000.0 peak_memory_active:30.5 "
        )
        lines.append(f"{front[1]}0: a word of another rank")
    session = session_of(lines, tmp_path, "frameworks.torchtune")
    assert facts_of(session)["batch_size"] == 4
    assert value(session, ALL) == pytest.approx(2000)


# YOLOv7


def test_a_resumed_yolov7_is_a_start_of_its_own(tmp_path: Path) -> None:
    # The first epoch of either start takes 60 s for 100 batches, all others 50 s.
    lines = []
    for first, last in ((0, 3), (3, 8)):
        lines += [
            "YOLOR 🚀 v0.1-128-g12345 torch 2.1.0+cu118 CUDA:0 (NVIDIA A100-SXM4-40GB, 40536.1875MB)",
            f"{'CUDA:1':>40} (NVIDIA A100-SXM4-40GB, 40536.1875MB)", "",
            "Namespace(adam=False, batch_size=16, cfg='cfg/yolov7-w6.yaml', total_batch_size=32, world_size=2)",
        ]  # fmt: skip
        for epoch in range(first, last):
            took, rate = (60, "1.67") if epoch == first else (50, "2.00")
            bar = f"100/100 [{took // 60:02}:{took % 60:02}<00:00,  {rate}it/s]"
            lines += [
                "     Epoch   gpu_mem       box       obj       cls     total    labels  img_size",
                f"     {epoch}/7   8.2G   0.05   0.03   0.02   0.1   40   640: 100%|###| {bar}",
            ]
    log = log_of(lines, tmp_path)
    assert [value(each, "sustained") for each in log.sessions] == pytest.approx([32 * 2] * 2)
    facts = [facts_of(each) for each in log.sessions]
    assert [each["gpu"] for each in facts] == ["NVIDIA A100-SXM4-40GB"] * 2
    assert [each["model"] for each in facts] == ["yolov7-w6"] * 2


# Megatron-LM


@pytest.mark.parametrize("stalled", [False, True])
def test_the_dates_of_megatron_tell_of_time_that_no_interval_holds(stalled: bool, tmp_path: Path) -> None:
    # Ten iterations of two seconds; 20 s for the evaluation and the checkpoint behind every fifth line.
    lines, clock = [], 0.0
    for n in range(1, 41):
        clock += 20 + 6 * stalled
        lines.append(
            f" [{at(clock)}] iteration {10 * n:8d}/     400 | consumed samples: {640 * n:12d} | "
            f"elapsed time per iteration (ms): 2000.0 | learning rate: 1.5E-05 | "
            f"global batch size:    64 | lm loss: 7.25E+00 | loss scale: 1.0 |"
        )
        if n % 5 == 0:
            lines += [
                " validation loss at iteration 50 | lm loss value: 6.25E+00 | ",
                "saving checkpoint at iteration 50 to out",
            ]
            clock += 20
    session = session_of(lines, tmp_path, "dlperf.megatron")
    found = measured(session, facts_of(session))
    clock_says = next(each for each in found.witnesses if each.kind == "clock")
    assert (clock_says.verdict, clock_says.reason) == ("disagrees" if stalled else "agrees", None)
    assert (found.headline.value if isinstance(found.headline, Figure) else None) == (
        None if stalled else pytest.approx(32)
    )


# XTuner


@pytest.mark.parametrize("consumed", ["", "reduced_consumed_tokens: {} "])
def test_the_wait_for_data_is_a_part_of_a_step_of_xtuner(consumed: str, tmp_path: Path) -> None:
    # A step of one second waits a second for data each, and every fourth four seconds.
    line = (
        "[XTuner][RANK 0][{}][INFO] Step {n}/40 data_time: {waited:.4f} lr: 0.000020 time: 1.0000 text_tokens: 4096 {}"
        "total_loss: 1.722 reduced_llm_loss: 1.684 max_memory: 16.00 GB reserved_memory: 17.87 GB grad_norm: 13.948 "
        "tgs: 4096.0 e2e_tgs: 790.1 "
    )
    lines = [
        line.format(at(3 * n), consumed.format(4096 * n), n=n, waited=4 if n % 4 == 0 else 1) for n in range(1, 41)
    ]
    session = session_of(lines, tmp_path, "frameworks.xtuner")
    assert value(session, ALL, devices=1) == pytest.approx(4096 * 40 / (30 * 2 + 10 * 5))


# Steps that are all printed


def verl(n: int, lasted: int, saved: bool) -> list[str]:
    more = " - timing_s/save_checkpoint:np.float64(20.0)" if saved else ""
    speed = f"perf/total_num_tokens:240000 - perf/time_per_step:{lasted}.0 - perf/throughput:500.0"
    return [f"step:{n} - actor/lr:1e-06 - timing_s/gen:30.0{more} - timing_s/step:{lasted} - {speed}"]


def nemo_rl(n: int, lasted: int, saved: bool) -> list[str]:
    return [
        f"========================= Step {n}/40 =========================",
        *([f"Saving checkpoint for step {n}..."] if saved else []),
        f"  • Total step time: {lasted}.00s\n    - E2E (Tokens/sec): {240000 / lasted:.2f}",
        "    - E2E (Tokens/sec/gpu): 1.5",
    ]


@pytest.mark.parametrize(("printer", "lines_of"), [("verl", verl), ("nemo_rl", nemo_rl)])
@pytest.mark.parametrize("inside", [True, False])
def test_a_step_with_a_short_checkpoint_is_left_out(
    inside: bool, printer: str, lines_of: Callable[[int, int, bool], list[str]], tmp_path: Path
) -> None:
    # 60 s and 240,000 tokens each; every fifth step saves for 20 s more, in some versions outside of the step.
    steps = [lines_of(n, 80 if n % 5 == 0 and inside else 60, n % 5 == 0) for n in range(1, 41)]
    session = session_of([line for each in steps for line in each], tmp_path, f"frameworks.{printer}")
    assert value(session, "sustained") == pytest.approx(4000)


@pytest.mark.parametrize("said", ["Saving model checkpoint: out/global_step50/mp_rank_00_model_states.pt",
                                  "[Torch] Checkpoint global_step50 is about to be saved!"])  # fmt: skip
def test_a_checkpoint_of_deepspeed_is_in_an_interval_of_neox(said: str, tmp_path: Path) -> None:
    # Ten iterations of half a second, and behind every fifth line 5 s for a checkpoint.
    lines = []
    for n in range(1, 41):
        each = 1.0 if n % 5 == 1 else 0.5
        lines.append(
            f" samples/sec: {64 / each:.3f} | iteration {10 * n:8d}/     400 | "
            f"elapsed time per iteration (ms): {1000 * each:.1f} | learning rate 9.375E-06 | "
            "approx flops per GPU: 24.5TFLOPS | lm_loss 1.0875E+01 | loss scale 65536.0 |"
        )
        lines += [f"[2026-11-20 10:11:12,500] [INFO] [logging.py:96:log_dist] [Rank 0] {said}"] if n % 5 == 0 else []
    assert value(session_of(lines, tmp_path, "dlperf.megatron"), "sustained") == pytest.approx(128)


# Programs that are started again in the same log, and do not say so


def picotron(n: int, seconds: float) -> str:
    speed = f"{131.072 / seconds:.2f}K"
    return f"[rank 0] Step: {n} | Loss: 8.9 | Global batch size: 131.07K | Tokens/s: {speed} | Tokens/s/GPU: 1.00K | "


def fairseq2(n: int, seconds: float) -> str:
    return (
        f"[11/20/26 10:00:00] INFO fairseq2.metrics - Train Metrics (step {10 * n}) - Loss: 2.5 | "
        f"Elements per Second: {131072 / seconds:.0f} | Total Time: 25s"
    )


@pytest.mark.parametrize(("printer", "line"), [("picotron", picotron), ("fairseq2", fairseq2)])
def test_the_first_record_of_a_program_started_again_is_a_warm_up(
    printer: str, line: Callable[[int, float], str], tmp_path: Path
) -> None:
    # Half a second each but for the first of either program, 8 s; killed at 60, and resumed from 55.
    lines = [line(n, 8.0 if n == 1 else 0.5) for n in range(1, 61)]
    lines += ["torchrun: died", *(line(n, 8.0 if n == 56 else 0.5) for n in range(56, 121))]
    session = session_of(lines, tmp_path, f"frameworks.{printer}")
    assert value(session, "sustained") == pytest.approx(262144, rel=1e-4)


# LitGPT


def test_the_seconds_of_a_run_of_litgpt_tell_of_its_waits(tmp_path: Path) -> None:
    # 100 iterations of a second take 150 s; the lines tell of 99 s between the first and the last.
    lines = [
        f"Epoch 1 | iter {n} step {n} | loss train: 8.8, val: n/a | iter time: 1000.00 ms (step) remaining time: 0:00"
        for n in range(1, 101)
    ]
    lines += ["| Performance", "| - Training Time : 150.00 s", "| - Tok/sec       : 0.12 tok/s"]
    session = session_of(lines, tmp_path, "frameworks.litgpt")
    assert session.ending.outcome == "completed"
    summary = next(each for each in measured(session, ONE).witnesses if each.kind == "summary")
    assert summary.reason is not None
    assert (summary.reason.code, summary.reason.args) == ("summary_holds_more", {"percent": "34"})


# Composer


def test_a_run_of_composer_that_prints_no_epoch_is_completed_by_its_last_batch(tmp_path: Path) -> None:
    lines = [
        f"[batch={n}/400]:\n\t Train loss/train/total: 9.5\n\t Train throughput/tokens_per_sec: 131072.0000"
        for n in range(10, 401, 10)
    ]
    outcomes = [session_of(each, tmp_path, "frameworks.composer").ending.outcome for each in (lines, lines[:-5])]
    assert outcomes == ["completed", "truncated"]


# Meta Lingua


def test_lingua_counts_one_device_and_leaves_out_the_record_of_a_checkpoint(tmp_path: Path) -> None:
    # 12,500 tokens per second of each of two ranks; a checkpoint behind every tenth line makes the next half as fast.
    # The program was started again behind the 20th.
    lines = []
    for first, last in ((1, 25), (21, 40)):
        lines += [f"{rank}: INFO    26-11-20 09:59:00.000000 - 0:00:00 - Starting job: tiny" for rank in (0, 1)]
        for n in range(first, last + 1):
            stamp = f"INFO    26-{at(5 * n)[5:]}.250000 - 0:{n // 12:02d}:{5 * n % 60:02d} - "
            slow = n == first or n % 10 == 1
            lines += [
                f"{rank}: {stamp}step: {10 * n}  acc: 0  loss:  7.1250  grad: 1.25e+00  flops: 3.15e+14  "
                f"wps: {'6.25e+03' if slow else '1.25e+04'}  iter:  0.6512  data: 0.0004  lr: 3.00e-04  mem: 75%"
                for rank in (0, 1)
            ]
            if n % 10 == 0:
                lines += [f"{rank}: {stamp}Saving to: /ckpt/{10 * n:010d}" for rank in (0, 1)]
    log = log_of(lines, tmp_path)
    assert [each.format.id for each in log.claims] == ["frameworks.lingua"]
    assert [value(each, "sustained", devices=2) for each in log.sessions] == pytest.approx([25_000] * 2)


# Evaluations between lines that have clocks


def at(seconds: float) -> str:
    return f"2026-11-20 10:{int(seconds) // 60:02}:{int(seconds) % 60:02}"


def test_torchtitan_begins_its_timer_anew_behind_a_validation(tmp_path: Path) -> None:
    # Ten steps of half a second with 8192 tokens each, and a validation of 20 s behind every line.
    lines = []
    for n in range(1, 16):
        before, behind = (f"[titan] {at(seconds)},000 - root - INFO - " for seconds in (25 * n, 25 * n + 20))
        memory = "memory: 20.50GiB(25.88%)"
        lines += [
            f"{before}step: {10 * n}  loss:  7.12500  grad_norm:  1.25  {memory}  tps: 16,384  tflops: 1.25  mfu: N/A",
            f"{behind}validate step: {10 * n}  loss:  7.1250  {memory}  tps: 1,000",
        ]
    session = session_of(lines, tmp_path, "frameworks.torchtitan")
    found = measured(session, facts_of(session) | {"devices": 2}).headline
    assert isinstance(found, Figure)
    assert found.value == pytest.approx(2 * 16384)


def test_nanotron_saves_between_its_lines(tmp_path: Path) -> None:
    # Half a second each, and 20 s for a checkpoint behind every fifth line.
    lines, clock = [], 0.0
    for n in range(1, 61):
        clock += 0.5
        front = f"11/20/2026{at(clock)[10:]} [INFO|DP=0|PP=0|TP=0|host]: "
        lines.append(
            f"{front}iteration: {n} / 60 | consumed_tokens: 1.31M | time_per_iteration_ms: 500 | "
            "tokens_per_sec: 262K | tokens_per_sec_per_gpu: 262K | global_batch_size: 131K | lm_loss: 9.12 | lr: 0.0003"
        )
        if n % 5 == 0:
            lines.append(f"{front}Saving checkpoint at checkpoints/{n}")
            clock += 20
    session = session_of(lines, tmp_path, "frameworks.nanotron")
    found = measured(session, facts_of(session) | {"devices": 1}).headline
    assert isinstance(found, Figure)
    assert found.value == pytest.approx(262_000)


@pytest.mark.parametrize("stalled", [0, 3, 20])
def test_a_clock_that_agrees_says_what_it_knows_of_time_in_no_record(stalled: int, tmp_path: Path) -> None:
    # DeepSpeed's timer is of the last step before a line. Every fourth line comes later by so many seconds, be they a
    # wait or an evaluation.
    lines, clock = [], 0.0
    for n in range(1, 61):
        clock += 5 + stalled * (n % 4 == 0)
        lines.append(
            f"[{at(clock)},250] [INFO] [timer.py:199:stop] epoch=0/micro_step={10 * n}/global_step={10 * n}, "
            "RunningAvgSamplesPerSec=64.0, CurrSamplesPerSec=64.0, MemAllocated=3.96GB, MaxMemAllocated=22.5GB"
        )
    session = session_of(lines, tmp_path, "dlperf.deepspeed")
    found = measured(session, facts_of(session) | ONE | {"accumulation": 1})
    clock_says = next(each for each in found.witnesses if each.kind == "clock")
    assert clock_says.verdict == "agrees"
    assert isinstance(found.headline, Figure)
    more = 100 * stalled / 20
    assert clock_says.reason == (Reason("between_lines", {"percent": f"{more:g}"}) if stalled else None)


@pytest.mark.parametrize("told", [True, False])
def test_a_pause_that_a_line_tells_of_is_no_unknown_time(told: bool, tmp_path: Path) -> None:
    # OLMo-core's block is of one step in ten; behind every fourth block a checkpoint takes 20 s.
    lines, clock = [], 0.0
    for n in range(1, 41):
        clock += 5
        front = f"2026-11-20 {at(clock)[11:]}.250\thost:0\t"
        lines.append(
            f"{front}olmo_core.train.callbacks.console_logger:149\tINFO\t[step={10 * n}/400,epoch=1]\n"
            "    train/CE loss=9.250\n    throughput/device/TPS=16,384\n    throughput/device/BPS=2.0000"
        )
        if n % 4 == 0:
            clock += 20
            said = (
                f"{front}olmo_core.train.callbacks.checkpointer:300\tINFO\tSaving checkpoint for step {10 * n} to /ckpt"
            )
            lines += [said] if told else []
    session = session_of(lines, tmp_path, "frameworks.olmo_core")
    found = measured(session, facts_of(session) | {"devices": 1})
    clock_says = next(each for each in found.witnesses if each.kind == "clock")
    assert (clock_says.verdict, clock_says.reason is None) == ("agrees", told)
    assert isinstance(found.headline, Figure)


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16"])
def test_a_mark_of_an_encoding_within_joined_files_is_no_text(encoding: str, tmp_path: Path) -> None:
    path = tmp_path / "train.log"
    path.write_bytes(b"".join(f"word {n}\n".encode(encoding) for n in range(3)))
    (chunk,) = chunks(path, Noise())
    assert chunk.text == b"word 0\nword 1\nword 2\n"


@pytest.mark.parametrize("front", ["{rank}: {stamp}", "{stamp}{rank}: "])
def test_ranks_are_told_apart_beside_a_stamp(front: str, tmp_path: Path) -> None:
    text = "".join(front.format(rank=n % 2, stamp="Nov 20 01:02:03 ") + f"word {n}\n" for n in range(12))
    path = tmp_path / "train.log"
    path.write_text(text)
    (chunk,) = chunks(path, Noise())
    assert chunk.text.decode() == "".join(f"word {n}\n" for n in range(12))
    places = [chunk.text.index(b"word %d" % n) for n in range(12)]
    assert chunk.ranks(places) == [0, 1] * 6
