"""NGC DeepLearningExamples, PyTorch Mask R-CNN: a record per 20 iterations, in DLLogger's text or a plain logger's.

`time` is the median of the last 20 iterations; the number in brackets is the mean since the start, of which the
difference from line to line is used. It holds evaluations and checkpoints, since its timer runs on. `IMS_PER_BATCH` of
the solver is that of the job; the same key states the batch of the test. `train_perf_fps` is the whole run with its
start, in images per second of the job. `float16` is Apex's O1.
"""

from perfledger.parsers.contract import DLLOGGER_CLOCK, Fact, Format, NearMiss, Pause, Reading, Sample, up_to
from perfledger.parsers.frameworks import PYTORCH_JOB
from perfledger.parsers.ngc import DRAWN, TF32

_SOLVER = rb"^SOLVER:"


def _of_solver(key: bytes) -> bytes:
    return _SOLVER + up_to(rb"\n" + DRAWN + rb" *+" + key + rb": ", rb"SOLVER:|\nTEST:", rb"[\s\S]")


_PAUSES = (
    Pause(
        "checkpoint",
        rb"Saving checkpoint to ",
        b"2026-11-20 17:37:24,500 maskrcnn_benchmark.utils.checkpoint INFO: Saving checkpoint to out/model_0002500.pth\n",
    ),
    Pause(
        "evaluation",
        rb"Start(?:ing)? evaluation",
        b"2026-11-20 17:37:24,500 maskrcnn_benchmark.inference INFO: Start evaluation on coco_2017_val dataset(5000 images).\n",
    ),
)  # fmt: skip

FORMAT = Format(
    title="NGC PyTorch Mask R-CNN",
    framework="NGC PyTorch",
    over=("frameworks.dllogger_text",),
    marker=b"time",
    start=rb" - PARAMETER gpu_count : |maskrcnn_benchmark INFO: Using \d++ GPUs",
    end=rb" train_perf_fps : |maskrcnn_benchmark\.trainer INFO: Total training time: ",
    readings=(
        Reading(
            DLLOGGER_CLOCK + rb"Training Iteration: <step> ++eta : " + up_to(rb" loss : \S", rb"DLL ") + rb"[^\s(]*+ \(\S++"
            + up_to(rb" time : ", rb"DLL ") + rb"[\d.]++ \(<step_seconds>\)",
            unit="images/s",
            cumulative_since=1,
            pauses=_PAUSES,
            marker=b" eta : ",
        ),
        Reading(
            rb"(?P<clock>\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d{3}) maskrcnn_benchmark\.trainer INFO: eta: "
            + up_to(rb" iter: ", rb"maskrcnn_benchmark\.trainer") + rb"<step> "
            + up_to(rb" time: ", rb"maskrcnn_benchmark\.trainer") + rb"[\d.]++ \(<step_seconds>\)",
            unit="images/s",
            cumulative_since=1,
            pauses=_PAUSES,
            marker=b"maskrcnn_benchmark.trainer INFO: eta: ",
        ),
        Reading(
            rb" -  e2e_train_time : <seconds>(?: s)? ++train_perf_fps : <throughput>(?: [\w/]++)?+[\t \r]*+(?=\n)",
            unit="images/s",
            span="run",
            marker=b"train_perf_fps : ",
        ),
        # A wrapper's, from times of whole seconds; weak, since wrappers of other programs print it too.
        Reading(
            rb"Training perf is: <throughput> FPS(?=\s)", unit="images/s", span="run", weak=True, summary="wrapper",
            marker=b"Training perf is: ",
        ),
    ),
    facts=(
        *TF32,
        Fact("model", rb"^ *+CONV_BODY: (\S++)", lambda body: "Mask R-CNN" if body == b"R-50-FPN" else f"Mask R-CNN {body.decode()}"),
        Fact("batch_size_of_job", _of_solver(rb"IMS_PER_BATCH") + rb"(\d++)", int),
        Fact("total_steps", _of_solver(rb"MAX_ITER") + rb"(\d++)", int),
        Fact("devices", rb" - PARAMETER gpu_count : (\d++)", int),
        Fact("devices", rb"maskrcnn_benchmark INFO: Using (\d++) GPUs", int),
        *PYTORCH_JOB,
        Fact("precision", rb"^DTYPE: (float(?:16|32))", words={b"float16": "amp", b"float32": "fp32"}),
    ),
    samples=(
        Sample(
            b"DLL 2026-11-20 17:37:24.500000 - Training Iteration: 40  eta : 0:07:21  learning_rate : 0.0  memory : 36615.5  "
            b"loss : 6.6000 (6.6075)  loss_box_reg : 0.0091 (0.0101)  time : 2.6425 (2.7575)  data : 0.1655 (0.2280) \n",
            clock=1795196244.5, step=40, step_seconds=2.7575,
        ),
        Sample(
            b"2026-11-20 17:37:24,500 maskrcnn_benchmark.trainer INFO: eta: 0:07:21  iter: 40  loss: 6.6000 (6.6075)  "
            b"loss_box_reg: 0.0091 (0.0101)  time: 2.6425 (2.7575)  data: 0.1655 (0.2280)  lr: 0.000000  max mem: 7000\n",
            step=40, step_seconds=2.7575,
        ),
        Sample(b"DLL 2026-11-20 17:44:39.357746 -  e2e_train_time : 544.875  train_perf_fps : 93.965750 \n", throughput=93.96575, seconds=544.875),
        Sample(b"Training perf is: 93.965644 FPS\n", throughput=93.965644),
        NearMiss(b"Training perf is: 93.965644 FPS", "the wrapper's, the same once more"),
        NearMiss(b"2026-11-20 16:28:05,468 maskrcnn_benchmark.trainer INFO: Total training time: 0:12:21.802630 (1.8545 s / it)", "the whole run"),
    ),
)  # fmt: skip
