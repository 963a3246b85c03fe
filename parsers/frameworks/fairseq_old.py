"""fairseq before 0.9 (2017 to 2019), and MLPerf's Transformer built on it: a record per `--log-interval` batches.

`wps` are tokens per second of the whole job, as a running mean since the second batch of the epoch. They are printed as
text, tqdm's bar or JSON; of JSON only lines with `oom` are from these releases. The line that closes an epoch, and that
of the validation, begin alike. JSON counts fractions of epochs, from which the batches are computed. A batch whose loss
overflowed is still a batch, although `num_updates` does not count it.
"""

from __future__ import annotations

import numpy as np

from perfledger.parsers.contract import Columns, Format, Pause, Postprocessed, Reading, every
from perfledger.parsers.frameworks import FAIRSEQ


def _batches(columns: Columns) -> Postprocessed:
    """Compute the batches since the epoch began from the epochs done and the updates so far (`step`)."""
    done, updates, epoch = columns["_epochs_done"], columns["step"], columns["epoch"]
    gaps, more = np.diff(done, prepend=0.0), np.diff(updates, prepend=0.0)
    per_epoch = np.median((more / np.where(gaps > 0, gaps, np.nan))[gaps > 0]) if (gaps > 0).any() else np.nan
    return every(columns), {**columns, "step": np.round((done - (epoch - 1)) * per_epoch)}


#: What the mean of the rest of the epoch includes, and hence the record after it.
_PAUSES = (
    Pause("evaluation", "| valid on "),
    Pause("evaluation", '"valid_loss": '),
    Pause("checkpoint", "saved checkpoint "),
)


def _running(template: str) -> Reading:
    """Return the reading of running means; the seconds since the start are whole ones, with all that takes time."""
    return Reading(template, unit="tokens/s", running_mean=1, pauses=_PAUSES, ranks="median")


FORMAT = Format(
    title="fairseq (before 0.9)",
    framework="PyTorch",
    over=("frameworks.fairseq",),
    start=rb"(?m)^Namespace\((?=[^\n]{0,3000}?\bcriterion=')",
    end="^| done training in ",
    readings=(
        _running("^| epoch {epoch}: {step} / {_} loss={loss},{*} wps={throughput}, ups={_}, wpb={batch},{?{*} wall={elapsed}}"),
        _running("^| epoch {epoch}:  {_}%|{*}| {step}/{_} [{*} loss={loss},{*} wps={throughput}, ups={_}, wpb={batch},{?{*} wall={elapsed}}"),
        _running("^| epoch {epoch}  {step} / {_} loss={loss} ({_}), wps={throughput}, wpb={batch},"),
        Reading(
            '{{"epoch": {epoch}, "update": {_epochs_done}, "loss": "{loss}", {*}"wps": "{throughput}", {*}"wpb": "{batch}", {*}"num_updates": "{step}", {*}"oom": {?{*}"wall": "{elapsed}"}',
            unit="tokens/s",
            running_mean=1,
            pauses=_PAUSES,
            verbs=(_batches,),
        ),
        Reading("^| epoch {epoch} | loss {loss} |{*} wps {throughput} |", unit="tokens/s", span="epoch"),
        Reading('{{"epoch": {epoch}, "loss": "{loss}", {*}"wps": {?"}{throughput}{?"}, {*}"oom": ', unit="tokens/s", span="epoch"),
    ),
    facts=FAIRSEQ,
)  # fmt: skip
