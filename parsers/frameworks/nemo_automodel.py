"""NeMo Automodel: a line per optimiser step with tokens per second of the job, and of one device in brackets.

Devices that share the layers of a model, or parts of these, count as one in brackets; the first release and the
distillation print none. The time runs from one step to the next, so that a validation or a checkpoint lies in the step
after it. Tokens are all of the batch; `num_label_tokens` are those that count in the loss. The benchmark recipe prints
its mean iteration at the end.
"""

from __future__ import annotations

from perfledger.parsers.contract import (
    Fact,
    Format,
    Pause,
    Reading,
)
from perfledger.parsers.frameworks import PYTORCH_JOB

FORMAT = Format(
    title="NeMo Automodel",
    framework="PyTorch",
    needs=b" GiB | tps ",
    unproven=True,
    readings=(
        Reading(
            "step {step} | epoch {_} | loss {loss} |{*} mem {memory:GiB} | tps {throughput}{?({_}/gpu)} | {num_label_tokens|kd_ratio|mode} ",
            unit="tokens/s",
            span="step",
            per_update=True,
            pauses=(
                Pause("evaluation", "[val] "),
                Pause("checkpoint", "Saving checkpoint to "),
            ),
        ),
        Reading(
            "Average iteration time: {step_seconds} seconds (excluding first {_} warmup iterations)",
            unit="samples/s",
            span="run",
            weak=True,
        ),
    ),
    facts=(
        *PYTORCH_JOB,
        Fact("batch_size_of_job", "^{? }global_batch_size: {:int}$"),
        Fact("micro_batch", "^{? }local_batch_size: {:int}$"),
        Fact("tensor_parallel", "^{? }tp_size: {:int}$"),
        Fact("pipeline_parallel", "^{? }pp_size: {:int}$"),
        Fact("context_parallel", "^{? }cp_size: {:int}$"),
        Fact("model", rb"^ *+pretrained_model_name_or_path: (?:[^\s/]++/)*+([\w.-]++)$"),
    ),
)  # fmt: skip
