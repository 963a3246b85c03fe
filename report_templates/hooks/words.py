"""MkDocs hook: the words that scripts in the page say, from the same file as all others."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

WORDS = Path(__file__).resolve().parents[1] / "words.toml"


def on_config(config: Any) -> Any:
    """Puts the table `[ui]` of the words file under `extra.ui`, by language: theme/main.html hands it to scripts."""
    entries = tomllib.loads(WORDS.read_text("utf-8")).get("ui", {})
    config["extra"]["ui"] = {
        language: {key: entry[language] for key, entry in entries.items()} for language in ("en", "zh")
    }
    return config
