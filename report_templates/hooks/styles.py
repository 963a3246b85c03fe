"""MkDocs hook: one style sheet instead of many. A browser paints nothing before it has them all, and on a phone each
further request may cost another way there and back.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

#: In the folder of those that it is made of, so that what they name is found from here too.
WHOLE = "assets/css/all.css"
_parts: list[str] = []


def on_config(config: Any) -> Any:
    """Pages link to the one; mkdocs.yml names the parts, in their order."""
    _parts[:] = map(str, config["extra_css"])
    config["extra_css"] = [WHOLE]
    return config


def on_post_build(config: Any) -> None:
    """Joins the parts, where they were copied to."""
    site = Path(config["site_dir"])
    (site / WHOLE).write_text("\n".join((site / each).read_text("utf-8") for each in _parts), "utf-8")
