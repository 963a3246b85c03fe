"""NGC DeepLearningExamples, PyTorch, DLLogger's text until 2020 (`:::NVLOGv0`): Tacotron 2, WaveGlow and NCF.

A figure is spread over several lines, with other lines between them. Tacotron 2 and WaveGlow print the speed of an
iteration of the whole job, in frames of a spectrogram or samples of audio. It excludes the wait for data: if the lines
are further apart than the seconds of an iteration explain, the clocks count. Their own figure is the mean of these
speeds in the last epoch. NCF prints a line per epoch; the first includes the start, and its own figure is the best
epoch. NCF's `batch_size` is that of the job. The lines of WaveGlow contain `Tacotron2_PyT`, too.
"""

from perfledger.parsers.contract import EPOCH_END, Fact, Format, Pause, Reading, timed, up_to
from perfledger.parsers.ngc import ONE_NODE, TF32

_ARGUMENTS = rb" args: \{"
_BATCH = rb"[\r\n]Batch: "
_ANY = rb"[\s\S]"


_ITERATION = (
    rb"(?<=[\r\n])Batch: [0-9]++/[0-9]++ epoch <epoch>\s"
    + up_to(rb"NVLOGv[\d.]{1,9} \w{1,40} (?=[\d.]++ \(\S++ train_iter_stop: )", _BATCH, _ANY)
    + rb"(?P<unix>[0-9.]++) \(\S++ train_iter_stop: <step>\s" + up_to(rb"train_iter_items/sec: ", _BATCH, _ANY)
    + rb"<throughput>\s" + up_to(rb"\) iter_time: ", _BATCH, _ANY) + rb"<duration>(?=\s)"
)  # fmt: skip

FORMAT = Format(
    title="NGC PyTorch Tacotron 2, WaveGlow, NCF (NVLOG)",
    framework="NGC PyTorch",
    needs=b":::NVLOGv",
    start=rb":::NVLOGv[\d.]++ \w++ [\d.]++ \(\S++ cpu_info: ",
    before_start=rb"^:::NVLOGv[\d.]++ \w++ [\d.]++ \(\S++ run_start$",
    end=") run_final",
    readings=(
        *timed(Reading(_ITERATION, unit="items/s"), Pause("evaluation", ") train_epoch_items/sec: "), EPOCH_END),
        Reading(
            rb":::NVLOGv[\d.]++ ncf (?P<unix>[0-9.]++) \(\S++ train_throughput: <throughput>\s"
            + up_to(rb"[\r\n]Epoch ", rb"train_throughput: ", _ANY)
            + rb"<epoch>: HR@10 = \S++ NDCG@10 = \S++ train_time = <duration>,",
            unit="samples/s",
            span="epoch",
        ),
        Reading(") train_epoch_avg_items/sec: {throughput}", unit="items/s", span="run", untrue=("summary",)),
        Reading(") best_train_throughput: {throughput}", unit="samples/s", span="run"),
    ),
    facts=(
        *TF32,
        Fact("model", ' args: {{{*}"model_name": "{}"', words={b"Tacotron2": "Tacotron 2", b"WaveGlow": "WaveGlow"}),
        Fact("model", rb":::NVLOGv[\d.]++ (ncf) ", lambda _: "NCF"),
        Fact("batch_size_of_job", ':::NVLOGv{_} ncf {_} ({_} args: {{{*}"batch_size": {:int}'),
        Fact("batch_size", ':::NVLOGv{_} Tacotron2_PyT {_} ({_} args: {{{*}"batch_size": {:int}'),
        Fact("accumulation", ' args: {{{*}"grads_accumulated": {:int}'),
        Fact("devices", ' args: {{{*}"world_size": {:int}'),
        ONE_NODE,
        Fact("gpu", rb'\) gpu_info: \{[^\[\]{\n]*+\["([^"\n]++)"'),
        Fact("precision", _ARGUMENTS + up_to(rb'"amp(?:_run)?": ', _ARGUMENTS) + rb"(true|false)", words={b"true": "amp", b"false": "fp32"}),
        Fact("precision", ' args: {{{*}"opt_level": "{}"', words={b"O0": "fp32", b"O1": "amp", b"O2": "fp16", b"O3": "fp16"}),
    ),
)  # fmt: skip
