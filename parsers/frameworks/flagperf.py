"""FlagPerf (`[PerfLog]`, for the accelerators of many vendors): the samples so far of each event that ends a step.

Each has milliseconds since 1970, so that the time between two lines gives the speed. The speed next to them (`seq/s`)
is that of the last step alone, under a name that each model chooses, and is not read. An evaluation has events of its
own. Programs may print further lines, which then count.
"""

from perfledger.parsers.contract import Format, Pause, Reading
from perfledger.parsers.frameworks import value

_EVENT = '[PerfLog] {{"event": "'

FORMAT = Format(
    title="FlagPerf",
    unproven=True,
    start=_EVENT + 'INIT_START"',
    end=_EVENT + 'FINISHED"',
    readings=(
        Reading(
            # Each model prints its keys in an order of its own.
            rb'\[PerfLog\] \{"event": "STEP_END", "value": \{(?=")' + value(rb"global_steps", rb"<step>") + value(rb"num_trained_samples", rb"(?P<consumed>[0-9]++)")
            + value(rb"loss", rb"<loss>", needed=False) + rb'[^\r\n{}]++\}, "metadata": \{(?=")' + value(rb"time_ms", rb"<unix:ms>"),
            unit="samples/s",
            weak=True,
            pauses=(Pause("evaluation", _EVENT + 'EVALUATE"'),),
        ),
    ),
)  # fmt: skip
