"""Metadata of the site: heads, sitemap, feeds, the page for wrong addresses, the workflows and the citation."""

from __future__ import annotations

import json
import re
import struct
import subprocess
import tomllib
import xml.etree.ElementTree as ET
from collections import Counter
from datetime import datetime
from html.parser import HTMLParser
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import yaml

from perfledger import __version__
from tests.hooks import hook
from tests.site.conftest import ROOT
from tests.site.kinds import ADDRESS, MOVED

ATOM = {"a": "http://www.w3.org/2005/Atom"}
SITEMAP = {"s": "http://www.sitemaps.org/schemas/sitemap/0.9", "x": "http://www.w3.org/1999/xhtml"}


class Head(HTMLParser):
    """A page's language, title, metadata and links."""

    def __init__(self) -> None:
        super().__init__()
        self.language = ""
        self.title = ""
        self.meta: list[tuple[str, str]] = []
        self.links: list[dict[str, str]] = []
        self.inside = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = {name: value or "" for name, value in attrs}
        self.inside = tag == "title" and not self.title
        if tag == "html":
            self.language = values.get("lang", "")
        if tag == "meta":
            self.meta.append((values.get("name") or values.get("property") or "", values.get("content", "")))
        if tag == "link":
            self.links.append(values)

    def handle_data(self, data: str) -> None:
        if self.inside:
            self.title += data
        self.inside = False

    def link(self, **wanted: str) -> str:
        """Return the address of the only link with these attributes."""
        found = [each["href"] for each in self.links if all(each.get(name) == value for name, value in wanted.items())]
        assert len(found) == 1, (wanted, found)
        return found[0]

    def say(self, name: str) -> str:
        """Return the only content of a kind of metadata."""
        found = [content for each, content in self.meta if each == name]
        assert len(found) == 1, (name, found)
        return found[0]

    def has(self, name: str) -> bool:
        return any(each == name for each, _ in self.meta)


def head(path: Path) -> Head:
    found = Head()
    found.feed(path.read_text("utf-8").partition("</head>")[0])
    return found


def pages_of(site: Path) -> list[Path]:
    found = [path for path in sorted(site.rglob("index.html")) if "assets" not in path.parts]
    assert len(found) > 40
    return found


def below(site: Path, page: Path) -> str:
    """Return a page's address relative to that of the site."""
    return page.relative_to(site).as_posix().removesuffix("index.html")


def test_every_page_leads_to_itself_in_all_languages_by_full_addresses(whole: Path) -> None:
    for page in pages_of(whole):
        found, path = head(page), below(whole, page)
        bare = path.removeprefix("zh/")
        assert found.link(rel="canonical") == ADDRESS + path
        assert found.link(rel="alternate", hreflang="en") == ADDRESS + bare
        assert found.link(rel="alternate", hreflang="zh") == f"{ADDRESS}zh/{bare}"
        assert found.link(rel="alternate", hreflang="x-default") == ADDRESS + bare


def test_without_an_address_the_languages_are_linked_relatively(real: Path) -> None:
    for page in pages_of(real):
        found, bare = head(page), below(real, page).removeprefix("zh/")
        for language, path in (("en", bare), ("zh", f"zh/{bare}"), ("x-default", bare)):
            link = found.link(rel="alternate", hreflang=language)
            assert (page.parent / link).resolve() == (real / path).resolve(), (page, link)
        assert not [each for each in found.links if each.get("rel") == "canonical"]
        assert not found.has("og:url")
        assert not found.has("og:image")


def test_every_page_has_the_language_that_it_is_in(whole: Path) -> None:
    for page in pages_of(whole):
        chinese = below(whole, page).startswith("zh/")
        found = head(page)
        assert found.language == ("zh" if chinese else "en"), page
        assert found.say("og:locale") == ("zh_CN" if chinese else "en_US")
        assert found.say("og:locale:alternate") == ("en_US" if chinese else "zh_CN")


def is_chinese(text: str) -> bool:
    return any("\u4e00" <= each <= "\u9fff" for each in text)


