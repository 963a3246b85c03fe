"""OLMo and OLMo-core: a block of metrics per logging interval on the console; tokens per second of one device.

OLMo-core's `throughput/device/TPS` is that of the last step before the block, from the end of the one before it: with
evaluations and checkpoints of that step, which are logged ahead of the block. Blocks are kept for
`metrics_collect_interval` steps and then printed together, so that any of them may contain what precedes the
first. `BPS` are the updates per second of that step. `TPS (actual avg)` is a mean over the whole run with everything
in it, and is not used. OLMo's `tokens_per_second` is a mean over the last steps, as many as its configuration says,
and starts again after checkpoints; older releases print no epoch.
"""

from perfledger.parsers.contract import Fact, Format, Pause, Reading, up_to
from perfledger.parsers.frameworks import PYTORCH_JOB

_HEAD = rb"\[step=<step>/(?:<total_steps>|\?\?\?)"
_EPOCH = rb",epoch=[0-9]++(?:,eta=[^\]\r\n\[]++)?+"
#: A speed of a block, by its name; numbers have thousands separators.
_SPEED = up_to(rb" throughput/device/%s=", rb"\[step=", rb"[\s\S]")
_TOKENS = _SPEED + rb"(?P<throughput>[0-9][0-9,.]*+)(?=\s)"
_UPDATES = rb"(?:" + _SPEED + rb"(?P<steps_per_second>[0-9][0-9,.]*+)(?=\s))?+"

FORMAT = Format(
    title="OLMo-core",
    framework="PyTorch",
    unproven=True,
    readings=(
        Reading(
            _HEAD + _EPOCH + rb"\]" + _TOKENS % (b"TPS", b"TPS") + _UPDATES % (b"BPS", b"BPS"),
            unit="tokens/s", scope="device", span="step", per_update=True,
            pauses=(
                Pause("evaluation", rb"evals(?:\.\.\.| in [0-9])"),
                Pause("checkpoint", "Saving checkpoint for step "),
            ),
        ),
        Reading(
            _HEAD + rb"(?:%s)?+\]" % _EPOCH + _TOKENS % (b"tokens_per_second", b"tokens_per_second")
            + _UPDATES % (b"batches_per_second", b"batches_per_second"),
            unit="tokens/s", scope="device", per_update=True,
        ),
    ),
    facts=(*PYTORCH_JOB, Fact("sequence_length", rb"\bsequence_length['\"]?+[=:] ?+([0-9]++)\b", int)),
)  # fmt: skip
