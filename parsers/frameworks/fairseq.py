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

from perfledger.parsers.contract import Columns, Format, Pause, Postprocessed, Reading
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
    ),
    Pause("evaluation", rb"\[valid\]\[INFO\]"),
    Pause("evaluation", rb'"valid_loss": '),
    Pause(
        "checkpoint",
        rb"aved checkpoint ",
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
        Reading(_INNER + _STEP, unit="tokens/s", pauses=_PAUSES, epoch_end=True, verbs=(_measured,)),
        Reading(
            rb"(?<![^\r\n])train_inner \| " + _STEP + _WALL,
            unit="tokens/s",
            pauses=_PAUSES,
            epoch_end=True,
            verbs=(_measured,),
        ),
        Reading(
            rb'\{(?:(?<=train_inner \| \{)|(?="epoch": [0-9]++, "update": ))"epoch": <epoch>, (?![^\r\n{}]*?"oom": )' + value(rb"loss", rb"<loss>")
            + value(rb"wps", rb"<throughput>") + value(rb"ups", rb"<steps_per_second>", needed=False) + value(rb"wpb", rb"<batch>") + value(rb"num_updates", rb"<step>"),
            unit="tokens/s",
            pauses=_PAUSES,
            epoch_end=True,
            verbs=(_measured,),
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
            verbs=(_measured,),
            repeated=True,
        ),
        *(
            Reading(pattern, unit="tokens/s", span="epoch", verbs=(_mostly_trained,))
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
)  # fmt: skip
