"""Marian: a line per `disp-freq` updates with the target words per second of the whole job.

The words are those that the updates since the line before held, divided by the seconds since then. The clock runs on
while the model is saved and validated, and through the shuffling at the start of an epoch, which is part of training.
An update takes the batches of all devices, `optimizer-delay` of each. The epoch may be a fraction, where it is a
logical one.
"""

from __future__ import annotations

from perfledger.parsers.contract import Fact, Format, NearMiss, Pause, Reading, Sample

_CONFIG = rb"\[config\] "
#: An item of a list, each on a line of its own.
_ITEM = rb"[^\n]{0,80}?\[config\] {2,8}- "


def _processes(printed: bytes) -> int:
    """Return how many devices there are: `2 process(es) x 4` is 8."""
    processes, _, devices = printed.partition(b" process(es) x ")
    return int(processes) * int(devices)


FORMAT = Format(
    title="Marian",
    framework="Marian",
    marker=b" words/s",
    unproven=True,
    start=rb"\[marian\] Marian v[0-9]",
    end=rb"\] Training finished",
    readings=(
        Reading(
            rb"(?:\[(?P<clock>\d{4}-\d\d-\d\d \d\d:\d\d:\d\d)(?: mpi:[0-9]++)?+\] )?+Ep\. (?P<epoch>[0-9]++)(?:\.[0-9]++)?+ : Up\. <step> : Sen\. [0-9,]++ : "
            rb"Cost <loss>(?: \* [0-9,]++)?+(?: @ [0-9,]++)?+(?: after [0-9,]++)?+ : Time <duration>s : <throughput> words/s",
            unit="tokens/s",
            counts="update",
            pauses=(
                Pause("evaluation", rb"\[valid\] ", b"[2026-11-20 10:12:40] [valid] Ep. 1 : Up. 5000 : cross-entropy : 57.25 : new best"),
                Pause(
                    "checkpoint",
                    rb"Saving model weights ",
                    b"[2026-11-20 10:12:30] Saving model weights and runtime parameters to model/model.iter5000.npz",
                ),
            ),
        ),
    ),
    facts=(
        Fact("devices", rb"\[training\] Batches are processed as ([0-9]++ process\(es\) x [0-9]++) devices", _processes),
        Fact("devices", _CONFIG + rb"devices:[ \t\r]*+\n((?:" + _ITEM + rb"[0-9]++[ \t\r]*+\n)++)", lambda items: items.count(b"\n")),
        Fact("model", _CONFIG + rb"type: ([\w-]++)"),
        Fact("accumulation", _CONFIG + rb"optimizer-delay: ([0-9]++)(?:\.0)?$", int),
        Fact("total_steps", _CONFIG + rb"after-batches: ([0-9]++)$", int),
        Fact("total_steps", _CONFIG + rb"after: ([0-9]++)u$", int),
        Fact("precision", _CONFIG + rb"precision:[ \t\r]*+\n" + _ITEM + rb"(float16|float32)$", words={b"float16": "fp16", b"float32": "fp32"}),
        Fact("framework_version", rb"\[marian\] Marian v([0-9][\w.]*+)"),
    ),
    samples=(
        Sample(
            b"[2026-11-20 10:12:20] Ep. 1 : Up. 500 : Sen. 662,406 : Cost 91.62500000 : Time 312.50s : 8960.00 words/s : L.r. 9.3750e-06\n",
            epoch=1, step=500, loss=91.625, duration=312.5, throughput=8960,
        ),
        Sample(
            b"[2026-11-20 10:12:20 mpi:0] Ep. 24.125 : Up. 20800 : Sen. 646,829 : Cost 0.12500000 * 25,000,000 @ 2,305 after 24,150,000 : "
            b"Time 20.00s : 1250000.00 words/s : gNorm 0.0625 : L.r. 6.5259e-04\n",
            epoch=24, step=20800, loss=0.125, duration=20, throughput=1250000,
        ),
        NearMiss(b"[2026-11-20 10:12:40] [valid] Ep. 1 : Up. 5000 : cross-entropy : 57.25 : new best", "a validation"),
        NearMiss(b"Ep. 1 : Up. 500 : Sen. 662,406 : Cost 91.62500000 : Time 312.50s : 8960.00 wor", "cut"),
    ),
)  # fmt: skip
