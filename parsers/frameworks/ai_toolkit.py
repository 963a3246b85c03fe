"""AI Toolkit (`run.py`): tqdm's bar with the name of the job, and the learning rate and the losses after the speed.

The bar counts steps of the whole job, and shows the seconds since the start. Its speed is smoothed, so that the figure
is of these seconds. It stops while samples are drawn, or goes on, depending on the release: rows that include samples
or a checkpoint are not training. The last step may include the last checkpoint and is left out. A resumed run
begins its bar at the step it goes on from. Neither batch size nor devices are printed.
"""

from perfledger.parsers.contract import Format, Pause, Reading, first_drawn

FORMAT = Format(
    title="AI Toolkit",
    framework="PyTorch",
    unproven=True,
    start=rb"\bRunning [0-9]++ jobs?+(?=[\r\n])",
    readings=(
        Reading(
            "| {step}/{total_steps} [{elapsed}<{_},  {_}, lr: {_}{*} loss: {loss}",
            unit="samples/s",
            per_update=True,
            pauses=(
                Pause("evaluation", "Generating Images: "),
                Pause("checkpoint", "Saving at step "),
            ),
            verbs=(first_drawn,),
        ),
    ),
)
