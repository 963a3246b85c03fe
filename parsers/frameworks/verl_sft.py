"""verl's fine-tuning (`verl.trainer.fsdp_sft_trainer` and those after it): a bar per epoch, and the losses of each step.

The bar is of the steps before the line behind it, and tells the seconds since the epoch began, with a validation and a
checkpoint where they fall between two steps. A step is an update of the whole batch, of all devices. The configuration
is printed when its batch size has become that of one copy of the model already (`Normalize batch size by dp`), and its
devices are those of a default that nothing reads. Where the bars are lost the seconds of each step count, which leave
out the wait for data.
"""

import re

from perfledger.parsers.contract import Fact, Format, NearMiss, Pause, Reading, Sample
from perfledger.parsers.contract.conditions import lacks
from perfledger.parsers.frameworks import TORCHRUN

_COPIES = rb"Normalize batch size by dp "


def _product(printed: bytes) -> int:
    """Return the product of the first and the last number."""
    numbers = re.findall(rb"[0-9]++", printed)
    return int(numbers[0]) * int(numbers[-1])


_PAUSES = (
    Pause("evaluation", rb"- val/loss:", b"step:250 - val/loss:0.5625"),
    Pause("checkpoint", rb"Saving checkpoint to: ", b"Saving checkpoint to: out/global_step_250"),
)

FORMAT = Format(
    title="verl SFT",
    framework="PyTorch",
    marker=b" - train/loss:",
    unproven=True,
    start=_COPIES,
    end=rb"^(?:\([^)\n]++\) )?+Final validation metrics: ",
    readings=(
        Reading(
            rb"\bEpoch <epoch>/<total_epochs>: ++[0-9]++%\|[^|\r\n]{0,400}+\| (?P<step>[1-9][0-9]*+)/<total_steps> \[(?P<elapsed>[0-9:]++)<[^\]\r\n]{0,200}+\]"
            rb"\s{0,100}+step:[0-9]++ - (?=(?:train|perf)/)",
            unit="samples/s",
            counts="update",
            pauses=_PAUSES,
        ),
        Reading(
            rb"step:(?<!\Sstep:)<step> - train/loss:<loss> - (?:(?!train/time\(s\):|(?<=\s)step:)[^\r\n])*+train/time\(s\):<step_seconds>(?=\s)",
            unit="samples/s",
            span="step",
            counts="update",
        ),
    ),
    facts=(
        Fact("model", rb"'partial_pretrain': '([^'\s]++)'"),
        Fact("batch_size_of_job", _COPIES + rb"([0-9]++\s(?:(?!Normalize batch)[\s\S]){1,60000}?'train_batch_size': [0-9]++)", _product),
        Fact("batch_size_of_job", rb"'train_batch_size': ([0-9]++)", int, first=True, where=lacks(_COPIES)),
        Fact("devices", _COPIES + rb"([0-9]++\r?\n(?:[^\n]{0,400}\n){0,3}?Using sequence parallel size: [0-9]++)", _product),
        Fact("devices", rb"/model_world_size_([0-9]++)_rank_", int),
        *TORCHRUN,
        Fact("micro_batch", rb"'micro_batch_size_per_gpu': ([0-9]++)", int),
        Fact("total_steps", rb", total number of steps ([0-9]++)\b", int),
    ),
    samples=(
        Sample(
            "Epoch 1/6:   2%|█▍        | 1/62 [00:09<09:36,  9.45s/it]step:2 - train/loss:1.0625 - train/lr(1e-3):0.0005\n".encode(),
            epoch=1, total_epochs=6, step=1, total_steps=62, clock=9,
        ),
        Sample(
            b"Epoch 2/2:  98%|#########8| 122/125 [12:32<00:18,  6.07s/it]\nstep:248 - perf/max_memory_allocated_gb:10.25 - train/loss:0.5625\n",
            epoch=2, step=122, total_steps=125, clock=752,
        ),
        Sample(
            b"step:3 - train/loss:0.78125 - train/lr(1e-3):0.0008 - train/time(s):6.125\n", step=3, loss=0.78125, step_seconds=6.125,
        ),
        NearMiss(b"Epoch 1/6:   0%|          | 0/62 [00:00<?, ?it/s]step:1 - train/loss:1.0625 - train/lr(1e-3):0.0003\n", "nothing done yet"),
        NearMiss(b"Epoch 1/6:   2%|#         | 1/62 [00:09<09:36,  9.45s/it]step:2 - val/loss:0.5625\n", "a validation"),
        NearMiss(b"step:3 - train/loss:0.78125 - train/lr(1e-3):0.0008 - train/time(s):6.1", "cut inside the number"),
    ),
)  # fmt: skip
