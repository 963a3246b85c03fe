"""MiniLLM and what was made of its fine-tuning (DistiLLM and other distillation): the seconds of an update, at intervals.

`step time` is the mean over the updates of the interval, of all batches that one accumulates. Between lines of that kind
stand others of single batches, whose `step time` is 0. The timer runs within a batch: the wait for data, evaluations and
checkpoints are in no record. The file `log.txt` holds the lines alone, without the arguments.
"""

from perfledger.parsers.contract import Fact, Format, NearMiss, Reading, Sample
from perfledger.parsers.frameworks import PYTORCH_JOB

_HEAD = rb"train \| epoch ++<epoch> \| Iter: ++[0-9]++/ *+[0-9]++ \| global iter: ++<step>/ *+<total_steps> \| loss: <loss> \|"

FORMAT = Format(
    title="MiniLLM",
    framework="PyTorch",
    marker=b" | micro time: ",
    unproven=True,
    start=rb"(?m:^)arguments:\n(?=(?: *+\w++ \.++ [^\n]*+\n){0,400}? *+gradient_accumulation_steps \.++ )",
    before_start=rb"^using world size: ",
    readings=(
        Reading(
            _HEAD + rb"(?:(?! micro time: )[^|\r\n]{0,80}+\|){0,30}+ micro time: [0-9.]++ \| step time: (?!0\.0++\s)<step_seconds>(?=\s)",
            unit="samples/s", counts="update",
        ),
    ),
    facts=(
        *PYTORCH_JOB,
        Fact("batch_size", rb"^ *+batch_size \.++ ([0-9]++)$", int),
        Fact("accumulation", rb"^ *+gradient_accumulation_steps \.++ ([0-9]++)$", int),
        Fact("sequence_length", rb"^ *+max_length \.++ ([0-9]++)$", int),
        Fact("model", rb"^ *+model_path \.++ (\S++)$"),
    ),
    samples=(
        Sample(
            b"train | epoch   0 | Iter:     64/  7140 | global iter:     16/  1785 | loss: 2.2500 | ds_loss: 1.1250 | lr: 5.0000e-06 | scale:  2048.0000 | "
            b"micro time: 0.250 | step time: 1.025\n",
            epoch=0, step=16, total_steps=1785, loss=2.25, step_seconds=1.025,
        ),
        NearMiss(
            b"train | epoch   0 | Iter:     61/  7140 | global iter:     16/  1785 | loss: 2.2500 | ds_loss: 1.1250 | lr: 5.0000e-06 | scale:  2048.0000 | "
            b"micro time: 0.250 | step time: 0.000\n",
            "a batch within an update",
        ),
        NearMiss(
            b"train | epoch   0 | Iter:     64/  7140 | global iter:     16/  1785 | loss: 2.2500 | lr: 5.0000e-06 | scale:  2048.0000 | micro time: 0.250 | step time: 1.0",
            "cut inside the number",
        ),
        NearMiss(b"dev | avg_loss: 2.125 | {'exact_match': 4.5, 'rougeL': 24.25}\n", "an evaluation"),
    ),
)  # fmt: skip
