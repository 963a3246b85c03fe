"""XTuner since 1.0: a line per optimiser step and rank, with the tokens of that rank and its seconds.

`time` is of one step from its batch to the update, and `tgs` the tokens of the rank over it: the wait for data
(`data_time`) is printed next to it, and both together are the seconds of a step. Checkpoints and all else between two steps
are in neither. Ranks have different numbers of tokens; where several print into one log their mean counts, and a log of
rank 0 alone represents all of them. Later releases also count the tokens of all ranks since the start
(`reduced_consumed_tokens`), and the figure is of these. Padding counts nowhere. Older releases print the lines of
MMEngine, read as MMSegmentation's.
"""

from __future__ import annotations

from perfledger.parsers.contract import Fact, Format, Reading, mean_of_ranks, total
from perfledger.parsers.frameworks import PYTORCH_JOB

#: A rank waits for its data before the seconds of a step.
_SECONDS = total("step_seconds", "step_seconds", "reader_seconds")

FORMAT = Format(
    title="XTuner",
    framework="PyTorch",
    unproven=True,
    end="Training finished in {_} seconds",
    readings=(
        Reading(
            "[{clock}][INFO]{?[{_}]} {?Epoch {_} }Step {step}/{total_steps} data_time: {reader_seconds} lr: {_} time: {step_seconds} text_tokens: {samples} {?img_tokens: {_} }{total|local}_loss: {*}{? reduced_llm_loss: {loss}{*}} max_memory: {memory:GB}{*} tgs: {_} ",
            unit="tokens/s",
            scope="device",
            span="step",
            per_update=True,
            verbs=(_SECONDS, mean_of_ranks("samples", "step_seconds", "reader_seconds", "loss", "memory")),
        ),
        Reading(
            "[{clock}][INFO]{?[{_}]} {?Epoch {_} }Step {step}/{total_steps} data_time: {reader_seconds} lr: {_} time: {step_seconds} text_tokens: {_} {?img_tokens: {_} }reduced_consumed_tokens: {consumed} {*}{? reduced_llm_loss: {loss}{*}} max_memory: {memory:GB}{*} tgs: {_} ",
            unit="tokens/s",
            span="step",
            per_update=True,
            verbs=(_SECONDS, mean_of_ranks("consumed", "step_seconds", "reader_seconds", "loss", "memory")),
        ),
    ),
    facts=(*PYTORCH_JOB, Fact("accumulation", "grad_accumulation_steps: {:int}$")),
)  # fmt: skip
