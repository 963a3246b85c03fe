"""Accessibility of every kind of page: WCAG 2.2 AA by axe-core, small screens, reduced motion, keyboard, own origin."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from tests.site.kinds import KINDS, languages

#: Levels A and AA of WCAG 2.0, 2.1 and 2.2. What axe calls best practice besides is held, too, but for names of
#: landmarks: the theme puts each button that copies code into a `nav` of its own, without a name.
WCAG = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]
RULES = {"runOnly": [*WCAG, "best-practice"], "rules": {"landmark-unique": {"enabled": False}}}
#: What another scheme of colours may change.
COLOURS = {"runOnly": ["color-contrast", "link-in-text-block"]}
WIDE, PHONE = {"width": 1280, "height": 900}, {"width": 360, "height": 780}
PLACES = [(kind, language) for kind in [*KINDS, "missing"] for language in languages(kind)]
each_page = pytest.mark.parametrize(("kind", "language"), PLACES)
Check = Callable[..., list[str]]


@dataclass
class Visit:
    """What a visit of one page found: broken rules, its width on a phone, and its requests."""

    broken: list[str] = field(default_factory=list)
    phone: int = 0
    strangers: list[str] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)


@pytest.fixture(scope="module")
def check() -> Check:
    """Return a function that lists what on a page breaks rules of axe-core, one line for each element."""
    package = pytest.importorskip("axe_playwright_python.base", reason="axe-playwright-python is not installed")
    code = Path(package.AXE_FILE_PATH).read_text("utf-8")

    def run(page: Any, rules: Any = RULES, within: str = "html") -> list[str]:
        if not page.evaluate("'axe' in window"):
            page.evaluate(code)
        found = page.evaluate(
            # Style sheets, which axe would fetch and read anew, are what none of these rules needs.
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


@pytest.fixture(scope="module")
def visit(browser: Any, home: str, check: Check) -> Iterator[Callable[[str, str], Visit]]:
    """Return a function that visits a page, once for all tests: wide and on a phone, light and dark, unfolded."""
    context = browser.new_context(viewport=WIDE, reduced_motion="reduce", color_scheme="light")
    seen: dict[tuple[str, str], Visit] = {}

    def go(kind: str, language: str) -> Visit:
        if (kind, language) not in seen:
            seen[kind, language] = visited(context, home, f"{language}{KINDS.get(kind, '404.html')}", check)
        return seen[kind, language]

    yield go
    context.close()


def visited(context: Any, home: str, path: str, check: Check) -> Visit:
    found, page = Visit(), context.new_page()
    page.on("request", lambda asked: None if own(asked.url, home) else found.strangers.append(asked.url))
    page.on("response", lambda got: None if got.status < 400 else found.missing.append(got.url))
    page.on("pageerror", lambda error: found.errors.append(str(error)))
    page.goto(home + path)
    scheme(page, "default")  # the one before it chose may be remembered
    chinese = "zh/" in path  # of which the rules are held on a phone, unfolded, and of English pages on a wide screen
    if not chinese:
        found.broken += check(page)
        scheme(page, "slate")
        found.broken += check(page, COLOURS)
    page.evaluate("document.querySelectorAll('details').forEach(each => each.open = true)")
    page.set_viewport_size(PHONE)
    if chinese:
        found.broken += check(page)
    found.phone = page.evaluate("document.documentElement.scrollWidth")
    page.wait_for_load_state("networkidle")
    page.close()
    return found


def own(address: str, home: str) -> bool:
    return address.startswith((home, "data:", "blob:"))


def scheme(page: Any, name: str) -> None:
    """Switch a page to light or dark, as the button in its header does."""
    page.evaluate("name => document.querySelector(`input[data-md-color-scheme=${name}]`).click()", name)
    page.wait_for_selector(f"body[data-md-color-scheme={name}]", timeout=5000)


@each_page
def test_no_page_breaks_a_rule_of_accessibility(visit: Callable[[str, str], Visit], kind: str, language: str) -> None:
    broken = visit(kind, language).broken
    assert not broken, "\n".join(broken)


@each_page
def test_no_page_is_wider_than_a_small_phone(visit: Callable[[str, str], Visit], kind: str, language: str) -> None:
    assert visit(kind, language).phone <= PHONE["width"]


@each_page
def test_no_request_leaves_the_origin_or_is_in_vain(
    visit: Callable[[str, str], Visit], kind: str, language: str
) -> None:
    found = visit(kind, language)
    assert found.strangers == []
    assert found.missing == []
    assert found.errors == []


def test_the_rules_find_what_breaks_them(browser: Any, home: str, check: Check) -> None:
    """Without this, rules that are switched off would pass; axe tests the size of targets only on request."""
    page = browser.new_page()
    page.goto(home)
    page.evaluate(
        """document.querySelector("article").insertAdjacentHTML("beforeend",
             "<img src='data:,'><p style='color:#aaa'>pale</p>"
             + "<button style='all:unset;width:9px;height:9px;display:inline-block'>a</button>".repeat(3))"""
    )
    broken = check(page)
    page.close()
    assert {"image-alt", "color-contrast", "target-size"} <= {each.partition(":")[0] for each in broken}


@pytest.fixture
def opened(browser: Any, home: str, request: Any) -> Iterator[Any]:
    """Yield a page to act on, of the size that the test asks for."""
    size = getattr(request, "param", WIDE)
    page = browser.new_page(viewport=size, reduced_motion="reduce", has_touch=size is PHONE)
    page.goto_below = lambda path: page.goto(home + path, wait_until="networkidle")
    yield page
    page.close()


both_sizes = pytest.mark.parametrize(
    ("opened", "language"), [(WIDE, ""), (PHONE, "zh/")], indirect=["opened"], ids=["wide", "phone"]
)


@both_sizes
def test_the_search_keeps_the_rules_while_it_is_open(opened: Any, check: Check, language: str) -> None:
    opened.goto_below(language)
    opened.keyboard.press("f")
    opened.locator("input.md-search__input").fill("BERT")
    opened.locator("input.md-search__input").press("End")  # the theme listens to keys, as an input method sends them
    opened.wait_for_selector(".md-search-result__item a", state="visible")
    for name in ("default", "slate"):
        scheme(opened, name)
        broken = check(opened)
    assert not broken, "\n".join(broken)


@both_sizes
def test_a_table_keeps_the_rules_while_it_is_sorted_and_filtered(opened: Any, check: Check, language: str) -> None:
    opened.goto_below(language + KINDS["model"] + "#logs")
    table = opened.locator('.pl-table:has([data-name="runs-1"])')
    table.locator(".pl-sort").first.click()
    table.locator(".pl-filter").fill("pytorch")
    assert 0 < table.locator("tbody tr:visible").count() < table.locator("tbody tr").count()
    for name in ("default", "slate"):
        scheme(opened, name)
        broken = check(opened, within=".pl-table:has(.pl-filter)")
    assert not broken, "\n".join(broken)


@both_sizes
def test_the_table_of_all_runs_keeps_the_rules_while_it_is_sorted_and_filtered(
    opened: Any, check: Check, language: str
) -> None:
    opened.goto_below(f"{language}runs/?framework=PyTorch&sort=throughput&order=desc&text=resnet50")
    opened.wait_for_selector("#pl-explore-table[aria-busy=false]")
    assert opened.locator(".tabulator-row").count() > 5
    for name in ("default", "slate"):
        scheme(opened, name)
        broken = check(opened)
        assert not broken, "\n".join(broken)
    opened.goto_below(f"{language}runs/?text=nothing-of-the-kind&model=gone")
    assert opened.locator(".tabulator-row").count() == 0
    assert not (broken := check(opened)), "\n".join(broken)


@both_sizes
def test_a_run_that_is_shown_on_demand_keeps_the_rules(opened: Any, check: Check, language: str) -> None:
    opened.goto_below(f"{language}runs/")
    opened.wait_for_selector("#pl-explore-table[aria-busy=false]")
    opened.locator("#pl-explore-table a[href*='?run=']:visible").first.click()
    opened.wait_for_selector("#pl-explore-run[open]")
    for name in ("default", "slate"):
        scheme(opened, name)
        broken = check(opened)
        assert not broken, "\n".join(broken)
    assert opened.evaluate("document.activeElement.id") == "pl-explore-name"
    assert opened.evaluate("document.documentElement.scrollWidth") <= opened.viewport_size["width"]


@both_sizes
def test_a_comparison_keeps_the_rules_with_a_choice_and_what_forbids_it(
    opened: Any, check: Check, language: str
) -> None:
    opened.goto_below(f"{language}compare/?model=resnet50&published=1&hardware=nowhere")
    opened.wait_for_selector("#pl-compare table")
    assert opened.locator(".pl-compare-gone p").count()
    opened.evaluate("document.querySelectorAll('details').forEach(each => each.open = true)")
    for name in ("default", "slate"):
        scheme(opened, name)
        broken = check(opened)
    assert not broken, "\n".join(broken)


@pytest.mark.parametrize("opened", [PHONE], indirect=True)
def test_the_drawer_keeps_the_rules_while_it_is_open(opened: Any, check: Check) -> None:
    opened.goto_below("zh/models/resnet50/")
    opened.locator("label.md-header__button[for=__drawer]").click()
    assert opened.locator(".md-sidebar--primary").bounding_box()["x"] == 0
    broken = check(opened)
    assert not broken, "\n".join(broken)


@pytest.mark.parametrize("opened", [PHONE], indirect=True)
@pytest.mark.parametrize("kind", ["front", "model", "compare", "log"])
def test_nothing_moves_for_those_who_asked_for_stillness(opened: Any, kind: str) -> None:
    opened.goto_below(KINDS[kind])
    moving = """() => [document.body, ...document.body.querySelectorAll("*")].flatMap(each =>
        ["", "::before", "::after"].map(part => getComputedStyle(each, part)).filter(style =>
            `${style.transitionDuration},${style.animationDuration}`.split(",").some(time => parseFloat(time) > .001)
            || style.scrollBehavior === "smooth").map(() => each.className || each.nodeName))"""
    assert opened.evaluate(moving) == []
    opened.emulate_media(reduced_motion="no-preference")
    assert opened.evaluate(moving), "the theme moves for others"
