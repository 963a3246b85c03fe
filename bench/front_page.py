"""The front page on a phone: when it is painted and when it answers, in Chromium, with what it loads sent compressed.

The phone is made of this machine: four times slower, on 4G as WebPageTest has it (9 Mbit/s, 170 ms there and back).
A page answers when it is painted, its scripts ran, and no task holds the thread for longer than 50 ms any more.
"""

from __future__ import annotations

import functools
import gzip
import http.server
import importlib.util
import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from bench.measure import Row

CHROMIUM = ("chromium", "chromium-browser", "google-chrome", "chromium-headless-shell")
FLAGS = ("--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking")
SLOWER = 4
NETWORK = {"offline": False, "latency": 170, "downloadThroughput": 9e6 / 8, "uploadThroughput": 9e6 / 8}
NONE = {"offline": False, "latency": 0, "downloadThroughput": -1, "uploadThroughput": -1}
TIMES = 5
_TEXT = {".html", ".css", ".js", ".json", ".svg", ".xml", ".csv", ".txt"}
_WATCH = """
window.longTasks = [];
new PerformanceObserver(list => window.longTasks.push(...list.getEntries().map(each => each.startTime + each.duration)))
  .observe({type: "longtask", buffered: true});
"""
_READ = """() => ({
  painted: performance.getEntriesByName("first-contentful-paint")[0].startTime,
  ready: performance.getEntriesByType("navigation")[0].domContentLoadedEventEnd,
  busy: Math.max(0, ...window.longTasks),
})"""


class _Compressing(http.server.SimpleHTTPRequestHandler):
    """Serves files as GitHub Pages does: text compressed."""

    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        path = Path(self.translate_path(self.path))
        path = path / "index.html" if path.is_dir() else path
        if not path.is_file():
            self.send_error(404)
            return
        packed = path.suffix in _TEXT
        body = compressed(path) if packed else path.read_bytes()
        self.send_response(200)
        self.send_header("Content-Type", self.guess_type(str(path)))
        self.send_header("Content-Length", str(len(body)))
        if packed:
            self.send_header("Content-Encoding", "gzip")
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: Any) -> None:
        """Print nothing: only the table should be read."""


@functools.cache
def compressed(path: Path) -> bytes:
    """Return what is sent of a file of text."""
    return gzip.compress(path.read_bytes(), 6)


def phone(folder: Path) -> list[Row]:
    """Measure first paint and readiness on the phone, against this machine; return nothing if there is no browser."""
    executable = chromium("phone")
    if executable is None:
        return []
    command = [sys.executable, "-m", "mkdocs", "build", "--quiet", "--site-dir", str(folder / "page")]
    subprocess.run(command, check=True, env={**os.environ, "NO_MKDOCS_2_WARNING": "1"})
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright, served(folder / "page") as address:
        browser = playwright.chromium.launch(executable_path=executable, args=list(FLAGS))
        here = _median(browser, address, 1, NONE)
        phone = _median(browser, address, SLOWER, NETWORK)
        browser.close()
    return [
        Row(f"front page on a phone, {what}", phone[key] / 1000, "on this machine", here[key] / 1000, "")
        for key, what in (("painted", "first paint"), ("answers", "answers (below 1 s)"))
    ]


def chromium(name: str) -> str | None:
    """Return the browser that a measurement needs; say so if it is left out for lack of it."""
    executable = next(filter(None, map(shutil.which, CHROMIUM)), None)
    if executable is None or importlib.util.find_spec("playwright") is None:
        print(f"bench: {name} needs playwright and chromium; left out", file=sys.stderr)
        return None
    return executable


@contextmanager
def served(site: Path) -> Iterator[str]:
    """Serve a folder compressed, and yield its address."""
    handler = functools.partial(_Compressing, directory=str(site))
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/"
    server.shutdown()
    server.server_close()


def _median(browser: Any, address: str, slower: float, network: Mapping[str, Any]) -> dict[str, float]:
    """Return milliseconds of the median of several visits, each with an empty browser cache."""
    found = sorted((_visit(browser, address, slower, network) for _ in range(TIMES)), key=lambda each: each["answers"])
    return found[TIMES // 2]


def _visit(browser: Any, address: str, slower: float, network: Mapping[str, Any]) -> dict[str, float]:
    context = browser.new_context(viewport={"width": 390, "height": 844}, device_scale_factor=3, is_mobile=True)
    page = context.new_page()
    session = context.new_cdp_session(page)
    session.send("Network.enable")
    session.send("Network.emulateNetworkConditions", dict(network))
    session.send("Emulation.setCPUThrottlingRate", {"rate": slower})
    page.add_init_script(_WATCH)
    page.goto(address, wait_until="networkidle")
    page.wait_for_timeout(500)
    found: dict[str, float] = page.evaluate(_READ)
    context.close()
    return {"painted": found["painted"], "answers": max(found.values())}
