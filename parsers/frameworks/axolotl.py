"""axolotl over the Hugging Face Trainer: `'tokens/total'` in its dictionaries, with the time of the bar.

The tokens are those of the job since the start, masked ones and padding included. Ranks that share a sequence or the
layers of a model each count the same tokens, so such a log has no figure of this kind. `tokens/train_per_sec_per_gpu`
is not read: releases until January 2026 print the tokens of all devices under that name, those until the middle of 2026
of one accumulated batch only, and some divide by the logging interval once too often. The other contents of a log are
those of the Trainer.
"""

from perfledger.parsers.contract import Format, Reading, lacks, silent_checkpoints
from perfledger.parsers.frameworks import SHARED_SAMPLES
from perfledger.parsers.frameworks.hf_trainer import FORMAT as TRAINER
from perfledger.parsers.frameworks.trl import with_bar, with_tokens

FORMAT = Format(
    title="axolotl",
    framework="PyTorch",
    unproven=True,
    start=TRAINER.start,
    before_start=TRAINER.before_start,
    end=TRAINER.end,
    over=("frameworks.hf_trainer", "frameworks.trl"),
    readings=(
        Reading(
            with_tokens(rb"tokens/total"),
            unit="tokens/s",
            per_update=True,
            pauses=TRAINER.main.pauses,
            where=lacks(SHARED_SAMPLES),
            verbs=(with_bar, silent_checkpoints),
        ),
    ),
    facts=TRAINER.facts,
)  # fmt: skip
