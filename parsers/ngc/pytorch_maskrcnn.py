"""NGC DeepLearningExamples, PyTorch Mask R-CNN: a record per 20 iterations, in DLLogger's text or a plain logger's.

`time` is the median of the last 20 iterations; the number in brackets is the mean since the start, whose
difference from line to line is used. It includes evaluations and checkpoints, since its timer runs on. `IMS_PER_BATCH` of
the solver is that of the job; the same key states the batch of the test. `train_perf_fps` is the whole run with its
start, in images per second of the job. `float16` is Apex's O1.
"""

from perfledger.parsers.contract import Fact, Format, Pause, Reading, up_to
from perfledger.parsers.frameworks import PYTORCH_JOB
from perfledger.parsers.ngc import DRAWN, TF32

_SOLVER = rb"^SOLVER:"
_OTHERS = rb"SOLVER:|\nTEST:"
_KEY = rb"\n" + DRAWN + rb" *+"


_PAUSES = (
    Pause("checkpoint", "Saving checkpoint to "),
    Pause("evaluation", "Start{?ing} evaluation"),
)  # fmt: skip

FORMAT = Format(
    title="NGC PyTorch Mask R-CNN",
    framework="NGC PyTorch",
    over=("frameworks.dllogger_text",),
    needs=b"time",
    start=rb" - PARAMETER gpu_count : |maskrcnn_benchmark INFO: Using \d++ GPUs",
    end=rb" train_perf_fps : |maskrcnn_benchmark\.trainer INFO: Total training time: ",
    readings=(
        Reading(
            "DLL {clock} - Training Iteration: {step} eta : {*} loss : {_} ({_}){*} time : {_} ({step_seconds})",
            unit="images/s",
            running_mean=1,
            pauses=_PAUSES,
        ),
        Reading(
            "{clock} maskrcnn_benchmark.trainer INFO: eta: {*} iter: {step} {*} time: {_} ({step_seconds})",
            unit="images/s",
            running_mean=1,
            pauses=_PAUSES,
        ),
        Reading(
            " -  e2e_train_time : {seconds}{? s} train_perf_fps : {throughput}",
            unit="images/s",
            span="run",
        ),
        # A wrapper's, from times of whole seconds; weak, since wrappers of other programs print it too.
        Reading(
            "Training perf is: {throughput} FPS", unit="images/s", span="run", weak=True,
        ),
    ),
    facts=(
        *TF32,
        Fact("model", rb"^ *+CONV_BODY: (\S++)", lambda body: "Mask R-CNN" if body == b"R-50-FPN" else f"Mask R-CNN {body.decode()}"),
        Fact("batch_size_of_job", _SOLVER + up_to(_KEY + rb"IMS_PER_BATCH: ", _OTHERS, rb"[\s\S]") + rb"(\d++)", int),
        Fact("total_steps", _SOLVER + up_to(_KEY + rb"MAX_ITER: ", _OTHERS, rb"[\s\S]") + rb"(\d++)", int),
        Fact("devices", " - PARAMETER gpu_count : {:int}"),
        Fact("devices", "maskrcnn_benchmark INFO: Using {:int} GPUs"),
        *PYTORCH_JOB,
        Fact("precision", "^DTYPE: {}", words={b"float16": "amp", b"float32": "fp32"}),
    ),
)  # fmt: skip
