"""llama-recipes, now llama-cookbook: the bar of an epoch, whose words name the epoch and the batch.

The bar counts optimiser updates, and is drawn with every batch; its time since the epoch began is in whole seconds, and
the differences count. Each rank draws its own. The time after an epoch, such as the evaluation, is in no record:
the next bar begins again. `epoch time` are the seconds of an epoch without its evaluation. The samples of an update are
known only where the command is printed.
"""

from perfledger.parsers.contract import Fact, Format, Reading
from perfledger.parsers.frameworks import PYTORCH_JOB

FORMAT = Format(
    title="llama-recipes",
    framework="PyTorch",
    unproven=True,
    start=rb"--> Model [^\n]{1,200}?\n(?:(?!Training Epoch: |--> Model )[^\n]*+\n){0,40}?[^\n]*?--> Training Set Length = ",
    readings=(
        Reading(
            "Training Epoch: {epoch}/{total_epochs}, step {_} completed (loss: {loss}):  {_}%|{*}| {step}/{total_steps} [{elapsed}<",
            unit="samples/s",
            per_update=True,
            ranks="median",
        ),
        Reading(
            "Epoch {epoch}: train_perplexity={_}, train_epoch_loss={loss}, epoch time {duration:s}",
            unit="samples/s",
            span="epoch",
            ranks="median",
        ),
    ),
    facts=(
        *PYTORCH_JOB,
        Fact("batch_size", rb"--batch_size_training[ =]([0-9]++)\b", int),
        Fact("accumulation", rb"--gradient_accumulation_steps[ =]([0-9]++)\b", int),
        Fact("model", rb"--model_name[ =](\S++)"),
    ),
)  # fmt: skip
