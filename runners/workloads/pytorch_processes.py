"""How the processes of a PyTorch job meet: over NCCL where they train on GPUs, over Gloo where on CPUs."""

from __future__ import annotations

import os
from typing import Any

import torch

from runners.workloads.ranks import Process, meeting_point


def join(process: Process, device: Any) -> None:
    """Wait for all processes of the job.

    Raises:
        ValueError: see `meeting_point`.
    """
    if process.world_size == 1:
        return
    os.environ.update(meeting_point(process, os.environ))
    backend = "nccl" if device.type == "cuda" else "gloo"
    torch.distributed.init_process_group(backend, rank=process.rank, world_size=process.world_size)


def start_together(process: Process) -> None:
    """Hold each process until all have started. Later they only wait for each other when gradients are summed."""
    if process.world_size > 1:
        torch.distributed.barrier()


def leave(process: Process) -> None:
    """Undo `join`; not called in a process that failed, since the others may then wait for it forever."""
    if process.world_size > 1:
        torch.distributed.destroy_process_group()
