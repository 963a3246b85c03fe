"""NGC DeepLearningExamples, TensorFlow 2 ELECTRA (`run_pretraining.py`): a line per `--log_freq` updates.

From the printer's source alone: no real log has been read yet. `Perf` is the mean of the speeds of single passes,
without the wait for data and without the time of a device that runs asynchronously, so it is not used. The seconds
since the start are used; they include checkpoints. `train_batch_size` in the configuration is that of a device and a
pass. Every rank prints the line.
"""

from __future__ import annotations

from perfledger.parsers.contract import Fact, Format, Pause, Reading
from perfledger.parsers.ngc import TF32

FORMAT = Format(
    title="NGC TensorFlow 2 ELECTRA",
    framework="NGC TensorFlow",
    over=("frameworks.dllogger_text", "frameworks.dllogger"),
    unproven=True,
    start=rb"Config:\r?\n={80}\r?\n",
    readings=(
        Reading(
            "Step:{step}, Loss:{loss}, Gen_loss:{*}, Elapsed: {elapsed:length}, ETA: ",
            unit="sequences/s",
            per_update=True,
            ranks="median",
            pauses=(
                Pause("checkpoint", "Saved model checkpoint for step "),
            ),
        ),
    ),
    facts=(
        *TF32,
        Fact("batch_size", rb"^(?:\[[^\]\n]{1,40}\]<stdout>:)?train_batch_size:? ([0-9]++)$", int),
        Fact("accumulation", rb"^(?:\[[^\]\n]{1,40}\]<stdout>:)?gradient_accumulation_steps:? ([0-9]++)$", int),
        Fact("sequence_length", rb"^(?:\[[^\]\n]{1,40}\]<stdout>:)?max_seq_length:? ([0-9]++)$", int),
        Fact("precision", rb"^(?:\[[^\]\n]{1,40}\]<stdout>:)?amp:? (True|False)$", words={b"True": "amp", b"False": "fp32"}),
        Fact("xla", rb"^(?:\[[^\]\n]{1,40}\]<stdout>:)?xla:? (True|False)$"),
        Fact("total_steps", rb"^(?:\[[^\]\n]{1,40}\]<stdout>:)?num_train_steps:? ([0-9]++)$", int),
    ),
)  # fmt: skip
