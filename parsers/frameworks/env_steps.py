"""Reinforcement learning in environments: Stable-Baselines3, ML-Agents, RSL-RL (Isaac Lab), rl_games and RLlib.

The steps of all environments and of the whole loop count: acting and learning. Stable-Baselines3 prints them since
the start with the seconds, cut to whole ones; `fps` is their quotient since the start, and is not read. An evaluation
by its callback lies within. ML-Agents prints the steps of each behavior, so that only a log of one has them all.
RSL-RL and rl_games print the speed of an iteration, of all devices; RSL-RL's is cut to a whole number. `fps step` of
rl_games leaves the learning out. RLlib's older API prints a block of each iteration of a trial, with its steps and
seconds so far, which include an evaluation; of several trials it prints blocks in turn, which are not one run.
"""

from __future__ import annotations

import numpy as np

from perfledger.parsers.contract import (
    Columns,
    Fact,
    Format,
    Pause,
    Reading,
    carry,
    only,
    states,
)


def _of_one(columns: Columns) -> Columns:
    """Drop all rows if steps fall while the seconds go on: behaviors or trials print their own steps in turn."""
    falls, begins = np.diff(columns["consumed"]) <= 0, np.diff(columns["clock"]) < 0
    return columns.take(np.full(len(columns["clock"]), not (falls & ~begins).any()))


FORMAT = Format(
    title="Stable-Baselines3, ML-Agents, RSL-RL, rl_games and RLlib",
    framework="PyTorch",
    start=rb"(?m:^)Using (?:cuda|cpu|mps) device[ \t\r]*+\n|\bVersion information:\s++ml-agents: ",
    unproven=True,
    readings=(
        Reading(
            "|  iterations  | {step}  |\n\n|  time_elapsed  | {elapsed}  |\n\n|  total_timesteps  | {consumed}  |",
            unit="items/s",
            # A table of an evaluation has steps and no seconds.
            verbs=(carry("step", "clock"), only("consumed"), states("clock")),
            pauses=(Pause("evaluation", "Eval num_timesteps="),),
        ),
        Reading(
            ". Step: {consumed:int}. Time Elapsed: {elapsed} s. {Mean Reward: |No episode }",
            unit="items/s",
            verbs=(_of_one,),
        ),
        Reading(
            "Learning iteration {step}/{total_steps}\n{?  Run name: {*}\n}  Computation: {throughput} steps/s ",
            unit="items/s",
        ),
        # Since 2025.
        Reading(
            "Learning iteration {step}/{total_steps}\n{?  Run name: {*}\n}  Total steps: {_}\n  Steps per second: {throughput}\n",
            unit="items/s",
        ),
        Reading(
            "fps step: {_} fps step and policy inference: {_} fps total: {throughput} epoch: {step}{?/{total_steps}}",
            unit="items/s",
        ),
        Reading(
            "time_total_s: {elapsed}\n\ntimesteps_total: {consumed}\n\ntraining_iteration: {step}\n\ntrial_id: {_}_{_trial:int}",
            unit="items/s",
            pauses=(Pause("evaluation", rb"  evaluation:[ \t\r]*+$"),),
            verbs=(carry("clock", "consumed", "step"), only("_trial"), _of_one),
        ),
    ),
    facts=(
        Fact("devices", rb"^Using (cuda|cpu|mps) device$", lambda _: 1),
        # ML-Agents until 2020.
        Fact("framework", rb"^[ \t]++framework:[ \t]++(tensorflow)$", lambda _: "TensorFlow"),
    ),
)  # fmt: skip
