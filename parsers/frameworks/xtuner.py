"""XTuner since 1.0: a line per optimiser step and rank, with the tokens of that rank and its seconds.

`time` is of one step from its batch to the update, and `tgs` the tokens of the rank over it: the wait for data
(`data_time`) stands beside it, and both together are the seconds of a step. Checkpoints and all else between two steps
are in neither. Ranks hold different numbers of tokens; where several print into one log their mean counts, and a log of
rank 0 alone stands for all of them. Later releases also count the tokens of all ranks since the start
(`reduced_consumed_tokens`), and the figure is of these. Padding counts nowhere. Older releases print the lines of
MMEngine, read as MMSegmentation's.
"""

from __future__ import annotations

import numpy as np

from perfledger.parsers.contract import Columns, Fact, Format, Postprocessed, Reading
from perfledger.parsers.frameworks import PYTORCH_JOB

#: A rank may lag by this many steps; a step further back is that of a program that was started again.
_LAG = 3


def _mean_of_ranks(columns: Columns) -> Postprocessed:
    """Return a record per step that as many ranks printed as usual, with their mean and the wait for data."""
    step, waited = columns["step"], columns["step_seconds"] + columns["reader_seconds"]
    columns = {**columns, "step_seconds": waited}
    run = np.cumsum(np.diff(step, prepend=step[:1]) < -_LAG)
    _, first, group, ranks = np.unique(
        np.stack([run, step]), axis=1, return_index=True, return_inverse=True, return_counts=True
    )
    whole = np.flatnonzero(ranks == np.quantile(ranks, 0.5, method="higher"))
    return first[whole], {name: (np.bincount(group.ravel(), each) / ranks)[whole] for name, each in columns.items()}


FORMAT = Format(
    title="XTuner",
    framework="PyTorch",
    marker=b" text_tokens: ",
    unproven=True,
    end=rb"\bTraining finished in [0-9.]++ seconds",
    readings=(
        Reading(
            "[{clock}][INFO]{?[{_}]} {?Epoch {_} }Step {step}/{total_steps} data_time: {reader_seconds} lr: {_} time: {step_seconds} text_tokens: {samples} {?img_tokens: {_} }{total|local}_loss: {*}{? reduced_llm_loss: {loss}{*}} max_memory: {memory:GB}{*} tgs: {_} ",
            unit="tokens/s", scope="device", span="step", counts="update", verbs=(_mean_of_ranks,),
        ),
        Reading(
            "[{clock}][INFO]{?[{_}]} {?Epoch {_} }Step {step}/{total_steps} data_time: {reader_seconds} lr: {_} time: {step_seconds} text_tokens: {_} {?img_tokens: {_} }reduced_consumed_tokens: {consumed} {*}{? reduced_llm_loss: {loss}{*}} max_memory: {memory:GB}{*} tgs: {_} ",
            unit="tokens/s", span="step", counts="update", verbs=(_mean_of_ranks,),
        ),
    ),
    facts=(*PYTORCH_JOB, Fact("accumulation", "grad_accumulation_steps: {:int}$")),
)  # fmt: skip
