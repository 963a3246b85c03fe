"""OpenMMLab's metric files: MMCV's `.log.json` and MMEngine's `scalars.json`, whatever their suffix.

`time` is seconds per iteration of the whole job, the wait for data included: in MMCV a mean over the interval, in
MMEngine by default over the last ten iterations. MMCV's runner that counts iterations has the evaluation inside the row
after it, and that of epochs restarts its timer; there `epoch` counts passes of the loader, which rests for two
seconds between them. A file may lack the rows of evaluations: then slow rows at regular distances contain
them. Rows of evaluations carry `time` as well in MMEngine, and a step that is an epoch. The batch size is only in the
configuration, which the first line of a run may contain.
"""

from __future__ import annotations

from perfledger.parsers.contract import EPOCH_END, EPOCH_TIMER, Fact, Format, Pause, Reading, Rows, evaluations
from perfledger.parsers.frameworks.mmseg import ACCUMULATION, EXPERIMENT

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
            verbs=(evaluations,),
            pauses=(Pause("evaluation", '{{"mode": "val", '), EPOCH_END, EPOCH_TIMER),
        ),
        Reading(
            Rows("^{", "!mode", reader_seconds="data_time", step_seconds="time", loss="loss", step="step"),
            unit="samples/s",
        ),
    ),
    facts=(
        Fact("model", rb'"exp_name": "' + EXPERIMENT + rb'"'),
        Fact("batch_size", rb"\bsamples_per_gpu=([0-9]++)", int),
        Fact("devices", rb"\\ngpu_ids = range\(0, ((?!1\))[0-9]++)\)", int),
        Fact("accumulation", ACCUMULATION, int),
        Fact("precision", rb"(type='Fp16OptimizerHook'|\\nfp16 = dict\()", lambda _: "amp"),
        Fact("precision", rb"(\\noptimizer_config = dict\()", lambda _: "fp32"),
        Fact("gpu", rb'^\{"env_info": "[^"\r\n]{0,2000}?\bGPU [0-9,]++: ([^\\"\r\n]++)\\n'),
        Fact("framework_version", rb'^\{"env_info": "[^"\r\n]{0,2000}?\bPyTorch: ([^\\"\s]++)\\n'),
    ),
)  # fmt: skip
