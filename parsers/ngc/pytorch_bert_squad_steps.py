"""NGC DeepLearningExamples, PyTorch BERT fine-tuning on SQuAD before DLLogger (`run_squad.py`, until 2020).

Every rank draws a bar with the whole seconds since the epoch began, and prints a `Step` line per 50
steps of an epoch, with a loss only: without bars, the clocks of these lines give a throughput. `training throughput` is
added by the wrapper of the benchmark, from the last rate of a bar or from its count: where the seconds of the steps
contradict it, they are right.
"""

from perfledger.parsers.contract import Format, Reading
from perfledger.parsers.ngc import BERT_SQUAD, ONE_BATCH_PER_UPDATE, SQUAD_BAR

FORMAT = Format(
    title="NGC PyTorch BERT SQuAD (steps)",
    framework="NGC PyTorch",
    over=("frameworks.hf_iteration", "ngc.pytorch_bert_squad"),
    needs=b": Loss ",
    start=rb"(?m)^(?:python|torchrun) ++(?:-m torch\.distributed\.launch )?+(?:--nproc_per_node=\d++ )?+run_squad\.py ",
    end=rb"(?m)^ ?+training throughput: ",
    readings=(
        SQUAD_BAR,
        Reading(
            "{clock} - INFO - __main__ -  Step {step}: Loss {loss}, LR ",
            unit="sequences/s",
            ranks="median",
            where=ONE_BATCH_PER_UPDATE,
        ),
        Reading(
            "training throughput: {throughput}", unit="sequences/s", span="run", weak=True,
            untrue=("summary",),
        ),
    ),
    facts=BERT_SQUAD,
)  # fmt: skip
