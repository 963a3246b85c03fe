"""fairseq since 0.9 (2020): a record per `--log-interval` updates, as text, JSON, tqdm's bar, or as Hydra prints them.

`wps` are tokens per second of the whole job since the last record, over all `--update-freq` passes. The same keys are
printed in `valid` lines, which are not training, and in `train` lines, which summarise an epoch including its
validation: where no other lines are printed, these count if `train_wall`, the seconds within the steps, is nearly all
of it. JSON prints its numbers in quotes. The bar is redrawn with every batch and repeats the figures of the last
record, which count once. The clock of bars, and of lines without a stamp, is `wall`, the seconds since the start: on
TPU the printed speeds are wrong by up to a hundred times. The batch size of a device is in tokens, if it is printed.
The meter begins with the first update, so that a record of that one alone prints 0. metaseq prints JSON without
`update` where the data have no end.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from perfledger.parsers.contract import EPOCH_END, Columns, Format, Pause, Reading
from perfledger.parsers.frameworks import FAIRSEQ

_STEP = "epoch {epoch}: {step} / {_} loss={loss},{*} wps={throughput}, ups={steps_per_second}, wpb={batch},"

#: What `wps` of the record after it includes, since its clock runs on.
_PAUSES = (
    Pause("evaluation", "| valid | "),
    Pause("evaluation", "[valid][INFO]"),
    Pause("evaluation", '"valid_loss": '),
    Pause("checkpoint", rb"aved checkpoint "),
)


def _measured(columns: Columns) -> Columns:
    """Drop the records before the first one with a speed."""
    return columns.take(np.cumsum(columns["throughput"] != 0) > 0)


#: An epoch includes something else if its steps take less than this share; the seconds are whole ones.
_MOSTLY = 0.95


def _mostly_trained(columns: Columns) -> Columns:
    """Add the tokens of each epoch, and whether it includes a validation: its speed counts all since the one before."""
    updates, epochs = columns["_updates"], columns["epoch"]
    done = np.diff(updates, prepend=np.nan)
    usual = np.median(done[done > 0]) if (done > 0).any() else np.nan
    done = np.where(done > 0, done, np.where(epochs == 1, updates, usual))
    trained = columns["_trained"] * columns["_ups"] / done
    evaluated = np.where(np.abs(trained - 1) < 1 - _MOSTLY, 0.0, 1.0)
    return columns.assign(evaluated=evaluated, samples=done * columns["_wpb"])


FORMAT = Format(
    title="fairseq",
    framework="PyTorch",
    start=rb"fairseq_cli\.train(?: \| |\]\[INFO\] - )(?:Namespace\(|\{'_name')",
    end=rb"fairseq_cli\.train(?: \| |\]\[INFO\] - )done training in ",
    readings=(
        # After a stamp, as text and as Hydra prints it; without one, the seconds since the start are the clock.
        Reading("| train_inner | " + _STEP, unit="tokens/s", pauses=(*_PAUSES, EPOCH_END), verbs=(_measured,)),
        Reading("[train_inner][INFO] - " + _STEP, unit="tokens/s", pauses=(*_PAUSES, EPOCH_END), verbs=(_measured,)),
        Reading("^train_inner | " + _STEP + "{?{*} wall={elapsed}}", unit="tokens/s", pauses=(*_PAUSES, EPOCH_END), verbs=(_measured,)),
        Reading(
            '{{"epoch": {epoch}, {*}"loss": "{loss}", {*}"wps": "{throughput}", {?"ups": "{steps_per_second}", }"wpb": "{batch}", {*}"num_updates": "{step}"',
            unit="tokens/s",
            pauses=(*_PAUSES, EPOCH_END),
            verbs=(_measured,),
        ),
        Reading(
            # A bar has no clock but the seconds since the program started.
            "^epoch {epoch}:  {_}%|{*}| {_}/{_} [{*} loss={loss},{*} wps={throughput}, ups={steps_per_second}, wpb={batch},{*} num_updates={step}{?,{*} wall={elapsed}}",
            unit="tokens/s",
            # A message after an update is drawn with the next one: a pause between them is in the record after that.
            pauses=(*(replace(each, records=2) for each in _PAUSES), EPOCH_END),
            verbs=(_measured,),
            ranks="median",
        ),
        Reading(
            "train{*} epoch {epoch} | loss {loss} |{*} wps {throughput} | ups {_ups} | wpb {_wpb} |{*} num_updates {_updates} |{*} train_wall {_trained}",
            unit="tokens/s", span="epoch", verbs=(_mostly_trained,),
        ),
        Reading(
            '{{"epoch": {epoch}, {*}"train_loss": "{loss}", {*}"train_wps": "{throughput}", "train_ups": "{_ups}", "train_wpb": "{_wpb}", {*}"train_num_updates": "{_updates}", {*}"train_train_wall": "{_trained}"',
            unit="tokens/s", span="epoch", verbs=(_mostly_trained,),
        ),
        Reading("train{*} epoch {epoch} | loss {loss} |{*} wps {throughput} |", unit="tokens/s", span="epoch", pauses=_PAUSES),
        Reading('{{"epoch": {epoch}, {*}"train_loss": "{loss}", {*}"train_wps": "{throughput}"', unit="tokens/s", span="epoch", pauses=_PAUSES),
    ),
    facts=FAIRSEQ,
)  # fmt: skip
