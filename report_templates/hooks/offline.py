"""MkDocs hook: what a site opened from the disk needs (`OFFLINE=true mkdocs build`), where nothing can be fetched."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from mkdocs.plugins import event_priority

#: Lets the theme search without a worker. The theme's plugin would load it from elsewhere, unless it is there.
SHIM = "assets/vendor/iframe-worker.js"
RESULTS = "data/results.json"


@event_priority(100)
def on_config(config: Any) -> Any:
    """Before the theme's own plugin, so that it finds the shim."""
    if _offline(config):
        config["extra"]["polyfills"] = [SHIM]
    return config


def on_post_build(config: Any) -> None:
    """The results as a script beside the file, for the page that compares them."""
    results = Path(config["site_dir"]) / RESULTS
    if _offline(config) and results.is_file():
        script = f"window.perfledger_results = {results.read_text('utf-8')};\n"
        results.with_suffix(".js").write_text(script, "utf-8")


def _offline(config: Any) -> bool:
    plugin = config["plugins"].get("offline") or config["plugins"].get("material/offline")
    return bool(plugin and plugin.config["enabled"])
