"""Trains adapters (LoRA) of SDXL's denoising network on generated latents and texts, as diffusers' example does.

The network is diffusers' own, from its configuration, with random weights: nothing is fetched. Images and texts would
be encoded once beforehand, so latents and embeddings are generated instead. Noise of a random step is added to the
latents, and the network is to find it. The adapters are those of the example: the four projections of each attention.
Source: diffusers, examples/text_to_image/train_text_to_image_lora_sdxl.py; the sizes are those of the published
configuration.
"""

from __future__ import annotations

import argparse
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any

import torch

from runners.workloads import dllogger, pytorch_arguments
from runners.workloads.options import positive
from runners.workloads.pytorch_processes import leave
from runners.workloads.pytorch_training import REDUCED, TrainingSettings, Workload, placed, train
from runners.workloads.ranks import Process

#: Pixels of an image for each of its latents.
PIXELS = 8
TEXT_LENGTH, POOLED = 77, 1280


@dataclass(frozen=True)
class NetworkSize:
    """The arguments of diffusers' network, by its names; those without a default differ between sizes."""

    block_out_channels: tuple[int, ...]
    down_block_types: tuple[str, ...]
    up_block_types: tuple[str, ...]
    transformer_layers_per_block: tuple[int, ...]
    attention_head_dim: tuple[int, ...]
    cross_attention_dim: int
    sample_size: int = 128
    layers_per_block: int = 2
    use_linear_projection: bool = True
    addition_embed_type: str = "text_time"
    addition_time_embed_dim: int = 256
    projection_class_embeddings_input_dim: int = POOLED + 6 * 256


#: Of `unet/config.json` of Stable Diffusion XL 1.0; `tiny` is ours, for a CPU.
NETWORKS = {
    "sdxl": NetworkSize(
        block_out_channels=(320, 640, 1280),
        down_block_types=("DownBlock2D", "CrossAttnDownBlock2D", "CrossAttnDownBlock2D"),
        up_block_types=("CrossAttnUpBlock2D", "CrossAttnUpBlock2D", "UpBlock2D"),
        transformer_layers_per_block=(1, 2, 10),
        attention_head_dim=(5, 10, 20),
        cross_attention_dim=2048,
    ),
    "sdxl-tiny": NetworkSize(
        block_out_channels=(32, 64),
        down_block_types=("DownBlock2D", "CrossAttnDownBlock2D"),
        up_block_types=("CrossAttnUpBlock2D", "UpBlock2D"),
        transformer_layers_per_block=(1, 2),
        attention_head_dim=(2, 4),
        cross_attention_dim=64,
    ),
}
LEARNING_RATE = 1e-4
ADAPTED = ["to_k", "to_q", "to_v", "to_out.0"]
BATCHES_HELD = 4


def network(arguments: argparse.Namespace, device: Any) -> Any:
    """Return the network with its own weights frozen, in the precision of the arithmetic, and trained adapters."""
    from diffusers import UNet2DConditionModel
    from peft import LoraConfig

    # A processor takes a minute to draw the weights of SDXL.
    with device:
        model = UNet2DConditionModel(**asdict(NETWORKS[arguments.model]))
    model.requires_grad_(False)
    model.to(dtype=REDUCED.get(arguments.precision, torch.float32))
    rank = arguments.rank
    model.add_adapter(LoraConfig(r=rank, lora_alpha=rank, init_lora_weights="gaussian", target_modules=ADAPTED))
    for each in model.parameters():
        if each.requires_grad:
            each.data = each.data.float()
    return model


