"""XLM and what was made of its trainer (MASS, TransCoder, symbolic mathematics): a line per five batches, from each process.

Words and sentences per second count the batches of one process since the line before. That time holds evaluations and
checkpoints, which end an epoch. A word is a token of both languages of a pair. The seconds since the start are cut to
whole ones. A batch has a number of sentences, or of tokens, and an update may take several batches.
"""

from perfledger.parsers.contract import Fact, Format, NearMiss, Pause, Reading, Sample
from perfledger.parsers.frameworks import PYTORCH_JOB

_STAMP = rb" - [0-9/]++ [0-9:]++ - (?P<elapsed>(?:[0-9]++ days?, )?+[0-9:]++) - ++"
_START = rb"= Initialized logger ="

FORMAT = Format(
    title="XLM",
    framework="PyTorch",
    marker=b" words/s - ",
    unproven=True,
    # Every process prints this, one after the other: together they are one start.
    start=_START + rb"(?:(?:(?! words/s - |" + _START + rb")[^\n])*+\n(?:(?![^\n]*?(?: words/s - |" + _START + rb"))[^\n]*+\n){0,400}+[^\n]*?" + _START + rb")*+",
    readings=(
        Reading(
            _STAMP + rb"<step> - ++[0-9.]++ (?:sent|equations|examples)/s - ++<throughput> words/s - ",
            unit="tokens/s",
            scope="device",
            repeated=True,
            pauses=(
                Pause("evaluation", rb"__log__:\{", b'INFO - 11/20/26 10:11:12 - 0:20:00 - __log__:{"epoch": 0, "valid_en_mlm_ppl": 12.5}'),
                Pause("checkpoint", rb"Saving [\w-]++ to ", b"INFO - 11/20/26 10:11:12 - 0:20:00 - Saving checkpoint to ./dumped/test/checkpoint.pth ..."),
            ),
        ),
    ),
    facts=(
        *PYTORCH_JOB,
        Fact("nodes", rb"\bn_nodes: ([0-9]++)$", int),
        Fact("batch_size", rb"\bbatch_size: ([0-9]++)$(?!(?:\n[^\n]*+){0,400}?\btokens_per_batch: [1-9])", int),
        Fact("accumulation", rb"\baccumulate_gradients: ([0-9]++)$", int),
        Fact("precision", rb"\bfp16: (True|False)$", words={b"True": "fp16", b"False": "fp32"}),
    ),
    samples=(
        Sample(
            b"INFO - 11/20/26 10:11:12 - 0:01:05 -     100 -  125.50 sent/s -  4250.25 words/s - MLM-en:  7.1250 || AE-en:  5.2500 - model LR: 1.0000e-04\n",
            step=100, clock=65, throughput=4250.25,
        ),
        Sample(
            b"INFO - 11/20/26 10:11:12 - 1 day, 0:01:05 -  250000 -  512.00 equations/s - 18250.25 words/s -  MEM: 2048.50 MB - PRIM_FWD:  0.1250 - LR: 1.0000e-04\n",
            step=250000, clock=86465, throughput=18250.25,
        ),
        NearMiss(b"INFO - 11/20/26 10:11:12 - 0:01:05 - XNLI - Epoch 0 - Train iter     800 - 4250.2 words/s - Loss: 1.1250\n", "the fine-tuning, which counts sentences"),
        NearMiss(b"INFO - 11/20/26 10:11:12 - 0:01:05 -     100 -  125.50 sent/s -  4250.", "cut inside the number"),
    ),
)  # fmt: skip
