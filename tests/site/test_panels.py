"""The page of a model as it is written: all results, with the facts of its filters."""

from __future__ import annotations

import re

import pytest

from perfledger.ingest.common.words import LANGUAGES, own
from perfledger.ingest.site.model import site_of_runs
from perfledger.ingest.site.pages import model
from perfledger.ingest.site.render import jinja
from perfledger.schema.records import Run
from tests.builders import run

#: Bytes of the results of a model's page for each result: the largest model has 55 results.
WEIGHT = 1_400


def page_of(runs: list[Run], language: str = "en") -> str:
    site = site_of_runs(runs)
    page = model.pages(site)[0]
    return dict(zip(LANGUAGES, jinja.rendered(own(), page), strict=True))[language]


@pytest.mark.parametrize("language", LANGUAGES)
def test_all_results_are_rows_that_the_filters_know(language: str) -> None:
    runs = [
        run(f"resnet50-{framework}-{devices}-{size}-{precision}", framework=framework, devices=devices,
            batch_size=size, precision=precision, speed=400.0 * devices + len(framework) * size / 10)
        for framework in ("PyTorch", "NGC TensorFlow", "PaddlePaddle")
        for devices in (1, 8)
        for size in (32, 64)
        for precision in ("fp32", "amp")
    ]  # fmt: skip
    page = page_of(runs, language)
    shown = page[page.index('id="comparison"') : page.index('id="scaling"')]
    facets = re.findall(
        r'<tr data-f-hardware="([^"]+)" data-f-precision="(\w+)" data-f-devices="(\d+)" data-f-framework="([^"]+)"',
        shown,
    )
    assert len(facets) == 24
    assert {each[3] for each in facets} == {"PyTorch", "NGC_TensorFlow", "PaddlePaddle"}
    assert {each[1:3] for each in facets} == {("fp32", "1"), ("fp32", "8"), ("half", "1"), ("half", "8")}
    chips = dict(re.findall(r'<button type="button" class="pl-chip" [^>]*value="([^"]+)">[^<]*<b>(\d+)</b>', page))
    assert chips == {
        "1": "12",
        "8": "12",
        "fp32": "12",
        "half": "12",
        "PyTorch": "8",
        "NGC TensorFlow": "8",
        "PaddlePaddle": "8",
    }
    assert len(shown.encode()) < WEIGHT * len(runs)
    # 3222.4 images/s on eight devices, and 422.4 on one.
    assert {"en": "7.63×, 95.4%", "zh": "7.63×、95.4%"}[language] in shown


def test_answers_and_charts_have_the_facts_of_their_results() -> None:
    """Each has one number of devices and one group of precisions, so that a choice of these leaves the right ones."""
    runs = [
        run(f"r-{framework}-{devices}-{precision}", framework=framework, devices=devices, precision=precision,
            speed=100.0 * devices + len(framework))
        for framework in ("PyTorch", "JAX")
        for devices in (1, 8)
        for precision in ("fp32", "amp")
    ]  # fmt: skip
    page = page_of(runs)
    answers = re.findall(
        r'<li data-f-hardware="[^"]+" data-f-devices="(\d)" data-f-framework="JAX PyTorch" data-f-precision="(\w+)">',
        page,
    )
    charts = re.findall(
        r'<div data-f-hardware="[^"]+" data-f-precision="(\w+)" data-f-devices="(\d)" data-f-framework="JAX PyTorch"',
        page,
    )
    wanted = {(devices, group) for devices in "18" for group in ("fp32", "half")}
    assert set(answers) >= wanted
    assert {(devices, group) for group, devices in charts} == wanted
    assert len(charts) == 4


def test_a_model_on_one_device_has_no_part_about_scaling() -> None:
    page = page_of([run(f"r-{number}", hardware=f"Made-up accelerator {number}") for number in range(1, 8)])
    assert "#scaling" not in page
    assert page.count("pl-panel pl-open") == 1
