"""FlagPerf (`[PerfLog]`, for the accelerators of many vendors): the samples so far of each event that ends a step.

Each has milliseconds since 1970, so that the time between two lines gives the speed. The speed next to them (`seq/s`)
is that of the last step alone, under a name that each model chooses, and is not read. An evaluation has events of its
own. Programs may print further lines, which then count.
"""

from perfledger.parsers.contract import Format, Pause, Reading

_EVENT = '[PerfLog] {{"event": "'

FORMAT = Format(
    title="FlagPerf",
    marker=b"[PerfLog] {",
    unproven=True,
    start=_EVENT + 'INIT_START"',
    end=_EVENT + 'FINISHED"',
    readings=(
        Reading(
            _EVENT + 'STEP_END", "value": {{{?"loss": {loss}, }{*}"num_trained_samples": {consumed}, {*}"global_steps": {step}{*}}}, "metadata": {{{*}"time_ms": {unix},',
            unit="samples/s",
            factors={"unix": 1e-3},
            weak=True,
            pauses=(Pause("evaluation", _EVENT + 'EVALUATE"'),),
        ),
    ),
)  # fmt: skip
