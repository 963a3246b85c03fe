"""CLU's metric writer, as Flax's examples use it: `[332] steps_per_sec=5.51328`, steps of the job over the interval.

The interval after an evaluation or a checkpoint holds it. The batch size stands in the configuration that is printed
above. T5X prints `timing/seqs_per_second` of the job, by a timer of its training loop alone. Vision Transformer prints
`img_sec_core_train` of one device (JAX's cores), by a clock that does not wait for the devices: behind an evaluation it
sees steps started, not done, so that the two records there count nowhere. Scenic prints `img/sec` of the job, by a
timer that stops during evaluations.
"""

from perfledger.parsers.contract import Fact, Format, NearMiss, Pause, Reading, Sample, up_to


def _devices(printed: bytes) -> int:
    """Count the devices of `[CudaDevice(id=0), CudaDevice(id=1)]`."""
    return printed.count(b"id=")


FORMAT = Format(
    title="CLU (Flax)",
    framework="JAX",
    marker=b"logging_writer.py:",
    start=rb"\] JAX (?:process|host): 0 / [0-9]",
    readings=(
        Reading(
            rb"logging_writer\.py:[0-9]++\] \[<step>\]" + up_to(rb" steps_per_sec(?:ond)?+=", rb"logging_writer") + rb"<steps_per_second>(?=[,\s])",
            unit="samples/s",
            pauses=(
                Pause("evaluation", rb"eval_(?:loss|accuracy)=", b"I1120 14:02:40.468958 1302 logging_writer.py:48] [400] eval_accuracy=0.5, eval_loss=2.5"),
                Pause("checkpoint", rb"Saving checkpoint at step", b"I1120 14:02:41.468958 1302 checkpoints.py:356] Saving checkpoint at step: 400"),
                Pause("checkpoint", rb"Storing next checkpoint '", b"I1120 14:02:41.468958 1302 checkpoint.py:304] Storing next checkpoint 'out/ckpt-4'"),
                Pause("checkpoint", rb"Started saving checkpoint to ", b"I1120 14:02:41.468958 1302 checkpointer.py:217] [process=0] Started saving checkpoint to out/400."),
                Pause("checkpoint", rb"Started async saving checkpoint to ", b"I1120 14:02:41.468958 1302 async_checkpointer.py:356] [process=0] Started async saving checkpoint to out/400."),
            ),
        ),
        Reading(
            rb"logging_writer\.py:[0-9]++\] \[<step>\] collection=train (?:(?! timing/seconds=|logging_writer)[^\n])*+ timing/seconds=<duration>, "
            rb"timing/seqs=<samples>, timing/seqs_per_second=<throughput>(?=[,\s])",
            unit="sequences/s",
            counts="update",
            pauses=(
                Pause(
                    "evaluation",
                    rb"collection=training_eval/",
                    b"I1120 14:02:40.468958 1302 logging_writer.py:48] [400] collection=training_eval/glue accuracy=0.5, timing/seconds=20.5",
                    inside="none",
                ),
            ),
        ),
        Reading(
            rb"logging_writer\.py:[0-9]++\] \[<step>\] img_sec_core_train=<throughput>(?=[,\s])",
            unit="images/s",
            scope="device",
            pauses=(
                Pause(
                    "evaluation",
                    rb"img_sec_core_test=",
                    b"I1120 14:02:40.468958 1302 logging_writer.py:48] [400] accuracy_test=0.5, img_sec_core_test=812.5, lr=0.01",
                ),
                Pause("checkpoint", rb"Stored checkpoint at step ", b'I1120 14:02:41.468958 1302 train.py:280] Stored checkpoint at step 400 to "out/checkpoint_400"'),
            ),
            lingers=1,
        ),
        Reading(
            rb"logging_writer\.py:[0-9]++\] \[<step>\] core_hours(?:(?! img/sec=|logging_writer)[^\n])*+ img/sec=<throughput>, img/sec/core=",
            unit="images/s",
            pauses=(
                Pause(
                    "evaluation",
                    rb"valid[_/]\w++=",
                    b"I1120 14:02:40.468958 1302 logging_writer.py:48] [400] valid_accuracy=0.5, valid_loss=2.5",
                    inside="none",
                ),
            ),
        ),
    ),
    facts=(
        Fact("batch_size", rb"^(?:[^\n\]]{0,99}\] )?per_device_batch_size: ([0-9]++)$", int),
        Fact("batch_size", rb"Hyperparameters\]?+:? \{" + up_to(rb"'per_device_batch_size': ", rb"Hyperparameters") + rb"([0-9]++)(?=[,}])", int),
        Fact("batch_size_of_job", rb"Finished training step [0-9]++\. Batch size: ([0-9]++), ", int),
        Fact("batch_size_of_job", rb"^(?:[^\n\]]{0,99}\] )?batch_size: ([0-9]++)$", int),
        Fact("devices_per_node", rb"JAX local devices: \[([^\]\[\n]++)\]", _devices),
        Fact("nodes", rb"JAX (?:process|host): [0-9]++ / ([0-9]++)$", int),
        Fact("total_steps", rb"Setting work unit notes: [0-9.]++ steps/s, [0-9.]++% \([0-9]++/([0-9]++)\)", int),
    ),
    samples=(
        Sample(
            b"I1120 14:02:32.468958 1302 logging_writer.py:48] [332] steps_per_sec=5.51328\n", step=332, steps_per_second=5.51328,
        ),
        Sample(
            b"I1120 14:02:32.468958 140 logging_writer.py:83] [100] steps_per_second=5.5, train_loss=6.5, train_accuracy=0.125\n",
            step=100, steps_per_second=5.5,
        ),
        Sample(
            b"I1120 14:02:32.468958 1302 logging_writer.py:48] [1000] collection=train accuracy=0.5, loss=2.5, timing/seconds=25.5, timing/seqs=3200, "
            b"timing/seqs_per_second=125.5, timing/seqs_per_second_per_core=15.6875, timing/steps_per_second=3.92\n",
            step=1000, duration=25.5, samples=3200, throughput=125.5,
        ),
        Sample(
            b"I1120 14:02:32.468958 1302 logging_writer.py:48] [110] img_sec_core_train=812.5, train_loss=6.5\n", step=110, throughput=812.5,
        ),
        Sample(
            b"I1120 14:02:32.468958 1302 logging_writer.py:48] [200] core_hours=1.5, core_hours_TPU v3=1.5, epoch=0.25, img/sec=6500.5, "
            b"img/sec/core=812.5625\n",
            step=200, throughput=6500.5,
        ),
        NearMiss(
            b"I1120 14:02:32.468958 1302 logging_writer.py:48] [200] epoch=0.25, img/sec/core=812.5625, training_loss=6.5\n",
            "V-MoE's mean since the start, evaluations included",
        ),
        NearMiss(
            b"I1120 14:02:32.468958 1302 logging_writer.py:48] [1000] collection=training_eval/glue accuracy=0.5, timing/seconds=25.5, "
            b"timing/seqs=3200, timing/seqs_per_second=125.5\n", "an evaluation",
        ),
        NearMiss(b"I1120 14:02:32.468958 1302 logging_writer.py:48] [332] eval_accuracy=0.5, eval_loss=2.5\n", "an evaluation"),
        NearMiss(b"I1120 14:02:32.468958 1302 local.py:45] Setting work unit notes: 5.5 steps/s, 33.2% (332/1000), ETA: 2m\n", "the same, rounded"),
        NearMiss(b"I1120 14:02:32.468958 1302 logging_writer.py:48] [332] steps_per_sec=5.5", "cut inside the number"),
    ),
)  # fmt: skip
