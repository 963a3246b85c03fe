"""Megatron-LM and its forks (Megatron-DeepSpeed, GPT-NeoX, Megatron Core): a line per `log_interval` iterations.

Only GPT-NeoX prints a throughput that counts. Otherwise it is the samples of the interval over the milliseconds (in
some forks, seconds) per iteration, a mean over the interval. The batch size may grow during training, so samples are
taken from `consumed samples` if printed; so may the sequences, whose length the lines of Megatron-DeepSpeed tell. The
loss is missing if all iterations were skipped; `1460.8/1450.4` is the interval's figure and the mean so far, as Primus'
`(avg 510.1)` is; validation lines print a loss as well. Newer releases of Megatron Core print the first iteration
alone, and hold it in the next line again: the first line is then no record. Forks for Ascend spell `gloabl batch size`.
Old releases print no global batch size: then it is that of DeepSpeed's configuration, or must be stated beside the log.
Memory is the peak allocated to tensors, not what the allocator reserved.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from perfledger.parsers.contract import (
    NUMBER,
    Column,
    Columns,
    Fact,
    Format,
    NearMiss,
    Pause,
    Postprocessed,
    Reading,
    Sample,
    Window,
    is_private,
)
from perfledger.parsers.dlperf import argument, dotted_start
from perfledger.parsers.frameworks import PYTORCH_JOB

_BATCH = rb" (?:global|gloabl) batch size:"
_HEAD = rb"iteration ++<step>/ *+<total_steps> \|"


def _ahead(label: bytes, group: bytes) -> bytes:
    """Return a lookahead for a field further on in the line: their order differs between releases."""
    return (
        rb"(?=(?:(?!%s)[^|\n]{0,120}+\|){0,30}+%s(?P<%s>" % (label, label, group)
        + NUMBER + rb")(?:/" + NUMBER + rb"|TFLOPS| \(avg " + NUMBER + rb"\))?+ *+\|)"
    )  # fmt: skip


def _maybe(label: bytes, group: bytes) -> bytes:
    return rb"(?:" + _ahead(label, group) + rb"|)"


def _elapsed(unit: bytes) -> bytes:
    return (
        rb"(?:(?! elapsed time)[^|\n]{0,120}+\|){0,9}+"
        rb" elapsed time per iteration \(%s\): ++(?P<step_seconds>" % unit + NUMBER + rb")(?:/" + NUMBER + rb")?+ \|"
    )


#: The second of two lines that hold the first iteration is slower than the later ones by this much.
_AS_SLOW = 1.2
#: Arguments that stand between two others.
_OTHERS = rb"(?:(?! *+(?:model_parallel_size|batch_size) )[^\n]*+\n){0,400}+"
#: The batch size in the configuration that DeepSpeed prints. With accumulation an iteration may be a micro batch.
_OF_DEEPSPEED = (
    rb"\[config\.py:[0-9]++:print\] ++gradient_accumulation_steps \.++ 1 *+\n"
    rb"(?:(?![^\n]*? train_batch_size \.)[^\n]*+\n){0,90}+[^\n]*? train_batch_size \.++ ([0-9]++)(?=\s)"
)
_EXTRAS = (
    _maybe(rb" (?:(?:throughput|compute) per GPU \(TFLOP/s/GPU\)|TFLOPs|approx flops per GPU): ++", b"flops")
    + _maybe(rb" energy per GPU \(J/iter/GPU\): ++", b"energy")
    + _maybe(rb" power per GPU \(W/GPU\): ++", b"power")
    + _maybe(rb" (?:lm[ _])?+loss:?+ ++(?=[-+.0-9nNiI])", b"loss")
    + _maybe(rb" peak allocated memory: ++", b"memory")
)


def _is_told_again(steps: Column, seconds: Column) -> bool:
    """Return whether the first line is of the first iteration alone, and the second one's interval holds it again.

    A newer Megatron Core prints that line at once, and neither its timer nor its counters begin anew after it. The line
    stands outside the turn of `log_interval`; where each iteration is printed, the second one shows half of the first.
    """
    if len(steps) < 2 or not (gap := steps[1] - steps[0]) > 0 or not seconds[1] * (gap + 1) >= seconds[0]:
        return False
    gaps = np.diff(steps[1:])
    usual = float(np.median(gaps[gaps > 0])) if (gaps > 0).any() else np.nan
    if usual == gap == 1:
        return bool(seconds[1] > _AS_SLOW * np.median(seconds[2:]))
    return bool(gap < usual or (np.isnan(usual) and steps[0] % gap))


def _with_samples(columns: Columns) -> Postprocessed:
    """Add the samples of each record: those consumed since the record before, else batch size times steps."""
    rows = np.arange(int(_is_told_again(columns["step"], columns["step_seconds"])), len(columns["step"]))
    columns = {name: column[rows] for name, column in columns.items()}
    gaps = np.diff(columns["step"], prepend=np.nan)
    usual = np.median(gaps[gaps > 0]) if (gaps > 0).any() else 1.0
    consumed = np.diff(columns["consumed"], prepend=np.nan)
    estimated = columns["batch"] * np.where(gaps > 0, gaps, usual)
    counted = (gaps > 0) & (consumed > 0)
    kept = {name: each for name, each in columns.items() if not (name in {"batch", "consumed"} or is_private(name))}
    kept["samples"] = np.where(counted, consumed, estimated)
    # The speed is that of the last batch, which may be larger than those before it.
    told = columns["_of_device"] * columns["_devices"] / columns["_sequence_length"]
    told = np.where(np.isfinite(columns["restated"]), columns["restated"], told)
    kept["restated"] = told * kept["samples"] / estimated
    return rows, kept


#: What the interval after it includes.
_OF_TRAINING = (
    # That of the validation set, and in some forks of the test set.
    Pause("evaluation", rb" loss at iteration ", b" validation loss at iteration 100 | lm loss value: 6.25E+00 | "),
    # GPT-NeoX says so in other words.
    Pause(
        "evaluation", rb" results at iteration ", b" validation results at iteration 100 | lm_loss value: 6.25E+00 | "
    ),
    Pause("checkpoint", rb"saving checkpoint at iteration ", b"saving checkpoint at iteration     500 to out"),
    # GPT-NeoX leaves it to DeepSpeed to say so, as its release does.
    Pause(
        "checkpoint",
        rb"Saving model checkpoint: ",
        b"[2026-11-20 10:11:12,500] [INFO] [logging.py:96:log_dist] [Rank 0] Saving model checkpoint: out/global_step500/mp_rank_00_model_states.pt",
    ),
    Pause(
        "checkpoint",
        rb"Checkpoint global_step[0-9]++ is ",
        b"[2026-11-20 10:11:12,500] [INFO] [logging.py:96:log_dist] [Rank 0] [Torch] Checkpoint global_step500 is about to be saved!",
    ),
)
#: The fine-tuning of a task evaluates behind an epoch, and stops no timer in any release.
_TASK = Pause("evaluation", rb"calculating metrics \.\.\.", b"calculating metrics ...")
#: Since Megatron Core 0.5, which prints a date, the timer stops meanwhile.
_BESIDE = (*(replace(each, inside="none") for each in _OF_TRAINING), _TASK)
_PAUSES = (*_OF_TRAINING, _TASK)
_DATED, _UNDATED = rb"\[(?P<clock>\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(?:\.[0-9]++)?+)\] ", rb"(?<![0-9]\] )"


#: By them a speed in tokens of one device is one in sequences of the job.
_OF_TOKENS = ("devices", "sequence_length")


#: Of the interval, before a mean so far; Primus renamed it in 2026.
_OF_DEVICE = rb" tokens(?: per GPU \(tokens/s/GPU\)|/s/GPU inst/harmonic mean): ++"


def _with_batch(unit: bytes, seconds: float, before: bytes = b"", pauses: tuple[Pause, ...] = _PAUSES) -> Reading:
    return Reading(
        before + _HEAD + _maybe(rb" consumed samples: ++", b"consumed") + _elapsed(unit)
        + _ahead(_BATCH + rb" ++", b"batch") + _EXTRAS
        + _maybe(rb" (?:actual|curriculum) seqlen: ++", b"length")
        + _maybe(rb" samples per second: ++", b"restated") + _maybe(_OF_DEVICE, b"_of_device"),
        unit="sequences/s", factors={"step_seconds": seconds}, pauses=pauses, postprocess=_with_samples, facts=_OF_TOKENS,
    )  # fmt: skip


FORMAT = Format(
    title="Megatron-LM",
    framework="Megatron-LM",
    marker=b"iteration",
    start=dotted_start(rb"(?:distributed_backend|distributed_timeout_minutes|DDP_impl)"),
    end=rb"\[(?:after training is done|exiting program (?:after|at))",
    readings=(
        _with_batch(b"ms", 1e-3, _UNDATED),
        _with_batch(b"ms", 1e-3, _DATED, _BESIDE),
        _with_batch(b"s", 1.0),
        Reading(
            rb"iteration= *+<step>/ *+<total_steps> \|" + _maybe(rb" consumed_samples= *+", b"consumed")
            + _ahead(rb" elapsed_time_per_iteration_ms=", b"step_seconds") + _ahead(rb" global_batch_size= *+", b"batch")
            + _maybe(rb" (?:\[LM\]-?+)?+TFLOPs=", b"flops") + _maybe(rb" lm[ _]loss=", b"loss")
            + _maybe(rb" samples_per_second=", b"restated") + _maybe(rb" tokens_per_gpu_per_second_tgs=", b"_of_device"),
            unit="sequences/s", factors={"step_seconds": 1e-3}, pauses=_PAUSES, postprocess=_with_samples, facts=_OF_TOKENS,
        ),
        Reading(
            rb"\bsamples/sec: <throughput> \| " + _HEAD + _elapsed(b"ms") + _EXTRAS,
            unit="sequences/s", factors={"step_seconds": 1e-3}, pauses=_PAUSES,
        ),
        Reading(
            _HEAD + rb"(?= elapsed)" + _elapsed(b"ms") + rb"(?!(?:[^|\n]{0,120}+\|){0,30}" + _BATCH + rb")" + _EXTRAS
            + rb"(?=(?:[^|\n]{0,120}+\|){1,30}+ *+(?:\r?\n|\Z))",
            unit="sequences/s", factors={"step_seconds": 1e-3}, pauses=_PAUSES,
        ),
        Reading(
            rb"\[Rank [0-9]++\] \(after [0-9]++ iterations\) memory \(MB\) \| allocated: \S++ \| "
            rb"max allocated: <memory> \|",
            # Of a pipeline's ranks all print it, and the last one alone the lines above: those of others may be DeepSpeed's.
            weak=True,
        ),
    ),
    facts=(
        Fact("framework", rb"^ *+deepspeed \.++ (True)", words={b"True": "DeepSpeed"}),
        Fact("zero", rb"^ *+zero_stage \.++ ([0-9])(?=\s|\.\.)"),
        Fact("model", rb"building (GPT2?|T5) model \.\.\.", words={b"GPT": "GPT", b"GPT2": "GPT", b"T5": "T5"}),
        argument("devices", "world_size"),
        argument("devices", "global_num_gpus"),
        *PYTORCH_JOB,
        argument("batch_size_of_job", "global_batch_size"),
        argument("batch_size_of_job", "train_batch_size"),
        Fact("batch_size_of_job", _OF_DEEPSPEED, int),
        argument("micro_batch", "micro_batch_size"),
        argument("micro_batch", "train_micro_batch_size_per_gpu"),
        # Before 2020's second half: samples of one copy of the network, and hence of a device where none is cut.
        Fact("batch_size", rb"^ *+batch_size \.++ ([0-9]++) *+\n" + _OTHERS + rb" *+model_parallel_size \.++ 1$", int),
        Fact("batch_size", rb"^ *+model_parallel_size \.++ 1 *+\n" + _OTHERS + rb" *+batch_size \.++ ([0-9]++)$", int),
        argument("layers", "num_layers"),
        argument("hidden", "hidden_size"),
        argument("heads", "num_attention_heads"),
        argument("sequence_length", "seq_length"),
        Fact("vocabulary", rb"> padded vocab \(size: [0-9]++\) with [0-9]++ dummy tokens \(new size: ([0-9]++)\)", int),
        argument("vocabulary", "padded_vocab_size"),
        argument("tensor_parallel", "tensor_model_parallel_size"),
        argument("tensor_parallel", "model_parallel_size"),
        argument("pipeline_parallel", "pipeline_model_parallel_size"),
        argument("pipeline_parallel", "pipe_parallel_size"),
        argument("data_parallel", "data_parallel_size"),
        argument("expert_parallel", "expert_model_parallel_size"),
        argument("context_parallel", "context_parallel_size"),
        Fact("precision", rb"^ *+fp8 \.++ (\w++)", words={b"hybrid": "fp8", b"e4m3": "fp8"}),
        # Before 2023's second half.
        Fact("precision", rb"^ *+fp8_(?:hybrid|e4m3) \.++ (True)$", words={b"True": "fp8"}),
        # GPT-NeoX.
        Fact("precision", rb"^ *+precision \.++ (fp16|bfloat16|fp32)(?=\s|\.\.)", words={b"fp16": "fp16", b"bfloat16": "bf16", b"fp32": "fp32"}),
        Fact("precision", rb"^ *+bf16 \.++ (\w++)", words={b"True": "bf16"}),
        Fact("precision", rb"^ *+fp16 \.++ (\w++)", words={b"True": "fp16", b"False": "fp32"}),
        Fact("checkpointing", rb"^ *+checkpoint_activations \.++ (\w++)", words={b"True": "full", b"False": "none"}),
        # `selective` recomputes a part, which the formula for FLOPs does not cover.
        Fact("checkpointing", rb"^ *+recompute_granularity \.++ (\w++)", words={b"full": "full", b"None": "none"}),
    ),
    windows={"dlperf": Window(301, 400, "seconds")},
    samples=(
        Sample(
            b" iteration      200/    1000 | consumed samples:          800 | elapsed time per iteration (ms): 430.0 | learning rate: "
            b"1.342E-04 | global batch size:     4 | lm loss: 7.375E+00 | loss scale: 16384.0 | grad norm: 2.918 | "
            b"number of skipped iterations:   0 | number of nan iterations:   0 |\n",
            step=200, consumed=800, step_seconds=0.43, batch=4, loss=7.375, flops=float("nan"), memory=float("nan"),
        ),
        Sample(
            b" iteration       10/    1000 | consumed samples:           40 | elapsed time per iteration (ms): 3171.5 | learning rate: "
            b"0.000E+00 | global batch size:     4 | loss scale: 8388608.0 | number of skipped iterations:  10 |\n",
            step=10, consumed=40, step_seconds=3.1715, batch=4, loss=float("nan"),
        ),
        Sample(
            b" [2026-08-15 17:33:14] iteration        1/   10000 | consumed samples:          512 | elapsed time per iteration (ms): "
            b"4865.5 | throughput per GPU (TFLOP/s/GPU): 494.5 | learning rate: 1.5E-05 | global batch size:   512 | lm loss: "
            b"1.25E+01 | loss scale: 1.0 | grad norm: 7.5 | peak reserved memory: 14196 | peak allocated memory: 13473 |\n",
            step=1, step_seconds=4.8655, batch=512, flops=494.5, loss=12.5, memory=13473,
        ),
        Sample(
            b" iteration       12/      50 | consumed samples:         1536 | elapsed time per iteration (ms): 1460.5/1450.5 | "
            b"throughput per GPU (TFLOP/s/GPU): 494.5/490.5 | tokens per GPU (tokens/s/GPU): 11220.0/11290.0 | learning rate: "
            b"1.0E-05 | global batch size:   128 | lm loss: 8.5E+00 | loss scale: 1.0 |\n",
            step=12, step_seconds=1.4605, flops=494.5, batch=128, loss=8.5,
        ),
        Sample(
            b" [2026-08-15 17:33:14] iteration       12/      50 | consumed samples:         1536 | elapsed time per iteration (ms): 1460.5 | compute per GPU "
            b"(TFLOP/s/GPU): 512.5 (avg 510.5) | tokens/s/GPU inst/harmonic mean: 13012.5/12990.5 | energy per GPU (J/iter/GPU): 812.5 | power per GPU (W/GPU): "
            b"660.5 | toks/s: 104100.0 | toks/s/gpu: 13012.5 | core attn ratio (%): 12.5 | learning rate: 1.0E-05 | global batch size:   128 | lm loss: 8.5E+00 |\n",
            step=12, step_seconds=1.4605, flops=512.5, power=660.5, energy=812.5, batch=128, loss=8.5,
        ),
        Sample(
            b" iteration       10/  200000 | consumed samples:          160 | consumed tokens:       327680 | elapsed time per iteration "
            b"(s): 1.25 | learning rate: 1.600E-07 | global batch size:    16 | lm loss: 1.0625E+01 | number of nan iterations:   0 | "
            b"samples per second: 12.800 | TFLOPs: 24.75 |\n",
            step=10, consumed=160, step_seconds=1.25, batch=16, loss=10.625, flops=24.75,
        ),
        Sample(
            b" iteration      100/  500000 | elapsed time per iteration (ms): 712.5 | learning rate 1.000E-05 | lm loss 8.25E+00 | "
            b"loss scale 32768.0 |\n",
            step=100, step_seconds=0.7125, loss=8.25,
        ),
        Sample(
            b" samples/sec: 28.250 | iteration       10/  320000 | elapsed time per iteration (ms): 906.5 | learning rate 9.375E-06 | "
            b"approx flops per GPU: 24.5TFLOPS | lm_loss 1.0875E+01 | loss scale 65536.0 |\n",
            step=10, throughput=28.25, step_seconds=0.9065, flops=24.5, loss=10.875,
        ),
        Sample(
            b"[Rank 3] (after 20 iterations) memory (MB) | allocated: 19539.25 | max allocated: 22112.5 | reserved: 26880.0 | "
            b"max reserved: 26880.0\n",
            memory=22112.5,
        ),
        # The fork of Argonne.
        Sample(
            b"[2026-11-20 10:11:12][INFO][training:1609] -  iteration=      12/  317892 | consumed_samples=        9216 | consumed_tokens=    37748736 | "
            b"elapsed_time_per_iteration_ms=12500.5 | learning_rate=1.5e-07 | global_batch_size=  768 | lm loss=11.125 | loss_scale=1.0 | actual_seqlen= 4096 | "
            b"number_of_skipped_iterations=  0 | samples_per_second=61.438 | tokens_per_gpu_per_second_tgs=10485.4 | [LM]-TFLOPs=49.5 | [DS]-TFLOPs=73.25 |\n",
            step=12, total_steps=317892, consumed=9216, step_seconds=12.5005, batch=768, loss=11.125, flops=49.5,
        ),
        NearMiss(
            b" iteration      200/    1000 | consumed samples:          800 | elapsed time per iteration (ms): 430.0 | learning rate: 1.342E-",
            "cut before the batch size",
        ),
        NearMiss(b" iteration      200/    1000 | consumed samples:          800 | elapsed time per iteration (ms): 43", "cut inside the number"),
        NearMiss(b"Step Time : 1.25s GPU utilization: 512.3MODEL_TFLOP/s/GPU\n", "Megatron Bridge's second line of a step"),
        NearMiss(b" validation loss at iteration 100 | lm loss value: 6.25E+00 | lm loss PPL: 5.1801E+02 | \n", "validation"),
        NearMiss(b"time (ms) | forward-compute: 310.52 | backward-compute: 940.31 | optimizer: 61.20\n", "timers of parts of a step"),
    ),
)  # fmt: skip
