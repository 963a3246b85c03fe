"""PaddlePaddle/models, BERT of 2020, and ERNIE (2019 to 2020): pre-training and fine-tuning, a record per `skip_steps` steps.

`speed` counts steps of the loop that all trainers run together: the throughput of the job is speed times batch size
times all its devices. DLPerf multiplied by the devices of one node only, yet published figures of several nodes that no
such step rate explains. Validation prints the same `speed`; that of fine-tuning lies in the record that follows it.
`batch_size` counts tokens unless `in_tokens: False`.
"""

from perfledger.parsers.contract import Fact, Format, Pause, Reading

FORMAT = Format(
    title="Paddle BERT (2020)",
    framework="PaddlePaddle",
    start=b"-  Configuration Arguments -",
    readings=(
        Reading(
            "epoch: {epoch}, progress: {_}, step: {step}, {?ave }loss: {loss},{? ppl: {_}, next_sent_acc: {accuracy},}{*} speed: {steps_per_second} steps/s",
            unit="sequences/s",
            pauses=(
                Pause("evaluation", "[validation_set] epoch: "),
                Pause("evaluation", " evaluation] "),
            ),
        ),
    ),
    facts=(
        Fact("batch_size", rb"^batch_size: (\d++)\r?\n(?:(?!-{3})[^\n]*+\n){0,80}?in_tokens: False", int),
        Fact("total_steps", "^num_train_steps: {:int}"),
        Fact("precision", rb"^use_(?:amp|fp16): (\w++)", words={b"True": "amp", b"False": "fp32"}),
    ),
)  # fmt: skip
