"""PaddleSpeech: a line per `log_interval` batches of recognition (`s2t`), or per iteration of synthesis (`t2s`).

Both time one batch of one device, with the wait for its data: batches between two lines are not timed. Every rank
prints its lines. Recognition counts a step where the parameters are updated, so that a step may have several batches;
batches are counted here. The recognition of 2021 prints the wait for data and the training of each batch apart, and
the batch of the configuration.
"""

from perfledger.parsers.contract import Format, Reading, total
from perfledger.parsers.paddle import LAUNCHER

FORMAT = Format(
    title="PaddleSpeech",
    framework="PaddlePaddle",
    start="- train.py Configuration Arguments -",
    unproven=True,
    readings=(
        Reading(
            "Train: Rank: {_}, epoch: {epoch}, step: {_}, lr: {*}iter: {step}, {?total: {total_steps}, }reader_cost: {reader_seconds}, batch_cost: {step_seconds}, samples: {batch}, ips: {throughput} sent./sec",
            unit="samples/s",
            scope="device",
            span="step",
            ranks="median",
        ),
        Reading(
            "iter: {step}/{?{total_steps}}{?None}, {*}avg_reader_cost: {reader_seconds} sec, avg_batch_cost: {step_seconds} sec, avg_samples: {batch}, avg_ips: {throughput} sequences/sec",
            unit="samples/s",
            scope="device",
            span="step",
            ranks="median",
        ),
        Reading(
            "Train: Rank: {_}, epoch: {epoch}, step: {_}, batch : {step}/{total_steps}, lr: {_}, data time: {reader_seconds:s}, train time: {_training:s}, batch size: {batch},",
            unit="samples/s",
            scope="device",
            span="step",
            ranks="median",
            verbs=(total("step_seconds", "reader_seconds", "_training"),),
        ),
    ),
    facts=LAUNCHER,
)  # fmt: skip
