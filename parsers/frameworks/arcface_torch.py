"""InsightFace, ArcFace (PyTorch, `recognition/arcface_torch`): a `Speed` line per `frequent` batches, by the first rank.

`Speed` counts all devices. Its clock runs on while the model is verified and, at the end of an epoch, saved. A step is a
batch, however many of them an update accumulates. Releases before 2022 do not print `LearningRate` and
`total_batch_size`, and name no number of devices.
"""

from perfledger.parsers.contract import Fact, Format, Pause, Reading

_TRAINING = rb"Training: \d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d{3}-"


def _setting(name: bytes) -> bytes:
    """Return the pattern of a key of the configuration, up to its value."""
    return _TRAINING + rb": " + name + rb" ++"


FORMAT = Format(
    title="InsightFace arcface_torch",
    framework="PyTorch",
    marker=b"-Speed ",
    start=_TRAINING + rb"rank_id: 0\b",
    readings=(
        Reading(
            rb"Training: (?P<clock>\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d{3})-Speed <throughput> samples/sec ++Loss <loss> ++"
            rb"(?:LearningRate [0-9.e-]++ ++)?+Epoch: <epoch> ++Global Step: <step>(?=\s)",
            unit="images/s",
            pauses=(
                Pause(
                    "evaluation", rb"]XNorm: "
                ),
                Pause(
                    "checkpoint", rb"Pytorch Model Saved in ",
                ),
            ),
            epoch_end=True,
        ),
    ),
    facts=(
        Fact("batch_size", _setting(rb"batch_size") + rb"(\d++)\s", int),
        Fact("batch_size_of_job", _setting(rb"total_batch_size") + rb"(\d++)\s", int),
        Fact("model", _setting(rb"network") + rb"(\w++)\s"),
        Fact("num_classes", _setting(rb"num_classes") + rb"(\d++)\s", int),
        Fact("precision", _setting(rb"fp16") + rb"(True|False)\b", words={b"True": "amp", b"False": "fp32"}),
    ),
)  # fmt: skip
