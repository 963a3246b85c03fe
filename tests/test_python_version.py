"""Make, ingest and the readers of logs refuse a Python that misreads logs, before they write a file."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import perfledger.parsers as parsers

ROOT = Path(__file__).resolve().parent.parent
SYSTEM = Path("/usr/bin/python3")
#: A pattern engine with the fault: it finds no match.
BLIND = "import re, runpy; re.match = lambda *_: None; runpy.run_module('{}', run_name='__main__')"
#: A program that exits with 0 if the Python has CPython issue 106052; it is independent of the check in `parsers`.
FAULTY = r"import re; raise SystemExit(re.match(r'(?:[^\nb]++|b(?!atch))*+batch', 'xx by yy batch') is not None)"
#: A program that prints another version, and cannot make a virtual environment; a caller that asks for one accepted it.
POSING = """#!/bin/sh
case "$1" in
  --version) echo "Python {version}" ;;
  -c) exec "{python}" -c "import sys; sys.version_info = tuple(map(int, '{version}'.split('.'))); $2" ;;
  *) exit 9 ;;
esac
"""


def bounds() -> tuple[list[int], list[int]]:
    """Return the oldest supported Python, to its patch release, and the first unsupported one."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    asked = project["requires-python"]
    found = re.fullmatch(r">=(\d+\.\d+\.\d+)", asked)
    assert found, f"{asked}: the oldest has no patch release, so that a faulty one would pass"
    tested = [each.rpartition(" ")[2].split(".") for each in project["classifiers"] if ":: 3." in each]
    assert tested[0] == found[1].split(".")[:2]
    return [int(part) for part in found[1].split(".")], [3, max(int(minor) for _, minor in tested) + 1]


def dotted(*parts: int) -> str:
    return ".".join(map(str, parts))


OLDEST, END = bounds()
TOO_OLD = [dotted(*OLDEST[:2], OLDEST[2] - 1), dotted(*OLDEST[:2], 0), dotted(OLDEST[0], OLDEST[1] - 1, 99), "2.7.18"]
SUPPORTED = [
    dotted(*OLDEST),
    dotted(*OLDEST[:2], 10),
    dotted(OLDEST[0], OLDEST[1] + 1, 0),
    dotted(END[0], END[1] - 1, 9),
]


def make(python: Path, venv: Path) -> subprocess.CompletedProcess[str]:
    """Run `make` to find a Python for a virtual environment, which every command needs first."""
    command = ["make", "--silent", f"PYTHON={python}", f"VENV={venv}", f"{venv}/python.stamp"]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)


def posing(folder: Path, version: str) -> Path:
    script = folder / "python"
    script.write_text(POSING.format(python=sys.executable, version=version), "utf-8")
    script.chmod(0o755)
    return script


def run(python: str | Path, folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run our modules in an empty folder, so that a test can list the files that they write."""
    environment = {"PATH": "/usr/bin:/bin", "PYTHONPATH": str(ROOT), "PYTHONDONTWRITEBYTECODE": "1"}
    command = [str(python), *arguments]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)


def assert_refused(ended: subprocess.CompletedProcess[str], folder: Path) -> None:
    assert ended.returncode == 2, ended.stderr
    assert len(ended.stderr.splitlines()) == 1, ended.stderr
    for part in ("fails on possessive quantifiers", "nothing was read or written", "requires-python", "PYTHON="):
        assert part in ended.stderr
    assert ended.stdout == ""
    assert list(folder.iterdir()) == []


@pytest.mark.parametrize("version", TOO_OLD)
def test_make_refuses_a_python_before_the_oldest_and_makes_nothing(version: str, tmp_path: Path) -> None:
    ended = make(posing(tmp_path, version), tmp_path / "venv")
    assert ended.returncode == 2
    assert f"is Python {version}. Perfledger needs one of Python {OLDEST[0]}.{OLDEST[1]}" in ended.stderr
    assert f"none before {dotted(*OLDEST)}, for those misread logs" in ended.stderr
    assert "make PYTHON=/path/to/python" in ended.stderr
    assert ended.stdout == ""
    assert not (tmp_path / "venv").exists()


def test_make_refuses_a_python_that_is_not_supported_yet(tmp_path: Path) -> None:
    ended = make(posing(tmp_path, dotted(*END, 0)), tmp_path / "venv")
    assert f"is Python {dotted(*END, 0)}. Perfledger needs one of" in ended.stderr


@pytest.mark.parametrize("version", SUPPORTED)
def test_make_accepts_every_supported_python(version: str, tmp_path: Path) -> None:
    ended = make(posing(tmp_path, version), tmp_path / "venv")
    assert f"with Python {version} ..." in ended.stdout
    assert "Perfledger needs" not in ended.stderr


def test_this_python_matches_the_patterns_of_formats() -> None:
    assert parsers.possessive_quantifiers_work()


def test_a_python_that_matches_nothing_is_detected(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(re, "match", lambda *_: None)
    assert not parsers.possessive_quantifiers_work()


def test_a_python_without_possessive_quantifiers_is_detected(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parsers, "_PATTERN", rb"a**b")  # as the pattern itself looks to a Python before them
    assert not parsers.possessive_quantifiers_work()


@pytest.mark.parametrize("module", ["ingest", "bench", "perfledger.parsers.engine.read"])
def test_a_python_that_misreads_logs_is_refused_first(module: str, tmp_path: Path) -> None:
    assert_refused(run(sys.executable, tmp_path, "-c", BLIND.format(module), str(tmp_path)), tmp_path)


@pytest.mark.parametrize(
    "arguments", [("-m", "ingest", "."), ("-m", "bench"), ("-c", "import perfledger.parsers.engine.read")]
)
def test_the_faulty_python_of_a_distribution_is_refused(arguments: tuple[str, ...], tmp_path: Path) -> None:
    if not SYSTEM.is_file() or run(SYSTEM, tmp_path, "-c", FAULTY).returncode:
        pytest.skip(f"{SYSTEM} is no Python with CPython issue 106052")
    assert_refused(run(SYSTEM, tmp_path, *arguments), tmp_path)
