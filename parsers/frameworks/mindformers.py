"""MindFormers on MindSpore: two lines per printed step; the second has the samples per second of one device.

Both are of the last step before them, or the mean of a sink of several steps. `per_step_time` is cut to whole
milliseconds; `samples/s/p` is not. `step` counts within the epoch. Ranks write files of their own. The first versions
print one line with the milliseconds of the last step, `time:1250.125 ms`, and no samples. Logs that were searched for
`Epoch:`, as the manual suggests, have only the first lines. In dynamic graphs (source: the loss callback and the guide
of `pynative`, 2025) a line has the milliseconds of one step and the TFLOP/s of a device, and no epoch.
"""

from perfledger.parsers.contract import Fact, Format, Reading, up_to

_HEAD = rb"\{ Epoch:\["
_STATE = (
    _HEAD + rb" *+<epoch>/ *+<total_epochs>\], step:\[ *+<step>/ *+<total_steps>\], loss: ?+\[?<loss>[/,]" + up_to(rb" per_step_time: ", _HEAD)
    + rb"<step_seconds:ms>ms,(?:" + up_to(rb" train_throughput_per_npu: ", _HEAD) + rb"(?P<flops>[0-9.]++)T)?+(?:(?!" + _HEAD + rb")[^\r\n])*+"
)  # fmt: skip

#: Lines of other programs between the two of a step, such as a bar.
_OTHERS = rb"(?:(?![^\n]*?(?: samples/s/p |" + _HEAD + rb"))[^\n]*+\n){0,3}+"
#: Bars before the text of a line; a line that ends in a carriage return is not one.
_DRAWN = rb"(?:[^\r\n]*+\r(?!\n))*+"


FORMAT = Format(
    title="MindFormers",
    framework="MindSpore",
    unproven=True,
    readings=(
        Reading(
            _STATE + rb"\r?+\n" + _OTHERS + _DRAWN + rb"[^\r\n|{}%]*+%[^\r\n|{}]*+\|[^\r\n|{}]*+\| <throughput> samples/s/p ",
            unit="samples/s",
            scope="device",
            span="step",
        ),
        Reading(
            _STATE + rb"\r?+\n(?=" + _OTHERS + _DRAWN + rb"[^\r\n{}]*+" + _HEAD + rb")",
            unit="samples/s",
            span="step",
        ),
        Reading(
            "Epoch:[{epoch}/{total_epochs}], step:[{step}/{total_steps}], loss:[{loss}/{_}], time:{step_seconds:ms},{*} overflow cond: ",
            unit="samples/s",
            span="step",
        ),
        Reading(
            "{{ step:[{step}/{total_steps}], loss: {loss}, per_step_time: {step_seconds:ms},{?{*} throughput: {flops}T}",
            unit="samples/s",
            span="step",
        ),
    ),
    facts=(
        Fact("batch_size_of_job", rb"\bglobal_batch_size'?: ([0-9]++)\b", int),
        Fact("sequence_length", rb"\bseq_length'?: ([0-9]++)\b", int),
        Fact("devices", rb"\b(?:device_num|group_size)'?: ([0-9]++)\b", int),
    ),
)  # fmt: skip
