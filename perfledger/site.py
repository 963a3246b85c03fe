"""Build and show a finished site: MkDocs with Perfledger's own configuration, which a user need not write.

`plugins: [perfledger]` in a `mkdocs.yml` adds that configuration. The plugin replaces the user's configuration by
Perfledger's own `mkdocs.yml`; the user's keys and those of `perfledger.toml` come first.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Any

import yaml

os.environ.setdefault("NO_MKDOCS_2_WARNING", "1")  # read when the theme is imported

from mkdocs.commands import build as building
from mkdocs.commands import serve as serving
from mkdocs.config import base, load_config
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.exceptions import Abort, MkDocsException, PluginError
from mkdocs.plugins import BasePlugin
from mkdocs.utils.yaml import get_yaml_loader, yaml_load

from perfledger import PACKAGES, PROJECT_VARIABLE, TEMPLATES, project_folder
from perfledger.ingest import build as builder
from perfledger.ingest.build import Inputs
from perfledger.ingest.common import project, site_manifest
from perfledger.ingest.common.errors import UsageError
from perfledger.ingest.common.site_manifest import SiteManifest
from perfledger.ingest.record import store
from perfledger.ingest.site import builder as pages

_OWN = next(each / "mkdocs.yml" for each in (TEMPLATES, PACKAGES) if (each / "mkdocs.yml").is_file())


class PluginOptions(base.Config):  # type: ignore[no-untyped-call]
    """The plugin has no options: what a site is called is in `perfledger.toml`."""


class PerfledgerPlugin(BasePlugin[PluginOptions]):  # type: ignore[no-untyped-call]
    """The configuration of Perfledger's site for `plugins: [perfledger]`."""

    _config: MkDocsConfig | None = None

    def load_config(
        self, options: dict[str, Any], config_file_path: str | None = None
    ) -> tuple[base.ConfigErrors, base.ConfigWarnings]:
        """Remember where the user's `mkdocs.yml` lies, whose project is read."""
        self._file = Path(config_file_path or "mkdocs.yml").resolve()
        os.environ.setdefault(PROJECT_VARIABLE, str(self._file.parent))
        return super().load_config(options, config_file_path)

    def on_startup(self, *, command: Any, dirty: bool) -> None:
        """Start the plugins and hooks of our configuration."""
        self._config = configuration(self._file)
        self._config.plugins.on_startup(command=command, dirty=dirty)

    def on_config(self, config: MkDocsConfig) -> MkDocsConfig | None:
        """Replace the user's configuration by ours; MkDocs' command line still decides where the site is built."""
        told = {
            "docs_dir": config.docs_dir,
            "site_dir": config.site_dir,
            "dev_addr": str(config.dev_addr),
            "use_directory_urls": config.use_directory_urls,
        }
        self._config = inner = configuration(self._file, told)
        inner.site_url = config.site_url or inner.site_url
        return inner.plugins.on_config(inner)

    def on_serve(self, server: Any, *, config: MkDocsConfig, builder: Any) -> Any:
        """Watch what our pages are made of."""
        return self._config.plugins.on_serve(server, config=self._config, builder=builder) if self._config else server


def configuration(file: Path, options: Mapping[str, Any] = MappingProxyType({})) -> MkDocsConfig:
    """Return our configuration of MkDocs, with the keys of the user's file, whose folder all paths are relative to.

    Args:
        file: the user's `mkdocs.yml`.
        options: keys over those of the file.

    Raises:
        PluginError: a key of the user's file, or of `perfledger.toml`, is wrong.
    """
    found = MkDocsConfig(config_file_path=str(file))
    own, user = (_read(each, found) for each in (_OWN, file))
    found.load_dict({**own, **user})
    if "theme" in user:
        raise PluginError("mkdocs.yml: theme: it is Perfledger's; logo and color are keys of perfledger.toml")
    try:
        stated, publisher = project.project(), project.publisher()
    except UsageError as error:
        raise PluginError(str(error)) from None
    plugins = [*own["plugins"], *(each for each in user.get("plugins", []) if each != "perfledger")]
    named = {"title": stated.title, "publisher": publisher}
    extra = {**own["extra"], **{key: value for key, value in named.items() if value}, **(user.get("extra") or {})}
    found.load_dict(
        {
            "theme": {**own["theme"], "custom_dir": str(TEMPLATES / "theme")},
            "hooks": [str(TEMPLATES / "hooks" / Path(each).name) for each in own["hooks"]] + (user.get("hooks") or []),
            "plugins": plugins,
            "extra": extra,
            "site_url": os.environ.get("SITE_URL") or stated.address or user.get("site_url") or "",
            **options,
        }
    )
    _choose_languages(found, stated.languages)
    errors, _ = found.validate()
    if errors:
        raise PluginError("\n".join(f"{file}: {key}: {error}" for key, error in errors))
    return found


def _read(path: Path, config: MkDocsConfig) -> dict[str, Any]:
    with path.open("rb") as stream:
        return dict(yaml_load(stream, get_yaml_loader(config=config)))


def _choose_languages(config: Any, wanted: tuple[str, ...]) -> None:
    """Leave out languages that `perfledger.toml` does not name; English is the default where it is among them."""
    (languages,) = (each["i18n"] for each in config["plugins"] if isinstance(each, dict) and "i18n" in each)
    named = [each for each in languages["languages"] if each["locale"] in wanted]
    languages["languages"] = [{**each, "default": each is named[0]} for each in named]
    alternate = [each for each in config["extra"]["alternate"] if each["lang"] in wanted]
    config["extra"]["alternate"] = alternate if len(alternate) > 1 else []


