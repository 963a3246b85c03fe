"""The policy of the site in a browser: every page obeys it, and what is planted neither runs nor asks for anything."""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from tests.site import kinds, markup, planted
from tests.site.conftest import ROOT, served

TELL = (
    "addEventListener('securitypolicyviolation', e => console.error('policy: ' + e.violatedDirective + e.blockedURI))"
)
#: Texts as they stand in addresses that a reader may be sent.
HOSTILE = [quote(planted.TEXTS[each]) for each in ("image", "quote", "prototype")]
#: The scripts of the theme that theme/partials/javascripts/ has as files: where one changes, its file here must follow.
INLINE = {
    "base.html": "d6113712bc4deb30b4bd810ee0dfc28b6f04d2f88cc0016c0f1766eac7b762b6",
    "palette.html": "8790389765ea6036effddba548b15093bb05bdc75624eaeaf8b13f3c24be4ab5",
    "content.html": "3722e156f0f6339de39fbbfc178b6e401d1a4fb890f189ac5b80c2504bda7dcf",
}


@pytest.fixture(scope="module")
def hostile(planted_site: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with served(planted_site, tmp_path_factory.mktemp("served-planted")) as found:
        yield found


@pytest.fixture
def watched(browser: Any) -> Iterator[Any]:
    """Yield a page that fails its test on a violation of the policy, a dialogue, an error, or a request elsewhere."""
    page, wrong = browser.new_page(viewport={"width": 1280, "height": 900}), []
    page.add_init_script(TELL)
    page.on("console", lambda told: wrong.append(told.text) if "policy" in told.text.lower() else None)
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.on("dialog", lambda dialog: (wrong.append(dialog.message), dialog.dismiss()))
    page.on("request", lambda asked: None if asked.url.startswith(LOCAL) else wrong.append(asked.url))
    page.wrong = wrong
    yield page
    page.close()
    assert wrong == []


LOCAL = ("http://127.0.0.1:", "data:", "blob:")


def visit(page: Any, address: str) -> None:
    page.goto(address)
    assert page.locator("article.md-content__inner h1").count() == 1
    assert page.wrong == []


@pytest.mark.parametrize("language", ["", "zh/"])
def test_every_kind_of_page_obeys_the_policy(watched: Any, home: str, language: str) -> None:
    for path in kinds.KINDS.values():
        visit(watched, home + language + path)
    for path in ("", "compare/", "nothing/here/"):  # and what is fetched later
        watched.goto(home + language + path, wait_until="networkidle")


@pytest.mark.parametrize(
    "act",
    [
        "document.body.append(Object.assign(document.createElement('script'), {textContent: 'alert(1)'}))",
        "document.body.insertAdjacentHTML('beforeend', '<img src=x onerror=alert(1)>')",
        "document.body.append(Object.assign(document.createElement('img'), {src: 'https://evil.example/x'}))",
        "document.body.append(Object.assign(document.createElement('iframe'), {src: 'https://evil.example/'}))",
        "document.head.append(Object.assign(document.createElement('style'), {textContent: 'p { color: red }'}))",
        "document.head.append(Object.assign(document.createElement('base'), {href: 'https://evil.example/'}))",
        "void fetch('https://evil.example/').catch(() => 0)",
        "void setTimeout('alert(1)')",
    ],
)
def test_the_policy_stops_what_text_could_become(watched: Any, home: str, act: str) -> None:
    visit(watched, home)
    with watched.expect_console_message(lambda told: told.text.startswith("policy: ")):
        watched.evaluate(act)
    # The browser tells of what it refused to ask for, too.
    assert not [each for each in watched.wrong if "policy" not in each.lower() and "evil.example" not in each]
    watched.wrong.clear()


def test_what_the_theme_keeps_works_without_scripts_within_pages(watched: Any, home: str) -> None:
    visit(watched, home + "models/resnet50/")
    watched.locator("label.md-header__button[for=__palette_1]").click()
    assert watched.locator("body").get_attribute("data-md-color-scheme") == "slate"
    visit(watched, home + "zh/models/resnet50/")
    assert watched.locator("body").get_attribute("data-md-color-scheme") == "slate"
    watched.locator("input.md-search__input").click()
    watched.locator("input.md-search__input").fill("BERT")
    watched.locator("input.md-search__input").press("End")
    watched.wait_for_selector(".md-search-result__item a", state="attached")


def test_the_worst_pages_run_nothing(watched: Any, hostile: str, planted_site: Path) -> None:
    runs = sorted((planted_site / "runs").glob("*/log/index.html"))[::20]
    lists = (
        "",
        "zh/",
        "models/hostile/",
        "zh/models/hostile/",
        "runs/",
        "problems/",
        "zh/problems/",
        "audit/",
        "data/",
    )
    for path in (*lists, *(each.parent.relative_to(planted_site).as_posix() + "/" for each in runs)):
        visit(watched, hostile + path)
    visit(watched, hostile + runs[0].parent.parent.relative_to(planted_site).as_posix() + "/")


def test_what_is_found_is_shown_as_text(watched: Any, hostile: str) -> None:
    watched.goto(hostile, wait_until="networkidle")
    field = watched.locator("input.md-search__input")
    field.click()
    for asked in ("image", "script", "<img src=x onerror=alert(1)>"):
        field.fill(asked)
        field.press("End")
        watched.wait_for_timeout(100)
    assert watched.locator(".md-search-result img, .md-search-result script").count() == 0


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_addresses_run_nothing(watched: Any, hostile: str, text: str) -> None:
    given = f"model={text}&by={text}&metric={text}&ref={text}&hardware={text}&option.{text}={text}&batch={text}"
    for page in (f"compare/?{given}#{text}", f"compare/?model=hostile&framework={text}&option.named={text}#{text}"):
        visit(watched, hostile + page)
    visit(watched, hostile + f"?metric={text}&h={text}&q={text}#{text}")
    visit(watched, hostile + f"models/hostile/?metric={text}&h={text}#L{text}-L{text}")


def test_the_comparison_shows_hostile_names_as_text(watched: Any, hostile: str) -> None:
    visit(watched, hostile + "compare/?model=hostile")
    watched.wait_for_selector("#pl-compare tbody tr")
    shown = watched.locator("#pl-compare").inner_text()
    assert any(planted.TEXTS[each] in shown for each in ("image", "script", "frame", "form", "base")), shown
    assert watched.locator("#pl-compare :is(img, script, iframe, form[action], base, style)").count() == 0


@pytest.mark.parametrize("language", ["", "zh/"])
def test_the_table_of_all_runs_shows_hostile_names_as_text(watched: Any, hostile: str, language: str) -> None:
    visit(watched, f"{hostile}{language}runs/?text=onerror")
    watched.wait_for_selector("#pl-explore-table[aria-busy=false]")
    assert watched.locator(".tabulator-row").count() > 5
    assert "<img src=x onerror=alert(1)>" in watched.locator("#pl-explore-table").inner_text()
    inside = watched.locator("#pl-explore-table :is(img, script, iframe, form, base, style, b, i)")
    assert inside.count() == 0
    assert all(
        each.startswith(hostile)
        for each in watched.locator("#pl-explore-table a").evaluate_all("all => all.map(a => a.href)")
    )
    watched.goto(
        f"{hostile}{language}runs/?"
        + "&".join(f"{name}={text}" for text in HOSTILE for name in ("model", "text", "sort"))
    )
    watched.wait_for_selector("#pl-explore-table[aria-busy=false]")


def test_the_styles_of_the_page_for_what_is_missing_are_those_that_the_policy_names(whole: Path) -> None:
    page = (whole / "404.html").read_text("utf-8")
    [style] = re.findall(r"<style>(.*?)</style>", page)
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    assert f"style-src 'self' 'sha256-{digest}'" in page


def test_the_policy_is_on_every_page_before_all_else(planted_site: Path, whole: Path) -> None:
    for path in (*markup.pages(planted_site), *markup.pages(whole)):
        [policy] = [each for each in markup.read(path).elements("meta") if "http-equiv" in each.given]
        told = dict(part.split(" ", 1) for part in policy.given["content"].split("; "))
        assert told["default-src"] == told["base-uri"] == told["form-action"] == "'none'"
        assert told["script-src"] == told["connect-src"] == told["worker-src"] == "'self'"
        text = path.read_text("utf-8")
        assert text.index("Content-Security-Policy") < min(text.index("<script"), text.index("<link"))


@pytest.mark.parametrize("name", INLINE)
def test_the_scripts_that_we_took_out_of_the_theme_are_those_of_this_theme(name: str) -> None:
    import material

    own = ROOT / "report_templates" / "theme" / "partials" / "javascripts" / name
    theirs = Path(material.__file__).parent / "templates" / "partials" / "javascripts" / name
    assert own.is_file()
    assert hashlib.sha256(theirs.read_bytes()).hexdigest() == INLINE[name], (
        f"the theme's {name} has changed: bring theme/assets/js/theme-*.js up to it, and write down its SHA-256 here"
    )
