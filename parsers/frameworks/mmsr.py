"""MMSR (BasicSR before 2020: ESRGAN, EDVR ...), KAIR (SwinIR, DnCNN ...) and many derived programs: a line per interval.

The speed is not printed; it follows from the stamps of the lines. Validations and checkpoints have lines of their own,
and are part of the record after them. An image is a patch; the batch size counts the patches of all devices.
"""

from perfledger.parsers.contract import Fact, Format, Pause, Reading, grouped, listed

FORMAT = Format(
    title="MMSR and KAIR",
    framework="PyTorch",
    unproven=True,
    start=rb"\b[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{3} (?:- INFO)?+: ++(?:task|name): ",
    end=rb"(?: INFO: |:)(?: ++)?+(?:End of training|Saving the final model)\.",
    readings=(
        Reading(
            "{clock} {?- INFO}: <epoch: {epoch}, iter: {step:,}, lr:{*}> ",
            unit="images/s",
            pauses=(
                Pause("evaluation", "# Validation # "),
                Pause("evaluation", "Average PSNR : "),
                Pause("checkpoint", "Saving {models and training states|the model}."),
            ),
        ),
    ),
    facts=(
        Fact("batch_size_of_job", rb"^ *+(?:dataloader_)?+batch_size: (\d++)$", int),
        Fact("devices", rb"^ *+gpu_ids: \[([0-9]++(?:, ?[0-9]++)*+)\]$", listed),
        Fact("total_steps", rb"\bTotal epochs needed: \d++ for iters ([0-9,]++)$", grouped),
        Fact("model", "net_type: {}$"),
        Fact("model", "which_model_G: {}$"),
    ),
)  # fmt: skip
