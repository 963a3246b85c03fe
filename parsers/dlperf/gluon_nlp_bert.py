"""GluonNLP (MXNet), BERT pre-training: a record per `log_interval` steps.

The older dialect ends in `time`, the seconds since its last line; the newer one adds `latency`, milliseconds per step.
Both time the loop that all workers run in step. With Horovod every worker prints its line into one file. `tks/s` counts
the tokens of one worker without padding and is not quoted.
"""

from perfledger.parsers.contract import Format, NearMiss, Pause, Reading, Sample, Window

_STEP = (
    rb"\[step <step>\][\t ]++mlm_loss=<loss>[\t ]++(?:mlm_acc=<accuracy>[\t ]++)?+(?:(?!throughput=)\w++=\S++[\t ]++)*+throughput=\S++ tks/s[\t ]++(?:lr=\S++[\t ]++)?+time="
)  # fmt: skip

_PAUSES = (
    Pause("evaluation", rb"Running evaluation \.\.\.", b"INFO:root:Running evaluation ... "),
    Pause(
        "checkpoint",
        rb"\] Saving model params to ",
        b"INFO:root:[step 1000] Saving model params to ckpt/0001000.params.",
    ),
)

FORMAT = Format(
    title="GluonNLP BERT pre-training",
    framework="MXNet",
    marker=b" tks/s",
    end=rb"Train cost=",
    readings=(
        Reading(
            _STEP + rb"[^\s,]++,? latency=<step_seconds> ms/(?:batch|step)",
            unit="sequences/s",
            factors={"step_seconds": 1e-3},
            repeated=True,
            pauses=_PAUSES,
        ),
        Reading(_STEP + rb"<duration>[\t ]*+(?=\r?\n)", unit="sequences/s", repeated=True, pauses=_PAUSES),
    ),
    windows={"dlperf": Window(101, 200)},
    samples=(
        Sample(
            b"INFO:root:[step 249]\tmlm_loss=9.24962\tmlm_acc=5.01887\tnsp_loss=0.68673\tnsp_acc=54.751\tthroughput=12.0K tks/s\t"
            b"lr=0.0000025 time=125.00, latency=500.0 ms/batch",
            step=249, loss=9.24962, accuracy=5.01887, step_seconds=0.5,
        ),
        Sample(
            b"INFO:root:[step 249]\tmlm_loss=9.24962\tmlm_acc=5.01887\tnsp_loss=0.68673\tnsp_acc=54.751\tthroughput=12.0K tks/s\t"
            b"lr=0.0000025 time=125.00, latency=500.0 ms/step\n",
            step=249, step_seconds=0.5,
        ),
        Sample(
            b"INFO:root:[step 249]\tmlm_loss=9.24962\tmlm_acc=5.01887\tnsp_loss=0.68673\tnsp_acc=54.751\tthroughput=12.0K tks/s\t"
            b"lr=0.0000025 time=125.24\n",
            step=249, loss=9.24962, duration=125.24,
        ),
        NearMiss(b"INFO:root:[step 249]\tmlm_loss=9.24962\tmlm_acc=5.01887\tnsp_loss=0.68673\tnsp_acc=54.751\tthroughput=12.0K tks/s\t"
                 b"lr=0.0000025 time=125.2", "cut, perhaps inside the number"),
        NearMiss(b"INFO:root:Eval throughput=12.0K tks/s time=125.24\n", "an evaluation"),
    ),
)  # fmt: skip
