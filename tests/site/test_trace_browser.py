"""The way from a figure to the lines of its log in a browser, on our pages and on a forge."""

from __future__ import annotations

import datetime as dt
import json
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ingest import cli
from tests.site.conftest import ROOT, html, served

LANGUAGES = {"en": "", "zh": "zh/"}
BERT = ROOT / "tests/golden/ngc.pytorch_bert/made-up.log"
#: Facts and window of that log, as tests/golden states them.
STATED = {"batch_size": (3, "batch_size_per_gpu : 32"), "accumulation": (1, "gradient_accumulation_steps")}
START = dt.datetime(2026, 11, 20, 11, 50)
EVIL = '<script>alert(1)</script><img src=x onerror=alert(2)> --8<-- "mkdocs.yml" {{ 7*7 }} [x](javascript:alert(3))'


def seg(count: int, first: int = 0) -> str:
    """Return lines as PaddleSeg prints them, ten steps of 0.4 s each; two of ten records are warm-up."""
    return "".join(
        f"{START + dt.timedelta(seconds=4 * i)} [INFO]\t[TRAIN] epoch: 1, iter: {10 * (i + 1)}/99999, loss: 2.0594, "
        f"lr: 0.010000, batch_cost: 0.400000, reader_cost: 0.00247, ips: 10.0000 samples/sec | ETA 00:00:00\n"
        for i in range(first, first + count)
    )


def run_json(**other: Any) -> str:
    case = {
        "model": "DeepLabV3+", "framework": "PaddlePaddle", "hardware": "made-up", "nodes": 1, "devices": 1,
        "batch_size": 4, "precision": "fp32", "options": {},
    }  # fmt: skip
    return json.dumps({"schema": "perfledger.run/1", "outcome": "completed", "case": case, "repeat": 1} | other)


@pytest.fixture(scope="module")
def logs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build a folder with logs and pages: one log states its facts, and others are plain, long, hostile or of bars."""
    folder = tmp_path_factory.mktemp("traced")
    texts = {
        "plain": seg(30),
        "long": seg(4000),
        "hostile": f"{EVIL}\n" + seg(30) + f"\x00\x1b[31m{EVIL}\n</pre></code>\ncudaErrorMemoryAllocation {EVIL}\n",
        "bars": seg(15) + "a bar\rof a run\rthat wrote over itself\n" + seg(15, first=15),
    }
    for name, text in texts.items():
        there = folder / "raw_logs" / "seg" / "paddle" / name / "1"
        there.mkdir(parents=True)
        (there / "train.log").write_text(text, "utf-8")
        (there / "run.json").write_text(run_json(outcome="oom" if name == "hostile" else "completed"), "utf-8")
    there = folder / "raw_logs" / "bert" / "pytorch" / "golden" / "1"
    there.mkdir(parents=True)
    shutil.copy(BERT, there / "train.log")
    assert cli.main([str(folder / "raw_logs"), "--out", str(folder / "docs")]) in (0, 1)
    return folder


@pytest.fixture(scope="module")
def traced(logs: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Yield the address of the site with these logs."""
    with served(html(logs), tmp_path_factory.mktemp("served-trace")) as found:
        yield found


@pytest.fixture(scope="module")
def forged(logs: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, str]]:
    """Yield the address of the same site in a checkout whose mkdocs.yml names a forge, and the commit."""
    folder = tmp_path_factory.mktemp("forge") / "checkout"
    folder.mkdir()
    shutil.copytree(logs / "raw_logs", folder / "raw_logs")
    shutil.copytree(logs / "docs", folder / "docs")
    shutil.copytree(logs / ".perfledger", folder / ".perfledger")  # says that these are pages of other logs
    changed = folder / "raw_logs/seg/paddle/long/1/train.log"
    commit = committed(folder)
    changed.write_text("not what was committed\n", "utf-8")
    site = html(folder, configuration="repo_url: https://github.com/someone/results\n")
    with served(site, tmp_path_factory.mktemp("served-forge")) as found:
        yield found, commit


