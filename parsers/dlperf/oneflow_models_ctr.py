"""OneFlow's models (`oneflow.nn`), Wide & Deep, DLRM and others: a line per printed interval with milliseconds per iteration.

The latency is the mean over the interval, with an evaluation in the first one after it. `batch_size` is of the whole
job, `batch_size_per_proc` of a device. DLPerf took the mean without the first and the last line, and assumed one node
in spite of the log. Releases with OneEmbedding (2022) print the `Throughput` of the job as well; their timer restarts
after an evaluation, but not their count of iterations.
"""

from perfledger.parsers.contract import Fact, Format, Pause, Reading
from perfledger.parsers.dlperf import WIDE_DEEP, argument, dotted_start

_PAUSES = (
    Pause("evaluation", ", eval_{loss|auc}: "),
    Pause("evaluation", ", Eval_time "),
)

FORMAT = Format(
    title="OneFlow Wide & Deep and DLRM (models)",
    framework="OneFlow",
    start=dotted_start(rb"(?:batch_size_per_proc|embedding_vec_size)"),
    readings=(
        Reading(
            "[rank:{_}] iter: {step}/{total_steps}, loss: {loss}, latency(ms): {step_seconds:in ms} |",
            unit="samples/s", ranks="median", pauses=_PAUSES,
        ),
        Reading(
            "Rank[{_}], Step {step}, Loss {loss}, Latency {step_seconds:ms}, Throughput {throughput}, {?{clock}}",
            unit="samples/s", pauses=_PAUSES,
        ),
    ),
    facts=(
        Fact("model", rb"^ *+(deep_vocab_size|wide_vocab_size) ", lambda _: "Wide & Deep"),
        Fact("model", rb"^ *+(bottom_mlp|top_mlp) ", lambda _: "DLRM"),
        Fact("model", rb"^ *+(crossing_layers) ", lambda _: "DCN"),
        *WIDE_DEEP,
        argument("devices", "world_size"),
        argument("batch_size_of_job", "train_batch_size"),
        argument("batch_size", "batch_size_per_proc"),
        argument("vocabulary", "vocab_size"),
        argument("embedding", "embedding_vec_size"),
        Fact("precision", rb"^ *+(?:use_fp16|amp) (?:=|\.++) (\w++)", words={b"True": "amp", b"False": "fp32"}),
    ),
)  # fmt: skip
