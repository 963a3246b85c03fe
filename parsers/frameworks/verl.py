"""verl's console logger (`step:2 - actor/... - perf/throughput:340.5 - ...`): a line per step of reinforcement learning.

`perf/total_num_tokens` are those of the job, prompts and responses, and `perf/time_per_step` is the whole step:
generation, scoring and update. `perf/throughput` divides them by the devices as well, those of a rollout on devices of
its own included, and is not read; where there are such, the trainer's devices are not those of the job. Until the
spring of 2025 (TinyZero, Search-R1, RAGEN and others began with it) none of these is printed: `global_seqlen/mean` is
the same tokens over the devices, and `timing_s/step` the whole step. A validation or checkpoint lies inside the step
whose line names its time before that of the step; later releases stop the timer of the step before them. Numbers may
print as `np.float64(0.35)`. The logger `file` writes the same as rows of JSON. With other loggers only the bar tells
the time, in steps of `train_batch_size` prompts; its last step holds the final validation, and is left out. EasyR1
prints the same numbers as a block of YAML, behind `Step 2`, with a validation or a checkpoint in the step. verl-omni,
which trains networks that draw, counts images instead of tokens.
"""

from perfledger.parsers.contract import Fact, Format, Pause, Reading, up_to


def _value(key: bytes, column: bytes) -> bytes:
    """Return a pattern for a metric, which may be a scalar of NumPy."""
    return key + rb":(?:np\.\w++\()?+" + column + rb"\)?+(?=\s)"


#: A rollout with devices of its own; this part of the configuration stands before the trainer's, as they are sorted.
_APART = (
    rb"(?='rollout': \{(?:(?!'n_gpus_per_node': )[^{}])*+'n_gpus_per_node': [1-9][^{}]*+\},[^{}']*+'trainer': )'roll"
)
_CONFIG = rb"(?:" + _APART + rb"|'trainer': \{(?:(?!'trainer': |%s)[\s\S]){0,12000}+%s)([1-9][0-9]*+|out)\b"


def _trainer(key: bytes) -> bytes:
    """Return a pattern for a number of the trainer's configuration: other parts have keys of the same name.

    Where the rollout has devices of its own it is `out`, which is no number: the job has more devices than the trainer.
    """
    return _CONFIG % (key, key)


#: A timer is told when it stops: what lies inside the step stands before its seconds.
_UP_TO_TIMER = rb"(?:(?!timing_s/(?:step|testing|save_checkpoint)\"?+:)[^\r\n])*+timing_s/"
_INSIDE = rb"\"?+:(?=" + _UP_TO_TIMER + rb"(?:(?:testing|save_checkpoint)\"?+:" + _UP_TO_TIMER + rb")?+step\"?+:)"
_PAUSES = (
    Pause(
        "evaluation",
        rb"timing_s/testing" + _INSIDE,
        inside="last",
    ),
    Pause(
        "checkpoint",
        rb"timing_s/save_checkpoint" + _INSIDE,
        inside="last",
    ),
)
#: The first line of the configuration, as it is printed since the first release.
_CONFIGURED = rb"\{'actor_rollout_ref': \{"


def _in_block(key: bytes) -> bytes:
    """Return a pattern for the lines of a block up to and with a key."""
    return up_to(key, rb"\bStep [0-9]", rb"[\s\S]")


#: What stands before a line of YAML: the name of its process, and its indent.
_INDENT = rb"^(?:\([^)\n]{1,80}+\) )?+ ++"
_STEP = rb"step:(?<!\Sstep:)<step> - "
_AGAIN = rb"(?<=\s)step:[0-9]++ - "


#: What a step counts, and its unit: where images or videos are generated there are no tokens.
_COUNTED = ((b"tokens", "tokens/s"), (b"images", "images/s"))


def _told(counted: bytes, unit: str) -> Reading:
    """Return the reading of the console's line."""
    return Reading(
        _STEP + up_to(rb"perf/total_num_%s:" % counted, _AGAIN)
        + rb"(?:np\.\w++\()?+<samples>\)?+ - " + _value(rb"perf/time_per_step", rb"<duration>") + rb" - perf/throughput:",
        unit=unit, span="step", marker=b"perf/total_num_%s:" % counted, pauses=_PAUSES,
    )  # fmt: skip


