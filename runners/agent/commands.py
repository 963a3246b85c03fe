"""The commands of the agent.

- `run JOB`: run the job in this folder. Exit status: 0 completed, 1 another outcome (host.json has it), 2 nothing was
  started, 3 host.json could not be written, 130 stopped;
- `setup FILE`: run the setup steps of this file;
- `environment JOB SCRATCH`: write environment.json, as a process of its own so that it can be ended;
- `sample JOB`: print telemetry of accelerators whose tool does not print it a row a second.
"""

from . import run, setup, telemetry


def main(command: str, folder: str, *words: str) -> int:
    """Run a command, and return the exit status."""
    if command == "run":
        return run.run_job(folder)
    if command == "setup":
        return setup.set_up(folder)
    if command == "environment":
        return run.write_environment(folder, *words)
    return telemetry.sample(folder)
