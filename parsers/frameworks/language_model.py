"""PyTorch's `word_language_model`, AWD-LSTM, Transformer-XL and scripts made of them: milliseconds per batch, for the job.

They are the mean over the `log_interval` batches of a line. The examples of PyTorch restart their timer with each
epoch, after the evaluation; that of Transformer-XL runs on, also while it evaluates and saves, and its step goes on
from epoch to epoch. A batch is as many sequences, of `bptt` or `tgt_len` tokens, as its size says, on all devices.
"""

from __future__ import annotations

from perfledger.parsers.contract import EPOCH_TIMER, Fact, Format, Pause, Reading

FORMAT = Format(
    title="PyTorch language models",
    framework="PyTorch",
    unproven=True,
    start=rb"(?m:^)Args: Namespace\((?=[^\n]{0,3000}?\bbptt=)|(?m:^)    - data : ",
    readings=(
        Reading(
            "| epoch {epoch} | {step}/{total_steps} batches | {?lr {_} | }ms/batch {step_seconds:in ms} | loss {loss}",
            unit="sequences/s", pauses=(EPOCH_TIMER,),
        ),
        Reading(
            "| epoch {epoch} step {step} |  {_} batches | {?lr {_} | }ms/batch {step_seconds:in ms} | loss {loss}",
            unit="sequences/s",
            pauses=(Pause("evaluation", "| Eval "),),
        ),
    ),
    facts=(
        Fact("batch_size_of_job", "- batch_size : {:int}$"),
        Fact("batch_size_of_job", rb"^(?:Args: )?+Namespace\((?:[^\n)b]++|(?<![( ])b|b(?!atch_size=))*+batch_size=([0-9]++)", int),
        Fact("sequence_length", "- tgt_len : {:int}$"),
        Fact("total_steps", "- max_step : {:int}$"),
        Fact("parameters", "^#params = {:int}$"),
    ),
)  # fmt: skip
