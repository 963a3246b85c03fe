"""NGC DeepLearningExamples, PyTorch DLRM (`dlrm.scripts.main`): a line per `--print_freq` steps.

From the printer's source; no real log has been read yet. `step_time` is the time of the printed step, with the wait for
its data. The time of the other steps is only in the seconds of the epoch, which include the evaluations and are whole
numbers. `batch_size` is that of the job. `average_train_throughput` is the speed of the last printed step.
"""

from perfledger.parsers.contract import Fact, Format, Reading
from perfledger.parsers.frameworks import PYTORCH_JOB
from perfledger.parsers.ngc import ONE_NODE, TF32

FORMAT = Format(
    title="NGC PyTorch DLRM",
    framework="NGC PyTorch",
    unproven=True,
    over=("frameworks.dllogger_text",),
    needs=b"  step_time: ",
    start=" - PARAMETER {*}embedding_dim : ",
    end=" - () best_auc : ",
    readings=(
        Reading(
            "Epoch:[{epoch}/{total_epochs}] [{step}/{total_steps}]  eta: {*} loss: {loss} step_time: {step_seconds} lr: ",
            unit="samples/s",
            span="step",
        ),
        Reading(
            "Finished epoch {epoch} in {duration:length}. ",
            unit="samples/s", span="epoch", weak=True,
        ),
        Reading(
            " - () best_auc : {_} best_epoch : {_} average_train_throughput : {throughput}",
            unit="samples/s", span="run", weak=True,
        ),
    ),
    facts=(
        *TF32,
        Fact("model", rb"(?:^| )(embedding_dim : )", lambda _: "DLRM"),
        Fact("batch_size_of_job", " - PARAMETER {*}batch_size : {:int}"),
        Fact("precision", " - PARAMETER {*}amp : {}", words={b"True": "amp", b"False": "fp32"}),
        *PYTORCH_JOB,
        ONE_NODE,
    ),
)  # fmt: skip
