"""`python -m ingest verify`: a site is built again from its logs, and any change of the site or of a log is named."""

from __future__ import annotations

import hashlib
import json
import os
import random
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from perfledger.ingest import cli, verify
from perfledger.ingest.common import site_manifest
from tests.site.conftest import NOWHERE, ROOT, html

CASES = ("lenet5/mindspore/cpu-n1d1-bs64-fp32", "resnet50/pytorch/cpu-n1d1-bs16-fp32")
#: The forged copies that the random bytes make.
SEEDS = range(20)


def run(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Run the command `perfledger`; MkDocs' plugins change a process for the next build in it."""
    place = {"PYTHONPATH": str(ROOT), "NO_MKDOCS_2_WARNING": "1"}
    command = [sys.executable, "-m", "perfledger", *words]
    env = {**os.environ, **NOWHERE, **place}
    return subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with a few real logs and the site that was built from them."""
    folder = tmp_path_factory.mktemp("verified")
    for case in CASES:
        shutil.copytree(ROOT / "raw_logs" / case, folder / "raw_logs" / case)
    done = run(folder, "build", "raw_logs", "--site", "site")
    assert done.returncode == 0, done.stderr
    return folder


@pytest.fixture(scope="module")
def rebuilt(home: Path) -> dict[str, str]:
    """Return the hashes of a second build, which are those of the first."""
    done = run(home, "verify", "site", "raw_logs")
    assert (done.returncode, done.stderr) == (0, "")
    found = site_manifest.hashes(home / "site")
    assert f"{len(found)} files: every byte is as the logs give it" in done.stdout
    return found


@pytest.fixture
def forged(home: Path, tmp_path: Path) -> Path:
    """Return a copy of the site that a test may change."""
    return shutil.copytree(home / "site", tmp_path / "site")


Forgery = Callable[[Path], set[str]]


def replaced(names: str, pattern: str, by: str) -> Forgery:
    """Return a forgery that replaces a pattern in all files of these names."""

    def forge(site: Path) -> set[str]:
        changed = set()
        for path in site.glob(names):
            text = path.read_bytes()
            if (other := re.sub(pattern.encode(), by.encode(), text)) != text:
                path.write_bytes(other)
                changed.add(path.relative_to(site).as_posix())
        return changed

    return forge


def removed(name: str) -> Forgery:
    def forge(site: Path) -> set[str]:
        (site / name).unlink()
        return {name}

    return forge


def added(name: str) -> Forgery:
    def forge(site: Path) -> set[str]:
        (site / name).write_text("<p>9,999 images/s</p>", "utf-8")
        return {name}

    return forge


def linked(name: str) -> Forgery:
    """Return a forgery that puts a link to the same bytes in the place of a file."""

    def forge(site: Path) -> set[str]:
        (site / name).rename(site.parent / "elsewhere")
        (site / name).symlink_to(site.parent / "elsewhere")
        return {name}

    return forge


FORGERIES: dict[str, Forgery] = {
    "units": replaced("**/*.html", "images/s", "tokens/s"),
    "figures of tables": replaced("**/models/*/index.html", r"(<td[^>]*>)(\d)", r"\g<1>9\2"),
    "links of figures": replaced("**/models/*/index.html", r'<a href="[^"]*runs/[^"]*">([^<]*)</a>', r"\1"),
    "numbers of drawings": replaced("**/*.html", r"(<text[^>]*>)(\d)", r"\g<1>9\2"),
    "lines of a log": replaced("logs/*.html", r"step(.*?)(\d)", r"step\1 9\2"),
    "publisher": replaced("**/*.html", "</footer>", "Measured by another lab</footer>"),
    "search": replaced("**/search/*.json", "images/s", "tokens/s"),
    "feed": replaced("**/feed.xml", "<title>", "<title>New record: "),
    "badges": replaced("data/badges/*.svg", r">(\d)", r">9\1"),
    "results.json": replaced("data/results.json", r'"value": (\d)', r'"value": 9\1'),
    "results.csv": replaced("data/results.csv", "images/s", "tokens/s"),
    "results.parquet": replaced("data/results.parquet", "PyTorch", "PyTorxh"),
    "ledger": replaced("data/runs/*.jsonl", '"outcome": "completed"', '"outcome": "trial"'),
    "comparisons": replaced("data/comparisons.*", "throughput", "latency"),
    "explorer": replaced("data/explorer/*.js", "PyTorch", "TensorFlow"),
    "script": replaced("assets/js/tables.js", r"\A", "document.title = 'forged';"),
    "style": replaced("assets/css/all.css", r"\Z", ".pl-caution { display: none }"),
    "a run's page removed": removed("zh/runs/resnet50-pytorch-cpu-n1d1-bs16-fp32-3.html"),
    "a log's page removed": removed("logs/resnet50-pytorch-cpu-n1d1-bs16-fp32-3.html"),
    "a page added": added("record.html"),
    "a hidden file added": added(".record"),
    "a link": linked("index.html"),
    "manifest": replaced(site_manifest.FILE, r'"address": ""', '"address": "https://example.org/"'),
}


@pytest.mark.parametrize("forgery", FORGERIES.values(), ids=FORGERIES)
def test_each_file_of_a_forged_site_is_named(forged: Path, rebuilt: dict[str, str], forgery: Forgery) -> None:
    changed = forgery(forged)
    assert changed, "the site has nothing of this kind"
    found = site_manifest.differences(site_manifest.hashes(forged), rebuilt)
    assert {each.partition(": ")[0] for each in found} == changed


@pytest.mark.parametrize("seed", SEEDS)
def test_a_random_byte_is_found(forged: Path, rebuilt: dict[str, str], seed: int) -> None:
    chosen = random.Random(seed)
    name = chosen.choice([each for each in rebuilt if (forged / each).stat().st_size])
    data = bytearray((forged / name).read_bytes())
    at = chosen.randrange(len(data))
    data[at] ^= chosen.randrange(1, 256)
    print(f"byte {at} of {name}")
    (forged / name).write_bytes(data)
    assert site_manifest.differences(site_manifest.hashes(forged), rebuilt) == [f"{name}: has other bytes"]


def test_a_manifest_that_was_forged_too_deceives_only_the_fast_check(home: Path, forged: Path) -> None:
    (page,) = replaced("models/lenet5/index.html", "images/s", "tokens/s")(forged)
    done = run(home, "verify", str(forged), "--fast")
    assert (done.returncode, done.stderr) == (2, f"{page}: has other bytes\n")
    manifest = forged / site_manifest.FILE
    document = json.loads(manifest.read_text("utf-8"))
    document["files"][page] = hashlib.sha256((forged / page).read_bytes()).hexdigest()
    manifest.write_text(json.dumps(document), "utf-8")
    done = run(home, "verify", str(forged), "--fast")
    assert done.returncode == 0
    assert "Only hashes and links were checked" in done.stdout
    assert "No log was read" in done.stdout
    done = run(home, "verify", str(forged), "raw_logs")
    assert done.returncode == 2
    assert done.stderr.splitlines() == [f"{site_manifest.FILE}: has other bytes", f"{page}: has other bytes"]


def test_a_log_that_was_changed_is_noticed(home: Path, tmp_path: Path) -> None:
    shutil.copytree(home / "raw_logs", tmp_path / "raw_logs")
    with (tmp_path / "raw_logs" / CASES[0] / "1" / "train.log").open("a") as log:
        log.write("\n")
    done = run(tmp_path, "verify", str(home / "site"), "raw_logs")
    assert done.returncode == 2
    assert "models/lenet5/index.html: has other bytes" in done.stderr
    assert "differences from what the logs give" in done.stdout


def test_a_site_with_an_address_and_a_mkdocs_yml(home: Path, tmp_path: Path) -> None:
    shutil.copytree(home / "raw_logs", tmp_path / "raw_logs")
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "own.txt").write_text("A file of the publisher.\n", "utf-8")
    site = html(tmp_path, "https://example.org/sub/")
    assert (site / "own.txt").is_file()
    done = run(tmp_path, "verify", "site", "raw_logs")
    assert (done.returncode, done.stderr) == (0, "")
    assert "address https://example.org/sub/" in done.stdout
    assert run(tmp_path, "verify", "site", "--fast").returncode == 0
    before = site_manifest.hashes(site)
    changed = replaced("**/*.html", r'<meta http-equiv="?Content-Security-Policy"?[^>]*>', "")(site)
    assert len(changed) == sum(name.endswith(".html") for name in before)
    assert {
        each.partition(": ")[0] for each in site_manifest.differences(site_manifest.hashes(site), before)
    } == changed
    done = run(home, "verify", str(site), "raw_logs")
    assert done.returncode == 2
    assert "run this in the folder of that file" in done.stderr


def test_a_link_to_a_page_that_is_not_there_is_named(forged: Path) -> None:
    (page,) = replaced("index.html", 'href="compare.html"', 'href="contrast.html"')(forged)
    assert f"{page}: links to contrast.html, which the site does not have" in verify.fast(forged).wrong


def test_many_differences_are_counted_and_not_all_named(forged: Path) -> None:
    changed = FORGERIES["publisher"](forged)
    found = verify.fast(forged)
    assert found.wrong[-1] == f"and {len(changed) - len(found.wrong) + 1} more"
    assert found.summary.startswith(f"{len(changed)} differences")


@pytest.mark.parametrize("content", [None, b"{", b'{"files": 1}', b"\xff\x00"])
def test_a_folder_that_is_no_site_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], content: bytes | None
) -> None:
    (tmp_path / "data").mkdir()
    if content is not None:
        (tmp_path / site_manifest.FILE).write_bytes(content)
    assert cli.main(["verify", str(tmp_path), "--fast"]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert site_manifest.FILE in line


@pytest.mark.parametrize("words", [["site"], ["site", "--fast", "raw_logs"]])
def test_logs_or_fast_must_be_given(capsys: pytest.CaptureFixture[str], words: list[str]) -> None:
    assert cli.main(["verify", *words]) == 2
    assert "give the logs that the site was built from, or --fast without logs" in capsys.readouterr().err
