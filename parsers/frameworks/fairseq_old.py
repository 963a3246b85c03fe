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
    Pause,
    Postprocessed,
    Reading,
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
    ),
    Pause("evaluation", rb'"valid_loss": '),
    Pause(
        "checkpoint",
        rb"saved checkpoint ",
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
            verbs=(_batches,),
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
)  # fmt: skip
