"""Printers whose logs DLPerf collects and no other package reads."""

from collections.abc import Callable

from perfledger.parsers.contract import Fact

#: The `key = value` lines that OneFlow-Benchmark's trainers print first.
ONEFLOW_HEADER = (
    Fact("batch_size", "^batch_size_per_device = {:int}"),
    Fact("devices_per_node", "^gpu_num_per_node = {:int}"),
    Fact("nodes", "^num_nodes = {:int}"),
    Fact("model", "^model = {}"),
    Fact("precision", "^use_fp16 = {}", words={b"True": "amp", b"False": "fp32"}),
)

#: A line of the arguments that DLPerf's scripts print first.
ARGUMENT = rb"^\w++ = "


def dotted_start(keys: bytes) -> bytes:
    """Return a pattern for the start of Megatron's list of arguments; other ranks may print into the list.

    Args:
        keys: a pattern of argument names that only this program prints.
    """
    line = rb" *+(?:%s) \.{2,}+ " % keys
    return rb"-------- arguments --------[- \t]*+\n(?=(?:(?!%s)[^\n]*+\n){0,600}+%s)" % (line, line)


def argument(fact: str, key: str, read: Callable[[bytes], int | str] = int) -> Fact:
    """Return a fact from an argument that is printed as `key = value` or as `key ........ value`.

    GPT-NeoX prints dots after the value as well, and whether it is the default.
    """
    value = rb"([^\s,.]++)(?=[\s,]|\.\.|\Z)"
    return Fact(fact, rb"^ *+%s (?:=|\.++) %s" % (key.encode(), value), read if read is not int else _whole)


def _whole(printed: bytes) -> int:
    """Convert a whole number; anything else, such as `None`, becomes 0, which states nothing."""
    return int(printed) if printed.isdigit() else 0


#: Arguments of Megatron-LM, which DeepSpeed's programs and OneFlow's GPT print as well.
MEGATRON = (
    argument("devices", "world_size"),
    argument("micro_batch", "micro_batch_size"),
    argument("layers", "num_layers"),
    argument("hidden", "hidden_size"),
    argument("heads", "num_attention_heads"),
    argument("sequence_length", "seq_length"),
    argument("tensor_parallel", "tensor_model_parallel_size"),
    argument("pipeline_parallel", "pipeline_model_parallel_size"),
    argument("data_parallel", "data_parallel_size"),
)
#: Arguments of the scripts of DLPerf for Wide & Deep and other networks for recommendation.
WIDE_DEEP = (
    argument("nodes", "num_nodes"),
    argument("devices_per_node", "gpu_num_per_node"),
    argument("batch_size_of_job", "batch_size"),
    argument("vocabulary", "deep_vocab_size"),
    argument("embedding", "deep_embedding_vec_size"),
    argument("layers", "hidden_units_num"),
    argument("hidden", "hidden_size"),
)
