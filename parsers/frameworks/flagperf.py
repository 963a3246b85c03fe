"""FlagPerf (`[PerfLog]`, for the accelerators of many vendors): the samples so far of each event that ends a step.

Each stands with milliseconds since 1970, so that the time between two lines tells the speed. The speed beside them
(`seq/s`) is that of the last step alone, under a name that each model chooses, and is not read. An evaluation has events
of its own. Programs may print further lines, which then count.
"""

from perfledger.parsers.contract import Format, NearMiss, Pause, Reading, Sample
from perfledger.parsers.frameworks import value

_EVENT = rb'\[PerfLog\] \{"event": "'

FORMAT = Format(
    title="FlagPerf",
    marker=b"[PerfLog] {",
    unproven=True,
    start=_EVENT + rb'INIT_START"',
    end=_EVENT + rb'FINISHED"',
    readings=(
        Reading(
            _EVENT + rb'STEP_END", "value": \{(?=")' + value(rb"global_steps", rb"<step>") + value(rb"num_trained_samples", rb"(?P<consumed>[0-9]++)")
            + value(rb"loss", rb"<loss>", needed=False) + rb'[^\r\n{}]++\}, "metadata": \{(?=")' + value(rb"time_ms", rb"(?P<unix>[0-9]++)"),
            unit="samples/s",
            factors={"unix": 1e-3},
            weak=True,
            pauses=(
                Pause("evaluation", rb'\[PerfLog\] \{"event": "EVALUATE"',
                      b'[PerfLog] {"event": "EVALUATE", "metadata": {"file": "/workspace/run_pretraining.py", "lineno": 131, "time_ms": 1763632800000, "rank": 0}}'),
            ),
        ),
    ),
    samples=(
        Sample(
            b'[PerfLog] {"event": "STEP_END", "value": {"loss": 2.625, "mlm_acc": 0.75, "epoch": 0, "end_training": false, "num_trained_samples": 25600, '
            b'"global_steps": 100, "learning_rate": 0.0002, "seq/s": 1302.15}, "metadata": {"file": "/workspace/run_pretraining.py", "lineno": 137, '
            b'"time_ms": 1763632800500, "rank": 0}}\n',
            step=100, consumed=25600, loss=2.625, clock=1763632800.5,
        ),
        NearMiss(
            b'[PerfLog] {"event": "STEP_END", "value": {"loss": 2.625, "global_steps": 100, "num_trained_samples": 25600}, "metadata": {"file": "/wor', "cut",
        ),
        NearMiss(
            b'[PerfLog] {"event": "EVALUATE", "metadata": {"file": "/workspace/run_pretraining.py", "lineno": 131, "time_ms": 1763632800000, "rank": 0}}\n',
            "an evaluation",
        ),
    ),
)  # fmt: skip
