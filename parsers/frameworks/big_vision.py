"""Google's big_vision (ViT, SigLIP, PaliGemma): `[100] img/sec/core = 812.5`, of one device over the interval.

Its timer stops during evaluations and while a checkpoint is copied, and begins with the second line of the program,
behind the compilation. A core is what JAX calls a device. Metrics are printed one a line, by the first process alone;
`big_vision_metrics.txt` has them in a row of JSON per step.
"""

from perfledger.parsers.contract import Fact, Format, Pause, Reading
from perfledger.parsers.frameworks import row, value

FORMAT = Format(
    title="big_vision",
    framework="JAX",
    marker=b"img/sec/core",
    unproven=True,
    start=rb"Hello from process 0 holding ",
    before_start=rb"Hello from process [0-9]++ holding ",
    end=rb"NOTE: Done!$",
    readings=(
        Reading(
            rb"\] \[<step>\] img/sec/core = <throughput>(?=\s)",
            unit="images/s",
            scope="device",
            pauses=(
                Pause(
                    "evaluation", rb" evaluation\.\.\.$", inside="none"
                ),
            ),
        ),
        Reading(
            row(rb'"step": <step>', value(rb"img/sec/core", rb"<throughput>")), unit="images/s", scope="device",
        ),
    ),
    facts=(
        Fact("batch_size", rb"Global batch size [0-9]++ on [^\n]{1,200}?, that's an? ([0-9]++) per-device batch size", int),
        Fact("batch_size_of_job", rb"Global batch size ([0-9]++) on ", int),
        Fact("devices", rb"Hello from process [0-9]++ holding [0-9]++/([0-9]++) devices", int),
        Fact("nodes", rb"Global batch size [0-9]++ on ([0-9]++) hosts", int),
        Fact("total_steps", rb"Running for ([0-9]++) steps, that means ", int),
    ),
)  # fmt: skip
