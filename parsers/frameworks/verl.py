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

from perfledger.parsers.contract import Fact, Format, NearMiss, Pause, Reading, Sample, up_to


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
        b" - timing_s/testing:120.5 - timing_s/step:250.5 - ",
        inside="last",
    ),
    Pause(
        "checkpoint",
        rb"timing_s/save_checkpoint" + _INSIDE,
        b" - timing_s/save_checkpoint:12.5 - timing_s/update_weights:1.5 - timing_s/step:150.5 - ",
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
                Pause("evaluation", rb"  validation: (?=[0-9])", b"(Runner pid=3860)   validation: 120.5", inside="last"),
                Pause("checkpoint", rb"  save_checkpoint: (?=[0-9])", b"(Runner pid=3860)   save_checkpoint: 12.5", inside="last"),
            ),
        ),
        Reading(
            rb"Training Progress: ++[0-9]++%\|[^|\r\n]{0,400}+\| (?P<step>[1-9][0-9]*+)/(?!(?P=step) )<total_steps> \[(?P<elapsed>[0-9:]++)<",
            unit="samples/s",
            marker=b"Training Progress: ",
            repeated=True,
            pauses=(
                Pause("evaluation", rb"test_gen_batch meta info: ", b"test_gen_batch meta info: {'eos_token_id': 2, 'validate': True}"),
                Pause("checkpoint", rb"local_global_step_folder: ", b"local_global_step_folder: checkpoints/global_step_20"),
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
    samples=(
        Sample(
            b"(TaskRunner pid=3860) step:2 - actor/lr:1e-06 - perf/mfu/actor:0.35 - training/global_step:2 - timing_s/step:50.5 - "
            b"perf/total_num_tokens:202000 - perf/time_per_step:50.5 - perf/throughput:500.0 - training/epoch:0\n",
            step=2, duration=50.5, samples=202000,
        ),
        Sample(
            b"step:3 - perf/mfu/actor:np.float64(0.35) - perf/total_num_tokens:np.int64(202000) - perf/time_per_step:np.float64(50.5) - "
            b"perf/throughput:np.float64(500.25)\n",
            step=3, duration=50.5, samples=202000,
        ),
        Sample(
            b"(main_task pid=3860) step:4 - global_seqlen/min:9000.000 - global_seqlen/mean:9250.000 - actor/lr:0.000 - timing_s/gen:5.125 - "
            b"timing_s/step:9.250 - timing_per_token_ms/gen:0.875\n",
            step=4, samples=9250, duration=9.25,
        ),
        Sample(
            b"(TaskRunner pid=3860) step:7 - timing_s/step:20.5 - timing_per_image_ms/gen:95.5 - perf/total_num_images:82 - perf/time_per_step:20.5 - "
            b"perf/throughput:0.5\n",
            step=7, samples=82, duration=20.5,
        ),
        Sample(b'{"step":8,"data":{"perf/total_num_images":82,"perf/time_per_step":20.5,"perf/throughput":0.5}}\n', step=8, samples=82, duration=20.5),
        Sample(
            b'{"step":5,"data":{"actor/lr":1e-6,"perf/total_num_tokens":202000,"perf/time_per_step":50.5,"perf/throughput":500.0}}\n',
            step=5, samples=202000, duration=50.5,
        ),
        Sample(
            b"(Runner pid=3860) Step 6\n(Runner pid=3860) actor:\n(Runner pid=3860)   entropy_loss: 0.5\n(Runner pid=3860) perf:\n"
            b"(Runner pid=3860)   mfu_actor: 0.35\n(Runner pid=3860)   throughput: 500.0\n(Runner pid=3860)   time_per_step: 50.5\n"
            b"(Runner pid=3860)   total_num_tokens: 202000\n(Runner pid=3860) timing_s:\n(Runner pid=3860)   step: 50.5\n",
            step=6, samples=202000, duration=50.5,
        ),
        Sample(
            b"Training Progress:   0%|          | 31/1500 [1:04:38<288:57:10, 66.71s/it]\n", step=31, total_steps=1500, clock=3878,
        ),
        NearMiss(b"Training Progress:   0%|          | 0/1500 [00:00<?, ?it/s]\n", "nothing done yet"),
        NearMiss(b"Training Progress: 100%|##########| 1500/1500 [30:00:00<00:00, 66.71s/it]\n", "holds the final validation"),
        NearMiss(b"step:0 - val-core/gsm8k/acc/mean@1:0.58\n", "the validation before training"),
        NearMiss(b"Step 3\nperf:\n  throughput: 500.0\n  time_per_step: 50.5\n  total_num_tokens: 2020", "cut inside the number"),
        NearMiss(b"step:2 - perf/total_num_tokens:202000 - perf/time_per_step:50.", "cut inside the number"),
    ),
)  # fmt: skip
