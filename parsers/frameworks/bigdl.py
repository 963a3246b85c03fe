"""BigDL (Intel's, on Apache Spark; later BigDL-DLlib and Orca): a record per iteration, of all executors.

Speed and seconds are those of the iteration. `Wall Clock` is the sum of the iterations' seconds, without the validations
and checkpoints between them. No line tells how many machines train.
"""

from perfledger.parsers.contract import Format, NearMiss, Reading, Sample

FORMAT = Format(
    title="BigDL",
    framework="BigDL",
    marker=b" records/second. ",
    unproven=True,
    readings=(
        Reading(
            rb"\[Epoch <epoch> [0-9]++/[0-9]++\]\[Iteration <step>\]\[Wall Clock (?P<elapsed>[0-9.E]++)s\] Train(?:ed)? <batch> (?:records )?+"
            rb"in <step_seconds> ?+seconds\. Throughput is <throughput> records/second\. (?:Loss is (?P<loss>[0-9]++\.[0-9]++(?:E-?[0-9]++)?+)\.)?+",
            unit="samples/s",
            span="step",
        ),
    ),
    samples=(
        Sample(
            b"2026-11-20 13:14:40 INFO  DistriOptimizer$:408 - [Epoch 2 9600/15107][Iteration 194][Wall Clock 193.25s] Trained 128 records "
            b"in 0.5 seconds. Throughput is 256.0 records/second. Loss is 0.75. \n",
            epoch=2, step=194, clock=193.25, batch=128, step_seconds=0.5, throughput=256.0, loss=0.75,
        ),
        Sample(
            b"[Epoch 1 28160/28857][Iteration 56][Wall Clock 72.5s] Train 512 in 2.0seconds. Throughput is 256.0 records/second. "
            b"Loss is 0.5.\n",
            epoch=1, step=56, clock=72.5, batch=512, step_seconds=2.0, throughput=256.0, loss=0.5,
        ),
        NearMiss(
            b"[Epoch 2 9600/15107][Iteration 194][Wall Clock 193.25s] Epoch finished. Wall clock time is 193250.5 ms\n",
            "the end of an epoch",
        ),
        NearMiss(
            b"[Epoch 2 9600/15107][Iteration 194][Wall Clock 193.25s] Trained 128 records in 0.5 seconds. Throughput is 25", "cut inside the number"
        ),
    ),
)  # fmt: skip
