"""Hugging Face Trainer's `train_results.json` and `all_results.json`: the trainer's own figure for the run, without steps.

The figure includes evaluation and saving. It counts all planned epochs, also if a run ended early: the number of samples,
if the file states it, shows how many they were. For a resumed run it is too high; only a loss of 0 shows that. PaddleNLP's
Trainer writes the same file.
"""

import numpy as np

from perfledger.parsers.contract import NUMBER, Columns, Format, Reading

#: A key; the keys are in alphabetical order. Transport may take blanks away.
_KEY = rb'\s++"'
_VALUE = rb'\w++": [^"\s]++'
#: Other keys between the epoch and the training; a part of another file has a step there.
_OTHERS = rb"(?:" + _KEY + rb'(?!epoch"|step"|train_)' + _VALUE + rb")*+"


def _planned(columns: Columns) -> Columns:
    """Add the planned epochs to the summary of a run that ended before them; its last epoch may lack a part."""
    planned = columns["throughput"] * columns["seconds"] / columns["_samples"]
    early = (planned - columns["epoch"] >= 1) | (columns["epoch"] < planned / 2)
    return columns.assign(total_epochs=np.where(early, planned, np.nan))


FORMAT = Format(
    title="Hugging Face train_results.json",
    unproven=True,
    over=("frameworks.hf_trainer_state",),
    start=rb'"epoch": [0-9.]++,' + _OTHERS + _KEY + rb'train_loss": ',
    end=rb'^\s*+"train_runtime": ',
    readings=(
        Reading(
            rb'"epoch": (?P<epoch>' + NUMBER + rb")," + _OTHERS + _KEY + rb'train_loss": <mean_loss>,'
            + rb"(?:" + _KEY + rb'train_(?!loss|runtime)' + _VALUE + rb")*+" + _KEY + rb'train_runtime": <seconds>,'
            + rb"(?:" + _KEY + rb'train_samples": (?P<_samples>[0-9]++),)?+' + _KEY + rb'train_samples_per_second": <throughput>,'
            + _KEY + rb'train_steps_per_second": ',
            unit="samples/s",
            span="run",
            verbs=(_planned,),
        ),
    ),
)  # fmt: skip
