"""NGC DeepLearningExamples, PyTorch Transformer (`train.py`, based on fairseq): a record per `--log-interval` steps.

`tokens/s` is the throughput of the whole job over the interval, `avg tokens` the tokens of one step. The last record of
an epoch covers fewer steps. `step ()` is the validation. Runs without AMP print that a device `may support faster
training with --amp`. A run with a `nan` loss continues to print speeds.
"""

from perfledger.parsers.contract import Fact, Format, NearMiss, Reading, Sample
from perfledger.parsers.ngc import TF32

FORMAT = Format(
    title="NGC PyTorch Transformer",
    framework="NGC PyTorch",
    marker=b"Transformer | epoch ",
    start=rb"(?m)^Namespace\(adam_betas=\[[\d., ]++\], adam_eps=[\w.-]++, amp=",
    end=rb"(?m)^\| done training in ",
    readings=(
        Reading(
            rb"Transformer \| epoch <epoch> \| step <step> \|avg loss <loss> \|"
            rb"avg tokens <batch> \|tokens/s <throughput> \|walltime <elapsed> \|",
            unit="tokens/s",
        ),
    ),
    facts=(
        *TF32,
        Fact("model", rb"^\| model (transformer(?:(?!_big)\w)*+_big)(?:_\w++)?,", lambda _: "Transformer big"),
        Fact("model", rb"^\| model (transformer_wmt_en_de|transformer(?:(?!_base)\w)*+_base)(?:_\w++)?,", lambda _: "Transformer base"),
        Fact("batch_size", rb"^\| max tokens per GPU = (\d++) ", int),
        Fact("devices", rb"^\| training on (\d++) GPUs", int),
        Fact("accumulation", rb", update_freq=\[(\d++)\]", int),
        Fact("precision", rb"^opt_level ++: (O[0-3])", words={b"O0": "fp32", b"O1": "amp", b"O2": "fp16", b"O3": "fp16"}),
        Fact("precision", rb"^Namespace\([^\n]*?\bamp=(True),", words={b"True": "amp"}),
        Fact("precision", rb"^Namespace\([^\n]*?\bfp16=(True),", words={b"True": "fp16"}),
        Fact("precision", rb"^\| (NOTICE: your device may support faster training with )", lambda _: "fp32"),
        Fact("precision", rb"^Namespace\([^\n]*?\bamp=(False),", words={b"False": "fp32"}),
    ),
    samples=(
        Sample(
            b"Transformer | epoch 0 | step 20 |avg loss 15.627 |avg tokens 4700.500 |tokens/s 39725.311 |walltime 10.300 |",
            epoch=0, step=20, loss=15.627, batch=4700.5, throughput=39725.311, clock=10.3,
        ),
        Sample(
            b"Transformer | epoch 0 | step 26930 |avg loss nan |avg tokens 4400.000 |tokens/s 33040.697 |walltime 3768.566 |",
            step=26930, loss=float("nan"), throughput=33040.697,
        ),
        NearMiss(b"Transformer | epoch 0 | step () |avg loss 4.500 |walltime 2000.250 |", "the validation"),
        NearMiss(
            b"Transformer | epoch 0 | step 20 |avg loss 15.627 |avg tokens 4700.500 |tokens/s 3972",
            "cut inside the number, perhaps",
        ),
        NearMiss(
            b"| Translated 500 sentences (9000 tokens) in 2.0s (250.00 sentences/s, 4500.00 tokens/s)",
            "the translation of the test set",
        ),
    ),
)  # fmt: skip
