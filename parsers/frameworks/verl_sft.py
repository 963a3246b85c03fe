"""verl's fine-tuning (`verl.trainer.fsdp_sft_trainer` and those after it): a bar per epoch, and the losses of each step.

The bar is of the steps before the line after it, and shows the seconds since the epoch began, with a validation and a
checkpoint where they fall between two steps. A step is an update of the whole batch, of all devices. The configuration
is printed when its batch size has become that of one copy of the model already (`Normalize batch size by dp`), and its
devices are those of a default that nothing reads. If the bars are lost, the seconds of each step count, which leave
out the wait for data.
"""

from perfledger.parsers.contract import Fact, Format, Pause, Reading, lacks
from perfledger.parsers.frameworks import TORCHRUN

_COPIES = rb"Normalize batch size by dp "


_PAUSES = (
    Pause("evaluation", "- val/loss:"),
    Pause("checkpoint", "Saving checkpoint to: "),
)

FORMAT = Format(
    title="verl SFT",
    framework="PyTorch",
    unproven=True,
    start=_COPIES,
    end=rb"^(?:\([^)\n]++\) )?+Final validation metrics: ",
    readings=(
        Reading(
            rb"\bEpoch <epoch>/<total_epochs>: ++[0-9]++%\|[^|\r\n]{0,400}+\| (?P<step>[1-9][0-9]*+)/<total_steps> \[(?P<elapsed>[0-9:]++)<[^\]\r\n]{0,200}+\]"
            rb"\s{0,100}+step:[0-9]++ - (?=(?:train|perf)/)",
            unit="samples/s",
            per_update=True,
            pauses=_PAUSES,
        ),
        Reading(
            "step:{step} - train/loss:{loss} - {*}train/time(s):{step_seconds}",
            unit="samples/s",
            span="step",
            per_update=True,
        ),
    ),
    facts=(
        Fact("model", "'partial_pretrain': '{}'"),
        Fact("batch_size_of_job", _COPIES + rb"([0-9]++\s(?:(?!Normalize batch)[\s\S]){1,60000}?'train_batch_size': [0-9]++)", lambda printed: int(printed.split()[0]) * int(printed.split()[-1])),
        Fact("batch_size_of_job", "'train_batch_size': {:int}", first=True, where=lacks(_COPIES)),
        Fact("devices", _COPIES + rb"([0-9]++\r?\n(?:[^\n]{0,400}\n){0,3}?Using sequence parallel size: [0-9]++)", lambda printed: int(printed.split()[0]) * int(printed.split()[-1])),
        Fact("devices", "/model_world_size_{:int}_rank_"),
        *TORCHRUN,
        Fact("micro_batch", "'micro_batch_size_per_gpu': {:int}"),
        Fact("total_steps", ", total number of steps {:int}"),
    ),
)  # fmt: skip
