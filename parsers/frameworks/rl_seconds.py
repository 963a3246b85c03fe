"""OpenRLHF, slime, SkyRL and AReaL: the seconds of each step of reinforcement learning.

`timing/step_total` and `perf/step_time` contain generation, scoring and update. The tokens per second that slime prints
next to them are those of one rank while the actor trains, and are not read. AReaL's master prints a sentence of each
step until the middle of 2025, as ReaLHF does, with the seconds since its start. SkyRL prints no number of a step; evaluations
and checkpoints lie outside its timer. The samples of a step, which are all responses, are printed by OpenRLHF and SkyRL
alone.
"""

from perfledger.parsers.contract import Format, Reading, carry, only
from perfledger.parsers.frameworks import PYTORCH_JOB

FORMAT = Format(
    title="OpenRLHF, slime, SkyRL and AReaL",
    framework="PyTorch",
    unproven=True,
    readings=(
        Reading(
            "Global step {step}: {{{*}{?'rollout/num_samples': {samples},{*}}'timing/step_total': {duration}",
            unit="samples/s",
            span="step",
        ),
        Reading("perf {step}: {{{*}'perf/step_time': {duration}", unit="samples/s", span="step"),
        Reading(
            "(global step {step}) finishes. {?Average #tokens per batch is {_}. }#End to end# execution time: *{duration}*s. Total time consumption: {elapsed}s. {?Estimated remaining time: {_}s. }{?TFLOP/s per GPU: {flops},}",
            unit="samples/s",
            span="step",
        ),
        Reading(
            "Number of sequences: {samples}\n\nFinished: 'step', time cost: {duration:s}",
            verbs=(carry("samples"), only("duration")),
            unit="samples/s",
            span="step",
        ),
    ),
    facts=PYTORCH_JOB,
)  # fmt: skip
