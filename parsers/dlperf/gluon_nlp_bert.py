"""GluonNLP (MXNet), BERT pre-training: a record per `log_interval` steps.

The older dialect ends in `time`, the seconds since its last line; the newer one adds `latency`, milliseconds per step.
Both time the loop that all workers run in step. With Horovod every worker prints its line into one file. `tks/s` counts
the tokens of one worker without padding and is not quoted.
"""

from perfledger.parsers.contract import Format, Pause, Reading, Window

_STEP = (
    rb"\[step <step>\][\t ]++mlm_loss=<loss>[\t ]++(?:mlm_acc=<accuracy>[\t ]++)?+(?:(?!throughput=)\w++=\S++[\t ]++)*+throughput=\S++ tks/s[\t ]++(?:lr=\S++[\t ]++)?+time="
)  # fmt: skip

_PAUSES = (
    Pause("evaluation", rb"Running evaluation \.\.\."),
    Pause(
        "checkpoint",
        rb"\] Saving model params to ",
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
)  # fmt: skip
