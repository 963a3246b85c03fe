"""MkDocs hook: the pages of models and reports in the navigation, as they state."""

from __future__ import annotations

import logging
import re
from pathlib import Path
from typing import Any


def on_config(config: Any) -> Any:
    """Extends two entries by one page per model and per report; titles come from the pages, in each language."""
    _silence_jieba()
    pages = Path(config["docs_dir"]) / "en"
    found = sorted(pages.glob("models/*/index.md"), key=_order)
    models = [f"models/{path.parent.name}/index.md" for path in found]
    config["nav"] = [_extended(entry, models, _reports(pages / "reports")) for entry in config["nav"]]
    return config


def _silence_jieba() -> None:
    """jieba tells of its dictionary on every build, where only what is wrong should be read."""
    import jieba  # type: ignore[import-untyped,import-not-found,unused-ignore]

    jieba.setLogLevel(logging.WARNING)


def _extended(entry: Any, models: list[str], reports: list[Any]) -> Any:
    if isinstance(entry, dict) and entry.get("Models") == "models/index.md":
        return {"Models": ["models/index.md", *models]}
    if isinstance(entry, dict) and entry.get("Published reports") == "reports/index.md":
        return {"Published reports": ["reports/index.md", *reports]}
    return entry


def _reports(folder: Path) -> list[Any]:
    """Reports under the source that each states, in their order."""
    groups: dict[str, list[str]] = {}
    for path in sorted((each for each in folder.glob("*.md") if each.stem != "index"), key=_order):
        stated = re.search(r'^group: "(.*)"$', path.read_text("utf-8"), re.MULTILINE)
        groups.setdefault(stated[1] if stated else "", []).append(f"reports/{path.name}")
    return [{source: pages} if source and len(pages) > 1 else pages[0] for source, pages in groups.items()]


def _order(path: Path) -> tuple[int, str]:
    stated = re.search(r"^order: (\d+)$", path.read_text("utf-8"), re.MULTILINE)
    return (int(stated[1]) if stated else 10_000, str(path))
