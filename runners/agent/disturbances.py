"""Other work on this machine during a run."""

import os
import time

from .job import NodeJob
from .machine import BUSY_PERCENT, adopt_orphans, own_seconds, processor_times, wait_for_orphans
from .tools import WITH_DAEMON

# The work of others is not judged in a shorter run: the start of its processes is a large part of it.
JUDGED_SECONDS = 5
# How long a driver may take to forget the processes of a run that has ended.
RELEASE_SECONDS = 5


class OtherWork:
    """Finds what other work ran on this machine during the command, from its processors and its GPUs."""

    def __init__(self, job: NodeJob) -> None:
        self.job = job
        container = job.spec.container
        # Processes that a daemon or another launcher started are not children of this one.
        self.starts_all = not (job.is_observer or (container and container.tool in (*WITH_DAEMON, "pyxis")))
        adopt_orphans()
        self.began, self.own, self.before = time.monotonic(), own_seconds(), processor_times()

    def found(self) -> "list[str]":
        """Return sentences on work that was not of the command, which has ended."""
        wait_for_orphans()
        after, own = processor_times(), own_seconds() - self.own
        disturbances = []
        is_judged = time.monotonic() - self.began >= JUDGED_SECONDS
        if is_judged and self.before and after and after[1] > self.before[1]:
            busy, total, stolen = (there - here for here, there in zip(self.before, after))
            others = (busy - own * os.sysconf("SC_CLK_TCK")) * 100 / total
            if self.starts_all and others >= BUSY_PERCENT:
                disturbances.append(
                    f"other work used {others:.0f} % of the processors of this host during the run (mean)"
                )
            if stolen * 100 >= BUSY_PERCENT * total:
                disturbances.append(
                    f"other virtual machines took {stolen * 100 // total} % of the time of this host's processors "
                    "during the run (mean)"
                )
        return disturbances + self.on_gpus()

    def on_gpus(self) -> "list[str]":
        """Return a text for each GPU that others use after the run has ended."""
        until = time.monotonic() + RELEASE_SECONDS
        while True:
            counts = {gpu["index"]: self.job.vendor.processes(gpu) for gpu in self.job.gpus}
            if not any(counts.values()) or time.monotonic() >= until:
                break
            time.sleep(0.5)
        return [
            f"processes of others on GPU {index} at the end of the run: {count}"
            for index, count in counts.items()
            if count
        ]
