"""HugeCTR (Wide & Deep, DLRM, DCN and others): a line per `display` iterations, with the seconds that they took.

Three dialects of the prefix: `[19d22h10m18s][HUGECTR][INFO]`, `[HUGECTR][02:51:59][INFO][RANK0]` and
`[HCTR][16:16:20.027][INFO][RK0][main]`. The seconds include evaluation. DLPerf left out iteration 100, divided by
`loss_print_every_n_iter` whatever interval the line stated, and rounded the vocabulary down to a million. Here the
vocabulary is the number of rows that fit into the workspace of one device. `Average speed` of a run that reaches its
target includes the evaluations.
"""

from __future__ import annotations

from perfledger.parsers.contract import Fact, Format, Pause, Reading
from perfledger.parsers.dlperf import ARGUMENT, WIDE_DEEP, argument

#: DLPerf's script prints its arguments before HugeCTR announces itself: one start, not two.
_INIT = rb"= ?Model Init ?="
_START = (
    rb"(?:^wide_workspace_size_per_gpu_in_mb = "
    rb"(?:(?:(?![^\n]*?%s)[^\n]*+\n){0,600}+[^\n]*?%s)?|%s)" % (_INIT, _INIT, _INIT)
)  # fmt: skip


FORMAT = Format(
    title="HugeCTR",
    framework="HugeCTR",
    needs=b"[INFO]",
    start=_START,
    before_start=ARGUMENT,
    end=" iterations with batchsize",
    readings=(
        Reading(
            "[INFO{*}]: Iter: {step} Time({steps} iters): {duration:s}{? Loss: {loss}}",
            unit="samples/s",
            pauses=(
                Pause("evaluation", "Eval Time for "),
                Pause("checkpoint", "Dumping dense weights to file"),
            ),
        ),
        Reading(
            "Finish {_} iterations with batchsize: {_} in {seconds:s}{?. Average speed {?is }{throughput} records/s}",
            unit="samples/s", span="run", weak=True,
        ),
        Reading(
            "Hit target accuracy AUC {_} at {_} / {_} iterations with batchsize {_} in {seconds:s}. Average speed {?is }{throughput} records/s",
            unit="samples/s", span="run", weak=True,
        ),
        Reading("[INFO{*}]: Evaluation, {AUC|HitRate|AverageLoss}: {accuracy}"),
    ),
    facts=(
        Fact("model", rb"^ *+(wide_workspace_size_per_gpu_in_mb|deep_vocab_size) ", lambda _: "Wide & Deep"),
        Fact("model", "[INFO{*}]: Initialize model: {}"),
        *WIDE_DEEP,
        argument("batch_size_of_job", "batchsize"),
        Fact("batch_size_of_job", "[INFO{*}]: Training batchsize: {:int}"),
        Fact("batch_size_of_job", " iterations with batchsize{?:} {:int} in "),
        argument("vocabulary", "wide_workspace_size_per_gpu_in_mb", lambda megabytes: int(megabytes) * 2**20 // 4),
        Fact("gpu", rb"\]: Device [0-9]++: ([^\n]++)$"),
        Fact("framework_version", "HugeCTR Version: {}"),
    ),
)  # fmt: skip
