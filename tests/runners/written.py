"""Recipes written by tests: a minimal one, changed where the test says; and words filled as a node fills them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path

import msgspec

from perfledger.runners import recipes
from perfledger.runners.agent import job
from perfledger.runners.job import Word
from perfledger.runners.recipes import LaunchRecipe

HEAD = """
title = "Lines"
suite = "tiny"
framework = "Bash"
model = "Loop"
device = "gpu"
iterations = 3
repeats = 1
timeout_seconds = 20
"""
RECORDS = """
[records]
format = "ngc.dllogger"
at_least = 2
"""
MATRIX = """
[matrix]
batch_size = [8]
precision = ["fp32"]
"""


def written(folder: Path, command: list[str], matrix: str = MATRIX, more: str = "", head: str = "") -> Path:
    """Write a recipe with this command, further keys (`head`) and tables (`more`); return its path."""
    path = folder / "tiny.toml"
    words = f"command = {json.dumps(command)}\n"
    path.write_text(f"{HEAD}{words}{head}\n{RECORDS}\n{matrix}\n{more}", encoding="utf-8")
    return path


def loaded(folder: Path, command: list[str], matrix: str = MATRIX, more: str = "", head: str = "") -> LaunchRecipe:
    """Write and load a recipe."""
    return recipes.load(written(folder, command, matrix, more, head))


def filled(words: Iterable[Word], values: Mapping[str, str]) -> list[str]:
    """Return words as a node gets them, as JSON, and completes them."""
    sent = json.loads(msgspec.json.encode(list(words)))
    return [job.fill(word, dict(values)) for word in sent]
