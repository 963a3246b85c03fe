"""AI Toolkit (`run.py`): tqdm's bar with the name of the job, and the learning rate and the losses behind the speed.

The bar counts steps of the whole job, and tells the seconds since the start. Its speed is smoothed, so that the figure
is of these seconds. It stands still while samples are drawn, or goes on, as the release has it: rows that hold samples
or a checkpoint are no training either way. The last step may hold the last checkpoint and is left out. A resumed run
begins its bar at the step it goes on from. Neither batch size nor devices are printed.
"""

from perfledger.parsers.contract import Format, NearMiss, Pause, Reading, Sample
from perfledger.parsers.frameworks.diffusers import bar, first_drawn

FORMAT = Format(
    title="AI Toolkit",
    framework="PyTorch",
    marker=b", lr: ",
    unproven=True,
    start=rb"\bRunning [0-9]++ jobs?+(?=[\r\n])",
    readings=(
        Reading(
            bar(rb"[\w.-]++", rb"lr: [0-9.e+-]++ (?:(?!loss: )\w++: [0-9.e+-]++ )*+loss: <loss>(?=[\]\s])"),
            unit="samples/s",
            counts="update",
            pauses=(
                Pause("evaluation", rb"Generating Images: ", b"Generating Images:   0%|          | 0/10 [00:00<?, ?it/s]"),
                Pause("checkpoint", rb"Saving at step ", b"Saving at step 250"),
            ),
            postprocess=first_drawn,
        ),
    ),
    samples=(
        Sample(
            "my_lora:   2%|▏         | 12/600 [00:58<47:05,  4.80s/it, lr: 1.0e-04 loss: 3.125e-01]\r".encode(),
            step=12, total_steps=600, clock=58, loss=0.3125,
        ),
        NearMiss(b"Generating Images:  20%|##        | 2/10 [00:12<00:48,  6.10s/it]\r", "samples are drawn"),
        NearMiss(b"my_lora: 100%|##########| 600/600 [47:05<00:00,  4.80s/it, lr: 1.0e-04 loss: 3.1e-01]\n", "may hold the last checkpoint"),
        NearMiss(b"my_lora:   2%|#         | 12/600 [00:58<47:05,  4.80s/it]\r", "a bar of any program"),
    ),
)  # fmt: skip
