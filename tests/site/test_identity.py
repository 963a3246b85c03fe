"""Who publishes the site: its name, logo, colors and footer; and how to cite a page."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from perfledger import __version__
from tests.hooks import hook
from tests.site import markup
from tests.site.kinds import ADDRESS, KINDS, languages
from tests.site.test_colours import contrast, tokens

COLORS = ("#ffd400", "#000000", "#ffffff", "#0b6e4f", "#808080", "#ff0000", "#0000ff")


@pytest.fixture(scope="module")
def identity() -> Any:
    return hook("identity")


@pytest.mark.parametrize("color", COLORS)
def test_any_color_can_be_read_in_both_schemes(identity: Any, color: str) -> None:
    for scheme, grounds in identity.GROUNDS.items():
        shade = identity.readable(color, scheme)
        assert min(contrast(shade, ground) for ground in grounds) >= 4.5
    assert identity.readable("#0b6e4f", "default") == "#0b6e4f"  # no more than it needs


def test_the_grounds_are_those_of_the_style_sheet(identity: Any) -> None:
    for scheme, grounds in identity.GROUNDS.items():
        found = tokens(scheme)
        assert grounds == (found["md-default-bg-color"], found["pl-field"])


@pytest.mark.parametrize(
    "wrong", [{"nam": "x"}, {"color": "green"}, {"url": "javascript:alert(1)"}, {"footer": {"fr": "x"}}, "Example Lab"]
)
def test_a_wrong_entry_is_named(identity: Any, wrong: Any) -> None:
    with pytest.raises(identity.PluginError, match=r"mkdocs.yml: extra.publisher: "):
        identity._publisher({"extra": {"publisher": wrong}})


@pytest.mark.parametrize("kind", KINDS)
def test_every_page_says_what_it_is_made_of_and_how_to_cite_it(whole: Path, kind: str) -> None:
    version = __version__
    for language in languages(kind):
        page = markup.read(whole / language / KINDS[kind] / "index.html")
        (footer,) = page.elements("footer")
        assert f"Perfledger {version}" in footer.text()
        assert "2026-11-20" in footer.text()  # of the latest change
        assert "Apache-2.0" in footer.text()
        assert footer.elements("a") == []  # nobody named a repository
        (cite,) = [each for each in footer.elements("details") if each.given.get("id") == "cite"]
        bibtex, markdown = (each.text() for each in cite.elements("code"))
        address = f"{ADDRESS}{language}{KINDS[kind]}"
        assert bibtex.startswith("@misc{perfledger-")
        assert f"  url = {{{address}}},\n" in bibtex
        assert "  year = {2026},\n" in bibtex
        assert bibtex.count("{") == bibtex.count("}")
        assert markdown.count(f"]({address})") == 1


def test_a_citation_keeps_the_signs_of_a_title_and_leaves_out_what_is_not_known(identity: Any) -> None:
    texts = {"comma": ", ", "of_commit": "Commit {value}"}
    about = identity.Identity(identity.SitePublisher(), "", None, None, "0123456789abcdef", None, {"en": texts})
    found = identity.cite(about, "Perfledger", "en", "Wide & Deep_[x] 100%", "")
    assert "  title = {{Wide \\& Deep\\_[x] 100\\%}},\n" in found["bibtex"]
    assert "year" not in found["bibtex"]
    assert "url" not in found["bibtex"]
    assert found["markdown"] == "Wide & Deep\\_\\[x\\] 100% – Perfledger, Commit 0123456789abcdef"


def test_the_commit_is_that_of_the_environment_or_of_the_checkout(
    identity: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for each in ("PERFLEDGER_COMMIT", "GITHUB_SHA"):
        monkeypatch.delenv(each, raising=False)
    assert identity._commit(tmp_path) is None
    monkeypatch.setenv("GITHUB_SHA", "aa")
    assert identity._commit(tmp_path) == "aa"
    monkeypatch.setenv("PERFLEDGER_COMMIT", "bb")
    assert identity._commit(tmp_path) == "bb"
