"""NGC DeepLearningExamples, PyTorch BERT pre-training (LDDL and hdf5): one figure for the whole run.

`training_sequences_per_second` is the throughput of the whole job. The lines before it print losses only, one per
optimiser step, so their clocks give a throughput once the samples of a step are known. In FP16 runs the iteration
number repeats or falls back when the loss scaler skips a step; such a line is a full batch as well. The last line
prints `final_loss`. `--train_batch_size` includes all accumulation steps. FP32 runs contain
`allreduce_post_accumulation_fp16=True`. Habana's scripts are made of these: their lines are of several updates, and print
the sequences per second of one device since the line before; a checkpoint lies within.
"""

from perfledger.parsers.contract import Fact, Format, Pause, Reading, lacks, up_to
from perfledger.parsers.frameworks import PYTORCH_JOB
from perfledger.parsers.ngc import ONE_NODE, TF32

_CONFIG = rb" - PARAMETER Config : "
_SAVED = (Pause("checkpoint", " - PARAMETER checkpoint_step : "),)

FORMAT = Format(
    title="NGC PyTorch BERT pre-training",
    framework="NGC PyTorch",
    over=(
        "frameworks.dllogger_text", "frameworks.hf_iteration", "ngc.pytorch_bert_squad", "ngc.pytorch_bert_squad_steps",
    ),
    start=_CONFIG + rb"(?!" + up_to(rb"doc_stride=", _CONFIG) + rb")",  # Not the fine-tuning.
    before_start=rb"^python3? ",
    end="training_sequences_per_second : ",
    readings=(
        Reading(
            "training_sequences_per_second : {throughput}{? sequences/s} {*}raw_train_time : {seconds}",
            unit="sequences/s",
            span="run",
        ),
        Reading(
            "DLL {clock} - Training Epoch: {epoch} Training Iteration: {step} average_loss : {loss} {*} average_perf_per_step : {throughput}",
            unit="sequences/s",
            scope="device",
            per_update=True,
            pauses=_SAVED,
        ),
        Reading(
            "DLL {clock} - Training Epoch: {epoch} Training Iteration: {step} {average|final}_loss : {loss} ",
            unit="sequences/s",
            span="step",
            per_update=True,
            pauses=_SAVED,
        ),
    ),
    facts=(
        *TF32,
        Fact("batch_size", "PARAMETER batch_size_per_gpu : {:int}"),
        # If several sequences are packed together, no batch size is printed.
        Fact("batch_size", "PARAMETER batch_size_per_pu : {:int}", first=True, where=lacks(b"AVG_SEQ_PER_SAMPLE: ")),
        Fact("samples_per_update_and_device", "--train_batch_size={:int}"),
        Fact("accumulation", rb"(?:--|[( ])gradient_accumulation_steps=(\d++)", int),
        *PYTORCH_JOB,
        ONE_NODE,
        Fact("precision", rb"[( ](?:hmp|use_autocast)=(True)", words={b"True": "bf16"}),
        Fact("precision", rb"[( ]fp16=(\w++)", words={b"True": "fp16", b"False": "fp32"}),
        Fact("precision", rb"[( ]amp=(True)", words={b"True": "amp"}),
        Fact("model", rb"--config_file=(?:(?!--config_file=|bert_config_\w|bert_(?:base|large)_config)\S)*+(bert_config_\w++|bert_(?:base|large)_config)"),
    ),
)  # fmt: skip
