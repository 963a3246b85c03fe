"""XLM and what was made of its trainer (MASS, TransCoder, symbolic mathematics): a line per five batches, from each process.

Words and sentences per second count the batches of one process since the line before. That time contains evaluations and
checkpoints, which end an epoch. A word is a token of both languages of a pair. The seconds since the start are cut to
whole ones. A batch has a number of sentences, or of tokens, and an update may take several batches.
"""

from perfledger.parsers.contract import Fact, Format, Pause, Reading
from perfledger.parsers.frameworks import PYTORCH_JOB

_START = rb"= Initialized logger ="

FORMAT = Format(
    title="XLM",
    framework="PyTorch",
    unproven=True,
    # Every process prints this, one after the other: together they are one start.
    start=_START + rb"(?:(?:(?! words/s - |" + _START + rb")[^\n])*+\n(?:(?![^\n]*?(?: words/s - |" + _START + rb"))[^\n]*+\n){0,400}+[^\n]*?" + _START + rb")*+",
    readings=(
        Reading(
            " - {_} {_} - {elapsed} - {step} -  {_} {sent|equations|examples}/s - {throughput} words/s - ",
            unit="tokens/s",
            scope="device",
            ranks="median",
            pauses=(
                Pause("evaluation", "__log__:{{"),
                Pause("checkpoint", "Saving {_} to "),
            ),
        ),
    ),
    facts=(
        *PYTORCH_JOB,
        Fact("nodes", "n_nodes: {:int}$"),
        Fact("batch_size", rb"\bbatch_size: ([0-9]++)$(?!(?:\n[^\n]*+){0,400}?\btokens_per_batch: [1-9])", int),
        Fact("accumulation", "accumulate_gradients: {:int}$"),
        Fact("precision", "fp16: {}$", words={b"True": "fp16", b"False": "fp32"}),
    ),
)  # fmt: skip
