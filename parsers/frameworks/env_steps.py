"""Reinforcement learning in simulated environments: Stable-Baselines3, RSL-RL (legged_gym, Isaac Lab) and rl_games.

What counts are steps of all environments, of the whole loop: acting and learning. Stable-Baselines3 prints them since
the start with the seconds, cut to whole ones; `fps` is their quotient since the start, and is not read. An evaluation by
its callback lies within. RSL-RL and rl_games print the speed of an iteration, of all devices; RSL-RL's is cut to a whole
number, and `fps step` of rl_games leaves the learning out.
"""

from parsers.contract import Fact, Format, NearMiss, Pause, Reading, Sample

_STABLE_BASELINES = Reading(
    rb"(?:\| ++iterations ++\| <step> ++\|[ \t]*+\r?+\n[ \t]*+)?+\| ++time_elapsed ++\| (?P<elapsed>[0-9]++) ++\|[ \t]*+\r?+\n[ \t]*+\| ++total_timesteps ++\| (?P<consumed>[0-9]++) ++\|",
    unit="items/s",
    pauses=(Pause("evaluation", rb"Eval num_timesteps=", b"Eval num_timesteps=20000, episode_reward=150.25 +/- 12.50"),),
)  # fmt: skip

FORMAT = Format(
    title="Stable-Baselines3, RSL-RL and rl_games",
    framework="PyTorch",
    marker=b"step",
    start=rb"(?m:^)Using (?:cuda|cpu|mps) device\r?+\n",
    unproven=True,
    readings=(
        _STABLE_BASELINES,
        Reading(
            rb"Learning iteration <step>/<total_steps>\s++Computation: <throughput> steps/s \(collection: ",
            unit="items/s",
            marker=b" steps/s (collection: ",
        ),
        Reading(
            rb"fps step: [0-9.]++ fps step and policy inference: [0-9.]++ fps total: <throughput> epoch: <step>(?:/<total_steps>)?+(?=\s)",
            unit="items/s",
            marker=b" fps total: ",
        ),
    ),
    facts=(Fact("devices", rb"^Using (cuda|cpu|mps) device$", lambda _: 1),),
    samples=(
        Sample(
            b"| time/                   |             |\n|    fps                  | 155         |\n|    iterations           | 489         |\n"
            b"|    time_elapsed         | 6433        |\n|    total_timesteps      | 1001472     |\n| train/                  |             |\n",
            step=489, clock=6433, consumed=1001472,
        ),
        Sample(
            b"                      Learning iteration 748/10000                      \n\n"
            b"                       Computation: 56234 steps/s (collection: 1.233s, learning 0.512s)\n",
            step=748, total_steps=10000, throughput=56234,
        ),
        Sample(
            b"fps step: 261574 fps step and policy inference: 230705 fps total: 181660 epoch: 376/500 frames: 24576000\n",
            step=376, total_steps=500, throughput=181660,
        ),
        NearMiss(
            b"| time/              |          |\n|    total_timesteps | 10000    |\n", "an evaluation",
        ),
        NearMiss(b"fps step: 261574 fps step and policy inference: 230705 fps total: 1816", "cut inside the number"),
    ),
)  # fmt: skip
