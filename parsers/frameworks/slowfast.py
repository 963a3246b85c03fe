"""SlowFast (`tools/run_net.py`) and programs derived from it, such as MViT and VideoMAE: a JSON row per `LOG_PERIOD` iterations.

`dt`, or `time_diff`, is the time of the printed iteration, which does not represent the others, since loaders stall
only at some iterations. The stamps of the lines give the speed. An evaluation between two epochs is part of the first
record of the next epoch. `BATCH_SIZE` of the configuration is that of a machine, and read if there is one machine.
"""

from perfledger.parsers.contract import EPOCH_END, Fact, Format, Pause, Reading

FORMAT = Format(
    title="SlowFast",
    framework="PyTorch",
    unproven=True,
    start=rb"\[INFO\] [\w.]++: ++[0-9]++: Train with config:",
    readings=(
        Reading(
            '[{clock}][INFO] {_}:  {_}: json_stats: {{"_type": "train_iter", {?"dt": {_}, {?"dt_data": {_}, "dt_net": {_}, }}"epoch": "{epoch}/{total_epochs}", "eta": "{_}", {?"gpu_mem": "{_}", }{?"grad_norm": {_}, }"iter": "{step}/{total_steps}"{?, "loss": {loss}}',
            unit="samples/s",
            pauses=(Pause("evaluation", 'json_stats: {{"_type": "val_'), EPOCH_END),
        ),
    ),
    facts=(
        Fact("devices_per_node", rb"^NUM_GPUS: (\d++)$", int),
        Fact("nodes", rb"^NUM_SHARDS: (\d++)$", int),
        Fact(
            "batch_size_of_job",
            rb"^NUM_SHARDS: 1\r?+\n(?:(?!TRAIN:)[^\r\n]*+\r?+\n){0,300}+TRAIN:\r?+\n"
            rb"(?: *+(?!BATCH_SIZE: )[^\r\n]*+\r?+\n){0,60}+ *+BATCH_SIZE: (\d++)$",
            int,
        ),
        Fact("precision", rb"^ ++MIXED_PRECISION: (True|False)$", words={b"True": "amp", b"False": "fp32"}),
        Fact("model", rb"^ ++MODEL_NAME: (\w++)$"),
    ),
)  # fmt: skip
