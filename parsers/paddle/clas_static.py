"""PaddleClas, static graph (`ppcls/static/train.py`), and the dynamic graph of release 2.0: a record per print interval.

`batch_cost` and `ips` are running means since step 5 of the epoch, not of the last interval, and refer to one device.
Release 2.0 (2020 to 2021) puts commas after the epoch and the step; its means begin at step 10. The closing `END
epoch` line has no `ips`; the launcher prints `ips: None` or a list of hosts; accuracies can be negative. The
configuration names three batch sizes (train, eval, infer), in any order; that of release 2.0 is split over all devices.
So is that of 2020, which prints the seconds of a single step, as `elapse`, with the wait for its data; if `reader`
follows (October 2020), both are running means since the first step of the epoch.
"""

from perfledger.parsers.contract import Fact, Format, Pause, Reading
from perfledger.parsers.paddle import CLAS

#: Validations and checkpoints happen between the steps of two epochs.
_PAUSES = (
    Pause("evaluation", "valid step:", inside="none"),
    Pause("checkpoint", "Already save model in ", inside="none"),
)  # fmt: skip

FORMAT = Format(
    title="PaddleClas (static graph)",
    framework="PaddlePaddle",
    start="PaddleClas is powered by PaddlePaddle",
    readings=(
        Reading(
            "epoch:{epoch} train step:{step} {?lr: {_}, }{?top1: {_} top5: {_} }loss: {loss} {*} batch_cost: {step_seconds} s, reader_cost: {reader_seconds} s, ips: {throughput} {images|samples}/sec",
            unit="images/s",
            scope="device",
            running_mean=5,
        ),
        Reading(
            "epoch:{epoch} , train step:{step}{?  }, {*}loss: {loss},{*} batch_cost: {step_seconds} s, reader_cost: {reader_seconds} s, ips: {throughput} images/sec",
            unit="images/s",
            scope="device",
            running_mean=10,
        ),
        Reading(
            "epoch:{epoch} train step:{step} {*}loss: {loss} {*}elapse: {step_seconds:s}",
            unit="images/s",
            span="step",
            pauses=_PAUSES,
        ),
        Reading(
            "epoch:{epoch} train step:{step} {*}loss: {loss} {*}elapse: {step_seconds} reader : {reader_seconds:s}",
            unit="images/s",
            running_mean=0,
            pauses=_PAUSES,
        ),
    ),
    facts=(
        *CLAS,
        # The sections of release 2.0 have names in capitals.
        Fact("batch_size_of_job", rb"\bTRAIN : (?:(?!VALID : |TRAIN : |batch_size : )[\s\S]){0,4000}+batch_size : (\d++)", int),
        Fact("model", rb"\bARCHITECTURE : (?:(?!---|ARCHITECTURE : | name : )[\s\S]){0,2000}+ name : (\w++)"),
        Fact("num_classes", " classes_num : {:int}$"),
    ),
)  # fmt: skip
