"""NeMo-RL: a block per step of reinforcement learning; tokens per second of the job over the whole step.

`E2E` counts prompts and responses over the total step time, which includes generation, scoring, update, validation and
checkpoint. It is printed per device, too, and the number of devices includes those that only generate; this value is
read if a block lacks the other. Other throughputs of the block are those of one of its phases.
"""

from __future__ import annotations

from perfledger.parsers.contract import Fact, Format, Pause, Reading, carry, only

_VERBS = (carry("step", "total_steps", "duration"), only("throughput"))
_PAUSES = (
    Pause("evaluation", "Starting validation at step "),
    Pause("checkpoint", "Saving checkpoint for step "),
)

FORMAT = Format(
    title="NeMo-RL",
    framework="PyTorch",
    start=rb"(?m:^)Final config:",
    before_start="^Loaded configuration from: ",
    unproven=True,
    readings=(
        Reading(
            "= Step {step}/{total_steps} =\n\nTotal step time: {duration:s}\n\nE2E (Tokens/sec): {throughput}",
            unit="tokens/s",
            span="step",
            verbs=_VERBS,
            pauses=_PAUSES,
        ),
        Reading(
            "= Step {step}/{total_steps} =\n\nTotal step time: {duration:s}\n\nE2E (Tokens/sec/gpu): {throughput}",
            unit="tokens/s",
            scope="device",
            span="step",
            verbs=_VERBS,
            pauses=_PAUSES,
        ),
    ),
    facts=(
        Fact("model", rb"'policy': \{(?:(?!'policy': |'model_name': )[\s\S]){0,20000}+'model_name': '([^'\s]++)'"),
        Fact("devices_per_node", rb"'cluster': \{[^{}]*?'gpus_per_node': ([0-9]++)", int),
        Fact("nodes", rb"'cluster': \{[^{}]*?'num_nodes': ([0-9]++)", int),
    ),
)  # fmt: skip
