"""Start a command of the agent: `python -I FOLDER COMMAND JOB`, where FOLDER contains this file. See `commands.py`."""

import importlib
import os
import sys

# The folder above contains other modules, too, so it is on the path for this import alone.
sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
importlib.import_module("agent")
del sys.path[0]

sys.exit(importlib.import_module("agent.commands").main(*sys.argv[1:]))
