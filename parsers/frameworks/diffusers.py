"""Scripts over Accelerate that draw a bar `Steps:` with the learning rate after its speed, such as those of diffusers.

The bar counts optimiser updates of the whole job, and shows the seconds since the start. The speed that it prints is
smoothed over the last few redraws, so that the figure is of these seconds. Each micro-batch draws the bar again; a step
counts once, when its update first shows. The last step may include the last checkpoint and is left out. A resumed run
begins its bar at the step it goes on from. The head does not say if a sample is an image or a video. The `no_trainer`
examples of transformers print the same head, and draw a bar without a name: the Trainer's format reads it.
"""

from perfledger.parsers.contract import Format, Pause, Reading
from perfledger.parsers.contract import first_drawn as first_drawn
from perfledger.parsers.frameworks import ACCELERATE, HUGGING_FACE, HUGGING_FACE_START, PYTORCH_JOB


def bar(name: bytes, postfix: bytes) -> bytes:
    """Return the pattern of a bar with a name, at a step other than the last, and with a text after its speed.

    If no terminal has a width, as in Colab, no glyphs are drawn between the share and the steps.
    """
    return (
        rb"\b%s: ++[0-9]++%%(?:\|[^|\r\n]{0,400}+\|)?+ (?P<step>[1-9][0-9]*+)/(?!(?P=step) )<total_steps> "
        rb"\[(?P<elapsed>[0-9:]++)<[0-9:?]++(?:, ++[0-9.]++(?:s/it|it/s))?+, %s"
    ) % (name, postfix)


FORMAT = Format(
    title="Accelerate scripts (diffusers)",
    framework="PyTorch",
    start=HUGGING_FACE_START,
    before_start="Distributed environment: ",
    over=("frameworks.hf_trainer",),
    readings=(
        Reading(
            # finetrainers says what steps.
            "{Steps|Training steps}:  {_}%{?|{*}|} {step}/{total_steps} [{elapsed}<{_},{*} lr=",
            unit="samples/s",
            per_update=True,
            pauses=(
                Pause("evaluation", "Running validation..."),
                Pause("checkpoint", "Saved state to "),
            ),
            verbs=(first_drawn,),
        ),
    ),
    facts=(
        *HUGGING_FACE,
        *PYTORCH_JOB,
        *ACCELERATE,
    ),
)  # fmt: skip
