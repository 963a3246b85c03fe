"""PaddleNLP Trainer (`paddlenlp.trainer`): a line per `logging_steps` optimiser steps.

`interval_samples_per_second` is the throughput of the job since the last line; an evaluation or a checkpoint counts in
the interval that follows it. `train_samples_per_second` of the summary covers the whole run, and is too high for a
resumed one; `eval_samples_per_second` is not training. Tokens are printed per device and include padding; they are
quoted if no samples are printed. Memory is the peak allocated to tensors, in GiB. The summary counts the steps that were
planned, also of a run that stopped early.

The first releases (2022) divide the samples of one update of one device, however many updates and devices the interval
has. Their seconds are read, not their speed. They print learning rates with all digits, later ones with four.

The speed counts the incomplete batch that ends an epoch as a whole one. If epochs have one, only the seconds are read.

`trainer_state.json` contains the same numbers, but does not show the checkpoints.

ERNIEKit, and the pre-training of ERNIE 4.5, print the same as `global_runtime` and `global_samples_per_second`. Their
tokens per second of a card follow from the steps per second, which have four decimals: too few for slow steps.
"""

from __future__ import annotations

import numpy as np

from perfledger.parsers.contract import (
    Columns,
    Fact,
    Format,
    Pause,
    Reading,
    grouped,
)

#: An argument of the list that the program prints, name and value in two columns.
_ARGUMENT = rb"\] - %s ++: ?+%s$"
#: `trainer_state.json` has a line per number, in the order of their names.
_NEXT = rb"[ \t\r]*+\n\s++"
_OTHERS = rb'(?:"(?!(?:learning_rate|loss|step)")[\w/.-]++": [^\s,]++,' + _NEXT + rb")*+"
_ROW = (
    rb'"interval_runtime": <duration>,' + _NEXT + rb'"interval_samples_per_second": <throughput>,' + _NEXT
    + _OTHERS
    + rb'(?:"learning_rate": <_learning_rate>,' + _NEXT + rb")?+" + _OTHERS
    + rb'"loss": <loss>,' + _NEXT + _OTHERS + rb'"step": <step>(?=\s)'
)  # fmt: skip

#: Learning rates that later releases print have four digits.
_DIGITS = "%.3e"


def _without_rests(columns: Columns) -> Columns:
    """Drop the speeds if the run has steps for more samples than its epochs: they count a rest as a whole batch."""
    counted = columns["_total_steps"] * columns["_batch_size_of_job"]
    drops = (counted > columns["_data_set_size"] * columns["_total_epochs"]).any()
    return columns.drop("throughput") if drops else columns


def _of_job(columns: Columns) -> Columns:
    """Drop the speeds of the first releases, which count one update of one device; their learning rates have all digits."""
    rates = columns["_learning_rate"]
    drops = any(float(_DIGITS % each) != each for each in rates[np.isfinite(rates)].tolist())
    return columns.drop("throughput") if drops else columns


#: An evaluation or a checkpoint counts in the interval that follows it.
PAUSES = (
    Pause("evaluation", rb'eval_loss"?+: '),
    Pause("evaluation", "***** Running Evaluation"),
    Pause("checkpoint", "Saving model checkpoint to "),
)

#: Facts that the trainer prints when it starts; benchmarks made of it print them too, before other lines.
HEAD = (
    Fact("model", _ARGUMENT % (rb"model_name_or_path", rb"(?:[^\s/]++/)*+([\w.+-]++)/?+")),
    Fact("batch_size", "Instantaneous batch size per device = {:,}"),
    Fact("batch_size_of_job", "Total train batch size (w. parallel, distributed & accumulation) = {:,}"),
    Fact("accumulation", "Gradient Accumulation steps = {:,}"),
    Fact("devices", _ARGUMENT % (rb"world_size", rb"([0-9]++)"), int),
    Fact("tensor_parallel", _ARGUMENT % (rb"tensor_parallel_degree", rb"([0-9]++)"), int),
    Fact("pipeline_parallel", _ARGUMENT % (rb"pipeline_parallel_degree", rb"([0-9]++)"), int),
    Fact("sequence_length", _ARGUMENT % (rb"max_seq_length", rb"([0-9]++)"), int),
    Fact("precision", _ARGUMENT % (rb"bf16", rb"(\w++)"), words={b"True": "bf16"}),
    # The list is in the order of names.
    Fact("precision", _ARGUMENT.replace(b"$", rb"[ \t\r]*+\n[^\n]*?") % (rb"fp16", rb"True") + _ARGUMENT % (rb"fp16_opt_level", rb"(O2)"), words={b"O2": "fp16"}),
    Fact("precision", _ARGUMENT % (rb"fp16", rb"(\w++)"), words={b"True": "amp", b"False": "fp32"}),
)  # fmt: skip

FORMAT = Format(
    title="PaddleNLP Trainer",
    framework="PaddlePaddle",
    start="INFO] - ***** Running training *****",
    before_start=rb"\] - =++\[Trainer|\] - (?:Model|Data|Training|Pre-Training|Finetune) Configuration Arguments|" + _ARGUMENT % (rb"\w++", rb"[^\n]*?"),
    end=rb"\[ *+INFO\] - train_runtime: |Training completed\.",
    over=("frameworks.hf_trainer_state",),
    readings=(
        Reading(
            "loss: {loss}, {?learning_rate: {_learning_rate}, }{*}global_step: {step}, {?{*}max_memory_allocated: {memory:in GiB}, }{*}interval_runtime: {duration}, interval_samples_per_second: {throughput}, ",
            unit="samples/s",
            per_update=True,
            pauses=PAUSES,
            verbs=(_of_job, _without_rests),
        ),
        Reading(
            _ROW,
            unit="samples/s",
            per_update=True,
            pauses=PAUSES[:1],
            verbs=(_of_job, _without_rests),
        ),
        Reading(
            "loss: {loss}, {*}global_step: {step}, {*}interval_runtime: {_}, interval_tokens_per_second_per_device: {throughput}, ",
            unit="tokens/s",
            scope="device",
            per_update=True,
            pauses=PAUSES,
        ),
        Reading(
            # The speed counts all planned steps, also after an early stop; the epoch shows how far the run came.
            rb"(?<!\S)train_runtime: <seconds>, train_samples_per_second: <throughput>(?=,)"
            rb"(?:, (?!epoch: |progress_or_epoch: )\w++: [^\s,]++)*+(?:, (?:progress_or_)?+epoch: (?P<epoch>[0-9.]++)(?=[\s,]))?+",
            unit="samples/s",
            span="run",
        ),
        # ERNIEKit.
        Reading(
            "loss: {loss}, {*}global_step: {step}, {?{*}max_mem_allocated_gb: {memory:in GiB}, }{*}global_runtime: {duration}, global_samples_per_second: {throughput}, ",
            unit="samples/s",
            per_update=True,
            pauses=PAUSES,
            verbs=(_without_rests,),
        ),
    ),
    facts=(
        *HEAD,
        Fact("parameters", "Number of trainable parameters = {:,}"),
        Fact("resumed_from", "Continuing training from {?global }step {:,}"),
        Fact("data_set_size", rb"\] ++- ++Num examples = ([0-9,]++)[ \t]*+\r?\n(?=[^\n]{0,200}? Num Epochs = )", grouped),
        Fact("total_epochs", "]  -  Num Epochs = {:,}"),
        Fact("total_steps", "Total optimization steps = {:,}"),
        Fact("total_steps", rb'^ ++"max_steps": ([0-9]++),$', int),
    ),
)  # fmt: skip
