"""MindYOLO (`train.py`): a line of the mean milliseconds per step, for each `log_interval` steps of an epoch.

The time includes the wait for data. It restarts with an epoch where the first device prints, which evaluates and saves
in between; in the log of another device the first line of an epoch includes that, too. A step is a batch of each device,
however many of them an update accumulates. With `ms_datasink` no time is printed.
"""

from perfledger.parsers.contract import EPOCH_END, Fact, Format, Reading

FORMAT = Format(
    title="MindYOLO",
    framework="MindSpore",
    start="[INFO] parse_args:",
    end="[INFO] End Train.",
    readings=(
        Reading(
            "[INFO] Epoch {epoch}/{total_epochs}, Step {step}/{total_steps}, step time: {step_seconds:ms}",
            unit="images/s",
            pauses=(EPOCH_END,),
        ),
    ),
    facts=(
        Fact("batch_size", "[INFO] per_batch_size  {:int}"),
        Fact("batch_size_of_job", "[INFO] total_batch_size  {:int}"),
        Fact("devices", "[INFO] rank_size  {:int}"),
        Fact("total_epochs", "[INFO] epochs  {:int}"),
        Fact("model", rb"\[INFO\] config ++(?:[^\s/]++/)*+([\w+-]++(?:\.(?!yaml$)[\w+-]++)*+)\.yaml$"),
        Fact("precision", "[INFO] ms_amp_level  {}", words={b"O0": "fp32", b"O1": "amp", b"O2": "amp", b"O3": "fp16"}),
    ),
)  # fmt: skip
