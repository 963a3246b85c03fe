"""NGC DeepLearningExamples, TensorFlow 1 BERT pre-training: a DLLogger record per optimiser step.

Records count the whole job and all accumulation steps. The unit is `seq/s` (2020 to 2022) or `sequences/s` (2023). When
the loss scaler retries, the iteration number repeats. The same line without an iteration is the average of training;
`throughput_val` and the second `Throughput Average` are inference. The average may lack iterations that the loss scaler
retries; its samples and seconds are printed above it.
"""

from perfledger.parsers.contract import Fact, Format, Reading
from perfledger.parsers.frameworks import NVIDIA_BERT
from perfledger.parsers.ngc import TF32

FORMAT = Format(
    title="NGC TensorFlow BERT pre-training",
    framework="NGC TensorFlow",
    over=("frameworks.dllogger_text",),
    needs=b"throughput_train",
    start="INFO:tensorflow:***** Configuaration *****",
    end=" -  throughput_train : ",
    readings=(
        Reading(
            "DLL {clock} - Iteration: {step} throughput_train : {throughput} {seq|sequences}/s{? mlm_loss : {_} nsp_loss : {_} total_loss : {loss}}",
            unit="sequences/s",
            span="step",
            per_update=True,
        ),
        # The fine-tuning prints these lines, too, in addition to those of Estimator.
        Reading(
            "-  throughput_train : {throughput} {seq|sequences}/s", unit="sequences/s", span="run", weak=True,
        ),
        Reading(
            "run_pretraining.py:{_}] Total Training Time = {seconds} for Sentences = ",
            unit="sequences/s", span="run", weak=True,
        ),
        Reading(
            "run_pretraining.py:{_}] Total Training Time W/O Overhead = {seconds} for Sentences = {samples}",
            unit="sequences/s", span="run", weak=True,
        ),
    ),
    facts=(
        *TF32,
        Fact("batch_size", "^INFO:tensorflow:  train_batch_size: {:int}"),
        Fact("accumulation", "^INFO:tensorflow:  num_accumulation_steps: {:int}"),
        # The launcher's trace: some logs lack the trainer's own line.
        Fact("accumulation", "^+ num_accumulation_steps_phase1={:int}"),
        *NVIDIA_BERT,
        Fact("devices_per_node", "^+ num_gpus={:int}"),
        Fact("gpu", rb"StreamExecutor device \(0\): ((?!Host)[^,\n]{1,200}+), Compute Capability"),
        Fact("model", "^+ bert_model={}", lambda size: f"bert-{size.decode()}"),
    ),
)  # fmt: skip
