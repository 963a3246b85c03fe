"""NGC DeepLearningExamples, TensorFlow 1, DLLogger's text: VAE-CF, NCF, the U-Nets and V-Net.

From the printers' source alone: no real log has been read yet. VAE-CF prints an epoch of the whole job with its
seconds; its `batch_size_train` is the job's. NCF prints the mean of its epochs' speeds without the first; its
`batch_size` is the job's. The medical U-Nets and V-Net print one figure for the run, after a warm-up of their own:
V-Net samples over seconds, the U-Nets the mean of the speeds of steps, which lies above it. The industrial U-Net prints
the mean of the last 30 steps, each cut to a whole number, without those that it logs; what it calls an epoch is a step.
Inference has keys of its own.
"""

from perfledger.parsers.contract import Fact, Format, Reading
from perfledger.parsers.ngc import TF32

_LINE = rb"DLL [\d .:-]{26} - "
_PARAMETER = rb" - PARAMETER "
_VAE = _PARAMETER + rb"train : (?:True|False) ++test : "
_NCF = _PARAMETER + rb"data : \S++ ++epochs : \d++ ++batch_size : (?=\d++ ++valid_users_per_batch : )"


FORMAT = Format(
    title="NGC TensorFlow VAE-CF, NCF, U-Net, V-Net",
    framework="NGC TensorFlow",
    over=("frameworks.dllogger_text",),
    unproven=True,
    needs=b"DLL ",
    start=_VAE + rb"|" + _NCF,
    end=_LINE + rb"(?:\(\) (?:average_train_|throughput_train)| train\.avg_ips : |\d++ average_throughput_train : )",
    readings=(
        Reading(
            "DLL {clock} - ({epoch},) train_epoch_time : {duration} train_throughput : {throughput}",
            unit="samples/s",
            span="epoch",
        ),
        Reading(
            "DLL {clock} - Epoch: {step} train.avg_ips : {throughput} imgs/s",
            unit="images/s",
        ),
        Reading(" - () {*}average_train_throughput : {throughput} samples/s", unit="samples/s", span="run"),
        Reading(" - () {*}throughput_train : {throughput} images/s", unit="images/s", span="run"),
        Reading(
            " - {_} average_throughput_train : {throughput}", unit="samples/s", span="run",
        ),
        Reading(" -  train.avg_ips : {throughput} imgs/s", unit="images/s", span="run"),
    ),
    facts=(
        *TF32,
        Fact("model", rb" (batch_size_train) : ", lambda _: "VAE-CF"),
        Fact("model", rb"(valid_users_per_batch) : ", lambda _: "NCF"),
        Fact("model", rb"(average_throughput_train) : ", lambda _: "V-Net"),
        Fact("model", rb" (train\.avg_ips) : ", lambda _: "U-Net Industrial"),
        Fact("model", "() throughput_train : {} images/s", lambda _: "U-Net Medical"),
        Fact("batch_size_of_job", " - PARAMETER train : {True|False} test : {*} batch_size_train : {:int}"),
        Fact("devices", " - PARAMETER train : {True|False} test : {*} world_size : {:int}"),
        Fact("precision", " - PARAMETER train : {True|False} test : {*} amp : {}", words={b"True": "amp", b"False": "fp32"}),
        Fact("xla", " - PARAMETER train : {True|False} test : {*} xla : {}"),
        Fact("batch_size_of_job", " - PARAMETER data : {_} epochs : {_} batch_size : {:int} valid_users_per_batch : "),
        Fact("devices", " - PARAMETER data : {_} epochs : {_} batch_size : {_} valid_users_per_batch : {*} world_size : {:int}"),
        Fact("precision", " - PARAMETER data : {_} epochs : {_} batch_size : {_} valid_users_per_batch : {*} amp : {}", words={b"True": "amp", b"False": "fp32"}),
        Fact("xla", " - PARAMETER data : {_} epochs : {_} batch_size : {_} valid_users_per_batch : {*} xla : {}"),
        Fact("batch_size", " - PARAMETER batch_size : {:int}"),
        Fact("precision", " - PARAMETER use_amp : {}", words={b"True": "amp", b"False": "fp32"}),
    ),
)  # fmt: skip
