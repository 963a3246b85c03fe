"""PaddlePaddle/models, BERT of 2020, and ERNIE (2019 to 2020): pre-training and fine-tuning, a record per `skip_steps` steps.

`speed` counts steps of the loop that all trainers run together: the throughput of the job is speed times batch size
times all its devices. DLPerf multiplied by the devices of one node only, yet published figures of several nodes that no
such step rate explains. Validation prints the same `speed`; that of fine-tuning lies in the record that follows it.
`batch_size` counts tokens unless `in_tokens: False`.
"""

from perfledger.parsers.contract import Fact, Format, NearMiss, Pause, Reading, Sample, Window

FORMAT = Format(
    title="Paddle BERT (2020)",
    framework="PaddlePaddle",
    marker=b" steps/s",
    start=b"-  Configuration Arguments -",
    readings=(
        Reading(
            rb"epoch: <epoch>, progress: [0-9]++/[0-9]++, step: <step>, (?:ave )?+loss: <loss>, "
            rb"(?:ppl: \S++ next_sent_acc: <accuracy>, |ave acc: [0-9.]++, |f1: [^\s,]++, precision: [^\s,]++, recall: [^\s,]++, )?+speed: <steps_per_second> steps/s",
            unit="sequences/s",
            pauses=(
                Pause(
                    "evaluation",
                    rb"\[validation_set\] epoch: ",
                    b"[validation_set] epoch: 1, step: 100, loss: 10.036789, global ppl: 12706.841797, speed: 0.987255 steps/s",
                ),
                Pause(
                    "evaluation",
                    rb" evaluation\] ",
                    b"[dev evaluation] ave loss: 0.250000, acc:0.500000, data_num: 1200, elapsed time: 15.5 s file: dev.tsv, epoch: 1, steps: 100",
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
        Sample(
            b"epoch: 3, progress: 2240/9600, step: 350, ave loss: 0.250000, ave acc: 0.968750, speed: 1.250000 steps/s\n",
            epoch=3, step=350, loss=0.25, steps_per_second=1.25,
        ),
        Sample(
            b"epoch: 3, progress: 2240/9600, step: 350, loss: 0.250000, f1: 0.750000, precision: 0.750000, recall: 0.750000, speed: 1.250000 steps/s\n",
            step=350, loss=0.25, steps_per_second=1.25, accuracy=float("nan"),
        ),
        NearMiss(
            b"[validation_set] epoch: 1, step: 100, loss: 10.036789, global ppl: 12706.841797, batch-averged ppl: 12706.841797, "
            b"next_sent_acc: 1.000000, speed: 0.987255 steps/s",
            "validation",
        ),
        NearMiss(b"epoch: 1, progress: 1/1, step: 60, loss: 10.487363, ppl: 177.2, next_sent_acc: 0.56, speed: 1.06", "cut"),
    ),
)  # fmt: skip
