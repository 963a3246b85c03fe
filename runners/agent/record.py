"""environment.json: the machine, the software and the sources of a run."""

import os
import re
from typing import NamedTuple

from .devices import gpu_facts, gpu_record
from .job import NodeJob
from .machine import infiniband_ports, machine_facts
from .programs import run_tool, tool_output
from .spec import Json
from .tools import PREPARE_SECONDS, PROC, WITH_DAEMON, first_match, number, read_text, without_unknown


def container_record(job: NodeJob) -> "dict[str, str]":
    """Return tool, image and digest; the digest is the recipe's, or else that of the local image."""
    container = job.spec.container
    if not container:
        return {}
    digest = container.digest
    if not digest and container.tool in WITH_DAEMON:
        digests = job.inspect_image("{{range .RepoDigests}}{{println .}}{{end}}")
        digest = first_match(r"^[^@]*@(sha256:[0-9a-f]{64})$", digests)
    return without_unknown({"tool": container.tool, "image": container.image, "digest": digest})


def environment_record(job: NodeJob) -> "dict[str, Json]":
    """Return the content of environment.json."""
    gpus = job.gpus
    load = [number(word) for word in read_text(f"{PROC}/loadavg").split()[:3]]
    python = job.ask_python(job.spec.device, PREPARE_SECONDS)
    container, ports = container_record(job), infiniband_ports()
    kinds = [port.split(": ", 1)[1] for port in ports]
    facts: "dict[str, Json]" = {
        **machine_facts(),
        **gpu_facts(gpus),
        **(job.vendor.facts() if gpus else {}),
        # As many as the machine has, whichever of them ran.
        "gpus": len(job.vendor.devices()) or None,
        "threads": number(job.spec.threads),
        "load_average_before": load,
        "python": python.python,
        "packages": python.packages,
        "cuda": python.cuda,
        "cudnn": python.cudnn,
        "nccl": python.nccl,
        "python_environment": job.used_environment.name if job.used_environment else None,
        "container_digest": container.get("digest"),
        "network_interface": next(iter(job.meeting({*job.base_variables, *job.spec.variables}).values()), ""),
        "infiniband": "; ".join(f"{kinds.count(kind)} x {kind}" for kind in sorted(set(kinds))),
        "os": first_match(r'^PRETTY_NAME=["\']?(.*?)["\']?$', read_text("/etc/os-release")),
        "kernel": os.uname().release,
    }
    return without_unknown({
        "schema": "perfledger.environment/1",
        "facts": without_unknown(facts),
        "gpus": [gpu_record(gpu) for gpu in gpus],
        "topology": job.vendor.topology() if gpus else "",
        "infiniband": ports,
        "packages_installed": python.installed,
        "container": container,
    })  # fmt: skip


class SourceState(NamedTuple):
    """The commit of the sources, and whether they were modified, as far as git knows."""

    commit: str = ""
    modified: "bool | None" = None


def source_record(job: NodeJob) -> SourceState:
    """Return the state of the sources of a job."""
    if not job.spec.source_folder or not os.path.isdir(job.sources):
        return SourceState()
    commit = tool_output("git", "rev-parse", "--verify", "HEAD", cwd=job.sources)
    if not re.match(r"[0-9a-f]{40,64}$", commit):
        return SourceState()
    status, changes = run_tool(["git", "status", "--porcelain", "--untracked-files=no"], cwd=job.sources)
    return SourceState(commit, None if status else bool(changes.strip()))
