"""LeRobot (`lerobot-train`): a line per `log_freq` steps, with the seconds of an update and of the wait for data.

Both are means over the steps since the line before, and follow each other. Numbers of a thousand or more are cut to
thousands (`step:2K`), so that the number of the step is not read. Evaluations and checkpoints come between the steps.
The batch size is that of a process; releases that name no processes train with one.
"""

from perfledger.parsers.contract import Fact, Format, Pause, Reading, total

FORMAT = Format(
    title="LeRobot",
    framework="PyTorch",
    unproven=True,
    start=".py:{_} {{'batch_size': {_},\n",
    end=" End of training",
    readings=(
        Reading(
            "step:{_step:short} smpl:{_} ep:{_} epch:{_} {?loss:{loss} }{*}updt_s:{_updating} data_s:{reader_seconds}",
            unit="samples/s",
            verbs=(total("step_seconds", "_updating", "reader_seconds"),),
            pauses=(
                Pause("checkpoint", " Checkpoint policy after step ", inside="none"),
                Pause("evaluation", " Eval policy at step ", inside="none"),
            ),
        ),
    ),
    facts=(
        Fact("batch_size", rb"\.py:\d++ ++\{'batch_size': (\d++),$", int),
        Fact("devices", " Effective batch size: {_} x {:int} = "),
        Fact("devices", rb" (dataset\.num_episodes=)\d++$\n[^\n]{0,200}? num_learnable_params=", lambda _: 1),
        Fact("total_steps", " cfg.steps={:int} ("),
    ),
)  # fmt: skip
