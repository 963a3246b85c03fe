"""MindFormers on MindSpore: two lines per printed step, of which the second prints the samples per second of one device.

Both stand on the last step before them, or on the mean of a sink of several. `per_step_time` is cut to whole
milliseconds; `samples/s/p` is not. `step` counts within the epoch. Ranks write files of their own. The first versions
print one line with the milliseconds of the last step, `time:1250.125 ms`, and no samples. Of logs that were searched
for `Epoch:`, as the manual does, the first lines are left. In dynamic graphs (source: the loss callback and the guide
of `pynative`, 2025) a line has the milliseconds of one step and the TFLOP/s of a device, and no epoch.
"""

from perfledger.parsers.contract import Fact, Format, NearMiss, Reading, Sample, up_to

_HEAD = rb"\{ Epoch:\["
_STATE = (
    _HEAD + rb" *+<epoch>/ *+<total_epochs>\], step:\[ *+<step>/ *+<total_steps>\], loss: ?+\[?<loss>[/,]" + up_to(rb" per_step_time: ", _HEAD)
    + rb"<step_seconds>ms,(?:" + up_to(rb" train_throughput_per_npu: ", _HEAD) + rb"(?P<flops>[0-9.]++)T)?+(?:(?!" + _HEAD + rb")[^\r\n])*+"
)  # fmt: skip

#: Lines of other programs between the two of a step, such as a bar.
_OTHERS = rb"(?:(?![^\r\n]*? samples/s/p )(?![^\r\n]*?" + _HEAD + rb")[^\r\n]*+\r?+\n){0,3}+"
#: Bars in front of what a line says, other than the line itself where it ends in a carriage return.
_DRAWN = rb"(?:[^\r\n]*+\r(?!\n))*+"


FORMAT = Format(
    title="MindFormers",
    framework="MindSpore",
    marker=b"step:[",
    unproven=True,
    readings=(
        Reading(
            _STATE + rb"\r?+\n" + _OTHERS + _DRAWN + rb"[^\r\n|{}%]*+%[^\r\n|{}]*+\|[^\r\n|{}]*+\| <throughput> samples/s/p ",
            unit="samples/s",
            scope="device",
            span="step",
            factors={"step_seconds": 1e-3},
        ),
        Reading(
            _STATE + rb"\r?+\n(?=" + _DRAWN + rb"[^\r\n{}]*+" + _HEAD + rb")",
            unit="samples/s",
            span="step",
            marker=b" per_step_time: ",
            factors={"step_seconds": 1e-3},
        ),
        Reading(
            rb"\bEpoch:\[ *+<epoch>/ *+<total_epochs>\], step:\[ *+<step>/ *+<total_steps>\], loss:\[<loss>/[^\]\r\n]++\], time:<step_seconds> ms, "
            rb"(?:lr:[^\r\n,]++, )?+overflow cond: ",
            unit="samples/s",
            span="step",
            marker=b"overflow cond: ",
            factors={"step_seconds": 1e-3},
        ),
        Reading(
            rb"\{ step:\[ *+<step>/ *+<total_steps>\], loss: ++<loss>, per_step_time: ++<step_seconds>ms, "
            rb"(?:[^\r\n{}t]++|t(?!hroughput: ))*+(?:throughput: ++(?P<flops>[0-9.]++)T )?+\}",
            unit="samples/s",
            span="step",
            marker=b" per_step_time: ",
            factors={"step_seconds": 1e-3},
        ),
    ),
    facts=(
        Fact("batch_size_of_job", rb"\bglobal_batch_size'?: ([0-9]++)\b", int),
        Fact("sequence_length", rb"\bseq_length'?: ([0-9]++)\b", int),
        Fact("devices", rb"\b(?:device_num|group_size)'?: ([0-9]++)\b", int),
    ),
    samples=(
        Sample(
            "2026-11-20 10:15:08,123 - mindformers[mindformers/core/callback/callback.py:497] - INFO - { Epoch:[  1/  2], step:[   12/  500], "
            "loss: 8.800, per_step_time: 1250ms, lr: 1e-05, overflow cond: False, loss_scale: 1.0, global_norm: [0.5], train_throughput_per_npu: 171.176T\n"
            "2026-11-20 10:15:08,124 - mindformers[mindformers/core/callback/callback.py:511] - INFO -    2.4% |█         | 3.20000 samples/s/p  0:10:20 }\n".encode(),
            epoch=1, total_epochs=2, step=12, total_steps=500, loss=8.8, step_seconds=1.25, flops=171.176, throughput=3.2,
        ),
        Sample(
            "- INFO - { Epoch:[  1/  2], step:[   12/  500], loss:[8.800/8.912], per_step_time: 1250ms, lr: 1e-05, overflow cond: False\n"
            "- INFO -    2.4% |█         | 3.20000 samples/s/p  0:10:20 }\n".encode(),
            loss=8.8, throughput=3.2,
        ),
        Sample(
            b"2023-04-03 10:15:08,123 - mindformers - INFO - Epoch:[  1/  2], step:[   12/  500], loss:[8.800/8.912], time:1250.125 ms, lr:1e-05, "
            b"overflow cond: False, loss_scale: 1024.0\n",
            epoch=1, total_epochs=2, step=12, total_steps=500, loss=8.8, step_seconds=1.250125,
        ),
        Sample(
            b"- INFO - { Epoch:[  1/  2], step:[   12/  500], loss: 8.800, per_step_time: 1250ms, lr: 1e-05, overflow cond: False\n"
            b"- INFO - { Epoch:[  1/  2], step:[   13/  500], loss: 8.800, per_step_time: 1250ms, lr: 1e-05, overflow cond: False\n",
            epoch=1, total_epochs=2, step=12, total_steps=500, loss=8.8, step_seconds=1.25,
        ),
        Sample(
            b"2026-11-20 10:15:08,123 - mindformers./output/log[loss_callback.py:290] - INFO - { step:[   12/  500], loss:   8.812500, per_step_time:   1250ms, "
            b"load_balancing_loss:   1.093750, lr: 1.000000e-05, grad_norm:  13.500000, throughput:  25.50T }\n",
            step=12, total_steps=500, loss=8.8125, step_seconds=1.25, flops=25.5,
        ),
        NearMiss(b"- INFO - { step:[   12/  500], loss: N/A (non-last PP stage, refer to last stage for real loss), per_step_time:   1250ms, grad_norm: NaN }\n", "of a stage"),
        NearMiss("- INFO -    2.4% |█         | 3.20000 samples/s/p  0:10:20 }\n".encode(), "of which step?"),
        NearMiss(b"Epoch:[  0/ 10], step:[  312/ 1875], loss:[0.002/0.012], time:2.345 ms, lr:0.01\n", "another program of MindSpore"),
        NearMiss(
            "- INFO - { Epoch:[  1/  2], step:[   12/  500], loss: 8.800, per_step_time: 1250ms, lr: 1e-05\n- INFO -    2.4% |█         | 3.2".encode(),
            "cut inside the number",
        ),
    ),
)  # fmt: skip
