"""The command line of `python -m ingest`.

`build.py`, `figures.py`, `user_files.py` and `submissions.py` have the commands; `main.py` runs them. Heavy modules are
imported where they are used.
"""

from perfledger.ingest.cli.main import EXIT_CODES, SETTINGS, commands, main, run

__all__ = ["EXIT_CODES", "SETTINGS", "commands", "main", "run"]
