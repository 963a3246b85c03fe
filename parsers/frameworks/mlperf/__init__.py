"""MLPerf training logs: `:::MLLOG` with JSON (since 2020), `:::MLL` (2019) and `:::MLPv0.5.0` (2018).

A log states when training began and ended, whether it reached its target, and at each event the progress so far:
`samples_count`, `epoch_num` or `step`. The seconds of training without evaluation, and the samples of each stretch,
follow from these. A `throughput` that the submitter logs, alone or among `tracked_stats`, counts if it is logged
repeatedly and is that of the job; a lower one includes the evaluations. A throughput that is logged once is the
program's own figure for the run.

`samples_count` counts since the start. It is the size of the block if NVIDIA's callbacks log `block_start` and
`block_stop` with a `step`, and may be the size of the validation data at evaluations. The mean over a block, which is
compared with the clock, is a line without a step. TorchTitan's blocks are one step of every ten: the samples at their
beginnings count, but neither their seconds nor the logged speeds, which include the evaluations. `epoch_num` counts
epochs, parts of epochs, samples, or tokens (GPT-3, and the accuracies of Llama 3.1 405B). OpenFold numbers each epoch
by the samples at its end. `train_samples` is the size of the data set if logged before the first epoch ends, and the
number of processed samples if logged after it; RetinaNet's counts batches, and U-Net3D pads its epochs.

An evaluation that runs during the next epoch takes no time from it. Hugging Face's LoRA and MaxText log only the
accuracy of an evaluation: the stretch that ends there includes it, as does a run that counts samples only at its end.
The last epoch does not count, since it may have ended when the target was met. A burst of events after the run is
ignored. If a program was started again without a new head, only the last run counts. It has no time to train, since it
may continue the interrupted one. If the stamps of a run go back, the whole run does not count. The end of the run and
accuracies may go back: Stable Diffusion evaluates its checkpoints after the last step, and dates its end back to the
checkpoint that met the target. Every node may log the same figure, which counts once. A figure counts samples; for
GPT-3, and for Llama 3.1, whose logs state the length of a sequence, it counts tokens.

`d_batch_size` and `gradient_accumulation_steps` mean different things to different submitters, need not divide the
batch of the job, and are not read. `submission_org` is not read either: it may be a placeholder, or the code's owner.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from perfledger.parsers.contract import NUMBER, Condition, Fact, Format, Reading, lacks, says, text, up_to
from perfledger.parsers.frameworks import PYTORCH_JOB
from perfledger.parsers.frameworks.mlperf.lines import (
    BLOCK_MEAN,
    EVENTS,
    KEY,
    METADATA,
    PLACE,
    SPEEDS,
    STAMP,
    VALUE,
    lines_of,
)
from perfledger.parsers.frameworks.mlperf.records import (
    block_means,
    records,
    reported_speed,
    target,
    target_samples,
)

#: The line of NVIDIA's launch scripts that describes the machines.
_SYSTEM = rb":::SYSJSON \{"
_BENCHMARK = rb'"submission_benchmark' + VALUE + rb'"'
#: Submitters of GPT-3 count in tokens, those of everything else in samples.
_IN_TOKENS = says(_BENCHMARK + rb'gpt3?"')
#: Networks that train on sequences of tokens, in a log that states the length of a sequence.
_IN_SEQUENCES = says(_BENCHMARK + rb"(?:llama3|deepseek|gpt_oss|mixtral)", rb'"max_sequence_length' + VALUE + rb"[0-9]")
_IN_SAMPLES = lacks(_IN_TOKENS, _IN_SEQUENCES)
_OF_2019 = rb":::MLL [0-9.]++ %s: \{" + PLACE + rb'"value": '
#: Precisions that every run states since the round v6.1, and some earlier runs.
_PRECISIONS: Mapping[bytes, str] = {
    b"fp32": "fp32", b"tf32": "tf32", b"fp16": "fp16", b"bfloat16": "bf16", b"fp8": "fp8", b"mxfp8": "mxfp8", b"nvfp4": "nvfp4", b"int8": "int8",
}  # fmt: skip
_SPLIT = ("tensor", "pipeline", "context", "expert")


def _benchmark(printed: bytes) -> str:
    """Return the network of a benchmark; by the rules of every round, `bert` is BERT-large."""
    return {b"bert": "BERT-large"}.get(printed) or text(printed)


def _stretches(unit: str, where: Condition, counted: str = "samples") -> Reading:
    """Return the reading of the progress of a run, in the unit of its benchmark."""
    return Reading(
        lines_of(EVENTS, METADATA), unit=unit, span="epoch", ranks="median", weak=True, where=where,
        verbs=(partial(records, unit=counted),),
    )  # fmt: skip


def _means(unit: str, where: Condition, counted: str = "samples") -> Reading:
    """Return the reading of the means over blocks, which are compared with the clock of the events."""
    return Reading(
        STAMP + rb"[0-9]++" + KEY + BLOCK_MEAN, unit=unit, span="epoch", weak=True,
        where=where, verbs=(partial(block_means, unit=counted),),
    )  # fmt: skip


FORMAT = Format(
    title="MLPerf",
    needs=b":::ML",
    over=("*",),
    # TensorFlow's logger repeats the lines of 2018, with a stamp in front.
    # Every rank may state the benchmark, and the sizes of the data sets may come before it.
    start=rb'"key": ?+"(?:train_samples"[^\n]*+\n[^\n]{0,200}?"key": ?+"eval_samples"[^\n]*+\n[^\n]{0,200}?"key": ?+")?+submission_benchmark"(?:[^\n]*+\n[^\n]{0,200}?"key": ?+"submission_benchmark")*+|(:::MLPv0\.5\.[0-9] \w++ [0-9.]++ \([^)\r\n]{0,300}+\) run_start)'
    rb"(?:[ \t\r]*+\n[^\n]{0,200}?\1)?+"
    rb"|:::MLL [0-9.]++ submission_benchmark: (?:[^\n]*+\n[^\n]{0,200}?:::MLL [0-9.]++ submission_benchmark: )*+",
    before_start=rb'"key": ?+"(?:cache_clear|init_start|global_batch_size)"|\) run_clear_caches|:::MLL [0-9.]++ init_start: ',
    end=rb'"key": ?+"run_stop"|:::MLPv0\.5\.[0-9] \w++ [0-9.]++ \([^)\r\n]{0,300}+\) run_final|:::MLL [0-9.]++ run_stop: ',
    readings=(
        _stretches("samples/s", _IN_SAMPLES),
        _stretches("tokens/s", _IN_TOKENS, "tokens"),
        _stretches("tokens/s", _IN_SEQUENCES, "sequences"),
        _means("samples/s", _IN_SAMPLES),
        _means("tokens/s", _IN_SEQUENCES, "sequences"),
        # Other programs print between the lines of MLPerf; they are read if these lines do not count samples.
        Reading(lines_of(SPEEDS, {"_step": METADATA["_step"]}), unit="samples/s", span="run", where=_IN_SAMPLES, verbs=(reported_speed,)),
        Reading(lines_of(EVENTS, METADATA), span="run", weak=True, verbs=(target,)),
        Reading(
            lines_of(EVENTS, METADATA), span="run", weak=True, where=lacks(_IN_TOKENS),
            verbs=(target_samples,),
        ),
        Reading(
            rb'(?:"eval_accuracy' + VALUE + rb'|[ )]eval_accuracy: \{(?:"epoch": [0-9]++, )?+' + PLACE + rb'"value": )(?P<accuracy>' + NUMBER + rb")(?=[,}])",
            weak=True,
        ),
        Reading(
            rb':::MLLOG \{[^\n]{0,400}?"(?:reduced_)?+train_loss(?:' + VALUE + rb'|": ?+)(?P<loss>' + NUMBER + rb")(?=[,}])",
            weak=True,
        ),
    ),
    facts=(
        Fact("model", _BENCHMARK + rb'([^"\n]++)"', _benchmark),
        Fact("model", _OF_2019 % b"submission_benchmark" + rb'"([^"\n]++)"', _benchmark),
        Fact("model", rb":::MLPv0\.5\.[0-9] (\w++) ", _benchmark),
        Fact("batch_size_of_job", rb'"global_batch_size' + VALUE + rb"([0-9]++)\b", int),
        Fact("batch_size_of_job", _OF_2019 % b"global_batch_size" + rb"([0-9]++)\b", int),
        # From NVIDIA's launch scripts.
        Fact("nodes", _SYSTEM + up_to(rb'"number_of_nodes":"', _SYSTEM) + rb'([0-9]++)"', int),
        Fact("devices_per_node", _SYSTEM + up_to(rb'"accelerators_per_node":"', _SYSTEM) + rb'([0-9]++)"', int),
        Fact("gpu", _SYSTEM + up_to(rb'"accelerator_model_name":"', _SYSTEM) + rb'([^"\n]++)"'),
        Fact("framework", _SYSTEM + up_to(rb'"framework":"', _SYSTEM) + rb'(PyTorch|MXNet|TensorFlow|HugeCTR|PaddlePaddle|JAX|DGL)\b'),
        # By the rules of MLPerf HPC.
        Fact("nodes", rb'"number_of_nodes' + VALUE + rb"([0-9]++)\b", int),
        Fact("devices_per_node", rb'"accelerators_per_node' + VALUE + rb"([0-9]++)\b", int),
        Fact("nodes", rb"\bDGXNNODES=([0-9]++)\b", int),
        Fact("devices_per_node", rb"\bDGXNGPU=([0-9]++)\b", int),
        *PYTORCH_JOB,
        Fact("devices_per_node", rb'"submission_platform' + VALUE + rb'"[0-9]++x ?+(?:NVIDIA )?+(DGX[ -]?(?:1|A100|H100|H200|B200|B300))\b', lambda _: 8),
        Fact("devices_per_node", rb'"submission_platform' + VALUE + rb'"[0-9]++x ?+(?:NVIDIA )?+(DGX-2H?)\b', lambda _: 16),
        Fact("nodes", rb'"submission_platform' + VALUE + rb'"([0-9]++)x ?+(?:NVIDIA )?+DGX', int),
        Fact("optimizer", rb'"opt_name' + VALUE + rb'"([^"\n]++)"'),
        Fact("sequence_length", rb'"max_sequence_length' + VALUE + rb"([0-9]++)\b", int),
        Fact("precision", rb'"lowest_numerical_precision_(?:in_)?+linear' + VALUE + rb'"(\w++)"', words=_PRECISIONS),
        *(Fact(f"{name}_parallel", rb'"%s_parallelism' % name.encode() + VALUE + rb"([0-9]++)\b", int) for name in _SPLIT),
        Fact("micro_batch", rb'"micro_batch_size' + VALUE + rb"([0-9]++)\b", int),
        Fact("resumed_from", rb'"init_checkpoint_step' + VALUE + rb"([1-9][0-9]*+)\b", int),
        # Each rank prints its own.
        Fact("seed", rb'"seed' + VALUE + rb"([0-9]++)\b", first=True),
        Fact("optimizer", _OF_2019 % b"opt_name" + rb'"([^"\n]++)"'),
        Fact("seed", rb":::ML(?:Pv0\.5\.[0-9] \w++|L) [0-9.]++ (?:\([^)\r\n]{0,300}+\) )?+(?:run_set_random_seed: |seed: \{" + PLACE + rb"\"value\": )([0-9]++)"),
    ),
)  # fmt: skip
