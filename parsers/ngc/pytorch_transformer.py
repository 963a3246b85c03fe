"""NGC DeepLearningExamples, PyTorch Transformer (`train.py`, based on fairseq): a record per `--log-interval` steps.

`tokens/s` is the throughput of the whole job over the interval, `avg tokens` the tokens of one step. The last record of
an epoch covers fewer steps. `step ()` is the validation. Runs without AMP print that a device `may support faster
training with --amp`. A run with a `nan` loss continues to print speeds.
"""

from perfledger.parsers.contract import Fact, Format, Reading
from perfledger.parsers.ngc import TF32

FORMAT = Format(
    title="NGC PyTorch Transformer",
    framework="NGC PyTorch",
    start=rb"(?m)^Namespace\(adam_betas=\[[\d., ]++\], adam_eps=[\w.-]++, amp=",
    end="^| done training in ",
    readings=(
        Reading(
            "Transformer | epoch {epoch} | step {step} |avg loss {loss} |avg tokens {batch} |tokens/s {throughput} |walltime {elapsed} |",
            unit="tokens/s",
        ),
    ),
    facts=(
        *TF32,
        Fact("model", rb"^\| model (transformer(?:(?!_big)\w)*+_big)(?:_\w++)?,", lambda _: "Transformer big"),
        Fact("model", rb"^\| model (transformer_wmt_en_de|transformer(?:(?!_base)\w)*+_base)(?:_\w++)?,", lambda _: "Transformer base"),
        Fact("batch_size", "^| max tokens per GPU = {:int} "),
        Fact("devices", "^| training on {:int} GPUs"),
        Fact("accumulation", ", update_freq=[{:int}]"),
        Fact("precision", "^opt_level  : {}", words={b"O0": "fp32", b"O1": "amp", b"O2": "fp16", b"O3": "fp16"}),
        Fact("precision", rb"^Namespace\([^\n]*?\bamp=(True),", words={b"True": "amp"}),
        Fact("precision", rb"^Namespace\([^\n]*?\bfp16=(True),", words={b"True": "fp16"}),
        Fact("precision", rb"^\| (NOTICE: your device may support faster training with )", lambda _: "fp32"),
        Fact("precision", "^Namespace({*}amp={},", words={b"False": "fp32"}),
    ),
)  # fmt: skip
