"""The front page in a browser: what a reader chooses, opens and sees, on a wide screen, a phone and paper."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

import pytest

from perfledger.ingest.site.render import colours
from tests.builders import HARDWARE
from tests.site.large import RIVALS, SHARED_MODELS, accelerator

Visit = Callable[..., Any]
WIDE = {"wide": 1440, "high": 900}
SEEN = """() => {
  const all = [...document.querySelectorAll(".pl-machine")].filter(each => each.offsetParent);
  const lines = [...document.querySelectorAll(".pl-machine .pl-row")].filter(each => each.offsetParent);
  return {hardware: all.map(each => each.dataset.fHardware.replace(/_/g, " ")), lines: lines.length,
          axes: [...new Set(lines.map(each => each.closest(".pl-axis").dataset.fAxis))],
          devices: [...new Set(lines.map(each => each.dataset.fDevices))]};
}"""

GROUP = ".pl-chips fieldset[data-name={}]"


def choose(page: Any, name: str, value: str) -> None:
    """Choose a chip, if it is not the choice already."""
    chip = page.locator(f'{GROUP.format(name)} button[value="{value}"]')
    box = chip.locator("xpath=ancestor::details")
    if box.count() and box.get_attribute("open") is None:
        box.locator("summary").click()
    if chip.get_attribute("aria-pressed") == "false":
        chip.click()


def chosen(page: Any, name: str) -> str:
    return str(page.locator(f"{GROUP.format(name)} [aria-pressed=true]").get_attribute("value"))


def seen(page: Any) -> dict[str, Any]:
    return dict(page.evaluate(SEEN))


def asked(address: str) -> dict[str, list[str]]:
    return parse_qs(urlsplit(address).query)


def test_a_choice_is_in_the_address_and_comes_back_from_it(visit: Visit, home: str) -> None:
    page = visit(home, **WIDE)
    first = seen(page)
    assert len(first["hardware"]) == len(first["axes"]) == 1
    other = page.eval_on_selector_all(f"{GROUP.format('hardware')} button", "found => found.map(each => each.value)")[1]
    choose(page, "hardware", other)
    assert seen(page)["hardware"] == [other]
    assert asked(page.url) == {"hardware": [other]}
    page.go_back()
    assert seen(page) == first
    choose(page, "hardware", HARDWARE)
    choose(page, "axis", "framework")
    choose(page, "devices", "1")
    assert seen(page)["devices"] == ["1"]
    search = page.evaluate("location.search")
    page.reload()
    assert (chosen(page, "devices"), seen(page)["axes"]) == ("1", ["framework"])
    link = page.locator('.md-select a[hreflang="zh"]').get_attribute("href")
    assert urlsplit(link).query == search[1:]
    page.goto(f"{home}zh/{search}")
    assert chosen(page, "devices") == "1"
    page.goto(f"{home}?hardware=%3Cb%3Eno&devices=77&precision=none")
    said = page.locator(".pl-chips [role=status]").inner_text()
    assert "There is no Hardware “<b>no” here." in said
    assert "Devices “77”" in said
    assert seen(page) == first


def test_an_axis_and_a_choice_without_results_are_not_offered_and_say_why(visit: Visit, home: str) -> None:
    page = visit(home, **WIDE)
    for chip in page.locator(".pl-chips button.pl-chip:disabled").all():
        assert chip.get_attribute("title") == "No result with the rest of the choice"
    assert page.locator(f"{GROUP.format('axis')} button:disabled").count() > 0
    chips = page.locator(f"{GROUP.format('devices')} button:enabled:visible:has(b)")
    assert chips.count() > 0
    for value in chips.evaluate_all("all => all.map(e => e.value)"):
        choose(page, "devices", value)
        count = page.locator(f'{GROUP.format("devices")} button[value="{value}"] b').inner_text()
        assert seen(page)["lines"] == int(count) > 0


def test_a_row_opens_by_keyboard_says_its_reasons_and_agrees_with_the_model(visit: Visit, home: str) -> None:
    page = visit(home, **WIDE)
    button = page.locator(".pl-sure button:visible").first
    detail = page.locator(f"[id='{button.get_attribute('aria-controls')}']")
    assert (button.get_attribute("aria-expanded"), detail.is_visible()) == ("false", False)
    button.focus()
    page.keyboard.press("Enter")
    assert (button.get_attribute("aria-expanded"), detail.is_visible()) == ("true", True)
    assert detail.locator(".pl-marks li").count() > 0
    detail.locator(".pl-plot .pl-drawn svg").wait_for()
    assert detail.locator(".pl-plot a.pl-mark").count() > 1
    page.keyboard.press("Enter")
    assert not detail.is_visible()
    row = page.locator(".pl-sure:has(button):visible").first.inner_text()
    assert row.split("\n")[:2] == ["Too close 1.02–1.03× PyTorch", "2 runs each; about 5 each would settle it"]
    page.goto(f"{home}models/resnet50/")
    verdict = page.locator(".pl-answers li").first.inner_text()
    assert "1.02–1.03× PyTorch" in verdict


def test_hardware_that_only_others_measured_has_their_table_and_leads_to_comparisons(visit: Visit, home: str) -> None:
    page = visit(f"{home}zh/", **WIDE)
    only = page.locator(".pl-chip.pl-of-others").first.get_attribute("value")
    choose(page, "hardware", only)
    assert "第三方公布" in page.locator(".pl-machine:visible h2").inner_text()
    assert "不参与排名" in page.locator(".pl-machine .pl-tally:visible").inner_text()
    assert seen(page)["lines"] > 0
    assert page.locator(".pl-share:visible:not(.pl-absent) .pl-outline").count() > 0
    assert page.locator(".pl-share[style]:visible").count() == 0
    targets = page.locator(".pl-row:visible th a").evaluate_all("found => found.map(each => each.href)")
    for target in targets[:2]:
        page.goto(target)
        page.wait_for_selector(".pl-compare-table tbody tr")
        for name in ("hardware", "model"):
            assert page.evaluate(f"plChips.choice.{name}") == asked(target)[name][0], target


def test_without_scripts_every_table_and_reason_is_there(visit: Visit, home: str, large_home: str) -> None:
    page = visit(home, **WIDE, java_script_enabled=False)
    machines = page.locator(".pl-machine")
    assert machines.count() > 1
    assert all(each.locator("h2").is_visible() for each in machines.all())
    assert page.locator(".pl-row").count() == page.locator(".pl-row:visible").count() > 0
    assert page.locator(".pl-why").count() == page.locator(".pl-why:visible").count() > 0
    assert not page.locator(".pl-chips").is_visible()
    page.goto(large_home)
    assert page.locator(".pl-elsewhere a:visible").count() > 1, "hardware for which there is no room is linked"


@pytest.mark.parametrize("language", ["", "zh/"])
def test_a_phone_shows_a_card_per_row_with_bars_as_long_as_their_shares(visit: Visit, home: str, language: str) -> None:
    page = visit(home + language, wide=390, high=844)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    cut = page.evaluate(
        """[...document.querySelectorAll("article .pl-machine *, article .pl-facts-line *")]
           .filter(node => node.offsetParent && node.getBoundingClientRect().right > innerWidth + 0.5
                   && !node.closest("thead")).map(node => node.outerHTML)"""
    )
    assert cut == []
    card = page.locator(".pl-cards > li:visible").first
    assert card.bounding_box()["y"] + card.bounding_box()["height"] < 844, "the first figure is on the first screen"
    row = page.locator(".pl-row:visible").first
    assert row.evaluate("node => getComputedStyle(node).display") == "flex"
    for cell in row.locator(".pl-share[style]").all():
        share = float(cell.get_attribute("style").removeprefix("--s:"))
        bar = cell.locator("small").first.evaluate("node => getComputedStyle(node).backgroundImage")
        assert f" {share:g}%" in bar
        assert cell.get_attribute("data-name") in cell.evaluate("node => getComputedStyle(node, '::before').content")
    words = {"": "Switch to dark mode", "zh/": "切换到深色模式"}[language]
    names = page.locator("[data-md-component=palette] label").evaluate_all("all => all.map(node => node.title)")
    assert words in names
    assert not [each for each in names if "·" in each]


def test_colours_follow_the_scheme_bars_are_printed_and_chinese_is_not_slanted(visit: Visit, home: str) -> None:
    for scheme in ("light", "dark"):
        page = visit(f"{home}zh/", color_scheme=scheme)
        wanted = getattr(colours.ink("PyTorch"), scheme)
        written = "rgb({}, {}, {})".format(*(int(wanted[at : at + 2], 16) for at in (1, 3, 5)))
        swatch = page.locator(".pl-swatch.pl-ink-pytorch").first
        assert swatch.evaluate("node => getComputedStyle(node).backgroundColor") == written
    style = page.evaluate(
        """(() => { const node = document.createElement("em"); node.textContent = "强调";
           document.querySelector("article p").append(node); const found = getComputedStyle(node);
           return [found.fontStyle, found.letterSpacing]; })()"""
    )
    assert style == ["normal", "normal"]
    page.emulate_media(media="print")
    # A browser leaves out backgrounds on paper, unless a style sheet asks for them.
    bar = page.locator(".pl-share[style]:visible").first
    assert bar.is_visible()
    assert bar.evaluate("node => getComputedStyle(node).printColorAdjust") == "exact"


def test_our_own_page_is_short_and_does_not_move(visit: Visit, real_home: str) -> None:
    page = visit("about:blank", **WIDE)
    page.add_init_script("""window.moved = 0; new PerformanceObserver(list => list.getEntries().forEach(each => {
      if (!each.hadRecentInput) window.moved += each.value; })).observe({type: "layout-shift", buffered: true});""")
    page.goto(real_home, wait_until="networkidle")
    assert page.evaluate("document.body.scrollHeight") < 6000
    assert page.evaluate("window.moved") < 0.05
    assert page.locator(".pl-cards:visible").first.bounding_box()["y"] < 500
    assert page.locator(".pl-row:visible").first.bounding_box()["y"] < 900


def test_on_a_phone_the_reason_for_an_outline_does_not_cover_the_figure(visit: Visit, real_home: str) -> None:
    page = visit(real_home, wide=390, high=844)
    page.locator(".pl-share:visible > .pl-outline").first.scroll_into_view_if_needed()
    covered, reasons = page.evaluate(
        """() => {
          const seen = [...document.querySelectorAll(".pl-share")].filter(each => each.offsetParent);
          const boxes = cell => [...cell.children].map(each => each.getBoundingClientRect());
          const cross = (a, b) => Math.min(a.right, b.right) - Math.max(a.left, b.left) > 1
                                  && Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 1;
          const isCovered = cell => boxes(cell).some((a, at, all) => all.slice(at + 1).some(b => cross(a, b)));
          return [seen.filter(isCovered).map(each => each.innerText),
                  seen.filter(each => each.querySelector(":scope > small:not(.pl-percent)")).length];
        }"""
    )
    assert covered == []
    assert reasons


def test_hardware_without_room_on_the_front_page_leads_to_its_own_with_the_same_choice(
    visit: Visit, large_home: str
) -> None:
    """A table longer than a screen begins with the devices of most comparisons; the first accelerators have rivals."""
    page = visit(large_home, **WIDE)
    assert page.locator(".pl-machine").count() == 1
    first = seen(page)["hardware"]
    (other, *_) = [each for each in map(accelerator, (1, 2, 0)) if each not in first]
    page.locator(f'{GROUP.format("hardware")} a[data-value="{other}"]').click()
    page.wait_for_url(f"{large_home}hardware/*/")
    there = page.url
    page.goto(f"{large_home}?{urlencode({'hardware': other})}")
    page.wait_for_url(f"{there}?*")
    assert page.locator("h1").inner_text().startswith(other)
    assert chosen(page, "devices") == "8"
    assert page.locator(".pl-row:visible").count() == SHARED_MODELS
    link = page.locator(".pl-row:visible th a").first
    assert link.evaluate("each => each.href").startswith(f"{large_home}models/")
    choose(page, "devices", "all")
    assert page.locator(".pl-row:visible").count() > 2 * SHARED_MODELS
    assert asked(page.url)["devices"] == ["all"]
    page.reload()
    assert chosen(page, "devices") == "all"
    page.goto(f"{large_home}zh/hardware/accelerator-0{RIVALS - 1}-of-80-gb/")
    assert page.locator(".pl-row:visible").count() == SHARED_MODELS
