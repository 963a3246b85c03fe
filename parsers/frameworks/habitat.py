"""Habitat (`habitat_baselines`, PPO and DD-PPO) and SoundSpaces: the frames of all environments so far, with a timestamp.

Frames are steps of environments, of the whole loop: acting and learning. `fps` is their mean since the start, and not
read. A checkpoint is saved between two lines, and no line says so.
"""

from perfledger.parsers.contract import Format, Reading

FORMAT = Format(
    title="Habitat",
    framework="PyTorch",
    unproven=True,
    readings=(
        Reading("{clock} update: {step}  env-time: {_}  pth-time: {_}  frames: {consumed}", unit="items/s"),
        Reading("{clock} Num updates: {step}  Num frames {consumed}", unit="items/s"),
    ),
)  # fmt: skip
