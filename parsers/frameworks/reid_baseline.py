"""Re-identification: the strong baseline, TransReID, CLIP-ReID and others made of them: a line per `LOG_PERIOD` iterations.

The stamps of the lines show the speed; every process prints them. A validation or checkpoint between two epochs is part
of the first record of the next epoch. `Speed` of an epoch is not read: that of the strong baseline excludes the wait
for data, and its `Time per batch` is the seconds of the epoch. `IMS_PER_BATCH` of the solver is the batch of all
devices; the same key states the batch of the test.
"""

from perfledger.parsers.contract import EPOCH_END, Fact, Format, Pause, Reading, up_to
from perfledger.parsers.frameworks import PYTORCH_JOB

FORMAT = Format(
    title="TransReID and strong baseline",
    framework="PyTorch",
    unproven=True,
    start=".train INFO: start training",
    before_start=rb" INFO: (?:Namespace\(|Saving model in the path |Running with config:|Loaded configuration file )",
    readings=(
        Reading(
            "{clock} {_} INFO: Epoch[{epoch}] Iteration[{step}/{total_steps}] Loss: {loss}, ",
            unit="images/s",
            ranks="median",
            pauses=(
                Pause("evaluation", "INFO: Validation Results "),
                EPOCH_END,
            ),
        ),
    ),
    facts=(
        Fact("batch_size_of_job", rb"^SOLVER:$" + up_to(rb"^ *+IMS_PER_BATCH: ", rb"^[A-Z_]++:$", rb"[\s\S]") + rb"(\d++)$", int),
        Fact("total_epochs", "^{? }MAX_EPOCHS: {:int}$"),
        Fact("model", rb"^ *+(?:TRANSFORMER_TYPE|NAME): '?+((?:vit|deit|swin|resnet|ViT|RN)[\w-]++)"),
        *PYTORCH_JOB,
    ),
)  # fmt: skip
