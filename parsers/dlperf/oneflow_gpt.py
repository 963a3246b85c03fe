"""OneFlow-Benchmark, GPT (`LanguageModeling/GPT`): a row of a table per printed interval, below the arguments.

The columns are steps, micro-batches and sequences so far, sequences per second of the whole job, seconds per step, and
loss. Indices of `nvidia-smi` such as `100 %, 11838 MiB` may be printed in between, for the whole device. DLPerf summed the
records from 300 to 400, both included, and divided by one interval too few (1 % high at interval 1); here the window is
the steps after 300 up to 400.
"""

from perfledger.parsers.contract import Fact, Format, Reading
from perfledger.parsers.dlperf import MEGATRON, argument, dotted_start

FORMAT = Format(
    title="OneFlow GPT",
    framework="OneFlow",
    needs=b"micro_batches",
    start=dotted_start(rb"(?:num_gpus_per_node|gpu_num_per_node|loss_print_every_n_iters?)"),
    readings=(
        Reading("| {step} | {_} | {consumed} | {throughput} | {step_seconds} | {loss} |", unit="sequences/s"),
        Reading(" %, {memory:MiB}"),
    ),
    facts=(
        Fact("model", rb"\b(pretrain_gpt|GPT2?Model|gpt_loader)\b", lambda _: "GPT"),
        argument("nodes", "num_nodes"),
        argument("devices_per_node", "num_gpus_per_node"),
        argument("devices_per_node", "gpu_num_per_node"),
        *MEGATRON,
        argument("batch_size_of_job", "global_batch_size"),
        argument("vocabulary", "padded_vocab_size"),
        Fact("precision", rb"^ *+fp16 (?:=|\.++) (\w++)", words={b"True": "fp16", b"False": "fp32"}),
        Fact("checkpointing", rb"^ *+checkpoint_activations (?:=|\.++) (\w++)", words={b"True": "full", b"False": "none"}),
    ),
)  # fmt: skip
