"""The document that DLLogger wrote until 2019 (`nvlog.json`): one JSON object for the run, its series as columns.

A record per epoch, of `train_epoch_items/sec`: items of the job over the time of the epoch. `train_epoch_avg_items/sec`
is the mean of the speeds of the iterations; if there is only one epoch, it is quoted as the tool's own figure. Each
program decides what an item is; in Tacotron 2 it is a frame of a spectrogram. All devices of the machine are listed;
`world_size` is the number in use. A truncated file has lost its last series, not only a line.
"""

from __future__ import annotations

from perfledger.parsers.contract import NUMBER, Fact, Format, Reading, either, within
from perfledger.parsers.frameworks import PYTORCH_JOB


def _next_line(of_printer: bytes) -> bytes:
    """Return a pattern for the end of a line and up to four states of bars and lines of other programs after it.

    A bar that is redrawn ends each of its states with a carriage return. Its last state may be a line of its own.

    Args:
        of_printer: a pattern without groups for the beginning of the lines that must not be passed over.
    """
    return rb"[ \t]*+[\r\n]++(?:(?![ \t]*+%s)[^\r\n]{0,4000}+[\r\n]++){0,4}+[ \t]*+" % of_printer


#: Between the name of a series and its first number other programs may print.
_FIRST = _next_line(rb"(?:[0-9.eE+-]++,?[ \t]*+[\r\n]|[\]\"])")

FORMAT = Format(
    title="DLLogger document",
    needs=b"train_epoch_",
    start=rb"(?<![^\r\n])\{(?:" + _next_line(rb'"') + rb'|[ \t]*+)"run": \{',
    end=rb'\n *+"event": \{[^{}]*+\}\s*+\}',
    readings=(
        # The first number of the series, that of another one, and further numbers.
        Reading(
            rb'(?<=[\r\n])[ \t]++(?:"train_epoch_items/sec": \[' + _FIRST + rb'(?P<throughput>' + NUMBER + rb')(?=,?\s)|'
            rb'(?:"(?!train_epoch_items/sec)[^"\n]{1,80}+": \[|\],?+)' + _FIRST + rb'(?P<_other>[0-9][0-9eE.+-]*+))|'
            rb"(?<=[\r\n])(?<!\[\n)[ \t]++(?P<_later>[0-9]++\.[0-9eE.+-]*+)(?=,?[ \t]*+\n)",
            unit="items/s",
            span="epoch",
            weak=True,
            verbs=(within("throughput", "_other"), either("throughput", "_later")),
        ),
        Reading(
            rb'"train_epoch_avg_items/sec": ?+\[\s*+(?P<throughput>' + NUMBER + rb")\s*+\]", unit="items/s", span="run",
        ),
    ),
    facts=(
        Fact("model", rb'"model_name": "([^"\n]++)"'),
        Fact("devices", '"world_size": {:int}'),
        *PYTORCH_JOB,
        Fact("batch_size", '^{? }"batch_size": {:int}'),
        Fact("gpu", rb'"gpu_info": \{(?:(?!"name": )[^{}])*+"name": \[\s*+"([^"\n]++)"'),
        Fact("precision", rb'"amp(?:_run)?": (true|false)\b', words={b"true": "amp", b"false": "fp32"}),
    ),
)  # fmt: skip
