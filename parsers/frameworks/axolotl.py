"""axolotl over the Hugging Face Trainer: `'tokens/total'` in its dictionaries, with the time of the bar.

The tokens are those of the job since the start, masked ones and padding included. Ranks that share a sequence or the
layers of a model count the same tokens each, so that such a log has no figure of this kind. What is printed as
`tokens/train_per_sec_per_gpu` is not read: releases until January 2026 print the tokens of all devices under that name,
those until the middle of 2026 of one accumulated batch only, and some divide by the logging interval once too often.
What a log states besides is that of the Trainer.
"""

from perfledger.parsers.contract import Format, Reading, lacks
from perfledger.parsers.frameworks import SEVERAL
from perfledger.parsers.frameworks.hf_trainer import FORMAT as TRAINER
from perfledger.parsers.frameworks.trl import paired, told

#: Where ranks share samples, a configuration says so.
_SHARED = rb"(?:tensor_parallel_size|context_parallel_size|sequence_parallel_degree)[\"']?+: ?+" + SEVERAL

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
            told(rb"tokens/total"),
            unit="tokens/s",
            per_update=True,
            pauses=TRAINER.main.pauses,
            where=lacks(_SHARED),
            verbs=(paired,),
        ),
    ),
    facts=TRAINER.facts,
)  # fmt: skip
