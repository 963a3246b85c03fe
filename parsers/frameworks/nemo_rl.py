"""NeMo-RL: a block per step of reinforcement learning; tokens per second of the job over the whole step.

`E2E` counts prompts and responses over the total step time, in which generation, scoring, update, validation and
checkpoint lie. It is printed per device, too, whose number counts those that only generate; that is read where a block
lacks the other. Other throughputs of the block are those of one of its phases.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from perfledger.parsers.contract import Columns, Fact, Format, Pause, Postprocessed, Reading, up_to


def _blocks(columns: Columns) -> Postprocessed:
    """Return the blocks, each with the step of the headline before it."""
    rows = np.flatnonzero(np.isfinite(columns["throughput"]))
    named = np.flatnonzero(np.isfinite(columns["step"]))
    found = {name: columns[name][rows] for name in ("duration", "throughput")}
    if not len(named) or len(rows) == 0 or named[0] > rows[0]:
        return rows, found
    heads = named[np.searchsorted(named, rows) - 1]
    return rows, found | {name: columns[name][heads] for name in ("step", "total_steps")}


_AGAIN = rb"Total step time: | Step [0-9]++/[0-9]++ ="


def _block(label: bytes) -> bytes:
    """Return a pattern for the head of a step, or for its seconds and the figure behind a label."""
    return (
        rb"(?<== )Step <step>/<total_steps> =|\bTotal step time: (?P<duration>[0-9.]++)s\b"
        + up_to(rb"\b" + label, _AGAIN, rb"[\s\S]")
        + rb"<throughput>(?=\s)"
    )


_OF_DEVICE = Reading(
    _block(rb"E2E \(Tokens/sec/gpu\): "),
    unit="tokens/s",
    scope="device",
    span="step",
    pauses=(
        Pause("evaluation", rb"Starting validation at step "),
        Pause("checkpoint", rb"Saving checkpoint for step "),
    ),
    verbs=(_blocks,),
)

FORMAT = Format(
    title="NeMo-RL",
    framework="PyTorch",
    marker=b"E2E (Tokens/sec/gpu): ",
    start=rb"(?m:^)Final config:",
    before_start=rb"^Loaded configuration from: ",
    unproven=True,
    readings=(
        replace(
            _OF_DEVICE,
            pattern=_block(rb"E2E \(Tokens/sec\): "),
            scope="job",
        ),
        _OF_DEVICE,
    ),
    facts=(
        Fact("model", rb"'policy': \{(?:(?!'policy': |'model_name': )[\s\S]){0,20000}+'model_name': '([^'\s]++)'"),
        Fact("devices_per_node", rb"'cluster': \{[^{}]*?'gpus_per_node': ([0-9]++)", int),
        Fact("nodes", rb"'cluster': \{[^{}]*?'num_nodes': ([0-9]++)", int),
    ),
)  # fmt: skip
