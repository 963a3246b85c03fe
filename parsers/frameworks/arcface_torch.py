"""InsightFace, ArcFace (PyTorch, `recognition/arcface_torch`): a `Speed` line per `frequent` batches, by the first rank.

`Speed` counts all devices. Its clock runs on while the model is verified and, at the end of an epoch, saved. A step is
a batch, however many of them an update accumulates. Releases before 2022 do not print `LearningRate` and
`total_batch_size`, and name no number of devices.
"""

from perfledger.parsers.contract import EPOCH_END, Fact, Format, Pause, Reading

#: Before a key of the configuration.
_SETTING = "Training: {_} {_}-: "

FORMAT = Format(
    title="InsightFace arcface_torch",
    framework="PyTorch",
    start=rb"Training: [0-9 :,-]{23}-rank_id: 0\b",
    readings=(
        Reading(
            "Training: {clock}-Speed {throughput} samples/sec  Loss {loss}  {?LearningRate {_}  }Epoch: {epoch}  Global Step: {step}",
            unit="images/s",
            pauses=(
                Pause("evaluation", "]XNorm: "),
                Pause("checkpoint", "Pytorch Model Saved in "),
                EPOCH_END,
            ),
        ),
    ),
    facts=(
        Fact("batch_size", _SETTING + "batch_size  {:int}"),
        Fact("batch_size_of_job", _SETTING + "total_batch_size  {:int}"),
        Fact("model", _SETTING + "network  {}"),
        Fact("num_classes", _SETTING + "num_classes  {:int}"),
        Fact("precision", _SETTING + "fp16  {}", words={b"True": "amp", b"False": "fp32"}),
    ),
)
