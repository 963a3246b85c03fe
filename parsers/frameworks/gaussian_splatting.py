"""3D Gaussian Splatting (`train.py`) and its many copies: tqdm's bar `Training progress:` with the loss behind the speed.

An iteration renders one view, and the bar counts iterations ten at a time; copies that render several count the views.
It tells the seconds since the start. The speed that it prints is smoothed, so that the figure is of these seconds.
Iterations grow slower as the scene is densified. Evaluations and checkpoints have lines of their own; the last step may
hold the last of them and is left out. The bar of gsplat (`simple_trainer.py`) begins with the loss, and counts each
step.
"""

from perfledger.parsers.contract import Fact, Format, Pause, Reading
from perfledger.parsers.frameworks.diffusers import bar, first_drawn

FORMAT = Format(
    title="3D Gaussian Splatting",
    framework="PyTorch",
    marker=b"%|",
    unproven=True,
    start=rb"\bOptimizing \S++(?: \[[0-9/ :]++\])?+[\r\n]++Output folder: ",
    end=rb"^Training complete\.",
    readings=(
        Reading(
            bar(rb"Training progress", rb"Loss="),
            unit="images/s",
            marker=b"Training progress: ",
            pauses=(
                Pause("evaluation", rb"\[ITER [0-9]++\] Evaluating "),
                Pause("checkpoint", rb"\[ITER [0-9]++\] Saving "),
            ),
            verbs=(first_drawn,),
        ),
        Reading(
            rb"\bloss=[0-9.einaf+-]++\| sh degree=[0-9]\| (?:[a-z ]{1,20}+=[^|\r\n]{1,40}+\| ){0,4}+: ++[0-9]++%\|[^|\r\n]{0,400}+\| "
            rb"(?P<step>[1-9][0-9]*+)/(?!(?P=step) )<total_steps> \[(?P<elapsed>[0-9:]++)<[^\]\r\n]{1,100}+\]",
            unit="images/s",
            marker=b"| sh degree=",
            pauses=(
                Pause("evaluation", rb"Running (?:evaluation|trajectory rendering)\.\.\."),
                Pause("checkpoint", rb"Step:  [0-9]++ \{'mem'"),
            ),
            verbs=(first_drawn,),
        ),
    ),
    facts=(Fact("batch_size_of_job", rb"(Training progress): ", lambda _: 1),),
)  # fmt: skip
