"""MkDocs hook: the manifest of a built site, after all other files are written."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from mkdocs.plugins import event_priority

from perfledger import __version__
from perfledger.ingest.common import site_manifest


@event_priority(-300)
def on_post_build(config: Any) -> None:
    """Write the manifest once, at the end of the build of all languages."""
    if config["plugins"]["i18n"].building:  # the build of another language, inside the one of the default language
        return
    site = Path(config["site_dir"])
    (site / site_manifest.FILE).unlink(missing_ok=True)
    built = site_manifest.SiteManifest(
        schema=site_manifest.SCHEMA,
        perfledger=__version__,
        address=config["site_url"] or "",
        commit=config["extra"]["identity"].commit,
        repository=config["extra"]["identity"].repository,
        offline=config["extra"]["offline"],
        standalone=bool(config["extra"].get("standalone")),
        files=site_manifest.hashes(site),
    )
    site_manifest.write(site, built)
