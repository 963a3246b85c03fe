"""torchtitan (`train.py`): a record per `log_freq` steps, in colour, from one rank or from each of them.

`tps` (`wps` until 2025) are tokens per second of one device over the interval: the job's throughput over all devices,
whatever the parallelism. Numbers have thousands separators. The interval includes the wait for data and checkpoints;
the record of step 1 includes the compilation. Newer versions print the gradient norm between loss and memory. `memory`
is the peak reserved. `tflops` was added after `mfu`. Batch sizes are in sequences; the local one is that of a copy of
the model, which may be split over several devices.
"""

from __future__ import annotations

from perfledger.parsers.contract import Fact, Format, Pause, Reading, product
from perfledger.parsers.frameworks import PYTORCH_JOB

#: Since late 2025; before, the dimensions were in brackets. Expert parallelism, the last, is a part of data parallelism.
_MESH = rb"Building device mesh with parallelism: "
_CUTS = {"tensor": b"tp", "pipeline": b"pp", "context": b"cp", "expert": b"ep"}

FORMAT = Format(
    title="torchtitan",
    framework="PyTorch",
    # Every rank prints this, one after the other: together they are one start.
    start=rb"(?<!:[0-9]{2} - )Starting job: (?:(?:(?!step: |Starting job: )[^\n])*+\n(?:(?![^\n]*?(?:step|Starting job): )[^\n]*+\n){0,299}+[^\n]*?Starting job: )*+",
    end="- INFO - Training completed",
    readings=(
        *(
          Reading(
            head + "step: {step}  loss: {loss}  {*}memory: {memory:GiB}({_})  {tps|wps}: {throughput:,}{?  tflops: {flops:,}}",
            unit="tokens/s",
            scope="device",
            pauses=(
                Pause("checkpoint", rb"aving the checkpoint"),
                # The timer starts again after it.
                Pause("evaluation", "validate step: ", inside="none"),
            ),
            ranks="median",
        )
            for head in ("{clock} - {_} - INFO - ", "{clock}][I][{_}] ", "^")
        ),
    ),
    facts=(
        Fact("model", rb"Building ((?!device mesh)\w++ [\w.-]++) with "),
        Fact("model", rb"Model (\w++ [\w.-]++) size: "),
        Fact("parameters", " size: {:,} total parameters"),
        Fact("devices", _MESH + rb"((?:(?!ep=|etp=)\w++=\d++(?:, )?+)++)", product),
        Fact("devices", rb"Building \d-D device mesh with \[[^\[\]\n]*+\], \[([0-9, ]++)\]", product),
        *(Fact(f"{name}_parallel", _MESH + rb"(?:\w++=\d++, )*?" + key + rb"=(\d++)", int) for name, key in _CUTS.items()),
        *PYTORCH_JOB,
        Fact("micro_batch", "local batch size {:int},"),
        Fact("batch_size_of_job", "global batch size {:int},"),
        Fact("accumulation", "gradient accumulation steps {:int},"),
        Fact("total_steps", "sequence length {_}, total steps {:int} "),
        Fact("sequence_length", "sequence length {:int},"),
        Fact("gpu", rb"(?:CUDA|GPU) capacity: ([^\n(]{1,200}?)(?: \(\d{1,9}\))? with "),
    ),
)  # fmt: skip
