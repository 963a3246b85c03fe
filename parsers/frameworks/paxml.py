"""Google's Pax (Paxml, also NVIDIA's in JAX-Toolbox): `steps/sec: 1.25`, steps of the job over the interval.

The interval is of some steps, ten unless configured otherwise, and its line names none. It holds evaluations and
checkpoints. Releases before 2023 print the rate among the summaries alone; in later ones that is a mean of rates, which
hides stalls, and does not count. The batch size is not in the log.
"""

from perfledger.parsers.contract import Fact, Format, NearMiss, Pause, Reading, Sample

_PAUSES = (
    Pause("evaluation", rb"Finished eval on ", b"I1120 14:02:40.468958 140 programs.py:837] Finished eval on eval_test"),
    Pause("evaluation", rb"Starting eval_step\(\)", b"I1120 14:02:40.468958 140 executors.py:443] [PAX STATUS]:  Starting eval_step()."),
    Pause("checkpoint", rb"Saving a ckpt at ", b"I1120 14:02:41.468958 140 checkpoint_creators.py:467] Saving a ckpt at step: 400"),
    Pause("checkpoint", rb"Started saving checkpoint to ", b"I1120 14:02:41.468958 140 checkpointer.py:217] [process=0] Started saving checkpoint to out/400."),
    Pause("checkpoint", rb"Started async saving checkpoint to ", b"I1120 14:02:41.468958 140 async_checkpointer.py:356] [process=0] Started async saving checkpoint to out/400."),
)  # fmt: skip

FORMAT = Format(
    title="Pax (Paxml)",
    framework="JAX",
    marker=b"teps/sec",
    unproven=True,
    start=rb"\[PAX STATUS\]: Program start\.",
    end=rb"\[PAX STATUS\]: (?:Final checkpoint saved|Executor shutdown complete)",
    readings=(
        Reading(
            rb"programs\.py:[0-9]++\] steps/sec: <steps_per_second>(?=\s)", unit="samples/s", pauses=_PAUSES,
        ),
        Reading(
            rb"summary_utils\.py:[0-9]++\] summary tensor at step=<step> Steps/sec <steps_per_second>(?=\s)",
            unit="samples/s", pauses=_PAUSES,
        ),
    ),
    facts=(Fact("devices", rb"jax\.device_count\(\): ([0-9]++)", int),),
    samples=(
        Sample(b"I1120 14:02:32.468958 140 programs.py:512] steps/sec: 1.254321\n", steps_per_second=1.254321),
        Sample(b"I1120 14:02:32.468958 140 summary_utils.py:349] summary tensor at step=200 Steps/sec 1.2543215\n", step=200, steps_per_second=1.2543215),
        NearMiss(b"I1120 14:02:32.468958 140 summary_utils.py:349] summary tensor at step=200 loss 6.5\n", "another summary"),
        NearMiss(b"I1120 14:02:32.468958 140 programs.py:512] steps/sec: 1.2543", "cut inside the number, perhaps"),
    ),
)  # fmt: skip
