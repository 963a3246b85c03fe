"""ColossalAI's benchmark scripts: one figure at the end, samples per second of the job, without the warm-up steps."""

from perfledger.parsers.contract import Format, Reading
from perfledger.parsers.frameworks import PYTORCH_JOB

_END = "Throughput: {throughput} samples/sec, TFLOPS per GPU{? by Megatron: {_}, TFLOPS per GPU}: {flops}"

FORMAT = Format(
    title="ColossalAI",
    framework="PyTorch",
    unproven=True,
    start=rb"(?m)^Booster init max (?:CUDA|device) memory: ",
    before_start=rb"^Model params: [0-9.]++ ?[KMB]",
    end="Throughput: {_} samples/sec, TFLOPS per GPU",
    readings=(Reading(_END, unit="samples/s", span="run"),),
    facts=PYTORCH_JOB,
)  # fmt: skip
