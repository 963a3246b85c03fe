"""InsightFace, ArcFace (PyTorch, `recognition/arcface_torch`): a `Speed` line per `frequent` batches, by the first rank.

`Speed` counts all devices. Its clock runs on while the model is verified and, at the end of an epoch, saved. A step is a
batch, however many of them an update accumulates. Releases before 2022 do not print `LearningRate` and
`total_batch_size`, and name no number of devices.
"""

from perfledger.parsers.contract import Fact, Format, NearMiss, Pause, Reading, Sample

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
                    "evaluation", rb"]XNorm: ", b"Training: 2026-11-20 09:10:00,125-[lfw][2000]XNorm: 21.500000"
                ),
                Pause(
                    "checkpoint", rb"Pytorch Model Saved in ",
                    b"Training: 2026-11-20 09:10:00,125-Pytorch Model Saved in 'work_dirs/backbone.pth'",
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
    samples=(
        Sample(
            b"Training: 2026-11-20 08:36:06,500-Speed 3200.50 samples/sec   Loss 34.2500   LearningRate 0.1000   Epoch: 1   "
            b"Global Step: 1250   Fp16 Grad Scale: 16384   Required: 31 hours\n",
            clock=1795163766.5, throughput=3200.5, loss=34.25, epoch=1, step=1250,
        ),
        Sample(
            b"Training: 2026-11-20 08:36:06,500-Speed 1600.25 samples/sec   Loss 8.5000   Epoch: 0   Global Step: 100   "
            b"Required: 9 hours\n",
            throughput=1600.25, loss=8.5, epoch=0, step=100,
        ),
        NearMiss(b"Training: 2026-11-20 08:36:06,500-[lfw][2000]Accuracy-Flip: 0.99750+-0.00250\n", "verification"),
        NearMiss(
            b"Training: 2026-11-20 08:36:06,500-Speed 3200.50 samples/sec   Loss 34.2500   Epoch: 0   Global Step: 12",
            "cut inside the step",
        ),
    ),
)  # fmt: skip
