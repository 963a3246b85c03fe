"""Programs made of maskrcnn-benchmark (FCOS, ATSS, Scene-Graph-Benchmark ...): a record per 20 iterations or so.

`time` is the median of the last 20 iterations; the number in brackets is the mean since the start of the program, which
is undone to what each line adds. Its timer runs on, so that it holds evaluations and checkpoints. A resumed program
continues the count of iterations, so that its mean begins at its first record. `IMS_PER_BATCH` of the solver is that of
the job; the same key states the batch of the test. Lines of `maskrcnn_benchmark.trainer` itself are those of NGC.
"""

from perfledger.parsers.contract import Fact, Format, NearMiss, Pause, Reading, Sample, up_to
from perfledger.parsers.frameworks import PYTORCH_JOB
from perfledger.parsers.frameworks.detectron2 import since_start

_SOLVER = rb"^SOLVER:"
_LINE = rb" INFO: eta: "


def _of_solver(key: bytes) -> bytes:
    """Return the pattern of a number of the solver's configuration."""
    return _SOLVER + up_to(rb"\n *+" + key + rb": ", rb"SOLVER:|\nTEST:", rb"[\s\S]") + rb"(\d++)"


FORMAT = Format(
    title="maskrcnn-benchmark, forks",
    framework="PyTorch",
    marker=_LINE,
    unproven=True,
    start=rb" INFO: Using \d++ GPUs\r?+\n[^\n]{0,100}? INFO: Namespace\(config_file=",
    end=rb" INFO: Total training time: ",
    readings=(
        Reading(
            rb"(?P<clock>\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d{3}) (?!maskrcnn_benchmark\.trainer )[\w.]++" + _LINE
            + up_to(rb" iter: ", _LINE) + rb"<step> ++loss: <loss> \(" + up_to(rb" time: ", _LINE)
            + rb"[\d.]++ \(<step_seconds>\) ++data: <reader_seconds> \([\d.]++\) " + up_to(rb" max mem: ", _LINE)
            + rb"(?P<memory>\d++)(?=\s)",
            unit="images/s",
            cumulative_since=0,
            postprocess=since_start,
            pauses=(
                Pause(
                    "checkpoint",
                    rb"Saving checkpoint to ",
                    b"2026-11-20 17:37:24,500 fcos_core.utils.checkpoint INFO: Saving checkpoint to out/model_0002500.pth\n",
                ),
                Pause(
                    "evaluation",
                    rb"Start (?:evaluation|validating)",
                    b"2026-11-20 17:37:24,500 maskrcnn_benchmark INFO: Start validating\n",
                ),
            ),
        ),
    ),
    facts=(
        Fact("model", rb"\bconfig_file='(?:[^'/\n]*+/)*+([\w+-]++)\.yaml'"),
        Fact("model", rb"^ *+CONV_BODY: (\S++)"),
        Fact("batch_size_of_job", _of_solver(rb"IMS_PER_BATCH"), int),
        Fact("total_steps", _of_solver(rb"MAX_ITER"), int),
        Fact("devices", rb" INFO: Using (\d++) GPUs", int),
        *PYTORCH_JOB,
        Fact("precision", rb"^DTYPE: \"?+(float(?:16|32))", words={b"float16": "amp", b"float32": "fp32"}),
    ),
    samples=(
        Sample(
            b"2026-11-20 17:37:24,500 fcos_core.trainer INFO: eta: 1 day, 0:07:21  iter: 40  loss: 6.5000 (6.6250)  "
            b"loss_cls: 0.0091 (0.0101)  time: 0.6250 (0.7500)  data: 0.1250 (0.2500)  lr: 0.005000  max mem: 7000\n",
            step=40, step_seconds=0.75, reader_seconds=0.125, loss=6.5, memory=7000,
        ),
        Sample(
            b"2026-11-20 17:37:24,500 maskrcnn_benchmark INFO: eta: 0:07:21  iter: 26000  loss: 0.0625 (0.1250)  "
            b"loss_rel: 0.0091 (0.0101)  time: 0.6250 (0.7500)  data: 0.1250 (0.2500)  lr: 0.000009  max mem: 8478\n",
            step=26000, step_seconds=0.75,
        ),
        NearMiss(b"2026-11-20 16:28:05,468 fcos_core.trainer INFO: Total training time: 0:12:21.802630 (1.8545 s / it)", "the whole run"),
        NearMiss(
            b"2026-11-20 17:37:24,500 fcos_core.trainer INFO: eta: 0:07:21  iter: 40  loss: 6.5000 (6.6250)  time: 0.6250 (0.75", "cut"
        ),
    ),
)  # fmt: skip
