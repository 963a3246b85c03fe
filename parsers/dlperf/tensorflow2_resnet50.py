"""TensorFlow Model Garden (TF 2), Keras callback `TimeHistory`: a record per `log_steps` steps.

`examples/second` is the throughput of the whole job over the steps named. glog prints no year, and some builds no date,
so that a run over midnight seems to go back in time. The timer runs on over the end of an epoch, with the validation
and the checkpoint there; in the scripts with a loop of their own, whose steps Orbit prints as well, it stops for both.
A progress bar may precede the message on its line, and copies print it without the logger's stamp. Some documents mask
the figures of the line. Releases of 2019 and 2020 print the same as `BenchmarkMetric`. The figure precedes the unit, so
a truncated one is not read.
"""

from perfledger.parsers.contract import Fact, Format, NearMiss, Pause, Reading, Sample, Window, up_to
from perfledger.parsers.frameworks import TENSORFLOW_GPU

#: What stands at the end of an epoch; Keras may be told to print some of it. It counts where a record is slow alone: the
#: timer begins with the next step, behind all of this, where an interval ends with the epoch.
_PAUSES = (
    Pause(
        "epoch_end",
        rb"val_loss: ",
        b"1251/1251 - 300s - loss: 6.9375 - accuracy: 0.0125 - val_loss: 6.7500 - val_accuracy: 0.0250",
    ),
    Pause("epoch_end", rb"saving model to ", b"Epoch 00001: saving model to out/model.ckpt-0001"),
    # What Orbit tells stands between two of its loops: the timer begins with the next one.
    Pause("evaluation", rb"eval \| step: ", b" eval | step:    400 | running complete evaluation...", inside="none"),
    Pause("checkpoint", rb"saved checkpoint to ", b"saved checkpoint to out/ckpt-400.", inside="none"),
)

_STAMP = rb"[IWE](?P<clock>(?:[0-9]{4} )?[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]++) ++[0-9]++ [\w.-]++:[0-9]++\] "

#: What the scripts for images print of their configuration; of several processes each prints it.
_TRAINER = rb"\bclassifier_trainer\.py:[0-9]++\] "
_BASE = _TRAINER + rb"Base params: "
_BEGINS = _BASE + rb"(?:(?:(?!" + _BASE + rb"|TimeHistory: |Run stats:|Traceback)[\s\S])*+" + _BASE + rb")*+"

FORMAT = Format(
    title="TensorFlow 2 TimeHistory",
    framework="TensorFlow",
    marker=b"examples",
    over=("frameworks.orbit",),  # The scripts with a loop of their own print its steps as well, without their samples.
    start=_BEGINS,
    end=rb"\bRun stats:",
    readings=(
        Reading(
            _STAMP + rb"TimeHistory: <duration> seconds, <throughput> examples/second between steps [0-9]++ and <step>(?=\s)",
            unit="images/s",
            marker=b"TimeHistory: ",
            pauses=_PAUSES,
            alone=True,
        ),
        Reading(
            rb"(?<!\] )TimeHistory: <duration> seconds, <throughput> examples/second between steps [0-9]++ and <step>(?=\s)",
            unit="images/s",
            marker=b"TimeHistory: ",
            pauses=_PAUSES,
            alone=True,
        ),
        Reading(
            _STAMP + rb"BenchmarkMetric: \{'global step':<step>, 'time_taken': <duration>, ?+'examples_per_second': <throughput>\}",
            unit="images/s",
            marker=b"BenchmarkMetric: ",
            pauses=_PAUSES,
            alone=True,
        ),
    ),
    facts=(
        Fact("batch_size_of_job", rb"--batch_size=(\d++)", int),
        Fact("batch_size_of_job", _TRAINER + rb"Global batch size: (\d++)", int),
        Fact("devices", _TRAINER + rb"Detected (\d++) devices\.", int),
        Fact("model", _TRAINER + rb"Final model parameters: " + up_to(rb"'model_name': '", _TRAINER, rb"[\s\S]") + rb"([^'\n]++)'"),
        Fact("devices_per_node", rb"--num_gpus=(\d++)", int),
        TENSORFLOW_GPU,
        Fact("precision", rb"--dtype=(\w++)", words={b"fp16": "amp", b"bf16": "bf16", b"fp32": "fp32"}),
        Fact("xla", rb"--enable_xla=(\w++)", words={b"true": "True", b"True": "True", b"false": "False", b"False": "False"}),
    ),
    windows={"dlperf": Window(101, 600), "dlperf-time": Window(100, 600, "clock")},
    samples=(
        Sample(
            b"I0128 13:08:30.500000 281473617147888 keras_utils.py:119] TimeHistory: 9.62 seconds, 4.16 examples/second between steps 20 and 30\n",
            step=30, throughput=4.16, duration=9.62, clock=65452110.5,
        ),
        Sample(
            b" 99/1251 [=>....] - ETA: 9:12 - loss: 7.1I0128 13:09:30.564977 140348344015936 keras_utils.py:145] TimeHistory: "
            b"24.20 seconds, 1058.00 examples/second between steps 0 and 100\n",
            step=100, throughput=1058.0,
        ),
        Sample(
            b"I0128 13:08:30.500000 140348344015936 keras_utils.py:88] BenchmarkMetric: {'global step':200, 'time_taken': 8.000000,"
            b"'examples_per_second': 1600.000000}\n",
            step=200, throughput=1600.0, duration=8.0, clock=65452110.5,
        ),
        Sample(b"TimeHistory: 8.00 seconds, 1600.00 examples/second between steps 100 and 200\n", step=200, throughput=1600.0, duration=8.0),
        NearMiss(
            b"I0128 13:09:30.500000 140348344015936 keras_utils.py:96] BenchmarkMetric: {'epoch':0, 'time_taken': 43.500000}\n",
            "an epoch, without its steps",
        ),
        NearMiss(
            b"I0324 07:55:20.594147 140348344015936 keras_utils.py:145] TimeHistory: xxxxx seconds, xxxxx examples/second between steps 0 and 1\n",
            "masked figures",
        ),
        NearMiss(
            b"I0128 13:08:30.564977 281473617147888 keras_utils.py:119] TimeHistory: 9.62 seconds, 4.16 examples/second between steps 20 and 3",
            "cut inside the step",
        ),
        NearMiss(b"INFO:tensorflow:{'train_loss': 7.1, 'avg_exp_per_second': 1058.0}", "another rule of the same program"),
    ),
)  # fmt: skip
