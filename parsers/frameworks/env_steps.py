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
    NearMiss,
    Pause,
    Postprocessed,
    Reading,
    Sample,
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
    pauses=(Pause("evaluation", rb"Eval num_timesteps=", b"Eval num_timesteps=20000, episode_reward=150.25 +/- 12.50"),),
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
            postprocess=_of_one,
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
            pauses=(Pause("evaluation", rb"  evaluation:[ \t\r]*+$", b"  evaluation:\n    episode_reward_mean: 150.25"),),
            postprocess=_of_one_trial,
        ),
    ),
    facts=(
        Fact("devices", rb"^Using (cuda|cpu|mps) device$", lambda _: 1),
        # ML-Agents until 2020.
        Fact("framework", rb"^[ \t]++framework:[ \t]++(tensorflow)$", lambda _: "TensorFlow"),
    ),
    samples=(
        Sample(
            b"| time/                   |             |\n|    fps                  | 155         |\n|    iterations           | 489         |\n"
            b"|    time_elapsed         | 6433        |\n|    total_timesteps      | 1001472     |\n| train/                  |             |\n",
            step=489, clock=6433, consumed=1001472,
        ),
        Sample(
            b"[INFO] 3DBall. Step: 12000. Time Elapsed: 40.625 s. Mean Reward: 1.188. Std of Reward: 0.670. Training.\n",
            consumed=12000, clock=40.625,
        ),
        Sample(
            b"                      Learning iteration 748/10000                      \n\n"
            b"                       Computation: 56234 steps/s (collection: 1.233s, learning 0.512s)\n",
            step=748, total_steps=10000, throughput=56234,
        ),
        Sample(
            b"                      Learning iteration 12/1500                      \n\n                            Total steps: 1277952 \n"
            b"                       Steps per second: 36012 \n                        Collection time: 2.563s \n"
            b"                          Learning time: 0.166s \n",
            step=12, total_steps=1500, throughput=36012,
        ),
        Sample(
            b"fps step: 261574 fps step and policy inference: 230705 fps total: 181660 epoch: 376/500 frames: 24576000\n",
            step=376, total_steps=500, throughput=181660,
        ),
        Sample(
            b"  time_this_iter_s: 3.25\n  time_total_s: 39.0\n  timers:\n    learn_time_ms: 1250.5\n  timestamp: 1763632800\n"
            b"  timesteps_total: 48000\n  training_iteration: 12\n  trial_id: 5f2c1_00000\n  \n",
            step=12, clock=39, consumed=48000, _trial=0,
        ),
        NearMiss(
            b"| time/              |          |\n|    total_timesteps | 10000    |\n", "an evaluation",
        ),
        NearMiss(b"fps step: 261574 fps step and policy inference: 230705 fps total: 1816", "cut inside the number"),
    ),
)  # fmt: skip
