"""Google's Pax (Paxml, also NVIDIA's in JAX-Toolbox): `steps/sec: 1.25`, steps of the job over the interval.

The interval is of some steps, ten by default, and its line names none. It contains evaluations and
checkpoints. Releases before 2023 print the rate among the summaries alone; in later ones that is a mean of rates, which
hides stalls, and does not count. The batch size is not in the log.
"""

from perfledger.parsers.contract import Fact, Format, Pause, Reading

_PAUSES = (
    Pause("evaluation", "Finished eval on "),
    Pause("evaluation", "Starting eval_step()"),
    Pause("checkpoint", "Saving a ckpt at "),
    Pause("checkpoint", "Started saving checkpoint to "),
    Pause("checkpoint", "Started async saving checkpoint to "),
)  # fmt: skip

FORMAT = Format(
    title="Pax (Paxml)",
    framework="JAX",
    unproven=True,
    start="[PAX STATUS]: Program start.",
    end=rb"\[PAX STATUS\]: (?:Final checkpoint saved|Executor shutdown complete)",
    readings=(
        Reading(
            "programs.py:{_}] steps/sec: {steps_per_second}", unit="samples/s", pauses=_PAUSES,
        ),
        Reading(
            "summary_utils.py:{_}] summary tensor at step={step} Steps/sec {steps_per_second}",
            unit="samples/s", pauses=_PAUSES,
        ),
    ),
    facts=(Fact("devices", "jax.device_count(): {:int}"),),
)  # fmt: skip
