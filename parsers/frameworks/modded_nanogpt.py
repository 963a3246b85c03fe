"""modded-nanogpt and programs derived from it (parameter-golf and other speedruns): a line per step or per few steps.

`train_time` is the time spent training since the start, in whole milliseconds; the clock stops during validation. Each
record covers the time since the line before. `step_avg` is a mean since the start, or since step 10 if the first ten
steps do not count: there the clock restarts, and earlier lines are left out here as well. Validation lines have the
same fields; the last one tells the mean of the run. Some programs print validation lines alone (track 3, in seconds; a
process may run several times in turn). Only some versions print the tokens of a step; the others print their own source
code at the head of the log, from which no figure is taken. That for MLX counts validations as well, most of which it
does not print: there `tok_s` counts, which is of the last step alone; other copies may take it over all steps, so that
their time counts.
"""

from __future__ import annotations

import numpy as np

from perfledger.parsers.contract import Columns, Fact, Format, Postprocessed, Reading
from perfledger.parsers.contract.conditions import lacks, says

#: Largest relative difference between a printed mean and the time over the steps: the first ten may not count.
_OTHER_MEAN = 0.05


def _since_reset(columns: Columns) -> Postprocessed:
    """Return the rows since the clock last began again, where that was within the warm-up."""
    steps, clock = columns["step"], columns["clock"]
    resets = np.flatnonzero((np.diff(clock) < 0) & (np.diff(steps) > 0) & (steps[1:] <= 20)) + 1
    rows = np.arange(resets[-1] if len(resets) else 0, len(clock))
    return rows, {name: each[rows] for name, each in columns.items()}


def _of_run(columns: Columns) -> Postprocessed:
    """Return the mean of the whole run that its last line prints, as steps per second; in copies it is another mean."""
    rows = np.flatnonzero(np.abs(columns["_mean"] * columns["_last"] / columns["_time"] - 1) < _OTHER_MEAN)
    return rows, {"steps_per_second": 1e3 / columns["_mean"][rows]}


def _sequences(printed: bytes) -> int:
    """Return the sequences of a step: `4096 train_seq_len:1024` tokens are 4."""
    tokens, _, length = printed.partition(b" train_seq_len:")
    return int(tokens) // int(length)


_STEP = rb"step:(?<![\w.]step:)<step>/<total_steps> "
_MEAN = rb"step_avg:[0-9.]++ms"
_TIME = rb"train_time:(?P<elapsed>[0-9]++)ms "
_TIMES = rb"train_time:[0-9]++ms step_avg:[0-9.]++ms"

FORMAT = Format(
    title="modded-nanogpt",
    framework="PyTorch",
    marker=b" train_time:",
    start=rb"(?m)^logs/[0-9a-f-]{36}\.txt[ \t\r]*+$|^step:([0-9]++)/\1 val_loss:[^\n]*+\n(?P<start>step:0/)",
    end=rb"peak memory (?:consumption|allocated): ",
    readings=(
        Reading(
            # Behind a loss the line goes on in copies; in that for MLX with the speed.
            _STEP + rb"(?:train_loss:<loss> (?=" + _TIMES + rb"(?:[ \t]*+[\r\n]| (?!tok_s:)[^\s:]++:))|(?!train_loss:))" + _TIME + _MEAN,
            unit="tokens/s",
            factors={"elapsed": 1e-3},
            where=lacks(rb"^mlx_version:"),
            verbs=(_since_reset,),
        ),
        # Copies that print seconds.
        Reading(
            _STEP + rb"train_time:(?P<elapsed>[0-9]++\.[0-9]++)s " + _MEAN + rb"(?=\s)",
            unit="tokens/s",
            verbs=(_since_reset,),
        ),
        Reading(
            rb"step:(?<![\w.]step:)(?P<_last>[0-9]++)/(?P=_last) (?:(?:train|val)_\w++:[0-9.]++ ){0,4}+"
            rb"train_time:(?P<_time>[1-9][0-9]*+)ms step_avg:(?P<_mean>[0-9.]++)ms(?=\s)",
            unit="tokens/s",
            span="run",
            verbs=(_of_run,),
        ),
        Reading(rb"peak memory (?:consumption|allocated): (?P<memory>[0-9]++) MiB", weak=True, marker=b" step_avg:"),
        Reading(
            _STEP + rb"train_loss:<loss> " + _TIME + rb"step_avg:[0-9.]++ms tok_s:<throughput>(?=\s)",
            unit="tokens/s",
            span="step",
            factors={"elapsed": 1e-3},
            where=lacks(rb"^world_size:"),
        ),
        # Copies that print such a speed on other devices take it over the last step, or over all steps.
        Reading(
            _STEP + rb"train_loss:<loss> " + _TIME + _MEAN + rb" tok_s:[0-9.]++(?=\s)",
            unit="tokens/s",
            factors={"elapsed": 1e-3},
            where=says(rb"^world_size:"),
            verbs=(_since_reset,),
        ),
        # Programs that print validations alone.
        *(
            Reading(
                _STEP + rb"val_loss:[0-9.]++ train_time:(?P<elapsed>%s)(?=m?+s[ \r\n])" % time,
                unit="tokens/s",
                factors={"elapsed": factor},
                where=lacks(rb"^mlx_version:"),
                verbs=(_since_reset,),
            )
            for time, factor in ((rb"[0-9]++(?=m)", 1e-3), (rb"[0-9]++\.[0-9]++", 1.0))
        ),
    ),
    facts=(
        Fact("framework", rb"^(mlx_version):", words={b"mlx_version": "MLX"}),
        Fact("devices", rb"^(mlx_version):", lambda _: 1),
        Fact("tokens_per_step", rb"train_batch_tokens:([0-9]++) ", int),
        Fact("batch_size_of_job", rb"train_batch_tokens:([0-9]++ train_seq_len:[1-9][0-9]*+)", _sequences),
        Fact("sequence_length", rb"train_seq_len:([0-9]++) ", int),
        Fact("devices", rb"^world_size:([0-9]++)\b", int),
        Fact("accumulation", rb"grad_accum_steps:([0-9]++)", int),
        Fact("parameters", rb"^model_params:([0-9]++)", int),
    ),
)  # fmt: skip
