"""ms-swift, in `logging.jsonl` and on the console: a dictionary per logging interval, with a speed since the start.

`train_speed` is the mean since this process began, with evaluations and saving: step and speed give the time
since then, and the differences of these times are what the intervals took. Until 2025 it is printed as iterations per
second, since then as seconds per iteration, of optimiser updates of the whole job. Several processes may write one
file, each with a clock of its own; a step counts once, by the mean of their clocks. Indices of evaluations carry a speed
as well, and the last row of a file repeats all losses; the speed at the end of that row forgets the epochs. The speed
of a resumed process divides by all steps at first (source: `swift/trainers/mixin.py`), and in later releases by those
since the resumption: these print `elapsed_time` as well, cut to whole seconds, which then counts. The file states
neither batch size nor devices; a console may show the command or the arguments, and the number of processes.
"""

from __future__ import annotations

import numpy as np

from perfledger.parsers.contract import (
    NUMBER,
    Columns,
    Fact,
    Format,
    Pause,
    Reading,
    mean_of_ranks,
)
from perfledger.parsers.frameworks import TORCHRUN, row, value

#: Names of the step.
_STEP = rb"(?:global_step(?:/max_steps)?+|iteration|steps\[global_step/max_steps\])"
#: Largest difference in seconds between a time cut to whole seconds and one computed from a rounded speed.
_ROUNDED = 1.5


def _clock(columns: Columns) -> Columns:
    """Return the time since the process began: as its mean speed says, or as printed if the speed counts fewer steps."""
    by_speed = columns["step"] * np.fmax(columns["_seconds"], 1 / columns["_rate"])
    contradicts = np.abs(by_speed - columns["clock"]) > _ROUNDED
    return columns.assign(clock=np.where(contradicts, columns["clock"], by_speed))


def _argument(name: bytes, printed: bytes) -> bytes:
    """Return the pattern of an argument: `--batch_size 4` of a command, or `batch_size=4,` of all that are printed."""
    return rb"(?:--%s[= ]|(?<=[ (])%s=(?=[^\n ]{1,100}[,)]))'?+(%s)(?=[\s,)'`])" % (name, name, printed)


FORMAT = Format(
    title="ms-swift",
    framework="PyTorch",
    over=("frameworks.hf_trainer",),
    end=rb"^\{['\"]train_runtime['\"]: ",
    readings=(
        Reading(
            row(
                rb"['\"]loss['\"]: '?+<loss>'?+,",
                rb"(?:%s|%s)" % (
                    value(rb"train_speed\(iter/s\)", rb"(?P<_rate>" + NUMBER + rb")"),
                    value(rb"train_speed\(s/it\)", rb"(?P<_seconds>" + NUMBER + rb")"),
                ),
                value(_STEP, rb"<step>(?:/<total_steps>)?+"),
                value(
                    rb"elapsed_time",
                    rb"(?P<elapsed>[0-9][0-9dhm ]*+s)",
                    needed=False,
                ),
            ),
            unit="samples/s",
            per_update=True,
            pauses=(
                Pause("evaluation", rb"eval_runtime['\"]: "),
                Pause("checkpoint", "[INFO:swift] Saving model checkpoint to "),
            ),
            verbs=(_clock, mean_of_ranks("clock")),
        ),
        Reading(
            # On the console the Trainer's own line is the same, except for the step.
            rb"\{(?<![^\r\n]\{)(?:(?=\")|(?=(?:(?!'global_step)[^\r\n{}])*+'global_step))['\"]train_runtime['\"]: '?+<seconds>'?+, "
            rb"['\"]train_samples_per_second['\"]: '?+<throughput>'?+, ['\"]train_steps_per_second['\"]: "
            # The last step, and the mean loss of all steps.
            rb"(?:[^{}\r\n]{0,200}?\btrain_loss['\"]: '?+<mean_loss>'?+(?=[,}]))?+(?:[^{}\r\n]{0,200}?['\"]" + _STEP + rb"['\"]: ['\"]?+<step>(?:/<total_steps>)?+(?=['\",}]))?+",
            unit="samples/s",
            span="run",
            weak=True,
        ),
    ),
    facts=(
        Fact("batch_size", _argument(rb"(?:per_device_train_)?+batch_size", rb"[0-9]++"), int),
        Fact("accumulation", _argument(rb"gradient_accumulation_steps", rb"[0-9]++"), int),
        Fact("context_parallel", _argument(rb"sequence_parallel_size", rb"[0-9]++"), int),
        Fact("model", _argument(rb"model", rb"[\w./-]++")),
        Fact("devices", "[INFO:swift] rank: 0, local_rank: 0, world_size: {:int}"),
        *TORCHRUN,
    ),
)  # fmt: skip
