"""The page of a model as it is written: what it has room for, and what other pages have."""

from __future__ import annotations

import re

import pytest

from perfledger.ingest.common.words import LANGUAGES, own
from perfledger.ingest.compute.results import results
from perfledger.ingest.site.model import Site, suites
from perfledger.ingest.site.pages import model
from perfledger.ingest.site.render import jinja
from tests.builders import run

MODEL = "models/resnet50/"
WEIGHT = 80_000


@pytest.mark.parametrize("language", LANGUAGES)
def test_two_hundred_results_are_less_than_80_kb(language: str) -> None:
    """The HTML of the tab of results, without the drawings of charts."""
    runs = [
        run(f"resnet50-{framework}-{devices}-{size}-{precision}", framework=framework, devices=devices,
            batch_size=size, precision=precision, speed=400.0 * devices + len(framework) * size / 10)
        for framework in ("PyTorch", "TensorFlow", "PaddlePaddle", "MXNet", "JAX")
        for devices in (1, 2, 4, 8, 32)
        for size in (32, 64, 128, 256)
        for precision in ("fp32", "amp")
    ]  # fmt: skip
    site = Site(tuple(sorted(runs, key=lambda each: each.id)), (), suites(), results)
    assert sum(map(len, site.rows.values())) == 200
    page, full = model.pages(site)
    written = dict(zip(LANGUAGES, jinja.rendered(own(), page), strict=True))[language]
    tab = written[written.index("{: #results }") : written.index("{: #scaling }")]
    tab = re.sub(r"<svg .*?</svg>", "", tab, flags=re.DOTALL)
    assert 10_000 < len(tab.encode()) < WEIGHT
    assert tab.count('class="pl-rest"') == 2, "both tables have few of their rows here"
    everything = next(iter(jinja.rendered(own(), full)))
    assert len(re.findall(r"<tr data-f-devices", everything)) == 40


@pytest.mark.parametrize("language", LANGUAGES)
def test_of_much_hardware_the_first_is_shown_whole_and_the_rest_on_another_page(language: str) -> None:
    names = [f"Made-up accelerator {number}" for number in range(1, 8)]
    runs = [
        run(
            f"r-{number}-{framework}-{devices}",
            hardware=name,
            framework=framework,
            devices=devices,
            speed=devices * 100.0,
        )
        for number, name in enumerate(names)
        for framework in ("PyTorch", "JAX")
        for devices in (1, 2, 4)
    ]
    page, _, further = model.pages(Site(tuple(sorted(runs, key=lambda each: each.id)), (), suites(), results))
    whole, rest = (dict(zip(LANGUAGES, jinja.rendered(own(), of), strict=True))[language] for of in (page, further))
    shown, left = names[: model.HARDWARE_SHOWN], names[model.HARDWARE_SHOWN :]
    assert len(left) == 2
    for section, after in (("charts", "summary"), ("scaling", "evidence"), ("beside", "environment")):
        mine = part(whole, section, after)
        assert [name for name in names if f'data-f-hardware="{name}"' in mine] == shown
        assert f"(further.md{'' if section == 'charts' else f'#{section}'})" in mine
        assert f'data-f-hardware="{left[0]}"' in (there := rest[rest.index(f"{{: #{section} }}") :])
        assert f'data-f-hardware="{shown[0]}"' not in there
    assert all(f'data-f-hardware="{name}"' in part(whole, "comparison", "charts") for name in names)


def test_scaling_that_no_hardware_has_is_linked_nowhere() -> None:
    runs = [run(f"r-{number}", hardware=f"Made-up accelerator {number}") for number in range(1, 8)]
    page, _, further = model.pages(Site(tuple(runs), (), suites(), results))
    whole, rest = (next(iter(jinja.rendered(own(), of))) for of in (page, further))
    assert own().text("en", "model.no_scaling") in part(whole, "scaling", "evidence")
    assert "(further.md#scaling)" not in whole
    assert "{: #scaling }" not in rest
    assert "(further.md#beside)" in whole
    few = Site(tuple(runs[: model.HARDWARE_SHOWN]), (), suites(), results)
    assert [each.path for each in model.pages(few)] == [f"{MODEL}index.md", f"{MODEL}all-results.md"]


def part(text: str, begin: str, end: str) -> str:
    """Return the part of a page between the marks of two places."""
    return re.split(rf'{{: #{end} }}|id="{end}"', text.partition(f"{{: #{begin} }}")[2])[0]
