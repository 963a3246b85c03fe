"""PaddleClas, static graph (`ppcls/static/train.py`), and the dynamic graph of release 2.0: a record per so many steps.

`batch_cost` and `ips` are running means since step 5 of the epoch, not of the last interval, and refer to one device.
Release 2.0 (2020 to 2021) puts commas behind the epoch and the step; its means begin at step 10. The closing `END
epoch` line has no `ips`; the launcher prints `ips: None` or a list of hosts; accuracies can be negative. The
configuration names three batch sizes (train, eval, infer), in any order; that of release 2.0 is split over all devices.
So is that of 2020, which prints the seconds of one step alone, as `elapse`, with the wait for its data; where `reader`
follows (October 2020), both are running means since the first step of the epoch.
"""

from perfledger.parsers.contract import Fact, Format, NearMiss, Pause, Reading, Sample, up_to
from perfledger.parsers.paddle import CLAS

#: Validations and checkpoints lie between the steps of two epochs.
_PAUSES = (
    Pause("evaluation", rb"valid step:", b"2026-11-20 13:16:10 INFO: epoch:0   valid step:10   loss:  6.9 top1: 0.1 elapse: 0.250s", inside="none"),
    Pause("checkpoint", rb"Already save model in ", b"2026-11-20 13:16:10 INFO: Already save model in output/ResNet50/1", inside="none"),
)  # fmt: skip

#: What a line of 2020 prints before its seconds.
_ELAPSE = rb"epoch:<epoch> ++train step:<step> ++(?:loss: ++<loss> )?+" + up_to(rb"elapse: ", rb"epoch:|batch_cost: ")

