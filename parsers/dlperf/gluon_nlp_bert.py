"""GluonNLP (MXNet), BERT pre-training: a record per `log_interval` steps.

The older dialect ends in `time`, the seconds since its last line; the newer one adds `latency`, milliseconds per step.
Both time the loop that all workers run in step. With Horovod every worker prints its line into one file. `tks/s` counts
the tokens of one worker without padding and is not quoted.
"""

from perfledger.parsers.contract import Format, Pause, Reading

_PAUSES = (
    Pause("evaluation", "Running evaluation ..."),
    Pause("checkpoint", "] Saving model params to "),
)

FORMAT = Format(
    title="GluonNLP BERT pre-training",
    framework="MXNet",
    end="Train cost=",
    readings=(
        Reading(
            "[step {step}]  mlm_loss={loss}{?  mlm_acc={accuracy}}{*} throughput={_} tks/s{?  lr={_}} time={_}{?,} latency={step_seconds:ms}/{batch|step}",
            unit="sequences/s",
            ranks="median",
            pauses=_PAUSES,
        ),
        Reading(
            "[step {step}]  mlm_loss={loss}{?  mlm_acc={accuracy}}{*} throughput={_} tks/s{?  lr={_}} time={duration}\n",
            unit="sequences/s",
            ranks="median",
            pauses=_PAUSES,
        ),
    ),
)
