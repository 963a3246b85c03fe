"""NeMo Automodel: a line per optimiser step with tokens per second of the job, and of one device in brackets.

Devices that share the layers of a model, or parts of these, count as one in brackets; the first release and the
distillation print none. The time runs from one step to the next, so that a validation or a checkpoint lies in the step
after it. Tokens are all of the batch; `num_label_tokens` are those that count in the loss. The benchmark recipe prints
its mean iteration at the end.
"""

from __future__ import annotations

import numpy as np

from perfledger.parsers.contract import (
    NUMBER,
    Columns,
    Fact,
    Format,
    NearMiss,
    Pause,
    Postprocessed,
    Reading,
    Sample,
    up_to,
)
from perfledger.parsers.frameworks import PYTORCH_JOB


def _rate(columns: Columns) -> Postprocessed:
    """Return the benchmark's summary as iterations per second."""
    seconds = columns["_seconds"]
    return np.arange(len(seconds)), {"steps_per_second": 1 / seconds}


FORMAT = Format(
    title="NeMo Automodel",
    framework="PyTorch",
    marker=b" GiB | tps ",
    unproven=True,
    readings=(
        Reading(
            rb"\bstep <step> \| epoch [0-9]++ \| loss <loss> \|" + up_to(rb" mem ", rb"\bstep |\btps ") + rb"<memory> GiB \| "
            rb"tps <throughput>(?:\([-+.0-9einf]++/gpu\))?+(?= \| (?:num_label_tokens|kd_ratio|mode) )",
            unit="tokens/s",
            span="step",
            counts="update",
            factors={"memory": 1024},
            pauses=(
                Pause("evaluation", rb"\[val\] ", b'[val] name "validation" | step 99 | epoch 0 | loss 2.1000'),
                Pause("checkpoint", rb"Saving checkpoint to ", b"Saving checkpoint to checkpoints/epoch_0_step_99"),
            ),
        ),
        Reading(
            rb"\bAverage iteration time: (?P<_seconds>" + NUMBER + rb") seconds \(excluding first [0-9]++ warmup iterations\)",
            unit="samples/s",
            span="run",
            marker=b"Average iteration time: ",
            weak=True,
            postprocess=_rate,
        ),
    ),
    facts=(
        *PYTORCH_JOB,
        Fact("batch_size_of_job", rb"^ *+global_batch_size: ([0-9]++)$", int),
        Fact("micro_batch", rb"^ *+local_batch_size: ([0-9]++)$", int),
        Fact("tensor_parallel", rb"^ *+tp_size: ([0-9]++)$", int),
        Fact("pipeline_parallel", rb"^ *+pp_size: ([0-9]++)$", int),
        Fact("context_parallel", rb"^ *+cp_size: ([0-9]++)$", int),
        Fact("model", rb"^ *+pretrained_model_name_or_path: (?:[^\s/]++/)*+([\w.-]++)$"),
    ),
    samples=(
        Sample(
            b"2026-11-20 10:00:00 | INFO | root | step 12 | epoch 0 | loss 1.8800 | grad_norm 0.5000 | lr 1.00e-05 | mem 40.25 GiB | "
            b"tps 12345.67(1543.21/gpu) | num_label_tokens 32768\n",
            step=12, loss=1.88, memory=41216, throughput=12345.67,
        ),
        Sample(
            b"step 12 | epoch 0 | loss 1.8800 | grad_norm 0.5000 | lr 1.00e-05 | mem 40.25 GiB | tps 12345.67 | num_label_tokens 32768\n",
            step=12, throughput=12345.67,
        ),
        Sample(
            b"step 12 | epoch 0 | loss 1.8800 | ce_loss 1.5000 | kd_loss 2.2600 | lr 1.00e-05 | mem 40.25 GiB | tps 12345.67 | kd_ratio 0.50 | "
            b"temperature 1.00\n",
            step=12, throughput=12345.67,
        ),
        Sample(b"Average iteration time: 1.250 seconds (excluding first 10 warmup iterations)\n", _seconds=1.25),
        NearMiss(b'[val] name "validation" | step 99 | epoch 0 | loss 2.1000 | lr 1.00e-05 | num_label_tokens 32768\n', "an evaluation"),
        NearMiss(b"step 12 | epoch 0 | loss 1.8800 | grad_norm 0.5000 | lr 1.00e-05 | mem 40.25 GiB | tps 12345.6", "cut inside the number"),
    ),
)  # fmt: skip