def test_titles_and_descriptions_are_in_the_language_of_their_page(whole: Path) -> None:
    titles: Counter[str] = Counter()
    for page in pages_of(whole):
        chinese, found = below(whole, page).startswith("zh/"), head(page)
        titles[found.title.strip()] += 1
        assert found.say("og:title")
        assert found.title.strip().startswith(found.say("og:title")), page
        assert is_chinese(found.say("description")) == chinese, page
        assert found.say("description") == found.say("og:description")
        assert chinese or not is_chinese(found.title), page
    assert [title for title, count in titles.items() if count > 2] == [], "two languages may share a title, pages not"


def test_files_of_the_theme_that_no_page_asks_for_are_left_out(whole: Path) -> None:
    assets = {path.relative_to(whole / "assets").as_posix() for path in (whole / "assets").rglob("*") if path.is_file()}
    assert not [each for each in assets if each.endswith(".map")]
    assert not [each for each in assets if "lunr" in each]
    assert [each for each in assets if re.fullmatch(r"javascripts/bundle\.\w+\.min\.js", each)]
    assert not [each for each in assets if each.startswith("javascripts/workers")]


def test_the_titles_of_the_front_pages_describe_the_site(whole: Path) -> None:
    assert head(whole / "index.html").title.startswith("Perfledger: deep-learning training performance")
    assert head(whole / "zh" / "index.html").title.startswith("Perfledger：深度学习")


def test_a_shared_page_shows_our_picture(whole: Path) -> None:
    """The frameworks of this site have too few comparisons for pictures of their own."""
    for page in pages_of(whole):
        found = head(page)
        assert found.say("og:image") == found.say("twitter:image") == ADDRESS + "assets/social.png"
        assert found.say("og:url") == ADDRESS + below(whole, page)
        assert found.say("twitter:card") == "summary_large_image"
        assert (found.say("og:image:width"), found.say("og:image:height")) == ("1200", "630")
        assert is_chinese(found.say("og:image:alt")) == below(whole, page).startswith("zh/")


def test_the_picture_is_as_large_as_the_pages_say_and_light() -> None:
    data = (ROOT / "report_templates" / "theme" / "assets" / "social.png").read_bytes()
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    assert struct.unpack(">II", data[16:24]) == (1200, 630)
    assert len(data) < 80_000
    source = ET.parse(ROOT / "report_templates" / "theme" / "assets" / "social.svg").getroot()
    assert (source.get("width"), source.get("height")) == ("1200", "630")


def test_hostile_titles_stay_text_in_the_head(planted_site: Path) -> None:
    for page in pages_of(planted_site):
        text = page.read_text("utf-8").partition("</head>")[0]
        assert "<script>alert" not in text
        assert not [name for name, _ in head(page).meta if name.startswith("on")]
        assert head(page).say("og:title")


def test_the_sitemap_lists_every_page_that_is_searched_in_both_languages(whole: Path) -> None:
    root = ET.parse(whole / "sitemap.xml").getroot()
    listed = {}
    for each in root.findall("s:url", SITEMAP):
        address = each.findtext("s:loc", namespaces=SITEMAP)
        links = {link.get("hreflang"): link.get("href") for link in each.findall("x:link", SITEMAP)}
        assert address not in listed
        listed[address] = links
    for address, links in listed.items():
        assert address is not None
        bare = address.removeprefix(ADDRESS).removeprefix("zh/")
        assert links == {"en": ADDRESS + bare, "zh": f"{ADDRESS}zh/{bare}", "x-default": ADDRESS + bare}
        assert (whole / address.removeprefix(ADDRESS) / "index.html").is_file(), address
    assert {ADDRESS, f"{ADDRESS}zh/", f"{ADDRESS}models/resnet50/", f"{ADDRESS}zh/method/"} <= listed.keys()
    assert not [each for each in listed if "404" in str(each) or "/runs/resnet50" in str(each) or "/log/" in str(each)]
    searched = [each for each in pages_of(whole) if not re.search("/runs/|/submit/", each.as_posix())]
    assert {ADDRESS + below(whole, each) for each in searched} <= listed.keys()


def test_robots_txt_names_the_sitemap(whole: Path, real: Path) -> None:
    assert f"Sitemap: {ADDRESS}sitemap.xml" in (whole / "robots.txt").read_text("utf-8").splitlines()
    assert "Sitemap" not in (real / "robots.txt").read_text("utf-8")


