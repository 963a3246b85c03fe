"""Sites of one or two logs, as strangers build them: nothing is empty, and one is not called several."""

from __future__ import annotations

import re
from collections.abc import Mapping

import pytest

from perfledger.ingest.common.words import LANGUAGES, own
from perfledger.ingest.site.model import site_of_runs
from perfledger.ingest.site.pages import front, hardware, model
from perfledger.ingest.site.render import jinja
from perfledger.schema.records import Run
from tests.builders import edited, run

#: Tags that show nothing themselves.
FRAMES = re.compile(r"</?(?:div|section|ul|nav|p)\b[^>]*>")
#: A heading before the next one of its level, before a section, or at the end.
EMPTY = re.compile(r"<h([23])[^>]*>([^<]*)</h\1>\s*(?=<h(?:\1|2)|\Z)")


def pages_of(*runs: Run) -> Mapping[tuple[str, str], str]:
    site = site_of_runs(runs)
    pages = [*front.pages(site), *hardware.pages(site), *model.pages(site)]
    return {
        (page.path, language): text
        for page in pages
        for language, text in zip(LANGUAGES, jinja.rendered(own(), page), strict=True)
    }


@pytest.mark.parametrize("outcome", ["completed", "failed"])
def test_no_heading_is_empty(outcome: str) -> None:
    alone = edited(run("a", model="unheard-of", precision=None, hardware=None), suite="", outcome=outcome)
    pages = pages_of(alone)
    assert any(path.startswith("models/") and path != "models/index.md" for path, _ in pages)
    assert {where: found for where, text in pages.items() if (found := EMPTY.findall(FRAMES.sub("", text)))} == {}


def test_one_run_is_singular_and_an_unknown_precision_is_named() -> None:
    text = pages_of(run("a", precision=None))["index.md", "en"]
    assert re.search(r">1 run</a> · <a [^>]*>1 model</a>", text)
    assert "Precision not known · 1 device" in text


def test_a_lead_is_apart_from_its_number() -> None:
    runs = [
        run(f"{name}-{n}", framework=name, speed=speed, repeat=n)
        for name, speed in (("A", 400.0), ("B", 300.0))
        for n in (1, 2)
    ]
    (said,) = re.findall(r'pl-said">(.*?)</span>', pages_of(*runs)["models/resnet50/index.md", "en"])
    assert re.match(r"\w+ 1\.\d+", said)
