"""Every kind of page in a browser: WCAG 2.2 AA by axe-core, small screens, paper, its policy, and its requests."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.site.kinds import KINDS, languages

#: Levels A and AA of WCAG 2.0, 2.1 and 2.2. The best practices of axe are required, too, except names of
#: landmarks: the theme puts each button that copies code into a `nav` of its own, without a name.
WCAG = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]
RULES = {"runOnly": [*WCAG, "best-practice"], "rules": {"landmark-unique": {"enabled": False}}}
#: What another scheme of colours may change.
COLOURS = {"runOnly": ["color-contrast", "link-in-text-block"]}
PHONE = {"width": 360, "height": 780}
STILL = {"reduced_motion": "reduce", "color_scheme": "light"}
PLACES = [(kind, language) for kind in [*KINDS, "missing"] for language in languages(kind)]
Check = Callable[..., list[str]]
#: What moves, or would move when it changes.
MOVING = """() => [document.body, ...document.body.querySelectorAll("*")].flatMap(each =>
  ["", "::before", "::after"].map(part => getComputedStyle(each, part)).filter(style =>
    `${style.transitionDuration},${style.animationDuration}`.split(",").some(time => parseFloat(time) > .001)
    || style.scrollBehavior === "smooth").map(() => each.className || each.nodeName))"""
#: The inks of every text that is seen, as red, green and blue.
INKS = """() => {
  const inks = new Set();
  for (const each of document.querySelectorAll("body, body *")) {
    const style = getComputedStyle(each);
    if (!each.getClientRects().length || style.visibility === "hidden") continue;
    const text = [...each.childNodes].some(node => node.nodeType === 3 && node.textContent.trim());
    if (text) inks.add((each.closest("svg") ? style.fill : style.color).match(/[\\d.]+/g).slice(0, 3).join(" "));
  }
  return [...inks];
}"""
FRAME = ".md-header, .md-tabs, .md-sidebar, .pl-cite, .md-search, .md-top, .headerlink, .pl-tools"


@pytest.fixture(scope="module")
def check() -> Check:
    """Return a function that lists what on a page breaks rules of axe-core, one line for each element."""
    package = pytest.importorskip("axe_playwright_python.base", reason="axe-playwright-python is not installed")
    code = Path(package.AXE_FILE_PATH).read_text("utf-8")

    def run(page: Any, rules: Any = RULES, within: str = "html") -> list[str]:
        if not page.evaluate("'axe' in window"):
            page.evaluate(code)
        found = page.evaluate(
            # None of these rules needs style sheets, which axe would fetch and read again.
            """([within, rules]) => axe.run(document.querySelector(within),
                {...rules, resultTypes: ["violations"], preload: {assets: ["media"]}})""",
            [within, rules],
        )
        assert found["passes"], "no rule was tried"
        return [
            f"{rule['id']}: {node['target']} {node['html'][:160]} {node['failureSummary'][:200]}"
            for rule in found["violations"]
            for node in rule["nodes"]
        ]

    return run


def scheme(page: Any, name: str) -> None:
    """Switch a page to light or dark, as the button in its header does."""
    page.evaluate("name => document.querySelector(`input[data-md-color-scheme=${name}]`).click()", name)
    page.wait_for_selector(f"body[data-md-color-scheme={name}]", timeout=5000)


def light(colour: str) -> float:
    """Return the relative luminance by WCAG."""
    red, green, blue = (float(each) / 255 for each in colour.split()[:3])
    curve = [each / 12.92 if each <= 0.04045 else ((each + 0.055) / 1.055) ** 2.4 for each in (red, green, blue)]
    return 0.2126 * curve[0] + 0.7152 * curve[1] + 0.0722 * curve[2]


def on_paper(page: Any, path: str) -> list[str]:
    """Return what is wrong with a dark page on paper: pale text, a dark ground, navigation, no address."""
    page.emulate_media(media="print")
    # 3:1 on white at the least: colours of syntax and of frameworks stay colours.
    wrong = [f"pale: {each}" for each in page.evaluate(INKS) if 1.05 / (light(each) + 0.05) < 3]
    ground = page.evaluate("getComputedStyle(document.body).backgroundColor.match(/[\\d.]+/g).join(' ')")
    if light(ground) < 1:
        wrong.append(f"ground: {ground}")
    frame, imprint = page.locator(FRAME), page.locator(".pl-imprint")
    if frame.count() < 4 or frame.locator("visible=true").count():
        wrong.append("navigation is printed")
    if "Perfledger" not in imprint.inner_text() or not imprint.locator(".pl-on-paper").inner_text().endswith(path):
        wrong.append(f"imprint: {imprint.inner_text()}")
    page.emulate_media(media="screen")
    return wrong


@pytest.mark.parametrize(("kind", "language"), PLACES)
def test_a_page_is_accessible_fits_phone_and_paper_and_every_request_is_answered(
    visit: Callable[..., Any], home: str, check: Check, kind: str, language: str
) -> None:
    """Chinese pages are checked on a phone, unfolded, and English pages on a wide screen, light and dark."""
    path = f"{language}{KINDS.get(kind, '404.html')}"
    page, missing, broken = visit("about:blank", **STILL), list[str](), list[str]()
    page.on("response", lambda got: None if got.status < 400 else missing.append(got.url))
    page.goto(home + path)
    scheme(page, "default")  # the theme may remember another one
    assert page.evaluate(MOVING) == []
    if not language:
        broken += check(page)
        scheme(page, "slate")
        broken += check(page, COLOURS)
        broken += on_paper(page, path) if kind in KINDS else []
    page.evaluate("document.querySelectorAll('details').forEach(each => each.open = true)")
    page.set_viewport_size(PHONE)
    if language:
        broken += check(page)
    assert not broken, "\n".join(broken)
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
    page.wait_for_load_state("networkidle")
    assert missing == []


def test_the_rules_find_what_breaks_them(visit: Callable[..., Any], home: str, check: Check) -> None:
    """Without this, rules that are switched off would pass; axe tests the size of targets only on request."""
    page = visit(home)
    assert page.evaluate(MOVING), "the theme moves for others"
    page.evaluate(
        """document.querySelector("article").insertAdjacentHTML("beforeend",
             "<img src='data:,'><p style='color:#aaa'>pale</p>"
             + "<button style='all:unset;width:9px;height:9px;display:inline-block'>a</button>".repeat(3))"""
    )
    broken = check(page)
    page.wrong.clear()  # the policy forbids these styles
    assert {"image-alt", "color-contrast", "target-size"} <= {each.partition(":")[0] for each in broken}


@pytest.mark.parametrize(
    ("language", "size"), [("", {}), ("zh/", {"wide": 360, "high": 780, "has_touch": True})], ids=["wide", "phone"]
)
def test_what_is_opened_sorted_or_filtered_is_accessible_too(
    visit: Callable[..., Any], home: str, check: Check, language: str, size: dict[str, Any]
) -> None:
    page = visit("about:blank", **STILL, **size)

    def hold(within: str = "html") -> None:
        for name in ("default", "slate"):
            scheme(page, name)
            broken = check(page, within=within)
            assert not broken, "\n".join(broken)

    def at(path: str, ready: str) -> None:
        page.goto(f"{home}{language}{path}", wait_until="networkidle")
        page.wait_for_selector(ready)

    at("", "h1")
    page.keyboard.press("f")
    page.locator("input.md-search__input").fill("BERT")
    page.locator("input.md-search__input").press("End")  # the theme listens to keys, as an input method sends them
    page.wait_for_selector(".md-search-result__item a", state="visible")
    hold()
    at(f"{KINDS['model']}#logs", "h1")
    table = page.locator('.pl-table:has([data-name="runs-1"])')
    table.locator(".pl-sort").first.click()
    table.locator(".pl-filter").fill("pytorch")
    assert 0 < table.locator("tbody tr:visible").count() < table.locator("tbody tr").count()
    hold(".pl-table:has(.pl-filter)")
    explored = "#pl-explore-table[aria-busy=false]"
    at("runs/?text=nothing-of-the-kind&model=gone", explored)
    assert page.locator(".tabulator-row").count() == 0
    hold()
    at("runs/?framework=PyTorch&sort=throughput&order=desc&text=resnet50", explored)
    assert page.locator(".tabulator-row").count() > 2
    hold()
    page.locator("#pl-explore-table a[href*='?run=']:visible").first.click()
    page.wait_for_selector("#pl-explore-run[open]")
    hold()
    assert page.evaluate("document.activeElement.id") == "pl-explore-name"
    assert page.evaluate("document.documentElement.scrollWidth") <= page.viewport_size["width"]
    at("compare/?model=resnet50&origin=all&hardware=nowhere", "#pl-compare table")
    assert page.locator(".pl-chips [role=status]").inner_text()
    page.evaluate("document.querySelectorAll('details').forEach(each => each.open = true)")
    hold()
    if size:
        at("models/resnet50/", "h1")
        page.locator("label.md-header__button[for=__drawer]").click()
        assert page.locator(".md-sidebar--primary").bounding_box()["x"] == 0
        hold()


@pytest.mark.skipif(shutil.which("pdftotext") is None, reason="no pdftotext: apt-get install poppler-utils")
def test_tables_are_printed_to_their_last_column(visit: Callable[..., Any], home: str, tmp_path: Path) -> None:
    page = visit("about:blank", color_scheme="dark", reduced_motion="reduce")
    for kind, language in (("front", ""), ("model", "zh/"), ("report", "zh/"), ("audit", ""), ("compare", "")):
        page.goto(home + language + KINDS[kind])
        page.wait_for_selector("#pl-compare table" if kind == "compare" else "article table", state="attached")
        rows = page.evaluate(
            """() => [...document.querySelectorAll("article table")].filter(each => each.getClientRects().length)
                 .flatMap(each => [...each.querySelectorAll("tbody tr:not([hidden])")]).map(row => row.innerText)"""
        )
        page.pdf(path=tmp_path / "page.pdf", format="A4", prefer_css_page_size=True)
        command = ["pdftotext", "-raw", str(tmp_path / "page.pdf"), "-"]
        printed = squeezed(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
        words = [word for row in rows for word in re.findall(r"\d[\d.,]*\d|[^\W\d_]{2,}", row)]
        assert words or kind == "front"
        assert [word for word in words if squeezed(word) not in printed] == [], kind


def squeezed(text: str) -> str:
    """Remove spaces and line ends, which printing may move."""
    return re.sub(r"[\s\u00ad\u200b-]+", "", text)


#: Results of text that is not escaped, and of a foreign script.
FORBIDDEN = (
    "document.body.append(Object.assign(document.createElement('script'), {textContent: 'alert(1)'}))",
    "document.body.insertAdjacentHTML('beforeend', '<img src=data:, onerror=alert(1)>')",
    "document.body.append(Object.assign(document.createElement('img'), {src: 'https://evil.example/x'}))",
    "document.body.append(Object.assign(document.createElement('iframe'), {src: 'https://evil.example/'}))",
    "document.head.append(Object.assign(document.createElement('style'), {textContent: 'p { color: red }'}))",
    "document.head.append(Object.assign(document.createElement('base'), {href: 'https://evil.example/'}))",
    "void fetch('https://evil.example/').catch(() => 0)",
    "void setTimeout('alert(1)')",
)


def test_the_policy_stops_what_text_could_become(visit: Callable[..., Any], home: str) -> None:
    page = visit(home)
    page.evaluate("addEventListener('securitypolicyviolation', e => console.error('policy: ' + e.violatedDirective))")
    for act in FORBIDDEN:
        with page.expect_console_message(lambda told: told.text.startswith("policy: ")):
            page.evaluate(act)
        # The browser tells of what it refused to ask for, too.
        assert not [each for each in page.wrong if not re.search("(?i)policy|evil.example", each)], act
    page.wrong.clear()
