"""NVIDIA NeMo over Lightning until 2023, and AWS's fork for Trainium: bars that print no `train_step_timing`.

The time is that of the bar, in whole seconds since the epoch began. It holds the wait for data, the validations and the
checkpoints. A step is an update of the global batch, of all devices; `global_step` is printed late, so that the count
of the bar is the step. `consumed_samples` is rounded to three digits: over all of the run it tells whether the steps
hold the stated batch, which may still grow. The `iteration_time` of the fork, which leaves out what it logs, is not
read. A state is drawn several times.
"""

from __future__ import annotations

import numpy as np

from perfledger.parsers.contract import Columns, Format, NearMiss, Pause, Postprocessed, Reading, Sample, is_private
from perfledger.parsers.frameworks.nemo import FORMAT as NEMO

#: Batches are others by more than this share, beside that by which a count of three digits may be off.
_OTHER, _ROUNDED = 0.05, 0.005


def _counted(columns: Columns) -> Postprocessed:
    """Return all states, with the samples of a step where those that are counted are not the stated ones.

    They are a mean over all states behind the first fifth.
    """
    rows = np.arange(len(columns["step"]))
    found = {name: each for name, each in columns.items() if not is_private(name)}
    first = len(rows) // 5
    counts, steps = (columns[name][[first, -1]] for name in ("_consumed", "step"))
    with np.errstate(all="ignore"):
        batch = (counts[1] - counts[0]) / (steps[1] - steps[0])
        off = _OTHER + _ROUNDED * counts.sum() / (counts[1] - counts[0])
        ratio = batch / columns["_batch_size_of_job"][0]
    one_epoch = (np.diff(columns["step"]) >= 0).all()  # The bar counts those of an epoch.
    if not (one_epoch and batch > 0 and np.isfinite(ratio) and abs(np.log(ratio)) > np.log1p(off)):
        return rows, found
    return rows, {**found, "batch": np.full(len(rows), batch)}


FORMAT = Format(
    title="NeMo's bars without a timing",
    framework="NeMo",
    marker=b", consumed_samples=",
    unproven=True,
    start=NEMO.start,
    before_start=NEMO.before_start,
    end=NEMO.end,
    readings=(
        Reading(
            rb"Epoch <epoch>: (?:: )?+ *+[0-9]++%\|[^|\r\n]{0,400}+\| (?P<step>[1-9][0-9]*+)/<total_steps> \[(?P<elapsed>[0-9:]++)<(?![^\r\n\]\[]*?train_step_timing in s=)(?=[^\r\n\]\[]*?, consumed_samples=(?P<_consumed>[0-9.e+]++))[^\r\n\]\[]*?, reduced_train_loss=<loss>[^\r\n\]\[]*+\]",
            unit="samples/s",
            counts="update",
            repeated=True,
            postprocess=_counted,
            facts=("batch_size_of_job",),
            pauses=(
                Pause("evaluation", rb"Validati(?:on(?: DataLoader [0-9]++)?+|ng): ", b"Validating: 100%|##########| 50/50 [00:20<00:00,  2.50it/s]"),
                Pause(
                    "checkpoint",
                    rb", saving model to '",
                    b"Epoch 0, global step 100: 'reduced_train_loss' reached 5.90625 (best 5.90625), saving model to 'gpt.ckpt' as top 1",
                ),
            ),
        ),
    ),
    facts=NEMO.facts,
    samples=(
        Sample(
            b"Epoch 0:   1%|          | 795/77225 [9:07:58<878:01:48, 41.25s/it, loss=3.1, v_num=, reduced_train_loss=3.125, global_step=794.0, "
            b"consumed_samples=1.63e+6]\n",
            epoch=0, step=795, total_steps=77225, clock=32878, loss=3.125,
        ),
        Sample(
            b"Epoch 0:  22%|##1       | 4499/20101 [22:26:14<77:48:37, 17.95s/it, loss=2.43, v_num=5563, reduced_train_loss=2.500, "
            b"gradient_norm=0.125, parameter_norm=1864.0, global_step=4512.0, consumed_samples=1.16e+6, iteration_time=16.50]\n",
            step=4499, clock=80774, loss=2.5,
        ),
        NearMiss(
            b"Validating:  22%|##1       | 11/50 [00:05<00:18,  2.12it/s]",
            "a validation",
        ),
        NearMiss(
            b"Epoch 0:   1%|          | 795/77225 [9:07:58<878:01:48, 41.25s/it, loss=3.1, v_num=, reduced_train_loss=3.125, global_step=794.0, consumed_samp",
            "cut inside the state",
        ),
    ),
)  # fmt: skip
