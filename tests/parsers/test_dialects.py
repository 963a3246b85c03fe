"""Dialects that no golden log shows, and lines that mean something only together; figures are worked out by hand."""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import golden
import numpy as np
import pytest

from ingest.compute import rules
from ingest.compute.frame import clock_set
from ingest.compute.measurement import measured
from ingest.compute.metrics import metrics
from ingest.compute.second_run import second_run
from parsers.engine.read import Log, read
from parsers.engine.session import Session
from schema.records import Figure, MetricFigure, NoFigure, Reason

#: The rule that drops no record.
ALL = "sustained:skip=0"
#: A job of one device, for printers of seconds.
ONE = {"devices": 1, "batch_size": 32}


def log_of(lines: Sequence[str], folder: Path, end: str = "\n") -> Log:
    # What a session states is read again when asked for, so that every log stays where it is.
    path = folder / f"train{len(list(folder.iterdir()))}.log"
    path.write_bytes("".join(f"{each}{end}" for each in lines).encode())
    return read(path)


def session_of(lines: Sequence[str], folder: Path, format_id: str, end: str = "\n") -> Session:
    log = log_of(lines, folder, end)
    assert [each.format.id for each in log.claims] == [format_id]
    (session,) = log.sessions
    return session


def golden_lines(format_id: str) -> list[str]:
    return golden.log_of(format_id).read_text().splitlines()


def facts_of(session: Session) -> dict[str, Any]:
    return {name: each.value for name, each in session.facts.items()}


def figure(session: Session, rule: str = ALL, **case: int) -> Figure | NoFigure:
    return rules.figure(rule, session, facts_of(session) | case)


def value(session: Session, rule: str = ALL, **case: int) -> float:
    found = figure(session, rule, **case)
    assert isinstance(found, Figure), found
    return found.value


def reason(session: Session, rule: str = ALL, **case: int) -> str:
    found = figure(session, rule, **case)
    assert isinstance(found, NoFigure), found
    return found.reason.code


def metrics_of(session: Session, **case: int) -> dict[str, MetricFigure | NoFigure]:
    return metrics(session, facts_of(session) | case, figure(session, "sustained", **case))


class Dialect(NamedTuple):
    """Lines of one session, and the figure that follows from them.

    Attributes:
        used: the number of records that count, where it is not plain from the lines.
        seconds: of one step, for printers that also state its samples.
    """

    format: str
    lines: Iterable[str]
    value: float
    rule: str = ALL
    case: dict[str, int] = {}  # noqa: RUF012
    used: int | None = None
    seconds: float | None = None


def fairseq_json(epoch: int, update: float, wps: float, updates: int, **more: str) -> str:
    stats = {"loss": "6.5", "wps": f"{wps:g}", "ups": "1", "wpb": "1000", "num_updates": f"{updates}", **more}
    return json.dumps({"epoch": epoch, "update": update, **stats})


def fairseq_old_epochs() -> list[str]:
    """Epochs of 400 batches; the second half of each takes twice as long as the first, which a running mean hides."""
    return [
        fairseq_json(epoch, epoch - 1 + done / 400, 1000 * done / seconds, 400 * (epoch - 1) + done, oom="0")
        for epoch in (1, 2, 3)
        for done, seconds in ((200, 200.0), (400, 600.0))
    ]


def fairseq_bar() -> str:
    """Return a bar with a thousand tokens a batch, of which each state is drawn three times."""
    bar = "epoch 001:  10%|#  | {n}/1000 [00:15<02:30, 6.66it/s, loss=6.5, wps={wps}, ups=1, wpb=1000, bsz=8, "
    bar += "num_updates={at}, wall=9]"
    return "\r".join(
        bar.format(n=100 * i + more, wps=wps, at=100 * i)
        for i, wps in enumerate((1000, 2000, 4000), 1)
        for more in (0, 20, 50)
    )


def fairseq_old_bar() -> str:
    """100 batches took 100 s, 200 took 100 s, 400 took 250 s; one state is drawn twice."""
    return "\r".join(
        f"| epoch 001:  25%|##5       | {step}/400 [00:45<01:01,  4.44it/s, loss=7.125, ppl=45.25, wps={wps}, ups=4.4, "
        f"wpb=1000, bsz=300, num_updates={step}, lr=0.0005, oom=0]"
        for step, wps in [(100, 1000), (200, 2000), (200, 2000), (400, 1600)]
    )


def detectron2_resumed() -> Iterable[str]:
    """Resumed at iteration 5000: 0.5 s each for the first 18 that count, then 0.25 s."""
    spent = 0.0
    for number in range(1, 6):
        spent += 18 * 0.5 if number == 1 else 20 * 0.25
        yield (
            f"[11/20 09:00:00 d2.utils.events]:  eta: 0:02:03  iter: {4999 + 20 * number}  total_loss: 4.1  "
            f"loss_cls: 1.2  time: {spent / (20 * number - 2):.10f}  data_time: 0.01  lr: 0.01  max_mem: 3000M"
        )


def lightning(count: int, rate: str, *, epoch: int = 0, more: str = "") -> str:
    return f"Epoch {epoch}: 100%|##########| {count}/{count} [01:40<00:00,  {rate}{more}]"


def lightning_rich() -> Iterable[str]:
    """Three epochs of 100 steps at 5, 4 and 8 steps per second; every state is drawn twice."""
    for epoch, rate in enumerate((5, 4, 8)):
        for n in (50, 100, 100):
            yield f"Epoch {epoch}/2  ━━━━━━━━ {n}/100 0:00:20 • 0:00:00 {rate:.2f}it/s v_num: 0.000 train_loss: 0.500"


def steps_of(line: str, count: int = 6) -> list[str]:
    return [line.format(at=4.0 * step, step=step, seen=64 * (step + 1)) for step in range(count)]


TORCHTUNE = [
    "INFO:torchtune.utils.logging:Running FullFinetuneRecipeDistributed with resolved config:", "", "batch_size: 2",
    "gradient_accumulation_steps: 8", "", "GLOBAL_RANK: 0, MEMBER: 1/4",
]  # fmt: skip


def torchtune_bars(ahead: int) -> Iterable[str]:
    """Return a state every ten seconds; the words of the bar may be ahead of it."""
    for n in range(1, 10):
        at = f"{n // 6:02d}:{10 * n % 60:02d}"
        yield f"1|{n + ahead}|Loss: 1.25:  10%|#         | {n}/400 [{at}<1:06:39, 10.00s/it]"


VERL_APART = [
    "(OneStepOffTaskRunner pid=3860) {'actor_rollout_ref': {'rollout': {'n_gpus_per_node': 8, 'nnodes': 0}},",
    "(OneStepOffTaskRunner pid=3860)  'rollout': {'n_gpus_per_node': 2, 'nnodes': 1},",
    "(OneStepOffTaskRunner pid=3860)  'trainer': {'balance_batch': True,",
    "(OneStepOffTaskRunner pid=3860)              'n_gpus_per_node': 6,",
    "(OneStepOffTaskRunner pid=3860)              'nnodes': 1}}",
    *steps_of(
        "(OneStepOffTaskRunner pid=3860) step:{step} - actor/lr:1e-06 - perf/total_num_tokens:400000 - "
        "perf/time_per_step:50.0 - perf/throughput:1000.0"
    ),
]


def prime_rl(step: int, time: str, throughput: float) -> str:
    return (
        f"10:00:00 [SUCCESS] Step {step} | {time:>7} | Loss 0.0123 | Entropy 0.3500 | Mismatch KL 0.0012 | "
        f"Grad. Norm 0.5000 | LR 1.00e-05 | Throughput {throughput:.0f} tokens/s | MFU 41.2% | Peak Mem. 40.0 GiB"
    )


LITGPT = {"devices": 1, "batch_size": 4}


def litgpt(every: int, accumulation: int, last: int = 40, first: int = 1) -> list[str]:
    """Return iterations of 300 ms, and of 500 ms where they end with an update."""
    return [
        f"Epoch 1 | iter {n} step {(n + 1 - first) // accumulation} | loss train: 1.234, val: n/a | iter time: "
        f"{300 if (n + 1 - first) % accumulation else 500}.00 ms{'' if (n + 1 - first) % accumulation else ' (step)'} "
        "remaining time: 1:02:03"
        for n in range(first, last + 1)
        if n % every == 0
    ]


def nemo_bars() -> list[str]:
    """Each bar is drawn again while the next step runs, and `consumed_samples` is rounded from seven figures on."""
    bar = (
        "Epoch 0: :  5%|#    | {n}/20 [00:21<06:46, v_num=, reduced_train_loss=2.50, global_step={n:.2f}, "
        "consumed_samples={seen}, train_step_timing in s={took:.3f}]"
    )
    drawn = [
        bar.format(n=step, seen=f"{8192 * (step + 1):.2e}", took=4.0 if step % 2 else 6.0) for step in range(10, 20)
    ]
    return ["    global_batch_size: 8192", *(each for each in drawn for _ in range(2))]


def bars(total: int, rate: str, every: int = 1) -> list[str]:
    return [f" 10%|#    | {step}/{total} [00:21<06:46,  {rate}]" for step in range(every, total + 1, every)]


def drawn(steps: Iterable[int], total: int, pace: float, since: int = 0) -> list[str]:
    """Return a bar with the time that it has taken, `since` a step that a program was resumed at."""
    return [
        f"{100 * step // total:3}%|#    | {step}/{total} [{took // 60:02}:{took % 60:02}<06:46,  {pace:.2f}s/it]"
        for step in steps
        for took in [int((step - since) * pace)]
    ]


