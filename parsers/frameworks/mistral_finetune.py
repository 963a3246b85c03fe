"""mistral-finetune, and moshi-finetune after it: a line per `log_freq` steps, with tokens per second of one device.

Its words are tokens, padding too, and its speed is that of the last step before the line. The time of a step includes
its evaluation; a checkpoint comes after the line. `batch_size` counts sequences of `seq_len` tokens per device; an
update takes `num_microbatches` such batches. Memory is in GiB.
"""

from perfledger.parsers.contract import Fact, Format, Pause, Reading

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
        Fact("accumulation", rb"^ *+'num_microbatches': ([0-9]++)[,}]", int),
        Fact("sequence_length", rb"^ *+'seq_len': ([0-9]++)[,}]", int),
        Fact("total_steps", rb"^ *+'max_steps': ([0-9]++)[,}]", int),
        Fact("devices", rb"^ *+'world_size': ([0-9]++)[,}]", int),
        Fact("devices", "Sharding model over {:int} GPUs"),
        Fact("model", "'model_id_or_path': '{}',"),
        Fact("parameters", " out of {:,} parameters are finetuned"),
    ),
)  # fmt: skip
