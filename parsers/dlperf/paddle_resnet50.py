"""PaddlePaddle/models, image classification of 2020 (`[Pass 0, train batch 10]`): a record per `print_step` batches.

Two dialects: `elapse` is the time of that one batch, `batch_cost` the mean since the last line, including the wait for
data. Both count all devices together. Early releases print `elapse` with two decimals. The `ips` of the later dialect
counts the `batch_size` as configured, of a node or of all nodes, and is not quoted. Batches are counted from 0.
"""

from perfledger.parsers.contract import Format, Reading

FORMAT = Format(
    title="Paddle image classification (2020)",
    framework="PaddlePaddle",
    start=b"-  Configuration Arguments -",
    readings=(
        Reading(
            "{?{clock}-INFO: }[Pass {epoch}, train batch {step}]  loss {loss},{? acc1 {accuracy},}{*} elapse {step_seconds:sec}",
            unit="images/s",
            span="step",
        ),
        Reading(
            "[Pass {epoch}, train batch {step}]  loss {loss},{? acc1 {accuracy},}{*} batch_cost {step_seconds} s{?ec}, reader_cost {reader_seconds} s{?ec},",
            unit="images/s",
        ),
    ),
)
