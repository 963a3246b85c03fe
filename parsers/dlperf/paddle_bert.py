"""PaddlePaddle/models, BERT pre-training of 2020 (`train.py`): a record per `skip_steps` steps.

`speed` counts steps of the loop that all trainers run together: the throughput of the job is speed times batch size
times all its devices. DLPerf multiplied by the devices of one node only, yet published figures of several nodes that no
such step rate explains. Validation prints the same `speed`. `batch_size` counts tokens unless `in_tokens: False`.
"""

from parsers.contract import Fact, Format, NearMiss, Pause, Reading, Sample, Window

FORMAT = Format(
    title="Paddle BERT (2020)",
    framework="PaddlePaddle",
    marker=b" steps/s",
    start=b"-  Configuration Arguments -",
    readings=(
        Reading(
            rb"epoch: <epoch>, progress: [0-9]++/[0-9]++, step: <step>, loss: <loss>, "
            rb"(?:ppl: \S++ next_sent_acc: <accuracy>, )?+speed: <steps_per_second> steps/s",
            unit="sequences/s",
            pauses=(
                Pause(
                    "evaluation",
                    rb"\[validation_set\] epoch: ",
                    b"[validation_set] epoch: 1, step: 100, loss: 10.036789, global ppl: 12706.841797, speed: 0.987255 steps/s",
                ),
            ),
        ),
    ),
    facts=(
        Fact("batch_size", rb"^batch_size: (\d++)\r?\n(?:(?!-{3})[^\n]*+\n){0,80}?in_tokens: False", int),
        Fact("total_steps", rb"^num_train_steps: (\d++)", int),
        Fact("precision", rb"^use_(?:amp|fp16): (\w++)", words={b"True": "amp", b"False": "fp32"}),
    ),
    windows={"dlperf": Window(21, 120)},
    samples=(
        Sample(
            b"epoch: 1, progress: 1/1, step: 60, loss: 10.487363, ppl: 17796.216797, next_sent_acc: 0.560417, "
            b"speed: 1.250000 steps/s, file: demo_wiki_train.gz",
            epoch=1, step=60, loss=10.487363, accuracy=0.560417, steps_per_second=1.25,
        ),
        Sample(b"epoch: 1, progress: 2/9, step: 80, loss: 9.5, speed: 0.5 steps/s\n", step=80, steps_per_second=0.5),
        NearMiss(
            b"[validation_set] epoch: 1, step: 100, loss: 10.036789, global ppl: 12706.841797, batch-averged ppl: 12706.841797, "
            b"next_sent_acc: 1.000000, speed: 0.987255 steps/s",
            "validation",
        ),
        NearMiss(b"epoch: 1, progress: 1/1, step: 60, loss: 10.487363, ppl: 177.2, next_sent_acc: 0.56, speed: 1.06", "cut"),
    ),
)  # fmt: skip
