"""SlowFast (`tools/run_net.py`) and what is made of it, such as MViT and VideoMAE: a row of JSON per `LOG_PERIOD` iterations.

`dt`, or `time_diff`, is the time of the one iteration that is printed, which says nothing of those in between: loaders
stall for one in so many. The stamps of the lines tell the speed. What lies between two epochs, such as an evaluation,
is in the first record of the next. `BATCH_SIZE` of the configuration is that of a machine, and read where there is one.
"""

from perfledger.parsers.contract import Fact, Format, Pause, Reading

FORMAT = Format(
    title="SlowFast",
    framework="PyTorch",
    unproven=True,
    start=rb"\[INFO\] [\w.]++: ++[0-9]++: Train with config:",
    readings=(
        Reading(
            '[{clock}][INFO] {_}:  {_}: json_stats: {{"_type": "train_iter", {?"dt": {_}, {?"dt_data": {_}, "dt_net": {_}, }}"epoch": "{epoch}/{total_epochs}", "eta": "{_}", {?"gpu_mem": "{_}", }{?"grad_norm": {_}, }"iter": "{step}/{total_steps}"{?, "loss": {loss}}',
            unit="samples/s",
            epoch_end=True,
            pauses=(Pause("evaluation", 'json_stats: {{"_type": "val_'),),
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