def committed(folder: Path) -> str:
    name = ["-c", "user.name=test", "-c", "user.email=test@example.org"]
    for arguments in (["init", "-q"], ["add", "."], [*name, "commit", "-qm", "logs"]):
        subprocess.run(["git", *arguments], cwd=folder, check=True)
    done = subprocess.run(["git", "rev-parse", "HEAD"], cwd=folder, check=True, capture_output=True, text=True)
    return done.stdout.strip()


@pytest.fixture
def opened(browser: Any) -> Iterator[Any]:
    """Yield a page that fails its test on a script error."""
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    wrong: list[str] = []
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.on(
        "console", lambda said: wrong.append(said.text) if said.type == "error" and "404" not in said.text else None
    )
    yield page
    page.close()
    assert not wrong


def text_of(page: Any, line: int) -> str:
    return str(page.locator(f".pl-log #L{line}").text_content())


def marked(page: Any) -> list[int]:
    """Return the lines that the page's address names, once its script has marked them."""
    page.wait_for_selector(".pl-log-marked", state="attached")
    return [int(each[1:]) for each in page.eval_on_selector_all(".pl-log-marked", "all => all.map(each => each.id)")]


def seen(page: Any, line: int) -> bool:
    """Return whether a line is visible in the window, below the theme's header."""
    box, header = page.locator(f"#L{line}").bounding_box(), page.locator(".md-header").bounding_box()
    return bool(header["y"] + header["height"] <= box["y"] + 1 and box["y"] < 900)


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_figure_leads_to_its_run_and_that_to_the_marked_lines_of_its_window(
    opened: Any, traced: str, language: str
) -> None:
    opened.goto(f"{traced}{LANGUAGES[language]}models/deeplabv3p/")
    opened.locator("article td a[href*='runs/seg-paddle-']:visible").first.click()
    opened.wait_for_url("**/runs/seg-paddle-*/")
    opened.goto(f"{traced}{LANGUAGES[language]}runs/seg-paddle-long-1/")
    window = opened.locator(".pl-proof a[href*='#L']").first
    assert window.inner_text() == {"en": "lines 801–4,000", "zh": "第 801–4,000 行"}[language]
    window.click()
    opened.wait_for_url("**/seg-paddle-long-1/log/#L801-L4000")
    assert seen(opened, 801)
    assert "iter: 8010/99999" in text_of(opened, 801)
    assert "iter: 40000/99999" in text_of(opened, 4000)
    assert marked(opened)[0] == 801
    assert marked(opened)[-1] == 4000
    assert "○" in opened.evaluate("getComputedStyle(document.getElementById('L800'), '::before').content")
    assert "●" in opened.evaluate("getComputedStyle(document.getElementById('L801'), '::before').content")
    gaps = opened.locator(".pl-log-gap").all_inner_texts()
    assert gaps[0].startswith({"en": "Lines 121 to ", "zh": "第 121 至 "}[language])
    # The clock's witness begins one line before the window.
    assert any(each.endswith({"en": " to 787 are omitted.", "zh": " 至 787 行略去。"}[language]) for each in gaps)


@pytest.mark.parametrize(("language", "fact"), list(zip(LANGUAGES, STATED, strict=True)))
def test_a_fact_leads_to_the_line_that_states_it(opened: Any, traced: str, language: str, fact: str) -> None:
    line, printed = STATED[fact]
    opened.goto(f"{traced}{LANGUAGES[language]}runs/bert-pytorch-golden-1/")
    link = opened.locator(f"#facts ~ * a[href$='#L{line}']").first
    assert link.inner_text() == {"en": f"line {line}", "zh": f"第 {line} 行"}[language]
    link.click()
    opened.wait_for_url(f"**/log/#L{line}")
    assert marked(opened) == [line]
    assert printed in text_of(opened, line)
    assert printed in BERT.read_text("utf-8").split("\n")[line - 1]


def test_without_scripts_a_link_still_lands_on_its_line(browser: Any, traced: str) -> None:
    context = browser.new_context(java_script_enabled=False, viewport={"width": 1280, "height": 900})
    page = context.new_page()
    page.goto(f"{traced}runs/seg-paddle-long-1/log/#L801-L4000")
    assert seen(page, 801)
    assert page.locator("#L801:has(> i:target)").count() == 1
    context.close()


