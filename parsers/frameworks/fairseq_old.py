"""fairseq before 0.9 (2017 to 2019), and MLPerf's Transformer built on it: a record per `--log-interval` batches.

`wps` are tokens per second of the whole job, as a running mean since the second batch of the epoch. They are printed as
text, tqdm's bar or JSON; of JSON only lines with `oom` are from these releases. The line that closes an epoch, and that
of the validation, begin alike. JSON counts fractions of epochs, from which the batches are computed. A batch whose loss
overflowed is still a batch, although `num_updates` does not count it.
"""

from __future__ import annotations

import numpy as np

from perfledger.parsers.contract import (
    NUMBER,
    Columns,
    Format,
    NearMiss,
    Pause,
    Postprocessed,
    Reading,
    Sample,
    is_private,
)
from perfledger.parsers.frameworks import FAIRSEQ, value


def _batches(columns: Columns) -> Postprocessed:
    """Compute the batches since the epoch began from the epochs done and the updates so far (`step`)."""
    done, updates, epoch = columns["_epochs_done"], columns["step"], columns["epoch"]
    gaps, more = np.diff(done, prepend=0.0), np.diff(updates, prepend=0.0)
    per_epoch = np.median((more / np.where(gaps > 0, gaps, np.nan))[gaps > 0]) if (gaps > 0).any() else np.nan
    kept = {name: each for name, each in columns.items() if not is_private(name)}
    return np.arange(len(done)), kept | {"step": np.round((done - (epoch - 1)) * per_epoch)}


#: What the mean of the rest of the epoch includes, and hence the record after it.
_PAUSES = (
    Pause(
        "evaluation",
        rb"\| valid on ",
        b"| epoch 001 | valid on 'valid' subset | loss 4.2 | nll_loss 2.5 | ppl 5.7 | num_updates 3935",
    ),
    Pause("evaluation", rb'"valid_loss": ', b'{"epoch": 1, "valid_loss": "4.2", "valid_ppl": "5.7"}'),
    Pause(
        "checkpoint",
        rb"saved checkpoint ",
        b"| saved checkpoint checkpoints/checkpoint_1_1000.pt (epoch 1 @ 1000 updates) (writing took 12.5 seconds)",
    ),
)

#: Whole seconds since the start, with all that takes time.
_WALL = rb"(?:(?:[^\r\nw|]++|w(?!all=)|(?<=_)w)*+(?<= )wall=<elapsed>(?=[\s,\]]))?+"

