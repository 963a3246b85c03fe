"""fairseq since 0.9 (2020): a record per `--log-interval` updates, as text, JSON, tqdm's bar, or as Hydra prints them.

`wps` are tokens per second of the whole job since the last record, over all `--update-freq` passes. The same keys are
printed in `valid` lines, which are not training, and in `train` lines, which summarise an epoch including its
validation: where no other lines are printed, these count if `train_wall`, the seconds within the steps, is nearly all
of it. JSON prints its numbers in quotes. The bar is redrawn with every batch and repeats the figures of the last
record, which count once. Bars, and lines without a stamp, tell their time by `wall`, the seconds since the start: on TPU
the printed speeds are wrong by up to a hundred times. The batch size of a device is given in tokens, if it is given. The
meter begins with the first update, so that a record of that one alone prints 0. metaseq prints JSON without `update`
where the data have no end.
"""

from __future__ import annotations

import numpy as np

from perfledger.parsers.contract import Columns, Format, NearMiss, Pause, Postprocessed, Reading, Sample
from perfledger.parsers.frameworks import FAIRSEQ, value

#: Behind a stamp; without one the seconds since the start, `wall`, are the clock.
_INNER = rb"(?<=[^\r\n])train_inner(?: \| |\]\[INFO\] - )"
_STEP = rb"epoch <epoch>: ++<step> / [0-9]++ loss=<loss>, (?:[^\r\nw|]++|w(?!ps=))*+wps=<throughput>, ups=<steps_per_second>, wpb=<batch>,"
_WALL = rb"(?:(?:[^\r\nw|]++|w(?!all=)|(?<=_)w)*+(?<= )wall=<elapsed>(?=[\s,\]]))?+"
_EPOCH = (
    rb"(?:\| train \| |\[train\]\[INFO\] - )epoch <epoch> \| loss <loss> \| (?:[^\r\nwt]++|w(?!ps )|t(?!rain(?: \| |\]\[INFO\])))*+"
    rb"wps <throughput> \| "
)
_EPOCH_JSON = rb'\{"epoch": <epoch>, ' + value(rb"train_loss", rb"<loss>") + value(rb"train_wps", rb"<throughput>")
#: Seconds within the steps of the epoch, without the wait for data and the validation.
_TRAINED = rb"(?P<_trained>[0-9.]++)"

#: What `wps` of the record after it includes, since its clock runs on.
_PAUSES = (
    Pause(
        "evaluation",
        rb"\| valid \| ",
        b"2026-11-20 09:11:00 | INFO | valid | epoch 002 | valid on 'valid' subset | loss 4.2 | wps 120000.5 | wpb 2500",
    ),
    Pause("evaluation", rb"\[valid\]\[INFO\]", b"[2026-11-20 09:11:00,123][valid][INFO] - epoch 002 | valid on 'valid' subset"),
    Pause("evaluation", rb'"valid_loss": ', b'{"epoch": 1, "valid_loss": "4.2", "valid_wps": "120000.5"}'),
    Pause(
        "checkpoint",
        rb"aved checkpoint ",
        b"2026-11-20 09:12:00 | INFO | fairseq.checkpoint_utils | Saved checkpoint checkpoints/checkpoint2.pt (epoch 2 @ 7870 "
        b"updates, score 4.2) (writing took 12.5 seconds)",
    ),
)  # fmt: skip


def _measured(columns: Columns) -> Postprocessed:
    """Return the records but for the first, where nothing was measured yet."""
    rows = np.flatnonzero(np.cumsum(columns["throughput"] != 0) > 0)
    return rows, {name: column[rows] for name, column in columns.items()}


#: An epoch of which the steps take less than this share holds something else; the seconds are whole ones.
_MOSTLY = 0.95


