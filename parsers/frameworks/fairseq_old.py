"""fairseq before 0.9 (2017 to 2019), and MLPerf's Transformer built on it: a record per `--log-interval` batches.

`wps` are tokens per second of the whole job, as a running mean since the second batch of the epoch. They are printed as
text or tqdm's bar; of JSON the lines of epochs are read, since the others count fractions of an epoch and not its batches.
Of JSON only lines with `oom` are from these releases. The line that closes an epoch, and that of the validation, begin
alike.
"""

from __future__ import annotations

from perfledger.parsers.contract import Format, Pause, Reading
from perfledger.parsers.frameworks import FAIRSEQ

#: The mean of the rest of the epoch includes these, and so does the record after them.
_PAUSES = (
    Pause("evaluation", "| valid on "),
    Pause("evaluation", '"valid_loss": '),
    Pause("checkpoint", "saved checkpoint "),
)


FORMAT = Format(
    title="fairseq (before 0.9)",
    framework="PyTorch",
    over=("frameworks.fairseq",),
    start=rb"(?m)^Namespace\((?=[^\n]{0,3000}?\bcriterion=')",
    end="^| done training in ",
    readings=(
        *(
            # The seconds since the start are whole ones, with all that takes time.
            Reading(line, unit="tokens/s", running_mean=1, pauses=_PAUSES, ranks="median")
            for line in (
                "^| epoch {epoch}: {step} / {_} loss={loss},{*} wps={throughput}, ups={_}, wpb={batch},{?{*} wall={elapsed}}",
                "^| epoch {epoch}:  {_}%|{*}| {step}/{_} [{*} loss={loss},{*} wps={throughput}, ups={_}, wpb={batch},{?{*} wall={elapsed}}",
                "^| epoch {epoch}  {step} / {_} loss={loss} ({_}), wps={throughput}, wpb={batch},",
            )
        ),
        # Counts fractions of an epoch, and not its batches: the running mean cannot be undone.
        Reading('{{"epoch": {epoch}, "update": {_}, "loss": "{loss}", {*}"num_updates": "{step}", {*}"oom": ', unit="tokens/s"),
        Reading("^| epoch {epoch} | loss {loss} |{*} wps {throughput} |", unit="tokens/s", span="epoch"),
        Reading('{{"epoch": {epoch}, "loss": "{loss}", {*}"wps": {?"}{throughput}{?"}, {*}"oom": ', unit="tokens/s", span="epoch"),
    ),
    facts=FAIRSEQ,
)  # fmt: skip
