"""MaxText (`completed step: 9, seconds: 5.667, TFLOP/s/device: ..., Tokens/s/device: ...`): a record per step.

Tokens per second are those of one device; a step is an update. Step 0 compiles, and step 1 may return before it is
computed, with an impossible speed; both lie in the warm-up. A line is printed one step later than it is measured, so
that neighbours may look long and short. An evaluation or a checkpoint lies in the step after it, and for that the next
one looks short; newer releases leave its time out, and two steps look short. Lines of the ramp-up of the batch size
print no speed. Releases of 2023 print no tokens. The loop of the training engine waits for each step, and prints its
milliseconds and no loss. Every host prints each step.
"""

from perfledger.parsers.contract import Fact, Format, Pause, Reading, up_to

_PARAM = rb"\bConfig param %s: "
#: Each start prints this once, below the configuration.
_MESH = rb"Num_devices: "
#: The seconds are those between two dispatches, and the host waits for the devices only where it prints, evaluates or
#: saves. After step n is saved, a line follows for n - 1, n, n + 1, which includes the wait, and n + 2, for
#: which no wait is left; before an evaluation the line of n - 1 may be there already. All these are left out, not
#: only the slow one: with n + 2 alone the speed is too high.
_SHOWN = 4
_PAUSES = (
    Pause("evaluation", "Completed eval ", records=_SHOWN),
    Pause("evaluation", "eval metrics after step: ", records=_SHOWN),
    Pause("evaluation", rb"verage loss after step=", records=_SHOWN),
    Pause("checkpoint", rb"aved a checkpoint at step ", records=_SHOWN),
    Pause("checkpoint", "Started an asynchronous checkpoint save for step ", records=_SHOWN),
)

FORMAT = Format(
    title="MaxText",
    framework="JAX",
    unproven=True,
    # Every host prints this, and some releases more than once: together they are one start.
    start=_MESH + rb"(?:(?:(?!completed step: |" + _MESH + rb")[^\n])*+\n(?:(?![^\n]*?(?:completed step: |Traceback|" + _MESH + rb"))[^\n]*+\n){0,2000}+[^\n]*?" + _MESH + rb")*+",
    before_start=rb"\bConfig param \w++: ",
    readings=(
        Reading(
            "{?I{_} {clock}  {_} {_}] }completed step: {step}, seconds: {duration}, {?live slice count: {_}, }TFLOP/s/device: {flops}, Tokens/s/device: {throughput}, {*}loss: {loss}",
            unit="tokens/s",
            scope="device",
            span="step",
            per_update=True,
            ranks="median",
            pauses=_PAUSES,
        ),
        Reading(
            "completed step: {step}, seconds: {step_seconds}, TFLOP/s{?/device}: {flops}, loss: {loss}",
            unit="tokens/s",
            span="step",
            ranks="median",
            pauses=_PAUSES,
        ),
        Reading(
            "completed step: {step}, seconds: {duration}, train_step_time_ms: {_}, TFLOP/s/device: {flops}, {Tokens/s/device|tokens/s/chip}: {throughput}",
            unit="tokens/s",
            scope="device",
            span="step",
            per_update=True,
            ranks="median",
        ),
    ),
    facts=(
        Fact("model", _PARAM % rb"model_name" + rb"(?!default$)([\w.-]++)$"),
        Fact("total_steps", _PARAM % rb"steps" + rb"([0-9]++)$", int),
        Fact("batch_size", _PARAM % rb"per_device_batch_size" + rb"([0-9]++)(?:\.0)?$", int),
        Fact("batch_size_of_job", _PARAM % rb"global_batch_size_to_train_on" + rb"([0-9]++)$", int),
        Fact("accumulation", _PARAM % rb"gradient_accumulation_steps" + rb"([0-9]++)$", int),
        Fact("sequence_length", _PARAM % rb"max_target_length" + rb"([0-9]++)$", int),
        Fact("devices", "Num_devices: {:int}, shape "),
        Fact(
            "precision",
            _PARAM % rb"dtype" + rb"(bfloat16|float32)$(?=" + up_to(rb"\bConfig param quantization:", _PARAM % rb"dtype", rb"[\s\S]") + rb"$)",
            words={b"bfloat16": "bf16", b"float32": "fp32"},
        ),
    ),
)  # fmt: skip
