"""ms-swift, in `logging.jsonl` and on the console: a dictionary per logging interval, with a speed since the start.

`train_speed` is the mean since this process began, with evaluations and saving in it: step and speed give the time
since then, and the differences of these times are what the intervals took. Until 2025 it is printed as iterations per
second, since then as seconds per iteration, of optimiser updates of the whole job. Several processes may write one
file, each with a clock of its own; a step counts once, by the mean of their clocks. Rows of evaluations carry a speed
as well, and the last row of a file repeats all losses; the speed at the end of that row forgets the epochs. Of a
resumed process the speed counts the steps since a first one that no row prints, so that its time is `elapsed_time`, cut
to whole seconds; its rows are no records where they print none. The file states neither batch size nor devices; a
console may show the command or the arguments, and the number of processes.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from perfledger.parsers.contract import (
    NUMBER,
    Column,
    Columns,
    Fact,
    Format,
    Pause,
    Postprocessed,
    Reading,
)
from perfledger.parsers.frameworks import TORCHRUN, row, value

#: Names of the step.
_STEP = rb"(?:global_step(?:/max_steps)?+|iteration|steps\[global_step/max_steps\])"
#: Seconds of the units of `1d 2h 3m 4s` besides seconds.
_UNITS = {"_d": 86400, "_h": 3600, "_m": 60}


def _steps(columns: Columns) -> Postprocessed:
    """Return a record per step that all processes wrote, with the mean of their times since they began.

    Processes lag by a row or two; a step further back is that of another run in the same file.
    """
    step = columns["step"]
    apart = np.diff(np.unique(step))
    usual = np.median(apart) if len(apart) else 1.0
    run = np.cumsum(np.diff(step, prepend=step[:1]) < -3 * usual)
    (run, _), first, group, writers = np.unique(
        np.stack([run, step]), axis=1, return_index=True, return_inverse=True, return_counts=True
    )
    spent = step * np.fmax(columns["_seconds"], 1 / columns["_rate"])
    told = columns["clock"] + sum(each * np.nan_to_num(columns[name]) for name, each in _UNITS.items())
    whole = np.flatnonzero(writers == np.median(writers))
    clock, told = ((np.bincount(group.ravel(), each) / writers)[whole] for each in (spent, told))
    begun = _from_the_start(run[whole], step[first[whole]], clock, told, usual)
    clock = np.where(begun, clock, told)
    kept = np.flatnonzero(np.isfinite(clock))
    rows = first[whole[kept]]
    return rows, {"clock": clock[kept]} | {name: columns[name][rows] for name in ("step", "total_steps", "loss")}


def _argument(name: bytes, printed: bytes) -> bytes:
    """Return the pattern of an argument: `--batch_size 4` of a command, or `batch_size=4,` of all that are printed."""
    return rb"(?:--%s[= ]|(?<=[ (])%s=(?=[^\n ]{1,100}[,)]))'?+(%s)(?=[\s,)'`])" % (name, name, printed)


def _from_the_start(run: Column, step: Column, clock: Column, told: Column, usual: float) -> NDArray[np.bool_]:
    """Return which steps are of a process that began with its run, and not of one that was resumed.

    The time of a resumed process begins anew. Where that is not printed, what its speeds say falls, perhaps from its
    second row only.
    """
    began = (np.diff(run, prepend=np.nan) != 0) | (np.diff(told, prepend=np.nan) < 0)
    began[:-1] |= (np.diff(clock) < 0) & ~began[1:]
    begun: Column = step[began] <= usual
    return np.repeat(begun, np.diff(np.append(np.flatnonzero(began), len(began))))


FORMAT = Format(
    title="ms-swift",
    framework="PyTorch",
    marker=b"train_",
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
                    rb"(?:(?P<_d>[0-9]++)d )?+(?:(?P<_h>[0-9]++)h )?+(?:(?P<_m>[0-9]++)m )?+(?P<elapsed>[0-9]++)s",
                    needed=False,
                ),
            ),
            unit="samples/s",
            counts="update",
            marker=b"train_speed(",
            pauses=(
                Pause(
                    "evaluation",
                    rb"eval_runtime['\"]: ",
                ),
                Pause("checkpoint", rb"\[INFO:swift\] Saving model checkpoint to "),
            ),
            verbs=(_steps,),
        ),
        Reading(
            # On the console the Trainer's own line is the same, but for the step.
            rb"\{(?<![^\r\n]\{)(?:(?=\")|(?=(?:(?!'global_step)[^\r\n{}])*+'global_step))['\"]train_runtime['\"]: '?+<seconds>'?+, "
            rb"['\"]train_samples_per_second['\"]: '?+<throughput>'?+, ['\"]train_steps_per_second['\"]: "
            # What it came to, of the steps that it counts, and the mean loss of all of these.
            rb"(?:[^{}\r\n]{0,200}?\btrain_loss['\"]: '?+<mean_loss>'?+(?=[,}]))?+(?:[^{}\r\n]{0,200}?['\"]" + _STEP + rb"['\"]: ['\"]?+<step>(?:/<total_steps>)?+(?=['\",}]))?+",
            unit="samples/s",
            span="run",
            marker=b"train_runtime",
            weak=True,
        ),
    ),
    facts=(
        Fact("batch_size", _argument(rb"(?:per_device_train_)?+batch_size", rb"[0-9]++"), int),
        Fact("accumulation", _argument(rb"gradient_accumulation_steps", rb"[0-9]++"), int),
        Fact("context_parallel", _argument(rb"sequence_parallel_size", rb"[0-9]++"), int),
        Fact("model", _argument(rb"model", rb"[\w./-]++")),
        Fact("devices", rb"\[INFO:swift\] rank: 0, local_rank: 0, world_size: ([0-9]++)", int),
        *TORCHRUN,
    ),
)  # fmt: skip
