"""OLMo and OLMo-core: a block of metrics per logging interval on the console; tokens per second of one device.

OLMo-core's `throughput/device/TPS` is that of the last step before the block, from the end of the one before it: with
evaluations and checkpoints of that step, which are logged ahead of the block. Blocks are kept for
`metrics_collect_interval` steps and then printed together, so that any of them may hold what stands ahead of the
first. `BPS` are the updates per second of that step. `TPS (actual avg)` is a mean over the whole run with everything
in it, and is not used. OLMo's `tokens_per_second` is a mean over the last steps, as many as its configuration says,
and begins anew after checkpoints; older releases print no epoch.
"""

from perfledger.parsers.contract import Fact, Format, NearMiss, Pause, Reading, Sample, up_to
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
    marker=b"[step=",
    unproven=True,
    readings=(
        Reading(
            _block(rb"TPS", rb"BPS"),
            unit="tokens/s", scope="device", span="step", counts="update",
            pauses=(
                Pause("evaluation", rb"evals(?:\.\.\.| in [0-9])", b"evaluator_callback:150\tINFO\tFinished lm evals in 29.9 seconds. Metrics:"),
                Pause("checkpoint", rb"Saving checkpoint for step ", b"checkpointer:300\tINFO\tSaving checkpoint for step 500 to /ckpt/step500..."),
            ),
        ),
        Reading(
            _block(rb"tokens_per_second", rb"batches_per_second", rb"(?:%s)?+" % _EPOCH),
            unit="tokens/s", scope="device", counts="update",
        ),
    ),
    facts=(*PYTORCH_JOB, Fact("sequence_length", rb"\bsequence_length['\"]?+[=:] ?+([0-9]++)\b", int)),
    samples=(
        Sample(
            b"2026-11-20 10:00:00.000\thost:0\tolmo_core.train.callbacks.console_logger:149\tINFO\t[step=12/1000,epoch=1,eta=1h2m]\n"
            b"    optim/total grad norm=0.5000\n    train/CE loss=9.250\n    throughput/device/TPS=12,345\n    throughput/device/TPS (actual avg)=12,300\n"
            b"    throughput/total tokens=1,572,864\n    throughput/device/BPS=0.7534\n    throughput/device/BPS (actual avg)=0.7507\n",
            step=12, total_steps=1000, throughput=12345, steps_per_second=0.7534,
        ),
        Sample(
            b"[2025-03-01 10:00:02] INFO     [olmo.train:966, rank=0] [step=12/739328,epoch=0]\n    optim/total_grad_norm=1.250\n"
            b"    train/CrossEntropyLoss=9.250\n    throughput/total_tokens=50,331,648\n    throughput/device/tokens_per_second=12,345\n"
            b"    throughput/device/batches_per_second=0.0942\n",
            step=12, total_steps=739328, throughput=12345,
        ),
        NearMiss(b"[step=12/1000,epoch=1,eta=1h2m]\n    throughput/device/TPS (actual avg)=12,300\n", "a mean over the whole run"),
        NearMiss(b"[step=12/1000,epoch=1,eta=1h2m]\n    train/CE loss=9.250\n    throughput/device/TPS=12,3", "cut inside the number"),
    ),
)  # fmt: skip
