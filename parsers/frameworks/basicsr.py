"""BasicSR (`basicsr/train.py`), Real-ESRGAN, NAFNet and others made of it: a record per `print_freq` iterations, by the clock.

`time` is a mean that restarts every 201 iterations and leaves out what is between them, so that lines overlap; the time
between the lines' clocks gives the speed. Validations and checkpoints have lines of their own. An image is a patch, of
which `batch_size_per_gpu` counts those of a device.
"""

from perfledger.parsers.contract import Fact, Format, Pause, Reading, grouped

FORMAT = Format(
    title="BasicSR",
    framework="PyTorch",
    unproven=True,
    start=" INFO: Training statistics:",
    before_start=rb"^(?:Version Information: |\t?+BasicSR: )",
    end=" INFO: End of training.",
    readings=(
        Reading(
            "{clock} INFO: [{_}][epoch:{epoch}, iter:{step:,}, lr:({*})] [eta: {*}, time (data): {_} ({_})] ",
            unit="images/s",
            pauses=(
                Pause("evaluation", " INFO: Validation "),
                Pause("checkpoint", " INFO: Saving models and training states."),
            ),
        ),
    ),
    facts=(
        Fact("batch_size", rb"^[ \t]*+Batch size per gpu: (\d++)$", int),
        Fact("devices", rb"^[ \t]*+World size \(gpu number\): (?!1$)(\d++)$", int),
        Fact("devices", rb"^ *+num_gpu: (\d++)$", int),
        Fact("devices", rb"^[ \t]*+World size \(gpu number\): (\d++)$", int),
        Fact("total_steps", rb"^[ \t]*+Total epochs: \d++; iters: (\d++)\.$", grouped),
        Fact("framework_version", rb"^[ \t]*+PyTorch: (\S++)$"),
        Fact("model", rb"^ *+network_g:\[\s++type: (\w++)$"),
    ),
)
