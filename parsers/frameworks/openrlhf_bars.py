"""OpenRLHF's fine-tuning, reward models and DPO, and the many programs derived from them: a bar per epoch.

The bar counts micro batches of every device (an update accumulates several), and shows the seconds since the epoch
began. It is drawn when its text is set, before the batch counts, and again when the batch counts: the first state of
each number has the right time. The time includes evaluations and checkpoints. A sample of preference data is a pair. If
devices share samples (ring attention, tensor parallel), they outnumber the copies of the model, and such logs give no
figure.
"""

from __future__ import annotations

from perfledger.parsers.contract import Fact, Format, Pause, Reading, lacks, states
from perfledger.parsers.frameworks import DEEPSPEED, PYTORCH_JOB, SEVERAL

FORMAT = Format(
    title="OpenRLHF's bars",
    framework="PyTorch",
    unproven=True,
    start=rb"Train epoch: ++0%\|[^|\r\n]{0,400}+\| 0/",
    before_start=rb"\[runner\.py:[0-9]++:main\] cmd = |--module openrlhf\.cli\.",
    end="[launch.py:{_}:main] Process {_} exits successfully",
    readings=(
        Reading(
            "Train step of epoch {epoch}:  {_}%|{*}| {step}/{total_steps} [{elapsed}<{_left:length},{*}{?, gpt_}{?, preference_}loss={loss}",
            unit="samples/s",
            where=lacks(rb"(?:ring_attn_size|(?:ds_)?tensor_parallel_size)[ =]" + SEVERAL + rb"\b"),
            pauses=(
                Pause("evaluation", "Eval stage of "),
                Pause("checkpoint", "Checkpoint global_step"),
            ),
            verbs=(states("epoch", "step"),),
        ),
    ),
    facts=(
        Fact("model", rb"--(?:pretrain|model\.model_name_or_path)[ =](\S++)"),
        Fact("batch_size", rb"--(?:micro_train_batch_size|train\.micro_batch_size)[ =]([0-9]++)", int),
        Fact("precision", rb"--(bf16)(?=\s)"),
        Fact("precision", rb"--ds\.param_dtype[ =](bf16)(?=\s)"),
        Fact("total_epochs", rb"--(?:train\.)?max_epochs[ =]([0-9]++)", int),
        *DEEPSPEED,
        Fact("precision", rb"\bbfloat16_enabled \.++ (\w++)$", words={b"True": "bf16"}),
        Fact("zero", rb"--(?:ds\.)?zero_stage[ =]([0-9])"),
        *PYTORCH_JOB,
    ),
)  # fmt: skip
