"""3D Gaussian Splatting (`train.py`) and its many copies: tqdm's bar `Training progress:` with the loss after the speed.

An iteration renders one view, and the bar counts iterations ten at a time; copies that render several count the views.
It shows the seconds since the start. The speed that it prints is smoothed, so that the figure is of these seconds.
Iterations grow slower as the scene is densified. Evaluations and checkpoints have lines of their own. The bar of gsplat
(`simple_trainer.py`) begins with the loss, and counts each step.
"""

from perfledger.parsers.contract import Fact, Format, Pause, Reading, states

FORMAT = Format(
    title="3D Gaussian Splatting",
    framework="PyTorch",
    unproven=True,
    start=rb"\bOptimizing \S++(?: \[[0-9/ :]++\])?+\s++Output folder: ",
    end="^Training complete.",
    readings=(
        Reading(
            "Training progress:  {_}%{?|{*}|} {step}/{total_steps} [{elapsed}<{_}, {*}Loss=",
            unit="images/s",
            pauses=(Pause("evaluation", "[ITER {_}] Evaluating "), Pause("checkpoint", "[ITER {_}] Saving ")),
            verbs=(states("step"),),
        ),
        Reading(
            "| sh degree={_}|{*}:  {_}%|{*}| {step}/{total_steps} [{elapsed}<",
            unit="images/s",
            pauses=(
                Pause("evaluation", "Running {evaluation|trajectory rendering}..."),
                Pause("checkpoint", "Step:  {_} {{'mem'"),
            ),
            verbs=(states("step"),),
        ),
    ),
    facts=(Fact("batch_size_of_job", rb"(Training progress): ", lambda _: 1),),
)  # fmt: skip
