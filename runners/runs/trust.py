"""What must be alike where figures are compared, and is not: between the nodes of a run, and between repeats."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from runners.runs.finished import Finished

#: Facts of an environment that move a figure, in words. Of clocks the limits and settings, not that of a moment.
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
    "container_digest": "the container's digest",
    "cpu": "the CPU",
    "cores": "the number of cores",
    "cpu_governor": "the CPU's governor",
    "python": "Python",
}


def between_nodes(environments: Sequence[Mapping[str, Any]]) -> list[str]:
    """A sentence per fact in which a node differs from the first; a fact that one of the two does not know is none."""
    if not environments:
        return []
    first = _compared(environments[0])
    return [
        f"{words} is {there[words]} on node {node} and {first[words]} on node 0"
        for node, environment in enumerate(environments[1:], start=1)
        for there in (_compared(environment),)
        for words in there
        if words in first and there[words] != first[words]
    ]


def between_repeats(environment: Mapping[str, Any], earlier: Sequence[Finished]) -> list[str]:
    """A sentence per fact and value that earlier repeats of the same case, hardware and round had otherwise."""
    here = _compared(environment)
    repeats: dict[tuple[str, str], list[int]] = defaultdict(list)
    for run in earlier:
        for words, value in _compared(run.environment).items():
            if words in here and value != here[words]:
                repeats[words, value].append(run.repeat)
    return [
        f"{words} is {here[words]}, and was {value} in repeat {', '.join(map(str, numbers))}"
        for (words, value), numbers in repeats.items()
    ]


def _compared(environment: Mapping[str, Any]) -> dict[str, str]:
    """What is compared, by its words; the packages, which a recipe names because they train, one by one."""
    packages = environment.get("packages")
    named = packages.items() if isinstance(packages, Mapping) else ()
    facts = [(words, environment[key]) for key, words in COMPARED.items() if key in environment]
    return {words: str(value) for words, value in [*facts, *named]}