def test_a_sitemap_needs_an_address(real: Path) -> None:
    """A sitemap needs full addresses, which are not known then."""
    assert not list(real.rglob("sitemap.xml*"))


def feed(path: Path) -> ET.Element:
    """Return the root of a feed after checking that the feed has what Atom requires."""
    root = ET.parse(path).getroot()
    assert root.tag == f"{{{ATOM['a']}}}feed"
    for each in (root, *root.findall("a:entry", ATOM)):
        for name in ("id", "title", "updated"):
            assert (each.findtext(f"a:{name}", namespaces=ATOM) or "").strip(), name
        updated = each.findtext("a:updated", namespaces=ATOM) or ""
        assert datetime.fromisoformat(updated).tzinfo, updated
        assert re.fullmatch(r"tag:[\w.-]+,\d{4}:\S+", each.findtext("a:id", namespaces=ATOM) or "")
    assert root.findtext("a:author/a:name", namespaces=ATOM)
    ids = [each.text for each in root.iterfind(".//a:id", ATOM)]
    assert len(ids) == len(set(ids))
    return root


@pytest.mark.parametrize(
    ("path", "language", "moved", "new"),
    [
        (
            "", "en", "Changed: ResNet-50, PyTorch 2.0, <Made up> & Co: 400.0 → 420.0 images/s (+5.0%, clear)",
            "New: ResNet-50, PyTorch 2.0, <Made up> & Co: 420.0 images/s",
        ),
        (
            "zh/", "zh", "变化：残差网络，PyTorch 2.0，<Made up> & Co：400.0 → 420.0 images/s（+5.0%，明显）",
            "新增：残差网络，PyTorch 2.0，<Made up> & Co：420.0 images/s",
        ),
    ],
)  # fmt: skip
def test_the_feed_lists_new_and_moved_results(whole: Path, path: str, language: str, moved: str, new: str) -> None:
    root = feed(whole / path / "feed.xml")
    assert root.get("{http://www.w3.org/XML/1998/namespace}lang") == language
    entries = root.findall("a:entry", ATOM)
    assert [each.findtext("a:title", namespaces=ATOM) for each in entries] == [moved, new]
    assert [each.findtext("a:updated", namespaces=ATOM) for each in entries] == [
        "2026-11-20T00:00:00Z",
        "2026-11-19T00:00:00Z",
    ]
    assert root.findtext("a:updated", namespaces=ATOM) == "2026-11-20T00:00:00Z"
    for word in ("8", "64", "AMP", "xla=True"):
        assert word in (entries[0].findtext("a:summary", namespaces=ATOM) or "")
    links = {each.get("rel"): each.get("href") for each in root.findall("a:link", ATOM)}
    assert links == {"self": f"{ADDRESS}{path}feed.xml", "alternate": ADDRESS + path}
    leads = {each.get("rel"): str(each.get("href")) for each in entries[0].findall("a:link", ATOM)}
    assert leads["alternate"] == f"{ADDRESS}{path}models/resnet50/"
    for link in leads.values():
        assert (whole / link.removeprefix(ADDRESS) / "index.html").is_file(), link


def test_every_page_names_the_feed_of_its_language(real: Path, whole: Path) -> None:
    for page in pages_of(whole):
        path = "zh/" if below(whole, page).startswith("zh/") else ""
        assert head(page).link(rel="alternate", type="application/atom+xml") == f"{ADDRESS}{path}feed.xml"
    for page in pages_of(real):
        path = "zh/" if below(real, page).startswith("zh/") else ""
        link = head(page).link(rel="alternate", type="application/atom+xml")
        assert (page.parent / link).resolve() == real / path / "feed.xml"


@pytest.fixture(scope="module")
def publish() -> Any:
    return hook("publish")


class Config(dict[str, Any]):
    """The part of MkDocs' configuration that a feed needs."""

    def __init__(self, docs: Path, address: str) -> None:
        super().__init__()
        self.docs_dir, self.site_url, self.site_name = str(docs), address, "Perfledger"
        languages = [SimpleNamespace(locale=each, default=each == "en") for each in ("en", "zh")]
        self.plugins = {"i18n": SimpleNamespace(config={"languages": languages})}


