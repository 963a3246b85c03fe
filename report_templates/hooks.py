"""MkDocs hook: the models' pages in the navigation, in the order that they state, and one page for a wrong address."""

from __future__ import annotations

import logging
import re
from pathlib import Path
from typing import Any


def on_config(config: Any) -> Any:
    """Extends the entry `Models` by one page per model; their titles come from the pages, in each language."""
    _silence_jieba()
    found = sorted((Path(config["docs_dir"]) / "en" / "models").glob("*/index.md"), key=_order)
    models = [f"models/{path.parent.name}/index.md" for path in found]
    config["nav"] = [_extended(entry, models) for entry in config["nav"]]
    return config


def on_post_template(output_content: str, template_name: str, config: Any) -> str:
    """Keeps the page for wrong addresses in the default language: each language's build would write over it."""
    return "" if template_name == "404.html" and config.theme["language"] != "en" else output_content


def _silence_jieba() -> None:
    """jieba tells of its dictionary on every build, where only what is wrong should be read."""
    import jieba  # type: ignore[import-untyped,import-not-found,unused-ignore]

    jieba.setLogLevel(logging.WARNING)


def _extended(entry: Any, models: list[str]) -> Any:
    if isinstance(entry, dict) and entry.get("Models") == "models/index.md":
        return {"Models": ["models/index.md", *models]}
    return entry


def _order(path: Path) -> tuple[int, str]:
    stated = re.search(r"^order: (\d+)$", path.read_text("utf-8"), re.MULTILINE)
    return (int(stated[1]) if stated else 10_000, path.parent.name)
