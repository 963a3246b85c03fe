"""OneFlow's models (`oneflow.nn`), Wide & Deep and DLRM: a line per printed interval with milliseconds per iteration.

The latency is the mean over the interval. `batch_size` is of the whole job, `batch_size_per_proc` of a device. DLPerf
took the mean without the first and the last line, and assumed one node whatever the log said.
"""

from parsers.contract import Fact, Format, NearMiss, Reading, Sample, Window
from parsers.dlperf import argument, dotted_start, header_start

_KEYS = rb"(?:batch_size_per_proc|embedding_vec_size)"

FORMAT = Format(
    title="OneFlow Wide & Deep and DLRM (models)",
    framework="OneFlow",
    marker=b"latency(ms): ",
    start=rb"(?:" + dotted_start(_KEYS) + rb"|" + header_start(_KEYS) + rb")",
    readings=(
        Reading(
            rb"\[rank:[0-9]++\] iter: <step>/<total_steps>, loss: <loss>, latency\(ms\): <step_seconds> \|",
            unit="samples/s", factors={"step_seconds": 1e-3}, repeated=True,
        ),
    ),
    facts=(
        Fact("model", rb"^ *+(deep_vocab_size|wide_vocab_size) ", lambda _: "Wide & Deep"),
        Fact("model", rb"^ *+(bottom_mlp|top_mlp) ", lambda _: "DLRM"),
        argument("nodes", "num_nodes"),
        argument("devices_per_node", "gpu_num_per_node"),
        argument("devices", "world_size"),
        argument("batch_size_of_job", "batch_size"),
        argument("batch_size", "batch_size_per_proc"),
        argument("vocabulary", "deep_vocab_size"),
        argument("vocabulary", "vocab_size"),
        argument("embedding", "deep_embedding_vec_size"),
        argument("embedding", "embedding_vec_size"),
        argument("layers", "hidden_units_num"),
        argument("hidden", "hidden_size"),
        Fact("precision", rb"^ *+(?:use_fp16|amp) (?:=|\.++) (\w++)", words={b"True": "amp", b"False": "fp32"}),
    ),
    windows={"dlperf": Window(2, -2, "seconds", by="record")},
    samples=(
        Sample(
            b"[rank:0] iter: 200/1200, loss: 0.0780148125, latency(ms): 2.25 | 2026-11-20 13:19:02.848\n",
            step=200, loss=0.0780148125, step_seconds=0.00225,
        ),
        NearMiss(b"[rank:0] iter: 200/1200, loss: 0.0780148125, latency(ms): 2.2", "cut inside the number"),
        NearMiss(b"[rank:0] iter: 1000/1200, eval_loss: 0.078, eval_auc: 0.7616 | 2026-11-20 13:19:02.848\n", "evaluation"),
    ),
)  # fmt: skip
