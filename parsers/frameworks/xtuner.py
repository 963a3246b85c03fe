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

from perfledger.parsers.contract import Columns, Fact, Format, NearMiss, Postprocessed, Reading, Sample, up_to
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


_AGAIN = rb"\bStep [0-9]"
_HEAD = (
    rb"\[(?P<clock>\d{4}-\d\d-\d\d \d\d:\d\d:\d\d)\]\[INFO\](?:\[[^\]\r\n]*+\])?+ (?:Epoch [0-9]++ )?+"
    rb"Step <step>/<total_steps> data_time: <reader_seconds> lr: [-+.0-9e]++ time: <step_seconds> "
    rb"text_tokens: "
)  # fmt: skip
_LOSS = rb"(?:" + up_to(rb"\breduced_llm_loss: ", _AGAIN) + rb"<loss>(?=[ ,]))?+"
_MEMORY = up_to(rb" max_memory: ", _AGAIN) + rb"<memory> GB "
_TGS = up_to(rb" tgs: ", _AGAIN) + rb"[0-9.]++ "

FORMAT = Format(
    title="XTuner",
    framework="PyTorch",
    marker=b" text_tokens: ",
    unproven=True,
    end=rb"\bTraining finished in [0-9.]++ seconds",
    readings=(
        Reading(
            _HEAD + rb"(?P<samples>[0-9.]++) (?!(?:img_tokens: \S++ )?+reduced_consumed_tokens: )" + _LOSS + _MEMORY + _TGS,
            unit="tokens/s", scope="device", span="step", counts="update", factors={"memory": 1024}, postprocess=_mean_of_ranks,
        ),
        Reading(
            _HEAD + rb"[0-9.]++ (?:img_tokens: \S++ )?+reduced_consumed_tokens: <consumed> " + _LOSS + _MEMORY + _TGS,
            unit="tokens/s", span="step", counts="update", factors={"memory": 1024}, postprocess=_mean_of_ranks,
        ),
    ),
    facts=(*PYTORCH_JOB, Fact("accumulation", rb"\bgrad_accumulation_steps: ([0-9]++)$", int)),
    samples=(
        Sample(
            b"[XTuner][RANK 2][2026-11-20 09:17:51][INFO] Step 1/100 data_time: 0.0578 lr: 0.000020 time: 5.0000 text_tokens: 4000.0 "
            b"total_loss: 1.722 reduced_llm_loss: 1.684 max_memory: 16.00 GB reserved_memory: 17.87 GB grad_norm: 13.948 tgs: 800.0 e2e_tgs: 790.1 \n",
            clock=1795166271, step=1, total_steps=100, reader_seconds=0.0578, step_seconds=5, samples=4000, loss=1.684, memory=16384,
        ),
        Sample(
            b"[XTuner][RANK 0][2026-11-20 09:17:51][INFO] Epoch 1 Step 2/100 data_time: 0.0400 lr: 2.000000e-05 time: 1.0000 text_tokens: 4096 "
            b"img_tokens: 512.0 reduced_consumed_tokens: 65536 local_loss: 1.72200000, reduced_llm_loss: 1.68400000, efficient_attn_ratio: 0.5 "
            b"grad_norm: 13.94800000 max_memory: 16.00 GB reserved_memory: 17.87 GB tgs: 4096.0 exp_tgs: 4000.0 e2e_tgs: 4000.0 "
            b"est_global_batch_tokens: 32768 eta: 0:03:00 \n",
            clock=1795166271, step=2, total_steps=100, step_seconds=1, consumed=65536, loss=1.684, memory=16384,
        ),
        NearMiss(
            b"Rank0 Step 3: data_time: 0.0100 time: 2.0000 text_tokens: 4096 step_consumed_tokens: 32768 total_consumed_tokens: 98304 "
            b"grad_norm: 1.00000000 max_memory: 16.00 GB reserved_memory: 17.87 GB tgs: 2048.0000\n",
            "the cold start of reinforcement learning",
        ),
        NearMiss(
            b"[XTuner][RANK 2][2026-11-20 09:17:51][INFO] Step 1/100 data_time: 0.0578 lr: 0.000020 time: 5.0000 text_tokens: 4000.0 "
            b"total_loss: 1.722 reduced_llm_loss: 1.684 max_memory: 16.00 GB reserved_memory: 17.87 GB grad_norm: 13.948 tgs: 80",
            "cut inside the number",
        ),
    ),
)  # fmt: skip
