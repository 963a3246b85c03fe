"""parameter-golf since April 2026 (`1000/20000 train_loss: 2.7466 train_time: 1.6m tok/s: 8318344`): a line per few hundred steps.

The speed is that of the job, a mean over all steps since the start; its clock stops during validation. The speed of a
record follows from two means, since some runs change the model while they train, and are slower from there on. The
minutes next to it have one decimal, and are not read. If the run ends at its time limit, that line has the
milliseconds. Earlier programs print other lines (`step_avg`).
"""

from __future__ import annotations

from perfledger.parsers.contract import Fact, Format, Reading

FORMAT = Format(
    title="parameter-golf",
    framework="PyTorch",
    start=rb"(?m)^Hyperparameters:(?:\s++(?!train_batch_tokens: )[a-z_0-9]++: [^\n]*+)*+\s++train_batch_tokens: [0-9]",
    end="^peak memory allocated: ",
    readings=(
        Reading(
            "{step}/{total_steps} train_loss: {loss} train_time: {_}m tok/s: {throughput}",
            unit="tokens/s",
            running_mean=1,
        ),
        Reading(
            "wallclock_cap train_time: {_seconds:ms} step: {_steps}/",
            unit="tokens/s",
            span="run",
            verbs=(lambda each: each.assign(steps_per_second=each["_steps"] / each["_seconds"]),),
        ),
    ),
    facts=(
        Fact("tokens_per_step", "^{? }train_batch_tokens: {:int}$"),
        Fact("sequence_length", "^{? }train_seq_len: {:int}$"),
        Fact("accumulation", "^{? }grad_accum_steps: {:int}$"),
        Fact("devices", "^{? }world_size: {:int}$"),
        Fact("parameters", "^model_params:{:int}$"),
    ),
)  # fmt: skip
