"""Habitat (`habitat_baselines`, PPO and DD-PPO) and SoundSpaces: the frames of all environments so far, with a timestamp.

Frames are steps of environments, of the whole loop: acting and learning. `fps` is their mean since the start, and not
read. A checkpoint is saved between two lines, and no line says so.
"""

from perfledger.parsers.contract import Format, Reading

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
)  # fmt: skip
