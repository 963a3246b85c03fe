"""`python -m ingest verify`: every figure of a built site is followed to its log, and whatever was changed is named."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable, Iterator
from contextlib import chdir
from pathlib import Path

import pytest

from perfledger.ingest import build as builder
from perfledger.ingest import cli, verify
from tests.site.conftest import ROOT

CASE = "raw_logs/lenet5/mindspore/cpu-n1d1-bs64-fp32"
#: A run of `whole` that pages show.
RUN = "resnet50-stalled-1"
MODEL = "models/resnet50/index.html"
PAGES = (MODEL, f"runs/{RUN}/index.html", f"zh/runs/{RUN}/index.html")


@pytest.fixture
def here(tmp_path: Path) -> Iterator[Path]:
    """Yield a folder with a few logs, and the data that a site of them would have; a test may change both."""
    shutil.copytree(ROOT / CASE, tmp_path / CASE)
    with chdir(tmp_path):
        builder.write(builder.read(builder.Inputs((Path("raw_logs"),), out=Path("docs"))))
        shutil.copytree("docs/data", "site/data")
        Path("site/index.html").touch()
        yield tmp_path


@pytest.fixture
def pages(whole: Path, tmp_path: Path) -> Iterator[Path]:
    """Yield a folder with some pages of a site and its data, which a test may change."""
    for path in ("index.html", *PAGES):
        (tmp_path / "site" / path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(whole / path, tmp_path / "site" / path)
    shutil.copytree(whole / "data", tmp_path / "site" / "data")
    with chdir(tmp_path):
        yield tmp_path


def changed(path: Path, before: str, after: str) -> None:
    """Replace a text in a file, all places of it."""
    text = path.read_text("utf-8")
    assert before in text, f"{path} does not hold {before}"
    path.write_text(text.replace(before, after), "utf-8")


def test_a_site_and_its_logs_agree(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["verify", "site", "raw_logs"]) == 0
    told = capsys.readouterr()
    assert told.err == ""
    counts = dict(re.findall(r"^(\w+) +(\d+)", told.out, re.MULTILINE))
    assert counts["logs"] == counts["runs"] == str(len(list((here / CASE).glob("*/train.log"))))
    assert counts["results"] == "1"


def test_without_logs_it_says_what_was_not_compared(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["verify", "site"]) == 1
    assert "logs were not given" in capsys.readouterr().out


def test_our_own_site_follows_from_its_data(real: Path) -> None:
    told = verify.verify(real, None)
    assert told.wrong == []
    assert told.results > 20
    assert told.figures > 10 * told.results


def _page_text(pages: Path) -> None:
    changed(pages / f"site/zh/runs/{RUN}/index.html", "<b>300.0</b>", "<b>99.9</b>")


def _page_value(pages: Path) -> None:
    changed(pages / f"site/{MODEL}", 'data-value="300"', 'data-value="1e9"')


def _page_hash(pages: Path) -> None:
    page = pages / f"site/runs/{RUN}/index.html"
    page.write_text(re.sub(r"SHA-256 \w{64}", f"SHA-256 {'0' * 64}", page.read_text("utf-8")), "utf-8")


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (_page_text, f"site/zh/runs/{RUN}/index.html:"),
        (_page_value, f"site/{MODEL}:"),
        (_page_hash, f"site/runs/{RUN}/index.html: states another SHA-256"),
    ],
)
def test_a_page_that_was_changed_is_named(
    pages: Path, capsys: pytest.CaptureFixture[str], change: Callable[[Path], None], said: str
) -> None:
    assert cli.main(["verify", "site"]) == 1
    counts = re.search(r"(\d+) numbers", capsys.readouterr().out)
    assert counts
    assert int(counts[1]) > 50
    change(pages)
    assert cli.main(["verify", "site"]) == 2
    assert said in capsys.readouterr().err


def _result(here: Path) -> None:
    found = json.loads((here / "site/data/results.json").read_text("utf-8"))["results"]
    value = next(repr(each["value"]) for each in found if each["origin"] == "measured")
    changed(here / "site/data/results.json", f'"value": {value}', '"value": 1.0')


def _result_hash(here: Path) -> None:
    data = here / "site/data/results.json"
    data.write_text(re.sub(r'"sha256": "\w{8}', '"sha256": "00000000', data.read_text("utf-8")), "utf-8")


def _ledger(here: Path) -> None:
    (ledger,) = (here / "site/data/runs").glob("*.jsonl")
    ledger.write_text("".join(ledger.read_text("utf-8").splitlines(keepends=True)[1:]), "utf-8")


def _log(here: Path) -> None:
    with (here / CASE / "1" / "train.log").open("a") as log:
        log.write("\n")


def _no_log(here: Path) -> None:
    shutil.rmtree(here / CASE / "1")


def _further_log(here: Path) -> None:
    shutil.copytree(here / CASE / "1", here / CASE / "99")


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (_result, "but its runs give"),
        (_result_hash, "states another log or hash"),
        (_ledger, "uses lenet5-mindspore-cpu-n1d1-bs64-fp32-1, but the ledger has no such run"),
        (_log, f"{CASE}/1/train.log: has the SHA-256"),
        (_no_log, f"{CASE}/1/train.log: not among the given logs"),
        (_further_log, f"{CASE}/99/train.log: the site has no run of it; build the site again"),
    ],
    ids=lambda each: each.__name__.strip("_") if callable(each) else "",
)
def test_data_or_a_log_that_was_changed_is_named(
    here: Path, capsys: pytest.CaptureFixture[str], change: Callable[[Path], None], said: str
) -> None:
    change(here)
    assert cli.main(["verify", "site", "raw_logs"]) == 2
    assert said in capsys.readouterr().err


@pytest.mark.parametrize("content", [None, b"{", b'{"results": 1}', b"\xff\x00"])
def test_a_folder_that_is_no_site_is_refused(
    here: Path, capsys: pytest.CaptureFixture[str], content: bytes | None
) -> None:
    data = here / "site/data/results.json"
    data.write_bytes(content) if content else data.unlink()
    assert cli.main(["verify", "site"]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert "build" in line
