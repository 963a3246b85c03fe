"""mistral-finetune, and moshi-finetune after it: a line per `log_freq` steps, with tokens per second of one device.

Its words are tokens, padding too, and its speed is that of the last step before the line. The time of a step includes
its evaluation; a checkpoint comes after the line. `batch_size` counts sequences of `seq_len` tokens per device, of which
an update takes `num_microbatches`. Memory is in GiB.
"""

from perfledger.parsers.contract import Fact, Format, Pause, Reading


def _args(name: bytes) -> bytes:
    """Return the pattern of a number of the configuration, which is printed over many lines."""
    return rb"^ *+'%s': ([0-9]++)[,}]" % name


FORMAT = Format(
    title="mistral-finetune",
    framework="PyTorch",
    start=" - train - INFO - TrainArgs: {{",
    end=" - train - INFO - done!$",
    readings=(
        Reading(
            "step: {step} - done (%): {_} - loss: {loss} - lr: {_} - peak_alloc_mem (GB): {memory:in GiB} - alloc_mem (GB): {_} - words_per_second: {throughput} - avg_words_per_second: ",
            unit="tokens/s",
            scope="device",
            span="step",
            per_update=True,
            pauses=(Pause("evaluation", " - eval_perplexity: "),),
        ),
    ),
    facts=(
        Fact("batch_size", "TrainArgs: {{'batch_size': {:int},"),
        Fact("accumulation", _args(b"num_microbatches"), int),
        Fact("sequence_length", _args(b"seq_len"), int),
        Fact("total_steps", _args(b"max_steps"), int),
        Fact("devices", _args(b"world_size"), int),
        Fact("devices", "Sharding model over {:int} GPUs"),
        Fact("model", "'model_id_or_path': '{}',"),
        Fact("parameters", " out of {:,} parameters are finetuned"),
    ),
)  # fmt: skip
