"""autoresearch (`train.py`): the block at the end of a run, for logs that contain this block alone.

Source: `train.py` of autoresearch, March 2026. `training_seconds` leave out the first eleven steps, which compile, and
the evaluation at the end; `total_tokens_M` counts all steps. The lines of the steps are those of nanochat.
"""

from __future__ import annotations

from perfledger.parsers.contract import Columns, Format, Reading

#: Steps before the timer of a run begins.
_UNTIMED = 11
_MILLION = 1e6


def _timed(columns: Columns) -> Columns:
    """Add the tokens per second of the steps that are timed."""
    steps = columns["_steps"]
    speed = _MILLION * columns["_tokens"] * (steps - _UNTIMED) / steps / columns["seconds"]
    return columns.assign(throughput=speed).take(steps > _UNTIMED)


FORMAT = Format(
    title="autoresearch",
    unproven=True,
    start="^val_bpb: ",
    end=rb"^num_params_M: ",
    readings=(
        Reading(
            "training_seconds: {seconds}\ntotal_seconds:  {_}\npeak_vram_mb:  {_}\nmfu_percent:  {_}\ntotal_tokens_M: {_tokens}\nnum_steps: {_steps}",
            unit="tokens/s",
            span="run",
            weak=True,
            verbs=(_timed,),
        ),
    ),
)
