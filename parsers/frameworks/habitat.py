"""Habitat (`habitat_baselines`, PPO and DD-PPO) and SoundSpaces: the frames of all environments so far, with a timestamp.

Frames are steps of environments, of the whole loop: acting and learning. `fps` is their mean since the start, and not
read. A checkpoint is saved between two lines, and no line says so.
"""

from perfledger.parsers.contract import Format, NearMiss, Reading, Sample

FORMAT = Format(
    title="Habitat",
    framework="PyTorch",
    marker=b"frames",
    unproven=True,
    readings=(
        Reading(
            rb"(?P<clock>\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d{3}) (?:update|Num updates): <step>\s++"
            rb"(?:env-time: [0-9.]++s\s++pth-time: [0-9.]++s\s++frames: |Num frames )(?P<consumed>[0-9]++)(?=\s)",
            unit="items/s",
        ),
    ),
    samples=(
        Sample(
            b"2026-11-20 12:18:38,351 update: 10\tenv-time: 175.500s\tpth-time: 90.625s\tframes: 8250\n",
            step=10, consumed=8250,
        ),
        Sample(b"2026-11-20 12:18:38,351 Num updates: 10\tNum frames 8250\n", step=10, consumed=8250),
        NearMiss(b"2026-11-20 12:18:38,350 update: 10\tfps: 31.000\t\n", "a mean since the start"),
        NearMiss(b"2026-11-20 12:18:38,351 Num updates: 10\tNum frames 82", "cut inside the number"),
    ),
)  # fmt: skip
