"""Telemetry: a row a second."""

import contextlib
import os
import signal
import subprocess
import sys
import time

from .guard import Guard
from .job import NodeJob
from .machine import disk_bytes, processor_times
from .programs import NOTHING
from .tools import NEVER, PROC, PROGRAM, first_match, kill, read_text, utc

# The columns that `sample` prints of each accelerator, by the keys of a device.
SAMPLE_COLUMNS = {
    "device": "index", "name": "name", "power_w": "power_watts", "utilisation_percent": "utilisation",
    "memory_used_mib": "used_mib", "memory_total_mib": "memory_mib", "temperature_c": "temperature_c",
    "memory_temperature_c": "memory_temperature_c", "core_clock_mhz": "core_clock_mhz",
    "memory_clock_mhz": "memory_clock_mhz",
}  # fmt: skip


def sample(folder: str) -> int:
    """Print a row a second for each accelerator of a job, until this process is ended."""
    job = NodeJob(folder)
    names = {gpu["index"]: gpu.get("name", "") for gpu in job.gpus}
    print(",".join(["timestamp", *SAMPLE_COLUMNS]), flush=True)
    while True:
        began, now = time.monotonic(), utc()
        for gpu in (job.vendor.sample or job.vendor.devices)(job.used_gpus):
            row = {"name": names.get(gpu["index"], ""), **gpu}
            cells = [row.get(key) or "N/A" for key in SAMPLE_COLUMNS.values()]
            print(",".join([now, *(cell.replace(",", " ") for cell in cells)]), flush=True)
        time.sleep(max(0.1, began + 1 - time.monotonic()))


def sampling_command(job: NodeJob) -> "list[str]":
    """Return the command that prints rows of telemetry until it is ended."""
    stream = job.vendor.stream
    return stream(job.used_gpus) if stream else [sys.executable, "-I", PROGRAM, "sample", job.folder]


class Sampler:
    """Writes rows of telemetry, one a second: accelerators by a tool, and load, memory and disks of this machine.

    The latter starts no processes, so that the sampler takes as little as possible from the run. In a run on GPUs it
    has a file of its own.
    """

    def __init__(self, job: NodeJob, guard: "Guard") -> None:
        self.job = job
        self.host = job.path("telemetry.csv" if job.spec.device == "cpu" else "telemetry-host.csv")
        self.process: "subprocess.Popen[bytes] | None" = None
        self.due = NEVER
        self.before = processor_times()
        self.disk, self.at = disk_bytes(), time.monotonic()
        if self.before:
            # The first row comes soon, because a run may be short.
            self.due = time.monotonic() + 0.2
            self.write(
                "timestamp,load_1m,cpu_percent,memory_used_mib,memory_total_mib,disk_read_mib_s,disk_written_mib_s\n"
            )
        if job.spec.device == "gpu":
            argv = sampling_command(job)
            with contextlib.suppress(OSError), open(job.path("telemetry.csv"), "ab") as file:
                self.process = subprocess.Popen(
                    argv, stdin=NOTHING, stdout=file, stderr=NOTHING, start_new_session=True
                )
                guard.tell(f"group {self.process.pid}")

    def write(self, text: str) -> None:
        """Append a row; ignore a full disk, which is reported elsewhere."""
        with contextlib.suppress(OSError), open(self.host, "a") as file:
            file.write(text)

    def sample(self) -> None:
        """Write a row for the time since the last one, if it is due."""
        if time.monotonic() < self.due:
            return
        self.due = time.monotonic() + 1
        now, memory, load = processor_times(), read_text(f"{PROC}/meminfo"), read_text(f"{PROC}/loadavg").split()
        total, available = (first_match(rf"^{key}:\s*(\d+)", memory) for key in ("MemTotal", "MemAvailable"))
        if not now or not self.before or now[1] <= self.before[1] or not (total and available and load):
            return
        tenths = max(0, (now[0] - self.before[0]) * 1000 // (now[1] - self.before[1]))
        self.before = now
        used = (int(total) - int(available)) // 1024
        disk, at = disk_bytes(), time.monotonic()
        read, written = ((there - here) / 2**20 / (at - self.at) for here, there in zip(self.disk, disk))
        self.disk, self.at = disk, at
        share = f"{tenths // 10}.{tenths % 10}"
        self.write(f"{utc()},{load[0]},{share},{used},{int(total) // 1024},{max(0, read):.1f},{max(0, written):.1f}\n")

    def stop(self) -> None:
        """Stop sampling; remove a truncated last row, and a file without rows."""
        if self.process:
            kill(self.process.pid, signal.SIGTERM, group=True)
            time.sleep(0.1)
            kill(self.process.pid, signal.SIGKILL, group=True)
            self.process.wait()
        for path in {self.host, self.job.path("telemetry.csv")}:
            with contextlib.suppress(OSError):
                with open(path, "rb+") as file:
                    data = file.read()
                    whole = data[: data.rfind(b"\n") + 1]
                    file.truncate(len(whole))
                if whole.count(b"\n") < 2:
                    os.unlink(path)