@pytest.mark.parametrize("address", ["", ADDRESS])
def test_a_feed_has_a_hundred_entries_at_most_and_names_that_stay(publish: Any, tmp_path: Path, address: str) -> None:
    def ids(changes: list[dict[str, Any]]) -> list[str]:
        (tmp_path / "data").mkdir(exist_ok=True)
        (tmp_path / "data" / "changes.json").write_text(json.dumps({"changes": changes}), "utf-8")
        return [each.id for each in publish._feed(Config(tmp_path, address), "en").entries]

    many = [{**MOVED, "result": f"result-{number}"} for number in range(150)]
    assert len(ids(many)) == 100
    later = {**MOVED, "result": "later", "after_text": "7"}
    assert ids([later, *many])[1:] == ids(many)[:99]


def test_a_feed_without_changes_is_empty_and_valid(publish: Any, tmp_path: Path) -> None:
    found = publish._feed(Config(tmp_path, ""), "zh")
    assert (found.entries, found.updated) == ([], "1970-01-01T00:00:00Z")


def test_characters_that_xml_forbids_do_not_break_a_feed(publish: Any, tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    bad = {**MOVED, "hardware": "a\x00\x1b\ud800b"}
    (tmp_path / "data" / "changes.json").write_text(json.dumps({"changes": [bad]}), "utf-8")
    [entry] = publish._feed(Config(tmp_path, ""), "en").entries
    ET.fromstring(f"<a>{entry.title.replace('&', '&amp;').replace('<', '&lt;')}</a>")
    assert "a\ufffd\ufffd\ufffdb" in entry.title


def test_the_page_for_wrong_addresses_is_not_indexed_and_says_both_languages(real: Path) -> None:
    text = (real / "404.html").read_text("utf-8")
    found = head(real / "404.html")
    assert (found.language, found.say("robots")) == ("en", "noindex")
    assert found.title.strip() == "Page not found · 页面不存在 - Perfledger"
    assert 'href="/zh/"' in text
    assert not (real / "zh" / "404.html").exists()


WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))


def workflow(name: str) -> dict[Any, Any]:
    loaded: dict[Any, Any] = yaml.safe_load((ROOT / ".github" / "workflows" / name).read_text("utf-8"))
    return loaded


def steps(found: dict[Any, Any]) -> list[dict[str, Any]]:
    """Return the steps of all jobs, those of our own action in its place."""
    listed = [step for job in found["jobs"].values() for step in job["steps"]]
    return [each for step in listed for each in (of_action(step["with"]) if step.get("uses") == "./" else [step])]


def of_action(given: dict[str, str]) -> list[dict[str, Any]]:
    """Return the steps of `action.yml` that run with these inputs, without those that need a token."""
    action = yaml.safe_load((ROOT / "action.yml").read_text("utf-8"))
    inputs = {name: given.get(name, each["default"]) for name, each in action["inputs"].items()}
    assert given.keys() <= inputs.keys()
    found = []
    for step in action["runs"]["steps"]:
        left_out = {"install": inputs["python"], "which figures moved": not inputs["base"], "comment": True}
        if not left_out.get(step["name"]):
            asked = {name: str(value) for name, value in step["env"].items()}
            env = {
                name: re.sub(r"\$\{\{ inputs\.(\w+) \}\}", lambda at: inputs[at[1]], each)
                for name, each in asked.items()
            }
            found.append({**step, "env": env})
    return found


def commands(found: dict[Any, Any]) -> str:
    return "\n".join(each["run"] for each in steps(found) if "run" in each)


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_a_workflow_runs_commands_that_there_are_under_a_time_limit(path: Path) -> None:
    found = workflow(path.name)
    targets = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE))
    assert set(re.findall(r"(?:^|\$\()make (?:--silent )?([a-z]+)", commands(found), re.MULTILINE)) <= targets
    # PyYAML reads the key `on` as true.
    assert not {"pull_request_target", "workflow_run"} & set(found[True])
    for job in found["jobs"].values():
        assert "timeout-minutes" in job or "outputs" in job
    for step in steps(found):
        if str(step.get("uses", "")).startswith("actions/checkout@"):
            assert step["with"]["persist-credentials"] is False


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_no_text_of_a_pull_request_becomes_a_command(path: Path) -> None:
    assert not re.findall(r"\$\{\{.*github\.(?:event|head_ref)", commands(workflow(path.name)))