def _row(counted: bytes, unit: str) -> Reading:
    """Return the reading of a row of JSON."""
    return Reading(
        rb'\{"step": ?+<step>, ?+"data": ?+\{' + up_to(rb'"perf/total_num_%s":' % counted, rb'\{"step":') + rb" ?+<samples>(?=,)"
        + up_to(rb'"perf/time_per_step":', rb'\{"step":') + rb' ?+<duration>(?=[,}])',
        unit=unit, span="step", marker=b'"perf/total_num_%s":' % counted, pauses=_PAUSES,
    )  # fmt: skip


FORMAT = Format(
    title="verl",
    framework="PyTorch",
    marker=b"g",
    start=rb"TaskRunner hostname: (?:(?:[^\n]{0,400}+\n){1,8}?[^\n]{0,200}?" + _CONFIGURED + rb")?+|" + _CONFIGURED
    + rb"|\bConfig[ \t\r]*+\n(?:\([^)\n]{1,80}+\) )?+algorithm:(?=\s)",
    before_start=rb"Started a local Ray instance\.|ray init kwargs: ",
    end=rb"Final validation metrics: ",
    readings=(
        *(_told(*each) for each in _COUNTED),
        Reading(
            _STEP + up_to(rb"global_seqlen/mean:", _AGAIN) + rb"(?:np\.\w++\()?+<samples>\)?+ - "
            + up_to(rb" - timing_s/step:", _AGAIN) + rb"(?:np\.\w++\()?+<duration>\)?+(?=\s)(?![^\r\n]*?perf/time_per_step:)",
            unit="tokens/s",
            scope="device",
            span="step",
            marker=b"global_seqlen/mean:",
            pauses=_PAUSES,
        ),
        *(_row(*each) for each in _COUNTED),
        # EasyR1 prints a block of YAML per step.
        Reading(
            rb"\bStep <step>[ \t\r]*+\n" + _in_block(rb"\bperf:[ \t\r]*+\n") + _in_block(rb"\bthroughput: ") + rb"[0-9.]++\s"
            + _in_block(rb"\btime_per_step: ") + rb"<duration>\s" + _in_block(rb"\btotal_num_tokens: ") + rb"<samples>(?=\s)",
            unit="tokens/s",
            span="step",
            marker=b" time_per_step: ",
            pauses=(
                Pause("evaluation", rb"  validation: (?=[0-9])", inside="last"),
                Pause("checkpoint", rb"  save_checkpoint: (?=[0-9])", inside="last"),
            ),
        ),
        Reading(
            rb"Training Progress: ++[0-9]++%\|[^|\r\n]{0,400}+\| (?P<step>[1-9][0-9]*+)/(?!(?P=step) )<total_steps> \[(?P<elapsed>[0-9:]++)<",
            unit="samples/s",
            marker=b"Training Progress: ",
            repeated=True,
            pauses=(
                Pause("evaluation", rb"test_gen_batch meta info: "),
                Pause("checkpoint", rb"local_global_step_folder: "),
            ),
        ),
    ),
    facts=(
        Fact("model", rb"'actor_rollout_ref': \{(?:(?!'actor_rollout_ref': |'model': )[\s\S]){0,30000}+'model': \{(?:(?!'model': |'path': )[\s\S]){0,8000}+"
             rb"'path': '(?:[^'/\s]*+/)*+([^'/\s]++)'"),
        Fact("devices_per_node", _trainer(rb"'n_gpus_per_node': "), int),
        Fact("nodes", _trainer(rb"'nnodes': "), int),
        Fact("model", _INDENT + rb"model_path: (?:[^/\s]*+/)*+([^/\s]++)$"),
        Fact("devices_per_node", _INDENT + rb"n_gpus_per_node: ([1-9][0-9]*+)$", int),
        Fact("nodes", _INDENT + rb"nnodes: ([1-9][0-9]*+)$", int),
        Fact("batch_size_of_job", rb"'train_batch_size': ([0-9]++)\b", int),
        Fact("total_steps", rb"\bTotal training steps: ([0-9]++)\b", int),
    ),
)  # fmt: skip
