"""MindYOLO (`train.py`): a line of the mean milliseconds per step, for each `log_interval` steps of an epoch.

The time holds the wait for data. It begins anew with an epoch where the first device prints, which evaluates and saves
in between; in the log of another device the first line of an epoch holds that, too. A step is a batch of each device,
however many of them an update accumulates. With `ms_datasink` no time is printed.
"""

from perfledger.parsers.contract import Fact, Format, Reading


def _argument(name: bytes) -> bytes:
    """Return the pattern of an argument, up to its value."""
    return rb"\[INFO\] " + name + rb" ++"


FORMAT = Format(
    title="MindYOLO",
    framework="MindSpore",
    marker=b", step time: ",
    start=rb"\[INFO\] parse_args:",
    end=rb"\[INFO\] End Train\.",
    readings=(
        Reading(
            rb"\[INFO\] Epoch <epoch>/<total_epochs>, Step <step>/<total_steps>, step time: <step_seconds> ms",
            unit="images/s",
            factors={"step_seconds": 1e-3},
            epoch_end=True,
        ),
    ),
    facts=(
        Fact("batch_size", _argument(rb"per_batch_size") + rb"(\d++)$", int),
        Fact("batch_size_of_job", _argument(rb"total_batch_size") + rb"(\d++)$", int),
        Fact("devices", _argument(rb"rank_size") + rb"(\d++)$", int),
        Fact("total_epochs", _argument(rb"epochs") + rb"(\d++)$", int),
        Fact("model", _argument(rb"config") + rb"(?:[^\s/]++/)*+([\w+-]++(?:\.(?!yaml$)[\w+-]++)*+)\.yaml$"),
        Fact("precision", _argument(rb"ms_amp_level") + rb"(O[0-3])$",
             words={b"O0": "fp32", b"O1": "amp", b"O2": "amp", b"O3": "fp16"}),
    ),
)  # fmt: skip
