"""Warnings where the environments of the nodes of a run differ."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from perfledger.runners.earlier import Facts

#: Facts of an environment that affect figures, in words. Of clocks the limits and settings, not the present values.
COMPARED: Mapping[str, str] = {
    "gpu": "the GPU",
    "gpu_memory_mib": "the memory of a GPU in MiB",
    "gpu_power_limit_watts": "the power limit in W",
    "gpu_clock_max_sm_mhz": "the highest SM clock in MHz",
    "gpu_clock_max_memory_mhz": "the highest memory clock in MHz",
    "gpu_clock_applications_sm_mhz": "the SM clock set for applications in MHz",
    "gpu_clock_applications_memory_mhz": "the memory clock set for applications in MHz",
    "gpu_persistence": "the persistence mode",
    "gpu_ecc": "the ECC mode",
    "driver": "the driver",
    "cuda": "CUDA",
    "cudnn": "cuDNN",
    "nccl": "NCCL",
    "rocm": "ROCm",
    "cann": "CANN",
    "container_digest": "the container's digest",
    "cpu": "the CPU",
    "cores": "the number of cores",
    "cpu_governor": "the CPU's governor",
    "python": "Python",
}


def drift_between_nodes(environments: Sequence[Facts]) -> list[str]:
    """Return a sentence for each fact that differs between a node and node 0; facts unknown on one side are ignored."""
    first, *others = [_compared(environment) for environment in environments] or [{}]
    return [
        f"{words} is {value} on node {node} and {first[words]} on node 0"
        for node, there in enumerate(others, start=1)
        for words, value in there.items()
        if words in first and value != first[words]
    ]


def _compared(environment: Facts) -> dict[str, str]:
    """Return the facts to compare, in words; the packages that the recipe names are compared one by one."""
    packages = environment.get("packages")
    named = packages.items() if isinstance(packages, Mapping) else ()
    facts = [(words, environment[key]) for key, words in COMPARED.items() if key in environment]
    return {words: str(value) for words, value in [*facts, *named]}
