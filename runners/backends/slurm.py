"""A Slurm cluster whose nodes share the folder of raw logs with this machine. Options as of Slurm 20.11 and later."""

from __future__ import annotations

from runners.places.place import Place

# Beside the script's own time limit: the preflight, which may have to fetch an image, and the grace.
MARGIN_SECONDS = 1800
# sacct and squeue cut a field short where no width is given.
STATE = "State%40"


def submit(place: Place, name: str, nodes: int, tasks: int, gpus: int, seconds: int, log: str) -> list[str]:
    """Reads a batch script and prints the job's number; `tasks` and `gpus` are per node, `seconds` those of the script.

    The nodes are ours alone, and a job that lost its nodes is not begun anew over its own logs.
    """
    return [
        "sbatch", "--parsable", f"--job-name={name}", f"--output={log}", "--open-mode=append", "--no-requeue",
        f"--nodes={nodes}", f"--ntasks-per-node={tasks}", "--exclusive", "--mem=0",
        f"--time={-(-(seconds + MARGIN_SECONDS) // 60)}",
        *([f"--gpus-per-node={gpus}"] if gpus else []),
        *_partition(place), *place.sbatch,
    ]  # fmt: skip


def shell(place: Place, gpus: int) -> list[str]:
    """Runs the bash program on its standard input, on one node; the trap: who asks for no GPU is shown none."""
    wanted = [f"--gpus-per-node={gpus}"] if gpus else []
    return ["srun", "--nodes=1", "--ntasks=1", *wanted, *_partition(place), *place.sbatch, "bash", "-s"]


def number(name: str) -> list[str]:
    """Prints the numbers of the jobs of a name that wait or run."""
    return ["squeue", "--noheader", "--me", f"--name={name}", "--format=%i"]


def queued(job: str) -> list[str]:
    """Prints the state of a job that the controller still remembers."""
    return ["squeue", "--noheader", "--states=all", f"--jobs={job}", "--format=%T"]


def accounted(job: str) -> list[str]:
    """Prints the state of a job, also long after, where the cluster keeps accounts."""
    return ["sacct", "--noheader", "--allocations", f"--jobs={job}", f"--format={STATE}"]


def remembered(job: str) -> list[str]:
    """Prints all that the controller knows of a job."""
    return ["scontrol", "--oneliner", "show", "job", job]


def stop(job: str, signal: str) -> list[str]:
    """Sends a signal to the batch script, which asks the scripts on its nodes to end.

    Not plain `scancel`: it ends `srun` as well, and with it the scripts before they have written down how they ended.
    """
    return ["scancel", f"--signal={signal}", "--batch", job]


def cancel(job: str) -> list[str]:
    """Takes a job that still waits from the queue."""
    return ["scancel", "--state=PENDING", job]


def cancel_named(name: str) -> list[str]:
    """Ends whatever there is of a name."""
    return ["scancel", f"--name={name}"]


def _partition(place: Place) -> list[str]:
    return [f"--partition={place.partition}"] if place.partition else []
