"""The scripts of the pages: libraries of others with their licences, where they are loaded, and the words they say."""

from __future__ import annotations

import hashlib
import re
import tomllib
from pathlib import Path

from perfledger.ingest.common import words
from perfledger.ingest.compute import comparison
from perfledger.ingest.site.pages import compare
from tests.site.conftest import ROOT

ASSETS = ROOT / "report_templates" / "theme" / "assets"
VENDOR = ASSETS / "vendor"


def test_every_library_of_others_is_the_one_that_is_written_down_with_its_licence() -> None:
    libraries = tomllib.loads((VENDOR / "vendor.toml").read_text("utf-8"))["library"]
    for each in libraries:
        assert hashlib.sha256((VENDOR / each["file"]).read_bytes()).hexdigest() == each["sha256"], each["file"]
        licence = (VENDOR / each["licence_file"]).read_text("utf-8")
        assert each["licence"] in licence
        assert "Copyright" in licence
    told = {each[key] for each in libraries for key in ("file", "licence_file")} | {"vendor.toml"}
    assert told == {path.name for path in VENDOR.iterdir()}


def test_pages_with_charts_load_the_script_that_draws_them_and_no_others(whole: Path) -> None:
    """The front page loads it when the first row is opened, as the test of that page shows."""
    for path in whole.rglob("*.html"):
        page = path.read_text("utf-8")
        drawn = any(each in page for each in ('<figure class="pl-chart"', 'id="pl-compare"'))
        assert page.count("assets/js/charts.js") == (1 if drawn else 0), path


def test_every_word_that_the_scripts_of_the_comparison_say_is_in_the_words_file_and_on_the_page() -> None:
    entries = words.load().entries
    source = "".join(path.read_text("utf-8") for path in sorted((ASSETS / "js").glob("compare*.js")))
    said = set(re.findall(r'"((?:chart|compare|metric|report|site|table)\.[a-z_]*[a-z])"', source))
    said |= {f"axis.{each}" for each in comparison.AXES}
    assert len(said) > 45
    assert said - entries.keys() == set()
    assert {each.partition(".")[0] for each in said} <= set(compare.COMPARE_WORDS)
