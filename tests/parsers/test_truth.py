"""Figures of simulated jobs: the duration of every step is known, and each printer prints the job in its way.

The job starts with ten slow steps, its steps differ in length, and one step in the middle stalls. The intervals of
the printers do not divide its epochs. For each record the printer's job lists the steps that the record covers.
"""
# Printed lines are long.
# ruff: noqa: E501

from __future__ import annotations

import itertools
import json
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

from perfledger.ingest.compute import rules
from perfledger.ingest.compute.metrics import metrics
from perfledger.parsers.engine.read import read
from perfledger.parsers.engine.samples import samples_of
from perfledger.schema.records import Figure

STEPS, EPOCH, EVERY, BATCH, DEVICES = 190, 47, 10, 8, 4
#: Factor of the seconds of a printer that prints whole ones.
SLOWER = 1000
#: Seconds of each step, counted from 0.
TOOK = [(1.6 if i < 10 else 0.2) + 0.013 * (i % 7) + (6.0 if i == 123 else 0.0) for i in range(STEPS)]
#: Seconds since the start at the end of each step, the start included.
AT = [0.0, *itertools.accumulate(TOOK)]
LOSS = 2.5


@dataclass
class Job:
    """The lines of a printer, the steps that each record covers (from, to), and facts that the lines lack."""

    lines: list[str] = field(default_factory=list)
    covers: list[tuple[int, int]] = field(default_factory=list)
    case: dict[str, int] = field(default_factory=lambda: {"batch_size": BATCH, "devices": DEVICES})

    def say(self, line: str, covers: tuple[int, int], times: int = 1) -> None:
        self.lines += [line] * times
        self.covers.append(covers)


def took(begin: int, end: int) -> float:
    return sum(TOOK[begin:end])


def mean(begin: int, end: int) -> float:
    return took(begin, end) / (end - begin)


def intervals(first: int = EVERY) -> Iterator[tuple[int, int]]:
    """Return (from, to) of every whole interval of the run; the first may have one step."""
    return itertools.pairwise([0, *([] if first == EVERY else [first]), *range(EVERY, STEPS + 1, EVERY)])


def stamp(at: float) -> str:
    whole = int(at)
    return f"2026-11-20 23:{58 + whole // 60:02d}:{whole % 60:02d},{int(at % 1 * 1000):03d}"


def epochs() -> Iterator[tuple[int, int, int]]:
    """Return (number, first step, end) of every epoch."""
    return ((n, begin, min(begin + EPOCH, STEPS)) for n, begin in enumerate(range(0, STEPS, EPOCH)))


def paddle_clas_static() -> Job:
    """Print steps 0, 10, 20 ... of an epoch; the mean restarts at step 5."""
    job = Job()
    line = "epoch:{n}   train step:{i}   lr: 0.1, loss:  2.5 batch_cost: {s:.7f} s, reader_cost: 0.0 s, ips: {ips:.7f} samples/sec."
    for n, begin, end in epochs():
        for i in range(0, end - begin, EVERY):
            since = begin + (5 if i else 0)
            cost = mean(since, begin + i + 1)
            covers = (begin, begin) if i == 0 else (max(since, begin + i - EVERY + 1), begin + i + 1)
            job.say(line.format(n=n, i=i, s=cost, ips=BATCH / cost), covers)
    return job


def paddle_ocr() -> Job:
    """Print every tenth step of the run and the last of every epoch; the sums since the last print are divided by ten."""
    job, last = Job(), 0
    line = "ppocr INFO: epoch: [{n}/4], global_step: {i}, lr: 0.1, loss: 2.5, avg_reader_cost: 0.0 s, "
    line += "avg_batch_cost: {s:.7f} s, avg_samples: {samples}, ips: {ips:.7f} samples/s, eta: 0:01:02"
    for n, begin, end in epochs():
        for i in range(begin, end):
            if (i + 1) % EVERY == 0 or i + 1 == end:
                cost, share = mean(last, i + 1), (i + 1 - last) / EVERY
                printed = line.format(n=n + 1, i=i + 1, s=cost * share, samples=BATCH * share, ips=BATCH / cost)
                job.say(printed, (last, i + 1))
                last = i + 1
    return job


