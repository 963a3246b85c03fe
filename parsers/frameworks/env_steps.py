"""Reinforcement learning in environments: Stable-Baselines3, ML-Agents, RSL-RL (Isaac Lab), rl_games and RLlib.

What counts are steps of all environments, of the whole loop: acting and learning. Stable-Baselines3 prints them since
the start with the seconds, cut to whole ones; `fps` is their quotient since the start, and is not read. An evaluation
by its callback lies within. ML-Agents prints the steps of each behavior, so that only a log of one tells them all.
RSL-RL and rl_games print the speed of an iteration, of all devices; RSL-RL's is cut to a whole number. `fps step` of
rl_games leaves the learning out. RLlib's older API prints a block of each iteration of a trial, with its steps and
seconds so far, which hold an evaluation; of several trials it would print blocks in turn, which are no one run.
"""

from __future__ import annotations

import numpy as np

from perfledger.parsers.contract import (
    Columns,
    Fact,
    Format,
    Pause,
    Postprocessed,
    Reading,
    next_line,
)


def _of_one(columns: Columns) -> Postprocessed:
    """Return the lines of a log whose steps fall only where the seconds do, since another run began."""
    falls, begins = np.diff(columns["consumed"]) <= 0, np.diff(columns["clock"]) < 0
    rows = np.arange(0 if (falls & ~begins).any() else len(columns["clock"]))
    return rows, {name: each[rows] for name, each in columns.items()}


def _of_one_trial(columns: Columns) -> Postprocessed:
    """Return the iterations of RLlib where all are of one trial."""
    rows = np.arange(len(columns["_trial"]) if len(set(columns["_trial"].tolist())) == 1 else 0)
    return rows, {name: columns[name][rows] for name in ("step", "clock", "consumed")}


#: Between two lines of a table other programs may print.
_NEXT = next_line(rb"\|")
_STABLE_BASELINES = Reading(
    rb"(?:\| ++fps ++\| [0-9]++ ++\|" + _NEXT + rb")?+(?:\| ++iterations ++\| <step> ++\|" + _NEXT + rb")?+\| ++time_elapsed ++\| (?P<elapsed>[0-9]++) ++\|" + _NEXT + rb"\| ++total_timesteps ++\| (?P<consumed>[0-9]++) ++\|",
    unit="items/s",
    marker=b"total_timesteps ",
    pauses=(Pause("evaluation", rb"Eval num_timesteps="),),
)  # fmt: skip

FORMAT = Format(
    title="Stable-Baselines3, ML-Agents, RSL-RL, rl_games and RLlib",
    framework="PyTorch",
    marker=b"tep",
    start=rb"(?m:^)Using (?:cuda|cpu|mps) device\r?+\n|\bVersion information:\s++ml-agents: ",
    unproven=True,
    readings=(
        _STABLE_BASELINES,
        Reading(
            rb"\. Step: (?P<consumed>[0-9]++)\. Time Elapsed: (?P<elapsed>[0-9.]++) s\. (?=Mean Reward: |No episode )",
            unit="items/s",
            marker=b". Time Elapsed: ",
            verbs=(_of_one,),
        ),
        Reading(
            # Since 2025 a line each, with the total before them.
            rb"Learning iteration <step>/<total_steps>\s++(?:Run name: [^\r\n]{1,200}+\s++)?+"
            rb"(?:Computation: |Total steps: [0-9]++\s++Steps per second: )<throughput>(?: steps/s |\s)",
            unit="items/s",
            marker=b"Learning iteration ",
        ),
        Reading(
            rb"fps step: [0-9.]++ fps step and policy inference: [0-9.]++ fps total: <throughput> epoch: <step>(?:/<total_steps>)?+(?=\s)",
            unit="items/s",
            marker=b" fps total: ",
        ),
        Reading(
            rb"(?<=\n)  time_total_s: (?P<elapsed>[0-9.]++)\r?+\n(?:  (?!time(?:steps)?_total)[^\r\n]{0,120}+\r?+\n){0,40}+"
            rb"  timesteps_total: (?P<consumed>[0-9]++)\r?+\n  training_iteration: <step>\r?+\n  trial_id: [0-9a-z]++_(?P<_trial>[0-9]++)\s",
            unit="items/s",
            marker=b"time_total_s: ",
            pauses=(Pause("evaluation", rb"  evaluation:[ \t\r]*+$"),),
            verbs=(_of_one_trial,),
        ),
    ),
    facts=(
        Fact("devices", rb"^Using (cuda|cpu|mps) device$", lambda _: 1),
        # ML-Agents until 2020.
        Fact("framework", rb"^[ \t]++framework:[ \t]++(tensorflow)$", lambda _: "TensorFlow"),
    ),
)  # fmt: skip
