"""Google's big_vision (ViT, SigLIP, PaliGemma): `[100] img/sec/core = 812.5`, of one device over the interval.

Its timer stops during evaluations and while a checkpoint is copied, and begins with the second line of the program,
after the compilation. A core is what JAX calls a device. Metrics are printed one a line, by the first process alone;
`big_vision_metrics.txt` has them in a row of JSON per step.
"""

from perfledger.parsers.contract import Fact, Format, Pause, Reading

FORMAT = Format(
    title="big_vision",
    framework="JAX",
    unproven=True,
    start="Hello from process 0 holding ",
    before_start="Hello from process {_} holding ",
    end=rb"NOTE: Done!$",
    readings=(
        Reading(
            "] [{step}] img/sec/core = {throughput}",
            unit="images/s",
            scope="device",
            pauses=(Pause("evaluation", " evaluation...$", inside="none"),),
        ),
        Reading('^{{"step": {step}, {*}"img/sec/core": {throughput}, ', unit="images/s", scope="device"),
    ),
    facts=(
        Fact("batch_size", "Global batch size {_} on {*}, that's a{?n} {:int} per-device batch size"),
        Fact("batch_size_of_job", "Global batch size {:int} on "),
        Fact("devices", "Hello from process {_} holding {_}/{:int} devices"),
        Fact("nodes", "Global batch size {_} on {:int} hosts"),
        Fact("total_steps", "Running for {:int} steps, that means "),
    ),
)