def tf_cnn_benchmarks() -> Job:
    """Print the first step and every tenth in every process; the mean runs since the first."""
    job = Job(["TensorFlow:  1.15", "Devices:     ['/gpu:0']", "Variables:   horovod"])
    for begin, end in intervals(1):
        job.say(f"{end}\timages/sec: {BATCH / mean(0, end):.7f} +/- 0.1 (jitter = 0.2)\t2.500", (begin, end), DEVICES)
    return job


def detectron2() -> Job:
    """Count from 0; the mean runs since the third step."""
    job = Job(case={"batch_size_of_job": BATCH * DEVICES})
    for begin, end in intervals():
        line = f"[11/20 09:00:00 d2.utils.events]:  eta: 0:01:02  iter: {end - 1}  total_loss: 2.5  loss_cls: 1.5  "
        line += f"time: {mean(2, end):.7f}  data_time: 0.0010  lr: 0.1  max_mem: 3000M"
        job.say(line, (max(2, begin), end))
    return job


def fairseq_old() -> Job:
    """Count an epoch's steps from 0; the mean runs since the epoch's second."""
    job = Job(case={})
    for n, begin, end in epochs():
        for i in range(EVERY, end - begin, EVERY):
            wps = BATCH * DEVICES / mean(begin + 1, begin + i + 1)
            line = f"| epoch {n + 1:03d}:  {i:5d} / {EPOCH} loss=2.5, wps={wps:.7f}, ups=1, wpb={BATCH * DEVICES}, bsz=8, oom=0"
            job.say(line, (max(begin + 1, begin + i - EVERY + 1), begin + i + 1))
    return job


def fairseq() -> Job:
    """Print every tenth update of the run with its number in the epoch."""
    job = Job(case={})
    for begin, end in intervals():
        at, wps = (end - 1) % EPOCH + 1, BATCH * DEVICES / mean(begin, end)
        line = f"train_inner | epoch {(end - 1) // EPOCH + 1:03d}: {at:6d} / {EPOCH} loss=2.5, ppl=5.7, wps={wps:.7f}, ups=1, "
        job.say(line + f"wpb={BATCH * DEVICES}, bsz=8, num_updates={end}, lr=0.1, wall=9", (begin, end))
    return job


def deepspeed_of_2021() -> Job:
    """Print a mean since the third step."""
    job = Job(case={"batch_size_of_job": BATCH * DEVICES})
    for begin, end in intervals():
        speed = BATCH * DEVICES / mean(2, end)
        line = f"[{stamp(AT[end])}] [INFO] [timer.py:154:stop] 0/{end}, SamplesPerSec={speed:.9f}"
        job.say(line, (max(2, begin), end))
    return job


def megatron() -> Job:
    """Print consumed samples in every line, and no number of devices."""
    job = Job(case={})
    for begin, end in intervals():
        line = f" iteration {end:8d}/     190 | consumed samples: {BATCH * DEVICES * end:12d} | elapsed time per iteration "
        line += (
            f"(ms): {1000 * mean(begin, end):.4f} | learning rate: 1.0E-05 | global batch size: {BATCH * DEVICES:5d} | "
        )
        job.say(line + "lm loss: 2.500000E+00 | loss scale: 1.0 | number of nan iterations:   0 |", (begin, end))
    return job


def torchtitan() -> Job:
    """Print the first step and every tenth in every rank, with the speed per device."""
    job = Job()
    for begin, end in intervals(1):
        line = f"{stamp(AT[end])} - root - INFO - step: {end:2d}  loss: 2.5000  memory: 20.50GiB(25.92%)  "
        tps = BATCH * 1e6 / mean(begin, end)
        job.say(line + f"tps: {tps:,.0f}  mfu: {tps / 1e6:.2f}%", (begin, end), DEVICES)
    return job


