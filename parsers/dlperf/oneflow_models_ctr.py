"""OneFlow's models (`oneflow.nn`), Wide & Deep, DLRM and others: a line per printed interval with milliseconds per iteration.

The latency is the mean over the interval, with an evaluation in the first one behind it. `batch_size` is of the whole
job, `batch_size_per_proc` of a device. DLPerf took the mean without the first and the last line, and assumed one node
whatever the log said. Releases with OneEmbedding (2022) print the `Throughput` of the job as well; their timer begins
anew behind an evaluation, but not their count of iterations.
"""

from perfledger.parsers.contract import Fact, Format, NearMiss, Pause, Reading, Sample, Window
from perfledger.parsers.dlperf import argument, dotted_start, header_start

_PAUSES = (
    Pause("evaluation", rb", eval_(?:loss|auc): ", b"[rank:0] iter: 1000/1200, eval_auc: 0.7616 | 2026-11-20 13:19:02.848"),
    Pause(
        "evaluation",
        rb", Eval_time ",
        b"Rank[0], Epoch 1, Step 1000, AUC 0.761625, LogLoss 0.125125, Eval_time 1.25 s, Metrics_time 0.50 s, Eval_samples 4096, "
        b"GPU_Memory 9000 MiB, Host_Memory 5000 MiB, 2026-11-20 10:00:05",
    ),
)  # fmt: skip
_KEYS = rb"(?:batch_size_per_proc|embedding_vec_size)"

FORMAT = Format(
    title="OneFlow Wide & Deep and DLRM (models)",
    framework="OneFlow",
    marker=b"atency",
    start=rb"(?:" + dotted_start(_KEYS) + rb"|" + header_start(_KEYS) + rb")",
    readings=(
        Reading(
            rb"\[rank:[0-9]++\] iter: <step>/<total_steps>, loss: <loss>, latency\(ms\): <step_seconds> \|",
            unit="samples/s", factors={"step_seconds": 1e-3}, repeated=True, marker=b"latency(ms): ", pauses=_PAUSES,
        ),
        Reading(
            rb"\bRank\[[0-9]++\], Step <step>, Loss <loss>, Latency <step_seconds> ms, Throughput <throughput>, "
            rb"(?P<clock>\d{4}-\d\d-\d\d \d\d:\d\d:\d\d)?+",
            unit="samples/s", factors={"step_seconds": 1e-3}, marker=b" ms, Throughput ", pauses=_PAUSES,
        ),
    ),
    facts=(
        Fact("model", rb"^ *+(deep_vocab_size|wide_vocab_size) ", lambda _: "Wide & Deep"),
        Fact("model", rb"^ *+(bottom_mlp|top_mlp) ", lambda _: "DLRM"),
        Fact("model", rb"^ *+(crossing_layers) ", lambda _: "DCN"),
        argument("nodes", "num_nodes"),
        argument("devices_per_node", "gpu_num_per_node"),
        argument("devices", "world_size"),
        argument("batch_size_of_job", "batch_size"),
        argument("batch_size_of_job", "train_batch_size"),
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
        Sample(
            b"Rank[0], Step 2000, Loss 0.1250, Latency 5.250 ms, Throughput 12483.5, 2026-11-20 10:00:05\n",
            step=2000, loss=0.125, step_seconds=0.00525, throughput=12483.5, clock=1795168805,
        ),
        Sample(b"Rank[0], Step 2000, Loss 0.1250, Latency 5.250 ms, Throughput 12483.5, 1795168805.25\n", throughput=12483.5, clock=float("nan")),
        NearMiss(b"Rank[0], Step 2000, Loss 0.1250, Latency 5.250 ms, Throughput 1248", "cut inside the number"),
        NearMiss(b"[rank:0] iter: 200/1200, loss: 0.0780148125, latency(ms): 2.2", "cut inside the number"),
        NearMiss(b"[rank:0] iter: 1000/1200, eval_loss: 0.078, eval_auc: 0.7616 | 2026-11-20 13:19:02.848\n", "evaluation"),
    ),
)  # fmt: skip
