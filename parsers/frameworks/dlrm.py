"""Facebook's DLRM (`dlrm_s_pytorch.py`) and the programs made of it: a line per `--print-freq` iterations.

`ms/it` is the mean since the line before, of the iterations alone: neither the wait for data nor a test is in it. It
has two decimals, and the batch size is that of the job. Every rank may print the line. Neither batch size nor precision
is printed but in the command, and the batch size in MLPerf's lines, if there are any.
"""

from perfledger.parsers.contract import Fact, Format, Pause, Reading
from perfledger.parsers.frameworks import PYTORCH_JOB

FORMAT = Format(
    title="DLRM",
    framework="PyTorch",
    unproven=True,
    start=rb"time/loss/accuracy \(if enabled\):",
    before_start=rb"^(?:\+ )?+python[\d.]*+ (?:-u )?+dlrm_s_pytorch\.py |Using [0-9]++ GPU\(s\)\.\.\.|Using CPU\.\.\.",
    readings=(
        Reading(
            "Finished training it {step}/{total_steps}{*} of epoch {epoch}, {step_seconds:ms}/it, loss {loss}",
            unit="samples/s",
            ranks="median",
            pauses=(Pause("evaluation", "Testing at - ", inside="none"),),
        ),
    ),
    facts=(
        Fact("model", rb"(Finished training it) ", lambda _: "DLRM"),
        Fact("batch_size_of_job", "--mini-batch-size{ |=}{:int}"),
        # With `--mlperf-logging` it is that of the command.
        Fact("batch_size_of_job", rb'"key": ?+"global_batch_size", ?+"value": ?+([0-9]++)\b', int),
        Fact("devices", "Running on {:int} ranks using "),
        *PYTORCH_JOB,
        Fact("devices", "^Using {:int} GPU(s)..."),
        Fact("total_epochs", "--nepochs{ |=}{:int}"),
    ),
)  # fmt: skip
