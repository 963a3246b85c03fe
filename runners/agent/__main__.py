"""Start a command of the agent: `python -I FOLDER COMMAND WORD...`, where FOLDER contains this file.

- `run JOB`: run the job in this folder. Exit status: 0 completed, 1 another outcome (host.json has it), 2 nothing was
  started, 3 host.json could not be written, 130 stopped;
- `setup FILE`: run the setup steps of this file;
- `environment JOB SCRATCH`: write environment.json, as a process of its own so that it can be ended;
- `sample JOB`: print telemetry of accelerators whose tool does not print it a row a second.
"""

import importlib
import os
import sys

COMMANDS = {
    "run": ("agent.run", "run_job"),
    "setup": ("agent.setup", "set_up"),
    "environment": ("agent.run", "write_environment"),
    "sample": ("agent.telemetry", "sample"),
}

# The folder above contains other modules, too, so it is on the path for this import alone.
sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
importlib.import_module("agent")
del sys.path[0]

module, function = COMMANDS[sys.argv[1]]
sys.exit(getattr(importlib.import_module(module), function)(*sys.argv[2:]))
