"""nerfstudio (`ns-train`): a row of a table per ten iterations, with their seconds as `Train Iter (time)`.

It is a mean over the last twenty iterations, with the wait for data and without evaluations and checkpoints. The rays
per second next to it, cut to four digits, are a mean of speeds, which is higher, and are not read. A terminal draws the
last rows again. A sample is a ray; a batch of rays, which splats have not, is that of a device.
"""

from __future__ import annotations

from perfledger.parsers.contract import Fact, Format, Reading

FORMAT = Format(
    title="nerfstudio",
    framework="PyTorch",
    unproven=True,
    needs=b" ETA (time) ",
    start="TrainerConfig(",
    readings=(
        Reading(
            "^{step} ({_}%)  {step_seconds:length}  ",
            unit="samples/s",
            ranks="median",
        ),
    ),
    facts=(
        Fact("batch_size", "^{? }train_num_rays_per_batch={:int},$"),
        Fact("devices_per_node", "^{? }num_devices={:int},$"),
        Fact("nodes", "^{? }num_machines={:int},$"),
        Fact("total_steps", "^{? }max_num_iterations={:int},$"),
        Fact("model", "^{? }method_name='{}',$"),
    ),
)  # fmt: skip