def mxnet_fit() -> Job:
    """Print a line per metric; the last batches of an epoch have no line, and lines start again with the epoch."""
    job = Job(case={})
    for n, begin, end in epochs():
        for i in range(EVERY, end - begin + 1, EVERY):
            covers = (begin + i - EVERY, begin + i)
            head = f"INFO:root:Epoch[{n}] Batch [{i - EVERY}-{i}]\tSpeed: {BATCH * DEVICES / mean(*covers):.7f} samples/sec"
            job.say(f"{head}\taccuracy=0.5", covers)
            job.lines.append(f"{head}\ttop_k_accuracy_5=0.7")
    return job


def mmdetection() -> Job:
    """Print steps 10, 20 ... of an epoch, and no line for its last steps."""
    job = Job()
    for n, begin, end in epochs():
        for i in range(EVERY, end - begin + 1, EVERY):
            covers = (begin + i - EVERY, begin + i)
            line = f"{stamp(AT[begin + i])} - mmdet - INFO - Epoch [{n + 1}][{i}/{EPOCH}]\tlr: 1.0e-03, eta: 0:01:07, "
            job.say(line + f"time: {mean(*covers):.7f}, data_time: 0.001, memory: 3770, loss: 2.5000", covers)
    return job


def time_history() -> Job:
    """Print steps of an epoch, with a shorter last record, and times without a date that pass midnight."""
    job = Job(case={})
    for _, begin, end in epochs():
        for first in range(begin, end, EVERY):
            last = min(first + EVERY, end)
            line = f"I1120 {stamp(AT[last])[11:].replace(',', '.')}000 140 keras_utils.py:145] TimeHistory: {took(first, last):.7f} "
            speed = BATCH * DEVICES / mean(first, last)
            job.say(f"{line}seconds, {speed:.7f} examples/second between steps {first} and {last}", (first, last))
    return job


def pytorch_examples() -> Job:
    """Print every tenth batch in every process, with the time of that batch and, in brackets, the epoch's mean."""
    job = Job()
    for n, begin, end in epochs():
        for i in range(0, end - begin, EVERY):
            line = f"Epoch: [{n}][{i:3d}/{EPOCH}]\tTime {TOOK[begin + i]:6.7f} ({mean(begin, begin + i + 1):.7f})\t"
            line += "Data  0.000 ( 0.001)\tLoss 2.5e+00 (2.5e+00)\tAcc"
            job.say(line, (begin + max(0, i - EVERY + 1), begin + i + 1), DEVICES)
    return job


def partial_fc() -> Job:
    job = Job(case={})
    for begin, end in intervals():
        total = BATCH * DEVICES / mean(begin, end)
        line = f"rank-id:0:{stamp(AT[end])}-Iter:{end} Rank:{total / DEVICES:.7f} it/sec Total:{total:.7f} it/sec [0][loss]:2.5"
        job.say(line, (begin, end))
    return job


def mindspore() -> Job:
    """Print a line per rank and epoch of ten steps; two epochs are printed together."""
    job, waiting = Job(), []
    for begin, end in intervals():
        state = f"epoch: {end // EVERY} step: {EVERY}, loss is 2.5"
        waiting.append(f"epoch time: {1000 * took(begin, end):.4f} ms, per step time: {1000 * mean(begin, end):.4f} ms")
        job.lines += [state] * DEVICES
        if len(waiting) == 2:
            job.lines += [each for each in waiting for _ in range(DEVICES)]
            waiting = []
        job.covers.append((begin, end))
    job.lines += [each for each in waiting for _ in range(DEVICES)]
    return job


def nemo() -> Job:
    """Print only clocks, so the first line gives no record."""
    job = Job(case={"batch_size_of_job": BATCH * DEVICES})
    for begin, end in intervals():
        data = {
            "reduced_train_loss": LOSS,
            "consumed_samples": float(BATCH * DEVICES * end),
            "train_step_timing in s": 0.1,
        }
        line = {
            "timestamp": f"{1795169472.5 + AT[end]:.6f}",
            "datetime": "x",
            "type": "LOG",
            "step": end - 1,
            "data": data,
        }
        job.lines.append("DLLL " + json.dumps(line))
        if begin:
            job.covers.append((begin, end))
    return job


def modded_nanogpt() -> Job:
    job = Job(case={"tokens_per_step": BATCH * DEVICES})
    for begin, end in intervals():
        line = (
            f"step:{end}/190 train_loss:2.5000 train_time:{1000 * AT[end]:.0f}ms step_avg:{1000 * AT[end] / end:.2f}ms"
        )
        job.lines.append(line)
        if begin:
            job.covers.append((begin, end))
    return job


