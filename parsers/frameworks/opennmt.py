"""OpenNMT-py (`train.py`, `onmt_train`) and programs made of it: a line per `report_every` steps with two speeds.

They are tokens of the source and of the target per second, of which those of the target are read, as other translators
count them: of all devices, over the seconds since the line before. These hold what a validation or a checkpoint takes,
and the loading of data. A step is an update. Until 2018 the steps of each epoch were counted, and programs of that time
print no date; the seconds at the end are whole ones, since the start or, in some, since that of the epoch.
"""

from __future__ import annotations

import numpy as np

from parsers.contract import Columns, Fact, Format, NearMiss, Pause, Postprocessed, Reading, Sample, is_private, listed
from parsers.frameworks import PYTORCH_JOB

_STAMP = rb"(?:\[(?P<clock>\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d{3}) INFO\] )?+"
_METRICS = rb"(?:; *+(?:acc|ppl|xent|lr|sents|bsz|[a-zA-Z_ ]{1,12}): *+[^;\r\n]{1,40}+){1,9}+; *+"
#: Sentences of the interval, and of a batch the tokens of the target and the sentences, as releases since 2022 print them.
_SENTENCES = rb"(?:(?=[^\r\n]{0,120}?; sents: ++(?P<_sentences>[0-9]++); bsz: ++[0-9]++/ *+(?P<_tokens>[0-9]++)/ *+(?P<_batch>[0-9]++);)|)"
#: Batches of fewer sentences are rounded too much for their number to follow.
_FEW = 50


def _with_tokens(columns: Columns) -> Postprocessed:
    """Return the lines with the tokens of their batches, where sentences tell how many these are."""
    found = {name: each for name, each in columns.items() if not is_private(name)}
    batch = columns["_batch"]
    if (batch >= _FEW).all():
        found["samples"] = columns["_sentences"] / batch * columns["_tokens"]
    return np.arange(len(batch)), found


#: What the interval after it includes.
_PAUSES = (
    Pause("evaluation", rb"Validation perplexity: ", b"[2026-11-20 10:12:40,500 INFO] Validation perplexity: 12.5"),
    Pause("evaluation", rb"valid stats calculation", b"[2026-11-20 10:12:40,500 INFO] valid stats calculation"),
    Pause(
        "checkpoint", rb"Saving checkpoint ", b"[2026-11-20 10:12:40,500 INFO] Saving checkpoint out/model_step_500.pt"
    ),
)

FORMAT = Format(
    title="OpenNMT-py",
    framework="PyTorch",
    marker=b" tok/s;",
    unproven=True,
    start=rb"Start training loop (?:and validate every|without validation)",
    before_start=rb"Starting training on GPU: \[",
    readings=(
        Reading(
            _STAMP + rb"Step ++<step>/ *+<total_steps>" + _SENTENCES + _METRICS + rb"[0-9]++/ *+(?P<throughput>[0-9]++) tok/s; ++[0-9]++ sec(?=[\s;])",
            unit="tokens/s", counts="update", pauses=_PAUSES, postprocess=_with_tokens,
        ),
        Reading(
            _STAMP + rb"Epoch ++<epoch>, (?:\w++ )?+ *+<step>/ *+<total_steps>" + _METRICS
            + rb"[0-9]++ src tok/s; *+(?P<throughput>[0-9]++) tgt tok/s; ++[0-9]++ s elapsed",
            unit="tokens/s", pauses=_PAUSES, epoch_end=True,
        ),
    ),
    facts=(Fact("devices", rb"\bStarting training on GPU: \[([0-9]++(?:, [0-9]++)*+)\]", listed), *PYTORCH_JOB),
    samples=(
        Sample(
            b"[2026-11-20 10:12:20,500 INFO] Step 50/100000; acc:   7.52; ppl: 8832.29; xent: 9.09; lr: 0.00125; 6912/7250 tok/s;      6 sec\n",
            step=50, total_steps=100000, throughput=7250,
        ),
        Sample(
            b"[2026-11-20 10:12:20,500 INFO] Step 50/100000; acc: 90.1; ppl:   5.4; xent: 1.7; lr: 0.00125; sents:  110319; bsz: 7829/2776/276; "
            b"8432/2990 tok/s;   4101 sec;\n",
            step=50, throughput=2990,
        ),
        Sample(
            b"Epoch  1,    50/  657; acc:   3.97; ppl: 1246.59; xent:  11.73;  6293 src tok/s; 6119 tgt tok/s;      8 s elapsed\n",
            epoch=1, step=50, total_steps=657, throughput=6119,
        ),
        NearMiss(b"[2026-11-20 10:12:40,500 INFO] Validation perplexity: 12.5\n", "a validation"),
        NearMiss(b"Step 50/100000; acc:   7.52; ppl: 8832.29; xent: 9.09; lr: 0.00125; 6912/72", "cut inside the number"),
    ),
)  # fmt: skip
