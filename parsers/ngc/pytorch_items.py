"""NGC DeepLearningExamples, PyTorch, DLLogger's text (since 2020): Tacotron 2, WaveGlow, NCF and SSD300.

Tacotron 2 and WaveGlow print `train_items_per_sec` of an iteration of the whole job, with its seconds on the next line;
an item is a frame of a spectrogram, or a sample of audio. The seconds exclude the wait for data: if the lines are
further apart than the seconds explain, the clocks count. Their own figure is the mean of the speeds of the last epoch's
iterations.

NCF prints a line per epoch, usually two: the first includes the start, and the trainer's own figure is the best epoch.
An epoch shorter than a few hundredths of a second was not timed. NCF's `batch_size` is that of the job.

SSD300 prints one figure for the run; its median is quoted. Every rank prints the figure of the job, or, before units
were printed (2022), its own. `Training performance` is the sum over ranks that each counted the whole job, and is not
read. In training, as opposed to a benchmark, SSD300 prints losses, whose clocks need the number of devices. Keys of
validation and evaluation are spelled alike.
"""

from perfledger.parsers.contract import EPOCH_END, Fact, Format, Pause, Reading, timed
from perfledger.parsers.frameworks import PYTORCH_JOB
from perfledger.parsers.ngc import ONE_NODE, TF32, until_ssd_ends

#: Releases of 2020 print the time of day between the speed and the seconds.
_ITERATION = (
    "DLL {clock} - ({epoch}, {step}) train_{items_per_|iter_items/}sec : {throughput}{? {_}}"
    "{?\nDLL {_} {_} - ({_}, {_}) train_iter_stop : {_}}"
    "{?\nDLL {_} {_} - ({_}, {_}) train_iter_time : {duration}}"
)


FORMAT = Format(
    title="NGC PyTorch Tacotron 2, WaveGlow, NCF, SSD300",
    framework="NGC PyTorch",
    over=("frameworks.dllogger_text",),
    start=rb" - PARAMETER (?:data : \S++ ++feature_spec_file : |output : |dataset path : " + until_ssd_ends() + rb")",
    end=rb" - \(\) (?:run_time|total time|best_train_throughput|avg_img/sec) : ",
    readings=(
        *timed(Reading(_ITERATION, unit="items/s"), Pause("evaluation", ",) train_epoch_"), EPOCH_END),
        Reading(
            "DLL {clock} - ({epoch},) train_throughput : {throughput} {*}train_epoch_time : {duration}",
            unit="samples/s",
            span="epoch",
        ),
        # SSD300 in training, as opposed to a benchmark.
        Reading(
            "DLL {clock} - ({epoch}, {step}) loss : {loss}$",
            unit="images/s",
            weak=True,
            pauses=(
                Pause("evaluation", ",) mAP : "),
                Pause("checkpoint", "saving model..."),
                EPOCH_END,
            ),
        ),
        Reading(
            " - () train_items_per_sec : {throughput}", unit="items/s", span="run", untrue=("summary",),
        ),
        Reading(
            " - () best_train_throughput : {throughput}", unit="samples/s", span="run",
        ),
        Reading(
            " - () avg_img/sec : {_} images/s med_img/sec : {throughput} images/s", unit="images/s", span="run",
        ),
        Reading(
            " - () avg_img/sec : {_} med_img/sec : {throughput} ", unit="images/s", span="run", scope="device",
        ),
        # The mean that is printed with that median. Before DLLogger such a line was of one rank.
        Reading(
            " images/s\nDone benchmarking. Total images: {samples}\ttotal time: {seconds}\t",
            unit="images/s", span="run", weak=True,
        ),
    ),
    facts=(
        *TF32,
        Fact("model", " - PARAMETER model_name : {}", words={b"Tacotron2": "Tacotron 2", b"WaveGlow": "WaveGlow"}),
        Fact("model", rb"(?:^| )(NeuMF)\(", lambda _: "NCF"),
        Fact("model", " - PARAMETER dataset path : {*} backbone : {}", words={b"resnet50": "SSD300"}),
        Fact("batch_size_of_job", " - PARAMETER data : {_} feature_spec_file : {*} batch_size : {:int}"),
        Fact("devices", " - PARAMETER data : {_} feature_spec_file : {*} world_size : {:int}"),
        Fact("accumulation", " - PARAMETER data : {_} feature_spec_file : {*} grads_accumulated : {:int}"),
        Fact("precision", " - PARAMETER data : {_} feature_spec_file : {*} amp : {}", words={b"True": "amp", b"False": "fp32"}),
        Fact("batch_size", " - PARAMETER batch_size : {:int}"),
        Fact("devices", " - PARAMETER world_size : {:int}"),
        Fact("precision", " - PARAMETER amp : {}", words={b"True": "amp", b"False": "fp32"}),
        Fact("batch_size", " - PARAMETER dataset path : {*} batch size : {:int}"),
        Fact("precision", " - PARAMETER dataset path : {*} AMP : {}", words={b"True": "amp", b"False": "fp32"}),
        *PYTORCH_JOB,
        ONE_NODE,
    ),
)  # fmt: skip
