"""Ray's RLlib: what each training iteration prints, as YAML, of the steps of all environments and the seconds so far.

The seconds (`time_total_s`) are those of the whole loop: acting, learning, and evaluations where they are configured.
Trials that Tune runs beside each other print their results in turn, and are not read. `timesteps_this_iter` and the
rates of single phases are not read.
"""

from parsers.contract import Fact, Format, NearMiss, Reading, Sample

_ONE_TRIAL = rb"\A(?!(?:(?!Result for )[\s\S])*+Result for (?P<trial>[^\s:]++):[\s\S]*?Result for (?!(?P=trial):))"
_KEYS = rb"(?:(?![ \t]*+(?:time_total_s|timesteps_total): )[^\r\n]*+\r?+\n){0,60}+"

FORMAT = Format(
    title="Ray RLlib",
    marker=b"timesteps_total: ",
    unproven=True,
    readings=(
        Reading(
            rb"\btime_total_s: (?P<elapsed>[0-9.]++)\r?+\n" + _KEYS
            + rb"[ \t]*+timesteps_total: (?P<consumed>[0-9]++)\r?+\n[ \t]*+training_iteration: <step>(?=\s)",
            unit="items/s",
            where=_ONE_TRIAL,
        ),
    ),
    facts=(Fact("framework", rb"^[ \t]*+framework: (torch|tf2?+|tfe)$", words={b"torch": "PyTorch", b"tf": "TensorFlow", b"tf2": "TensorFlow", b"tfe": "TensorFlow"}),),
    samples=(
        Sample(
            b"time_since_restore: 258.125\ntime_this_iter_s: 2.75\ntime_total_s: 258.125\ntimestamp: 1795000000\n"
            b"timesteps_since_restore: 340000\ntimesteps_this_iter: 4000\ntimesteps_total: 340000\ntraining_iteration: 85\n",
            clock=258.125, consumed=340000, step=85,
        ),
        Sample(
            b"  time_total_s: 258.125\n  timers:\n    learn_time_ms: 2250.5\n  timestamp: 1795000000\n  timesteps_total: 340000\n"
            b"  training_iteration: 85\n  trial_id: ab738_00000\n",
            clock=258.125, consumed=340000, step=85,
        ),
        NearMiss(b"time_total_s: 258.125\ntimestamp: 1795000000\ntimesteps_total: 3400", "cut inside the number"),
    ),
)  # fmt: skip