FORMAT = Format(
    title="fairseq (before 0.9)",
    framework="PyTorch",
    marker=b"wps",
    start=rb"(?m)^Namespace\((?=[^\n]{0,3000}?\bcriterion=')",
    end=rb"^\| done training in ",
    readings=(
        Reading(
            rb"(?<!\w )\| epoch <epoch>(?::| (?= ))(?: *+[0-9]++%\|[^|\r\n]*+\|)?+ *+<step> ?/ ?[0-9]++ "
            rb"(?:\[[^\r\n|,]*+, [^\r\n|,]*+, )?+loss=<loss>(?: \([0-9.]++\))?+, (?:[^\r\nw|]++|w(?!ps=))*+"
            rb"wps=<throughput>, (?:ups=" + NUMBER + rb", )?+wpb=<batch>," + _WALL,
            unit="tokens/s",
            cumulative_since=1,
            pauses=_PAUSES,
            repeated=True,
        ),
        Reading(
            rb'\{"epoch": <epoch>, "update": (?P<_epochs_done>[0-9.]++), (?=[^\r\n{}]*?"oom": )' + value(rb"loss", rb"<loss>")
            + value(rb"wps", rb"<throughput>") + value(rb"wpb", rb"<batch>") + value(rb"num_updates", rb"<step>") + value(rb"wall", rb"<elapsed>", needed=False),
            unit="tokens/s",
            cumulative_since=1,
            pauses=_PAUSES,
            postprocess=_batches,
        ),
        Reading(
            rb"(?<!\w )\| epoch <epoch> \| loss <loss> \| (?:[^\r\nwe]++|w(?!ps )|e(?!poch [0-9]))*+"
            rb"wps <throughput> \| ",
            unit="tokens/s",
            span="epoch",
        ),
        Reading(
            rb'\{"epoch": <epoch>, (?!"update": )(?=[^\r\n{}]*?"oom": )' + value(rb"loss", rb"<loss>") + value(rb"wps", rb"<throughput>"),
            unit="tokens/s",
            span="epoch",
        ),
    ),
    facts=FAIRSEQ,
    samples=(
        Sample(
            b"| epoch 001:   1000 / 1637 loss=48000.5, nll_loss=0.000, ppl=1.00, wps=350000, ups=4.5, wpb=75000, bsz=325, "
            b"num_updates=997, lr=0.0016, gnorm=73838.193, clip=100%, oom=0, loss_scale=8.000, wall=223",
            epoch=1, step=1000, loss=48000.5, throughput=350000, batch=75000,
        ),
        Sample(
            b"| epoch 002:  25%|##5       | 1000/3935 [03:45<11:01,  4.44it/s, loss=7.125, nll_loss=5.5, ppl=45.25, wps=35270, "
            b"ups=4.4, wpb=8000, bsz=300, num_updates=4931, lr=0.0005, gnorm=1.5, clip=0%, oom=0, wall=900]",
            epoch=2, step=1000, loss=7.125, throughput=35270, batch=8000,
        ),
        # The first releases print the mean of the epoch behind the loss, and no updates per second.
        Sample(
            b"| epoch 010   2000 / 8223 loss=1.25 (1.50), wps=960, wpb=900, bsz=32, lr=0.001, clip=100%, gnorm=2.125",
            epoch=10, step=2000, loss=1.25, throughput=960, batch=900,
        ),
        NearMiss(b"| epoch 010 | valid on 'valid' subset  1000 / 1311 loss=1.62", "the validation"),
        Sample(
            b'{"epoch": 1, "update": 0.611, "loss": "7.125", "ppl": "45.25", "wps": "35000", "ups": "4.5", "wpb": "7500", '
            b'"bsz": "325", "num_updates": "997", "lr": "0.001", "gnorm": "1.5", "clip": "0%", "oom": "0", "wall": "223"}',
            epoch=1, _epochs_done=0.611, step=997, throughput=35000,
        ),
        Sample(
            b"| epoch 001 | loss 42000.5 | nll_loss 0.000 | ppl 1.00 | wps 352000 | ups 4.6 | wpb 74799 | bsz 321 | "
            b"num_updates 1631 | lr 0.0012 | gnorm 50952.192 | clip 100% | oom 0 | loss_scale 2.000 | wall 357",
            epoch=1, throughput=352000,
        ),
        Sample(
            b'{"epoch": 9, "loss": "3.125", "nll_loss": "1.375", "ppl": "2.625", "wps": 1671250, "ups": "2.75", "wpb": 617150, "bsz": 16625, '
            b'"num_updates": 21497, "lr": 0.0003, "gnorm": "0.250", "clip": "100%", "oom": 0.025, "wall": 8285}\n',
            epoch=9, loss=3.125, throughput=1671250,
        ),
        NearMiss(
            b"| epoch 001 | valid on 'valid' subset | loss 4.2 | nll_loss 2.5 | ppl 5.7 | num_updates 3935", "the validation"
        ),
        NearMiss(
            b"| Translated 400 sentences (8000 tokens) in 4.0s (100.00 sentences/s, 2000.00 tokens/s)",
            "the translation of the test set",
        ),
        NearMiss(
            b"| epoch 001:   1000 / 1637 loss=48000.5, nll_loss=0.000, ppl=1.00, wps=3500", "cut inside the number, perhaps"
        ),
        NearMiss(
            b"2026-11-20 09:00:00 | INFO | train | epoch 002:    100 / 3935 loss=7.125, nll_loss=5.5, ppl=45.25, wps=30000.5, "
            b"ups=9.1, wpb=3300.2, bsz=120.5",
            "of the weeks between two releases: nobody says what it covers",
        ),
    ),
)  # fmt: skip
