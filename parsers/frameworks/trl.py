"""TRL over the Hugging Face Trainer: `'num_tokens': 32768.0` in its dictionaries, with the time of the bar.

The tokens are those of the job since the start: of all prompts and responses, or of the samples without padding. The bar
of the same step is drawn again after the dictionary; the differences of both are tokens over seconds. In buffered output
the dictionaries are apart from their bars, and do not count. transformers 5 prints floats in quotes and with four digits
(`'1.04e+04'`), too coarse for differences: such a log is the Trainer's. The Trainer's format describes all other lines.
Until autumn 2026 each device of a tensor-parallel group counts the same tokens: a log that states such a group has no
figure of tokens.
"""

from __future__ import annotations

import numpy as np

from perfledger.parsers.contract import Columns, Format, Reading, lacks, silent_checkpoints
from perfledger.parsers.frameworks import SEVERAL
from perfledger.parsers.frameworks.hf_trainer import FORMAT as TRAINER


def with_tokens(tokens: bytes) -> bytes:
    """Return the pattern of a dictionary that states tokens since the start, with the bar after it, if one follows.

    In quotes they have four digits. The first few thousand are exact nevertheless, but are those of the warm-up.
    """
    return (
        rb"\{'loss': [^,\r\n]{1,40}+,(?:(?!'%s': |\{'loss': )[^\r\n])*+'%s': (?P<consumed>[1-9][0-9]*+(?:\.[0-9]++)?+)[,}]"
        rb"(?:(?:(?!\{'loss': )[^\r\n])*+\s++[0-9]++%%(?:\|[^|\r\n]{0,400}+\|)?+ <step>/<total_steps> \[(?P<elapsed>[0-9:]++)<)?+"
    ) % (tokens, tokens)


def with_bar(columns: Columns) -> Columns:
    """Keep the dictionaries that state tokens and have the bar of their step; drop all if many have no bar."""
    step = columns["step"]
    new = np.diff(columns["consumed"], prepend=np.nan) != 0
    rows = np.flatnonzero(new & np.isfinite(step))
    if len(rows) < _WITH_BAR * new.sum() or (np.diff(step[rows]) <= 0).sum() > (1 - _WITH_BAR) * len(rows):
        rows = rows[:0]
    return columns.take(rows)


#: Share of the dictionaries that must have a bar: in buffered output it is that of another step.
_WITH_BAR = 0.9

FORMAT = Format(
    title="TRL",
    framework="PyTorch",
    start=TRAINER.start,
    before_start=TRAINER.before_start,
    end=TRAINER.end,
    over=("frameworks.hf_trainer",),
    readings=(
        Reading(
            with_tokens(rb"num_tokens"),
            unit="tokens/s",
            per_update=True,
            pauses=TRAINER.main.pauses,
            # Until the autumn of 2026 each device that shares the layers of a model counts the same tokens.
            where=lacks(rb"\btp_size[\"']?+(?:=|: ?+| )" + SEVERAL),
            verbs=(with_bar, silent_checkpoints),
        ),
    ),
    facts=TRAINER.facts,
)  # fmt: skip
