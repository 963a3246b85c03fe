"""VoiceprintRecognition, AudioClassification and similar programs in PyTorch and PaddlePaddle: a line per print interval.

`speed` is the throughput of one device since the last line, with the wait for data. It restarts with each epoch, whose
first batch has a line of its own; it excludes evaluations and checkpoints.
"""

from perfledger.parsers.contract import EPOCH_TIMER, Fact, Format, Reading

FORMAT = Format(
    title="VoiceprintRecognition",
    unproven=True,
    readings=(
        Reading(
            "Train epoch: [{epoch}/{total_epochs}], batch: [{step}/{total_steps}], loss: {loss}, {*}speed: {throughput} data/sec, eta: ",
            unit="samples/s",
            scope="device",
            pauses=(EPOCH_TIMER,),
        ),
    ),
    facts=(Fact("framework", rb"\bmodel\.(pth|pdparams)\b", words={b"pth": "PyTorch", b"pdparams": "PaddlePaddle"}),),
)  # fmt: skip