def hold_batches(arguments: argparse.Namespace) -> list[tuple[Any, ...]]:
    """Generate latents (n, 4, h, w), embeddings of texts (n, 77, width), pooled ones (n, 1280) and sizes (n, 6)."""
    count, side = arguments.batch_size, arguments.image_size // PIXELS
    kind = REDUCED.get(arguments.precision, torch.float32)
    sizes = torch.tensor([[arguments.image_size, arguments.image_size, 0, 0] + [arguments.image_size] * 2] * count)
    width = NETWORKS[arguments.model].cross_attention_dim
    return [
        (
            torch.randn(count, 4, side, side, dtype=kind),
            torch.randn(count, TEXT_LENGTH, width, dtype=kind),
            torch.randn(count, POOLED, dtype=kind),
            sizes,
        )
        for _ in range(BATCHES_HELD)
    ]


def loss(model: Any, batch: tuple[Any, ...], scheduler: Any) -> Any:
    """Return the mean square error of the noise that the network predicts."""
    latents, texts, pooled, sizes = batch
    noise = torch.randn_like(latents)
    steps = torch.randint(scheduler.config.num_train_timesteps, latents.shape[:1], device=latents.device)
    noisy = scheduler.add_noise(latents, noise, steps)
    found = model(noisy, steps, texts, added_cond_kwargs={"text_embeds": pooled, "time_ids": sizes}).sample
    return torch.nn.functional.mse_loss(found.float(), noise.float())


def workload(arguments: argparse.Namespace, process: Process, device: Any) -> Workload:
    """Build the workload: the same network in all processes of the job, with other latents in each."""
    from diffusers import DDPMScheduler

    torch.manual_seed(arguments.seed)
    model = network(arguments, device).to(device).train()
    if arguments.recompute:
        model.enable_gradient_checkpointing()
    adapters = [each for each in model.parameters() if each.requires_grad]
    optimizer = torch.optim.AdamW(adapters, LEARNING_RATE, fused=True)
    torch.manual_seed(arguments.seed + process.rank)
    scheduler = DDPMScheduler(beta_start=0.00085, beta_end=0.012, beta_schedule="scaled_linear")
    resident = arguments.input == "resident"
    batches = placed(hold_batches(arguments), device, resident)
    return Workload(model, partial(loss, scheduler=scheduler), optimizer, batches, resident)


def parameters(arguments: argparse.Namespace, process: Process, model: Any) -> dict[str, dllogger.Printed]:
    """Return the values of the PARAMETER line."""
    return {
        "arch": arguments.model,
        "data_backend": "synthetic",
        "image_size": arguments.image_size,
        "batch_size_per_device": arguments.batch_size,
        "world_size": process.world_size,
        "lora_rank": arguments.rank,
        "trained_parameters": sum(each.numel() for each in model.parameters() if each.requires_grad),
        "optimizer": "adamw",
        "lr": LEARNING_RATE,
        "precision": arguments.precision,
        "compile": arguments.compile,
        "recompute": arguments.recompute,
        "input": arguments.input,
        "seed": arguments.seed,
        "device": arguments.device,
        "threads": torch.get_num_threads(),
    }


def main() -> None:
    """Train in as many processes as were started; rank 0 prints a line per iteration."""
    arguments, process, device = pytorch_arguments.begin(parser())
    log, images = dllogger.JsonLog(process.rank == 0), arguments.batch_size * process.world_size
    made = workload(arguments, process, device)
    log.say(dllogger.PARAMETERS, parameters(arguments, process, made.model))
    settings = TrainingSettings(arguments.iterations, arguments.precision, arguments.compile)
    for number, step in enumerate(train(made, settings, process, device), 1):
        log.say((0, number), {"train.loss": round(step.loss, 5), "train.total_ips": round(images / step.seconds, 5)})
    leave(process)


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    made = pytorch_arguments.parser("Train adapters of SDXL on generated latents.", 1, "images")
    made.add_argument("--model", choices=tuple(NETWORKS), default="sdxl-tiny")
    made.add_argument("--image-size", type=positive, default=256, help="height and width in pixels, a multiple of 32")
    made.add_argument("--rank", type=positive, default=16, help="of the adapters")
    switch = pytorch_arguments.switch
    made.add_argument("--recompute", type=switch, default=False, metavar="true|false", help="activations once more")
    return made


if __name__ == "__main__":
    main()
