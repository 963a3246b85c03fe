"""LiBai on OneFlow: a line per 20 iterations with running means of seconds and samples per second of the job.

The means run since the third iteration of the program, as Detectron2's do, and are undone here; they leave out what
happens between iterations, such as checkpoints and evaluations.
"""

from parsers.contract import Fact, Format, NearMiss, Reading, Sample, up_to
from parsers.frameworks.detectron2 import since_start

FORMAT = Format(
    title="LiBai",
    framework="OneFlow",
    marker=b"lb.utils.events",
    unproven=True,
    readings=(
        Reading(
            rb"lb\.utils\.events(?:\]:| INFO:) ++(?:eta: [^\r\ni]++)?+iteration: <step>/<total_steps> ++consumed_samples: [0-9]++ ++"
            rb"(?:total_loss: <loss>)?+" + up_to(rb" time: ", rb"lb\.utils\.events") + rb"<step_seconds> s/iter ++(?:data_time: <reader_seconds> s/iter)?+ *+"
            rb"total_throughput: <throughput> samples/s ",
            unit="samples/s",
            cumulative_since=2,
            postprocess=since_start,
        ),
    ),
    facts=(
        Fact("devices", rb"Rank of current process: [0-9]++\. World size: ([0-9]++)", int),
        Fact("batch_size", rb"\btrain_micro_batch_size['\"]?+[=:] ?+([0-9]++)\b", int),
        Fact("accumulation", rb"\bnum_accumulation_steps['\"]?+[=:] ?+([0-9]++)\b", int),
        Fact("batch_size_of_job", rb"\bglobal_batch_size['\"]?+[=:] ?+([0-9]++)\b", int),
        Fact("precision", rb"\bamp['\"]?+[=:] ?+\{?['\"]?enabled['\"]?+[=:] ?+([Tt]rue|[Ff]alse)\b", words={
            b"True": "amp", b"true": "amp", b"False": "fp32", b"false": "fp32"}),
    ),
    samples=(
        Sample(
            b"[11/20 10:00:00 lb.utils.events]:  eta: 0:10:20  iteration: 39/1000  consumed_samples: 640  total_loss: 9.125  time: 0.2500 s/iter  "
            b"data_time: 0.0100 s/iter total_throughput: 64.00 samples/s lr: 1.00e-05  \n",
            step=39, total_steps=1000, loss=9.125, step_seconds=0.25, reader_seconds=0.01, throughput=64,
        ),
        NearMiss(b"[11/20 10:00:00 lb.utils.events]:  iteration: 0/1000  consumed_samples: 16  total_loss: 9.125  data_time: 0.5 s/iter lr: 1.00e-05  \n", "no time yet"),
        NearMiss(
            b"[11/20 10:00:00 lb.utils.events]:  iteration: 39/1000  consumed_samples: 640  total_loss: 9.125  time: 0.2500 s/iter  data_time: 0.0100 s/iter "
            b"total_throughput: 64.0",
            "cut inside the number",
        ),
    ),
)  # fmt: skip
