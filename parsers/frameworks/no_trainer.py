"""The `no_trainer` examples of transformers over Accelerate, and scripts made of them: tqdm's bar of optimiser steps.

The bar has no name, as that of any program may: it is told by the number of steps that the head states. It counts
updates of the whole job and tells the seconds since the start; the speed that it prints is smoothed, so that the figure
is of these seconds. An evaluation at the end of an epoch is in the bar's time, and a line tells of it. The last step may
hold the last checkpoint and is left out.
"""

from __future__ import annotations

import numpy as np

from parsers.contract import Columns, Format, NearMiss, Pause, Postprocessed, Reading, Sample
from parsers.frameworks.diffusers import FORMAT as SCRIPTS
from parsers.frameworks.diffusers import first_drawn


def _of_all_steps(columns: Columns) -> Postprocessed:
    """Return the lines of the bar that counts up to the steps that the head states."""
    kept = np.flatnonzero(columns["total_steps"] == columns["_total_steps"])
    rows, found = first_drawn({name: columns[name][kept] for name in ("step", "total_steps", "clock")})
    return kept[rows], found


#: What tells a log of such a script, in the samples.
_HEAD = b"\n11/20/2026 10:00:00 - INFO - __main__ - ***** Running training *****\n"

FORMAT = Format(
    title="Accelerate scripts (no_trainer)",
    framework="PyTorch",
    marker=b"- __main__ - ***** Running training *****",
    unproven=True,
    start=SCRIPTS.start,
    before_start=SCRIPTS.before_start,
    # Both read such bars; where there are the Trainer's losses as well, it is the Trainer's.
    over=("frameworks.hf_trainer",),
    readings=(
        Reading(
            rb"(?<![^\r\n]) *+[0-9]++%(?:\|[^|\r\n]{0,400}+\|)?+ (?P<step>[1-9][0-9]*+)/(?!(?P=step) )<total_steps> "
            rb"\[(?P<elapsed>[0-9:]++)<[0-9:?]++, ++[0-9.]++(?:s/it|it/s)(?=[\],/\s])",
            unit="samples/s",
            counts="update",
            weak=True,
            pauses=(
                Pause("evaluation", rb"- __main__ - epoch [0-9]++: ", b"11/20/2026 10:00:00 - INFO - __main__ - epoch 0: {'accuracy': 0.5}"),
                Pause(
                    "checkpoint",
                    rb"Saving current state to ",
                    b"11/20/2026 10:00:00 - INFO - accelerate.accelerator - Saving current state to out/step_500",
                ),
            ),
            facts=("total_steps",),
            postprocess=_of_all_steps,
        ),
    ),
    facts=SCRIPTS.facts,
    samples=(
        Sample("  2%|▏         | 12/600 [00:58<47:05,  4.80s/it]".encode() + _HEAD, step=12, total_steps=600, clock=58),
        Sample(b"  2% 12/600 [00:58<47:05,  1.25it/s]" + _HEAD, step=12, total_steps=600, clock=58),
        NearMiss(b"Evaluating:   2%|#         | 12/600 [00:58<47:05,  4.80s/it]" + _HEAD, "not training"),
        NearMiss(b"100%|##########| 600/600 [47:05<00:00,  4.80s/it]" + _HEAD, "may hold the last checkpoint"),
    ),
)  # fmt: skip
