"""modded-nanogpt and programs derived from it (parameter-golf and other speedruns): a line per step or per few steps.

`train_time` is the time spent training since the start, in whole milliseconds; the clock stops during validation. Each
record covers the time since the line before. `step_avg` is a mean since the start, or since step 10 if the first ten
steps do not count: there the clock restarts. Validation lines have the same fields. Some programs print validation
lines alone (track 3, in seconds; a process may run several times in turn). Only some versions print the tokens of a
step. The others print their own source code at the head of the log; figures are not taken from it. The version for MLX
also counts validations, and does not print most of them. There `tok_s` counts, which covers the last step alone. In
other copies `tok_s` may cover all steps, so their time counts.
"""

from __future__ import annotations

from perfledger.parsers.contract import Fact, Format, Reading, lacks, says

FORMAT = Format(
    title="modded-nanogpt",
    framework="PyTorch",
    needs=b" train_time:",
    start=rb"(?m)^logs/[0-9a-f-]{36}\.txt[ \t\r]*+$|^step:([0-9]++)/\1 val_loss:[^\n]*+\n(?P<start>step:0/)",
    end="peak memory {consumption|allocated}: ",
    readings=(
        Reading(
            "step:{step}/{total_steps} {?train_loss:{loss} }train_time:{elapsed:ms} step_avg:{_}.{_}ms",
            unit="tokens/s",
            where=lacks("^mlx_version:"),
        ),
        # Copies that print seconds.
        Reading(
            "step:{step}/{total_steps} train_time:{elapsed:s} step_avg:{_}.{_}ms",
            unit="tokens/s",
        ),
        Reading("peak memory {consumption|allocated}: {memory:MiB}", weak=True),
        Reading(
            "step:{step}/{total_steps} train_loss:{loss} train_time:{elapsed:ms} step_avg:{_}.{_}ms tok_s:{throughput}",
            unit="tokens/s",
            span="step",
            where=says("^mlx_version:"),
        ),
        # Programs that print validations alone.
        Reading(
            "step:{step}/{total_steps} val_loss:{_} train_time:{elapsed:ms}",
            unit="tokens/s",
            where=lacks("^mlx_version:"),
        ),
        Reading(
            "step:{step}/{total_steps} val_loss:{_} train_time:{elapsed:s}",
            unit="tokens/s",
            where=lacks("^mlx_version:"),
        ),
    ),
    facts=(
        Fact("framework", rb"^(mlx_version):", words={b"mlx_version": "MLX"}),
        Fact("devices", rb"^(mlx_version):", lambda _: 1),
        Fact("tokens_per_step", "train_batch_tokens:{:int} "),
        Fact("batch_size_of_job", rb"train_batch_tokens:([0-9]++ train_seq_len:[1-9][0-9]*+)", lambda printed: int(printed.split()[0]) // int(printed.split(b":")[-1])),
        Fact("sequence_length", "train_seq_len:{:int} "),
        Fact("devices", "^world_size:{:int}"),
        Fact("accumulation", "grad_accum_steps:{:int}"),
        Fact("parameters", "^model_params:{:int}"),
    ),
)  # fmt: skip
