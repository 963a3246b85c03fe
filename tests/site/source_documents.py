"""Five source documents as they print their tables, typed from the documents and never from our pages.

A row is `label | cell | cell ...`; its label is devices and batch size, or a name. A cell is what the source prints,
with what it prints beside the figure: `383 [96]` is a figure of batch size 96 in a row of another, `(O2)` a label.
`--` is a figure that is still to come, `-` one that was not measured.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class PrintedTable:
    """A table of a source: the heads of its columns of figures, and its rows."""

    columns: tuple[str, ...]
    text: str
    unit: str = ""

    @property
    def rows(self) -> list[tuple[str, tuple[str, ...]]]:
        lines = [line.split("|") for line in self.text.strip().splitlines()]
        return [(label.strip(), tuple(each.strip() for each in cells)) for label, *cells in lines]


PERF = ("PaddlePaddle", "NGC TensorFlow", "NGC PyTorch", "NGC MXNet")

RESNET50 = (
    PrintedTable(("FP32", "FP16"), """
        1  | 393.561 | 1438.518
        8  | 3019.361 | 10936.815
        32 | 10984.436 | 39972.131""", "images/s"),
    PrintedTable(("FP32", "FP16"), """
        1  | 908.244 | 2602.629
        8  | 5333.558 | 17587.654""", "images/s"),
    PrintedTable(PERF, """
        1 256  | 393.561 | 415.786 | 370.194 | 389.54
        8 256  | 3019.361 | 3273.03 | 2791.98 | 2957.8
        32 256 | 10984.436 | 12671.9 | 10523.32 | -""", "images/s"),
    PrintedTable(PERF, """
        1 256  | 1438.518 (O2) | 1218.82 | 790.033 | 1471.9
        8 256  | 10936.815 (O2) | 9405.36 | 5889.05 | 10336
        32 256 | 39972.131 | 33317.67 | 21259.81 | -""", "images/s"),
    PrintedTable(PERF, """
        1 256 | 908.244 | 975.374 | 924.989 | 1015.8
        8 256 | 5333.558 | - | 7020.9 | 7848.2""", "images/s"),
    PrintedTable(PERF, """
        1 256 | 2602.629 (O2) | 2064.8 | 1449.65 | 3046.4
        8 256 | 17587.654 (O2) | - | 10744.6 | 22690""", "images/s"),
)  # fmt: skip

FRONT_2021 = (
    PrintedTable(PERF, """
        1 128  | 383 [96] | 408.3 | 364.2 | 387.1 [96]
        8 128  | 2753.3 [96] | 3105.3 | 2826.8 | 2998.1 [96]
        32 128 | 10715.3 [96] | 11622.9 | 10393.2 | - [96]""", "images/s"),
    PrintedTable(PERF, """
        1 128  | 1335.1 | 954.9 | 828.7 | 1380.6
        1 256  | 1400.1 [208] | 978.8 | 841.6 | 1447.6 [192]
        8 128  | 8322.9 | 7829.9 | 6014.7 | 9218.9
        8 256  | 9099.5 [208] | 7810.8 | 6230.1 [248] | 9765.6 [192]
        32 128 | 29524.6 | 21826.6 | 17940.7 | -
        32 256 | 31036.8 [208] | 23280.9 | 21588.1 | - [192]""", "images/s"),
    PrintedTable(PERF[:3], """
        1 32   | 147.14 | 142.67 | 128.53
        1 48   | 153.47 | 148.23 | 128.92
        8 32   | 1072.26 | 984.73 | 999.99
        8 48   | 1119.37 | 1075.27 | 995.88
        32 32  | - | 4379.354 | 3994.05
        32 48  | - | 4723.5 | 3973.97
        32 32 W/O AccGrad | 3379.9 | 2943.8 | 2836.7
        32 48 W/O AccGrad | 4160.7 | 3450.1 | 3179.96""", "sequences/s"),
    PrintedTable(PERF[:3], """
        1 64   | 595.49 | 488.32 | 524.48
        1 96   | 628.25 | 536.06 | 543.76
        8 64   | 3902.41 | 3035.76 | 4058.34
        8 96   | 4202.70 | 3530.84 | 4208.12
        32 64  | - | 14773.4 | 15941.1
        32 96  | - | 16554.3 | 16311.6
        32 64 W/O AccGrad | 12685.4 | 9993.1 | 10391.2
        32 96 W/O AccGrad | 14511.9 | 12767.2 | 12061.6""", "sequences/s"),
)  # fmt: skip

DEEPLABV3P = (
    PrintedTable(("FP32", "AMP"), """
        1  | -- | --
        8  | -- | --
        32 | -- | --""", "samples/s"),
    PrintedTable(("PaddlePaddle", "NGC PyTorch"), """
        1 2  | -- | --
        8 2  | -- | --
        32 2 | -- | --""", "samples/s"),
    PrintedTable(("PaddlePaddle", "NGC PyTorch"), """
        1 4  | -- | --
        8 4  | -- | --
        32 4 | -- | --""", "samples/s"),
)  # fmt: skip

FLUID = (
    PrintedTable(("Fluid", "TensorFlow/PyTorch"), """
        CycleGAN     | 7.3 | 6.1
        SE-ResNeXt50 | 169.4 | 153.1
        DeepLab_V3+  | 12.8 | 6.4
        Bert         | 4.0 | 3.4
        Transformer  | 4.9 | 4.7""", "samples/s"),
)  # fmt: skip

#: Cells with two figures print what each was run with.
DLPERF = (
    PrintedTable(("FP32", "AMP"), """
        OneFlow            | 12411.97 31.21× | 33141.02 22.50×
        NGC MXNet          | 11233.92 28.67× | 30713.68 22.03×
        NGC TensorFlow 1.x | 9514.64 26.25× | 29171.69 24.34× [224] w/ XLA
        NGC TensorFlow 1.x | 9514.64 26.25× | 24734.22 26.17× [224]
        NGC PyTorch        | 10917.09 29.72× | 22551.16 28.09×
        MXNet              | 9579.74 24.93× | 10565.55 12.67×
        TensorFlow 2.x     | 9418.44 29.27× | 19314.31 17.96×
        PyTorch            | 10021.29 28.75× | -
        PaddlePaddle       | 9348.17 26.50× | 10633.22 10.2× [224]
        PaddlePaddle       | 9348.17 26.50× | 11617.57 13.1× [196] w/ DALI
        MindSpore          | 10731.78 29.02× | 24183.95 21.67×""", "images/s"),
    PrintedTable(("FP32", "FP32", "AMP", "AMP"), """
        OneFlow            | 4664.10 [96] | 3689.80 | 15724.70 [160] | 9911.78
        NGC TensorFlow 1.x | 3089.74 [48] | 2727.90 | 11650.0 [96] w/ XLA | 9409.2 w/ XLA
        NGC TensorFlow 1.x | 3089.74 [48] | 2727.90 | 11650.0 [96] w/ XLA | 5189.07
        NGC PyTorch        | 3039.3 [48] | 2885.81 | 10349.12 [96] | 9331.72
        PaddlePaddle       | 3167.68 [96] | 2073.60 | 5452.35 [160] | 3406.36
        OneFlow W/O clip   | 4799.64 [96] | 4019.45 | 17210.63 [160] | 11195.72
        MXNet W/O clip     | 4340.89 [64] | 3671.45 | 14822.31 [128] | 11269.14
        TensorFlow 2.x     | 2244.38 [64] | 1551.52 | 4168.79 [96] | 3194.02
        MindSpore          | 3051.3 [64] | 2457.8 | 6068.55 [128] | 4659.76""", "sequences/s"),
    PrintedTable(("OneFlow", "HugeCTR", "OneFlow", "HugeCTR", ""), """
        3200000   | 22.414 | 21.843 | 1115 | 3217 | 35
        6400000   | 22.314 | 26.375 | 1153 | 4579 | 25
        12800000  | 22.352 | 36.214 | 1227 | 7299 | 17
        25600000  | 22.399 | 57.718 | 1379 | 12745 | 11
        51200000  | 22.31 | OOM | 1685 | OOM | -
        102400000 | 22.444 | OOM | 2293 | OOM | -
        204800000 | 22.403 | OOM | 3499 | OOM | -
        409600000 | 22.433 | OOM | 5915 | OOM | -
        819200000 | 22.407 | OOM | 10745 | OOM | -"""),
    PrintedTable(("OneFlow", "MXNet"), """
        1 | 2000000 | 1800000
        8 | 13500000 | 12000000"""),
)  # fmt: skip

#: The documents by the page that holds their tables.
DOCUMENTS = {
    "perf-resnet50": RESNET50,
    "perf-2021": FRONT_2021,
    "perf-deeplabv3p-pending": DEEPLABV3P,
    "fluid-guide": FLUID,
    "dlperf-summaries": DLPERF,
}
