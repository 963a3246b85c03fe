"""modded-nanogpt and programs derived from it (parameter-golf and other speedruns): a line per step or per few steps.

`train_time` is the time spent training since the start, in whole milliseconds; the clock stops during validation. Each
record covers the time since the line before. `step_avg` is a mean since the start, or since step 10 if the first ten
steps do not count: there the clock restarts, and earlier lines are left out here as well. Validation lines have the
same fields; the last one shows the mean of the run. Some programs print validation lines alone (track 3, in seconds; a
process may run several times in turn). Only some versions print the tokens of a step; the others print their own source
code at the head of the log, from which no figure is taken. That for MLX counts validations as well, most of which it
does not print: there `tok_s` counts, which is of the last step alone; other copies may take it over all steps, so that
their time counts.
"""

from __future__ import annotations

import numpy as np

from perfledger.parsers.contract import Columns, Fact, Format, Postprocessed, Reading, lacks, says, take


def _since_reset(columns: Columns) -> Postprocessed:
    """Return the rows since the clock last began again, where that was within the warm-up."""
    steps, clock = columns["step"], columns["clock"]
    resets = np.flatnonzero((np.diff(clock) < 0) & (np.diff(steps) > 0) & (steps[1:] <= 20)) + 1
    return take(columns, np.arange(resets[-1] if len(resets) else 0, len(clock)))


def _of_run(columns: Columns) -> Postprocessed:
    """Return the mean of the whole run that its last line prints, as steps per second."""
    last = columns["_last"] == columns["_of"]
    return take({"steps_per_second": 1e3 / columns["_mean"]}, last)


def _sequences(printed: bytes) -> int:
    """Return the sequences of a step: `4096 train_seq_len:1024` tokens are 4."""
    tokens, _, length = printed.partition(b" train_seq_len:")
    return int(tokens) // int(length)


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
            verbs=(_since_reset,),
        ),
        # Copies that print seconds.
        Reading(
            "step:{step}/{total_steps} train_time:{elapsed:s} step_avg:{_}.{_}ms",
            unit="tokens/s",
            verbs=(_since_reset,),
        ),
        Reading(
            "step:{_last}/{_of} val_loss:{_} {*}train_time:{_}ms step_avg:{_mean:,}ms",
            unit="tokens/s",
            span="run",
            verbs=(_of_run,),
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
            verbs=(_since_reset,),
        ),
        Reading(
            "step:{step}/{total_steps} val_loss:{_} train_time:{elapsed:s}",
            unit="tokens/s",
            where=lacks("^mlx_version:"),
            verbs=(_since_reset,),
        ),
    ),
    facts=(
        Fact("framework", rb"^(mlx_version):", words={b"mlx_version": "MLX"}),
        Fact("devices", rb"^(mlx_version):", lambda _: 1),
        Fact("tokens_per_step", "train_batch_tokens:{:int} "),
        Fact("batch_size_of_job", rb"train_batch_tokens:([0-9]++ train_seq_len:[1-9][0-9]*+)", _sequences),
        Fact("sequence_length", "train_seq_len:{:int} "),
        Fact("devices", "^world_size:{:int}"),
        Fact("accumulation", "grad_accum_steps:{:int}"),
        Fact("parameters", "^model_params:{:int}"),
    ),
)  # fmt: skip
