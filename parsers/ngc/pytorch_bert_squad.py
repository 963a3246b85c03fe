"""NGC DeepLearningExamples, PyTorch BERT fine-tuning on SQuAD (`run_squad.py`, since 2020): bars, and a line per 50 steps.

A bar prints the whole seconds since the epoch began, after one or several steps. Without bars the clocks of the
DLLogger lines, which print only losses, give a throughput. Their steps continue from epoch to epoch, but lines are
counted from the beginning of each epoch, so the number of steps between lines varies. `training_sequences_per_second`
is `max_steps` times the batch of the job over the time, even if the epochs end before `max_steps`: on many devices it
is up to several times too high, and the seconds of the steps are right. It includes the warm-up, too.
`train_batch_size` is that of a device. `amp` means O2 of Apex, as does `fp16`.
"""

from perfledger.parsers.contract import EPOCH_END, Format, Reading, up_to
from perfledger.parsers.ngc import BERT_SQUAD, ONE_BATCH_PER_UPDATE, SQUAD_BAR

_CONFIG = rb" - PARAMETER Config : "

FORMAT = Format(
    title="NGC PyTorch BERT SQuAD",
    framework="NGC PyTorch",
    over=("frameworks.dllogger_text", "frameworks.hf_iteration", "ngc.pytorch_bert_squad_steps"),
    needs=b"step_loss : ",
    start=_CONFIG + up_to(rb"doc_stride=", _CONFIG),
    before_start=rb"^(?:python3?|torchrun) |^device: \S++ n_gpu: |key:store_based_barrier_key:1 ",
    end="training_sequences_per_second : ",
    readings=(
        SQUAD_BAR,
        Reading(
            "DLL {clock} - Training Epoch: {epoch} Training Iteration: {step} step_loss : {loss}",
            unit="sequences/s",
            pauses=(EPOCH_END,),
            where=ONE_BATCH_PER_UPDATE,
        ),
        Reading(
            "-  e2e_train_time : {seconds}{? s} training_sequences_per_second : {throughput}{? sequences/s} final_loss : {_}{? None}$",
            unit="sequences/s",
            span="run",
            untrue=("summary",),
        ),
    ),
    facts=BERT_SQUAD,
)  # fmt: skip
