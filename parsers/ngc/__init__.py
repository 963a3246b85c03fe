"""Printers of NVIDIA's NGC DeepLearningExamples."""

import numpy as np

from perfledger.parsers.contract import EPOCH_TIMER, Columns, Fact, Reading, lacks
from perfledger.parsers.frameworks import PYTORCH_JOB

#: PyTorch's launchers start one node unless their command states a number of nodes.
ONE_NODE = Fact(
    "nodes", rb"(?:torch\.distributed\.launch|\btorchrun) (--nproc_per_node=\d++) [\w/.-]++(?<=\.py)", lambda _: 1
)
#: Whether FP32 may be computed as TF32. NVIDIA's containers allow it by default.
TF32 = (
    Fact("tf32", rb"\bNVIDIA_TF32_OVERRIDE[\"']?[=: ]{1,3}[\"']?(0)\b", words={b"0": "False"}),
    Fact("tf32", rb"\ballow_tf32[\"']?[=: ]{1,3}(True|False)\b"),
)

_BASE_OR_LARGE = 200_000_000


def _size(printed: bytes) -> str:
    return f"BERT-{'base' if int(printed) < _BASE_OR_LARGE else 'large'} SQuAD"


#: Facts that all releases of `run_squad.py` print. `--bert_model` names the vocabulary, whichever network is run.
BERT_SQUAD = (
    Fact("batch_size", "train_batch_size={:int}"),
    Fact("accumulation", "gradient_accumulation_steps={:int}"),
    Fact("devices", "n_gpu: {:int}, distributed training: False"),
    Fact("devices", "Completed store-based barrier for key:store_based_barrier_key:1 with {:int} nodes"),
    *PYTORCH_JOB,
    ONE_NODE,
    *TF32,
    Fact("precision", "16-bits training: {}", words={b"True": "fp16", b"False": "fp32"}),
    Fact("sequence_length", "max_seq_length={:int}"),
    Fact("model", "PARAMETER model_weights_num : {}", _size),
    Fact(
        "model",
        rb"\bconfig_file=(?:(?!bert_(?:configs/)?(?:base|large)|config_file=)\S)*+bert_(?:configs/)?(base|large)",
        lambda size: f"BERT-{size.decode()} SQuAD",
    ),
)
#: The log states one batch per update, or no number; with several, printed steps count only the last of them.
ONE_BATCH_PER_UPDATE = lacks(rb"gradient_accumulation_steps[= ](?:[2-9]|1\d)")


def _whole_batches(columns: Columns) -> Columns:
    """Return the states of `run_squad.py`'s bars with the epoch of each; the last batch of an epoch may be a smaller one.

    If ranks draw their bars in turn, one may begin an epoch before another has ended the one before.
    """
    step, total = columns["step"], columns["total_steps"]
    done = np.unwrap(step, period=float(total[0]))
    found = columns.assign(epoch=np.floor(done / total)).take((step > 0) & (step < total))
    return found.drop("total_steps")


#: The bar `Iteration:` that `run_squad.py` draws again in each epoch. Its seconds are whole ones since the epoch began;
#: its speed is smoothed.
SQUAD_BAR = Reading(
    "Iteration:  {_}%|{*}| {step}/{total_steps} [{elapsed}<",
    unit="sequences/s",
    ranks="median",
    weak=True,
    pauses=(EPOCH_TIMER,),
    where=ONE_BATCH_PER_UPDATE,
    verbs=(_whole_batches,),
)


#: The precision of each optimisation level of Apex.
APEX = Fact(
    "precision",
    rb"^Selected optimization level (O[0-3])",
    words={b"O0": "fp32", b"O1": "amp", b"O2": "fp16", b"O3": "fp16"},
)


#: Bars that a terminal overwrites, before the text of a line.
DRAWN = rb"(?:[^\r\n]*+\r)*+"


def until_ssd_ends() -> bytes:
    """Return a pattern of the lines of an SSD300 run after one of its first: every rank prints these, but starts once."""
    return rb"[^\n]*+\n(?:(?!" + DRAWN + rb"(?:Training performance = |DONE!))[^\n]*+\n)*+"
