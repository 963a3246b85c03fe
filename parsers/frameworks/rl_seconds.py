"""OpenRLHF and slime: the seconds of each step of reinforcement learning, in a dictionary behind its number.

`timing/step_total` and `perf/step_time` hold generation, scoring and update. The tokens per second that slime prints beside
them are those of one rank while the actor trains, and are not read. The samples of a step are not printed.
"""

from parsers.contract import Format, NearMiss, Reading, Sample
from parsers.frameworks import PYTORCH_JOB, value

FORMAT = Format(
    title="OpenRLHF and slime",
    framework="PyTorch",
    marker=b"/step_t",
    unproven=True,
    readings=(
        Reading(
            rb"(?:\bGlobal step|\bperf) <step>: \{" + value(rb"(?:timing/step_total|perf/step_time)", rb"<duration>") + rb"[^\r\n{}]++\}",
            unit="samples/s",
            span="step",
        ),
    ),
    facts=PYTORCH_JOB,
    samples=(
        Sample(
            "✨ Global step 12: {'policy_loss': 0.5, 'timing/make_experience': 12.5, 'timing/ppo_train': 30.25, 'timing/step_total': 84.5}\n".encode(),
            step=12, duration=84.5,
        ),
        Sample(
            b"(pid=12) perf 12: {'perf/actor_train_time': 30.25, 'perf/actor_train_tok_per_s': 4123.5, 'perf/step_time': 76.25, 'perf/wait_time_ratio': 0.5}\n",
            step=12, duration=76.25,
        ),
        NearMiss(b"rollout 12: {'rollout/response_lengths': 812.5, 'perf/rollout_time': 40.5}\n", "generation alone"),
        NearMiss("✨ Global step 12: {'policy_loss': 0.5, 'timing/step_total': 84.".encode(), "cut inside the number"),
    ),
)  # fmt: skip
