"""The page of all runs with a hundred thousand of them, in Chromium: how much it loads, and how fast it answers.

The runs are made up, so that only times and bytes mean something. No other page of theirs is built.
"""

from __future__ import annotations

import os
import random
import shutil
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from bench.front_page import FLAGS, NONE, chromium, compressed, served
from bench.measure import Row
from perfledger.schema.records import Run, from_json

RUNS = 100_000
_ROOT = Path(__file__).resolve().parents[1]
_REPEATS = 5
_FRAMEWORKS = ("PyTorch", "TensorFlow", "PaddlePaddle", "MindSpore", "OneFlow")
_HARDWARE = tuple(f"Made-up accelerator {number}" for number in range(1, 21))
_MODELS = tuple(f"Made-up net {number}" for number in range(1, 41))
_STATUS = "document.getElementById('pl-explore-shown').textContent"
#: The field that chooses a model.
_MODEL = ".pl-chips [data-name=model] select"
#: The page's status when it shows all runs.
_ALL = f"({_STATUS} === '{{all}} of {{all}} runs')"


def explorer(folder: Path, count: int = RUNS) -> list[Row]:
    """Measure bytes and times of the page of all runs; without a browser, return an empty list."""
    executable = chromium("explorer")
    if executable is None:
        return []
    site = build(folder / "explorer", made_up(count))
    own = ["runs/index.html", "assets/css/all.css", "assets/js/site.js", "assets/js/explorer.js"]
    own = [*own, "assets/vendor/tabulator.min.js"]
    first = f"page, scripts and library of {_kilobytes([site / each for each in own])}"
    parts = sorted(each for each in (site / "data" / "explorer").glob("*.json.gz") if "details_" not in each.name)
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright, served(site) as address:
        browser = playwright.chromium.launch(executable_path=executable, args=list(FLAGS))
        times = _times(browser, address, count)
        browser.close()
    loaded = {"first rows": f": {first}", "all rows": f": {len(parts)} parts of {_kilobytes(parts)}"}
    return [Row(f"{count:,} runs, {what}{loaded.get(what, '')}", seconds) for what, seconds in times.items()]


def _kilobytes(paths: Iterable[Path]) -> str:
    """Return how much is sent of some files."""
    return f"{sum(map(len, map(compressed, paths))) / 1000:,.0f} kB"


def made_up(count: int) -> list[Run]:
    """Return runs that nobody measured: cases of five repeats, each of its own options."""
    return [_run(number) for number in range(count)]


def _run(number: int) -> Run:
    case, repeat = divmod(number, _REPEATS)
    chance = random.Random(number)
    model, framework, hardware = (names[case % len(names)] for names in (_MODELS, _FRAMEWORKS, _HARDWARE))
    size, batch_size, precision = 1 << case % 7, 8 << case % 5, ("fp32", "amp", "bf16")[case % 3]
    name = f"{model}-{framework}-n1d{size}-bs{batch_size}-{precision}-case{case}".lower().replace(" ", "-")
    figure = {
        "value": 1000 * chance.lognormvariate(0, 1), "unit": "images/s", "scope": "job", "used": 80, "skipped": 20,
        "first_line": 10, "last_line": 100, "arithmetic": "made up",
    }  # fmt: skip
    document: dict[str, Any] = {
        "id": f"{name}-{repeat + 1}",
        "path": f"raw_logs/made-up/{framework.lower()}/{name}/{repeat + 1}/train.log",
        "sha256": f"{chance.getrandbits(256):064x}",
        "format": "ngc.pytorch_resnet50",
        "outcome": "oom" if number % 37 == 0 else "completed",
        "case": {
            "model": model,
            "framework": framework,
            "hardware": hardware,
            "nodes": 1,
            "devices": size,
            "batch_size": batch_size,
            "precision": precision,
            "options": {"image_size": 64 + case % 100, "xla": True},
        },
        "figures": {"sustained": {"value": None, "reason": {"code": "outcome", "args": {"outcome": "oom"}}}}
        if number % 37 == 0
        else {"sustained": figure},
        "start": f"2026-{1 + case % 12:02}-{1 + case % 28:02}T00:00:00Z",
        "published": number % 37 != 0,
        "sound": number % 37 != 0,
        "repeat": repeat + 1,
    }
    return from_json(document, Run)


def build(folder: Path, runs: list[Run]) -> Path:
    """Build a small site, with the page of all runs and its data as if it had all of these."""
    from perfledger.ingest.common import words as words_module
    from perfledger.ingest.common.words import LANGUAGES
    from perfledger.ingest.site import addresses, builder
    from perfledger.ingest.site.data import explorer as data
    from perfledger.ingest.site.model import site_of_runs
    from perfledger.ingest.site.pages import runs as page
    from perfledger.ingest.site.render import jinja

    builder.build(site_of_runs(runs[:_REPEATS]), folder / "docs", folder / "cache.sqlite")
    words, site = words_module.load(), site_of_runs(runs)
    files = data.files(site, words)
    for language, rendered in zip(LANGUAGES, jinja.rendered(words, page.pages(site)[0]), strict=True):
        files[f"{language}/{addresses.RUNS}"] = rendered.encode()
    shutil.rmtree(folder / "docs" / data.FOLDER)
    for name, content in files.items():
        (folder / "docs" / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / "docs" / name).write_bytes(content)
    shutil.copy(_ROOT / "mkdocs.yml", folder)
    (folder / "report_templates").symlink_to(_ROOT / "report_templates")
    # Not strictly: the pages of runs and models that the page names are not there.
    command = [sys.executable, "-m", "mkdocs", "build", "--quiet", "--no-strict"]
    subprocess.run(
        command, check=True, cwd=folder, env={**os.environ, "NO_MKDOCS_2_WARNING": "1"},
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    return folder / "site"


def _times(browser: Any, address: str, count: int) -> dict[str, float]:
    """Return seconds until the first rows and all rows are there, and those of a filter and of a sort."""
    page = browser.new_context(viewport={"width": 1280, "height": 900}).new_page()
    page.context.new_cdp_session(page).send("Network.emulateNetworkConditions", NONE)
    page.goto(f"{address}runs/")
    rows = "document.querySelectorAll('#pl-explore-table .tabulator-row').length > 0"
    every = _ALL.format(all=f"{count:,}")
    found = {"first rows": _until(page, rows), "all rows": _until(page, every)}
    found["a filter"] = _act(page, _MODEL, "model-made-up-net-1", f"!({every})")
    found["all again"] = _act(page, _MODEL, "all", every)
    for column in ("throughput", "hardware"):
        sorts = f"document.querySelector('[tabulator-field={column}]').ariaSort !== 'none'"
        found[f"a sort by {column}"] = _act(page, "#pl-explore [name=sort]", column, sorts)
    found["a search"] = _act(page, "#pl-explore [name=text]", "case77", f"!({every})", "input")
    page.context.close()
    return found


def _until(page: Any, test: str) -> float:
    """Return seconds since the page was asked for."""
    look = f"const look = () => {test} ? done(performance.now()) : requestAnimationFrame(look); look();"
    return float(page.evaluate(f"() => new Promise(done => {{ {look} }})")) / 1000


def _act(page: Any, field: str, value: str, test: str, event: str = "change") -> float:
    """Return seconds between a choice in a field, by its selector, and the frame that shows it."""
    before = page.evaluate(
        """([selector, value, event]) => {
          const field = document.querySelector(selector), before = performance.now();
          field.value = value;
          field.dispatchEvent(new Event(event, { bubbles: true }));
          return before;
        }""",
        [field, value, event],
    )
    return _until(page, test) - float(before) / 1000
