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

_EPOCH = rb",epoch=[0-9]++(?:,eta=[^\]\r\n\[]++)?+"


def _block(name: bytes, updates: bytes, epoch: bytes = _EPOCH) -> bytes:
    """Return a pattern for the head of a block up to a speed and its number, and to that of its updates."""
    return (
        rb"\[step=<step>/(?:<total_steps>|\?\?\?)"
        + epoch
        + rb"\]"
        + up_to(rb" throughput/device/%s=" % name, rb"\[step=", rb"[\s\S]")
        + rb"(?P<throughput>[0-9][0-9,.]*+)(?=\s)"
        + rb"(?:"
        + up_to(rb" throughput/device/%s=" % updates, rb"\[step=", rb"[\s\S]")
        + rb"(?P<steps_per_second>[0-9][0-9,.]*+)(?=\s))?+"
    )


FORMAT = Format(
    title="OLMo-core",
    framework="PyTorch",
    unproven=True,
    readings=(
        Reading(
            _block(rb"TPS", rb"BPS"),
            unit="tokens/s", scope="device", span="step", per_update=True,
            pauses=(
                Pause("evaluation", rb"evals(?:\.\.\.| in [0-9])"),
                Pause("checkpoint", "Saving checkpoint for step "),
            ),
        ),
        Reading(
            _block(rb"tokens_per_second", rb"batches_per_second", rb"(?:%s)?+" % _EPOCH),
            unit="tokens/s", scope="device", per_update=True,
        ),
    ),
    facts=(*PYTORCH_JOB, Fact("sequence_length", rb"\bsequence_length['\"]?+[=:] ?+([0-9]++)\b", int)),
)  # fmt: skip
