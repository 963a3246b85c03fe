"""MiniLLM and what was made of its fine-tuning (DistiLLM and other distillation): the seconds of an update, at intervals.

`step time` is the mean over the updates of the interval, of all batches that one accumulates. Between lines of that kind
are others of single batches, whose `step time` is 0. The timer runs within a batch: the wait for data, evaluations and
checkpoints are in no record. The file `log.txt` contains the lines alone, without the arguments.
"""

from perfledger.parsers.contract import Fact, Format, Reading
from perfledger.parsers.frameworks import PYTORCH_JOB

_HEAD = rb"train \| epoch ++<epoch> \| Iter: ++[0-9]++/ *+[0-9]++ \| global iter: ++<step>/ *+<total_steps> \| loss: <loss> \|"

FORMAT = Format(
    title="MiniLLM",
    framework="PyTorch",
    unproven=True,
    start=rb"(?m:^)arguments:(?=(?:[^\n]*+\n){1,400}? *+gradient_accumulation_steps \.++ )",
    before_start="^using world size: ",
    readings=(
        Reading(
            _HEAD + rb"(?:(?! micro time: )[^|\r\n]{0,80}+\|){0,30}+ micro time: [0-9.]++ \| step time: (?!0\.0++\s)<step_seconds>(?=\s)",
            unit="samples/s", per_update=True,
        ),
    ),
    facts=(
        *PYTORCH_JOB,
        Fact("batch_size", rb"^ *+batch_size \.++ ([0-9]++)$", int),
        Fact("accumulation", rb"^ *+gradient_accumulation_steps \.++ ([0-9]++)$", int),
        Fact("sequence_length", rb"^ *+max_length \.++ ([0-9]++)$", int),
        Fact("model", rb"^ *+model_path \.++ (\S++)$"),
    ),
)  # fmt: skip
