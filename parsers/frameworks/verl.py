"""verl's console logger (`step:2 - actor/... - perf/throughput:340.5 - ...`): a line per step of reinforcement learning.

`perf/total_num_tokens` are those of the job, prompts and responses, and `perf/time_per_step` is the whole step:
generation, scoring and update. `perf/throughput` divides them by the devices as well, those of a rollout on devices of
its own included, and is not read; where there are such, the trainer's devices are not those of the job. Until the
spring of 2025 (TinyZero, Search-R1, RAGEN and others began with it) none of these is printed: `global_seqlen/mean` is
the same tokens over the devices, and `timing_s/step` the whole step. A validation or checkpoint lies inside the step
whose line names its time before that of the step; later releases stop the timer of the step before them. Numbers may
print as `np.float64(0.35)`. The logger `file` writes the same as rows of JSON. With other loggers only the bar shows
the time, in steps of `train_batch_size` prompts; its last step contains the final validation, and is left out. EasyR1
prints the same numbers as a block of YAML, after `Step 2`, with a validation or a checkpoint in the step. verl-omni,
which trains networks that draw, counts images instead of tokens.
"""

from perfledger.parsers.contract import Fact, Format, Pause, Reading, carry, lacks, only

#: A rollout with devices of its own; this part of the configuration precedes the trainer's, as they are sorted.
_APART = (
    rb"(?='rollout': \{(?:(?!'n_gpus_per_node': )[^{}])*+'n_gpus_per_node': [1-9][^{}]*+\},[^{}']*+'trainer': )'roll"
)
#: A number of the trainer: other parts have keys of the same name. If the rollout has devices of its own it is `out`,
#: which is not a number: the job has more devices than the trainer.
_TRAINER = rb"(?:" + _APART + rb"|'trainer': \{(?:(?!'trainer': |'%s': )[\s\S]){0,12000}+'%s': )([1-9][0-9]*+|out)\b"


#: A timer is printed when it stops: what lies inside the step precedes its seconds.
_UP_TO_TIMER = rb"(?:(?!timing_s/(?:step|testing|save_checkpoint)\"?+:)[^\r\n])*+timing_s/"
_INSIDE = rb"\"?+:(?=" + _UP_TO_TIMER + rb"(?:(?:testing|save_checkpoint)\"?+:" + _UP_TO_TIMER + rb")?+step\"?+:)"
_PAUSES = (
    Pause("evaluation", rb"timing_s/testing" + _INSIDE, inside="last"),
    Pause("checkpoint", rb"timing_s/save_checkpoint" + _INSIDE, inside="last"),
)
#: The first line of the configuration, as it is printed since the first release.
_CONFIGURED = rb"\{'actor_rollout_ref': \{"
#: The name of a process and the indent before a line of YAML.
_INDENT = rb"^(?:\([^)\n]{1,80}+\) )?+ ++"

FORMAT = Format(
    title="verl",
    framework="PyTorch",
    start=rb"TaskRunner hostname: (?:(?:[^\n]{0,400}+\n){1,8}?[^\n]{0,200}?" + _CONFIGURED + rb")?+|" + _CONFIGURED
    + rb"|\bConfig[ \t\r]*+\n(?:\([^)\n]{1,80}+\) )?+algorithm:(?=\s)",
    before_start=rb"Started a local Ray instance\.|ray init kwargs: ",
    end="Final validation metrics: ",
    readings=(
        Reading(
            "step:{step} - {*}perf/total_num_tokens:{?np.{_}(}{samples}{?)} - perf/time_per_step:{?np.{_}(}{duration}{?)} - perf/throughput:",
            unit="tokens/s",
            span="step",
            pauses=_PAUSES,
        ),
        Reading(
            "step:{step} - {*}perf/total_num_images:{?np.{_}(}{samples}{?)} - perf/time_per_step:{?np.{_}(}{duration}{?)} - perf/throughput:",
            unit="images/s",
            span="step",
            pauses=_PAUSES,
        ),
        Reading(
            "step:{step} - {*}global_seqlen/mean:{?np.{_}(}{samples}{?)}{*} - timing_s/step:{?np.{_}(}{duration}{?)} ",
            where=lacks("perf/time_per_step:"),
            unit="tokens/s",
            scope="device",
            span="step",
            pauses=_PAUSES,
        ),
        Reading(
            '{{"step":{step},{? }"data":{? }{{{*}"perf/total_num_tokens":{samples},{*}"perf/time_per_step":{duration}',
            unit="tokens/s",
            span="step",
            pauses=_PAUSES,
        ),
        Reading(
            '{{"step":{step},{? }"data":{? }{{{*}"perf/total_num_images":{samples},{*}"perf/time_per_step":{duration}',
            unit="images/s",
            span="step",
            pauses=_PAUSES,
        ),
        # EasyR1 prints a block of YAML per step.
        Reading(
            "Step {step}$\n\ntime_per_step: {duration}\n\ntotal_num_tokens: {samples}",
            verbs=(carry("step", "duration"), only("samples")),
            unit="tokens/s",
            span="step",
            pauses=(
                Pause("evaluation", rb"  validation: (?=[0-9])", inside="last"),
                Pause("checkpoint", rb"  save_checkpoint: (?=[0-9])", inside="last"),
            ),
        ),
        Reading(
            rb"Training Progress: ++[0-9]++%\|[^|\r\n]{0,400}+\| (?P<step>[1-9][0-9]*+)/(?!(?P=step) )<total_steps> \[(?P<elapsed>[0-9:]++)<",
            unit="samples/s",
            ranks="median",
            pauses=(
                Pause("evaluation", "test_gen_batch meta info: "),
                Pause("checkpoint", "local_global_step_folder: "),
            ),
        ),
    ),
    facts=(
        Fact("model", rb"'actor_rollout_ref': \{(?:(?!'actor_rollout_ref': |'model': )[\s\S]){0,30000}+'model': \{(?:(?!'model': |'path': )[\s\S]){0,8000}+"
             rb"'path': '(?:[^'/\s]*+/)*+([^'/\s]++)'"),
        Fact("devices_per_node", _TRAINER % (b"n_gpus_per_node", b"n_gpus_per_node"), int),
        Fact("nodes", _TRAINER % (b"nnodes", b"nnodes"), int),
        Fact("model", _INDENT + rb"model_path: (?:[^/\s]*+/)*+([^/\s]++)$"),
        Fact("devices_per_node", _INDENT + rb"n_gpus_per_node: ([1-9][0-9]*+)$", int),
        Fact("nodes", _INDENT + rb"nnodes: ([1-9][0-9]*+)$", int),
        Fact("batch_size_of_job", "'train_batch_size': {:int}"),
        Fact("total_steps", "Total training steps: {:int}"),
    ),
)  # fmt: skip
