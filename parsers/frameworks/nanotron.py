"""nanotron: a line per iteration with tokens per second of the job, in numbers of three digits.

Numbers are shortened for people (`107K`; a thousand million is `1G`), so that a figure has three digits and no more;
the first releases of 2024 print them whole, and samples instead of tokens. The time is that of the last iteration
alone. Each group of ranks may print the line. Experts had devices of their own in 2024, and have shared those of the
other layers since.
"""

from __future__ import annotations

from math import prod

from perfledger.parsers.contract import Fact, Format, Pause, Reading


def _devices(printed: bytes) -> int:
    """Return how many devices a layout has: `dp=4, pp=1, tp=2, context_parallel_size=2` is 16.

    Raises:
        ValueError: experts are spread, and the release may count their devices or not: those that know context
            parallelism did both.
    """
    sizes = dict(each.strip().split(b"=", 1) for each in printed.split(b","))
    experts, context = (int(sizes.get(name, b"1")) for name in (b"expert_parallel_size", b"context_parallel_size"))
    if experts > 1 and b"context_parallel_size" in sizes:
        raise ValueError
    return prod(int(sizes[name]) for name in (b"dp", b"pp", b"tp")) * experts * context


FORMAT = Format(
    title="nanotron",
    framework="PyTorch",
    unproven=True,
    readings=(
        Reading(
            "iteration: {step} / {total_steps} | consumed_{token|sample}s:  {_} | {?elapsed_}time_per_iteration_ms: {step_seconds:short in ms} | tokens_per_sec: {throughput:short} |{*} lm_loss: {loss} |{?{*} model_tflops_per_gpu: {flops} |}",
            unit="tokens/s",
            span="step",
            per_update=True,
            pauses=(
                Pause("checkpoint", "Saving checkpoint at ", inside="none"),
            ),
            ranks="median",
        ),
    ),
    facts=(
        Fact(
            "devices",
            rb"\bParallelismArgs\((dp=[0-9]++,\s++pp=[0-9]++,\s++tp=[0-9]++(?:,\s++(?!context_parallel_size=)\w++=(?:[^(),]|\([^()\n]{0,200}+\)){1,200}+)*+"
            rb"(?:,\s++context_parallel_size=[0-9]++(?=[,)])|(?=\))))",
            _devices,
        ),
        Fact("data_parallel", "ParallelismArgs(dp={:int},"),
        Fact("pipeline_parallel", rb"\bParallelismArgs\(dp=[0-9]++,\s++pp=([0-9]++),", int),
        Fact("tensor_parallel", rb"\bParallelismArgs\(dp=[0-9]++,\s++pp=[0-9]++,\s++tp=([0-9]++),", int),
        Fact("context_parallel", "context_parallel_size={:int}"),
        Fact("expert_parallel", "expert_parallel_size={:int}"),
        Fact("micro_batch", "micro_batch_size={:int}"),
        Fact("accumulation", "batch_accumulation_per_replica={:int}"),
        Fact("sequence_length", rb"\bTokensArgs\((?:(?!sequence_length=)[^)]){0,2000}+sequence_length=([0-9]++)", int),
    ),
)  # fmt: skip
