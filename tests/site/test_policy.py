"""The policy of the site: every page states it before all else, and its scripts and styles are those that it names."""

from __future__ import annotations

import base64
import hashlib
import re
from pathlib import Path

import pytest

from tests.site import markup
from tests.site.conftest import ROOT

#: The scripts of the theme that theme/partials/javascripts/ has as files: where one changes, its file here must follow.
INLINE = {
    "base.html": "d6113712bc4deb30b4bd810ee0dfc28b6f04d2f88cc0016c0f1766eac7b762b6",
    "palette.html": "8790389765ea6036effddba548b15093bb05bdc75624eaeaf8b13f3c24be4ab5",
    "content.html": "3722e156f0f6339de39fbbfc178b6e401d1a4fb890f189ac5b80c2504bda7dcf",
}


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