def test_a_click_on_a_number_makes_an_address_for_the_line_and_with_shift_for_several(opened: Any, traced: str) -> None:
    opened.goto(f"{traced}runs/seg-paddle-bars-1/log/")
    opened.locator("#L4").click(position={"x": 8, "y": 5})
    assert opened.url.endswith("#L4")
    opened.locator("#L9").click(position={"x": 8, "y": 5}, modifiers=["Shift"])
    assert opened.url.endswith("#L4-L9")
    assert marked(opened) == [4, 5, 6, 7, 8, 9]
    opened.locator("#L6").click(position={"x": 300, "y": 5})
    assert opened.url.endswith("#L4-L9")


def test_a_hostile_log_stays_text(opened: Any, traced: str) -> None:
    opened.goto(f"{traced}runs/seg-paddle-hostile-1/log/")
    assert text_of(opened, 1) == f"{EVIL}\n"
    assert text_of(opened, 32) == f"{EVIL}\n"
    assert opened.locator(".pl-log").locator("script, img, a").count() == 0
    assert opened.locator(".pl-log").count() == 1
    assert opened.evaluate("document.documentElement.scrollWidth") <= 1280


def test_an_outcome_leads_to_the_line_that_tells_it(opened: Any, traced: str) -> None:
    opened.goto(f"{traced}zh/runs/seg-paddle-hostile-1/")
    opened.locator(".pl-signs .pl-bad a[href$='#L34']").click()
    assert "cudaErrorMemoryAllocation" in text_of(opened, 34)
    assert marked(opened) == [34]


def test_a_log_page_fits_a_phone_and_numbers_its_lines_as_the_file_does(browser: Any, traced: str) -> None:
    page = browser.new_page(viewport={"width": 390, "height": 844})
    page.goto(f"{traced}zh/runs/seg-paddle-bars-1/log/")
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    assert text_of(page, 16) == "a bar\nof a run\nthat wrote over itself\n"
    assert "iter: 160/99999" in text_of(page, 17)
    page.close()


def test_where_a_forge_is_named_no_browser_asks_it_for_anything(opened: Any, forged: tuple[str, str]) -> None:
    asked: list[str] = []
    opened.on("request", lambda request: asked.append(request.url))
    opened.goto(f"{forged[0]}method/")
    opened.wait_for_load_state("networkidle")
    assert opened.locator(".md-header a[href='https://github.com/someone/results']").count() == 1
    assert [each for each in asked if not each.startswith((forged[0], "data:", "blob:"))] == []


def test_where_a_forge_is_named_lines_are_shown_there(opened: Any, forged: tuple[str, str]) -> None:
    address, commit = forged
    top = f"https://github.com/someone/results/blob/{commit}/raw_logs"
    opened.goto(f"{address}zh/runs/bert-pytorch-golden-1/")
    links = opened.eval_on_selector_all("article a[href*='github.com']", "all => all.map(each => each.href)")
    assert f"{top}/bert/pytorch/golden/1/train.log" in links
    assert {f"{top}/bert/pytorch/golden/1/train.log#L{line}" for line, _ in STATED.values()} <= set(links)
    opened.goto(f"{address}zh/runs/seg-paddle-plain-1/")
    window = opened.locator(".pl-proof a[href*='#L']").first
    assert window.get_attribute("href") == f"{top}/seg/paddle/plain/1/train.log#L7-L30"
    assert opened.locator(f"#figures ~ * a[href='{top}/seg/paddle/plain/1/train.log#L7-L30']").count() > 1
    assert opened.goto(f"{address}zh/runs/bert-pytorch-golden-1/log/").status == 404


@pytest.mark.parametrize("name", ["long", "bars", "hostile"])
def test_a_log_that_the_forge_would_not_show_alike_stays_on_our_page(
    opened: Any, forged: tuple[str, str], name: str
) -> None:
    """Such logs changed since the commit, have lines that forges count differently, or seem binary to them."""
    opened.goto(f"{forged[0]}runs/seg-paddle-{name}-1/")
    assert opened.locator("article a[href*='github.com']").count() == 0
    opened.locator(".pl-proof a[href*='log/#L']").first.click()
    opened.wait_for_url("**/log/#L*")
    assert marked(opened)
