"""Marian: a line per `disp-freq` updates with the target words per second of the whole job.

The words are those of the updates since the line before, divided by the seconds since then. The clock runs on
while the model is saved and validated, and through the shuffling at the start of an epoch, which is part of training.
An update takes the batches of all devices, `optimizer-delay` of each. The epoch may be a fraction, where it is a
logical one.
"""

from __future__ import annotations

from perfledger.parsers.contract import Fact, Format, Pause, Reading, product

_CONFIG = rb"\[config\] "
#: An item of a list, each on a line of its own.
_ITEM = rb"[^\n]{0,80}?\[config\] {2,8}- "


FORMAT = Format(
    title="Marian",
    framework="Marian",
    unproven=True,
    start="[marian] Marian v",
    end="] Training finished",
    readings=(
        Reading(
            "[{clock}{*}] Ep. {epoch}{?.{_}} : Up. {step} : Sen. {_} : Cost {loss} {*}: Time {duration:s} : {throughput} words/s",
            unit="tokens/s",
            per_update=True,
            pauses=(Pause("evaluation", "[valid] "), Pause("checkpoint", "Saving model weights ")),
        ),
    ),
    facts=(
        Fact("devices", rb"\[training\] Batches are processed as ([0-9]++ process\(es\) x [0-9]++) devices", product),
        Fact("devices", _CONFIG + rb"devices:[ \t\r]*+\n((?:" + _ITEM + rb"[0-9]++[ \t\r]*+\n)++)", lambda items: items.count(b"\n")),
        Fact("model", _CONFIG + rb"type: ([\w-]++)"),
        Fact("accumulation", _CONFIG + rb"optimizer-delay: ([0-9]++)(?:\.0)?$", int),
        Fact("total_steps", _CONFIG + rb"after-batches: ([0-9]++)$", int),
        Fact("total_steps", _CONFIG + rb"after: ([0-9]++)u$", int),
        Fact("precision", _CONFIG + rb"precision:[ \t\r]*+\n" + _ITEM + rb"(float16|float32)$", words={b"float16": "fp16", b"float32": "fp32"}),
        Fact("framework_version", "[marian] Marian v{}"),
    ),
)  # fmt: skip
