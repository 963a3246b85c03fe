"""MaxText (`completed step: 9, seconds: 5.667, TFLOP/s/device: ..., Tokens/s/device: ...`): a record per step.

Tokens per second are those of one device. Step 0 compiles, and step 1 may return before it is computed, with an
impossible speed; both lie in the warm-up. A line is printed one step later than it is measured, so that neighbours may
look long and short. Lines of the ramp-up of the batch size print no speed. Releases of 2023 print no tokens. Every host
prints each step.
"""

from parsers.contract import Fact, Format, NearMiss, Reading, Sample

_HEAD = rb"(?:(?<=[\s\]])|\A)completed step: <step>, seconds: "
_PARAM = rb"\bConfig param %s: "

FORMAT = Format(
    title="MaxText",
    framework="JAX",
    marker=b"completed step: ",
    unproven=True,
    readings=(
        Reading(
            _HEAD + rb"<duration>, TFLOP/s/device: <flops>, Tokens/s/device: <throughput>, (?:(?!completed step: |\bloss: )[^\r\n])*+\bloss: <loss>(?=[,\s])",
            unit="tokens/s",
            scope="device",
            span="step",
            repeated=True,
        ),
        Reading(
            _HEAD + rb"<step_seconds>, TFLOP/s(?:/device)?+: <flops>, loss: <loss>(?=[,\s])",
            unit="tokens/s",
            span="step",
            repeated=True,
        ),
    ),
    facts=(
        Fact("model", _PARAM % rb"model_name" + rb"(?!default$)([\w.-]++)$"),
        Fact("total_steps", _PARAM % rb"steps" + rb"([0-9]++)$", int),
        Fact("batch_size", _PARAM % rb"per_device_batch_size" + rb"([0-9]++)(?:\.0)?$", int),
        Fact("accumulation", _PARAM % rb"gradient_accumulation_steps" + rb"([0-9]++)$", int),
        Fact("sequence_length", _PARAM % rb"max_target_length" + rb"([0-9]++)$", int),
        Fact("devices", rb"\bNum_devices: ([0-9]++), shape ", int),
        Fact(
            "precision",
            _PARAM % rb"dtype" + rb"(bfloat16|float32)$(?=(?:(?!Config param quantization: )[\s\S]){0,40000}+Config param quantization: *+$)",
            words={b"bfloat16": "bf16", b"float32": "fp32"},
        ),
    ),
    samples=(
        Sample(
            b"completed step: 9, seconds: 5.500, TFLOP/s/device: 134.924, Tokens/s/device: 8936.727, total_weights: 196608, loss: 10.375\n",
            step=9, duration=5.5, flops=134.924, throughput=8936.727, loss=10.375,
        ),
        Sample(
            b"completed step: 9, seconds: 5.500, TFLOP/s/device: 134.924, Tokens/s/device: 8936.727, total_weights: 196608, loss: 10.375, "
            b"lm_loss: 10.250, perplexity: 28282.5\n",
            step=9, throughput=8936.727, loss=10.375,
        ),
        Sample(b"completed step: 1507, seconds: 2.125, TFLOP/s: 36.722, loss: 2.191\n", step=1507, step_seconds=2.125, flops=36.722, loss=2.191),
        NearMiss(b"[Rampup Batch Size Phase], completed step: 9, seconds: 5.500, loss: 10.375\n", "no speed"),
        NearMiss(b"completed profiler activation step: 9\n", "no step"),
        NearMiss(b"Completed eval step: 9, seconds: 2.500, loss: 10.375\n", "an evaluation"),
        NearMiss(b"completed step: 9, seconds: 5.500, TFLOP/s/device: 134.924, Tokens/s/device: 8936.7", "cut inside the number"),
    ),
)  # fmt: skip
