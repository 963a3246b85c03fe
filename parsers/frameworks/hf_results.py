"""Hugging Face Trainer's `train_results.json` and `all_results.json`: the trainer's own figure for the run, and no step.

The figure holds evaluation and saving. It counts all epochs that were planned, also where a run was ended early: the
number of samples, where the file states it, tells how many they were. For a resumed run it is too high, which nothing in
the file shows but a loss of 0. PaddleNLP's Trainer writes the same file.
"""

import numpy as np

from perfledger.parsers.contract import NUMBER, Columns, Format, NearMiss, Postprocessed, Reading, Sample

#: A key, all of which are in alphabetical order. Transport may take blanks away.
_KEY = rb'\s++"'
_VALUE = rb'\w++": [^"\s]++'
#: What may stand between the epoch and the training; in a part of another file a step stands there.
_OTHERS = rb"(?:" + _KEY + rb'(?!epoch"|step"|train_)' + _VALUE + rb")*+"


def _planned(columns: Columns) -> Postprocessed:
    """Return the summaries, with the planned epochs where a run did not come as far; its last epoch may lack a part."""
    told = {name: each for name, each in columns.items() if name != "_samples"}
    with np.errstate(all="ignore"):
        planned = columns["throughput"] * columns["seconds"] / columns["_samples"]
        early = (planned - columns["epoch"] >= 1) | (columns["epoch"] < planned / 2)
    return np.arange(len(planned)), told | {"total_epochs": np.where(early, planned, np.nan)}


FORMAT = Format(
    title="Hugging Face train_results.json",
    marker=b'"train_samples_per_second": ',
    unproven=True,
    over=("frameworks.hf_trainer_state",),
    document="train_runtime",
    start=rb'\{\s++"epoch": [0-9.]++,' + _OTHERS + _KEY + rb'train_loss": ',
    end=rb'^\s*+"train_runtime": ',
    readings=(
        Reading(
            rb'"epoch": (?P<epoch>' + NUMBER + rb")," + _OTHERS + _KEY + rb'train_loss": <mean_loss>,'
            + rb"(?:" + _KEY + rb'train_(?!loss|runtime)' + _VALUE + rb")*+" + _KEY + rb'train_runtime": <seconds>,'
            + rb"(?:" + _KEY + rb'train_samples": (?P<_samples>[0-9]++),)?+' + _KEY + rb'train_samples_per_second": <throughput>,'
            + _KEY + rb'train_steps_per_second": ',
            unit="samples/s",
            span="run",
            postprocess=_planned,
        ),
    ),
    samples=(
        Sample(
            b'{\n    "epoch": 3.0,\n    "total_flos": 26402678177792.0,\n    "train_loss": 2.5,\n    "train_runtime": 6303.5,\n'
            b'    "train_samples_per_second": 0.475,\n    "train_steps_per_second": 0.059\n}',
            epoch=3, mean_loss=2.5, seconds=6303.5, throughput=0.475,
        ),
        Sample(
            b'{\r\n    "epoch": 3.0,\r\n    "eval_loss": 0.5,\r\n    "eval_samples_per_second": 25.5,\r\n    "train_loss": 2.5,\r\n'
            b'    "train_runtime": 600.5,\r\n    "train_samples": 1000,\r\n    "train_samples_per_second": 4.996,\r\n    "train_steps_per_second": 0.3\r\n}',
            seconds=600.5, throughput=4.996, _samples=1000,
        ),
        NearMiss(
            b'{\n    "epoch": 3.0,\n    "train_accuracy": 0.5,\n    "train_loss": 2.5,\n    "train_runtime": 2.5,\n'
            b'    "train_samples_per_second": 400.0,\n    "train_steps_per_second": 25.0\n}',
            "an evaluation",
        ),
        NearMiss(
            b'    {\n      "epoch": 3.0,\n      "step": 60,\n      "total_flos": 1.25e15,\n      "train_loss": 2.5,\n      "train_runtime": 2.5,\n'
            b'      "train_samples_per_second": 400.0,\n      "train_steps_per_second": 25.0\n    }',
            "a part of another file",
        ),
        NearMiss(b'{\n    "epoch": 3.0,\n    "train_loss": 2.5,\n    "train_runtime": 600.5,\n    "train_samples_per_second": 4.9', "cut inside the number"),
    ),
)  # fmt: skip
