"""VoiceprintRecognition, AudioClassification and their like in PyTorch and PaddlePaddle: a line per so many batches.

`speed` is the throughput of one device since the last line, with the wait for data. It begins anew with each epoch,
whose first batch has a line of its own; evaluations and what is saved lie outside.
"""

from perfledger.parsers.contract import Fact, Format, NearMiss, Reading, Sample, up_to

FORMAT = Format(
    title="VoiceprintRecognition",
    marker=b" data/sec, eta: ",
    unproven=True,
    readings=(
        Reading(
            rb"Train epoch: \[<epoch>/<total_epochs>\], batch: \[<step>/<total_steps>\], loss: <loss>, " + up_to(rb"\bspeed: ", rb"Train epoch: ")
            + rb"<throughput> data/sec, eta: ",
            unit="samples/s",
            scope="device",
            epoch_timer=True,
        ),
    ),
    facts=(Fact("framework", rb"\bmodel\.(pth|pdparams)\b", words={b"pth": "PyTorch", b"pdparams": "PaddlePaddle"}),),
    samples=(
        Sample(
            b"[2026-11-20 13:14:40.123456 INFO   ] trainer:__train_epoch:334 - Train epoch: [1/30], batch: [100/1365], loss: 10.25000, accuracy: 0.12500, "
            b"learning rate: 0.00100000, speed: 480.50 data/sec, eta: 15:07:15",
            epoch=1, total_epochs=30, step=100, total_steps=1365, loss=10.25, throughput=480.5,
        ),
        NearMiss(
            b"Train epoch: [1/30], batch: [100/1365], loss: 10.25000, accuracy: 0.12500, learning rate: 0.00100000, speed: 480.5", "cut inside the number",
        ),
    ),
)  # fmt: skip