def test_options_of_ingest_in_workflows_and_readmes_exist() -> None:
    from perfledger.ingest.cli import commands as group

    known = {option for command in group.commands.values() for each in command.params for option in each.opts}
    guides = (ROOT / "docs/guide").glob("*.md")
    texts = [path.read_text("utf-8") for path in (*WORKFLOWS, ROOT / "README.md", ROOT / "README.zh.md", *guides)]
    lines = [line for text in texts for line in text.splitlines() if "-m ingest" in line]
    asked = {
        option for line in lines for option in re.findall(r"(?<![\w-])--[a-z][a-z-]+", line.partition("-m ingest")[2])
    }
    assert {"--language"} <= asked <= known
    words = {word for line in lines for word in re.findall(r"-m ingest ([a-z][a-z-]+) ", line)}
    assert {"diff", "verify", "audit"} <= words <= set(group.commands)


def test_pages_are_checked_before_they_are_published() -> None:
    run = commands(workflow("pages.yml"))
    assert run.index("make fresh") < run.index("mkdocs build --strict") < run.index("perfledger verify")
    assert workflow("pages.yml")["jobs"]["deploy"]["needs"] == "build"


def test_the_preview_of_a_pull_request_may_only_read() -> None:
    found = workflow("preview.yml")
    assert list(found[True]) == ["pull_request"]
    assert found["permissions"] == {"contents": "read"}
    assert not [job for job in found["jobs"].values() if "permissions" in job]
    assert "secrets." not in (ROOT / ".github/workflows/preview.yml").read_text("utf-8")


def test_the_preview_prints_what_moved_and_contains_the_site(tmp_path: Path) -> None:
    """Run the commands of the workflow with a script in place of Python."""
    found = workflow("preview.yml")
    tool = tmp_path / ".venv" / "bin" / "python"
    tool.parent.mkdir(parents=True)
    tool.write_text('#!/bin/sh\necho "called with $*"\n', "utf-8")
    tool.chmod(0o755)
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "index.html").write_text("front page", "utf-8")
    for step in (each for each in steps(found) if "name" in each):
        runner = {
            "GITHUB_STEP_SUMMARY": str(tmp_path / "summary"),
            "PATH": "/usr/bin:/bin",
            "RUNNER_TEMP": str(tmp_path),
        }
        environment = {**runner, **step.get("env", {})}
        subprocess.run(["bash", "-euo", "pipefail", "-c", step["run"]], cwd=tmp_path, env=environment, check=True)
    upload = next(each["with"] for each in steps(found) if "upload-artifact" in str(each.get("uses")))
    held = {path.relative_to(tmp_path).as_posix() for path in (tmp_path / upload["path"]).rglob("*") if path.is_file()}
    assert held == {f"preview/{each}" for each in ("site/index.html", "README.txt")}
    assert "http.server" in (tmp_path / "preview" / "README.txt").read_text("utf-8")
    said = (tmp_path / "summary").read_text("utf-8")
    for language in ("en", "zh"):
        assert f"called with -m perfledger diff HEAD^1 --language {language}\n" in said
    checkout = next(each["with"] for each in steps(found) if "checkout" in str(each.get("uses")))
    assert checkout["fetch-depth"] == 2, "HEAD^1 is the branch that the pull request goes into"


def test_the_citation_is_whole_and_names_this_version() -> None:
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text("utf-8"))
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    assert re.fullmatch(r"\d{4}-\d\d-\d\d", str(citation["date-released"]))
    assert {"cff-version", "message", "title", "authors"} <= citation.keys()
    assert citation["cff-version"] == "1.2.0"
    assert citation["type"] in ("software", "dataset")
    assert citation["authors"] == [{"name": "The Perfledger authors"}]
    assert (citation["version"], citation["license"]) == (__version__, project["license"])
    assert citation["title"].lower() == project["name"]
    assert all(isinstance(citation[each], str) for each in ("cff-version", "message", "title", "abstract", "version"))
    assert set(citation) <= {
        "cff-version", "message", "title", "authors", "type", "abstract", "version", "license", "keywords",
        "date-released", "url", "repository-code",
    }  # fmt: skip
    for readme in ("README.md", "README.zh.md"):
        assert "CITATION.cff" in (ROOT / readme).read_text("utf-8")
