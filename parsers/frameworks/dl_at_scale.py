"""NERSC's tutorials "Deep Learning at Scale" (`train.py`, since 2021) and programs made of them: a line per epoch.

Source: `train.py` of these tutorials. The speed is that of the job: the global batch times the steps, divided by the
seconds of the epoch, without validations and with the wait for data. The first epoch includes the start.
"""

from perfledger.parsers.contract import Fact, Format, Pause, Reading

FORMAT = Format(
    title="NERSC DL at Scale",
    framework="PyTorch",
    unproven=True,
    start=rb"- root - INFO - -{18} Configuration -{18}",
    end="- root - INFO - DONE ---- rank 0",
    readings=(
        Reading(
            "Time taken for epoch {epoch} is {duration} sec, avg {throughput} samples/sec",
            unit="samples/s",
            span="epoch",
            pauses=(Pause("evaluation", "Total validation time: ", inside="none"),),
        ),
    ),
    facts=(
        Fact("batch_size_of_job", rb"\bglobal_batch_size:? ([0-9]++)$", int),
        Fact("devices", rb"\bworld_size:? ([0-9]++)$", int),
    ),
)  # fmt: skip
