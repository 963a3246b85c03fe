"""NGC DeepLearningExamples, PaddlePaddle BERT pre-training (`run_pretraining.py`): DLLogger's text or JSON.

From the printer's source alone: no real log has been read yet. Unlike all other programs of the collection it prints
the sequences per second of one device, with the seconds and the sequences that they come from; the sequences are those
of all passes that are merged into an update. A checkpoint lies within the seconds that are printed after it, and only
the text mentions it. `training_sequences_per_second` is that of the job, and includes the checkpoints; in JSON its line is
that of PyTorch's BERT, and is not read.
"""

from perfledger.parsers.contract import Fact, Format, Pause, Reading, up_to
from perfledger.parsers.frameworks import PYTORCH_JOB
from perfledger.parsers.ngc import TF32

_PARAMETER = rb'(?: - PARAMETER |"PARAMETER", "data": \{)'
_SAVED = (
    Pause("checkpoint", "Already save model in "),
)  # fmt: skip


FORMAT = Format(
    title="NGC PaddlePaddle BERT pre-training",
    framework="PaddlePaddle",
    unproven=True,
    over=("ngc.pytorch_bert", "frameworks.dllogger_text", "frameworks.dllogger"),
    needs=b"step_samples",
    start=_PARAMETER + rb'"?SEED"? ?: ',
    before_start=_PARAMETER + up_to(rb'(?<![^" ])gradient_merge_steps"? ?: ', _PARAMETER),
    end=rb"training_sequences_per_second\"? ?: ",
    readings=(
        Reading(
            "DLL {clock} - Epoch: {epoch} Step: {step} loss : {loss} learning_rate : {_} step_cost : {duration} step_samples : {samples} seqs_per_sec : {restated}",
            unit="sequences/s", scope="device", per_update=True, pauses=_SAVED,
        ),
        Reading(
            '"timestamp": "{unix}", {*}"type": "LOG", "step": [{epoch}, {step}], "data": {{"loss": {loss}, "learning_rate": {_}, "step_cost": {duration}, "step_samples": {samples}, "seqs_per_sec": {restated}}}',
            unit="sequences/s", scope="device", per_update=True,
        ),
        Reading(
            " - Summary: e2e_train_time : {_} training_sequences_per_second : {throughput} final_loss : {_} raw_train_time : {seconds}",
            unit="sequences/s", span="run", weak=True,
        ),
    ),
    facts=(
        *TF32,
        Fact("batch_size", rb'"?batch_size_per_gpu"? ?: ([0-9]++)\b', int),
        Fact("accumulation", _PARAMETER + up_to(rb'(?<![^" ])gradient_merge_steps"? ?: ', _PARAMETER) + rb"([0-9]++)\b", int),
        Fact("sequence_length", _PARAMETER + up_to(rb'(?<![^" ])max_seq_length"? ?: ', _PARAMETER) + rb"([0-9]++)\b", int),
        Fact("model", _PARAMETER + up_to(rb'(?<![^" ])bert_model"? ?: ', _PARAMETER) + rb'"?([\w.-]++)'),
        Fact("precision", _PARAMETER + up_to(rb'(?<![^" ])use_pure_fp16"? ?: ', _PARAMETER) + rb"([Tt]rue)\b", lambda _: "fp16"),
        Fact("precision", _PARAMETER + up_to(rb'(?<![^" ])amp"? ?: ', _PARAMETER) + rb"(true|True|false|False)\b", words={b"true": "amp", b"True": "amp", b"false": "fp32", b"False": "fp32"}),
        *PYTORCH_JOB,
    ),
)  # fmt: skip
