"""CLU's metric writer, as Flax's examples use it: `[332] steps_per_sec=5.51328`, steps of the job over the interval.

Processes on several hosts may all print into one file. The interval after an evaluation or a checkpoint includes it.
The batch size is in the configuration that is printed above. T5X prints `timing/seqs_per_second` of the job, by a timer
of its training loop alone. Vision Transformer prints `img_sec_core_train` of one device (JAX's cores), by a clock that
does not wait for the devices: after an evaluation it sees steps started, not done, so that the two records there count
nowhere. Scenic prints `img/sec` of the job, by a timer that stops during evaluations.
"""

from perfledger.parsers.contract import Fact, Format, Pause, Reading

FORMAT = Format(
    title="CLU (Flax)",
    framework="JAX",
    start=rb"\] JAX (?:process|host): 0 / [0-9]",
    readings=(
        Reading(
            "logging_writer.py:{_}] [{step}]{*} steps_per_sec{?ond}={steps_per_second}",
            unit="samples/s",
            ranks="median",
            pauses=(
                Pause("evaluation", "eval_{loss|accuracy}="),
                Pause("checkpoint", "Saving checkpoint at step"),
                Pause("checkpoint", "Storing next checkpoint '"),
                Pause("checkpoint", "Started {?async }saving checkpoint to "),
            ),
        ),
        Reading(
            "logging_writer.py:{_}] [{step}] collection=train {*}timing/seconds={duration}, timing/seqs={samples}, timing/seqs_per_second={throughput}",
            unit="sequences/s",
            per_update=True,
            pauses=(Pause("evaluation", "collection=training_eval/", inside="none"),),
        ),
        Reading(
            "logging_writer.py:{_}] [{step}] img_sec_core_train={throughput}",
            unit="images/s",
            scope="device",
            pauses=(
                Pause("evaluation", "img_sec_core_test=", records=2),
                Pause("checkpoint", "Stored checkpoint at step ", records=2),
            ),
        ),
        Reading(
            "logging_writer.py:{_}] [{step}] core_hours{*} img/sec={throughput}, img/sec/core=",
            unit="images/s",
            pauses=(Pause("evaluation", rb"valid[_/]\w++=", inside="none"),),
        ),
    ),
    facts=(
        Fact("batch_size", rb"^(?:[^\n\]]{0,99}\] )?per_device_batch_size: ([0-9]++)$", int),
        Fact("batch_size", "Hyperparameters{?]}{?:} {{{*}'per_device_batch_size': {:int}"),
        Fact("batch_size_of_job", "Finished training step {_} Batch size: {:int}, "),
        Fact("batch_size_of_job", rb"^(?:[^\n\]]{0,99}\] )?batch_size: ([0-9]++)$", int),
        Fact("devices_per_node", rb"JAX local devices: \[([^\]\[\n]++)\]", lambda printed: printed.count(b"id=")),
        Fact("nodes", rb"JAX (?:process|host): [0-9]++ / ([0-9]++)$", int),
        Fact("total_steps", "Setting work unit notes: {_} steps/s, {_} ({_}/{:int})"),
    ),
)
