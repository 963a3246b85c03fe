"""The front page in a browser: what a reader chooses, opens and sees, on a wide screen, a phone and paper."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from perfledger.ingest.site.render import colours
from tests.builders import HARDWARE
from tests.site.large import RIVALS, SHARED_MODELS, accelerator

Visit = Callable[..., Any]
WIDE = {"wide": 1440, "high": 900}
SEEN = """() => {
  const all = [...document.querySelectorAll(".pl-machine")].filter(each => each.offsetParent);
  const lines = [...document.querySelectorAll(".pl-machine [data-suite]")].filter(each => each.offsetParent);
  return {hardware: all.map(each => each.dataset.hardware), lines: lines.length,
          devices: [...new Set(lines.map(each => each.dataset.devices))]};
}"""


def seen(page: Any) -> dict[str, Any]:
    return dict(page.evaluate(SEEN))


def asked(address: str) -> dict[str, list[str]]:
    return parse_qs(urlsplit(address).query)


def test_a_choice_is_in_the_address_and_comes_back_from_it(visit: Visit, home: str) -> None:
    page = visit(home, **WIDE)
    first = seen(page)
    assert first["hardware"] == [HARDWARE]
    other = page.eval_on_selector_all(".pl-machine", "found => found.map(each => each.dataset.hardware)")[1]
    page.select_option("[name=hardware]", other)
    assert seen(page)["hardware"] == [other]
    assert asked(page.url) == {"hardware": [other]}
    page.go_back()
    assert seen(page) == first
    page.select_option("[name=devices]", "1")
    page.locator(".pl-chosen .pl-alone summary").click()
    assert seen(page)["devices"] == ["1"]
    assert 0 < seen(page)["lines"] <= first["lines"] + page.locator(".pl-alone li").count()
    count = page.locator(".pl-chosen .pl-alone summary span").inner_text()
    assert int(count) == page.locator(".pl-chosen .pl-alone li:visible").count()
    chosen = page.evaluate("location.search")
    page.reload()
    assert page.locator("[name=devices]").input_value() == "1"
    link = page.locator('.md-select a[hreflang="zh"]').get_attribute("href")
    assert urlsplit(link).query == chosen[1:]
    page.goto(f"{home}zh/{chosen}")
    assert page.locator("[name=devices]").input_value() == "1"
    page.goto(f"{home}?hardware=%3Cb%3Eno&devices=77&precision=half")
    said = page.locator(".pl-choose-said").inner_text()
    assert "This link asks for Hardware “<b>no”, which is not available." in said
    assert "Devices “77”" in said
    assert seen(page)["hardware"] == [HARDWARE]


def test_the_level_is_kept_in_the_address_and_goes_along_to_the_models(visit: Visit, home: str) -> None:
    page = visit(home, **WIDE)
    for level in ("identical", "workload", "everything"):
        page.select_option("[name=level]", level)
        assert asked(page.url).get("level", ["workload"]) == [level]
        lines = page.locator(".pl-chosen [data-level]:visible")
        assert lines.count() > 1
        assert all(level in each.get_attribute("data-level").split() for each in lines.all())
        assert page.locator(".pl-chosen .pl-tally:visible").count() == 1
        link = page.locator(".pl-chosen .pl-row:visible th a").first
        assert asked(link.get_attribute("href")).get("level", ["workload"]) == [level]
    page.reload()
    assert page.locator("[name=level]").input_value() == "everything"
    page.locator(".pl-chosen .pl-row:visible th a").first.click()
    page.wait_for_url("**/models/**")
    assert page.locator("select[name=level]").input_value() == "everything"
    shown = page.locator("[data-f-level]:visible")
    assert shown.count() == 1
    assert "everything" in shown.get_attribute("data-f-level").split()


def test_a_row_opens_by_keyboard_says_its_reasons_and_agrees_with_the_model(visit: Visit, home: str) -> None:
    page = visit(home, **WIDE)
    button = page.locator(".pl-chosen .pl-sure button").first
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
    row = page.locator(".pl-row").first.locator(".pl-sure").inner_text()
    assert row.split("\n")[:2] == ["Too close to call 1.02–1.03× PyTorch", "2 runs each; about 5 each would settle it"]
    page.goto(f"{home}models/resnet50/")
    verdict = page.locator(".pl-verdicts li").first.inner_text()
    assert "Too close to call PaddlePaddle at 1.02 to 1.03 times the speed of PyTorch, 2 runs each" in verdict


def test_third_parties_are_shown_where_asked_for_and_lead_to_comparisons_and_reports(visit: Visit, home: str) -> None:
    page = visit(f"{home}zh/")
    assert page.locator(".pl-facts a[href='#others']").count() == 1
    targets = page.eval_on_selector_all(".pl-others dd:not(.pl-by) a", "found => found.map(each => each.href)")
    places = page.eval_on_selector_all(".pl-others .pl-by a", "found => found.map(each => each.href)")
    assert len(targets) > 3
    assert places
    assert not page.locator(".pl-others dt").first.is_visible()
    options = "[name=hardware] optgroup:last-child option"
    only = page.eval_on_selector_all(options, "found => found.map(each => each.value)")[0]
    page.goto(f"{home}?hardware={only}&others=1")
    assert page.locator("[name=others]").is_checked()
    assert page.locator(".pl-others dt:visible").all_inner_texts() == [only]
    assert seen(page)["hardware"] == [only]
    page.goto(f"{home}zh/?hardware={only}")
    assert "仅有第三方公布数据" in page.locator(".pl-published h2:visible").inner_text()
    assert "没有实测结果" in page.locator(".pl-published:visible .pl-tally").inner_text()
    assert seen(page)["lines"] > 0
    devices = seen(page)["devices"][0]
    page.select_option("[name=devices]", devices)
    assert seen(page)["devices"] == [devices]
    for target in targets[:3]:
        page.goto(target)
        page.wait_for_selector(".pl-compare-table tbody tr")
        for name in ("hardware", "model"):
            assert page.locator(f"#pl-c-{name}").input_value() == "=" + asked(target)[name][0], target
        assert page.locator("#pl-c-published").is_checked(), target
        # A link that does not ask for third parties: on hardware without our results they are included with a message.
        page.goto(target.replace("&published=1", ""))
        page.wait_for_selector(".pl-compare-table tbody tr")
        is_theirs = page.locator("#pl-c-published").is_checked()
        assert page.locator("#pl-c-hardware").input_value() == "=" + asked(target)["hardware"][0]
        assert is_theirs == ("没有该模型在" in page.locator(".pl-compare-gone").inner_text())
    page.goto(places[0])
    assert page.locator(f"h2[id='{urlsplit(places[0]).fragment}']").count() == 1


def test_without_scripts_every_table_and_reason_is_there(visit: Visit, home: str, large_home: str) -> None:
    page = visit(home, **WIDE, java_script_enabled=False)
    machines = page.locator(".pl-machine")
    assert machines.count() > 1
    assert all(each.locator("h2").is_visible() for each in machines.all())
    usual = "[data-level~=workload]"
    ours = page.locator(".pl-machine:not(.pl-published) .pl-row:visible")
    assert page.locator(f".pl-row{usual}").count() == ours.count() > 0
    assert page.locator(".pl-published .pl-row:visible").count() > 0
    assert page.locator(f".pl-row{usual} + .pl-why").count() == page.locator(".pl-why:visible").count() > 0
    assert not page.locator(".pl-choose").is_visible()
    page.goto(large_home)
    assert page.locator(".pl-elsewhere a:visible").count() > 1, "hardware for which there is no room is linked"


@pytest.mark.parametrize("language", ["", "zh/"])
def test_a_phone_shows_a_card_per_row_with_bars_as_long_as_their_shares(visit: Visit, home: str, language: str) -> None:
    page = visit(home + language, wide=390, high=844)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    cut = page.evaluate(
        """[...document.querySelectorAll("article .pl-machine *, article .pl-facts *, article .pl-choose *")]
           .filter(node => node.offsetParent && node.getBoundingClientRect().right > innerWidth + 0.5
                   && !node.closest("thead")).map(node => node.outerHTML)"""
    )
    assert cut == []
    assert page.locator(".pl-chosen .pl-row[hidden]").count() > 0
    assert not page.locator(".pl-chosen .pl-row[hidden]:visible").count()
    row = page.locator(".pl-chosen .pl-row").first
    assert row.evaluate("node => getComputedStyle(node).display") == "flex"
    assert row.bounding_box()["y"] + row.bounding_box()["height"] < 844, "the first answer is on the first screen"
    for cell in row.locator(".pl-share[style]").all():
        share = float(cell.get_attribute("style").removeprefix("--s:"))
        bar = cell.locator("small:not(.pl-theirs)").evaluate("node => getComputedStyle(node).backgroundImage")
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
    bar = page.locator(".pl-share[style]").first
    assert bar.is_visible()
    assert bar.evaluate("node => getComputedStyle(node).printColorAdjust") == "exact"


def test_our_own_page_is_short_and_does_not_move(visit: Visit, real_home: str) -> None:
    page = visit("about:blank", **WIDE)
    page.add_init_script("""window.moved = 0; new PerformanceObserver(list => list.getEntries().forEach(each => {
      if (!each.hadRecentInput) window.moved += each.value; })).observe({type: "layout-shift", buffered: true});""")
    page.goto(real_home, wait_until="networkidle")
    assert page.evaluate("document.body.scrollHeight") < 6000
    assert page.evaluate("window.moved") < 0.05
    assert page.locator(".pl-chosen .pl-row").first.bounding_box()["y"] < 500


def test_further_tables_are_loaded_when_they_are_chosen(visit: Visit, large_home: str) -> None:
    """A table longer than a screen begins with the devices of most comparisons; the first accelerators have rivals."""
    page = visit(large_home, **WIDE)
    assert page.locator(".pl-machine").count() == 1
    first = seen(page)["hardware"]
    (other, *_) = [each for each in map(accelerator, (1, 2, 0)) if each not in first]
    full = accelerator(2)
    for name in (other, full):
        page.select_option("[name=hardware]", name)
        page.wait_for_function("name => document.querySelector('.pl-chosen').dataset.hardware === name", arg=name)
        assert page.locator(".pl-chosen h2").inner_text().startswith(name)
        assert page.locator("[name=devices]").input_value() == "8"
        assert page.locator(".pl-chosen .pl-row:visible").count() == SHARED_MODELS
    link = page.locator(".pl-chosen .pl-row:visible th a").first
    assert link.evaluate("each => each.href").startswith(f"{large_home}models/")
    page.select_option("[name=devices]", "")
    assert page.locator(".pl-chosen .pl-row:visible").count() == 2 * SHARED_MODELS
    assert asked(page.url)["devices"] == ["all"]
    page.reload()
    page.wait_for_function("name => document.querySelector('.pl-chosen').dataset.hardware === name", arg=full)
    assert page.locator("[name=devices]").input_value() == ""
    page.goto(f"{large_home}zh/hardware/accelerator-0{RIVALS - 1}-of-80-gb/")
    assert page.locator(".pl-row:visible").count() == SHARED_MODELS
