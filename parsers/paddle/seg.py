"""PaddleSeg (`train.py`): a record per `--log_iters` iterations.

`ips` is the throughput of one device, `batch_size / batch_cost`, with four decimals. Until January 2021 values were
printed after `=`, at first without `ips`. A record that contains the start of an epoch is slow. `batch_cost` excludes
evaluations, checkpoints, and the moving average of the weights (`--use_ema`). `GPUs used` counts the whole job; the
launcher prints `ips: 127.0.0.1`.
"""

from perfledger.parsers.contract import EPOCH_END, Fact, Format, Pause, Reading
from perfledger.parsers.paddle import LAUNCHER, MAX_MEMORY

_PAUSES = (Pause("evaluation", "[EVAL] ", inside="none"),)

FORMAT = Format(
    title="PaddleSeg",
    framework="PaddlePaddle",
    # Paddle3D prints the same heading, and the platform on a line of its own.
    start=rb"-Environment Information-++(?!\r?\nplatform:[ \t]*+\r?\n)",
    readings=(
        Reading(
            "[TRAIN] epoch: {epoch}, iter: {step}/{total_steps}, loss: {loss}, {*}batch_cost: {step_seconds}, reader_cost: {reader_seconds}, ips: {throughput} samples/sec" + MAX_MEMORY,
            unit="samples/s",
            scope="device",
            pauses=(*_PAUSES, EPOCH_END),
            # The moving average of the weights is updated after `batch_cost` has been taken.
            untrue=("clock",),
        ),
        *(
            Reading(template, unit="samples/s", scope="device", pauses=(EPOCH_END,))
            for template in (
                "[TRAIN] epoch={epoch}, iter={step}/{total_steps}, loss={loss}, lr={_}, batch_cost={step_seconds}, reader_cost={reader_seconds}, ips={throughput} samples/sec | ETA ",
                "[TRAIN] epoch={epoch}, iter={step}/{total_steps}, loss={loss}, lr={_}, batch_cost={step_seconds}, reader_cost={reader_seconds} | ETA ",
            )
        ),
    ),
    facts=(
        Fact("batch_size", "^batch_size: {:int}"),
        # An FCN is named after its backbone: `fcn_hrnetw18`.
        Fact("model", rb"^model:$(?=(?:\n [^\n]*+)*?\n  type: FCN$)(?:\n [^\n]*+)*?\n    type: (HRNet_W\d++)$"),
        Fact("model", rb"^model:$(?:\n [^\n]*+)*?\n  type: (\w++)"),
        Fact("devices", "init nccl context nranks: {:int}"),
        Fact("devices", "^GPUs used: {:int}"),
        *LAUNCHER,
        Fact("gpu", rb"^GPU: \['GPU 0: ([^'(]++)"),
        Fact("framework_version", rb"^PaddlePaddle: (?!0\.0\.0)(\S++)"),
        Fact("precision", rb"\buse AMP to train\. AMP level = (O[12])\b", words={b"O1": "amp", b"O2": "fp16"}),
        Fact("precision", rb"\bINFO(?:\]\t|: )(use amp to train|use AMP to train\b)", lambda _: "amp"),
        Fact("precision", rb"^(?=(?:(?!--precision)[^\n])*+--precision[= ]fp16\b)(?:(?!--amp_level)[^\n])*+--amp_level[= ](O[12])\b", words={b"O1": "amp", b"O2": "fp16"}),
        Fact("precision", rb"--precision[= ](fp32|fp16)", words={b"fp32": "fp32", b"fp16": "amp"}),
    ),
)  # fmt: skip
