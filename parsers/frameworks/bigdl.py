"""BigDL (Intel's, on Apache Spark; later BigDL-DLlib and Orca): a record per iteration, of all executors.

Speed and seconds are those of the iteration. `Wall Clock` is the sum of the iterations' seconds, without the
validations and checkpoints between them. No line says how many machines train.
"""

from perfledger.parsers.contract import Format, Reading

FORMAT = Format(
    title="BigDL",
    framework="BigDL",
    unproven=True,
    readings=(
        Reading(
            "[Epoch {epoch} {_}/{_}][Iteration {step}][Wall Clock {elapsed}s] Train{?ed} {batch} {?records }in {step_seconds}{? }seconds. Throughput is {throughput} records/second.{? Loss is {loss:,}.}",
            unit="samples/s",
            span="step",
        ),
    ),
)
