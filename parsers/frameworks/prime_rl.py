"""prime-rl's trainer: a line per step with tokens per second of the job, a mean over the last ten steps.

A slow step shows for ten. The seconds of the line are those of the step alone, and the wait for rollouts lies in them.
"""

from parsers.contract import Format, NearMiss, Reading, Sample, up_to
from parsers.frameworks import PYTORCH_JOB

_STEP = rb"\bStep [0-9]"

FORMAT = Format(
    title="prime-rl",
    framework="PyTorch",
    marker=b"Throughput",
    unproven=True,
    readings=(
        Reading(
            rb"\bStep <step> \| (?:Time: )?+ *+[0-9.]++s \| Loss:? <loss> \|" + up_to(rb" Throughput:?+ ", _STEP) + rb"<throughput> tokens/s \|"
            rb"(?:" + up_to(rb" Peak Mem\.:?+ ", _STEP) + rb"(?P<memory>[0-9.]++)(?:/[0-9.]++)?+ GiB)?+",
            unit="tokens/s",
            counts="update",
            lingers=9,
            factors={"memory": 1024},
        ),
    ),
    facts=PYTORCH_JOB,
    samples=(
        Sample(
            b"10:00:00 [SUCCESS] Step 12 |   1.23s | Loss 1.8800 | Grad. Norm 0.5000 | LR 1.00e-05 | Throughput 123456 tokens/s | MFU 41.2% | "
            b"Peak Mem. 40.0/79.6 GiB (50.4%)\n",
            step=12, loss=1.88, throughput=123456, memory=40960,
        ),
        Sample(
            b"Step 12 | Time: 31.23s | Loss: 0.0125 | Entropy: 0.5000 | Grad. Norm: 0.5000 | LR: 1.00e-05 | Throughput: 12345 tokens/s | MFU: 11.2% | "
            b"Peak Mem.: 40.0 GiB\n",
            step=12, loss=0.0125, throughput=12345, memory=40960,
        ),
        NearMiss(b"Step 12 | Time: 31.23s | Reward: 0.5000 | Throughput: 12345.6 tokens/s | Seq. Length: 1234.5 tokens/sample\n", "the orchestrator"),
        NearMiss(b"Step 12 |   1.23s | Loss 1.8800 | Grad. Norm 0.5000 | LR 1.00e-05 | Throughput 1234", "cut inside the number"),
    ),
)  # fmt: skip
