"""OpenMMLab's metric files: MMCV's `.log.json` and MMEngine's `scalars.json`, whatever their suffix.

`time` is seconds per iteration of the whole job, the wait for data included: in MMCV a mean over the interval, in
MMEngine by default over the last ten iterations. MMCV's runner that counts iterations has the evaluation inside the row
after it, and that of epochs starts its timer anew; there `epoch` counts passes of the loader, which rests for two
seconds between them. A file may lack the rows of evaluations: then rows that wait for data at regular distances hold
them. Rows of evaluations carry `time` as well in MMEngine, and a step that is an epoch. The batch size stands in the
configuration only, which the first line of a run may hold.
"""

from __future__ import annotations

import numpy as np

from perfledger.parsers.contract import (
    EPOCH_END,
    EPOCH_TIMER,
    Columns,
    Fact,
    Format,
    Pause,
    Postprocessed,
    Reading,
    Rows,
    median,
)
from perfledger.parsers.frameworks.mmseg import ACCUMULATION, experiment

#: A row contains an evaluation if it takes so many times the median,
_SLOW = 1.5
#: and this share of the further time is a wait for data.
_WAITS = 0.8
#: Least number of such rows; fewer show no regular distance.
_SEVERAL = 3
#: Largest share of the rows: a loader that is slow is slow more often.
_FEW = 0.1


def _with_evaluations(columns: Columns) -> Postprocessed:
    """Return the rows, and which hold an evaluation that no row of its own tells: of a runner that counts iterations.

    It lies between two iterations, and so in the wait for data. The loader rests at the end of its pass, too.
    """
    took, waits, steps = columns["step_seconds"], columns["reader_seconds"], columns["step"]
    more, waited = took - median(took), waits - median(waits)
    waited_long = (took > _SLOW * median(took)) & (waited > _WAITS * more)
    ends = np.diff(columns["epoch"]) != 0
    slow = np.flatnonzero(waited_long & ~np.append(True, ends) & ~np.append(ends, False))
    every = np.diff(steps[slow])
    found = np.zeros(len(steps))
    if _SEVERAL <= len(slow) <= _FEW * len(steps) and every.min() > 0 and not (every % every.min()).any():
        found[waited_long & ((steps - steps[slow[0]]) % every.min() == 0)] = 1.0
    return np.arange(len(steps)), {**columns, "evaluated": found}


FORMAT = Format(
    title="OpenMMLab metrics",
    framework="PyTorch",
    start=rb'(?m)^\{"env_info": "',
    readings=(
        Reading(
            Rows(
                '^{"mode": "train", ',
                epoch="epoch", step="iter", reader_seconds="data_time", step_seconds="time", loss="loss", memory="memory?",
            ),
            unit="samples/s",
            verbs=(_with_evaluations,),
            pauses=(Pause("evaluation", '{{"mode": "val", '), EPOCH_END, EPOCH_TIMER),
        ),
        Reading(
            Rows("^{", "!mode", reader_seconds="data_time", step_seconds="time", loss="loss", step="step"),
            unit="samples/s",
        ),
    ),
    facts=(
        Fact("model", rb'"exp_name": "([\w.+-]++)"', experiment),
        Fact("batch_size", rb"\bsamples_per_gpu=([0-9]++)", int),
        Fact("devices", rb"\\ngpu_ids = range\(0, ((?!1\))[0-9]++)\)", int),
        Fact("accumulation", ACCUMULATION, int),
        Fact("precision", rb"(type='Fp16OptimizerHook'|\\nfp16 = dict\()", lambda _: "amp"),
        Fact("precision", rb"(\\noptimizer_config = dict\()", lambda _: "fp32"),
        Fact("gpu", rb'^\{"env_info": "[^"\r\n]{0,2000}?\bGPU [0-9,]++: ([^\\"\r\n]++)\\n'),
        Fact("framework_version", rb'^\{"env_info": "[^"\r\n]{0,2000}?\bPyTorch: ([^\\"\s]++)\\n'),
    ),
)  # fmt: skip
