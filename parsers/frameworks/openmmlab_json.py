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

from perfledger.parsers.contract import Columns, Fact, Format, Pause, Postprocessed, Reading
from perfledger.parsers.contract.statistics import median
from perfledger.parsers.frameworks import row, value
from perfledger.parsers.frameworks.mmseg import ACCUMULATION, experiment

_TIMES = value(rb"data_time", rb"<reader_seconds>") + value(rb"time", rb"<step_seconds>") + value(rb"loss", rb"<loss>")

#: A row holds an evaluation if it takes so many times as long as usual, this share of which it waits for data; at least so
#: many rows, at most this share of all.
_SLOW, _WAITS, _SEVERAL, _FEW = 1.5, 0.8, 3, 0.1


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
    marker=b'"time": ',
    start=rb'(?m)^\{"env_info": "',
    readings=(
        Reading(
            row(rb'"mode": "train", "epoch": <epoch>, "iter": <step>, (?:"lr": \{[^\r\n{}]++\}, )?+', _TIMES, value(rb"memory", rb"(?P<memory>[0-9]++)", needed=False)),
            unit="samples/s",
            epoch_end=True,
            epoch_timer=True,
            verbs=(_with_evaluations,),
            pauses=(Pause("evaluation", rb'\{"mode": "val", '),),
        ),
        Reading(
            # Of several networks, each has one.
            row(rb'"(?:base_)?+(?:\w++\.)?+lr": ', _TIMES, value(rb"step", rb"<step>")),
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
