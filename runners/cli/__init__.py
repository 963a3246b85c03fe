"""The command line: `list`, `show`, `plan`, `check`, `run`, `setup`, `script`, `collect`, `export`.

Each module has one command; `main.py` runs them. Exit status: 0 all completed, 1 a run ended otherwise or is
unfinished, 2 bad input or refused, 130 stopped.
"""

from perfledger.runners.cli.main import cli, main

__all__ = ["cli", "main"]