def smoothed(
    total: int, pace: float, evaluated: tuple[int, int] = (0, 0), saved: tuple[int, int] = (0, 0), said: str = "",
    first: float = 0.0,
) -> Iterator[str]:  # fmt: skip
    """Yield the bar of a whole training as tqdm smooths it: a part of each step's time, and the rest of its mean.

    Args:
        total: steps.
        pace: seconds of one.
        evaluated: after how many steps an evaluation follows, and its seconds; the bar is drawn again behind it.
        saved: after how many steps a checkpoint follows, of which no line tells, and its seconds.
        said: what is printed behind each checkpoint.
        first: seconds that the first step takes beyond the others.
    """
    took, mean, weight, drawn = first, 0.0, 0.0, 0.0
    for step in range(1, total + 1):
        took += pace + (saved[1] if saved[0] and step > 1 and (step - 1) % saved[0] == 0 else 0)
        mean, weight, drawn = 0.3 * (took - drawn) + 0.7 * mean, 0.3 + 0.7 * weight, took
        bar = f" 10%|#    | {step}/{total} [{{:02}}:{{:02}}<06:46,  {mean / weight:.2f}s/it]"
        yield bar.format(int(took) // 60, int(took) % 60)
        if evaluated[0] and step % evaluated[0] == 0:
            took += evaluated[1]
            yield from (LOSS, EVAL, bar.format(int(took) // 60, int(took) % 60))
        if said and step % saved[0] == 0:
            yield said


def mlx_line(step: int, speed: float, tokens: int = 4000) -> str:
    """Return a line of mlx_lm.lora, a tenth of them with so many tokens per ten steps."""
    told = f"It/sec {speed / 400:.3f}, Tokens/sec {speed:.3f}, Trained Tokens {step // 10 * tokens}, Peak mem 8.500 GB"
    return f"Iter {step}: Train loss 2.125, Learning Rate 1.000e-05, {told}"


MLX_VALIDATION = "Iter {}: Val loss 1.875, Val took 20.500s"


def redrawn(name: str, postfix: str, steps: range, total: int, pace: int, since: int = 0) -> list[str]:
    """Return a bar that is drawn at each update, and again after the first of two micro-batches of the next."""
    bar = f"{name}:  5%|#    | {{}}/{total} [{{:02}}:{{:02}}<06:46,  9.99s/it, {postfix}]"
    return [
        bar.format(step, took // 60, took % 60)
        for step in steps
        for took in (pace * (step - since), pace * (step - since) + pace // 2)
    ]


DIFFUSERS_HEAD = [
    "11/20/2026 10:00:30 - INFO - __main__ - ***** Running training *****",
    "11/20/2026 10:00:30 - INFO - __main__ -   Instantaneous batch size per device = 4",
    "11/20/2026 10:00:30 - INFO - __main__ -   Total train batch size (w. parallel, distributed & accumulation) = 64",
    "11/20/2026 10:00:30 - INFO - __main__ -   Gradient Accumulation steps = 2",
    "11/20/2026 10:00:30 - INFO - __main__ -   Total optimization steps = 600",
]
KOHYA_HEAD = [
    "running training / 学習開始", "  batch size per device / バッチサイズ: 4",
    "  gradient accumulation steps / 勾配を合計するステップ数 = 2", "  total optimization steps / 学習ステップ数: 600",
]  # fmt: skip
LOSS = "{'loss': 2.5, 'learning_rate': 5e-05, 'epoch': 0.5}"
EVAL = "{'eval_loss': 2.25, 'eval_runtime': 12.5, 'eval_samples_per_second': 80.5, 'epoch': 1.0}"
UNSLOTH = [
    "==((====))==  Unsloth - 2x faster free finetuning | Num GPUs used = 1",
    r"   \\   /|    Num examples = 2,227 | Num Epochs = 3 | Total steps = 100",
    r"O^O/ \_/ \    Batch size per device = 2 | Gradient accumulation steps = 4",
    r"\        /    Data Parallel GPUs = 2 | Total batch size (2 x 4 x 2) = 16",
    ' "-____-"     Trainable parameters = 12,156,928 of 3,224,906,752 (0.38% trained)',
]
OLD_UNSLOTH = [
    "==((====))==  Unsloth - 2x faster free finetuning | Num GPUs = 1",
    r"   \\   /|    Num examples = 51,760 | Num Epochs = 1",
    r"O^O/ \_/ \    Batch size per device = 2 | Gradient Accumulation steps = 4",
    r"\        /    Total batch size = 8 | Total steps = 60",
    ' "-____-"     Number of trainable parameters = 83,886,080',
]
HF_HEAD = [
    "***** Running training *****",
    "  Total train batch size (w. parallel, distributed & accumulation) = 64",
    "  Total optimization steps = 10",
]


def estimator(seconds: Sequence[float]) -> list[str]:
    """Return what Estimator 1.13 and later print every 100 steps: each line by both of its loggers."""
    lines = ["INFO:tensorflow:Using config: {'_model_dir': 'made/up'}", "INFO:tensorflow:loss = 9.5, step = 0"]
    for n, took in enumerate(seconds, 1):
        for text in (f"global_step/sec: {100 / took:g}", f"loss = {9.5 - n}, step = {100 * n} ({took:.3f} sec)"):
            lines += [f"INFO:tensorflow:{text}", f"I1120 10:00:00.000000 1400 basic_session_run_hooks.py:692] {text}"]
    return [*lines, "INFO:tensorflow:Loss for final step: 3.5."]


ESTIMATOR = estimator([50.0, 20.0, 40.0])
HUGECTR = {
    "new": "[HCTR][16:16:20.027][INFO][RK0][main]: Iter: {} Time({} iters): {:.6f}s Loss: 0.136125 lr:0.004",
    "middle": "[HUGECTR][02:51:59][INFO][RANK0]: Iter: {} Time({} iters): {:.6f}s Loss: 0.125125 lr:0.001000",
    "old": "[19d22h10m18s][HUGECTR][INFO]: Iter: {} Time({} iters): {:.6f}s Loss: 0.124875",
}


def megatron(step: int, milliseconds: float, fields: str = "", unit: str = "ms") -> str:
    return (
        f" iteration {step:8d}/     500 |{fields} elapsed time per iteration ({unit}): {milliseconds} |"
        f" learning rate: 1.5E-04 |"
    )


def megatron_for_ascend(step: int) -> str:
    return (
        f" iteration  {step}/500 | consumed samples: {6 * step} | elapsed time per iteration (ms):  2000.0 |"
        " gloabl batch size:    6 | lm loss:  9.5E+00 | actual seqlen:  2048 | number of skipped\n"
        "iterations: 0 | number of nan iterations:   0 | samples per second: 3.000 | TFLOPs: 24.75 |\ntime (ms)"
    )


def plain_megatron(step: int) -> str:
    return (
        f" iteration {step}/500000 | elapsed time per iteration (ms): 500.0 | learning rate 1.0E-05 | lm loss 8.2E+00 |"
    )


def deepspeed(epoch: int, step: int, mean: float) -> str:
    return f"[2026-11-20 01:24:{step % 60:02d},852] [INFO] [timer.py:154:stop] {epoch}/{step}, SamplesPerSec={mean!r}"


#: Of 8 samples each, 48 steps take 96 s, then 50 take 50 s and 50 take 100 s; printed means are since step 3.
DEEPSPEED_MEANS = [
    deepspeed(0, step, 8 * (step - 2) / seconds) for step, seconds in ((50, 96.0), (100, 146.0), (150, 246.0))
]
DEEPSPEED_PIPELINE = [
    f"steps: {step} loss: 7.5250 iter time (s): {256 / speed} samples/sec: {speed:.3f}"
    for step, speed in ((10, 16.0), (20, 64.0), (30, 128.0))
]


def dllogger(step: Any, data: dict[str, Any]) -> str:
    line = {"timestamp": "1795168800.500000", "elapsedtime": "9.5", "type": "LOG", "step": step, "data": data}
    return "DLLL " + json.dumps(line)


TORCHTITAN = "2026-11-20 10:00:{step:02d},250 - root - INFO - step: {step:2d}  loss: 2.5000  memory: 20.50GiB(25.92%)  "
HARMONIC = 2 / (1 / 2000 + 1 / 4000)
DIALECTS = {
    "deepspeed running mean": Dialect("dlperf.deepspeed", DEEPSPEED_MEANS, 8 * 148 / 246),
    "deepspeed running mean, first record dropped": Dialect(
        "dlperf.deepspeed", DEEPSPEED_MEANS, 8 * 100 / 150, "sustained"
    ),
    "deepspeed running mean, two dropped": Dialect(
        "dlperf.deepspeed", DEEPSPEED_MEANS, 8 * 50 / 100, "sustained:skip=2"
    ),
    # A slow start lasts in the mean: steps 3 to 100 take 2 s each, those after it 1 s.
    "deepspeed window of DLPerf": Dialect(
        "dlperf.deepspeed",
        [deepspeed(0, step, 8 * (step - 2) / (2.0 * min(step - 2, 98) + max(step - 100, 0))) for step in range(3, 221)],
        8.0, "dlperf",
    ),
    "deepspeed steps that begin again": Dialect(
        "dlperf.deepspeed", [deepspeed(0, step, speed) for speed in (10.0, 20.0) for step in (10, 20, 30)],
        2 * 28 / (28 / 10 + 28 / 20),
    ),
    # What such a mean covers is not known from the second epoch on.
    "deepspeed mean of unknown start": Dialect(
        "dlperf.deepspeed", [
            *(deepspeed(0, step, 10.0) for step in (10, 20, 30)),
            *(deepspeed(1, step, 99.0) for step in (10, 20, 30)),
        ], 10.0, used=3,
    ),
    "deepspeed pipeline": Dialect("dlperf.deepspeed", DEEPSPEED_PIPELINE, 2 / (1 / 64 + 1 / 128), "sustained"),
    # Megatron-DeepSpeed prints both; the program's own lines are read.
    "deepspeed lines beside those of the program": Dialect(
        "dlperf.megatron",
        [*(f"{megatron(step, 2000.0)} global batch size: 6 |" for step in (1, 2)), deepspeed(0, 2, 463.5)], 3.0,
    ),
    # The batch grows from 4 to 8 within the second interval: 4 x 4 and 6 x 8 samples, though the line says 8.
    "megatron consumed samples": Dialect(
        "dlperf.megatron", [
            megatron(step, 1000.0, f" consumed samples: {seen} |") + f" global batch size: {batch} | lm loss: 9.5E+00 |"
            for step, seen, batch in ((10, 40, 4), (20, 104, 8), (30, 184, 8))
        ], 144 / 20, "sustained",
    ),
    "megatron without consumed samples": Dialect(
        "dlperf.megatron",
        [f"{megatron(step, 2000.0)} global batch size: 6 | lm loss: 9.5E+00 |" for step in (100, 200, 300)], 3.0,
    ),
    # The forks for Ascend misspell the field, and may break the line behind what is read.
    "megatron for Ascend": Dialect(
        "dlperf.megatron", [megatron_for_ascend(step) for step in (3, 4, 5)], 3.0,
    ),
    "megatron without a batch size": Dialect(
        "dlperf.megatron", [plain_megatron(step) for step in (100, 200, 300)], 1024.0, case={"batch_size_of_job": 512},
    ),
    "megatron in seconds": Dialect(
        "dlperf.megatron", [
            megatron(step, 1.25, f" consumed samples: {16 * step} | consumed tokens: {32768 * step} |", "s")
            + " global batch size: 16 | number of nan iterations: 0 | samples per second: 12.800 | TFLOPs: 24.75 |"
            for step in (10, 20, 30)
        ], 12.8, seconds=1.25,
    ),
    "gpt-neox": Dialect(
        "dlperf.megatron", [
            f" samples/sec: {speed} | iteration {step}/320000 | elapsed time per iteration (ms): {32000 / speed:.1f} |"
            " learning rate 9.375E-06 | approx flops per GPU: 24.5TFLOPS | lm_loss 1.0875E+01 | loss scale 65536.0 |"
            for step, speed in ((10, 8.0), (20, 16.0), (30, 32.0))
        ], 24.0, "mean",
    ),
    # 1000 steps from 23:59:58 to 00:00:08 are 10 ms each.
    "oneflow wide & deep with dates, over midnight": Dialect(
        "dlperf.oneflow_wdl", [
            "100 time 2026-11-20 23:59:58.000000 loss 0.546875125",
            "600 time 2026-11-21 00:00:03.000000 loss 0.526875125",
            "600 eval_loss 0.484675125 eval_auc 0.76162425",
            "1100 time 2026-11-21 00:00:08.000000 loss 0.516875125",
            "1600 time 2026-11-21 00:00:13.000000 loss 0.506875125",
        ], 1638400, "dlperf", {"batch_size_of_job": 16384}, seconds=0.01,
    ),
    "oneflow models, a step printed by all ranks": Dialect(
        "dlperf.oneflow_models_ctr", [
            f"[rank:{rank}] iter: {step}/900, loss: 0.078, latency(ms): {latency + rank} | 2026-11-20 13:19:02.848"
            for step, latency in ((100, 50.0), (200, 3.0), (300, 5.0))
            for rank in range(3)
        ], 32 * 2 / (0.004 + 0.006), "sustained", ONE,
    ),
    # Two lines of 100 iterations, then one of 50; the first is dropped.
    **{
        f"hugectr {name}, {rule}": Dialect(
            "dlperf.hugectr",
            [line.format(*each) for each in ((100, 100, 9.0), (200, 100, 0.5), (250, 50, 0.3))],
            1024 * 150 / 0.8,
            rule,
            {"batch_size_of_job": 1024},
        )
        for name, line in HUGECTR.items()
        for rule in ("sustained", "dlperf")
    },
    "nemo of dllogger": Dialect(
        "frameworks.nemo", steps_of(
            "DLL 2026-11-20 10:00:{at:06.3f}000 - {step} reduced_train_loss : 2.5  global_step : {step}.0  "
            "consumed_samples : {seen}.0  train_step_timing in s : 9.75  epoch : 0 "
        ), 64 / 4,
    ),
    "nemo 2": Dialect(
        "frameworks.nemo", steps_of(
            "Training epoch 0, iteration {step}/99 | lr: 1e-06 | global_batch_size: 64 | global_step: {step} | "
            "reduced_train_loss: 2.5 | train_step_timing in s: 5.0 | consumed_samples: {seen}"
        ), 64 / 5,
    ),
    "nemo 2.0, with the global batch size on the line": Dialect(
        "frameworks.nemo", steps_of(
            "Training epoch 0, iteration {step}/99 | lr: 1e-06 | global_batch_size: 64 | global_step: {step} | "
            "reduced_train_loss: 2.5 | train_step_timing in s: 5.0"
        ), 64 / 5,
    ),
    "nemo bars": Dialect("frameworks.nemo", nemo_bars(), 8192 / 5, used=10),
    "nanochat": Dialect(
        "frameworks.nanogpt", steps_of(
            "step {step:05d}/21400 (0.09%) | loss: 8.125000 | grad norm: 1.2500 | lrm: 1.00 | dt: 250.00ms | "
            "tok/sec: 4,096 | mfu: 48.50 | total time: 0.10m"
        ), 4096, seconds=0.25,
    ),
    "nanochat's fine-tuning": Dialect(
        "frameworks.nanogpt", steps_of(
            "step {step:05d} (0.09%) | loss: 1.125000 | lrm: 1.00 | dt: 250.00ms | tok/sec: 4,096 | mfu: 48.50 | "
            "epoch: 1 | total time: 0.10m"
        ), 4096, seconds=0.25,
    ),
    "maxtext's training engine": Dialect(
        "frameworks.maxtext", steps_of(
            "completed step: {step}, seconds: 2.000, train_step_time_ms: 2000.00, TFLOP/s/device: 134.924, "
            "Tokens/s/device: 4096.000, Tokens/s/chip: 8192.000"
        ), 8 * 4096, case={"devices": 8},
    ),
    "maxtext's training engine, whose chips were devices": Dialect(
        "frameworks.maxtext", steps_of(
            "completed step: {step}, seconds: 2.000, train_step_time_ms: 2000.00, TFLOP/s/device: 134.924, "
            "tokens/s/chip: 4096.00"
        ), 8 * 4096, case={"devices": 8},
    ),
    "build-nanogpt": Dialect(
        "frameworks.nanogpt", steps_of(
            "step {step:5d} | loss: 2.512500 | lr 2.5000e-04 | norm: 1.7500 | dt: 250.00ms | tok/sec: 4096.00"
        ), 4096, seconds=0.25,
    ),
    "build-nanogpt as others wrote it down": Dialect(
        "frameworks.nanogpt", [
            "total desired tokens per batch: 1024",
            *steps_of(
                "step {step} | loss: 2.512500 | norm: 1.7500 | lr: 0.0001 | dt: 250.00ms | tok/sec: 4096.00"
            ),
        ], 4096, seconds=0.25,
    ),
    "llm.c": Dialect(
        "frameworks.nanogpt", steps_of(
            "step {step:4d}/19560 | loss 7.125000 (+1.50z)| norm 1.2500 (-0.50z)| lr 3.00e-05 | 250.00 ms | "
            "40.1% bf16 MFU | 4096 tok/s"
        ), 4096, seconds=0.25,
    ),
    "modded-nanogpt with tokens of a step": Dialect(
        "frameworks.modded_nanogpt",
        [f"step:{step}/1770 train_time:{step * 50}ms step_avg:50.00ms" for step in range(11, 60)], 8 * 1024 / 0.05,
        case={"devices": 8, "batch_size": 1, "sequence_length": 1024},
    ),
    # A batch takes ten seconds. The bar of 0.1 counts batches, later ones count updates, here of 8 batches.
    "torchtune 0.1": Dialect("frameworks.torchtune", [*TORCHTUNE, *torchtune_bars(1)], 2 * 4 / 10, used=9),
    "torchtune": Dialect("frameworks.torchtune", [*TORCHTUNE, *torchtune_bars(0)], 2 * 4 * 8 / 10, used=9),
    # A state is drawn before the words of the next update are set.
    "torchtune, drawn twice": Dialect(
        "frameworks.torchtune", [*TORCHTUNE, *(bar for n in (1, 0) for bar in torchtune_bars(-n))], 2 * 4 * 8 / 10,
    ),
    "verl with a rollout of its own devices": Dialect("frameworks.verl", VERL_APART, 400000 / 50, used=6, seconds=50),
    "prime-rl, whole steps": Dialect(
        "frameworks.prime_rl", [prime_rl(0, "40s", 0), *(prime_rl(step, "1m 30s", 4096) for step in range(1, 6))], 4096,
        used=5,
    ),
    "prime-rl of 2025": Dialect(
        "frameworks.prime_rl", steps_of(
            "10:00:00 [SUCCESS] Step {step} | Time: 31.23s | Loss: 0.0125 | Entropy: 0.5000 | Mismatch KL: 0.0012 | "
            "LR: 1.00e-05 | Throughput: 4096 tokens/s | MFU: 11.2% | Peak Mem.: 40.0 GiB"
        ), 4096, used=6,
    ),
    # What is printed leaves out the wait for rollouts.
    "prime-rl, two passes": Dialect(
        "frameworks.prime_rl",
        [prime_rl(step, time, 9e9) for step, time in enumerate(("1.50s", "500ms", "58s", "1m", "2m 40s", "1h 10m"))],
        6 * 131072 / (1.5 + 0.5 + 58 + 60 + 160 + 4200), case={"tokens_per_step": 131072},
    ),
    "litgpt, every iteration": Dialect("frameworks.litgpt", litgpt(1, 4), 4 / 0.35, case=LITGPT, used=40),
    "litgpt, every third iteration": Dialect("frameworks.litgpt", litgpt(3, 4, 120), 4 / 0.35, case=LITGPT, used=40),
    # Every second line is an update, but only one iteration in four.
    "litgpt, every tenth iteration": Dialect("frameworks.litgpt", litgpt(10, 4, 400), 4 / 0.35, case=LITGPT, used=20),
    "litgpt, every second of eight": Dialect("frameworks.litgpt", litgpt(2, 8, 80), 4 / 0.325, case=LITGPT, used=10),
    "litgpt without accumulation": Dialect("frameworks.litgpt", litgpt(5, 1, 50), 4 / 0.5, case=LITGPT, used=10),
    "olmo": Dialect(
        "frameworks.olmo_core", [
            line
            for step in range(6)
            for line in (
                f"[2025-03-01 10:00:{2 * step:02d}] INFO     [olmo.train:966, rank=0] [step={step}/739328,epoch=0]",
                "    throughput/total_tokens=4,194,304", "    throughput/device/tokens_per_second=4,096",
                "    throughput/device/batches_per_second=0.0942",
            )
        ], 8 * 4096, case={"devices": 8}, used=6,
    ),
    # Weights are cut over groups of their own; a skipped step prints no line. Each of 8 devices has 4,096 tokens.
    "internlm with fields parted by blanks": Dialect(
        "frameworks.internlm", [
            f"2026-11-20 10:00:{2 * step:02d},000 INFO [record_metrics.py, line 341, in record_current_batch] - "
            f"pid=293 : tflops=142.5 step={step} loss=2.5 real_tgs=1000.5 tgs (tokens/gpu/second)=2048.0 "
            f"tgs/last_tgs_1=2048.0 tgs/tgs_all=1999.5 lr=4e-05 num_consumed_tokens={32768 * (step + 1)} inf_nan=0 "
            for step in (0, 1, 2, 4, 5, 6)
        ], 8 * 2048, case={"devices": 8}, used=6,
    ),
    # A job of a thousand million tokens and more goes on to be read.
    "nanotron beyond a thousand million tokens": Dialect(
        "frameworks.nanotron", [
            f"10/17/2026 16:32:{10 + step} [INFO|DP=0|PP=0|TP=0]: iteration: {step} / 900 | consumed_tokens: {tokens} |"
            f" elapsed_time_per_iteration_ms: {time} | tokens_per_sec: {speed} | tokens_per_sec_per_gpu: 5K |"
            " global_batch_size: 10K | lm_loss: 2.38 | lr: 1e-05 | model_tflops_per_gpu: 38.3 | grad_norm: 1.25"
            for step, tokens, time, speed in (
                (1, "999M", "1K", "10K"), (2, "1G", "2K", "5K"), (3, "85.8G", "2K", "5K"), (4, "1.2T", "2K", "5K"),
            )
        ], 40_000 / 7, used=4,
    ),
    "olmo without an epoch": Dialect(
        "frameworks.olmo_core", [
            line
            for step in range(6)
            for line in (
                f"[2025-03-01 10:00:{2 * step:02d}] INFO     [olmo.train:816, rank=0] [step={step}/739328]",
                "    train/Perplexity=11,337", "    throughput/device/tokens_per_second=4,096",
                "    throughput/device/batches_per_second=0.0942",
            )
        ], 8 * 4096, case={"devices": 8}, used=6,
    ),
    "mindformers of 2023": Dialect(
        "frameworks.mindformers", steps_of(
            "2023-04-03 10:00:00,123 - mindformers - INFO - Epoch:[  1/  2], step:[{step:5d}/  500], "
            "loss:[8.800/8.912], time:250.000 ms, lr:1e-05, overflow cond: False, loss_scale: 1024.0"
        ), 64 / 0.25, case={"batch_size_of_job": 64}, seconds=0.25,
    ),
    "torchtitan, every rank untagged": Dialect(
        "frameworks.torchtitan", [
            *["2026-11-20 10:00:00,250 - root - INFO - Starting job: a run"] * 2,
            *(
                TORCHTITAN.format(step=step) + f"wps: {speed:,}  mfu: 30.00%"
                for step in range(10, 60, 10)
                for speed in (9900, 10100)
            ),
        ], 20000, case={"devices": 2}, used=5,
    ),
    # 8 sequences of 4096 tokens at 8192 tokens per second are 4 s, not a thousandth of one.
    "torchtitan with the length of a sequence": Dialect(
        "frameworks.torchtitan",
        [TORCHTITAN.format(step=step) + "tps: 4,096  tflops: 380.10  mfu: 30.00%" for step in range(10, 60, 10)], 8192,
        case={"devices": 2, "batch_size": 4, "sequence_length": 4096}, seconds=4,
    ),
    # The evaluation comes first and has more steps, but lasts 5 s; training lasts 20 s.
    "hugging face, bar of training without a head": Dialect(
        "frameworks.hf_trainer",
        [*bars(50, "10.00it/s", 10), EVAL, *bars(10, "2.00s/it"), LOSS, *bars(50, "10.00it/s", 10), EVAL], 32,
        case={"batch_size_of_job": 64}, seconds=2,
    ),
    "hugging face, bar of training by its stated length": Dialect(
        "frameworks.hf_trainer", [*HF_HEAD, *bars(10, "2.00s/it"), LOSS, *bars(50, "3.00s/it", 10), EVAL], 32
    ),
    "hugging face, bar of updates over accumulated steps": Dialect(
        "frameworks.hf_trainer", [*drawn(range(1, 13), 100, 4.0), LOSS], 64,
        case={"devices": 8, "batch_size": 8, "accumulation": 4},
    ),
    # tqdm keeps seven tenths of its mean with each update, divided by the weights so far: the first step took 62 s.
    "hugging face, a slow start that the bar shows on": Dialect(
        "frameworks.hf_trainer", [
            *HF_HEAD[:2], "  Total optimization steps = 40",
            *(
                f" 10%|#    | {step}/40 [{(60 + 2 * step) // 60:02}:{2 * step % 60:02}<06:46,  {pace:.2f}s/it]"
                for step in range(1, 41)
                for pace in [2 + 60 * 0.3 * 0.7 ** (step - 1) / (1 - 0.7**step)]
            ), LOSS,
        ], 32, "mean",
    ),
    # The first update of a resumed run counts the 200 steps before it.
    "hugging face, a resumption that the bar shows on": Dialect(
        "frameworks.hf_trainer", [
            *HF_HEAD[:2], "  Total optimization steps = 280",
            *(
                f" 10%|#    | {200 + n}/280 [{2 * n // 60:02}:{2 * n % 60:02}<06:46,  {pace:.2f}s/it]"
                for n in range(1, 81)
                for pace in [2 / (1 + 200 * 0.3 * 0.7 ** (n - 1) / (1 - 0.7**n))]
            ), LOSS,
        ], 32, "mean",
    ),
    "hugging face, a bar that a terminal cut off": Dialect(
        "frameworks.hf_trainer",
        [*(f"{each[:-1]}/usr/lib/a.py:3: UserWarning: b" for each in drawn(range(1, 13), 100, 4.0)), LOSS], 16,
        case={"batch_size_of_job": 64},
    ),
    "hugging face, settings of DeepSpeed": Dialect(
        "frameworks.hf_trainer", [
            "[INFO] [config.py:1001:print]   gradient_accumulation_steps .. 4",
            "[INFO] [config.py:1001:print]   train_batch_size ............. 256",
            "[INFO] [config.py:1001:print]   train_micro_batch_size_per_gpu  8",
            *drawn(range(1, 13), 100, 4.0), LOSS,
        ], 64,
    ),
    "hugging face, evaluations that take longer than training": Dialect(
        "frameworks.hf_trainer", [
            line
            for start in range(1, 61, 20)
            for line in (*drawn(range(start, start + 20), 61, 2.0), LOSS, *drawn(range(2, 50, 5), 50, 9.0), EVAL)
        ], 32, case={"batch_size_of_job": 64}, seconds=2,
    ),
    "hugging face, evaluations of as many steps": Dialect(
        "frameworks.hf_trainer", [
            line
            for start in range(1, 61, 20)
            for line in (*drawn(range(2, 61, 5), 61, 0.1), EVAL, *drawn(range(start, start + 20), 61, 2.0), LOSS)
        ][13:], 32, case={"batch_size_of_job": 64}, used=60, seconds=2,
    ),
    # The last evaluation has as many batches as training has steps.
    "hugging face, an evaluation of as many steps behind training": Dialect(
        "frameworks.hf_trainer", [
            *HF_HEAD[:2], "  Total optimization steps = 61", *drawn(range(1, 61), 61, 2.0), LOSS,
            *drawn(range(2, 61, 5), 61, 0.1), EVAL,
        ], 32, used=60, seconds=2,
    ),
    # Rounded to four digits from 10,000 on; those before are of the warm-up.
    "trl with transformers 5": Dialect(
        "frameworks.hf_trainer", [
            *HF_HEAD[:2],
            *(
                line
                for step in range(1, 13)
                for line in (
                    f"{{'loss': '2.5', 'num_tokens': '{800.0 * 1.5**step:.4g}', 'epoch': '{step / 20}'}}",
                    *drawn([step], 20, 2.0),
                )
            ),
        ], 32, seconds=2,
    ),
    "unsloth": Dialect(
        "frameworks.hf_trainer", [
            "==((====))==  Unsloth 2026.2.1: Fast Qwen2 patching. Transformers: 4.57.6.",
            r"   \\   /|    NVIDIA L40S. Num GPUs = 8. Max memory: 44.402 GB. Platform: Linux.",
            *UNSLOTH, *drawn(range(1, 13), 100, 2.0), LOSS,
        ], 16 / 2, seconds=2 / 4,
    ),
    "unsloth of 2024": Dialect(
        "frameworks.hf_trainer", [*OLD_UNSLOTH, *drawn(range(1, 13), 60, 2.0), LOSS], 8 / 2, seconds=2 / 4,
    ),
    "hugging face, summary": Dialect(
        "frameworks.hf_trainer", [
            LOSS, "***** train metrics *****", "  epoch                    =        1.0",
            "  train_runtime            = 0:08:32.50", "  train_samples_per_second =     19.512",
            "  train_steps_per_second   =      0.305",
        ], 19.512, "reported",
    ),
    # Before 4.7 what is called samples are steps.
    "hugging face, old summary": Dialect(
        "frameworks.hf_trainer", [
            LOSS, "{'train_runtime': 400.0, 'train_samples_per_second': 1.25, 'epoch': 3.0}",
            "***** train metrics *****", "  train_samples_per_second =       1.25",
        ], 80, "reported", {"batch_size_of_job": 64},
    ),
    # Ten steps over the seconds of the last one, behind a validation.
    "mlx, a timer that a validation set anew": Dialect(
        "frameworks.mlx_lm", [
            MLX_VALIDATION.format(1),
            *(mlx_line(step, 400.0) for step in (10, 20, 30)), MLX_VALIDATION.format(35), mlx_line(40, 800.0),
            mlx_line(50, 400.0), MLX_VALIDATION.format(60), mlx_line(60, 4000.0), mlx_line(70, 400.0),
        ], 400, used=5,
    ),
    "mlx, the first releases": Dialect(
        "frameworks.mlx_lm", [
            f"Iter {step}: {told}" for step in range(10, 60, 10)
            for told in ("Train loss 2.125, It/sec 1.000, Tokens/sec 400.000", "Val loss 1.875, Val took 20.500s")
        ], 400, used=5,
    ),
    "mlx, the table of late 2026": Dialect(
        "frameworks.mlx_lm", [
            "│    model           acme/tiny-lm                │", "│    batch · iters   4 · 1,000                   │",
            "  iter   train_loss     tok/s     tokens", "     1    val 2.875    20.50s",
            *(f"  {step:>4}    2.125 {'▲' if step % 3 else '▼'}    1,512    {4.5 * step:>5.1f}k"
              for step in range(960, 1001, 10)),
            "  save  0001000_adapters.safetensors",
        ], 1512, used=5,
    ),
    "mlx-vlm, the blocks of late 2026": Dialect(
        "frameworks.mlx_lm", [
            "Starting training..., iterations: 1000",
            *(line for step in range(10, 60, 10) for line in (
                f"Validation (iteration {step}):", "val_loss=1.875, val_nll=1.875, val_time=20.5",
                f"Training (iteration {step}):",
                "train_loss=2.125, train_nll=2.125, train_num_tokens=4,000, learning_rate=1e-05",
                f"iterations_per_second=0.1, tokens_per_second=400, trained_tokens={400 * step:,}, peak_memory=8.5",
                "processed_tokens_per_second=900",
            )),
        ], 400, used=5,
    ),
    "diffusers, a bar that micro-batches draw again": Dialect(
        "frameworks.diffusers",
        [*DIFFUSERS_HEAD, *redrawn("Steps", "lr=1e-5, step_loss=0.0625", range(1, 13), 600, 4)], 16, used=11,
    ),
    "diffusers, resumed": Dialect(
        "frameworks.diffusers",
        [*DIFFUSERS_HEAD, *redrawn("Steps", "loss=0.0625, lr=0.0001", range(301, 313), 600, 4, 300)], 16, used=11,
    ),
    "diffusers, bars of two nodes": Dialect(
        "frameworks.diffusers", [
            *DIFFUSERS_HEAD,
            *(
                line
                for step in range(2, 14)
                for line in (
                    *redrawn("Steps", "lr=1e-5, step_loss=0.0625", range(step, step + 1), 600, 4),
                    *redrawn("Steps", "lr=1e-5, step_loss=0.125", range(step - 1, step), 600, 4),
                )
            ),
        ], 16, used=11,
    ),
    "sd-scripts": Dialect(
        "frameworks.sd_scripts",
        [*KOHYA_HEAD, *redrawn("steps", "Average key norm=0.1, avr_loss=0.125", range(1, 13), 600, 4)], 4, used=11,
        case={"devices": 2},
    ),
    "dllogger epochs": Dialect(
        "frameworks.dllogger", [
            *(dllogger([n], {"train_throughput": 2000.5, "validation_throughput": 9000.5}) for n in range(5)),
            dllogger([], {"train_throughput": 1900.5, "best_accuracy": 0.5}),
        ], 2000.5,
    ),
    "dllogger summary": Dialect(
        "frameworks.dllogger",
        [dllogger([0], {"train_throughput": 2000.5}), dllogger([], {"train_throughput": 1900.5})], 1900.5, "reported",
    ),
    **{
        f"horovod on processors, {rule}": Dialect(
            "frameworks.horovod_synthetic",
            [
                "Model: resnet50", "Batch size: 8", "Number of CPUs: 2",
                *(f"Iter #{n}: 10.0 img/sec per CPU" for n in range(5)), "Total img/sec on 2 CPU(s): 20.0 +-0.0",
            ],
            20.0,
            rule,
        )
        for rule in (ALL, "reported")
    },
    # The same number of tokens at 1000, 2000 and 4000 tokens/s; the first is dropped.
    "fairseq in json": Dialect(
        "frameworks.fairseq", [
            f"2026-11-20 09:00:00 | INFO | train_inner | {fairseq_json(1, 0.1 * i, speed, 100 * i)}"
            for i, speed in enumerate((1000.0, 2000.0, 4000.0), 1)
        ], HARMONIC, "sustained",
    ),
    "fairseq by the bar of tqdm": Dialect("frameworks.fairseq", ["", fairseq_bar()], HARMONIC, "sustained"),
    "fairseq with epochs alone": Dialect(
        "frameworks.fairseq", [
            f"2026-11-20 09:00:00 | INFO | train | epoch {i:03d} | loss 6.5 | ppl 50 | wps {speed} | ups 1.2 | wpb 255"
            for i, speed in enumerate((1000, 2000, 4000), 1)
        ], 3000, "mean",
    ),
    # Without the first record: 200 + 400 + 400 batches in 400 + 600 + 600 seconds.
    "old fairseq in json, running means": Dialect(
        "frameworks.fairseq_old", fairseq_old_epochs(), 1000 * 1000 / 1600, "sustained"
    ),
    "old fairseq by the bar of tqdm": Dialect(
        "frameworks.fairseq_old", [fairseq_old_bar()], 1000 * 300 / 150, "sustained"
    ),
    "estimator, both loggers": Dialect(
        "frameworks.tf_estimator", ESTIMATOR, 32 * 200 / 60, "sustained", ONE, used=2
    ),
    "estimator, mean of both loggers": Dialect(
        "frameworks.tf_estimator", ESTIMATOR, 32 * 100 * (1 / 20 + 1 / 40) / 2, "mean", ONE
    ),
    "estimator, step rates alone": Dialect(
        "frameworks.tf_estimator", [each for each in ESTIMATOR if "loss" not in each], 2 * 32 / (1 / 5 + 1 / 2.5),
        "sustained", ONE,
    ),
    "estimator, examples per second before step rates": Dialect(
        "frameworks.tf_estimator",
        [*estimator([50.0, 20.0]), *(f"INFO:tensorflow:examples/sec: {each}.5" for each in (100, 200, 300))], 250.5,
        "mean",
    ),
    "lightning in seconds per iteration": Dialect(
        "frameworks.lightning",
        [lightning(100, rate, epoch=epoch) for epoch, rate in enumerate(["9.00it/s", "2.00it/s", "1.50s/it"])],
        32 * 200 / (50 + 150), "sustained", ONE,
    ),
    "lightning by rich": Dialect(
        "frameworks.lightning", lightning_rich(), 32 * 200 / (25 + 12.5), "sustained", {"batch_size_of_job": 32}
    ),
    "detectron2 resumed": Dialect(
        "frameworks.detectron2", detectron2_resumed(), 16 / 0.25, "sustained", {"devices": 4, "batch_size": 4}
    ),
    "paddle detection of the static graph": Dialect(
        "frameworks.paddle_detection", [
            f"2026-11-20 13:14:40,123-INFO: iter: {20 * i}, lr: 0.000413, 'loss_cls': '0.5', 'loss': '0.7', "
            f"eta: 1 day, 2:03:04, batch_cost: {2 / speed:.5f} sec, ips: {speed:.5f} images/sec"
            for i, speed in enumerate((2.0, 8.0, 4.0))
        ], 4 * 2 / (1 / 8 + 1 / 4), "sustained", {"devices": 4, "batch_size": 2},
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", DIALECTS)
def test_figure_of_a_dialect(name: str, tmp_path: Path) -> None:
    each = DIALECTS[name]
    lines = list(each.lines)
    session = session_of(lines, tmp_path, each.format)
    found = figure(session, each.rule, **each.case)
    assert isinstance(found, Figure), found
    assert found.value == pytest.approx(each.value)
    assert found.scope == "job"
    assert each.used in (None, found.used)
    if each.seconds:
        assert metrics_of(session, **each.case)["latency"].value == pytest.approx(1000 * each.seconds)
    # Writers on Windows end lines otherwise.
    other = session_of(lines, tmp_path, each.format, "\r\n")
    assert value(other, each.rule, **each.case) == found.value


@pytest.mark.parametrize(
    ("lines", "rule", "case", "code"),
    [
        (DEEPSPEED_MEANS, "dlperf", {}, "window_not_reached"),
        ([deepspeed(1, step, 99.0) for step in (10, 20, 30)], ALL, ONE, "no_records"),
        ([plain_megatron(step) for step in (100, 200, 300)], ALL, {"devices": 8}, "no_batch_size"),
        (
            [f"{step} time 17951637{step // 10:02d}.5000000 loss 0.546875125" for step in (100, 200, 300)],
            "dlperf", {"batch_size_of_job": 16384}, "window_not_reached",
        ),
        (
            [f"step:{step}/1770 train_time:{step * 50}ms step_avg:50.00ms" for step in range(11, 60)],
            ALL, {"devices": 8, "batch_size": 64}, "no_tokens_per_step",
        ),
        (DIALECTS["hugging face, old summary"].lines, "reported", {}, "no_devices"),
        (DIALECTS["sd-scripts"].lines, ALL, {}, "no_devices"),
        # All that is left of a resumed run shows the resumption.
        (
            [
                *HF_HEAD[:2], "  Total optimization steps = 220",
                *(
                    f" 10%|#    | {200 + n}/220 [{2 * n // 60:02}:{2 * n % 60:02}<06:46,  {pace:.2f}s/it]"
                    for n in range(1, 16)
                    for pace in [2 / (1 + 200 * 0.3 * 0.7 ** (n - 1) / (1 - 0.7**n))]
                ), LOSS,
            ], ALL, {}, "no_records",
        ),
        # Every line may be spoilt.
        (
            [each for step in (10, 20, 30) for each in (MLX_VALIDATION.format(step), mlx_line(step, 4000.0))],
            ALL, {}, "no_records",
        ),
        ([prime_rl(step, "30.00s", 131072) for step in range(6)], ALL, {"devices": 8}, "no_tokens_per_step"),
        # Updates alone are printed, or none.
        (litgpt(8, 8, 80), ALL, LITGPT, "no_records"),
        (litgpt(8, 8, 160, first=0), ALL, LITGPT, "no_records"),
        ([each for each in ESTIMATOR if "loss" not in each], "sustained", {"devices": 1}, "no_batch_size"),
    ],
)  # fmt: skip
def test_reason_for_no_figure(lines: Sequence[str], rule: str, case: dict[str, int], code: str, tmp_path: Path) -> None:
    (session,) = log_of(lines, tmp_path).sessions
    assert reason(session, rule, **case) == code


def test_llm_c_tokens_per_second_are_held_against_the_tokens_of_a_step(tmp_path: Path) -> None:
    lines = [
        f"| {'total batch size':<21} | {8192:<50} |",
        *steps_of(
            "step {step:4d}/19560 | loss 7.125000 (+1.50z)| norm 1.2500 (-0.50z)| lr 3.00e-05 | 1000.00 ms | "
            "40.1% bf16 MFU | 4096 tok/s", 60,
        ),
    ]  # fmt: skip
    session = session_of(lines, tmp_path, "frameworks.nanogpt")
    assert facts_of(session)["tokens_per_step"] == 8192
    headline = measured(session, facts_of(session)).headline
    assert isinstance(headline, NoFigure)
    assert (headline.reason.code, headline.reason.args["witness"]) == ("withheld", "arithmetic")


def test_modded_nanogpt_for_mlx_counts_no_validation(tmp_path: Path) -> None:
    """Its clock runs on over one after each hundred steps, of which it prints every fourth."""
    lines, spent = ["mlx_version:0.29.3", "iterations:600 train_batch_tokens:16384 grad_accum_steps:1 "], 0.0
    for step in range(1, 601):
        spent += 100
        if step % 20 == 0:
            lines.append(
                f"step:{step}/600 train_loss:4.5000 train_time:{spent:.0f}ms step_avg:{spent / step:.2f}ms tok_s:163840"
            )
        if step % 100 == 0:
            spent += 30_000
    session = session_of(lines, tmp_path, "frameworks.modded_nanogpt")
    assert value(session, "sustained") == pytest.approx(163840)
    assert facts_of(session) | {"framework": "MLX", "devices": 1} == facts_of(session)


def test_modded_nanogpt_begins_with_the_name_of_its_log(tmp_path: Path) -> None:
    """Blanks behind it, as terminals and editors leave them, hide no run."""
    steps = "".join(f"step:{i}/400 train_loss:4.5000 train_time:{250 * i}ms step_avg:250.00ms\n" for i in (200, 400))
    path = tmp_path / "train.log"
    path.write_text("".join(f"logs/0123abcd-0123-4567-89ab-0123456789ab.txt{blank}\n{steps}" for blank in ("", " \t")))
    assert [session.first_line for session in read(path).sessions] == [1, 4]


@pytest.mark.parametrize("stated", [True, False])
def test_a_slow_step_of_llm_c_counts_as_long_as_it_took(tmp_path: Path, stated: bool) -> None:
    """Its speed is smoothed: of a step of 10 s among 19 of 1 s it shows a twentieth."""
    lines, mean = [f"| {'total batch size':<21} | {4096:<50} |"] if stated else [], 0.0
    for step in range(1, 21):
        seconds = 10.0 if step == 10 else 1.0
        mean = 0.95 * mean + 0.05 * 4096 / seconds if step > 1 else 0.0
        speed = mean / (1 - 0.95 ** (step - 1)) if step > 1 else 4096.0
        lines.append(
            f"step {step:4d}/19560 | loss 7.125000 (+1.50z)| norm 1.2500 (-0.50z)| lr 3.00e-05 | "
            f"{1000 * seconds:.2f} ms | 40.1% bf16 MFU | {speed:.0f} tok/s"
        )
    session = session_of(lines, tmp_path, "frameworks.nanogpt")
    if stated:
        assert value(session) == pytest.approx(20 * 4096 / 29)
    else:
        assert reason(session) == "no_tokens_per_step"


@pytest.mark.parametrize(("speed", "verdict"), [(1000, "agrees"), (10, "disagrees")])
def test_a_bar_of_fairseq_is_held_against_its_seconds(tmp_path: Path, speed: int, verdict: str) -> None:
    """On TPUs its speeds were a hundred times too low. Here 100 batches of a thousand tokens take 100 s."""
    bar = "\r".join(
        f"epoch 001:  10%|#  | {100 * i}/9000 [00:15<02:30, 6.66it/s, loss=6.5, wps={speed}, ups=1, wpb=1000, bsz=8, "
        f"num_updates={100 * i}, lr=0.0005, gnorm=1.5, train_wall=95, wall={100 * i + 30}]"
        for i in range(1, 13)
    )
    session = session_of([bar], tmp_path, "frameworks.fairseq")
    found = measured(session, facts_of(session))
    assert [each.verdict for each in found.witnesses if each.kind == "clock"] == [verdict]


def test_fairseq_measures_nothing_in_its_first_update(tmp_path: Path) -> None:
    """Nor does metaseq, which prints no `update` where its data have no end."""
    for update in ({"update": 0.1}, {}):
        lines = [
            "2026-11-20 09:00:00 | INFO | train_inner | "
            + json.dumps(
                {"epoch": 1, **update, "loss": "6.5", "wps": wps, "ups": "1", "wpb": "1000", "num_updates": f"{i}"}
            )
            for i, wps in enumerate(["0", "1000", "1000", "500", "1000", "1000"], 1)
        ]
        session = session_of(lines, tmp_path, "frameworks.fairseq")
        assert value(session) == pytest.approx(5000 / 6)


def test_verl_devices_of_a_rollout_count_where_it_has_its_own(tmp_path: Path) -> None:
    assert "devices_per_node" not in facts_of(session_of(VERL_APART, tmp_path, "frameworks.verl"))
    together = [line for line in VERL_APART if " 'rollout': {'n_gpus_per_node': 2" not in line]
    assert facts_of(session_of(together, tmp_path, "frameworks.verl"))["devices_per_node"] == 6


# DeepSpeed and Megatron-LM


def test_deepspeed_window_differs_from_the_mean_that_dlperf_averaged(tmp_path: Path) -> None:
    session = session_of(list(DIALECTS["deepspeed window of DLPerf"].lines), tmp_path, "dlperf.deepspeed")
    assert value(session, "mean") < 7


def test_deepspeed_step_is_an_update(tmp_path: Path) -> None:
    """12 updates of 16 x 8 x 2 samples: at 160 per second, 1.6 s each, in two steps of 16 x 8."""
    found = metrics_of(session_of(golden_lines("dlperf.deepspeed"), tmp_path, "dlperf.deepspeed"))
    assert found["memory"].value == 22.5 * 1024
    speeds = [160.0, 160.5, 161.0, 160.0, 80.0, 160.25, 161.5, 160.0, 162.0, 160.5]
    assert found["latency"].value == pytest.approx(1000 * sum(256 / each for each in speeds) / 20)


def test_deepspeed_pipeline_has_seconds_of_a_step_by_its_accumulation(tmp_path: Path) -> None:
    session = session_of(DEEPSPEED_PIPELINE, tmp_path, "dlperf.deepspeed")
    case = {"devices": 8, "nodes": 1, "batch_size": 4}
    assert metrics_of(session, **case)["latency"].reason == Reason("no_accumulation")
    assert metrics_of(session, accumulation=4, **case)["latency"].value == pytest.approx(750.0)


def test_megatron_prints_samples_and_flops(tmp_path: Path) -> None:
    session = session_of(list(DIALECTS["megatron consumed samples"].lines), tmp_path, "dlperf.megatron")
    assert session.main["samples"].tolist() == [40, 64, 80]
    session = session_of(list(DIALECTS["megatron in seconds"].lines), tmp_path, "dlperf.megatron")
    assert metrics_of(session)["flops"].value == 24.75


def test_primus_prints_an_iteration_twice_and_the_power_of_a_device(tmp_path: Path) -> None:
    line = (
        " [2026-08-15 17:33:14] iteration {:8d}/      50 | consumed samples: {:12d} | elapsed time per iteration (ms): "
        "{} | compute per GPU (TFLOP/s/GPU): 512.5 (avg 510.5) | tokens/s/GPU inst/harmonic mean: 13012.5/12990.5 | "
        "energy per GPU (J/iter/GPU): 812.5 | power per GPU (W/GPU): {} | global batch size:    64 | lm loss: 8.5E+00 |"
    )
    told = [(9000.0, 300.5), (1000.0, 650.5), (1000.0, 660.5), (1000.0, 670.5), (1000.0, 660.5), (1000.0, 660.5)]
    lines = [line.format(n, 64 * n, *each) for n, each in enumerate(told, 1) for _ in range(2)]
    session = session_of(lines, tmp_path, "dlperf.megatron")
    assert session.records[1]["step"].tolist() == [1, 2, 3, 4, 5, 6]
    assert value(session, "sustained") == pytest.approx(64.0)
    assert metrics_of(session)["power"].value == 660.5
    assert metrics_of(session)["energy"].value == 812.5


def test_llamafactory_counts_a_last_update_of_fewer_samples_as_a_part(tmp_path: Path) -> None:
    """180 examples in batches of 16 make 11 full updates and one of 4 samples; an update of 16 takes 1 s here."""
    full, lines, spent = 16 / 180, [], 0.0
    for step in range(5, 121, 5):
        done = step // 12 + min(1.0, (step % 12) * full)
        spent = 11.25 * (step // 12) + step % 12
        lines.append(json.dumps({
            "current_steps": step, "total_steps": 120, "loss": 2.5, "lr": 1e-5, "epoch": done, "percentage": 1.0,
            "elapsed_time": f"0:{int(spent) // 60:02d}:{int(spent) % 60:02d}", "remaining_time": "0:01:00",
        }))  # fmt: skip
    session = session_of(lines, tmp_path, "frameworks.llamafactory")
    assert value(session, "sustained", batch_size_of_job=16) == pytest.approx(16.0, rel=0.01)
    coarse = [
        each.replace(f'"epoch": {json.loads(each)["epoch"]}', f'"epoch": {json.loads(each)["epoch"]:.2f}')
        for each in lines
    ]
    session = session_of(coarse, tmp_path, "frameworks.llamafactory")
    assert value(session, "sustained", batch_size_of_job=16) == pytest.approx(16.0 * 12 / 11.25, rel=0.01)


def test_llamafactory_resumed_into_the_same_file(tmp_path: Path) -> None:
    """200 updates of 2 s and, resumed, 200 of 3 s, of 65536 tokens; the interval across the restart is no record."""
    lines = []
    for step in range(10, 401, 10):
        spent = 2 * step if step <= 200 else 3 * (step - 200) + 11
        lines.append(json.dumps({
            "current_steps": step, "total_steps": 400, "loss": 2.5, "lr": 1e-5, "epoch": step / 200, "percentage": 1.0,
            "elapsed_time": f"0:{spent // 60:02d}:{spent % 60:02d}", "remaining_time": "0:01:00",
            "throughput": round(step * 65536 / spent, 2), "total_tokens": step * 65536,
        }))  # fmt: skip
    session = session_of(lines, tmp_path, "frameworks.llamafactory")
    assert value(session) == pytest.approx(65536 * 380 / (190 * 2 + 190 * 3))


def swift_row(step: int, speed: dict[str, float | str]) -> str:
    return json.dumps({"loss": 1.25, "global_step/max_steps": f"{step}/400", "memory(GiB)": 22.1} | speed)


def test_ms_swift_checkpoint_on_the_console_is_no_training(tmp_path: Path) -> None:
    """Updates of 2 s, and a checkpoint of 100 s behind the update 200."""
    lines = []
    for step in range(10, 401, 10):
        spent = 2 * step + 100 * (step > 200)
        told = {"elapsed_time": f"{spent // 60}m {spent % 60}s", "train_speed(s/it)": spent / step}
        lines += [swift_row(step, told)] + ["[INFO:swift] Saving model checkpoint to out/checkpoint-200"] * (
            step == 200
        )
    session = session_of(lines, tmp_path, "frameworks.ms_swift")
    assert value(session, "sustained", batch_size_of_job=8) == pytest.approx(4)


def test_ms_swift_resumed_into_the_same_file(tmp_path: Path) -> None:
    """200 updates of 2 s; resumed, a first of 3 s and 199 of 3 s, whose speed counts from the update 200.

    The interval across the restart is no record: 190 updates take 380 s, and 190 take 570 s.
    """
    lines = [
        swift_row(step, {"elapsed_time": f"{step * 2 // 60}m {step * 2 % 60}s", "train_speed(s/it)": 2.0})
        for step in range(10, 201, 10)
    ]
    for step in range(210, 401, 10):
        spent = 3 * (step - 200) + 11
        told = {"elapsed_time": f"{spent // 60}m {spent % 60}s", "train_speed(s/it)": round(spent / (step - 200), 6)}
        lines.append(swift_row(step, told))
    session = session_of(lines, tmp_path, "frameworks.ms_swift")
    assert value(session, batch_size_of_job=8) == pytest.approx(8 * 380 / 950)
    assert value(session_of(lines[20:], tmp_path, "frameworks.ms_swift"), batch_size_of_job=8) == pytest.approx(8 / 3)


def test_ms_swift_resumed_without_its_time_is_read_up_to_there(tmp_path: Path) -> None:
    """The speed divides the number of the update by the time since the restart, or the updates since then by it."""
    lines = [swift_row(step, {"train_speed(iter/s)": 0.5}) for step in range(10, 201, 10)]
    resumed = [
        swift_row(step, {"train_speed(iter/s)": round(step / (3 * (step - 200) + 11), 6)})
        for step in range(210, 401, 10)
    ]
    session = session_of(lines + resumed, tmp_path, "frameworks.ms_swift")
    assert session.records[0]["step"].tolist() == list(range(10, 200, 10))
    assert value(session, batch_size_of_job=8) == pytest.approx(4.0)
    resumed = [swift_row(step, {"train_speed(s/it)": 3 + 11 / (step - 200)}) for step in range(210, 401, 10)]
    session = session_of(
        [each.replace('"train_speed(iter/s)": 0.5', '"train_speed(s/it)": 2.0') for each in lines] + resumed,
        tmp_path,
        "frameworks.ms_swift",
    )
    assert session.records[0]["step"].tolist() == list(range(10, 201, 10))
    assert value(session, batch_size_of_job=8) == pytest.approx(4.0)


def test_xtuner_counts_the_tokens_of_all_ranks(tmp_path: Path) -> None:
    """Two ranks of 4096 and 2048 tokens per step of 2 s, its wait included; the job trains 3072 tokens per second."""
    line = (
        "[XTuner][RANK {}][2026-11-20 10:00:{:02d}][INFO] Epoch 1 Step {}/20 data_time: 0.0100 lr: 2.000000e-05 "
        "time: 1.9900 text_tokens: {} {}total_loss: 1.2, reduced_llm_loss: 1.2 grad_norm: 1.2 max_memory: 40.25 GB "
        "reserved_memory: 48.50 GB tgs: {} exp_tgs: 1.0 e2e_tgs: 1.0 eta: 0:01:00 "
    )
    ranks = ((0, 4096, 2048.0), (1, 2048, 1024.0))
    lines = [
        line.format(rank, 2 * step, step, tokens, "", speed) for step in range(1, 21) for rank, tokens, speed in ranks
    ]
    session = session_of(lines, tmp_path, "frameworks.xtuner")
    assert value(session, devices=2) == pytest.approx(3072.0)
    job = [line.format(0, 2 * n, n, 4096, f"reduced_consumed_tokens: {6144 * n} ", 2048.0) for n in range(1, 21)]
    session = session_of(job, tmp_path, "frameworks.xtuner")
    assert value(session) == pytest.approx(3072.0)
    assert session.records[1]["consumed"].tolist()[-1] == 20 * 6144


def test_megatron_figures_beside_the_throughput(tmp_path: Path) -> None:
    """The first interval skipped all its iterations and has no loss; memory stands in lines of its own."""
    session = session_of(golden_lines("dlperf.megatron"), tmp_path, "dlperf.megatron")
    found = metrics_of(session)
    assert isinstance(found["loss"], MetricFigure)
    assert (found["loss"].first, found["loss"].value) == (11.75, 9.75)
    assert found["memory"].value == 9112.5
    s, l, h, v = 2048, 24, 2048, 51200  # noqa: E741
    flops = 96 * s * l * h**2 * (1 + s / (6 * h) + v / (16 * l * h)) * value(session, "sustained") / 8 / 1e12
    assert found["flops"].value == pytest.approx(flops)


def test_megatron_facts_come_from_its_arguments(tmp_path: Path) -> None:
    lines = golden_lines("dlperf.megatron")
    facts = facts_of(session_of(lines, tmp_path, "dlperf.megatron"))
    assert (facts["sequence_length"], facts["hidden"]) == (2048, 2048)
    garbled = [each.replace("fp16 ........", "bf16_ .......").removesuffix(" 24") for each in lines]
    assert not {"layers", "precision"} & facts_of(session_of(garbled, tmp_path, "dlperf.megatron")).keys()


@pytest.mark.parametrize("size", [1, 2])
@pytest.mark.parametrize("order", [1, -1])
def test_old_megatron_batch_size_is_per_device_without_model_parallelism(size: int, order: int, tmp_path: Path) -> None:
    arguments = ["  batch_size ...................... 4", "  lr .............................. 0.1"]
    arguments.append(f"  model_parallel_size ............. {size}")
    lines = ["-------------------- arguments --------------------", *arguments[::order]]
    lines += ["  world_size ...................... 8", "---------------- end of arguments ----------------"]
    lines += [plain_megatron(step) for step in (100, 200, 300)]
    facts = facts_of(session_of(lines, tmp_path, "dlperf.megatron"))
    assert facts["devices"] == 8
    assert facts.get("batch_size") == (4 if size == 1 else None)


# OneFlow and HugeCTR


def test_oneflow_gpt_memory_is_the_most_that_was_seen(tmp_path: Path) -> None:
    session = session_of(golden_lines("dlperf.oneflow_gpt"), tmp_path, "dlperf.oneflow_gpt")
    found = metrics_of(session, devices=8, nodes=1, batch_size=4)
    assert found["memory"].value == 11808
    assert found["latency"].value == pytest.approx(1000 * sum((12.8, 12.5, 12.8, 12.8, 12.5, 12.8, 12.8, 13.0)) / 8)


def test_oneflow_wide_and_deep_is_judged_by_its_auc(tmp_path: Path) -> None:
    lines = DIALECTS["oneflow wide & deep with dates, over midnight"].lines
    found = metrics_of(session_of(list(lines), tmp_path, "dlperf.oneflow_wdl"), **ONE)
    assert found["accuracy"].value == 0.76162425


def test_ctr_models_devices_follow_from_two_batch_sizes(tmp_path: Path) -> None:
    lines = golden_lines("dlperf.oneflow_models_ctr")
    facts = facts_of(session_of(lines, tmp_path, "dlperf.oneflow_models_ctr"))
    assert (facts["batch_size_of_job"], facts["batch_size"]) == (16384, 2048)
    dlrm = [each.replace("deep_vocab_size", "bottom_mlp ....") for each in lines]
    assert facts_of(session_of(dlrm, tmp_path, "dlperf.oneflow_models_ctr"))["model"] == "DLRM"


def test_hugectr_start_with_and_without_arguments(tmp_path: Path) -> None:
    banner = "=" * 40 + "Model Init" + "=" * 40
    run = [banner, *(HUGECTR["new"].format(100 * n, 100, 0.5) for n in (1, 2, 3))]
    assert [len(each.main) for each in log_of([*run, *run], tmp_path).sessions] == [3, 3]
    assert len(log_of(golden_lines("dlperf.hugectr") * 3, tmp_path).sessions) == 3


# MLPerf


def mllog(at: float, key: str, of: Any = None, **metadata: Any) -> str:
    """Return a line of MLPerf's, `at` seconds after the start."""
    kind = {"start": "INTERVAL_START", "stop": "INTERVAL_END"}.get(key.rpartition("_")[2], "POINT_IN_TIME")
    line = {"namespace": "", "time_ms": 1795168800000 + round(at * 1000), "event_type": kind, "key": key, "value": of}
    return ":::MLLOG " + json.dumps(line | {"metadata": {"file": "train.py", "lineno": 7} | metadata})


def epochs(numbers: list[int]) -> list[str]:
    """Epochs of 100 s, evaluated for 20 s each; the last is given up after 50 s."""
    lines = []
    for at, number in enumerate(numbers):
        took = 50 if number == numbers[-1] else 100
        lines += [
            mllog(120 * at, "epoch_start", epoch_num=number),
            mllog(120 * at + took, "epoch_stop", epoch_num=number),
            mllog(120 * at + took + 20, "eval_accuracy", 0.5 + at / 8, epoch_num=number),
        ]
    return lines


def test_mlperf_size_of_the_data_set_counts_per_whole_epoch(tmp_path: Path) -> None:
    lines = [mllog(-9, "run_start"), mllog(-8, "train_samples", 5000), *epochs([1, 2, 3]), mllog(310, "run_stop")]
    session = session_of(lines, tmp_path, "frameworks.mlperf")
    found = figure(session)
    assert isinstance(found, Figure)
    assert (found.value, found.used, found.first_line, found.last_line) == (50.0, 2, 4, 7)
    assert metrics_of(session)["accuracy"].value == 0.75


def test_mlperf_samples_that_the_run_has_processed(tmp_path: Path) -> None:
    lines = [mllog(-50, "run_start"), *epochs([1]), mllog(200, "run_stop"), mllog(200, "train_samples", 5000)]
    assert value(session_of(lines, tmp_path, "frameworks.mlperf")) == pytest.approx(5000 / 250)


@pytest.mark.parametrize(
    "lines",
    [
        [mllog(-8, "train_samples", 5000), *epochs([1])],
        [mllog(-8, "train_samples", 5000), *epochs([1000, 2000, 3000])],
        [*epochs([1, 2, 3])],
        [*epochs([1]), mllog(200, "train_samples", 5000)],
    ],
    ids=["one-epoch", "epochs-in-samples", "no-samples", "no-run"],
)
def test_mlperf_without_epochs_or_samples_has_no_figure(lines: list[str], tmp_path: Path) -> None:
    assert isinstance(figure(session_of(lines, tmp_path, "frameworks.mlperf")), NoFigure)


def test_mlperf_of_2018_counts_epochs_once(tmp_path: Path) -> None:
    events = [(0, "run_start"), (1, "input_size: 1000")]
    events += [(10 + 25 * (each // 2), f"train_epoch: {each // 2}") for each in range(8)]
    lines = [f":::MLPv0.5.0 resnet {1795168800 + at:.9f} (/w/log.py:49) {event}" for at, event in events]
    found = figure(session_of(lines, tmp_path, "frameworks.mlperf"))
    assert isinstance(found, Figure)
    assert (found.value, found.used) == (40.0, 3)


def test_mlperf_claims_a_log_before_the_training_program(tmp_path: Path) -> None:
    lines = []
    for each in range(6):
        lines.append(f"Epoch[{each}] Batch [0-20]\tSpeed: {900 + each}.00 samples/sec\taccuracy=0.5")
        lines.append(mllog(each, "throughput", 1000.0))
    assert value(session_of(lines, tmp_path, "frameworks.mlperf")) == 1000


# Hugging Face, torchtitan, fairseq, Estimator


def test_hugging_face_losses_of_training_alone_count(tmp_path: Path) -> None:
    lines = DIALECTS["hugging face, bar of training without a head"].lines
    assert metrics_of(session_of(list(lines), tmp_path, "frameworks.hf_trainer"))["loss"].value == 2.5


@pytest.mark.parametrize(("used", "copies", "devices"), [(1, 1, 1), (1, 8, 8), (2, 1, 2), (2, 2, None)])
def test_unsloth_counts_devices_of_a_process_and_copies(
    used: int, copies: int, devices: int | None, tmp_path: Path
) -> None:
    """Every rank prints its own banner; that of the model names the devices of the machine."""
    first, second, third, fourth, fifth = UNSLOTH
    banner = [
        first.replace("used = 1", f"used = {used}"), second, third,
        fourth.replace("GPUs = 2", f"GPUs = {copies}"), fifth,
    ]  # fmt: skip
    stated = facts_of(
        session_of([*banner * 2, *drawn(range(1, 13), 100, 2.0), LOSS], tmp_path, "frameworks.hf_trainer")
    )
    assert stated.get("devices") == devices
    assert (stated["total_steps"], stated["total_epochs"], stated["data_set_size"]) == (100, 3, 2227)
    assert (stated["batch_size"], stated["accumulation"], stated["batch_size_of_job"]) == (2, 4, 16)
    old = facts_of(session_of([*OLD_UNSLOTH, LOSS], tmp_path, "frameworks.hf_trainer"))
    assert (old["devices"], old["batch_size_of_job"], old["accumulation"], old["total_epochs"]) == (1, 8, 4, 1)


@pytest.mark.parametrize(
    ("path", "model"),
    [("/data/models/tiny-lm/", "tiny-lm"), ("../models/tiny-lm", "tiny-lm"), ("acme/tiny-lm", "acme/tiny-lm"),
     ("/hub/models--acme--tiny-lm/snapshots/0123abcd", "acme/tiny-lm")],
)  # fmt: skip
def test_models_are_named_without_the_folders_of_a_machine(path: str, model: str, tmp_path: Path) -> None:
    """Redaction would make one model of all of them."""
    session = session_of([f'  "_name_or_path": "{path}",', *HF_HEAD, LOSS], tmp_path, "frameworks.hf_trainer")
    assert facts_of(session)["model"] == model


def test_a_checkpoint_of_any_model_is_no_name(tmp_path: Path) -> None:
    session = session_of(
        ['  "_name_or_path": "/data/out/checkpoint-500",', *HF_HEAD, LOSS], tmp_path, "frameworks.hf_trainer"
    )
    assert "model" not in facts_of(session)


def test_unsloth_banner_starts_a_session(tmp_path: Path) -> None:
    run = [*UNSLOTH * 2, *drawn(range(1, 13), 100, 2.0), LOSS]
    assert [len(each.main) for each in log_of(run * 2, tmp_path).sessions] == [12, 12]


def test_hugging_face_bars_without_other_lines_are_not_claimed(tmp_path: Path) -> None:
    assert log_of(bars(10, "2.00s/it"), tmp_path).claims == ()


def test_hugging_face_head_starts_a_session(tmp_path: Path) -> None:
    """Two nodes each; what the nodes print one after the other before the first step is one start."""
    run = [*["***** Running training *****", "  Num examples = 64"] * 2, *bars(10, "2.00s/it"), LOSS]
    assert [len(each.main) for each in log_of(run * 2, tmp_path).sessions] == [9, 9]


def test_torchtitan_memory_is_in_mebibytes(tmp_path: Path) -> None:
    lines = list(DIALECTS["torchtitan, every rank untagged"].lines)
    assert metrics_of(session_of(lines, tmp_path, "frameworks.torchtitan"), devices=2)["memory"].value == 20.5 * 1024


def test_torchtitan_seconds_need_the_length_of_a_sequence(tmp_path: Path) -> None:
    lines = list(DIALECTS["torchtitan with the length of a sequence"].lines)
    session = session_of(lines, tmp_path, "frameworks.torchtitan")
    assert "latency" not in metrics_of(session, devices=2, batch_size=4)


def test_old_fairseq_json_prints_steps_of_the_epoch(tmp_path: Path) -> None:
    session = session_of(fairseq_old_epochs(), tmp_path, "frameworks.fairseq_old")
    assert session.records[1]["step"].tolist() == [200, 400] * 3


def test_estimator_lines_claim_no_log_that_another_format_reads(tmp_path: Path) -> None:
    other = "DLL 2026-11-20 04:01:45.500000 - (0, 21) imgs_per_sec : 96.969697  cross_entropy : 7.1 "
    session_of([*ESTIMATOR, other], tmp_path, "ngc.tensorflow_resnet50")


# Keras and Lightning


def bar(text: str, drawn: str = "[==============================] -") -> str:
    count, rest = text.split(" ", 1)
    return f"{count}/{count} {drawn} {rest}"


def redrawn(last: str) -> str:
    """Return a bar that is redrawn in place, up to its last state."""
    states = [f"{n:3d}/100 [=====>........................] - ETA: 9s - loss: 0.9000" for n in (1, 50, 99)]
    return "\r".join(["", *states, last])


def keras(seconds: Sequence[int], *, more: str = "", drawn: str = "[====] -", per: str = "step") -> list[str]:
    lines = []
    for epoch, took in enumerate(seconds, 1):
        last = f"{took}s {10 * took}ms/{per} - loss: 0.5000 - accuracy: 0.7500{more}"
        lines += [f"Epoch {epoch}/{len(seconds)}", redrawn(bar(f"100 {last}", drawn))]
    return lines


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("drawn", ["[====] -", "━━━━━━", "-"])
def test_keras_counts_an_epoch_once(drawn: str, end: str, tmp_path: Path) -> None:
    lines = [*keras([50, 20, 40], drawn=drawn), bar("10 9s 900ms/step - loss: 0.7000")]
    session = session_of(lines, tmp_path, "frameworks.keras", end)
    assert value(session, "sustained", **ONE) == pytest.approx(32 * 200 / 60)
    assert "validation" not in session.facts
    assert session.main["epoch"].tolist() == [1, 2, 3]
    assert session.main["loss"].tolist() == [0.5] * 3


#: Keras 2.0 goes back twice before it draws the next state, by backspaces and a carriage return: all of them stay in a
#: file, and the first complete one is of the training alone.
ERASED = ["50/100 [==>...] - ETA: 9s - loss: 0.9", *[bar("100 30s - loss: 0.7 - acc: 0.5")] * 3]
BACKSPACES = "".join(f"{each}{chr(8) * len(each)}\r" for each in ERASED)
BACKSPACES += bar("100 40s 400ms/step - loss: 0.7 - acc: 0.5 - val_loss: 0.8")
VALIDATION = "Validation DataLoader 0: 100%|####| 9/9 [00:01<00:00, 9.00it/s]\r"
WARNINGS = ["2026-11-20 10:00:00.1: I tensorflow/stream_executor] opened", "WARNING:tensorflow:Callbacks are slow"]


@pytest.mark.parametrize(
    ("lines", "expected", "case"),
    [
        # Releases of old draw the complete bar twice; the first state is of the training alone.
        (
            [
                each + "\r" + bar("100 90s 900ms/step - loss: 0.5 - val_loss: 0.6") if "/step" in each else each
                for each in keras([50, 20, 40])
            ],
            32 * 200 / 60,
            ONE,
        ),
        # 100 samples in 20 and in 40 seconds, whatever the unit is called: the bar counts what was announced.
        *(
            (["Train on 100 samples, validate on 10 samples", *keras([50, 20, 40], per=per)], 200 / 60, case)
            for per in ("step", "sample")
            for case in ({}, ONE)
        ),
        # Of seconds and milliseconds, the number with more digits counts.
        *(
            (["Epoch 1/2", bar("1000 9s 9ms/step - loss: 0.5"), "Epoch 2/2", bar(f"{last} - loss: 0.4")], expected, ONE)
            for last, expected in (("1000 8s 7900us/step", 32 / 0.0079), ("9000 72s 8ms/step", 32 * 9000 / 72))
        ),
        (
            ["Train on 100 samples, validate on 10 samples", "Epoch 1/2", BACKSPACES, "Epoch 2/2", BACKSPACES],
            100 / 30,
            {},
        ),
        (
            ["Epoch 1/2", *WARNINGS, " 1/100 [>....] - ETA: 9s - loss: 0.9", bar("100 50s 500ms/step - loss: 0.7"),
             "Epoch 2/2", "  1/Unknown - 1s 500ms/step - loss: 0.5", bar("100 20s 200ms/step - loss: 0.6")],
            32 / 0.2,
            ONE,
        ),
    ],
)  # fmt: skip
def test_keras_bars(lines: list[str], expected: float, case: dict[str, int], tmp_path: Path) -> None:
    session = session_of(lines, tmp_path, "frameworks.keras")
    assert value(session, "sustained", **case) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("lines", "stated"),
    [
        (keras([50, 20], more=" - val_loss: 0.6000 - val_accuracy: 0.7000"), True),
        (["Epoch 1/2", BACKSPACES, "Epoch 2/2", BACKSPACES], False),
        # What callbacks say of the epoch begins like its head.
        (["Epoch 1/2", "", "Epoch 00001: a callback", bar("100 40s 400ms/step - loss: 0.7 - val_loss: 0.8")], True),
        ([f"{each}\r{bar('100 90s 900ms/step - loss: 0.5 - val_loss: 0.6')}" for each in keras([50, 20])[1::2]], False),
        ([VALIDATION + lightning(99, "5.00it/s", more=", loss=0.625, v_num=0")], True),
        ([lightning(99, "5.00it/s", more=", loss=0.625, v_num=0, val_loss=0.5")], True),
        ([VALIDATION + lightning(99, "5.00it/s", more=", v_num=0, train_loss=0.625")], False),
    ],
)  # fmt: skip
def test_bar_that_includes_validation_is_stated(lines: list[str], stated: bool, tmp_path: Path) -> None:
    lines = lines if lines[0].startswith(("Epoch", "Valid")) else ["Epoch 1/2", lines[0], "Epoch 2/2", lines[1]]
    (session,) = log_of(lines, tmp_path).sessions
    assert facts_of(session).get("validation") == ("included" if stated else None)


def test_keras_seconds_of_too_few_digits_are_nan(tmp_path: Path) -> None:
    lines = ["Epoch 1/2", bar("100 0s 3ms/step - loss: 0.5 "), "Epoch 2/2", bar("100 0s 3ms/step - loss: 0.4 ")]
    assert isinstance(figure(session_of(lines, tmp_path, "frameworks.keras"), "sustained", **ONE), NoFigure)


def test_every_fit_of_a_keras_program_is_a_run(tmp_path: Path) -> None:
    lines = ["Train on 100 samples", "WARNING: of something", *keras([50, 20])]
    log = log_of([*lines, bar("10 9s 900ms/step - loss: 0.7 "), *lines], tmp_path)
    assert [len(each.main) for each in log.sessions] == [2, 2]
    assert all("samples" in each.main for each in log.sessions)


def test_other_programs_with_epochs_are_not_keras(tmp_path: Path) -> None:
    assert log_of(["Epoch 1/10", "loss: 0.5", "Epoch 2/10", "loss: 0.4"], tmp_path).claims == ()


# MXNet and tf_cnn_benchmarks: the head decides what a line counts

FIT = "2026-11-20 09:00:00,000 Node[0] start with arguments Namespace(batch_size=256, kv_store='{}', network='vgg')"
ARCFACE = "Called with argument: Namespace(batch_size=512, ctx_num=8, kvstore='{}', network='r100', per_batch_size=64)"


def speeds(node: int) -> list[str]:
    return [
        f"2026-11-20 09:00:{i:02},000 Node[{node}] Epoch[0] Batch [{20 * i}]\tSpeed: {100 * i}.00 samples/sec\t"
        f"accuracy={i}.0"
        for i in range(1, 4)
    ]


FACES = [
    f"INFO:root:Epoch[0] Batch [{20 * i - 20}-{20 * i}]\tSpeed: {100 * i}.00 samples/sec\tacc=0.000000\tlossvalue=4.0"
    for i in range(1, 4)
]


GLUON_CV = "Namespace(batch_size=8, kvstore='{}', lr_mode='step', model='x', num_gpus=8, {}num_workers=32)"
CLIPS = [
    f"Epoch[000] Batch [{10 * i - 1:04}]/[0300]\tSpeed: {100 * i}.000000 samples/sec\t acc=25.0\t loss=2.7\t lr=0.01"
    for i in range(1, 4)
]


def head(devices: str, variables: str, mode: str = "training") -> list[str]:
    """Return the head of tf_cnn_benchmarks; four devices are named as `devices` says."""
    names = ", ".join(f"'{devices}{n}'" for n in range(2 if "/job" in devices else 4))
    return [
        "TensorFlow:  1.15", "Model:       resnet50", f"Mode:        {mode}", "Batch size:  256 global",
        "             64 per device", f"Devices:     [{names}]", f"Variables:   {variables}",
        "Step\tImg/sec\ttotal_loss",
    ]  # fmt: skip


STEPS = [f"{step}\timages/sec: {speed:.1f} +/- 0.1 (jitter = 0.2)\t7.5" for step, speed in [(10, 90), (20, 100)]]
TOTAL = "total images/sec: 400.00"
LOCAL, HOROVOD, WORKERS = "/gpu:", "horovod/gpu:", "/job:worker/replica:0/task0/gpu:"


@pytest.mark.parametrize(
    ("lines", "nodes", "expected", "scope"),
    [
        ([FIT.format("device"), *speeds(0)], None, 250, "node"),
        ([FIT.format("device"), *speeds(0)], 1, 250, "job"),
        ([FIT.format("dist_device_sync"), *speeds(0)], 2, 500, "job"),
        ([FIT.format("dist_device_sync"), *speeds(0), *speeds(1)], 2, 500, "job"),
        ([FIT.format("dist_device_sync"), *speeds(0)], None, 250, "node"),
        ([FIT.format("horovod"), *speeds(0)], 2, 250, "job"),
        ([ARCFACE.format("device"), *FACES], 2, 250, "job"),
        (FACES, 2, 250, "job"),
        ([ARCFACE.format("dist_device_sync"), *FACES], 2, 500, "job"),
        ([ARCFACE.format("dist_device_sync"), *FACES], None, 250, "node"),
        ([GLUON_CV.format("dist_sync", "num_segments=1, "), *CLIPS], 2, 500, "job"),
        ([GLUON_CV.format("dist_sync", ""), *CLIPS], 2, 500, "job"),
        ([GLUON_CV.format("dist_sync_device", ""), *CLIPS], None, 250, "node"),
        ([GLUON_CV.format("device", "num_segments=1, "), *CLIPS], 2, 250, "job"),
        ([*head(LOCAL, "replicated"), *STEPS, TOTAL], None, 100, "job"),
        ([*head(LOCAL, "parameter_server"), *STEPS, TOTAL], None, 100, "job"),
        ([*head(HOROVOD, "horovod"), *STEPS, TOTAL], None, 400, "job"),
        ([*head(HOROVOD, "horovod"), *STEPS * 4, TOTAL], None, 400, "job"),
        ([*head(WORKERS, "parameter_server"), *STEPS, TOTAL], None, 100, "node"),
    ],
)
def test_scope_follows_the_head(
    lines: list[str], nodes: int | None, expected: float, scope: str, tmp_path: Path
) -> None:
    (session,) = log_of(lines, tmp_path).sessions
    stated = {} if nodes is None else {"nodes": nodes}
    # A local store states one node by itself; here the lines alone decide.
    case = stated | {name: each for name, each in facts_of(session).items() if name == "devices"}
    found = rules.figure("mean:skip=1" if TOTAL in lines else "mean", session, case)
    assert isinstance(found, Figure), found
    assert (found.value, found.scope) == (expected, scope)


@pytest.mark.parametrize(("store", "stated"), [("device", True), ("local", True), ("dist_sync", False)])
def test_local_store_states_one_node(store: str, stated: bool, tmp_path: Path) -> None:
    facts = facts_of(session_of([FIT.format(store), *speeds(0)], tmp_path, "frameworks.mxnet_fit"))
    assert ("nodes" in facts, "batch_size_of_job" in facts) == (stated, stated)
    facts = facts_of(session_of([ARCFACE.format(store), *FACES], tmp_path, "dlperf.arcface"))
    assert ("batch_size_of_job" in facts) == stated


def test_records_without_a_head_are_not_read(tmp_path: Path) -> None:
    session = session_of([*STEPS, TOTAL], tmp_path, "frameworks.tf_cnn_benchmarks")
    assert isinstance(figure(session, "median"), NoFigure)
    assert value(session, "reported") == 400.0


@pytest.mark.parametrize(
    ("mode", "stated"), [("forward-only", "inference"), ("forward only", "inference"), ("training", None)]
)
def test_inference_is_another_case(mode: str, stated: str | None, tmp_path: Path) -> None:
    lines = [*head(LOCAL, "replicated", mode), *STEPS]
    assert facts_of(session_of(lines, tmp_path, "frameworks.tf_cnn_benchmarks")).get("mode") == stated


HOROVOD_RUN = [*head(HOROVOD, "horovod"), *STEPS, TOTAL]


@pytest.mark.parametrize(
    "run",
    [
        [f"[1,{rank}]<stdout>:{line}" for line in HOROVOD_RUN for rank in (2, 0, 3, 1)],
        [line for line in HOROVOD_RUN for _ in range(4)],
    ],
    ids=["tagged", "untagged"],
)
def test_four_ranks_start_one_session(run: list[str], tmp_path: Path) -> None:
    """Four ranks print the head and the steps, out of order; a second run is appended to it."""
    found = log_of(run * 2, tmp_path).sessions
    assert [[len(each) for each in session.records] for session in found] == [[0, 8, 0, 4]] * 2
    assert value(found[1], "median", devices=4, batch_size=64) == 400.0


def test_four_untagged_ranks_start_another_session_after_a_crash(tmp_path: Path) -> None:
    early = [*head(HOROVOD, "horovod"), "Traceback (most recent call last):"]
    found = log_of([*early, *(line for line in HOROVOD_RUN for _ in range(4))], tmp_path).sessions
    assert [[len(each) for each in session.records] for session in found] == [[0] * 4, [0, 8, 0, 4]]


def test_log_of_another_rank_than_0_has_sessions(tmp_path: Path) -> None:
    run = [f"[1,3]<stdout>:{line}" for line in (*head(LOCAL, "replicated"), *STEPS)]
    assert len(log_of(run * 2, tmp_path).sessions) == 2


# PaddleRec: a path within a warning, a word with its first letter cut off

REC_END = "2026-11-20 14:38:09,247 - INFO - Epoch: 0, using time 700.5 second, ips 15500.25 {}/sec."
REC_JOB = "/x/disk2/1.user-2026-1--{}_conv_cloud/python/io.py:1324: UserWarning: states are not zero"
REC_GEO = "I1120 14:26:20.289086 17480 communicator.h:480] GeoCommunicator Initialized"


@pytest.mark.parametrize(
    ("lines", "unit", "expected"),
    [
        *(
            ([REC_JOB.format(job)], "example", expected)
            for job, expected in (
                ("CtrDnn_benchamrk_16_DataSet_async", {"model": "CTR-DNN", "sync_mode": "async"}),
                ("WideDeep_benchmark_4_DataLoader_sync", {"model": "Wide & Deep", "sync_mode": "sync"}),
                ("W2V_benchamrk_32_DataLoader_geo", {"model": "Word2Vec", "sync_mode": "geo"}),
                ("ctr_dnn_benchmark_8", {"model": "CTR-DNN"}),
                ("DeepFM_benchamrk_16_DataSet_async", {"sync_mode": "async"}),
                ("CtrDnn_training_16_DataSet_async", {}),
            )
        ),
        ([REC_GEO], "example", {"sync_mode": "geo"}),
        (["ync_mode: geo"], "example", {"sync_mode": "geo"}),
        (["  sync_mode: async"], "example", {"sync_mode": "async"}),
        (["async_mode: 1"], "example", {}),
        (["2026-11-20 14:26:20,325 - INFO - Epoch: 0, Running Dataset Begin."], "example", {"reader": "DataSet"}),
        (["2026-11-20 14:26:20,325 - INFO - Epoch: 0, Running DataLoader Begin."], "example", {"reader": "DataLoader"}),
        (["I1120 14:26:20.288252 17480 communicator.h:205] trainers: 32"], "example", {"nodes": 32}),
        (["I1120 14:26:20.288250 17480 communicator.h:205] trainer_id: 3"], "example", {}),
        (["Epoch 0 Var cost\tmean_1.tmp_0\t  - place: CPUPlace"], "example", {}),
        # Only Word2Vec counts words, and a geo run under a job called async is geo.
        ([], "word", {"model": "Word2Vec"}),
        (
            [REC_JOB.format("W2V_benchamrk_16_DataLoader_async"), REC_GEO],
            "word",
            {"model": "Word2Vec", "sync_mode": "geo"},
        ),
    ],
)
def test_paddle_rec_facts(lines: list[str], unit: str, expected: dict[str, str], tmp_path: Path) -> None:
    begin = "2026-11-20 14:26:20,125 - INFO - Run Worker Begin"
    assert facts_of(session_of([begin, *lines, REC_END.format(unit)], tmp_path, "paddle.rec")) == expected


def test_paddle_rec_node_and_thread_figures_are_separate_series(tmp_path: Path) -> None:
    batch = (
        "2026-11-20 14:28:02,412 - INFO - Epoch: 0, Batch: {}, auc: [0.66], cost: [0.49],  "
        "avg_batch_cost: 1.00000 sec, avg_samples: 1000.00000, ips: 1000.00000 example/sec"
    )
    lines = [batch.format(100), batch.format(200), REC_END.format("example")]
    session = session_of(lines, tmp_path, "paddle.rec")
    assert {each.reading.scope: len(each) for each in session.records if len(each)} == {"node": 1, "thread": 2}
    assert session.main["throughput"].tolist() == [15500.25]


# What a configuration says, and what it does not


def test_detectron2_file_of_the_configuration_states_no_batch_size(tmp_path: Path) -> None:
    lines = [each for each in golden_lines("frameworks.detectron2") if "Running with full config" not in each]
    facts = facts_of(session_of(lines, tmp_path, "frameworks.detectron2"))
    assert not {"batch_size_of_job", "total_steps", "precision"} & set(facts)


HOROVOD = "INFO:tensorflow:hvd.size() = 8 hvd.rank() = 0"
SQUAD = [
    "INFO:tensorflow:***** Running training *****", "INFO:tensorflow:  Num split examples = 10949",
    "INFO:tensorflow:  Batch size = 4",
    *(f"INFO:tensorflow:loss = 4.6, step = {100 * i} (20.000 sec)" for i in range(1, 6)),
]  # fmt: skip


@pytest.mark.parametrize(
    ("lines", "stated"),
    [
        (SQUAD, {"batch_size_of_job": 4}),
        ([HOROVOD, *SQUAD], {"batch_size": 4, "devices": 8}),
        ([HOROVOD, "INFO:tensorflow:  num_accumulation_steps: 1", *SQUAD], {"batch_size": 4, "devices": 8}),
        ([HOROVOD, "INFO:tensorflow:  num_accumulation_steps: 16", *SQUAD], {"devices": 8}),
        (["INFO:tensorflow:  num_accumulation_steps: 16", *SQUAD], {}),
    ],
)
def test_estimator_batch_size_is_that_of_a_device_under_horovod(
    lines: list[str], stated: dict[str, int], tmp_path: Path
) -> None:
    session = session_of(lines, tmp_path, "frameworks.tf_estimator")
    assert {name: each for name, each in facts_of(session).items() if name != "framework"} == stated
    if "batch_size" in stated:
        assert value(session) == pytest.approx(8 * 4 * 100 / 20)


def test_estimator_runs_of_horovod_in_one_file_keep_their_devices(tmp_path: Path) -> None:
    run = ["INFO:tensorflow:Multi-GPU training with TF Horovod", HOROVOD, "INFO:tensorflow:Using config: {}", *SQUAD]
    log = log_of([*run, "INFO:tensorflow:Loss for final step: 1.2.", *run], tmp_path)
    assert [facts_of(each).get("devices") for each in log.sessions] == [8, 8]
    assert [facts_of(each).get("batch_size") for each in log.sessions] == [4, 4]


def test_paddle_elastic_job_states_no_nodes(tmp_path: Path) -> None:
    lines = ["LAUNCH INFO 2026-11-20 10:00:00,000 nnodes: 2:4", *golden_lines("paddle.clas_dygraph")]
    whole = facts_of(session_of(lines, tmp_path, "paddle.clas_dygraph"))
    assert whole.get("nodes") == facts_of(session_of(lines[1:], tmp_path, "paddle.clas_dygraph")).get("nodes")


MMENGINE = [
    f"2026/11/20 12:01:{i:02} - mmengine - INFO - Iter(train) [{50 * i:5}/40000]  lr: 1.0e-02  eta: 5:53:22  "
    "time: 0.5000  data_time: 0.0100  memory: 3440  loss: 2.1"
    for i in range(1, 5)
]


@pytest.mark.parametrize(("window", "every"), [(10, 1), (10, 5), (50, 10), (50, 50), (20, 4), (25, 5), (5, 1)])
@pytest.mark.parametrize("by_epoch", [True, False])
def test_mmengine_counts_the_slow_first_iteration_once(window: int, every: int, by_epoch: bool, tmp_path: Path) -> None:
    took = [30.0, *[0.5] * 199]
    lines = [f"log_processor = dict(by_epoch=True, type='LogProcessor', window_size={window})"] * (window != 10)
    for i in range(every, 201, every):
        last = took[max(0, i - window) : i]
        head = (
            f"Epoch(train)  [{1 + (i - 1) // 100}][{1 + (i - 1) % 100:3}/100]"
            if by_epoch
            else f"Iter(train) [{i:4}/4000]"
        )
        lines.append(
            f"2026/11/20 12:01:00 - mmengine - INFO - {head}  lr: 1.0e-02  eta: 5:53:22  "
            f"time: {sum(last) / len(last):.4f}  data_time: 0.0100  memory: 3440  loss: 2.1"
        )
    session = session_of(lines, tmp_path, "frameworks.mmseg")
    assert value(session, **ONE) == pytest.approx(32 * 200 / sum(took), rel=1e-3)


@pytest.mark.parametrize(
    ("config", "size"),
    [
        ("train_dataloader = dict(\n    batch_size=2,\n    num_workers=4)", 2),
        ("train_dataloader = dict(\n    batch_sampler=dict(\n        batch_size=9),\n    batch_size=2,\n    y=1)", 2),
        ("train_dataloader = dict(batch_sampler=dict(batch_size=9, of=(1, 2)), batch_size=2, num_workers=4)", 2),
        ("train_dataloader = dict(batch_size=2)", 2),
        ("data = dict(\n    imgs_per_gpu=2,\n    workers_per_gpu=2)", 2),
        ("data = dict(\n    test_dataloader=dict(\n        videos_per_gpu=1),\n    videos_per_gpu=2,\n    x=1)", 2),
        ("data = dict(\n    test_dataloader=dict(\n        videos_per_gpu=1),\n    workers_per_gpu=2)", None),
        ("train_dataloader = dict(mini_batch_size=2)\nval_dataloader = dict(\n    batch_size=1)", None),
        ("val_dataloader = dict(batch_size=1)\ntest_dataloader = dict(\n    batch_size=1,\n    x=1)", None),
    ],
)  # fmt: skip
def test_mmengine_batch_size_of_the_training(config: str, size: int | None, tmp_path: Path) -> None:
    facts = facts_of(session_of([config, *MMENGINE], tmp_path, "frameworks.mmseg"))
    assert facts.get("batch_size") == size


def test_panel_of_mlx_states_its_run(tmp_path: Path) -> None:
    session = session_of(list(DIALECTS["mlx, the table of late 2026"].lines), tmp_path, "frameworks.mlx_lm")
    facts = facts_of(session)
    assert (facts["model"], facts["batch_size_of_job"], facts["total_steps"]) == ("tiny-lm", 4, 1000)
    assert session.ending.outcome == "completed"


@pytest.mark.parametrize(
    ("device", "devices"),
    [("0", 1), ("-1", 1), ("-1,-1", 2), ("cuda:0", 1), ("cuda:0,cuda:1", 2), ("[0, 1, 2]", 3), ("None", 1), ("", None)],
)
def test_ultralytics_devices(device: str, devices: int | None, tmp_path: Path) -> None:
    # Without a device YOLOv5 takes all that it sees (`DataParallel`), though it prints the first only.
    args = f"engine/trainer: batch=16, device={device}, epochs=8"
    bars = [
        f"      {i}/8      8.12G      1.2     0.5        123        640: 100% ━━━ 40/40 10.5it/s 3.8s" for i in (1, 2)
    ]
    facts = facts_of(session_of([args, *bars], tmp_path, "frameworks.ultralytics"))
    assert facts.get("devices") == devices


def test_old_paddle_seg_has_its_speed_by_the_batch_size(tmp_path: Path) -> None:
    lines = [
        f"2026-11-20 11:50:{i:02} [INFO]\t[TRAIN] epoch=1, iter={5 * i}/100, loss=2.5, lr=0.009639, batch_cost={cost}, "
        "reader_cost=0.0001 | ETA 00:01:24"
        for i, cost in enumerate(["0.5000", "0.2500", "0.2500"], 1)
    ]
    session = session_of(lines, tmp_path, "paddle.seg")
    assert value(session, devices=2, batch_size=4) == pytest.approx(3 * 2 * 4 / (0.5 + 0.25 + 0.25))


def test_paddle_clas_2_0_prints_means_since_step_10(tmp_path: Path) -> None:
    """Steps 10 to 20 take 0.2 s each, 21 to 30 take 0.4 s."""
    means = {0: 5.0, 10: 0.2, 20: 0.2, 30: (11 * 0.2 + 10 * 0.4) / 21}
    lines = [
        f"2026-11-20 13:16:10 INFO: epoch:0  , train step:{step:<4d}, loss: 6.9, lr: 0.1, batch_cost: {mean:.5f} s, "
        f"reader_cost: 0.00056 s, ips: {64 / mean:.5f} images/sec."
        for step, mean in means.items()
    ]
    session = session_of(lines, tmp_path, "paddle.clas_static")
    assert value(session, "sustained:skip=3", devices=1) == pytest.approx(64 / 0.4, rel=1e-4)


@pytest.mark.parametrize("since", [0, 30])
def test_a_bar_that_another_program_draws_anew_is_a_second_run(since: int, tmp_path: Path) -> None:
    """It begins at its first step, or goes on with the steps of a checkpoint: then only its time begins anew."""
    first, second = drawn(range(1, 41), 100, 4.0), drawn(range(since + 1, since + 41), 100, 8.0, since)
    found = second_run(session_of([*first, LOSS, *second, LOSS], tmp_path, "frameworks.hf_trainer"))
    assert found is not None
    assert (found[0], found[1].code) == (42, "steps_restart")


@pytest.mark.parametrize(
    ("lines", "pace"),
    [
        (["python train.py --save_steps 50 --bf16", *HF_HEAD[:2], *smoothed(301, 2.0, saved=(50, 60))], 2),
        # 500 if nothing else is stated.
        ([*HF_HEAD[:2], *smoothed(2001, 2.0, saved=(500, 300))], 2),
        (
            [
                *HF_HEAD[:2],
                *smoothed(301, 2.0, saved=(50, 30), said="/a/peft/utils/save_and_load.py:309: UserWarning: b"),
            ],
            2,
        ),
        (
            [
                *HF_HEAD[:2],
                *smoothed(301, 2.0, saved=(50, 30), said="[INFO] [Rank 0] [Torch] Checkpoint a is about to be saved!"),
            ],
            2,
        ),
        # Evaluations that all smoothed speeds show, and one that more than the usual dozen of them show.
        ([*HF_HEAD[:2], *smoothed(121, 3.0, evaluated=(4, 20))], 3),
        ([*HF_HEAD[:2], *smoothed(301, 2.0, evaluated=(60, 600))], 2),
    ],
    ids=["stated", "usual", "peft", "deepspeed", "frequent", "long"],
)
def test_pauses_of_hugging_face_that_a_smoothed_bar_shows(lines: list[str], pace: int, tmp_path: Path) -> None:
    session = session_of([*lines, LOSS], tmp_path, "frameworks.hf_trainer")
    assert value(session, "sustained") == pytest.approx(64 / pace, rel=0.012)


def test_autotrain_tells_each_loss_twice(tmp_path: Path) -> None:
    """Its callback logs the epoch as it is, the Trainer rounds it: that is no second run."""
    lines = []
    for step, bar in zip(range(1, 41), drawn(range(1, 41), 100, 4.0), strict=True):
        exact, rounded = (
            f"{{'loss': {3 - step / 20}, 'learning_rate': 5e-05, 'epoch': {epoch}}}"
            for epoch in (step * 0.0137, round(step * 0.0137, 2))
        )
        lines += [f"{bar}INFO     | 2026-11-20 10:00:00 | autotrain.trainers.common:on_log:367 - {exact}", rounded]
    session = session_of(lines, tmp_path, "frameworks.hf_trainer")
    assert second_run(session) is None


def test_a_long_step_that_nothing_tells_of_is_training(tmp_path: Path) -> None:
    """Optimisers exist that do more work every few hundred steps, and in the first one."""
    lines = [*HF_HEAD[:2], *smoothed(401, 2.0, saved=(100, 60), first=60), LOSS]
    session = session_of(lines, tmp_path, "frameworks.hf_trainer")
    assert value(session, "sustained") == pytest.approx(64 * 320 / (2 * 320 + 3 * 60), rel=0.03)


def test_checkpoints_beside_frequent_evaluations_leave_no_speed(tmp_path: Path) -> None:
    lines = [*HF_HEAD[:2], *smoothed(121, 3.0, evaluated=(4, 20), saved=(4, 30)), LOSS]
    session = session_of(lines, tmp_path, "frameworks.hf_trainer")
    headline = measured(session, facts_of(session)).headline
    assert isinstance(headline, NoFigure)
    assert headline.reason.code == "too_short"


def test_bars_of_two_nodes_whose_clocks_differ_show_no_evaluations(tmp_path: Path) -> None:
    early, late = (drawn(range(1, 61), 62, 4.0, since) for since in (0, -10))
    lines = [one for pair in zip(early, late, strict=True) for one in pair]
    session = session_of([*HF_HEAD[:2], *lines, LOSS], tmp_path, "frameworks.hf_trainer")
    assert value(session) == 16


@pytest.mark.parametrize(("adjusted", "size"), [(8, 4), (2, 2)])
def test_hugging_face_batch_size_that_was_adjusted(adjusted: int, size: int, tmp_path: Path) -> None:
    """A process of two devices takes twice as much; one that ran out of memory tries half."""
    lines = [
        HF_HEAD[0], "  Instantaneous batch size per device = 4",
        f"  Training with DataParallel so batch size has been adjusted to: {adjusted}", *HF_HEAD[1:], LOSS,
    ]  # fmt: skip
    assert facts_of(session_of(lines, tmp_path, "frameworks.hf_trainer"))["batch_size"] == size


def axolotl(tokens: str = "") -> Iterator[str]:
    """Yield the dictionaries of axolotl for every tenth update, of 131,072 tokens in 4 s where it counts them."""
    told = "{{'loss': 1.25, 'learning_rate': 1e-05, 'tokens/train_per_sec_per_gpu': 32768.0, {}'epoch': 0.5}}"
    for step, bar in zip(range(10, 130, 10), drawn(range(10, 130, 10), 500, 4.0), strict=True):
        yield from (told.format(tokens and f"'{tokens}': {step * 131072}, "), bar)


def test_axolotl_speed_of_a_device_is_not_read(tmp_path: Path) -> None:
    """Releases until 2026 print that of all devices under its name."""
    session = session_of([*HF_HEAD[:2], *axolotl()], tmp_path, "frameworks.hf_trainer")
    assert value(session) == 16


@pytest.mark.parametrize("shared", [1, 2])
def test_axolotl_tokens_that_ranks_share_are_counted_by_each(shared: int, tmp_path: Path) -> None:
    lines = [f'  "context_parallel_size": {shared},', *HF_HEAD[:2], *axolotl("tokens/total")]
    session = session_of(lines, tmp_path, "frameworks.axolotl")
    if shared == 1:
        assert value(session) == 32768
    else:
        assert reason(session) == "no_records"


@pytest.mark.parametrize("shared", [1, 2])
def test_trl_tokens_that_ranks_share_are_counted_by_each(shared: int, tmp_path: Path) -> None:
    lines = [
        f"DistributedConfig(tp_size={shared})", *HF_HEAD[:2],
        *(
            line
            for step, bar in zip(range(10, 130, 10), drawn(range(10, 130, 10), 500, 4.0), strict=True)
            for line in (f"{{'loss': 1.25, 'num_tokens': {step * 131072}.0, 'epoch': 0.5}}", bar)
        ),
    ]  # fmt: skip
    session = session_of(lines, tmp_path, "frameworks.trl")
    if shared == 1:
        assert value(session) == 32768
    else:
        assert reason(session) == "no_records"


@pytest.mark.parametrize(("shared", "speed"), [(1, 8.0), (2, 4.0)])
def test_torchtune_devices_that_share_samples(shared: int, speed: float, tmp_path: Path) -> None:
    """Four devices with two samples each take a second for an update, or two pairs of devices do."""
    lines = [
        "Running FullFinetuneRecipeDistributed with resolved config:",
        "batch_size: 2", "gradient_accumulation_steps: 1",
        f"tensor_parallel_dim: {shared}", "world_size: 4",
        *(f"1|{step}|Loss: 1.5:  10%|#    | {step}/100 [00:{step:02}<01:00,  1.00s/it]" for step in range(1, 41)),
    ]  # fmt: skip
    session = session_of(lines, tmp_path, "frameworks.torchtune")
    assert value(session, **facts_of(session)) == speed


@pytest.mark.parametrize("stated", ["uv run sft @ sft.toml --model.cp 2", "cp = 2"])
def test_prime_rl_prints_a_part_of_the_tokens_with_context_parallelism(stated: str, tmp_path: Path) -> None:
    lines = [
        prime_rl(step, "2.00s", 131072).replace("Entropy 0.3500 | Mismatch KL 0.0012 | ", "") for step in range(40)
    ]
    assert value(session_of(lines, tmp_path, "frameworks.prime_rl"), devices=8) == 131072
    assert reason(session_of([stated, *lines], tmp_path, "frameworks.prime_rl"), devices=8) == "no_records"


def test_torchtune_tokens_of_devices_that_share_samples_are_not_read(tmp_path: Path) -> None:
    lines = ["Running FullFinetuneRecipeDistributed with resolved config:", "tensor_parallel_dim: 2", "world_size: 4"]
    steps = (f"Step {step} | loss:1.5 lr:2e-05 tokens_per_second_per_gpu:1000.0 " for step in range(1, 41))
    session = session_of([*lines, *steps], tmp_path, "frameworks.torchtune")
    assert reason(session) == "no_records"


def test_verl_prints_the_only_step_in_both_of_its_forms(tmp_path: Path) -> None:
    told = "perf/total_num_tokens:202000 - perf/time_per_step:50.5 - perf/throughput:500.0"
    lines = ["Training Progress:   1%|          | 1/140 [00:50<1:57:00, 50.50s/it]", f"step:1 - {told}"]
    session = session_of(lines, tmp_path, "frameworks.verl")
    assert second_run(session) is None
    assert value(session) == 4000


def test_bars_of_two_nodes_in_turn_are_one_run(tmp_path: Path) -> None:
    """Each has stated the length of the training before."""
    bar = drawn(range(1, 10), 10, 4.0)
    session = session_of([*HF_HEAD, *HF_HEAD, *bar, *bar, LOSS], tmp_path, "frameworks.hf_trainer")
    assert second_run(session) is None
    assert value(session) == 16


def test_examples_of_an_evaluation_are_not_those_of_training(tmp_path: Path) -> None:
    lines = [
        "***** Running training *****", "  Num examples = 640", "  Num Epochs = 1", *HF_HEAD[1:],
        *drawn(range(1, 6), 10, 4.0),
        "***** Running Evaluation *****", "  Num examples = 2400", "  Batch size = 8",
        *drawn(range(6, 10), 10, 4.0), LOSS,
    ]  # fmt: skip
    session = session_of(lines, tmp_path, "frameworks.hf_trainer")
    assert facts_of(session)["data_set_size"] == 640
    assert second_run(session) is None


def olmo_core(step: int, seconds: float, before: str = "", clock: str = "10:00:00.000") -> list[str]:
    return [
        *([before] if before else []),
        f"2026-11-20 {clock}\thost:0\tconsole_logger:149\tINFO\t[step={step}/2000,epoch=1,eta=1h2m]",
        "    train/CE loss=9.250",
        f"    throughput/device/TPS={16384 / seconds:,.0f}",
        "    throughput/device/TPS (actual avg)=4,096",
        f"    throughput/device/BPS={1 / seconds:.4f}",
    ]


@pytest.mark.parametrize(
    "line",
    ["INFO\tRunning lm evals...", "INFO\tSaving checkpoint for step 80 to /ckpt/step80..."],
    ids=["eval", "save"],
)
def test_olmo_core_counts_no_evaluation_or_checkpoint_of_the_step_that_it_prints(tmp_path: Path, line: str) -> None:
    lines = ["world_size: 8"]
    for step in range(10, 210, 10):
        lines += olmo_core(step, 9.0, line) if step % 80 == 0 else olmo_core(step, 1.0)
    assert value(session_of(lines, tmp_path, "frameworks.olmo_core"), "sustained", devices=8, batch_size=1) == 8 * 16384


def at(seconds: float) -> str:
    return f"{int(seconds // 3600) + 10}:{int(seconds // 60 % 60):02d}:{seconds % 60:06.3f}"


@pytest.mark.parametrize("collected", [1, 5])
def test_olmo_core_counts_no_evaluation_of_any_step_that_it_prints_together(tmp_path: Path, collected: int) -> None:
    """Step 50 is evaluated; where the blocks of five steps are kept, that of step 46 follows the line of it."""
    lines, now, kept = ["world_size: 8"], 0.0, []
    for step in range(1, 201):
        evaluated = step % 50 == 0
        if evaluated:
            lines.append(f"2026-11-20 {at(now + 1)}\thost:0\tevaluator_callback:70\tINFO\tRunning lm evals...")
        now += 21.0 if evaluated else 1.0
        kept.append((step, 21.0 if evaluated else 1.0))
        if step % collected == 0:
            for n, (each, seconds) in enumerate(kept):
                lines += olmo_core(each, seconds, clock=at(now + 0.001 * n))
            kept.clear()
    session = session_of(lines, tmp_path, "frameworks.olmo_core")
    assert value(session, "sustained", devices=8, batch_size=1) == pytest.approx(8 * 16384)


@pytest.mark.parametrize(("took", "verdict"), [(20.0, "agrees"), (60.0, "disagrees")])
def test_the_steps_of_olmo_core_are_held_against_its_clock(tmp_path: Path, took: float, verdict: str) -> None:
    """Every tenth step is printed, as one of two seconds; by the clock, ten of them take more."""
    lines = ["world_size: 8"]
    for n in range(20):
        lines += olmo_core(10 * n + 10, 2.0, clock=at(took * n + 0.5))
    session = session_of(lines, tmp_path, "frameworks.olmo_core")
    found = measured(session, facts_of(session))
    assert [each.verdict for each in found.witnesses if each.kind == "clock"] == [verdict]


def test_torchtune_counts_no_validation_ahead_of_a_step(tmp_path: Path) -> None:
    lines = [
        "INFO:torchtune.utils._logging:Running FullFinetuneRecipeSingleDevice with resolved config:",
        "batch_size: 2",
    ]
    for step in range(1, 41):
        if step in (11, 31):
            lines += ["INFO:torchtune.utils._logging:Running validation...", f"Step {step - 1} | val_loss:1.2500 "]
        speed = 512.0 if step in (11, 31) else 8192.0
        lines.append(f"Step {step} | loss:1.875 lr:2e-05 tokens_per_second_per_gpu:{speed} peak_memory_active:30.5 ")
    assert value(session_of(lines, tmp_path, "frameworks.torchtune"), "sustained") == 8192


def test_prime_rl_counts_no_mean_over_ten_steps_that_holds_a_checkpoint(tmp_path: Path) -> None:
    """Steps of 1 s and 1,000 tokens, but the 40th with 10 s of saving ahead of it."""
    seconds = [11.0 if step == 40 else 1.0 for step in range(80)]
    lines = []
    for step in range(80):
        if step == 40:
            lines.append("10:00:00 [   INFO] Saving checkpoint at step 40")
        last = seconds[max(0, step - 9) : step + 1]
        speed = 0 if step == 0 else round(1000 * len(last) / sum(last))
        lines.append(
            f"10:00:00 [SUCCESS] Step {step} |   {seconds[step]:.2f}s | Loss 1.8800 | Grad. Norm 0.5000 | "
            f"LR 1.00e-05 | Throughput {speed} tokens/s | MFU 41.2% | Peak Mem. 40.0/79.6 GiB (50.4%)"
        )
    assert value(
        session_of(lines, tmp_path, "frameworks.prime_rl"), "sustained", devices=1, batch_size=1
    ) == pytest.approx(1000)


def test_prime_rl_of_late_2026_prints_the_speed_of_each_step(tmp_path: Path) -> None:
    """Steps of 2 s and 3 s in turn, and of 20 s where they hold a checkpoint."""
    lines = []
    for step in range(80):
        seconds = 20.0 if step % 8 == 7 else 2.0 + step % 2
        if step % 8 == 7:
            lines.append(f"10:00:00 [   INFO] Saving checkpoint at step {step}")
        lines.append(
            f"10:00:00 [SUCCESS] Step {step} | {seconds:6.2f}s | Loss 1.8800 | Grad. Norm 0.5000 | LR 1.00e-05 | "
            f"Throughput {60000 / seconds:.0f} tokens/s | MFU {60 / seconds:.1f}% | Peak Mem. 40.0/79.6 GiB (50.4%)"
        )
    session = session_of(lines, tmp_path, "frameworks.prime_rl")
    assert value(session, "sustained") == pytest.approx(60000 * 7 / (4 * 2 + 3 * 3))


@pytest.mark.parametrize("jump", [3600, -3600], ids=["begins", "ends"])
def test_daylight_saving_is_no_step(tmp_path: Path, jump: int) -> None:
    """Ten steps of 128 sequences each 2.5 s; ahead of the 40th line the local clock is set by an hour."""
    start = dt.datetime(2026, 10, 25, 3, 50)
    lines = ["--train_batch_size=128 --num_gpus=4 --max_seq_length=128"]
    for number in range(1, 81):
        at = start + dt.timedelta(seconds=2.5 * number + (jump if number >= 40 else 0))
        lines.append(f"I{at:%m%d %H:%M:%S.%f} 1399 training.py:444] Train Step: {10 * number}/800  / loss = 0.395")
    session = session_of(lines, tmp_path, "dlperf.tensorflow2_bert")
    found = figure(session, "sustained", devices=4, batch_size=32)
    assert isinstance(found, Figure)
    assert found.value == pytest.approx(512)


def test_a_window_of_the_clock_holds_no_daylight_saving(tmp_path: Path) -> None:
    start = dt.datetime(2026, 3, 29, 1, 59, 20)
    lines = [
        f"DLL {start + dt.timedelta(seconds=number + (3600 if number >= 40 else 0)):%Y-%m-%d %H:%M:%S.%f} - Epoch: 0 "
        f"Iteration: {number}  train.loss : 6.9 None train.compute_ips : 257.00 images/s "
        "train.total_ips : 256.00 images/s"
        for number in range(1, 131)
    ]
    session = session_of(lines, tmp_path, "ngc.pytorch_resnet50")
    assert value(session, "sustained", **ONE) == pytest.approx(256)
    assert reason(session, "dlperf", **ONE) == "clock_set"


def clock_of(gaps: Sequence[float], hour: float = 1.5) -> Any:
    return np.cumsum([hour * 3600.0, *gaps])


def test_a_pause_is_no_daylight_saving() -> None:
    assert clock_set(clock_of([5, 5, 3605, 5, -3595, 5, 3620])).tolist() == [0, 0, 1, 0, 1, 0, 0]
    assert not clock_set(clock_of([5, 5, 3605, 5], hour=12)).any(), "at noon no clock is set"
    assert not clock_set(clock_of([60, 60, 3720, 60, 60])).any(), "twice the usual interval is left"
    assert not clock_set(clock_of([300, 300, 3700, 300, 300, 300, 3700, 300, 300, 3700], hour=0)[:12]).any()
    assert not clock_set(clock_of([1800, 1800, 5400, 1800])).any(), "intervals of half an hour vary"
    assert not clock_set(clock_of([-1.0])).any()


# MaxText

MAXTEXT = [
    "Config param max_target_length: 2048",
    "Config param per_device_batch_size: 4.0",
    "Num_devices: 8, shape (8,)",
]
MAXTEXT_TOKENS = 4 * 2048


def maxtext_line(step: int, seconds: float, accumulation: int = 1) -> str:
    tokens = accumulation * MAXTEXT_TOKENS / seconds
    return (
        f"completed step: {step}, seconds: {seconds:.3f}, TFLOP/s/device: 134.924, Tokens/s/device: {tokens:.3f}, "
        "total_weights: 65536, loss: 8.125"
    )


def maxtext(release: int, every: int, evaluated: bool, lasts: float) -> list[str]:
    """Return a log of steps of 5 s, as the loop of a release times them: devices work on while the host goes ahead."""
    host = devices = last = 0.0
    took, done, lines = [], [], ["Config param gradient_accumulation_steps: 1", *MAXTEXT]
    for step in range(100):
        host += 0.01
        devices = max(devices, host) + 5.0
        done.append(devices)
        took.append(host - last)
        last = host

        def stop(step: int = step) -> None:
            nonlocal host, devices
            devices += lasts
            host = devices
            lines.extend(
                ["Completed eval step 0", f"eval metrics after step: {step}, loss=3.125, total_weights=65536"]
                if evaluated
                else [f"Started an asynchronous checkpoint save for step {step}"]
            )

        due = step > 0 and step % every == 0
        late = evaluated and release == 2024  # Evaluations followed the line then.
        if due and not late:
            stop()
        if release == 2026:
            last = host
        if step:
            host = max(host, done[step - 1])
            lines.append(maxtext_line(step - 1, took[step - 1]))
        if due and late:
            stop()
    return [*lines, maxtext_line(99, took[99])]


@pytest.mark.parametrize("release", [2024, 2025, 2026])
@pytest.mark.parametrize("evaluated", [True, False], ids=["evaluation", "checkpoint"])
@pytest.mark.parametrize("lasts", [0.1, 60.0])
def test_maxtext_counts_no_step_whose_seconds_an_evaluation_or_a_checkpoint_shifts(
    tmp_path: Path, release: int, evaluated: bool, lasts: float
) -> None:
    session = session_of(maxtext(release, 10, evaluated, lasts), tmp_path, "frameworks.maxtext")
    assert value(session, "sustained") == pytest.approx(8 * MAXTEXT_TOKENS / 5, rel=1e-3)
    found = measured(session, facts_of(session)).headline
    assert isinstance(found, Figure)


def test_maxtext_gives_no_speed_where_every_second_step_is_saved(tmp_path: Path) -> None:
    session = session_of(maxtext(2025, 2, False, 1.0), tmp_path, "frameworks.maxtext")
    assert reason(session, "sustained") == "only_pauses"


def test_a_step_of_maxtext_is_an_update(tmp_path: Path) -> None:
    lines = [*MAXTEXT, "Config param gradient_accumulation_steps: 4", *(maxtext_line(n, 2.0, 4) for n in range(30))]
    session = session_of(lines, tmp_path, "frameworks.maxtext")
    headline = measured(session, facts_of(session)).headline
    assert isinstance(headline, Figure)
    assert headline.value == pytest.approx(8 * 4 * MAXTEXT_TOKENS / 2)
    assert metrics_of(session)["latency"].value == pytest.approx(500.0)


def test_a_hidden_step_of_maxtext_is_not_in_the_next_one(tmp_path: Path) -> None:
    lines = [
        f"completed profiler activation/deactivation step: {n}" if n in (20, 21) else maxtext_line(n, 2.0)
        for n in range(30)
    ]
    session = session_of(
        [*MAXTEXT, "Config param gradient_accumulation_steps: 1", *lines], tmp_path, "frameworks.maxtext"
    )
    assert value(session, "sustained") == pytest.approx(8 * MAXTEXT_TOKENS / 2)
    assert metrics_of(session)["latency"].value == pytest.approx(2000.0)


# The first iteration of Megatron Core


def megatron_core(start: int, interval: int, count: int) -> list[str]:
    """Return lines of a run whose first iteration takes 60 s and the others 1 s each."""
    lines, ends = [], range(interval * (start // interval + 1), 10000, interval)
    for step in [start + 1, *[each for each in ends if each > start + 1][: count - 1]]:
        since = start if step == start + 1 or not lines[1:] else step - interval
        took = (step - since + (59 if since == start else 0)) / (step - since)
        lines.append(
            f" [2026-11-20 10:11:12.500000] iteration {step:8d}/   10000 | consumed samples: {256 * step:12d} | "
            f"elapsed time per iteration (ms): {1000 * took:.1f} | global batch size:   256 | lm loss: 7.125000E+00 |"
        )
    return lines


@pytest.mark.parametrize("start", [0, 350])
@pytest.mark.parametrize("interval", [1, 2, 100])
def test_megatron_core_tells_the_first_iteration_twice(tmp_path: Path, start: int, interval: int) -> None:
    session = session_of(megatron_core(start, interval, 6), tmp_path, "dlperf.megatron")
    assert value(session, "sustained") == pytest.approx(256.0)


def test_two_lines_of_megatron_core_hold_the_first_iteration(tmp_path: Path) -> None:
    session = session_of(megatron_core(0, 100, 2), tmp_path, "dlperf.megatron")
    found = measured(session, facts_of(session)).headline
    assert isinstance(found, NoFigure)
    assert found.reason.code == "too_short"


def test_megatron_before_tells_the_first_iteration_once(tmp_path: Path) -> None:
    lines = [f"{megatron(step, 60000.0 if step == 1 else 1000.0)} global batch size: 256 |" for step in range(1, 7)]
    session = session_of(lines, tmp_path, "dlperf.megatron")
    assert session.main["step"].tolist() == [1, 2, 3, 4, 5, 6]


CLAS_BATCHES = [
    "[2026/11/20 10:00:00] ppcls INFO: Train : ",
    "[2026/11/20 10:00:00] ppcls INFO:     sampler : ",
    "[2026/11/20 10:00:00] ppcls INFO:         batch_size : 64",
]


def clas_batches(epochs: Sequence[Sequence[int]], cost: float = 0.2, every: int = 10) -> list[str]:
    """PaddleClas of 2024, whose `ips` is the size of the last batch over the mean cost; each batch takes `cost`."""
    return CLAS_BATCHES + [
        f"[2026/11/20 10:00:00] ppcls INFO: [Train][Epoch {epoch + 1}/{len(epochs)}][Iter: {step}/{len(sizes)}]"
        f"lr(Cosine): 0.1, loss: 2.3, batch_cost: {cost:.5f}s, reader_cost: 0.08870, ips: {size / cost:.5f} samples/s"
        for epoch, sizes in enumerate(epochs)
        for step, size in enumerate(sizes)
        if step % every == 0
    ]


@pytest.mark.parametrize(("steps", "last"), [(51, 44), (201, 40), (201, 3), (11, 3)])
def test_paddle_clas_smaller_last_batch_of_an_epoch_is_not_that_of_all(tmp_path: Path, steps: int, last: int) -> None:
    epochs = [[64] * (steps - 1) + [last]] * 10
    session = session_of(clas_batches(epochs), tmp_path, "paddle.clas_dygraph")
    assert value(session, devices=4) == pytest.approx(4 * sum(epochs[0]) / (0.2 * steps), rel=1e-3)
    latency = metrics_of(session, devices=4)["latency"]
    assert isinstance(latency, MetricFigure)
    assert latency.value == pytest.approx(200)


def test_paddle_clas_odd_batch_within_an_epoch_is_left_out(tmp_path: Path) -> None:
    epoch = [64] * 1000
    epoch[500] = 8
    session = session_of(clas_batches([epoch]), tmp_path, "paddle.clas_dygraph")
    assert value(session, devices=1) == pytest.approx(320)


def test_paddle_clas_wrong_batch_size_is_told_where_last_batches_are_smaller(tmp_path: Path) -> None:
    lines = [each.replace("batch_size : 64", "batch_size : 32") for each in clas_batches([[64] * 50 + [9]] * 10)]
    session = session_of(lines, tmp_path, "paddle.clas_dygraph")
    found = measured(session, facts_of(session) | {"devices": 1})
    assert [each.verdict for each in found.witnesses if each.kind == "arithmetic"] == ["disagrees"]


def test_paddle_clas_speed_of_a_fast_model_has_the_digits_of_ips(tmp_path: Path) -> None:
    cost = 0.00123456
    session = session_of(clas_batches([[64] * 1000], cost), tmp_path, "paddle.clas_dygraph")
    assert value(session, devices=1) == pytest.approx(64 / cost, rel=1e-7)


@pytest.mark.parametrize(("steps", "code"), [(500, "batches_vary"), (30000, "")])
def test_paddle_clas_batches_of_several_scales_need_many_records(tmp_path: Path, steps: int, code: str) -> None:
    """A stated batch size says nothing then: it is that of one scale."""
    sizes = np.random.default_rng(1).choice([41, 64, 114], steps).tolist()
    session = session_of(clas_batches([sizes]), tmp_path, "paddle.clas_dygraph")
    if code:
        assert reason(session, "sustained", devices=1) == code
    else:
        assert value(session, devices=1) == pytest.approx(sum(sizes) / (0.2 * steps), rel=0.01)


OCR = "[2026/11/20 10:00:00] {logger} INFO: epoch: [{epoch}/{epochs}], {step}: {at}, lr: 0.1, loss: 2.5, {told}"
OCR_DIALECTS = {
    "samples": "reader_cost: 0.01000 s, batch_cost: {cost:.5f} s, samples: {samples}, ips: {ips:.5f}",
    "avg_samples": "avg_reader_cost: 0.01000 s, avg_batch_cost: {cost:.5f} s, avg_samples: {mean}, "
    "ips: {ips:.5f} samples/s, eta: 0:10:00",
}


def ocr(dialect: str, length: int, epochs: int, last: int = 16, every: int = 10, first: int = 0) -> list[str]:
    """PaddleOCR: steps of 0.2 s and 16 samples, but for the last of an epoch; sums are always divided by `every`."""
    lines = [
        "[2026/11/20 10:00:00] ppocr INFO: Train : ",
        "[2026/11/20 10:00:00] ppocr INFO:         batch_size_per_card : 16",
    ]
    steps = samples = 0
    for at in range(first, first + length * epochs):
        end = (at - first) % length == length - 1
        steps, samples = steps + 1, samples + (last if end else 16)
        if end or (at > 0 and at % every == 0):
            told = OCR_DIALECTS[dialect].format(
                cost=0.2 * steps / every, samples=samples, mean=samples / every, ips=samples / (0.2 * steps)
            )
            old, epoch = dialect == "samples", (at - first) // length + 1
            lines.append(
                OCR.format(
                    logger="root" if old else "ppocr", epoch=epoch, epochs=epochs, at=at, told=told,
                    step="iter" if old else "global_step",
                )
            )  # fmt: skip
            steps = samples = 0
    return lines


@pytest.mark.parametrize("dialect", OCR_DIALECTS)
@pytest.mark.parametrize("first", [0, 1])
@pytest.mark.parametrize(("length", "last"), [(12, 16), (63, 16), (13, 5), (4, 16), (6, 16), (30, 16), (10, 16)])
def test_paddle_ocr_divides_by_the_steps_of_the_interval(
    tmp_path: Path, dialect: str, length: int, last: int, first: int
) -> None:
    """An epoch ends off the grid of `print_batch_step`; steps count from 0 or 1."""
    session = session_of(ocr(dialect, length, 40, last, first=first), tmp_path, "frameworks.paddle_ocr")
    of_epoch = 16 * (length - 1) + last
    assert value(session, "sustained", devices=1) == pytest.approx(of_epoch / (0.2 * length), rel=0.01)
    latency = metrics_of(session, devices=1)["latency"]
    assert isinstance(latency, MetricFigure)
    assert latency.value == pytest.approx(200, rel=1e-3)
    found = measured(session, facts_of(session) | {"devices": 1})
    assert [each.verdict for each in found.witnesses if each.kind == "arithmetic"] == ["agrees"]


@pytest.mark.parametrize("dialect", OCR_DIALECTS)
def test_paddle_ocr_lost_line_makes_no_interval_longer(tmp_path: Path, dialect: str) -> None:
    lines = ocr(dialect, 1000, 1, first=1)
    del lines[30]
    session = session_of(lines, tmp_path, "frameworks.paddle_ocr")
    assert value(session, "sustained", devices=1) == pytest.approx(80)
    latency = metrics_of(session, devices=1)["latency"]
    assert isinstance(latency, MetricFigure)
    assert latency.value == pytest.approx(200)


def test_paddle_ocr_reads_speeds_alone_where_the_steps_tell_no_interval(tmp_path: Path) -> None:
    """Every record is the end of an epoch of 6 steps, printed as a hundredth of them."""
    session = session_of(ocr("avg_samples", 6, 15, every=100, first=1), tmp_path, "frameworks.paddle_ocr")
    assert value(session, "sustained", devices=1) == pytest.approx(80)
    latency = metrics_of(session, devices=1)["latency"]
    assert isinstance(latency, MetricFigure)
    assert latency.value == pytest.approx(200)


def test_paddle_ocr_does_not_search_for_the_interval_of_a_garbled_step(tmp_path: Path) -> None:
    lines = ocr("avg_samples", 30, 2, first=1)
    garbled = [each.replace("global_step: 20,", f"global_step: {10**18},") for each in lines]
    assert value(session_of(garbled, tmp_path, "frameworks.paddle_ocr"), devices=1) == pytest.approx(80)


def test_paddle_nlp_gpt_of_2021_leaves_out_what_holds_an_evaluation(tmp_path: Path) -> None:
    """Its only speed is that of the job; the first examples time the evaluation that follows a line as well."""
    lines = []
    for step in range(10, 401, 10):
        speed = 0.5 if step in (110, 310) else 4.0
        lines.append(
            f"[2026-11-20 10:00:00,123] [    INFO] - global step {step}, epoch: 0, batch: {step - 1}, loss: 10.5, "
            f"speed: {speed:.2f} step/s, ips: {8192 * speed:.0f} tokens/s, learning rate: 1.00000e-05"
        )
        if step in (100, 300):
            lines.append(
                f"[2026-11-20 10:00:00,123] [    INFO] - valid step {step}, epoch: 0, batch: 9, loss: 10.5, "
                "speed: 8.00 step/s"
            )
    assert value(session_of(lines, tmp_path, "paddle.fleetx"), "sustained") == pytest.approx(32768)


def test_paddle_clas_static_epochs_that_end_before_the_mean_begins_are_told(tmp_path: Path) -> None:
    lines = [
        f"ppcls INFO: epoch:{epoch}   train step:{step}   lr: 0.1, loss:  2.5 batch_cost: 0.20000 s, "
        "reader_cost: 0.0 s, ips: 80.00000 samples/sec."
        for epoch in range(60)
        for step in range(4)
    ]
    found = figure(session_of(lines, tmp_path, "paddle.clas_static"), "sustained", **ONE)
    assert found == NoFigure(Reason("mean_not_begun", {"records": 240, "step": 5}))


def gnmt(step: int, speed: float, seconds: float, rank: str = "0: ") -> str:
    return (
        f"{rank}TRAIN [0][{step}/4400]\tTime 0.206 ({seconds:.3f})\tData 1.49e-04 (1.78e-04)\t"
        f"Tok/s 134750 ({speed:.0f})\tLoss/tok 7.1250 (7.5)\tLR 8.319e-04"
    )


@pytest.mark.parametrize("ranks", [["0: "], ["0: ", "1: "], ["", ""]], ids=["one", "two", "two without tags"])
def test_gnmt_means_of_speeds_are_undone_as_such(ranks: list[str], tmp_path: Path) -> None:
    """20,000 tokens each: 30 iterations of 0.4 s, 50,000 tokens/s, and 30 of 0.1 s, 200,000 tokens/s."""
    means = [(50e3, 0.4), (50e3, 0.4), (50e3, 0.4), (87.5e3, 0.325), (110e3, 0.28), (125e3, 0.25)]
    lines = [gnmt(10 * n, *each, rank) for n, each in enumerate(means, 1) for rank in ranks]
    session = session_of(lines, tmp_path, "ngc.pytorch_gnmt")
    assert value(session, devices=1) == pytest.approx(60 * 20_000 / (30 * 0.4 + 30 * 0.1))
    assert value(session, "sustained:skip=3", devices=1) == pytest.approx(200e3)
    assert value(session, "median:skip=0", devices=1) == pytest.approx(125e3)
    assert second_run(session) is None
    first, last = np.asarray(session.main["duration"])[[0, -1]]
    assert (first, last) == pytest.approx((4.0, 1.0))


def test_gnmt_means_late_in_an_epoch_are_undone_over_several_intervals(tmp_path: Path) -> None:
    """Over 4,000 iterations the last digit counts 4 s, and an interval of 2 s would seem to last less than none."""
    lines = [gnmt(step, 100e3, 0.201 if step % 20 else 0.2) for step in range(10, 4410, 10)]
    session = session_of(lines, tmp_path, "ngc.pytorch_gnmt")
    assert (session.main["duration"] > 0).all()
    assert metrics_of(session, devices=1)["latency"].value == pytest.approx(200, rel=5e-3)
    assert value(session, devices=1) == pytest.approx(100e3)


def time_history(end: int, seconds: float) -> str:
    return (
        f"I0305 10:00:20.000000 140348344015930 keras_utils.py:145] TimeHistory: {seconds:.2f} seconds, "
        f"{51200 / seconds:.2f} examples/second between steps {end - 100} and {end}"
    )


@pytest.mark.parametrize(
    "between",
    [
        ["1251/1251 - 300s - loss: 6.9 - accuracy: 0.01 - val_loss: 6.7 - val_accuracy: 0.02", "Epoch 2/5"],
        ["Epoch 00001: saving model to out/model.ckpt-0001"],
    ],
    ids=["validation", "checkpoint"],
)
def test_time_history_counts_no_validation_at_the_end_of_an_epoch(between: list[str], tmp_path: Path) -> None:
    """Every interval takes 20 s, and one holds the end of an epoch, which takes 60 s more."""
    lines = ["Epoch 1/5", *(time_history(100 * n, 20) for n in range(1, 8)), *between, time_history(800, 80)]
    session = session_of([*lines, time_history(900, 20)], tmp_path, "dlperf.tensorflow2_resnet50")
    assert value(session, "sustained", devices=4) == pytest.approx(2560)
    assert value(session, "mean:skip=8", devices=4) == pytest.approx(2560)


BERT_COMMAND = (
    "python3 -m torch.distributed.launch --nproc_per_node=8 /workspace/bert/run_pretraining.py --train_batch_size={} "
    "--gradient_accumulation_steps=16 --config_file=bert_config.json --fp16"
)


def bert_phase(batch: int, minute: int) -> list[str]:
    """Return a run of one update per 10 s, without its last line."""
    stamp = f"DLL 2026-11-20 10:{minute:02}:"
    return [
        BERT_COMMAND.format(16 * batch),
        f'{stamp}00.000000 - PARAMETER Config : ["Namespace(fp16=True, train_batch_size={16 * batch})"] ',
        f"{stamp}00.000000 - PARAMETER batch_size_per_gpu : {batch} ",
        *(
            f"{stamp}{10 * n:02}.000000 - Training Epoch: 0 Training Iteration: {n}  average_loss : 11  step_loss : 11 "
            for n in range(1, 6)
        ),
    ]


def test_ngc_bert_launcher_without_nodes_starts_one(tmp_path: Path) -> None:
    session = session_of(bert_phase(64, 0), tmp_path, "ngc.pytorch_bert")
    assert (facts_of(session)["nodes"], facts_of(session)["devices_per_node"]) == (1, 8)
    nodes = [each.replace("--nproc_per_node=8", "--nproc_per_node=8 --nnodes=2") for each in bert_phase(64, 0)]
    assert facts_of(session_of(nodes, tmp_path, "ngc.pytorch_bert")).get("nodes") != 1


def test_ngc_bert_phases_begin_with_their_commands(tmp_path: Path) -> None:
    """The command of the second phase states other facts than that of the first, and belongs to none but the second."""
    log = log_of([*bert_phase(64, 0), *bert_phase(16, 5)], tmp_path)
    assert [facts_of(each)["samples_per_update_and_device"] for each in log.sessions] == [1024, 256]
    assert [second_run(each) for each in log.sessions] == [None, None]
    assert [value(each, devices=8) for each in log.sessions] == pytest.approx([8 * 1024 / 10, 8 * 256 / 10])


def test_ngc_squad_runs_begin_with_their_commands(tmp_path: Path) -> None:
    runs = [
        [
            f"python3 run_squad.py --bert_model=bert-large-uncased --config_file=bert_configs/{size}.json",
            f'DLL 2026-11-20 10:{at:02}:00.000000 - PARAMETER Config : ["Namespace(doc_stride=128)"] ',
            *(
                f"DLL 2026-11-20 10:{at:02}:{10 * n}.000000 - Training Epoch: 0 Training Iteration: {n}  step_loss : 5 "
                for n in range(1, 6)
            ),
        ]
        for at, size in enumerate(("base", "large"))
    ]
    log = log_of([*runs[0], *runs[1]], tmp_path)
    assert [facts_of(each)["model"] for each in log.sessions] == ["BERT-base SQuAD", "BERT-large SQuAD"]


def mxnet_speed(second: float, batch: int, speed: float) -> str:
    stamp = dt.datetime(2026, 11, 20, 8, 36) + dt.timedelta(seconds=second)
    label = f"{stamp:%Y-%m-%d %H:%M:%S},{stamp.microsecond // 1000:03}:INFO: Epoch[0] Batch [{batch}-{batch + 19}]"
    return f"{label}\tSpeed: {speed} samples/sec\tLR: 0.004"


def test_ngc_mxnet_ranks_without_tags_count_once(tmp_path: Path) -> None:
    """Each prints the speed of the job: the one in the middle counts. What begins anew is a second run."""
    lines, later = (
        [mxnet_speed(begun + 4 * n + rank / 10, 20 * n, 1000 + rank) for n in range(8) for rank in range(3)]
        for begun in (0, 60)
    )
    session = session_of(lines, tmp_path, "ngc.mxnet_resnet50_speed")
    assert second_run(session) is None
    assert value(session) == pytest.approx(1001)
    found = second_run(session_of([*lines, *later], tmp_path, "ngc.mxnet_resnet50_speed"))
    assert found is not None
    assert (found[0], found[1].code) == (25, "steps_restart")


def test_the_stages_of_nanochat_in_one_log_are_runs_of_their_own(tmp_path: Path) -> None:
    head = "Tokens / micro-batch / rank: 32 x 2048 = 65,536"
    base = [f"step {n:05}/00060 (1.00%) | loss: 2.5 | lrm: 1.00 | dt: 320.00ms | tok/sec: 1,638,400" for n in range(60)]
    tuned = [f"step {n:05} (1.00%) | loss: 2.5 | lrm: 1.00 | dt: 640.00ms | tok/sec: 819,200" for n in range(60)]
    end = "Total training time: 0.32m"
    first, second = log_of([head, *base, end, head, *tuned, end], tmp_path).sessions
    assert value(first, devices=8, batch_size=32) == pytest.approx(1638400)
    assert value(second, devices=8, batch_size=32) == pytest.approx(819200)


def paddlenlp(samples: float, *, updates: int = 10, rate: str = "3e-05", head: bool = True) -> list[str]:
    """PaddleNLP's Trainer: two devices with 2 x 8 samples an update each, 4 s a line, which counts so many samples."""
    at, per_second = "[2026-11-20 10:{:02}:{:02},123] [    INFO] - ", "interval_{}_per_second: {:.3f}, "
    told = per_second.format("samples", samples / 4) + per_second.format("steps", updates / 4)
    stated = (
        "world_size                    :2",
        "***** Running training *****",
        "  Instantaneous batch size per device = 8",
        "  Total train batch size (w. parallel, distributed & accumulation) = 32",
        "  Gradient Accumulation steps = 2",
    )
    return [at.format(0, 0) + each for each in stated if head] + [
        f"{at.format(n // 15, 4 * n % 60)}loss: 1.5, learning_rate: {rate}, global_step: {updates * n}, "
        f"interval_runtime: 4.0, {told}epoch: 0.1"
        for n in range(1, 21)
    ]


@pytest.mark.parametrize("head", [True, False])
@pytest.mark.parametrize(
    ("updates", "samples", "rate"),
    [
        (10, 16, "2.9997059784384187e-05"),
        (10, 16, "3e-05"),  # 1.6 samples an update
        (30, 16, "3e-05"),  # 0.53
        (1, 16, "2.9997059784384187e-05"),
        (10, 320, "3e-05"),
        (1, 32, "2.9997059784384187e-05"),
    ],
)
def test_first_paddlenlp_trainer_counts_one_update_of_one_device(
    updates: int, samples: int, rate: str, head: bool, tmp_path: Path
) -> None:
    lines = paddlenlp(samples, updates=updates, rate=rate, head=head)
    session = session_of(lines, tmp_path, "paddle.nlp_trainer")
    case = {} if head else {"batch_size_of_job": 32}
    found = measured(session, facts_of(session) | case).headline
    assert isinstance(found, Figure), found
    assert (found.scope, found.value) == ("job", pytest.approx(updates * 32 / 4))


def test_paddlenlp_trainer_that_splits_a_model_is_none_of_the_first(tmp_path: Path) -> None:
    """Its speed contradicts the stated batch, and is not replaced by another."""
    lines = paddlenlp(16, updates=1)
    split = "[2026-11-20 10:00:00,123] [    INFO] - tensor_parallel_degree        :2"
    session = session_of([split, *lines], tmp_path, "paddle.nlp_trainer")
    assert isinstance(measured(session, facts_of(session)).headline, NoFigure)


def test_first_paddlenlp_trainer_without_its_head_has_no_figure(tmp_path: Path) -> None:
    session = session_of(paddlenlp(16, rate="2.9997059784384187e-05", head=False), tmp_path, "paddle.nlp_trainer")
    assert reason(session, devices=2) == "no_batch_size"


def test_paddlenlp_trainer_that_prints_as_hugging_face_is_paddle(tmp_path: Path) -> None:
    head = paddlenlp(16)[1:5]
    lines = [
        *head,
        *bars(600, "2.50it/s"),
        "{'loss': 0.25, 'learning_rate': 4.5e-05, 'global_step': 150, 'epoch': 2.0}",
    ]
    session = session_of(lines, tmp_path, "frameworks.hf_trainer")
    assert facts_of(session)["framework"] == "PaddlePaddle"
    other = session_of([each.rpartition("] - ")[2] for each in lines], tmp_path, "frameworks.hf_trainer")
    assert "framework" not in facts_of(other)


def video(epochs: int, length: int) -> list[str]:
    """PaddleVideo: 16 clips a batch, which takes 1 s, but 9 s where an epoch begins."""
    at = "[11/20 10:00:00] "
    end = "END epoch:{:<3} {} loss_avg: 1.25  batch_cost_sum: {:.5f} sec, avg_ips: {:.5f} instance/sec."
    line = (
        "epoch:[{:3}/80 ] train step:{:<4} loss: 1.25 lr: 0.01 batch_cost: {:.5f} sec, reader_cost: 0.0002 sec, "
        "ips: {:.5f} instance/sec, eta: 1:02:03"
    )
    return [
        at + each
        for epoch in range(1, epochs + 1)
        for each in (
            line.format(epoch, 0, 9, 16 / 9),
            *(line.format(epoch, step, 1, 16) for step in range(20, length, 20)),
            end.format(epoch, "train", length + 8, 16 * length / (length + 8)),
            end.format(epoch, "val", length, 99),
        )
    ]


def test_paddle_video_first_batch_of_an_epoch_stands_for_no_other(tmp_path: Path) -> None:
    session = session_of(video(6, 100), tmp_path, "paddle.video")
    assert value(session, devices=2) == pytest.approx(2 * 16)


def test_paddle_video_epochs_of_a_few_batches_have_their_own_speed(tmp_path: Path) -> None:
    session = session_of(video(12, 8), tmp_path, "paddle.video")
    assert value(session, "sustained", devices=2) == pytest.approx(2 * 16 * 8 / 16)


def test_plsc_prints_the_speed_of_the_job_as_paddle_clas_that_of_a_device(tmp_path: Path) -> None:
    lines = [
        f"[2026/11/20 13:14:{step // 10:02}] {{}} INFO: [Train][Epoch 1/20][Iter: {step}/1000]lr: 0.100000, loss: 2.3, "
        "batch_cost: 0.10000s, reader_cost: 0.00100, ips: 5120.00000 images/sec, eta: 0:00:14"
        for step in range(0, 200, 10)
    ]
    for name, devices in (("plsc", 1), ("passl", 1), ("ppcls", 8)):
        session = session_of([each.format(name) for each in lines], tmp_path, "paddle.clas_dygraph")
        assert value(session, devices=8) == pytest.approx(devices * 5120)


def test_mindformers_lines_that_were_searched_for_tell_the_seconds_of_a_step(tmp_path: Path) -> None:
    head = "2026-11-20 10:15:{second:02},123 - [mindformers/core/callback/callback.py:529] - INFO - "
    state = (
        "{{ Epoch:[  1/  2], step:[{step:5}/   19], loss: 8.800, per_step_time: 2000ms, lr: 1e-05, "
        "overflow cond: False, loss_scale: 1.0, global_norm: [0.5], train_throughput_per_npu: 171.176T"
    )
    bar = "  2.4% |█         | {speed:.5f} samples/s/p  0:10:20 }}"
    steps = [
        (f"{head}{state}".format(step=step, second=2 * step), f"{head}{bar}".format(second=2 * step, speed=3.5))
        for step in range(1, 20)
    ]
    searched = session_of([each for each, _ in steps], tmp_path, "frameworks.mindformers")
    assert value(searched, batch_size_of_job=64) == pytest.approx(64 / 2)
    assert reason(searched) == "no_devices"
    whole = session_of([line for step in steps for line in step], tmp_path, "frameworks.mindformers")
    assert value(whole, devices=8) == pytest.approx(8 * 3.5)


@pytest.mark.parametrize("every", [100, 1000])
def test_mindspore_evaluation_is_no_epoch_of_training(every: int, tmp_path: Path) -> None:
    def epoch(number: int, *ahead: str, behind: bool) -> list[str]:
        states = [f"epoch: {number} step: {step}, loss is 0.5" for step in range(every, 1001, every)]
        told = "Eval epoch time: 1000.000 ms, per step time: 10.000 ms"
        time = f"Train epoch time: {2000 if ahead else 20000}.000 ms, per step time: {2 if ahead else 20}.000 ms"
        return [*states, *ahead, time, *([told] if behind else [])]

    behind = [line for number in range(1, 9) for line in epoch(number, behind=True)]
    session = session_of(behind, tmp_path, "dlperf.mindspore")
    assert value(session, **ONE) == pytest.approx(32 / 0.02)
    # The timer began anew with the evaluation of every second epoch.
    told = "Eval epoch time: 1000.000 ms, per step time: 10.000 ms"
    within = [line for number in range(1, 17) for line in epoch(number, *([told] * (number % 2)), behind=False)]
    found = figure(session_of(within, tmp_path, "dlperf.mindspore"), **ONE)
    assert isinstance(found, Figure)
    assert (found.used, found.value) == (8, pytest.approx(32 / 0.02))


@pytest.mark.parametrize("evaluated", [True, False])
def test_first_paddle_clas_has_evaluations_in_its_means(evaluated: bool, tmp_path: Path) -> None:
    """Means run from iteration 5 of an epoch to iteration 4 of the next; a batch of 32 takes 0.5 s, the last 0.1 s."""
    at = "[2021/11/20 10:00:00] root INFO: "
    told = "[Train][Epoch {}/6][Iter: {}/36]loss: 2.3, batch_cost: {:.5f}s, reader_cost: 0, ips: {:.5f} images/sec"
    between = (
        ["[Eval][Epoch 1][Avg]CELoss: 2.3, loss: 2.3", "Already save model in ./output/epoch_1"] if evaluated else []
    )
    lines = []
    for epoch in range(1, 7):
        carried = (30 * 0.5 + 0.1, 31)
        first = 0.5 if epoch == 1 else (carried[0] + (30 if evaluated else 0) + 0.5) / (carried[1] + 1)
        lines += [told.format(epoch, 0, first, 32 / first)]
        lines += [told.format(epoch, step, 0.5, 64) for step in range(5, 35)]
        lines += [told.format(epoch, 35, carried[0] / carried[1], 4 / (carried[0] / carried[1])), *between]
    session = session_of([at + each for each in lines], tmp_path, "paddle.clas_dygraph")
    assert value(session, "sustained", devices=2) == pytest.approx(2 * (30 * 32 + 4) / 15.1, rel=2e-3)


def test_first_paddle_clas_carries_its_means_into_the_next_epoch(tmp_path: Path) -> None:
    """Every line is printed: those of iterations 0 to 4 hold the epoch before, whose loader was slow."""
    at = "[2021/11/20 10:00:00] root INFO: "
    told = "[Train][Epoch {}/6][Iter: {}/12]loss: 2.3, batch_cost: {:.5f}s, reader_cost: 0, ips: {:.5f} images/sec"
    lines, taken = [], [0.0]
    for epoch in range(1, 7):
        for step in range(12):
            taken = [] if step == 5 else taken
            # The timer runs on through the evaluation, of 20 s.
            taken = [*taken, 20.5 if step == 0 and epoch > 1 else 0.5]
            mean = sum(taken) / len(taken)
            lines.append(told.format(epoch, step, mean, 32 / mean))
        lines.append("[Eval][Epoch 1][Avg]CELoss: 2.3, loss: 2.3")
    session = session_of([at + each for each in lines], tmp_path, "paddle.clas_dygraph")
    assert value(session, "sustained", devices=1) == pytest.approx(64, rel=2e-3)


def test_seconds_that_the_clock_contradicts_are_no_time_per_step(tmp_path: Path) -> None:
    """PaddleOCR of 2021 leaves metrics out of its 2.25 s; a step takes 5 s."""
    told = "lr: 0.001, loss: 1.5, acc: 0.5, reader_cost: 0.00100 s, batch_cost: 2.25000 s, samples: 512, ips: 227.55556"
    lines = [
        f"[2021/11/20 10:{i // 12:02}:{5 * (i % 12):02}] root INFO: epoch: [1/500], iter: {i}, {told}"
        for i in range(1, 40)
    ]
    session = session_of(lines, tmp_path, "frameworks.paddle_ocr")
    found = measured(session, ONE)
    assert isinstance(found.headline, NoFigure)
    latency = metrics(session, ONE, found.headline, found.slower, found.untimed)["latency"]
    assert (latency.value, latency.reason) == (None, found.headline.reason)


@pytest.mark.parametrize(("second", "reason"), [(0.5, None), (2.0, "withheld")])
def test_the_clock_judges_the_time_per_step_without_a_batch_size(
    second: float, reason: str | None, tmp_path: Path
) -> None:
    """MMEngine prints the last ten of fifty iterations; in the others the loader stalls. How many epochs are planned is
    unknown, so that `eta` does not tell.
    """
    lines = [
        f"2026/11/20 12:{int(50 * second * i) // 60:02}:{int(50 * second * i) % 60:02} - mmengine - INFO - "
        f"Epoch(train)  [1][{50 * i:5}/40000]  lr: 1.0e-02  eta: 5:53:22  time: 0.5000  data_time: 0.0100  loss: 2.1"
        for i in range(1, 30)
    ]
    session = session_of(lines, tmp_path, "frameworks.mmseg")
    found = measured(session, {})
    assert isinstance(found.headline, NoFigure)
    assert (found.headline.reason.code, found.witnesses) == ("no_devices", ())
    latency = metrics(session, {}, found.headline, found.slower, found.untimed)["latency"]
    assert latency.value == (None if reason else pytest.approx(500))
    assert (latency.reason and latency.reason.code) == reason


def test_paddle_rec_trainer_prints_sums_over_the_print_interval(tmp_path: Path) -> None:
    """Batches of 512 samples take 0.25 s; the line of the first one of an epoch has a tenth of that."""
    lines = [
        f"2026-11-20 13:{epoch:02}:{step // 4:02},500 - INFO - epoch: {epoch}, batch_id: {step}, auc:0.5,  "
        f"avg_reader_cost: 0.00050 sec, avg_batch_cost: {0.25 * share:.5f} sec, avg_samples: {512 * share:.5f}, "
        "ips: 2048.00000 ins/s"
        for epoch in range(3)
        for step in range(0, 200, 10)
        for share in (1 if step else 0.1,)
    ]
    session = session_of(lines, tmp_path, "paddle.rec")
    found = measured(session, facts_of(session) | {"devices": 4})
    assert isinstance(found.headline, Figure)
    assert found.headline.value == pytest.approx(4 * 2048)
    assert [each.verdict for each in found.witnesses if each.kind == "arithmetic"] == ["agrees"]


def examples_of(steps: Iterable[int], took: Sequence[float], first: int = 0, mean: float | None = None) -> list[str]:
    """Return lines of PyTorch's ImageNet example at some steps; `took` are the seconds of all steps of the epoch."""
    lines = []
    for i in steps:
        average = sum(took[: i + 1]) / (i + 1) if mean is None else mean
        lines.append(
            f"Epoch: [0][{i + first:4d}/2000]\tTime {took[i]:6.3f} ({average:6.3f})\tData  0.001 ({average / 2:6.3f})\t"
            "Loss 6.9e+00 (6.9e+00)\tAcc@1   1.56 (  1.56)\tAcc@5  11.72 ( 10.94)"
        )
    return lines


@pytest.mark.parametrize("first", [0, 1])
def test_stalls_of_batches_that_are_not_printed_count(first: int, tmp_path: Path) -> None:
    """Was: 0.25 s, since the loader stalls for one batch in ten, and another one is printed."""
    took = [4.0 if i == 0 else 2.25 if i % 10 == 5 else 0.25 for i in range(2000)]
    session = session_of(examples_of(range(0, 2000, 10), took, first), tmp_path, "dlperf.pytorch_examples")
    assert value(session, "sustained", devices=1, batch_size=64) == pytest.approx(64 / 0.45, rel=0.01)
    tail = session_of(examples_of(range(1700, 2000, 10), took, first), tmp_path, "dlperf.pytorch_examples")
    assert value(tail, "sustained", devices=1, batch_size=64) == pytest.approx(64 / 0.45, rel=0.04)


def test_a_mean_that_does_not_begin_with_the_epoch_tells_no_seconds(tmp_path: Path) -> None:
    took = [0.25] * 400
    session = session_of(examples_of(range(0, 400, 10), took, mean=9.5), tmp_path, "dlperf.pytorch_examples")
    assert value(session, "sustained", devices=1, batch_size=64) == pytest.approx(256)
    whole = session_of(examples_of(range(400), took, mean=9.5), tmp_path, "dlperf.pytorch_examples")
    assert value(whole, "sustained", devices=1, batch_size=64) == pytest.approx(256)


def metric_logger(epoch: int, took: Sequence[float], every: int, eta: int | None = None) -> list[str]:
    """Return the lines of an epoch of `MetricLogger`, whose `time` is a mean over the last twenty iterations."""
    lines = []
    for i in sorted({*range(0, len(took), every), len(took) - 1}):
        last = took[max(0, i - 19) : i + 1]
        left = dt.timedelta(seconds=int(sum(took[: i + 1]) / (i + 1) * (len(took) - i)) if eta is None else eta)
        lines.append(
            f"Epoch: [{epoch}]  [{i:3d}/{len(took)}]  eta: {left}  lr: 0.0001  loss: 0.0739 (0.0704)  "
            f"time: {sum(last) / len(last):.4f}  data: 0.0001  max mem: 16887"
        )
    total = dt.timedelta(seconds=int(sum(took)))
    return [*lines, f"Epoch: [{epoch}] Total time: {total} ({sum(took) / len(took):.4f} s / it)"]


@pytest.mark.parametrize("every", [5, 10, 20])
def test_the_slow_first_iteration_of_an_epoch_counts_once(every: int, tmp_path: Path) -> None:
    took = [4.0, *[0.5] * 60]
    head = ["Not using distributed mode", "Namespace(batch_size=32, epochs=4, model='vit_small', world_size=1)"]
    lines = head + [line for epoch in range(4) for line in metric_logger(epoch, took, every)]
    session = session_of(lines, tmp_path, "frameworks.metric_logger")
    assert facts_of(session) == {"batch_size": 32, "devices": 1, "model": "vit_small", "total_epochs": 4}
    assert value(session) == pytest.approx(32 * 4 * 61 / (4 * 34), rel=1e-3)


#: A loader that stalls once in fifty iterations, where no mean of twenty shows it; the first is slow.
STALLS = [20.0, *[15.5 if i % 50 == 10 else 0.5 for i in range(1, 600)]]
DISTRIBUTED_OFF = ["Not using distributed mode", "Namespace(batch_size=32, epochs=2, world_size=1)"]


def test_the_time_that_is_left_tells_of_iterations_that_no_mean_holds(tmp_path: Path) -> None:
    lines = DISTRIBUTED_OFF + [line for epoch in range(2) for line in metric_logger(epoch, STALLS, 50)]
    session = session_of(lines, tmp_path, "frameworks.metric_logger")
    assert value(session) == pytest.approx(32 * 600 / sum(STALLS), rel=0.02)
    assert isinstance(measured(session, facts_of(session)).headline, Figure)


@pytest.mark.parametrize("count", [7, 11])
def test_the_time_that_is_left_serves_without_the_total_of_the_epoch(count: int, tmp_path: Path) -> None:
    lines, done = metric_logger(0, STALLS, 50)[:count], 50 * (count - 1) + 1
    session = session_of(DISTRIBUTED_OFF + lines, tmp_path, "frameworks.metric_logger")
    assert value(session) == pytest.approx(32 * done / sum(STALLS[:done]), rel=0.02)


@pytest.mark.parametrize("last", [True, False])
@pytest.mark.parametrize("eta", [0, 21])
def test_stalls_that_nothing_else_tells_of_contradict_the_total_of_their_epoch(
    eta: int, last: bool, tmp_path: Path
) -> None:
    lines = metric_logger(0, STALLS, 50, eta)
    # Some releases do not print the last iteration.
    lines = DISTRIBUTED_OFF + (lines if last else [*lines[:-2], lines[-1]])
    session = session_of(lines, tmp_path, "frameworks.metric_logger")
    done = 600 if last else 551
    assert value(session) == pytest.approx(32 * done / (20 + (done - 1) * 0.5), rel=0.01)
    assert isinstance(measured(session, facts_of(session)).headline, NoFigure)


@pytest.mark.parametrize(("every", "records"), [(10, 15), (50, 0)])
def test_first_batches_alone_tell_nothing_of_the_others(every: int, records: int, tmp_path: Path) -> None:
    took = [20.5, *[0.5] * 29]
    lines = [
        f"[2026-11-20 09:05:16 swin] (main.py 226): INFO Train: [{epoch}/5][{i}/30]\teta 0:00:01 lr 0.1\t"
        f"time {took[i]:.4f} ({sum(took[: i + 1]) / (i + 1):.4f})\tloss 6.5 (6.5)\tmem 9000MB"
        for epoch in range(5)
        for i in range(0, 30, every)
    ]
    session = session_of(lines, tmp_path, "frameworks.swin")
    assert sum(len(each) for each in session.records) == records
    if records:
        assert value(session, **ONE) == pytest.approx(32 * 21 / (20.5 + 20 * 0.5), rel=1e-3)


@pytest.mark.parametrize(
    "more", ["LR: 1.000e-05  ", "Acc@1: 10.25 ( 9.50)  GradNorm: 1.25  ", "Loss_kd: 1.25 (1.50)  LR: 1.000e-05  "]
)
def test_copies_of_timm_print_more_before_the_time(more: str, tmp_path: Path) -> None:
    lines = [
        f"Train: 0 [{n:4d}/500 ( 10%)]  Loss: 6.95 (6.90)  {more}Time: 0.500s, 2048.00/s  (0.500s, 2048.00/s)"
        for n in range(0, 500, 10)
    ]
    assert value(session_of(lines, tmp_path, "frameworks.timm")) == pytest.approx(2048)


def test_timm_names_its_model_behind_a_prefix(tmp_path: Path) -> None:
    lines = [
        "    Training with a single process on 1 device (cuda:0).",
        "    Model vit_small created, param count:22050664",
    ]
    tail = "Loss: 6.96 (6.96)  Time: 0.500s, 256.00/s  (0.500s, 256.00/s)  LR: 1.0e-04  Data: 0.01 (0.01)"
    lines += [f"    Train: 0 [{i:4d}/200 (  1%)]  {tail}" for i in range(0, 200, 50)]
    facts = facts_of(session_of(lines, tmp_path, "frameworks.timm"))
    assert facts == {"devices": 1, "model": "vit_small", "parameters": 22050664}


@pytest.mark.parametrize(
    ("arguments", "devices"),
    [("device='0,1,2,3', world_size=4", 4), ("device='0,1', world_size=1", 2), ("device='0', world_size=1", 1),
     ("device='', world_size=1", None), ("device='cpu', world_size=1", 1)],
)  # fmt: skip
def test_yolov7_states_its_batch_and_devices(arguments: str, devices: int | None, tmp_path: Path) -> None:
    device, world = arguments.split(", world")
    head = f"Namespace(weights='a.pt', batch_size=8, {device}, epochs=2, total_batch_size=32, world{world})"
    bar = "  11.2G  0.02282  0.02438  0.006101    0.0533       330       640: 100%|█| 80/80 [00:20<00:00,  4.00it/s]"
    session = session_of([head, f"  0/1  {bar}", f"  1/1  {bar}"], tmp_path, "frameworks.ultralytics")
    facts = facts_of(session)
    assert (facts["batch_size_of_job"], facts.get("devices")) == (32, devices)
    assert value(session) == pytest.approx(4 * 32)


def test_yolov5_of_old_names_the_release_of_pytorch_behind_a_blank(tmp_path: Path) -> None:
    head = "train: weights=yolov5s.pt, cfg=, data=a.yaml, epochs=2, batch_size=16, device=0,1, multi_scale=False"
    tail = (
        "3.03G   0.04543   0.06385   0.02396    0.1332       227       640: 100%|####| 80/80 [00:20<00:00,  4.00it/s]"
    )
    lines = [head, "YOLOv5 v5.0-1-gabcdef1 torch 1.7.1 CUDA:0 (GeForce RTX 2080 Ti, 11019.4375MB)"]
    lines += [f"     {epoch}/1     {tail}" for epoch in (0, 1)]
    facts = facts_of(session_of(lines, tmp_path, "frameworks.ultralytics"))
    assert (facts["framework_version"], facts["devices"], facts["batch_size_of_job"]) == ("1.7.1", 2, 16)


def test_programs_of_which_only_the_ends_are_kept_are_several_runs(tmp_path: Path) -> None:
    """Ranks that print the speed of one job side by side are none."""
    ends = ["Total img/sec on 4 GPU(s): 1200.0 +-2.5", "Total img/sec on 4 GPU(s): 800.0 +-2.5"]
    found = second_run(session_of(ends, tmp_path, "frameworks.horovod_synthetic"))
    assert found is not None
    assert (found[0], found[1].code) == (2, "ends_again")
    alike = ["total images/sec: 279.00", "total images/sec: 279.01"]
    assert second_run(session_of(alike, tmp_path, "frameworks.tf_cnn_benchmarks")) is None


@pytest.mark.parametrize("stamp", ["", "2026-11-20 {at:%H:%M:%S} | INFO | "], ids=["wall", "stamp"])
def test_fairseq_on_a_tpu_is_held_against_the_seconds_since_the_start(stamp: str, tmp_path: Path) -> None:
    """A hundred updates of 1500 tokens in 30 s are 5000 tokens/s; 60 are printed."""
    lines = []
    for number in range(1, 11):
        at = dt.datetime(2026, 11, 20, 9) + dt.timedelta(seconds=30 * number)
        lines.append(
            stamp.format(at=at)
            + f"train_inner | epoch 001: {100 * number:6} / 9000 loss=9.25, ppl=610.5, wps=60.0, ups=0.04, "
            f"wpb=1500.0, bsz=80.0, num_updates={100 * number}, lr=2e-05, gnorm=2.5, train_wall=13, wall={30 * number}"
        )
    session = session_of(lines, tmp_path, "frameworks.fairseq")
    headline = measured(session, facts_of(session)).headline
    assert isinstance(headline, NoFigure)
    assert headline.reason.code == "withheld"
    assert headline.reason.args["witness"] == "clock"
    assert headline.reason.args["value"] == "5000"


@pytest.mark.parametrize(
    ("bars", "options"),
    [
        ([", val_loss=0.750"], {"validation": "included"}),
        (["", ", val_loss=0.750"], {}),
        ([", valley=0.750"], {}),
    ],
    ids=["after", "before-and-after", "another-word"],
)
def test_a_lightning_bar_that_is_kept_after_the_validation(
    bars: Sequence[str], options: dict[str, str], tmp_path: Path
) -> None:
    """Its first epoch shows a metric of the validation, which takes time from it."""
    lines = [
        f"Epoch {epoch}: 100%|##########| 25/25 [01:40<00:00,  0.25it/s, v_num=0, train_loss=1.300{more}]"
        for epoch in range(4)
        for more in bars
    ]
    stated = facts_of(session_of(lines, tmp_path, "frameworks.lightning"))
    assert {name: each for name, each in stated.items() if name == "validation"} == options


@pytest.mark.parametrize(("store", "scope"), [("dist_device_sync", "node"), ("device", "job")])
def test_an_mxnet_worker_without_a_name_counts_itself(store: str, scope: str, tmp_path: Path) -> None:
    lines = [
        f"INFO:root:start with arguments Namespace(batch_size=128, gpus=None, kv_store='{store}', network='lenet')"
    ]
    lines += [f"INFO:root:Epoch[0] Batch [{20 * n}]\tSpeed: 85.50 samples/sec\taccuracy=0.25" for n in range(1, 9)]
    found = figure(session_of(lines, tmp_path, "frameworks.mxnet_fit"))
    assert isinstance(found, Figure)
    assert (found.value, found.scope) == (pytest.approx(85.5), scope)


def test_flax_examples_state_their_batches_in_the_writers_lines(tmp_path: Path) -> None:
    batches = "{'eval_per_device_batch_size': 8, 'per_device_batch_size': 32, 'seed': 0}"
    lines = [
        f"I1120 13:59:07.753760 130 logging_writer.py:80] [Hyperparameters] {batches}",
        "I1120 14:00:22.976243 130 train.py:652] Finished training step 0. Batch size: 512, Loss: 10.9, LR: 0.00000",
        *(f"I1120 14:{n:02}:00.500000 130 logging_writer.py:48] [{600 * n}] steps_per_sec=10.0" for n in range(1, 8)),
    ]  # fmt: skip
    session = session_of(lines, tmp_path, "frameworks.clu")
    assert facts_of(session)["batch_size"] == 32
    assert value(session) == pytest.approx(5120)


@pytest.mark.parametrize(("threads", "scope"), [([1400, 1401], "device"), ([1400, 1400], "job")])
def test_processes_that_print_in_turn_count_themselves(threads: Sequence[int], scope: str, tmp_path: Path) -> None:
    lines = ["INFO:tensorflow:***** Running training *****", "INFO:tensorflow:  Batch size = 24"]
    for number in range(1, 11):
        for after, thread in enumerate(threads):
            stamp = f"I1120 10:{5 * number:02}:{after:02}.500000 {thread} tpu_estimator.py"
            lines += ["INFO:tensorflow:global_step/sec: 0.05", f"{stamp}:2350] global_step/sec: 0.05"]
            lines += ["INFO:tensorflow:examples/sec: 1.25", f"{stamp}:2351] examples/sec: 1.25"]
    session = session_of(lines, tmp_path, "frameworks.tf_estimator")
    found = figure(session)
    assert isinstance(found, Figure)
    assert (found.value, found.scope) == (pytest.approx(1.25), scope)
    assert ("batch_size_of_job" in facts_of(session)) == (scope == "job")


def test_horovod_on_tensorflow_calls_its_device_by_a_path(tmp_path: Path) -> None:
    lines = ["Model: ResNet50", "Batch size: 32", "Number of /gpu:0s: 4", "Running warmup...", "Running benchmark..."]
    lines += [f"Iter #{number}: 250.0 img/sec per /gpu:0" for number in range(10)]
    lines += ["Img/sec per /gpu:0: 250.0 +-0.0", "Total img/sec on 4 /gpu:0(s): 1000.0 +-0.0"]
    session = session_of(lines, tmp_path, "frameworks.horovod_synthetic")
    assert facts_of(session)["devices"] == 4
    assert value(session) == pytest.approx(1000)
    assert value(session, "reported") == 1000
    indented = [f"    {each}" for each in lines]
    assert facts_of(session_of(indented, tmp_path, "frameworks.horovod_synthetic")) == facts_of(session)
    workers = [f"[10.0.0.7.1000{rank}::stdout] {each}" for each in lines[5:15] for rank in range(4)]
    assert value(session_of(workers, tmp_path, "frameworks.horovod_synthetic")) == pytest.approx(250)


def test_an_mxnet_worker_whose_name_leads_the_line_counts_itself(tmp_path: Path) -> None:
    lines = [
        f"Node[{rank}] 06:{number:02}:10 INFO:root:Epoch[5] Batch [{50 * number}]\tSpeed: 160.00 samples/sec\tloss=2.5"
        for number in range(1, 9)
        for rank in range(3)
    ]
    found = figure(session_of(lines, tmp_path, "frameworks.mxnet_fit"))
    assert isinstance(found, Figure)
    assert (found.value, found.scope) == (pytest.approx(160), "node")


def test_mxnet_workers_that_announce_themselves_are_one_start(tmp_path: Path) -> None:
    start = "INFO:root:start with arguments Namespace(batch_size=64, gpus='0', kv_store='dist_sync', network='lenet')"
    lines = [start, start, "[15:43:19] src/operator/cudnn_convolution-inl.h:55: Running performance tests"]
    lines += [f"INFO:root:Epoch[0] Batch [{n}]\tSpeed: 400.00 samples/sec\tTrain-accuracy=0.5" for n in (100, 200) * 2]
    assert len(session_of(lines, tmp_path, "frameworks.mxnet_fit").records[0]) == 0


def test_ranks_that_announce_themselves_are_one_start_of_lightning(tmp_path: Path) -> None:
    each = [
        "GPU available: True, used: True",
        "TPU available: False, using: 0 TPU cores",
        "Using native 16bit precision.",
    ]
    bars = [f"Epoch {epoch}: 100%|####| 500/500 [01:40<00:00,  5.00it/s, loss=0.625, v_num=0]" for epoch in range(4)]
    ranks = [
        *each,
        "initializing ddp: GLOBAL_RANK: 1, MEMBER: 2/2",
        *each,
        "initializing ddp: GLOBAL_RANK: 0, MEMBER: 1/2",
    ]
    stated = facts_of(session_of([*ranks, *bars], tmp_path, "frameworks.lightning"))
    assert (stated["devices"], stated["precision"]) == (2, "amp")
    assert len(log_of([*ranks, *bars, *ranks, *bars], tmp_path).sessions) == 2


def test_processes_of_keras_begin_an_epoch_together(tmp_path: Path) -> None:
    lines = []
    for epoch in range(1, 5):
        lines += [f"Epoch {epoch}/4"] * 2 + ["100/100 - 12s - loss: 0.5120 - accuracy: 0.7540"] * 2
    assert value(session_of(lines, tmp_path, "frameworks.keras"), **ONE) == pytest.approx(3200 / 12)


def test_seconds_of_one_digit_are_called_coarse(tmp_path: Path) -> None:
    """Not impossible: each of them is a positive number."""
    lines = []
    for epoch in range(1, 7):
        lines += [
            f"Epoch {epoch}/6",
            "155/155 [==============================] - 1s 4ms/step - loss: 0.5000 - acc: 0.7500",
        ]
    found = figure(session_of(lines, tmp_path, "frameworks.keras"), **ONE)
    assert isinstance(found, NoFigure)
    assert (found.reason.code, found.reason.args) == ("coarse_seconds", {"line": 2, "count": 6})


def test_a_worker_of_a_distributed_run_knows_no_batch_of_the_job(tmp_path: Path) -> None:
    lines = [
        "TensorFlow:  1.5", "Model:       resnet50", "Batch size:  64 global", "             32 per device",
        "Devices:     ['/job:worker/task:0/gpu:0', '/job:worker/task:0/gpu:1']", "Variables:   parameter_server",
        "10\timages/sec: 83.5 +/- 0.5 (jitter = 0.5)\t8.205",
    ]  # fmt: skip
    stamp = "INFO|2026-11-20T13:14:40|/opt/launcher.py|27| "
    for before in ("", stamp):
        stated = facts_of(session_of([before + each for each in lines], tmp_path, "frameworks.tf_cnn_benchmarks"))
        assert "batch_size_of_job" not in stated
        assert "devices" not in stated


@pytest.mark.parametrize(
    ("day", "is_set"),
    [
        (dt.datetime(2026, 3, 29), True),  # a Sunday
        (dt.datetime(2026, 3, 27), True),  # a Friday
        (dt.datetime(2026, 3, 25), False),  # a Wednesday
        (dt.datetime(2026, 7, 26), False),  # a Sunday in summer
        (dt.datetime(1972, 3, 29), True),  # without a year
        (dt.datetime(1972, 7, 29), False),
    ],
)
def test_clocks_are_set_on_days_of_spring_and_autumn(day: dt.datetime, is_set: bool) -> None:
    """A pause of an hour in another night is one."""
    night = day.replace(tzinfo=dt.UTC).timestamp() + 1.5 * 3600
    assert clock_set(np.cumsum([night, 5, 5, 3605, 5])).any() == is_set