@contextmanager
def workplace(inputs: Inputs, target: Path | None = None) -> Iterator[Path]:
    """Give a folder for pages and a `mkdocs.yml` of them; it is removed at the end.

    Args:
        inputs: the logs that the pages are made of.
        target: the folder lies next to this one, so that the site can be moved there in one step.

    Raises:
        UsageError: it cannot be made.
    """
    try:
        if target:
            target.parent.mkdir(parents=True, exist_ok=True)
        folder = Path(tempfile.mkdtemp(prefix=".perfledger-", dir=target.parent if target else None))
    except OSError as error:
        where = f"--site {target}: {error.filename or target.parent}" if target else str(error.filename)
        raise UsageError(f"{where}: {error.strerror}; nothing was written: give a folder that can be written") from None
    try:
        (folder / "docs").mkdir()
        os.environ[PROJECT_VARIABLE] = str(project_folder() or "")  # for processes that run in this folder
        own, of_folders = project.several_layouts(inputs.layout)
        layout = project.joined_layouts(str(Path(own).resolve()) if own.endswith(".toml") else own, of_folders)
        settings = {
            "site_name": "Perfledger",
            "docs_dir": "docs",
            "extra": {
                "standalone": True,
                "logs": [str(each.resolve()) for each in inputs.paths],
                "layout": layout,
                "assume": [f"{name}={value}" for name, value in inputs.assumed],
            },
        }
        (folder / "mkdocs.yml").write_text(yaml.safe_dump(settings), "utf-8")
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def check_place(site: Path) -> None:
    """Refuse a folder whose files a build would remove, since they are not those of a site of ours.

    Raises:
        UsageError: it is a file, or has other files.
    """
    if site.exists() and not site.is_dir():
        raise UsageError(f"--site {site}: is a file; give a folder")
    if site.is_dir() and any(site.iterdir()) and not (site / site_manifest.FILE).is_file():
        raise UsageError(
            f"--site {site}: has files that are not of a site of Perfledger, so nothing was written; give a new folder"
        )


def build(folder: Path, site: Path) -> None:
    """Build the site of a workplace, which can be read from the disk, and put it where it belongs.

    Raises:
        UsageError: MkDocs refuses the pages, or the site cannot be put there; what was there before stays.
    """
    os.environ["OFFLINE"] = "true"
    try:
        made = _built(folder)
    except (MkDocsException, Abort) as error:
        raise UsageError(f"the site cannot be built, so {site} is as before: {error}") from None
    try:
        if site.exists():
            site.rename(folder / "before")
        made.rename(site)
    except OSError as error:
        raise UsageError(f"--site {site}: {error.strerror}; give a folder that can be written") from None


def hashes_of_rebuild(built: SiteManifest, inputs: Inputs) -> dict[str, str]:
    """Build a site a second time from its logs, in a folder of its own, and return the hashes of its files.

    Args:
        built: the manifest of the site, with the address, commit and repository that its pages state.
        inputs: the logs.

    Raises:
        UsageError: the site was built with a mkdocs.yml that is not here, or cannot be built again.
    """
    os.environ.update(
        SITE_URL=built.address,
        OFFLINE=str(built.offline).lower(),
        PERFLEDGER_COMMIT=built.commit or "",
        PERFLEDGER_REPOSITORY=built.repository or "",
    )
    with workplace(inputs) as folder:
        has_ledger = any(name.startswith(f"{store.FOLDER.as_posix()}/") for name in built.files)
        ledger = "" if has_ledger else str(folder / "ledger")
        project_config = None if built.standalone else _of_project()
        if project_config:
            _copy_own_files(Path(project_config.docs_dir), folder / "docs")
        builder.write(builder.read(replace(inputs, out=folder / "docs", ledger=ledger)))
        try:
            return site_manifest.hashes(_built(folder, project_config))
        except (MkDocsException, Abort) as error:
            raise UsageError(f"the site cannot be built again, so it was not compared: {error}") from None


def _of_project() -> MkDocsConfig:
    """Return the configuration of the user's mkdocs.yml."""
    if not Path("mkdocs.yml").is_file():
        raise UsageError("verify: the site was built with a mkdocs.yml; run this in the folder of that file")
    try:
        config = load_config("mkdocs.yml", strict=False)
    except (MkDocsException, Abort) as error:
        raise UsageError(f"mkdocs.yml: {error}") from None
    config.plugins.on_startup(command="build", dirty=False)
    return config


def _copy_own_files(docs: Path, to: Path) -> None:
    """Copy pages and files that ingest did not write; data are computed from the logs alone."""
    for path in docs.rglob("*"):
        below = path.relative_to(docs)
        if path.is_file() and below.parts[0] != "data" and not pages.is_ours(path):
            (to / below).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(path, to / below)


def _built(folder: Path, config: MkDocsConfig | None = None) -> Path:
    """Build the site of a workplace, by default with its own mkdocs.yml, and return its folder."""
    made = folder / "site"
    config = config or _configured(folder, strict=False)
    config.docs_dir, config.site_dir = str(folder / "docs"), str(made)
    building.build(config)
    return made


def serve(folder: Path, address: str) -> None:
    """Show the site of a workplace, and follow changes of its logs, until it is interrupted.

    Raises:
        UsageError: the address cannot be used.
    """
    loading: Any = serving
    loading.load_config = partial(_configured, folder)  # MkDocs reads it again before each build
    try:
        serving.serve(dev_addr=address, strict=False)
    except (MkDocsException, Abort) as error:
        raise UsageError(f"the server cannot show the site: {error}") from None
    except OSError as error:
        raise UsageError(f"--address {address}: {error.strerror}; give another one") from None


def _configured(folder: Path, config_file: object = None, **options: Any) -> MkDocsConfig:
    """Return the configuration of a workplace as MkDocs' own function does, with options of its command."""
    return configuration(folder / "mkdocs.yml", options)
