"""Back ends: where a script runs. Each is a function to the argv that reads the script on its standard input."""

from __future__ import annotations


def local() -> list[str]:
    """This machine."""
    return ["bash", "-s"]