def oneflow_wide_and_deep() -> Job:
    job = Job(case={"batch_size_of_job": BATCH * DEVICES})
    for begin, end in intervals():
        job.lines.append(f"{end} time {1795169472.5 + AT[end]:.7f} loss 2.500000125")
        if begin:
            job.covers.append((begin, end))
    return job


def hugectr() -> Job:
    job = Job(case={"batch_size_of_job": BATCH * DEVICES})
    for begin, end in intervals():
        line = f"[HCTR][16:16:20.027][INFO][RK0][main]: Iter: {end} Time({EVERY} iters): {took(begin, end):.6f}s "
        job.say(line + "Loss: 2.500000 lr:0.004", (begin, end))
    return job


def hugging_face() -> Job:
    """Print the bar after each step; the bar has whole seconds, so each step takes a thousand times as long.

    The last state of the bar gives no record.
    """
    job = Job(["{'loss': 2.5, 'learning_rate': 5e-05, 'epoch': 0.5}"], case={"batch_size_of_job": BATCH * DEVICES})
    for i, seconds in enumerate(TOOK, 1):
        at = round(SLOWER * AT[i])
        clock = f"{at // 3600}:{at // 60 % 60:02}:{at % 60:02}"
        job.lines.append(f" 10%|#    | {i}/{STEPS} [{clock}<06:46, {SLOWER * seconds:.2f}s/it]")
        if 1 < i < STEPS:
            job.covers.append((i - 1, i))
    return job


def estimator() -> Job:
    """Print each line through both loggers; the first step has no seconds."""
    job = Job(["INFO:tensorflow:loss = 6.9, step = 0"], case={"batch_size_of_job": BATCH * DEVICES})
    for begin, end in intervals():
        text = f"loss = 2.5, step = {end} ({took(begin, end):.6f} sec)"
        job.say(f"INFO:tensorflow:{text}", (begin, end))
        job.lines.append(f"I1120 10:11:12.123456 140 basic_session_run_hooks.py:260] {text}")
    return job


def open_mmlab() -> Job:
    """Print iterations of the run, not of the epoch; its last iterations have no line."""
    job = Job()
    for begin, end in intervals():
        line = f"{stamp(AT[end])} - mmseg - INFO - Iter [{end}/{STEPS}]\tlr: 1.0e-03, eta: 0:01:07, "
        job.say(line + f"time: {mean(begin, end):.7f}, data_time: 0.001, memory: 3770, loss: 2.5000", (begin, end))
    return job


def nanogpt() -> Job:
    """Print the time of every tenth iteration alone."""
    job = Job(case={"tokens_per_step": BATCH * DEVICES})
    for i in range(0, STEPS, EVERY):
        job.say(f"iter {i}: loss 2.5000, time {1000 * TOOK[i]:.4f}ms, mfu 40.12%", (i, i + 1))
    return job


PRINTERS: list[Callable[[], Job]] = [
    paddle_clas_static, paddle_ocr, tf_cnn_benchmarks, detectron2, fairseq_old, fairseq, deepspeed_of_2021, megatron,
    torchtitan, mxnet_fit, mmdetection, time_history, pytorch_examples, partial_fc, mindspore, nemo, modded_nanogpt,
    oneflow_wide_and_deep, hugectr, hugging_face, estimator, open_mmlab, nanogpt,
]  # fmt: skip
#: Units per step of the job for printers that do not count samples.
PER_STEP = {torchtitan: BATCH * DEVICES * 1e6, hugging_face: BATCH * DEVICES / SLOWER}
#: Printers of speeds that print neither seconds nor samples per step.
NO_LATENCY = {mxnet_fit, partial_fc, torchtitan}


def as_printed(lines: list[str]) -> str:
    return "".join(f"{each}\n" for each in lines)


def by_line(lines: list[str]) -> str:
    """Return the lines of two ranks in turn, with mpirun's tags."""
    return "".join(f"[1,{rank}]<stdout>:{each}\n" for each in lines for rank in (0, 1))


