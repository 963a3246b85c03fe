"""NGC DeepLearningExamples, PyTorch BERT fine-tuning on SQuAD before DLLogger (`run_squad.py`, until 2020).

Every rank prints a `Step` line per 50 steps of an epoch, with a loss only; their clocks of whole seconds give a throughput.
`training throughput` is added by the wrapper of the benchmark, from a progress bar of which the last rate or count may be
meant: where the clocks contradict it, they are right.
"""

from perfledger.parsers.contract import Format, NearMiss, Reading, Sample
from perfledger.parsers.ngc import BERT_SQUAD, ONE_BATCH_PER_UPDATE

FORMAT = Format(
    title="NGC PyTorch BERT SQuAD (steps)",
    framework="NGC PyTorch",
    marker=b": Loss ",
    start=rb"(?m)^(?:python|torchrun) ++(?:-m torch\.distributed\.launch )?+(?:--nproc_per_node=\d++ )?+run_squad\.py ",
    end=rb"(?m)^ ?+training throughput: ",
    readings=(
        Reading(
            rb"\d\d/\d\d/\d{4} (?P<clock>\d\d:\d\d:\d\d) - INFO - __main__ - {2,}+Step <step>: Loss <loss>, LR ",
            unit="sequences/s",
            repeated=True,
            where=ONE_BATCH_PER_UPDATE,
        ),
        Reading(rb"(?m)^ ?+training throughput: <throughput>(?=\s)", unit="sequences/s", span="run", weak=True, marker=b"raining throughput: "),
    ),
    facts=BERT_SQUAD,
    samples=(
        Sample(b"11/20/2026 10:36:08 - INFO - __main__ -   Step 51: Loss 5.75, LR 0.0 ", step=51, loss=5.75),
        Sample(b" training throughput: 74.25\n", throughput=74.25),
        NearMiss(b"11/20/2026 10:36:08 - INFO - __main__ -     Num steps = 21899", "the plan"),
        NearMiss(b" training throughput: 74.2", "cut inside the number, perhaps"),
    ),
)  # fmt: skip
