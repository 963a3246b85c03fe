"""Hooks of MkDocs as modules: they lie in no package, and so are loaded from their files."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).resolve().parents[1] / "report_templates" / "hooks"


def hook(name: str) -> Any:
    """Return a hook, loaded anew."""
    described = importlib.util.spec_from_file_location(f"hook_{name}", FOLDER / f"{name}.py")
    assert described
    assert described.loader
    # Records of a hook look their types up there.
    module = sys.modules[described.name] = importlib.util.module_from_spec(described)
    described.loader.exec_module(module)
    return module
