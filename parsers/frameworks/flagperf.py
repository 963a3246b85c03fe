"""FlagPerf (`[PerfLog]`, for the accelerators of many vendors): the samples so far of each event that ends a step.

Each stands with milliseconds since 1970, so that the time between two lines tells the speed. The speed beside them
(`seq/s`) is that of the last step alone, under a name that each model chooses, and is not read. An evaluation has events
of its own. Programs may print further lines, which then count.
"""

from perfledger.parsers.contract import Format, Pause, Reading
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
                Pause("evaluation", rb'\[PerfLog\] \{"event": "EVALUATE"'),
            ),
        ),
    ),
)  # fmt: skip
