"""LitGPT, and Lit-LLaMA before it: a line per logging interval with the milliseconds of one iteration.

An iteration is one micro-batch of each rank. The one that ends with the update is marked `(step)` and takes longer. The
time is that of the last iteration before the line, without the wait for its data, which is not printed. Updates have
their true share of the lines if every iteration is printed, or every nth and n has no factor in common with the
accumulation. If not, a record is an update: its own iteration, and the others at the mean time of the unmarked lines
since the update before. If only one of the two kinds is printed, no speed follows. The last lines print the seconds of
the run, with all that the iterations leave out. The tokens per second next to them are divided by the time of a clock,
not of the run, and are not read.
"""

from __future__ import annotations

import re

import numpy as np

from perfledger.parsers.contract import Columns, Fact, Format, Pause, Reading
from perfledger.parsers.frameworks import PYTORCH_JOB


def _iterations(columns: Columns) -> Columns:
    """Return the lines, or a mean iteration per update if the lines show more or fewer updates than the run."""
    seconds, count = columns["step_seconds"], len(columns["step"])
    marked = np.isfinite(columns["_marked"])
    between, updates = (float(columns[name][-1] - columns[name][0]) for name in ("step", "_updates"))
    found = _of_updates(columns, between / updates if between > 0 and updates > 0 else np.nan)
    if not (between > 0 and updates > 0) or abs(marked.sum() - count * updates / between) < 1 + count / between:
        return found
    if marked.all() or not marked.any():
        return found.drop("step_seconds")
    # The lines before each update, since the update before.
    of_update = (np.cumsum(marked) - marked)[~marked]
    lines = np.bincount(of_update, minlength=marked.sum() + 1)[: marked.sum()]
    others = np.bincount(of_update, seconds[~marked], minlength=marked.sum() + 1)[: marked.sum()]
    rows, each = np.flatnonzero(marked)[lines > 0], round(between / updates)
    mean = ((each - 1) * others[lines > 0] / lines[lines > 0] + seconds[rows]) / each
    return found.take(rows).assign(step_seconds=mean)


def _of_updates(columns: Columns, each: float) -> Columns:
    """Add the samples of all updates, if these take more or fewer iterations than the batch sizes and the devices say."""
    planned, batch, devices, of_node, nodes = (
        float(columns[name][0]) for name in ("_accumulation", "_batch_size", "_devices", "_devices_per_node", "_nodes")
    )
    if not abs(planned / each - 1) > _OTHER_PLAN:
        return columns
    of_job = planned * batch * (devices if devices == devices else of_node * nodes)
    return columns.assign(consumed=columns["step"] / each * of_job)


#: If the iterations of an update differ from the plan by more than this share, the plan is wrong.
_OTHER_PLAN = 0.2


def _planned(printed: bytes) -> int:
    """Return the iterations of an update, of devices, machines and the batch sizes of the job and of an iteration."""
    numbers = {name: int(number) for name, number in re.findall(rb"(\w++)(?:': |=)([0-9]++)\b", printed)}
    of_devices = numbers[b"devices"] * numbers.get(b"num_nodes", 1)
    return numbers[b"global_batch_size"] // of_devices // numbers[b"micro_batch_size"]


FORMAT = Format(
    title="LitGPT",
    framework="PyTorch",
    needs=b"time: ",
    unproven=True,
    end="| - Training Time : {_} s",
    readings=(
        Reading(
            rb"\biter <step> (?:\| )?+step (?P<_updates>[0-9]++)\]?+(?: \||:) loss(?: train)?+:?+ <loss>,(?: (?!iter time: )[^|,\r\n]{1,200}+[|,]){0,9}+ iter time: "
            rb"(?=(?P<_marked>[0-9.]++) ?ms \((?:optimizer\.)?+step\))?+<step_seconds:ms> ?ms",
            unit="samples/s",
            span="step",
            verbs=(_iterations,),
        ),
        Reading("| - Training Time : {seconds:s}", span="run", weak=True),
        # Lit-LLaMA's pre-training, and copies: the speed at the end of an update counts the tokens and seconds since the last one.
        Reading(
            "iter {step}: loss {loss}, time: {_}, speed: {throughput:int} toks/s/device",
            unit="tokens/s",
            scope="device",
            pauses=(Pause("evaluation", "Validating ..."), Pause("checkpoint", "Saving checkpoint to ")),
        ),
    ),
    facts=(
        *PYTORCH_JOB,
        Fact("batch_size", rb"\bmicro_batch_size['\"]?+[=:] ?+([0-9]++)\b", int),
        Fact(
            "accumulation",
            rb"'(devices': [0-9]++,(?:(?!global_batch_size=|'devices': )[\s\S]){0,3000}+global_batch_size=[0-9]++,\s++micro_batch_size=[0-9]++)\b",
            _planned,
        ),
        # Before it trained on several nodes it named none; TinyLlama counts those of all.
        Fact("devices", "'num_of_devices': {:int}"),
        Fact("devices", rb"'devices': ([0-9]++)\b(?![\s\S]{0,3000}?'num_nodes': )", int),
        Fact("devices_per_node", rb"['\"]devices['\"]: ([0-9]++)\b", int),
        Fact("nodes", rb"['\"]num_nodes['\"]: ([0-9]++)\b", int),
        Fact("precision", rb"['\"]precision['\"]: ['\"](bf16-true|bf16-mixed|16-mixed|16-true|32-true)['\"]", words={
            b"bf16-true": "bf16", b"bf16-mixed": "bf16", b"16-mixed": "amp", b"16-true": "fp16", b"32-true": "fp32"}),
    ),
)  # fmt: skip
