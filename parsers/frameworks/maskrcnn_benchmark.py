"""Programs made of maskrcnn-benchmark (FCOS, ATSS, Scene-Graph-Benchmark ...): a record per 20 iterations or so.

`time` is the median of the last 20 iterations; the number in brackets is the mean since the start of the program, which
is undone to what each line adds. Its timer runs on, so that it includes evaluations and checkpoints. A resumed program
continues the count of iterations, so that its mean begins at its first record. `IMS_PER_BATCH` of the solver is that of
the job; the same key states the batch of the test. Lines of `maskrcnn_benchmark.trainer` itself are those of NGC.
"""

from perfledger.parsers.contract import Fact, Format, Pause, Reading, since_start, up_to
from perfledger.parsers.frameworks import PYTORCH_JOB

_SOLVER = rb"^SOLVER:"
_OTHERS = rb"SOLVER:|^TEST:"
_LINE = rb" INFO: eta: "


FORMAT = Format(
    title="maskrcnn-benchmark, forks",
    framework="PyTorch",
    unproven=True,
    start=" INFO: Using {_} GPUs\n{*} INFO: Namespace(config_file=",
    end=" INFO: Total training time: ",
    readings=(
        Reading(
            rb"(?P<clock>\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d{3}) (?!maskrcnn_benchmark\.trainer )[\w.]++" + _LINE
            + up_to(rb" iter: ", _LINE) + rb"<step> ++loss: <loss> \(" + up_to(rb" time: ", _LINE)
            + rb"[\d.]++ \(<step_seconds>\) ++data: <reader_seconds> \([\d.]++\) " + up_to(rb" max mem: ", _LINE)
            + rb"(?P<memory>\d++)(?=\s)",
            unit="images/s",
            running_mean=0,
            verbs=(since_start,),
            pauses=(Pause("checkpoint", "Saving checkpoint to "), Pause("evaluation", "Start {evaluation|validating}")),
        ),
    ),
    facts=(
        Fact("model", rb"\bconfig_file='(?:[^'/\n]*+/)*+([\w+-]++)\.yaml'"),
        Fact("model", "CONV_BODY: {}"),
        Fact("batch_size_of_job", _SOLVER + up_to(rb"^ *+IMS_PER_BATCH: ", _OTHERS, rb"[\s\S]") + rb"(\d++)", int),
        Fact("total_steps", _SOLVER + up_to(rb"^ *+MAX_ITER: ", _OTHERS, rb"[\s\S]") + rb"(\d++)", int),
        Fact("devices", " INFO: Using {:int} GPUs"),
        *PYTORCH_JOB,
        Fact("precision", rb"^DTYPE: \"?+(float(?:16|32))", words={b"float16": "amp", b"float32": "fp32"}),
    ),
)  # fmt: skip
