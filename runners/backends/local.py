"""This machine."""

from __future__ import annotations


def argv() -> list[str]:
    """Runs the bash program on its standard input."""
    return ["bash", "-s"]
