"""LLaMA-Factory's `trainer_log.jsonl`: a row per logging interval, with steps and the time since the start.

`elapsed_time` is cut to whole seconds, and its differences are the time of the intervals. Where seen tokens are counted
(`total_tokens`), they are those of the whole job, padding included; `throughput` is their mean since the start, with
evaluations and saving in it, and is not used. `"throughput": "0.00"` with `"total_tokens": 0` says that nothing counts
them. A row of an evaluation stands behind the row of its step, and the row after it holds the evaluation. The last row
repeats the last step without a learning rate. Neither batch size nor devices are printed; steps are optimiser updates.
"""

from parsers.contract import Format, NearMiss, Pause, Reading, Sample

_GAP = rb'(?:(?!"(?:lr|learning_rate|elapsed_time|total_tokens)": )[^\r\n{}])*+'
_ROW = (
    rb'\{"current_steps": <step>, "total_steps": <total_steps>, (?:"loss": <loss>, )?+' + _GAP
    + rb'"(?:lr|learning_rate)": [-+.0-9e]++, ' + _GAP + rb'"elapsed_time": "(?P<elapsed>[^"\r\n]++)"'
)  # fmt: skip
_TOKENS = rb'"total_tokens": '
_PAUSES = (
    Pause(
        "evaluation",
        rb'"eval_loss": [0-9]',
        b'{"current_steps": 500, "total_steps": 6000, "eval_loss": 1.5, "epoch": 0.25, "elapsed_time": "0:29:27"}',
    ),
)

FORMAT = Format(
    title="LLaMA-Factory",
    framework="PyTorch",
    marker=b'{"current_steps": ',
    readings=(
        Reading(
            _ROW + rb"(?:" + _GAP + _TOKENS + rb"0)?+(?!" + _GAP + _TOKENS + rb")[^\r\n{}]*+\}",
            unit="samples/s",
            counts="update",
            pauses=_PAUSES,
        ),
        Reading(
            _ROW + _GAP + _TOKENS + rb"(?P<consumed>[1-9][0-9]*+)[^\r\n{}]*+\}",
            unit="tokens/s",
            counts="update",
            pauses=_PAUSES,
        ),
    ),
    samples=(
        Sample(
            b'{"current_steps": 10, "total_steps": 400, "loss": 2.125, "lr": 5e-05, "epoch": 0.25, "percentage": 2.5, '
            b'"elapsed_time": "0:01:10", "remaining_time": "0:45:30"}\n',
            step=10, total_steps=400, loss=2.125, clock=70,
        ),
        Sample(
            b'{"current_steps": 20, "total_steps": 400, "loss": 2.0, "eval_loss": null, "reward": null, "learning_rate": 5e-05, '
            b'"epoch": 0.5, "percentage": 5.0, "elapsed_time": "1 day, 0:01:10", "remaining_time": "0:45:30", "throughput": "0.00", "total_tokens": 0}\n',
            step=20, loss=2, clock=86470,
        ),
        Sample(
            b'{"current_steps": 10, "total_steps": 400, "lr": 5e-05, "epoch": 0.25, "percentage": 2.5, '
            b'"elapsed_time": "0:01:10", "remaining_time": "0:45:30", "throughput": 4681.14, "total_tokens": 327680}\n',
            step=10, clock=70, consumed=327680,
        ),
        NearMiss(
            b'{"current_steps": 400, "total_steps": 400, "epoch": 10.0, "percentage": 100.0, "elapsed_time": "0:21:13", "remaining_time": "0:00:00"}\n',
            "the end, of a step that has its row",
        ),
        NearMiss(
            b'{"current_steps": 10, "total_steps": 400, "loss": 2.125, "lr": 5e-05, "epoch": 0.25, "percentage": 2.5, "elapsed_time": "0:01:1',
            "cut inside the time",
        ),
    ),
)  # fmt: skip
