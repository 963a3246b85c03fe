"""NGC DeepLearningExamples, PyTorch SSD300 before DLLogger (`main.py --mode benchmark-training`, until 2021).

Every rank prints `Done benchmarking` with the median of its own speeds; `Training performance` is the sum of these over
all ranks, the figure of the job. Since DLLogger (2022) each rank has counted the whole job, and the sum is too high by the
number of ranks. So the line is not read if the log has lines of DLLogger.
"""

from perfledger.parsers.contract import Fact, Format, Reading, lacks
from perfledger.parsers.frameworks import PYTORCH_JOB
from perfledger.parsers.ngc import APEX, DRAWN, ONE_NODE, TF32, until_ssd_ends

_DLLOGGER = rb"DLL \d{4}-\d\d-\d\d "
_LOADING = DRAWN + rb"loading annotations into memory\.\.\.[ \t]*+\n"
#: The seeds of all ranks come between, and the lines of other programs.
_SEED = rb"(?m)^Using seed = \d++[ \t]*+\n(?:(?!" + _LOADING + rb")[^\n]*+\n){0,64}+" + _LOADING

FORMAT = Format(
    title="NGC PyTorch SSD300",
    framework="NGC PyTorch",
    start=_SEED + until_ssd_ends(),
    end="^Training performance = ",
    readings=(
        Reading(
            "^Training performance = {throughput} FPS",
            unit="images/s",
            span="run",
            weak=True,
            where=lacks(_DLLOGGER),
        ),
    ),
    facts=(
        *TF32,
        Fact("model", rb"^(Training performance) = ", lambda _: "SSD300"),
        APEX,
        *PYTORCH_JOB,
        ONE_NODE,
    ),
)  # fmt: skip