def _mostly_trained(columns: Columns) -> Postprocessed:
    """Return epochs with their tokens, and which of them hold a validation: their speed counts all since the one before."""
    updates, epochs = columns["_updates"], columns["epoch"]
    done = np.diff(updates, prepend=np.nan)
    usual = np.median(done[done > 0]) if (done > 0).any() else np.nan
    done = np.where(done > 0, done, np.where(epochs == 1, updates, usual))
    with np.errstate(all="ignore"):  # Numbers may be garbled.
        trained = columns["_trained"] * columns["_ups"] / done
        found = {name: columns[name] for name in ("epoch", "loss", "throughput")}
        found["evaluated"] = np.where(np.abs(trained - 1) < 1 - _MOSTLY, 0.0, 1.0)
        return np.arange(len(done)), found | {"samples": done * columns["_wpb"]}


FORMAT = Format(
    title="fairseq",
    framework="PyTorch",
    marker=b"wps",
    start=rb"fairseq_cli\.train(?: \| |\]\[INFO\] - )(?:Namespace\(|\{'_name')",
    end=rb"fairseq_cli\.train(?: \| |\]\[INFO\] - )done training in ",
    readings=(
        Reading(_INNER + _STEP, unit="tokens/s", pauses=_PAUSES, epoch_end=True, postprocess=_measured),
        Reading(
            rb"(?<![^\r\n])train_inner \| " + _STEP + _WALL,
            unit="tokens/s",
            pauses=_PAUSES,
            epoch_end=True,
            postprocess=_measured,
        ),
        Reading(
            rb'\{(?:(?<=train_inner \| \{)|(?="epoch": [0-9]++, "update": ))"epoch": <epoch>, (?![^\r\n{}]*?"oom": )' + value(rb"loss", rb"<loss>")
            + value(rb"wps", rb"<throughput>") + value(rb"ups", rb"<steps_per_second>", needed=False) + value(rb"wpb", rb"<batch>") + value(rb"num_updates", rb"<step>"),
            unit="tokens/s",
            pauses=_PAUSES,
            epoch_end=True,
            postprocess=_measured,
        ),
        Reading(
            rb"(?<![^\r\n])epoch <epoch>:(?: *+[0-9]++%\|[^|\r\n]*+\|)?+ *+[0-9]++/[0-9]++ "
            rb"\[[^\r\n|,]*+, [^\r\n|,]*+, loss=<loss>, (?:[^\r\nw|]++|w(?!ps=))*+wps=<throughput>, ups=<steps_per_second>, wpb=<batch>, (?:[^\r\nn|]++|n(?!um_updates=))*+"
            # A bar has no clock but the seconds since the program started.
            rb"num_updates=<step>(?=[,\]])(?:(?:[^\r\n\]w]++|w(?!all=)|(?<=_)w)*+wall=(?P<elapsed>[0-9.]++)(?=[,\]]))?+",
            unit="tokens/s",
            pauses=_PAUSES,
            epoch_end=True,
            # What is told after an update is drawn with the next one: a pause between them is in the record after that.
            lingers=1,
            postprocess=_measured,
            repeated=True,
        ),
        *(
            Reading(pattern, unit="tokens/s", span="epoch", postprocess=_mostly_trained)
            for pattern in (
                _EPOCH + rb"ups (?P<_ups>[0-9.]++) \| wpb (?P<_wpb>[0-9.]++) \| (?:[^\r\nnt]++|n(?!um_updates )|t(?!rain(?: \| |\]\[INFO\])))*+num_updates (?P<_updates>[0-9]++) \| "
                rb"(?:[^\r\nt]++|t(?!rain(?:_wall | \| |\]\[INFO\])))*+train_wall " + _TRAINED + rb"(?=\s)",
                _EPOCH_JSON + value(rb"train_ups", rb"(?P<_ups>[0-9.]++)") + value(rb"train_wpb", rb"(?P<_wpb>[0-9.]++)")
                + value(rb"train_num_updates", rb"(?P<_updates>[0-9]++)") + value(rb"train_train_wall", _TRAINED),
            )
        ),
        *(Reading(pattern, unit="tokens/s", span="epoch", pauses=_PAUSES) for pattern in (_EPOCH, _EPOCH_JSON)),
    ),
    facts=FAIRSEQ,
    samples=(
        Sample(
            b"2026-11-20 09:00:00 | INFO | train_inner | epoch 002:    100 / 3935 loss=7.125, nll_loss=5.5, ppl=45.25, "
            b"wps=30000.5, ups=9.1, wpb=3300.2, bsz=120.5, num_updates=4035, lr=0.0005, gnorm=1.5, train_wall=11, wall=430",
            epoch=2, step=100, loss=7.125, throughput=30000.5, batch=3300.2,
        ),
        Sample(
            b"train_inner | epoch 002:    100 / 3935 loss=7.125, ppl=45.25, wps=30000.5, ups=9.1, wpb=3300.2, bsz=120.5, "
            b"num_updates=4035, lr=0.0005, gnorm=1.5, train_wall=11, wall=430\n",
            epoch=2, step=100, loss=7.125, throughput=30000.5, batch=3300.2, clock=430,
        ),
        Sample(
            b'[2026-11-20 09:00:00,123][train_inner][INFO] - {"epoch": 1, "update": 0.025, "loss": "6.5", "ntokens": "300", '
            b'"wps": "25000.5", "ups": "8.5", "wpb": "2941.2", "bsz": "16", "num_updates": "200", "lr": "1e-05", "wall": "30"}',
            epoch=1, step=200, loss=6.5, throughput=25000.5, batch=2941.2,
        ),
        Sample(
            b'2026-11-20 09:00:00 | INFO | train_inner | {"epoch": 1, "actv_norm": "0.25", "loss": "6.5", "ppl": "90.5", '
            b'"wps": "25000.5", "ups": "8.5", "wpb": "2941.2", "bsz": "16", "num_updates": "200", "lr": "1e-05", "wall": "30"}',
            epoch=1, step=200, loss=6.5, throughput=25000.5, batch=2941.2,
        ),
        Sample(
            b"2026-11-20 09:10:00 | INFO | train | epoch 002 | loss 7 | nll_loss 5.5 | ppl 45.25 | wps 30500 | ups 9.2 | "
            b"wpb 3315.2 | bsz 120.5 | num_updates 7870 | lr 0.0005 | gnorm 1.5 | train_wall 410 | wall 850",
            epoch=2, loss=7, throughput=30500,
        ),
        Sample(
            b'2026-11-20 09:10:00 | INFO | train | {"epoch": 3, "train_loss": "6.25", "train_ppl": "30.5", "train_wps": "31000", '
            b'"train_ups": "9.2", "train_num_updates": "7870"}',
            epoch=3, loss=6.25, throughput=31000,
        ),
        Sample(
            b'2026-11-20 09:10:00 | INFO | train | {"epoch": 3, "train_loss": "6.25", "train_wps": "31000", "train_ups": "9.2", "train_wpb": "3369.6", '
            b'"train_num_updates": "7870", "train_train_wall": "410", "train_wall": "850"}',
            epoch=3, loss=6.25, throughput=31000,
        ),
        Sample(
            b"epoch 002:   9%|9         | 105/1102 [00:15<02:30,  6.66it/s, loss=7.125, nll_loss=5.5, ppl=45.25, wps=30000.5, "
            b"ups=9.1, wpb=3300.2, bsz=120.5, num_updates=1200, lr=0.0005, gnorm=1.5, train_wall=11, wall=430]\r",
            epoch=2, step=1200, loss=7.125, throughput=30000.5, batch=3300.2, clock=430,
        ),
        NearMiss(
            b"2026-11-20 09:11:00 | INFO | valid | epoch 002 | valid on 'valid' subset | loss 4.2 | nll_loss 2.5 | ppl 5.7 | "
            b"wps 120000.5 | wpb 2500 | bsz 80 | num_updates 7870",
            "the validation",
        ),
        NearMiss(b'{"epoch": 1, "valid_loss": "4.2", "valid_wps": "120000.5", "valid_num_updates": "100"}', "the validation"),
        NearMiss(
            b"2026-11-20 09:00:00 | INFO | train_inner | epoch 002:    100 / 3935 loss=7.125, nll_loss=5.5, ppl=45.25, wps=300",
            "cut inside the number, perhaps",
        ),
    ),
)  # fmt: skip
