"""Windows: the records that published scripts and tables count."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class Window:
    """The records that a published script counts, both ends included.

    Attributes:
        first: the first record.
        last: the last record; None for the end of the log.
        of: `throughput` for the mean of the speeds, `seconds` for samples over seconds, `clock` for samples over the
            wall clock from `first` to `last`.
        every: only steps divisible by it count.
        by: how records are counted: by printed step, by their number from 1 (a `last` of -2 is the last but one), or by
            the steps since the first printed one.
        source: address of the rule; of DLPerf's extractors, empty.
    """

    first: int
    last: int | None
    of: Literal["throughput", "seconds", "clock"] = "throughput"
    every: int = 1
    by: Literal["step", "record", "since_first"] = "step"
    source: str = ""


#: Windows of others' tables, apart from those of DLPerf, which differ by format. A log that does not contain the whole
#: window gives no figure. Time per step is averaged where the source averages it.
PUBLISHERS: Mapping[str, Window] = {
    "dgxc": Window(35, 44, "seconds", source="https://github.com/NVIDIA/dgxc-benchmarking"),
    "gpu_recipes": Window(10, 30, "seconds", source="https://github.com/AI-Hypercomputer/gpu-recipes"),
    "primus": Window(6, None, by="record", source="https://github.com/AMD-AGI/Primus"),
    "titan90": Window(90, 90, source="https://github.com/pytorch/torchtitan/tree/main/benchmarks"),
    "paddle_llm": Window(
        11, None, by="record", source="https://github.com/PaddlePaddle/PaddleNLP/tree/develop/tests/test_tipc"
    ),
}

#: Windows of DLPerf's extractors, by the id of the format that reads the log, and the name of the rule.
OF_FORMATS: Mapping[str, Mapping[str, Window]] = {
    "dlperf.arcface": {"dlperf": Window(2, 6, by="record")},
    "dlperf.deepspeed": {"dlperf": Window(101, 200, "seconds")},
    "dlperf.gluon_cv": {"dlperf": Window(21, 120)},
    "dlperf.gluon_nlp_bert": {"dlperf": Window(101, 200)},
    "dlperf.hugectr": {"dlperf": Window(101, None, "seconds")},
    "dlperf.megatron": {"dlperf": Window(301, 400, "seconds")},
    "dlperf.mindspore": {"dlperf": Window(21, 120, "seconds"), "dlperf-200": Window(101, 200, "seconds")},
    "dlperf.oneflow_bert": {"dlperf": Window(19, 119, "clock")},
    "dlperf.oneflow_gpt": {"dlperf": Window(301, 400, "seconds")},
    "dlperf.oneflow_insightface": {"dlperf": Window(25, 125)},
    "dlperf.oneflow_models_ctr": {"dlperf": Window(2, -2, "seconds", by="record")},
    "dlperf.oneflow_resnet50": {"dlperf": Window(20, 120, "clock")},
    "dlperf.oneflow_wdl": {"dlperf": Window(0, 1000, "clock", by="since_first")},
    "dlperf.paddle_bert": {"dlperf": Window(21, 120)},
    "dlperf.paddle_plsc": {"dlperf": Window(21, 120)},
    "dlperf.paddle_resnet50": {"dlperf": Window(20, 119), "dlperf-time": Window(19, 119, "clock")},
    "dlperf.partial_fc": {"dlperf": Window(20, None, by="record")},
    "dlperf.pytorch_examples": {"dlperf": Window(26, 125, "seconds")},
    "dlperf.tensorflow2_bert": {"dlperf": Window(20, 120, "clock")},
    "dlperf.tensorflow2_resnet50": {"dlperf": Window(101, 600), "dlperf-time": Window(100, 600, "clock")},
    "ngc.mxnet_resnet50_speed": {"dlperf": Window(20, 119), "dlperf-time": Window(19, 119, "clock")},
    "ngc.pytorch_bert": {"dlperf": Window(25, 125, "clock"), "dlperf-110": Window(25, 115, "clock")},
    "ngc.pytorch_resnet50": {"dlperf": Window(25, 125, "clock")},
    "ngc.tensorflow_bert": {"dlperf": Window(30, 120, every=10), "dlperf-time": Window(20, 120, "clock")},
    "ngc.tensorflow_resnet50": {"dlperf": Window(21, 120), "dlperf-time": Window(21, 120, "clock")},
}
