"""Hooks of MkDocs as modules, loaded from their files, since they are not in a package."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).resolve().parents[1] / "report_templates" / "hooks"


def hook(name: str) -> Any:
    """Load a hook and return its module."""
    described = importlib.util.spec_from_file_location(f"hook_{name}", FOLDER / f"{name}.py")
    assert described
    assert described.loader
    # Structs of a hook look up their types in sys.modules.
    module = sys.modules[described.name] = importlib.util.module_from_spec(described)
    described.loader.exec_module(module)
    return module
