"""Hugging Face Trainer's `trainer_state.json`: losses by step, and at the end the trainer's own figure for the run.

The steps have no time, so that figure, which includes evaluation and saving, is the only one; a state that was saved at
a checkpoint lacks it. For a resumed run it counts the earlier training, too, and is too high. The earlier losses stay
in the file, but `train_loss` is the sum of those since the restart, over the steps of the whole run.
`train_batch_size` is that of a process, which may drive several devices.
"""

from perfledger.parsers.contract import Fact, Format, Reading

_NEXT = rb"[ \t\r]*+\n\s++"

FORMAT = Format(
    title="Hugging Face trainer_state.json",
    framework="PyTorch",
    needs=b'"step": ',
    over=("frameworks.nvlog",),
    start=rb'(?m)^ ++"best_metric": ',
    before_start=rb'^\{\s++"best_',
    end=rb'^ ++"total_flos": [-+.0-9e]++,\s++"train_loss": ',
    readings=(
        Reading(rb'"loss": <loss>,' + _NEXT + rb'(?:"(?!loss")[\w/.-]++": [-+.0-9e]++,' + _NEXT + rb')*+"step": <step>' + rb"(?=\s)", unit="samples/s"),
        # An evaluation on the training data has the same keys, except the number of operations.
        Reading(
            '"total_flos": {_},\n  {?"train_loss": {_},\n  }"train_runtime": {seconds},\n  "train_samples_per_second": {throughput},\n  "train_steps_per_second": ',
            unit="samples/s",
            span="run",
        ),
        # The history as other programs write it, in chronological order.
        Reading(
            '"train_runtime": {seconds},\n  "train_samples_per_second": {throughput},\n  "train_steps_per_second": {_},\n  "total_flos": ',
            unit="samples/s",
            span="run",
        ),
        Reading(
            '"step": {step},\n  "total_flos": {_},\n  "train_loss": {mean_loss},\n  "train_runtime": ',
            span="run",
            weak=True,
        ),
    ),
    facts=(
        Fact("total_steps", rb'^ ++"max_steps": ([0-9]++),$', int),
        Fact("total_epochs", rb'^ ++"num_train_epochs": ([0-9]++),$', int),
    ),
)  # fmt: skip
