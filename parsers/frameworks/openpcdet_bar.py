"""The bars of OpenPCDet up to 2022, and since then with `--use_tqdm_to_record`: a record per epoch, by its seconds.

`train: 100%|...| 928/928 [10:05<00:00,  1.53it/s, total_it=9280]`. The time is cut to whole seconds, and the speed after it
smoothed: an epoch is taken as a whole, and short ones are too coarse. The bar contains training alone; that of the evaluation begins
with `eval: `. The rest of the log is as in its lines.
"""

from __future__ import annotations

from perfledger.parsers.contract import Format, Reading, carry, fine, only, states
from perfledger.parsers.frameworks.openpcdet import FORMAT as OPENPCDET

FORMAT = Format(
    title="OpenPCDet, bars",
    framework="PyTorch",
    unproven=True,
    start=OPENPCDET.start,
    end=OPENPCDET.end,
    readings=(
        # The complete bar is drawn with its last step but one, and with its last.
        Reading(
            "epochs:  {_}%|{*}| {epoch}/{_} [\n\ntrain: 100%|{*}| {steps}/{_} [{duration:length}<{*}, total_it={step}]",
            unit="samples/s",
            span="epoch",
            verbs=(carry("epoch"), only("steps"), states("epoch", last=True), fine("duration", 1.0, cut=True)),
        ),
    ),
    facts=OPENPCDET.facts,
)  # fmt: skip
