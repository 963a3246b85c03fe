"""The training loop that the PyTorch workloads share: one update per iteration, and a clock around all of it.

Every figure printed is measured. An iteration's clock starts before its batches are fetched and stops when the loss is
known on the host and the device has nothing left to do, so that work queued on a GPU is counted. Printing is not. Of
several processes rank 0's clock counts: none can end an update before the gradients of all are summed.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from dataclasses import dataclass, replace
from itertools import cycle
from typing import Any

import torch

from runners.workloads.pytorch_processes import start_together
from runners.workloads.ranks import Process

PRECISIONS = ("fp32", "tf32", "bf16", "amp")
REDUCED = {"bf16": torch.bfloat16, "amp": torch.float16}
#: What NVIDIA's trainers print for these two. The others have no such word, and stating `amp` for them would mislead.
AMP = {"amp": {"amp": True}, "fp32": {"amp": False}}


@dataclass(frozen=True)
class TrainingStep:
    """The times of one iteration in seconds, the mean loss of this process's samples, and the scale of the loss."""

    loss: float
    data_seconds: float
    compute_seconds: float
    loss_scale: float

    @property
    def seconds(self) -> float:
        """The whole iteration."""
        return self.data_seconds + self.compute_seconds


@dataclass(frozen=True)
class Workload:
    """A network on its device, its loss on a batch, its optimiser, and batches that are taken in turn.

    They wait in host memory and are copied to the device within the measured time, or are `resident` there, as those
    of NVIDIA's synthetic loader are.
    """

    model: Any
    loss: Callable[[Any, Any], Any]
    optimizer: Any
    batches: list[tuple[Any, ...]]
    resident: bool = False


@dataclass(frozen=True)
class TrainingSettings:
    """How it is trained; `accumulation` batches make one update, and an iteration is one update."""

    iterations: int
    precision: str
    compile: bool
    accumulation: int = 1


def refusal(device: str, precision: str, process: Process) -> str:
    """Return why a process cannot train with these settings here, empty if it can."""
    if device == "cuda" and not torch.cuda.is_available():
        return "PyTorch finds no CUDA device here; train with --device cpu, or install a PyTorch built for this GPU"
    if device == "cuda" and process.local_rank >= torch.cuda.device_count():
        return f"rank {process.local_rank} of this host has no GPU; start {torch.cuda.device_count()} processes here"
    if device == "cpu" and precision == "tf32":
        return "tf32 is arithmetic of NVIDIA GPUs and no CPU has it; use fp32 or bf16, or --device cuda"
    if device == "cpu" and precision == "amp" and not torch.ops.mkldnn._is_mkldnn_fp16_supported():
        return "this CPU has no FP16 arithmetic, and PyTorch would emulate it many times slower than fp32; use bf16"
    return ""


def prepare(process: Process, device: str, precision: str) -> Any:
    """Return the process's device; allow TensorFloat-32 for tf32 only, since cuDNN uses it by default."""
    torch.backends.cuda.matmul.allow_tf32 = precision == "tf32"
    torch.backends.cudnn.allow_tf32 = precision == "tf32"
    if device == "cpu":
        return torch.device("cpu")
    torch.backends.cudnn.benchmark = True
    torch.cuda.set_device(process.local_rank)
    return torch.device("cuda", process.local_rank)


def train(workload: Workload, settings: TrainingSettings, process: Process, device: Any) -> Iterator[TrainingStep]:
    """Run fetch, forward, loss, backward and update once per iteration; compilation happens in the first ones."""
    workload = replace(workload, model=ready(workload.model, settings, process, device))
    scaler = torch.amp.GradScaler(device.type, enabled=settings.precision == "amp")
    waiting = cycle(workload.batches)
    start_together(process)
    for _ in range(settings.iterations):
        started = time.perf_counter()
        taken = [next(waiting) for _ in range(settings.accumulation)]
        batches = taken if workload.resident else [fetch(each, device) for each in taken]
        fetched = time.perf_counter()
        loss = update(workload, settings.precision, scaler, batches).item()
        synchronize(device)
        yield TrainingStep(loss, fetched - started, time.perf_counter() - fetched, scaler.get_scale())


def ready(model: Any, settings: TrainingSettings, process: Process, device: Any) -> Any:
    """Return the callable network: gradients summed over the processes of the job, compiled if requested."""
    if process.world_size > 1:
        devices = [device.index] if device.type == "cuda" else None
        model = torch.nn.parallel.DistributedDataParallel(model, device_ids=devices)
    return torch.compile(model) if settings.compile else model


def update(workload: Workload, precision: str, scaler: Any, batches: list[tuple[Any, ...]]) -> Any:
    """Update the parameters once by the mean gradient of some batches; return their mean loss, still on the device."""
    losses = []
    for number, batch in enumerate(batches, 1):
        # Gradients are summed over the processes once per update, with its last batch.
        alone = getattr(workload.model, "no_sync", nullcontext) if number < len(batches) else nullcontext
        with alone():
            with autocast(precision, batch[0].device):
                loss = workload.loss(workload.model, batch) / len(batches)
            scaler.scale(loss).backward()
        losses.append(loss.detach())
    scaler.step(workload.optimizer)
    scaler.update()
    workload.optimizer.zero_grad()
    return sum(losses)


def fetch(batch: tuple[Any, ...], device: Any) -> tuple[Any, ...]:
    """Copy a batch to the device; on the CPU too, where otherwise nothing would be copied."""
    return tuple(each.to(device, copy=True) for each in batch)


def placed(batches: list[tuple[Any, ...]], device: Any, resident: bool) -> list[tuple[Any, ...]]:
    """Return batches where they wait: on the device, or in host memory, pinned for a GPU, which copies faster then."""
    if resident:
        return [fetch(batch, device) for batch in batches]
    return [tuple(each.pin_memory() for each in batch) for batch in batches] if device.type == "cuda" else batches


def autocast(precision: str, device: Any) -> Any:
    """Return the autocast context for half precision (bfloat16 for bf16, float16 for amp), or an empty one."""
    return torch.autocast(device.type, dtype=REDUCED[precision]) if precision in REDUCED else nullcontext()


def synchronize(device: Any) -> None:
    """Wait for work queued on a GPU: the update may still be running when the loss is known."""
    if device.type == "cuda":
        torch.cuda.synchronize(device)
