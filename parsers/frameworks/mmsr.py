"""MMSR (BasicSR before 2020: ESRGAN, EDVR ...), KAIR (SwinIR, DnCNN ...) and many made of them: a line per so many iterations.

No speed is printed, and the stamps of the lines tell it. Validations and checkpoints have lines of their own, and lie
in the record after them. An image is a patch, of which the batch size counts those of all devices.
"""

from perfledger.parsers.contract import Fact, Format, NearMiss, Pause, Reading, Sample, grouped, listed

FORMAT = Format(
    title="MMSR and KAIR",
    framework="PyTorch",
    marker=b"<epoch:",
    unproven=True,
    start=rb"\b[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{3} (?:- INFO)?+: ++(?:task|name): ",
    end=rb"(?: INFO: |:)(?: ++)?+(?:End of training|Saving the final model)\.",
    readings=(
        Reading(
            rb"(?P<clock>\d\d:\d\d:\d\d\.\d{3}) (?:- INFO)?+: <epoch: *+<epoch>, iter: *+(?P<step>[0-9]++(?:,[0-9]{3})*+), lr:[^>\r\n]++> ++(?=[\w-]++: ?+[-+.0-9])",
            unit="images/s",
            pauses=(
                Pause("evaluation", rb"# Validation # ", b"26-11-20 10:00:00.250 - INFO: # Validation # PSNR: 2.8125e+01"),
                Pause("evaluation", rb"Average PSNR : ", b"26-11-20 10:00:00.250 : <epoch:  3, iter:   5,000, Average PSNR : 30.12dB"),
                Pause("checkpoint", rb"Saving (?:models and training states|the model)\.", b"26-11-20 10:00:00.250 : Saving the model."),
            ),
        ),
    ),
    facts=(
        Fact("batch_size_of_job", rb"^ *+(?:dataloader_)?+batch_size: (\d++)$", int),
        Fact("devices", rb"^ *+gpu_ids: \[([0-9]++(?:, ?[0-9]++)*+)\]$", listed),
        Fact("total_steps", rb"\bTotal epochs needed: \d++ for iters ([0-9,]++)$", grouped),
        Fact("model", rb"^ *+net_type: (\w++)$"),
        Fact("model", rb"^ *+which_model_G: (\w++)$"),
    ),
    samples=(
        Sample(
            b"26-11-20 10:00:00.250 - INFO: <epoch:  3, iter:   1,200, lr:1.000e-04> l_g_pix: 4.5000e-03 l_g_fea: 2.6250e+00\n",
            epoch=3, step=1200,
        ),
        Sample(b"26-11-20 10:00:00.250 : <epoch:  3, iter:     200, lr:2.000e-04> G_loss: 3.400e-02 \n", epoch=3, step=200),
        NearMiss(b"26-11-20 10:00:00.250 : <epoch:  3, iter:   5,000, Average PSNR : 30.12dB\n", "a validation"),
        NearMiss(b"26-11-20 10:00:00.250 - INFO: <epoch:  3, iter:   1,200, lr:1.000e-04> psn", "cut"),
    ),
)  # fmt: skip
