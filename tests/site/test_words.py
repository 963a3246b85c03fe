"""Words: complete in both languages, and every key that code or a template asks for exists."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from perfledger.ingest.common import words
from perfledger.ingest.common.toml_file import FileError
from perfledger.ingest.compute.rules import NAMES
from perfledger.ingest.site.model import suites
from perfledger.ingest.site.pages import glossary
from perfledger.schema import vocabulary

ROOT = Path(__file__).resolve().parents[2]
TEMPLATES = ROOT / "report_templates"
SOURCES = [*sorted((ROOT / "ingest").rglob("*.py")), *sorted((ROOT / "report_templates" / "pages").glob("*.j2"))]


def test_the_words_are_complete() -> None:
    assert len(words.load().entries) > 100


def test_every_key_that_is_asked_for_exists() -> None:
    known = words.load()
    named = re.compile(r'(?:phrase|\bw)\(\s*"(\w+\.\w+)"(?! ~)')
    asked = {key for path in SOURCES for key in named.findall(path.read_text("utf-8"))}
    assert len(asked) > 60
    assert not sorted(key for key in asked if not known.has(key))


#: Tables whose words are all named by their key, or by the beginning of it; keys of the others are names in data.
SPELLED = (
    "site", "nav", "title", "index", "model", "notes", "runs", "problems", "formats", "audit", "suite", "front",
    "hardware", "scorecard", "chart",
)  # fmt: skip


@pytest.mark.parametrize("table", SPELLED)
def test_every_word_is_said_somewhere(table: str) -> None:
    """An unused word is translated for nothing."""
    folders = (ROOT / "ingest", ROOT / "report_templates")
    paths = [path for top in folders for path in top.rglob("*") if path.suffix in {".py", ".j2", ".js"}]
    texts = [path.read_text("utf-8") for path in paths]
    said = {key for text in texts for key in re.findall(r"\w+\.\w+", text)}
    begun = tuple({key for text in texts for key in re.findall(r'"(\w+\.\w+)(?:\{|" ~)', text)})
    mine = {key for key in words.load().entries if key.partition(".")[0] == table}
    assert mine
    unsaid = (each for each in mine - said if not each.startswith(begun))
    assert not sorted(each for each in unsaid if each.removesuffix("_one") not in said)


@pytest.mark.parametrize("rule", NAMES)
def test_every_rule_has_name_and_definition(rule: str) -> None:
    known = words.load()
    assert known.has(f"rule.{rule}")
    assert known.has(f"rule.{rule}_definition")


def test_the_chinese_entries_are_chinese() -> None:
    """An entry that is the same in both languages was not translated, unless it is a name or only signs."""
    for key, entry in words.load().entries.items():
        if entry["en"] == entry["zh"]:
            assert len(re.sub(r"\{\w+\}", "", entry["zh"])) < 14, key


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('[a]\nb = { en = "x" }\n', ":2: a.b: no text in 'zh'"),
        ('[a]\nb = { en = "x", zh = "" }\n', ":2: a.b: no text in 'zh'"),
        ('[a]\n\nb = "x"\n', ":3: a.b: expected a text in both languages"),
        ('[a]\nb = { en = "{n}", zh = "x" }\n', ":2: a.b: the placeholders differ"),
        ('[a]\nb = { en = "{n", zh = "{n" }\n', ":2: a.b: expected '}' before end of string; write a brace"),
        ('[a]\nb = { en = "x", zh = "甲", de = "y" }\n', ":2: a.b.de: unknown key; known are en, zh"),
        ("[a\n", ":1: is not TOML"),
    ],
)
def test_a_faulty_entry_is_named_with_file_line_and_key(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "words.toml"
    path.write_text(text, "utf-8")
    with pytest.raises(FileError, match=re.escape(f"{path}{message}")):
        words.load(path)


def test_a_missing_key_and_a_missing_argument_are_named(tmp_path: Path) -> None:
    path = tmp_path / "words.toml"
    path.write_text('[a]\nb = { en = "{n}", zh = "{n}" }\n', "utf-8")
    known = words.load(path)
    with pytest.raises(words.WordsError, match=r"\[a\] has no entry 'c'"):
        known.text("en", "a.c")
    with pytest.raises(words.WordsError, match=r":2: a\.b: no argument"):
        known.text("en", "a.b")


def test_phrases_nest_and_unknown_names_are_shown_as_they_are() -> None:
    known = words.load()
    nested = words.phrase("index.runs_n", n=words.word_for("outcome", "oom"))
    assert known.say("zh", nested).startswith("显存")
    assert known.say("en", words.word_for("outcome", "exploded")) == "exploded"
    assert known.say("zh", words.Bilingual("one", "一")) == "一"


def test_every_suite_has_its_prose() -> None:
    found = suites()
    assert {"resnet50", "bert"} <= {each.id for each in found}
    for suite in found:
        assert {"summary", "what", "setup", "steps"} <= set(suite.words), suite.id


def test_the_glossary_explains_every_name_of_the_vocabulary_and_the_terms_of_the_design() -> None:
    tables = dict(glossary.tables())
    assert [len(tables[name].rows) for name in glossary.VOCABULARIES] == [
        len(vocabulary.FACTS), len(vocabulary.PRECISIONS), len(vocabulary.OUTCOMES), len(vocabulary.METRICS),
        len(vocabulary.SCOPES),
    ]  # fmt: skip
    known = words.load()
    terms = (
        "record format session run case rule result witness verdict layout recipe suite problem round edition ledger"
    )
    for term in (*terms.split(), "telemetry", "source", "audit"):
        assert known.has(f"glossary.{term}_means"), term
    assert len(tables["terms"].rows) == sum(
        key.startswith("glossary.") and key.endswith("_means") for key in known.entries
    )


@pytest.mark.parametrize(("language", "link"), [("en", "Glossary"), ("zh", "术语表")])
def test_the_glossary_is_linked_from_the_method(real_pages: Path, language: str, link: str) -> None:
    method = (real_pages / language / "method.md").read_text("utf-8")
    assert f"[{link.lower()}](glossary.md)" in method.lower()
    page = (real_pages / language / "glossary.md").read_text("utf-8")
    assert "tensor_parallel" in page
    assert {"en": "devices that share a layer", "zh": "共同计算一层的设备数"}[language] in page
