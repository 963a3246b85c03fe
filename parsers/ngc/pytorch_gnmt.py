"""NGC DeepLearningExamples, PyTorch GNMT v2: a `TRAIN` line of every rank per `--print-freq` iterations.

The numbers in brackets are means since the epoch's second iteration, of one device; its first iteration counts nowhere,
and its own line prints 0. `Tok/s` counts source and target tokens, and is a mean of the iterations' speeds: sentences
come in lengths, and short and long iterations count alike. `Performance` is the sum over the devices for one epoch, of
which the last is quoted; `Validation` stands on the same line. `VALIDATION` lines are spelled like `TRAIN` lines. A run
of a few iterations prints no usable `TRAIN` line.
"""

from parsers.contract import Fact, Format, NearMiss, Reading, Sample, up_to
from parsers.frameworks import PYTORCH_JOB
from parsers.ngc import ONE_NODE, TF32

_ARGUMENTS = rb"Run arguments: Namespace\("


def _argument(key: bytes) -> bytes:
    return _ARGUMENTS + up_to(rb"\b" + key + rb"=", _ARGUMENTS)


FORMAT = Format(
    title="NGC PyTorch GNMT",
    framework="NGC PyTorch",
    marker=b"Tok/s",
    start=rb"(?m)^(?:0: )?+" + _argument(rb"beam_size"),
    end=rb"Total training time \d++ s",
    readings=(
        Reading(
            rb"TRAIN \[<epoch>\]\[(?!0/)<step>/[0-9]++\]\tTime \S++ \(<step_seconds>\)\tData \S++ \([^)\s]++\)\t"
            rb"Tok/s \S++ \(<throughput>\)\tLoss/tok <loss> \(",
            unit="tokens/s",
            scope="device",
            cumulative_since=1,
            repeated=True,
        ),
        Reading(rb"Performance: Epoch: \d++\tTraining: <throughput> Tok/s", unit="tokens/s", span="run"),
    ),
    facts=(
        *TF32,
        Fact("model", rb"^(?:\d++: )?+(GNMT)\("),
        Fact("batch_size", _argument(rb"train_batch_size") + rb"(\d++)", int),
        Fact("accumulation", _argument(rb"train_iter_size") + rb"(\d++)", int),
        Fact("precision", _argument(rb"math") + rb"'(fp16|fp32|tf32|manual_fp16)'", words={b"fp16": "fp16", b"manual_fp16": "fp16", b"fp32": "fp32", b"tf32": "tf32"}),
        *PYTORCH_JOB,
        ONE_NODE,
    ),
    samples=(
        Sample(
            b"0: TRAIN [1][10/142]\tTime 0.206 (0.195)\tData 1.49e-04 (1.78e-04)\tTok/s 134750 (244500)\tLoss/tok 7.1250 (7.5)\tLR 8.319e-04",
            epoch=1, step=10, step_seconds=0.195, throughput=244500.0, loss=7.125,
        ),
        Sample(b"0: Performance: Epoch: 1\tTraining: 249250 Tok/s\tValidation: 269750 Tok/s", throughput=249250.0),
        NearMiss(
            b"0: TRAIN [0][0/142]\tTime 1.823 (0.000)\tData 1.53e+00 (0.00e+00)\tTok/s 25448 (0)\tLoss/tok 10.6719 (10.6719)\tLR 2.049e-05",
            "the first iteration, of which no mean is made",
        ),
        NearMiss(
            b"0: VALIDATION [0][10/40]\tTime 0.024 (0.031)\tData 1.97e-03 (2.05e-03)\tTok/s 187353 (182672)\tLoss/tok 8.07 (8.11)",
            "validation",
        ),
        NearMiss(b"0: Performance: Epoch: 1\tTraining: 2492", "cut inside the number"),
    ),
)  # fmt: skip