def in_blocks(lines: list[str]) -> str:
    """Return the lines of two ranks in blocks, as the buffers of their pipes fill, with srun's labels."""
    blocks = [lines[at : at + 9] for at in range(0, len(lines), 9)]
    return "".join(f"{rank}: {each}\n" for block in blocks for rank in (1, 0) for each in block)


def by_the_first_rank(lines: list[str]) -> str:
    """Return the lines of two ranks in turn; only the first rank prints lines that are not records."""
    return "".join(
        f"[1,{rank}]<stdout>:{each}\n" for each in lines for rank in (0, 1) if rank == 0 or not each.startswith(ONCE)
    )


@pytest.mark.parametrize("carry", [as_printed, by_line, in_blocks])
@pytest.mark.parametrize("printer", PRINTERS, ids=lambda each: each.__name__)
def test_figure_is_samples_over_time(
    printer: Callable[[], Job], carry: Callable[[list[str]], str], tmp_path: Path
) -> None:
    check(printer(), carry, tmp_path, printer, set())


def check(
    job: Job, carry: Callable[[list[str]], str], folder: Path, printer: Callable[[], Job], left_out: set[int]
) -> None:
    """Compare the figure with the true one; `left_out` are the numbers of records that the window leaves out."""
    path = folder / "train.log"
    path.write_text(carry(job.lines))
    (session,) = read(path).sessions
    case = {name: each.value for name, each in session.facts.items()} | job.case
    first = max(1, len(job.covers) // 5)
    kept = [each for n, each in enumerate(job.covers) if n >= first and n not in left_out]
    steps, seconds = sum(end - begin for begin, end in kept), sum(took(*each) for each in kept)
    found = rules.figure("sustained", session, case)
    assert isinstance(found, Figure), found
    assert (found.scope, found.used) == ("job", len(kept))
    assert found.value == pytest.approx(PER_STEP.get(printer, BATCH * DEVICES) * steps / seconds, rel=1e-4)
    if printer not in NO_LATENCY:
        latency = metrics(session, case, found)["latency"]
        factor = SLOWER if printer is hugging_face else 1
        assert latency.value == pytest.approx(1000 * factor * seconds / steps, rel=1e-4)


#: Seconds of the evaluation.
LASTED = 7.0
#: The step after the evaluation.
BEFORE = 130
#: Start of a line that only one rank prints.
ONCE = "one rank: "


def paused() -> Iterator[Any]:
    """Yield each printer with a sample line of each of its pauses that the next record includes."""
    for printer in PRINTERS:
        with TemporaryDirectory() as folder:
            path = Path(folder) / "train.log"
            path.write_text(as_printed(printer().lines))
            (session,) = read(path).sessions
        pauses = next(each.reading.pauses for each in session.records if len(each) and each.reading.span != "run")
        lines = samples_of(session.format.id).pause
        for n, pause in enumerate(each for each in pauses if each.inside != "none"):
            line = next(each.text for each in lines if pause.regex.search(each.line))
            yield pytest.param(printer, line, id=f"{printer.__name__}-{pause.kind}-{n}")


@pytest.mark.parametrize("carry", [as_printed, by_line, in_blocks, by_the_first_rank])
@pytest.mark.parametrize(("printer", "line"), list(paused()))
def test_a_record_with_an_evaluation_is_left_out(
    printer: Callable[[], Job], line: str, carry: Callable[[list[str]], str], tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    without = printer().lines
    module = sys.modules[__name__]
    longer = [seconds + (LASTED if i == BEFORE else 0.0) for i, seconds in enumerate(TOOK)]
    with monkeypatch.context() as changed:
        changed.setattr(module, "TOOK", longer)
        changed.setattr(module, "AT", [0.0, *itertools.accumulate(longer)])
        job = printer()
    (record,) = (n for n, (begin, end) in enumerate(job.covers) if begin <= BEFORE < end)
    first = next(n for n, (a, b) in enumerate(zip(job.lines, without, strict=True)) if a != b)
    job.lines.insert(first, ONCE + line if carry is by_the_first_rank else line)
    check(job, carry, tmp_path, printer, {record})