FORMAT = Format(
    title="PaddleClas (static graph)",
    framework="PaddlePaddle",
    marker=b"train step:",
    start=rb"PaddleClas is powered by PaddlePaddle",
    readings=(
        Reading(
            # Spelled for speed: the usual line, with no other `b` or `e` before its batch cost, meets no loop of
            # alternatives, and the unit is known by two letters. A gigabyte of these lines is read a third faster.
            rb"epoch:<epoch> ++train step:<step> ++"
            rb"(?:(?:lr: ++[^\s,]++, ++|top1: ++\S++ ++top5: ++\S++ ++)loss: ++<loss>)?+[^\r\nbe]*+"
            rb"(?:batch_cost: |(?:(?:b(?!atch_cost: )|e(?!poch:))[^\r\nbe]*+)++batch_cost: )"
            rb"<step_seconds> s, reader_cost: <reader_seconds> s, ips: <throughput> [si][am]",
            unit="images/s",
            scope="device",
            cumulative_since=5,
        ),
        Reading(
            rb"epoch:<epoch> *+, train step:<step> *+, (?:[^\r\nble]++|b(?!atch_cost: )|l(?!oss: )|e(?!poch:))*+"
            rb"(?:loss: ++<loss>(?:[^\r\nbe]++|b(?!atch_cost: )|e(?!poch:))*+)?+"
            rb"batch_cost: <step_seconds> s, reader_cost: <reader_seconds> s, ips: <throughput> images/sec",
            unit="images/s",
            scope="device",
            cumulative_since=10,
        ),
        Reading(
            _ELAPSE + rb"<step_seconds>s",
            unit="images/s",
            span="step",
            pauses=_PAUSES,
        ),
        Reading(
            _ELAPSE + rb"<step_seconds> reader : <reader_seconds>s",
            unit="images/s",
            cumulative_since=0,
            pauses=_PAUSES,
        ),
    ),
    facts=(
        *CLAS,
        # The sections of release 2.0 have names in capitals.
        Fact("batch_size_of_job", rb"\bTRAIN : (?:(?!VALID : |TRAIN : |batch_size : )[\s\S]){0,4000}+batch_size : (\d++)", int),
        Fact("model", rb"\bARCHITECTURE : (?:(?!---|ARCHITECTURE : | name : )[\s\S]){0,2000}+ name : (\w++)"),
        Fact("num_classes", rb" classes_num : (\d++)$", int),
    ),
    samples=(
        Sample(
            b"[2026/11/20 13:16:10] ppcls INFO: epoch:0   train step:30   lr: 0.100000, loss:  7.0662 top1:  0.0000 "
            b"top5: -0.0039 batch_cost: 0.32000 s, reader_cost: 0.00110 s, ips: 50.00000 samples/sec.",
            epoch=0, step=30, loss=7.0662, step_seconds=0.32, reader_seconds=0.0011, throughput=50.0,
        ),
        Sample(
            b"2026-11-20 13:16:10 INFO: epoch:1   train step:10   top1: 0.0000 top5: 0.0000 loss:  6.9198 lr: 0.100000, "
            b"batch_cost: 0.20000 s, reader_cost: 0.00075 s, ips: 1040.00000 images/sec.",
            epoch=1, step=10, loss=6.9198, throughput=1040.0,
        ),
        Sample(
            b"[2026/11/20 13:16:10] ppcls INFO: epoch:0   train step:40   lr: nan, loss: nan batch_cost: 0.10000 s, "
            b"reader_cost: 0.00000 s, ips: nan samples/sec. max_mem_reserved: 0 max_mem_allocated: 0",
            step=40, throughput=float("nan"),
        ),
        Sample(
            b"2026-11-20 13:16:10 INFO: epoch:0  , train step:50  , loss: 6.92608, top1: 0.00000, top5: 0.00000, lr: 0.100000, "
            b"batch_cost: 0.25000 s, reader_cost: 0.00056 s, ips: 256.00000 images/sec.",
            epoch=0, step=50, loss=6.92608, step_seconds=0.25, reader_seconds=0.00056, throughput=256.0,
        ),
        Sample(
            b"2026-11-20 13:16:10 INFO: epoch:12 , train step:1030, lr: 0.100000, loss: 7.07572, batch_cost: 0.25000 s, "
            b"reader_cost: 0.00040 s, ips: 256.00000 images/sec.",
            epoch=12, step=1030, loss=7.07572, throughput=256.0,
        ),
        Sample(
            b"2026-11-20 13:16:10 INFO: epoch:0   train step:20   loss:  6.9196 top1: 0.0039 top5: 0.0078 lr: 0.100000 elapse: 0.250s",
            epoch=0, step=20, loss=6.9196, step_seconds=0.25,
        ),
        Sample(
            b"2026-11-20 13:16:10 INFO: epoch:0   train step:310  loss: 6.88331 top1: 0.00000 lr: 0.100000 elapse: 0.2500000 reader : 0.0020440s",
            epoch=0, step=310, loss=6.88331, step_seconds=0.25, reader_seconds=0.002044,
        ),
        NearMiss(b"2026-11-20 13:16:10 INFO: epoch:0   train step:310  lr: 0.100000 elapse: 0.2500000 reader : 0.00", "cut inside the number"),
        NearMiss(b"2026-11-20 13:16:10 INFO: END epoch:0   train loss:  6.9 top1: 0.1 lr: 0.1 elapse_sum: 219.750ss", "the end of an epoch"),
        NearMiss(b"2026-11-20 13:16:10 INFO: epoch:0   train step:20   loss:  6.9196 lr: 0.100000 elapse: 0.25", "cut inside the number"),
        NearMiss(
            b"2026-11-20 13:16:10 INFO: epoch:0  , valid step:50  , top1: 0.75000, top5: 0.92188, loss: 0.97458, lr: 0.000000, "
            b"batch_cost: 0.69290 s, reader_cost: 0.59956 s, ips: 92.36500 images/sec.",
            "evaluation is another workload",
        ),
        NearMiss(b"LAUNCH INFO 2026-11-20 07:49:49,627 ips: None", "the launcher's option of that name"),
        NearMiss(b"ips: 127.0.0.1", "a list of hosts"),
        NearMiss(
            b"[2026/11/20 13:17:10] ppcls INFO: END epoch:0   train  loss:  6.8503 top1:  0.0100 batch_cost: 0.28247 s, "
            b"reader_cost: 0.00935 s, batch_cost_sum: 219.75933 s,",
            "the epoch's summary has no ips",
        ),
        NearMiss(
            b"[2026/11/20 13:17:10] ppcls INFO: epoch:0   train step:30   lr: 0.1, batch_cost: 0.32000 s, "
            b"reader_cost: 0.00110 s, ips: 50.0",
            "cut before the unit, so perhaps inside the number",
        ),
    ),
)  # fmt: skip
