"""NGC DeepLearningExamples, PyTorch, DLLogger's text (since 2020): Tacotron 2, WaveGlow, NCF and SSD300.

Tacotron 2 and WaveGlow print `train_items_per_sec` of an iteration of the whole job, with its seconds on the next line;
an item is a frame of a spectrogram, or a sample of audio. The wait for data lies outside: where the lines are further
apart than these seconds explain, the clocks count. Their own figure is the mean of the speeds of the last epoch's
iterations. NCF prints an epoch, of which two are usual: the first holds the start, and the trainer's own figure is the
best. An epoch shorter than some hundredths of a second was not timed. NCF's `batch_size` is that of the job. SSD300
prints one figure for the run, of which the median is quoted: every rank prints that of the job, or before units were
printed (2022) its own. `Training performance` adds what each has counted in full, and is not read. Where it trains and
does not only measure it prints losses, whose clocks need the devices. Keys of validation and evaluation are spelled
alike.
"""

from perfledger.parsers.contract import DLLOGGER_CLOCK, Fact, Format, Pause, Reading, up_to
from perfledger.parsers.contract.waits import WAITS, as_timed, by_the_clock
from perfledger.parsers.frameworks import PYTORCH_JOB
from perfledger.parsers.ngc import ONE_NODE, TF32, until_ssd_ends

_PARAMETER = rb" - PARAMETER "
_NCF = _PARAMETER + rb"data : \S++ ++feature_spec_file : "
_LINE = rb"DLL [\d .:-]{26} - "
_SPEED = rb"<throughput>(?: ++(?:items/s|samples/s|None))?+[\t \r]*+"

#: Releases of 2020 print the time of day between the two.
_STOP = _LINE + rb"\([0-9]++, [0-9]++\) train_iter_stop : \S++[\t \r]*+"
_ITERATION = (
    DLLOGGER_CLOCK + rb"\(<epoch>, <step>\) train_(?:items_per_|iter_items/)sec : " + _SPEED
    + rb"\n(?:" + _STOP + rb"\n)?+(?:" + _LINE + rb"\([0-9]++, [0-9]++\) train_iter_time : <duration>(?=\s))?+"
)  # fmt: skip


def _of_ncf(key: bytes) -> bytes:
    return _NCF + up_to(rb" " + key + rb" : ", rb"feature_spec_file : ")


def _of_ssd(key: bytes) -> bytes:
    return _PARAMETER + rb"dataset path : " + up_to(key + rb" : ", rb"dataset path : ")


FORMAT = Format(
    title="NGC PyTorch Tacotron 2, WaveGlow, NCF, SSD300",
    framework="NGC PyTorch",
    over=("frameworks.dllogger_text",),
    marker=b"",
    start=_NCF + rb"|" + _PARAMETER + rb"(?:output : |dataset path : " + until_ssd_ends() + rb")",
    end=rb" - \(\) (?:run_time|total time|best_train_throughput|avg_img/sec) : ",
    readings=(
        Reading(_ITERATION, unit="items/s", span="step", marker=b" train_ite", verbs=(as_timed,)),
        Reading(
            _ITERATION,
            unit="items/s",
            marker=b" train_ite",
            pauses=(
                Pause(
                    "evaluation",
                    rb",\) train_epoch_",
                ),
            ),
            epoch_end=True,
            verbs=(by_the_clock,),
        ),
        Reading(
            DLLOGGER_CLOCK + rb"\(<epoch>,\) train_throughput : " + _SPEED
            + up_to(rb"train_epoch_time : ", rb"train_throughput : ") + rb"<duration>(?=\s)",
            unit="samples/s",
            span="epoch",
            marker=b" train_throughput : ",
        ),
        # What SSD300 prints where it trains and does not only measure.
        Reading(
            DLLOGGER_CLOCK + rb"\(<epoch>, <step>\) loss : <loss>(?=\s)[\t \r]*+(?=\n|\Z)",
            unit="images/s",
            weak=True,
            marker=b" loss : ",
            epoch_end=True,
            pauses=(
                Pause("evaluation", rb",\) mAP : "),
                Pause("checkpoint", rb"saving model\.\.\."),
            ),
        ),
        Reading(
            _LINE + rb"\(\) train_items_per_sec : " + _SPEED + rb"(?=\n)", unit="items/s", span="run", averages=True, trap=WAITS,
            marker=b"() train_items_per_sec : ",
        ),
        Reading(
            _LINE + rb"\(\) best_train_throughput : <throughput>(?=\s)", unit="samples/s", span="run",
            marker=b"() best_train_throughput : ",
        ),
        Reading(
            _LINE + rb"\(\) avg_img/sec : \S++ images/s med_img/sec : <throughput> images/s", unit="images/s", span="run",
            marker=b" med_img/sec : ",
        ),
        Reading(
            _LINE + rb"\(\) avg_img/sec : [\d.]++ ++med_img/sec : <throughput> ", unit="images/s", span="run", scope="device",
            marker=b" med_img/sec : ",
        ),
        # What the mean beside that median comes from. Before DLLogger such a line was of one rank.
        Reading(
            rb" images/s[\t \r]*+\nDone benchmarking\. Total images: <samples>\ttotal time: <seconds>\t",
            unit="images/s", span="run", weak=True, marker=b"Done benchmarking. Total images: ",
        ),
    ),
    facts=(
        *TF32,
        Fact("model", _PARAMETER + rb"model_name : (Tacotron2|WaveGlow)[\t ]*+$", words={b"Tacotron2": "Tacotron 2", b"WaveGlow": "WaveGlow"}),
        Fact("model", rb"(?:^| )(NeuMF)\(", lambda _: "NCF"),
        Fact("model", _of_ssd(rb" backbone") + rb"(resnet50)", lambda _: "SSD300"),
        Fact("batch_size_of_job", _of_ncf(rb"batch_size") + rb"(\d++)", int),
        Fact("devices", _of_ncf(rb"world_size") + rb"(\d++)", int),
        Fact("accumulation", _of_ncf(rb"grads_accumulated") + rb"(\d++)", int),
        Fact("precision", _of_ncf(rb"amp") + rb"(True|False)", words={b"True": "amp", b"False": "fp32"}),
        Fact("batch_size", _PARAMETER + rb"batch_size : (\d++)", int),
        Fact("devices", _PARAMETER + rb"world_size : (\d++)", int),
        Fact("precision", _PARAMETER + rb"amp : (True|False)", words={b"True": "amp", b"False": "fp32"}),
        Fact("batch_size", _of_ssd(rb" batch size") + rb"(\d++)", int),
        Fact("precision", _of_ssd(rb" AMP") + rb"(True|False)", words={b"True": "amp", b"False": "fp32"}),
        *PYTORCH_JOB,
        ONE_NODE,
    ),
)  # fmt: skip
