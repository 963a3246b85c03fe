"""NVIDIA NeMo over Lightning until 2023, and AWS's fork for Trainium: bars that print no `train_step_timing`.

The time is that of the bar, in whole seconds since the epoch began. It contains the wait for data, the validations and the
checkpoints. A step is an update of the global batch, of all devices; `global_step` is printed late, so that the count
of the bar is the step. `consumed_samples` is rounded to three digits: over all of the run it shows whether the steps
contain the stated batch, which may still grow. The `iteration_time` of the fork, which leaves out what it logs, is not
read. A state is drawn several times.
"""

from __future__ import annotations

from perfledger.parsers.contract import Format, Pause, Reading, lacks
from perfledger.parsers.frameworks.nemo import FORMAT as NEMO

FORMAT = Format(
    title="NeMo's bars without a timing",
    framework="NeMo",
    unproven=True,
    start=NEMO.start,
    before_start=NEMO.before_start,
    end=NEMO.end,
    readings=(
        Reading(
            "Epoch {epoch}:{*}%|{*}| {step}/{total_steps} [{elapsed}<{_},{*} reduced_train_loss={loss},{*} consumed_samples={_}",
            where=lacks("train_step_timing in s="),
            unit="samples/s",
            per_update=True,
            ranks="median",
            pauses=(
                Pause("evaluation", rb"Validati(?:on(?: DataLoader [0-9]++)?+|ng): "),
                Pause("checkpoint", ", saving model to '"),
            ),
        ),
    ),
    facts=NEMO.facts,
)  # fmt: skip
