"""OpenRLHF, slime, SkyRL and AReaL: the seconds of each step of reinforcement learning.

`timing/step_total` and `perf/step_time` hold generation, scoring and update. The tokens per second that slime prints
beside them are those of one rank while the actor trains, and are not read. AReaL's master prints a sentence of each
step until the middle of 2025, as ReaLHF does, with the seconds since its start. SkyRL prints no number of a step; evaluations
and checkpoints lie outside its timer. The samples of a step, which are all responses, are printed by OpenRLHF and SkyRL
alone.
"""

from perfledger.parsers.contract import Format, NearMiss, Reading, Sample, up_to
from perfledger.parsers.frameworks import PYTORCH_JOB, value

FORMAT = Format(
    title="OpenRLHF, slime, SkyRL and AReaL",
    framework="PyTorch",
    marker=b"step",
    unproven=True,
    readings=(
        Reading(
            rb"(?:\bGlobal step|\bperf) <step>: \{" + value(rb"(?:timing/step_total|perf/step_time)", rb"<duration>")
            + value(rb"rollout/num_samples", rb"<samples>", needed=False) + rb"[^\r\n{}]++\}",
            unit="samples/s",
            span="step",
            marker=b"/step_t",
        ),
        Reading(
            rb"\(global step <step>\) finishes\. (?:Average #tokens per batch is [0-9]++\. )?+#End to end# execution time: "
            rb"\*<duration>\*s\. Total time consumption: (?P<elapsed>[0-9.]++)s\. (?:Estimated remaining time: [0-9.]++s\. )?+"
            rb"(?:TFLOP/s per GPU: <flops>,)?+",
            unit="samples/s",
            span="step",
            marker=b"#End to end# ",
        ),
        Reading(
            rb"\bNumber of sequences: <samples>\s" + up_to(rb"\bFinished: 'step', time cost: ", rb"\bNumber of sequences: ", rb"[\s\S]")
            + rb"<duration>s(?=\s)",
            unit="samples/s",
            span="step",
            marker=b"Finished: 'step', time cost: ",
        ),
    ),
    facts=PYTORCH_JOB,
    samples=(
        Sample(
            "✨ Global step 12: {'policy_loss': 0.5, 'rollout/num_samples': 128.0, 'timing/ppo_train': 30.25, 'timing/step_total': 84.5}\n".encode(),
            step=12, duration=84.5, samples=128,
        ),
        Sample(
            b"(pid=12) perf 12: {'perf/actor_train_time': 30.25, 'perf/actor_train_tok_per_s': 4123.5, 'perf/step_time': 76.25, 'perf/wait_time_ratio': 0.5}\n",
            step=12, duration=76.25,
        ),
        Sample(
            b"(master_worker/0 pid=12) 20261120-11:11:56.997 master worker INFO: Epoch 1/1 step 3/19 (global step 3) finishes. Average #tokens per "
            b"batch is 111000. #End to end# execution time: *212.125*s. Total time consumption: 681.500s. Estimated remaining time: 3395.093s. "
            b"TFLOP/s per GPU: 98.25, total TFLOP/s: 786.00.\n",
            step=3, duration=212.125, clock=681.5, flops=98.25,
        ),
        Sample(
            b"Epoch 1/2 step 3 (global step 3) finishes. #End to end# execution time: *12.125*s. Total time consumption: 41.500s. \n",
            step=3, duration=12.125, clock=41.5,
        ),
        Sample(
            b"(skyrl_entrypoint pid=12) 2026-11-20 10:11:12.500 | INFO     | skyrl_train.trainer:train:200 - Number of sequences: 640\n"
            b"(skyrl_entrypoint pid=12) 2026-11-20 10:11:52.500 | INFO     | skyrl_train.trainer:train:230 - Finished: 'train_critic_and_policy', "
            b"time cost: 40.00s\n"
            b"(skyrl_entrypoint pid=12) 2026-11-20 10:11:52.500 | INFO     | skyrl_train.trainer:train:180 - Finished: 'step', time cost: 81.25s\n",
            samples=640, duration=81.25,
        ),
        NearMiss(b"skyrl_train.trainer:train:250 - Finished: 'eval', time cost: 81.25s\n", "an evaluation"),
        NearMiss(b"(global step 3) finishes. #End to end# execution time: *12.125*s. Total time consumption: 41.5", "cut inside the number"),
        NearMiss(b"rollout 12: {'rollout/response_lengths': 812.5, 'perf/rollout_time': 40.5}\n", "generation alone"),
        NearMiss("✨ Global step 12: {'policy_loss': 0.5, 'timing/step_total': 84.".encode(), "cut inside the number"),
    ),
)  # fmt: skip
