"""The examples in docs/contributing/ are complete: the program that reads such a file reads each of them."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from types import ModuleType

import regex

from perfledger.ingest.common import suites
from perfledger.ingest.read import layout
from perfledger.parsers.contract.chunk import Chunk
from perfledger.parsers.contract.telemetry import Faults
from perfledger.runners import cases, recipes
from perfledger.schema.records import from_text
from perfledger.schema.run_json import RunJson

DOCS = Path(__file__).resolve().parents[1] / "docs"


def shown(page: str, kind: str) -> str:
    """Return the last block of that kind in a page."""
    text = (DOCS / f"{page}.md").read_text("utf-8")
    found = re.findall(rf"^ *```{kind}\n(.*?)^ *```", text, re.DOTALL | re.MULTILINE)
    assert found, f"{page}: no example"
    return str(found[-1])


def written(page: str, tmp_path: Path) -> Path:
    path = tmp_path / "example.toml"
    path.write_text(shown(page, "toml"), "utf-8")
    return path


def test_the_example_of_a_log_is_valid() -> None:
    stated = from_text(shown("contributing/log", "json"), RunJson)
    assert stated.case.devices == 8


def test_all_pages_have_the_same_example_of_a_format() -> None:
    pages = ("contributing/format", "guide/own-parts", "guide/own-parts.zh")
    assert len({shown(page, "python") for page in pages}) == 1


def test_the_example_of_a_model_is_valid(tmp_path: Path) -> None:
    assert suites.suite_file(written("contributing/model", tmp_path)).data.models[0] == "SqueezeNet 1.1"


def test_the_example_of_a_recipe_has_two_cases(tmp_path: Path) -> None:
    found = recipes.load(written("contributing/recipe", tmp_path))
    assert len(cases.select_cases(found, {})) == 2


def test_the_example_of_a_layout_states_facts(tmp_path: Path) -> None:
    path = written("contributing/layout", tmp_path)
    assert layout.load(str(path)).match("/a/lab/results/b200x8/bert/result_3.txt")


def test_the_example_of_telemetry_reads_samples() -> None:
    module = ModuleType("ourtool")
    exec(shown("contributing/telemetry", "python"), vars(module))
    text = b"gpu0 41 C, 230.5 W\ngpu1 43 C, 240.0 W\n"
    assert module.FORMAT.claims(text)
    (block,) = module.FORMAT.blocks([Chunk(text, 1, 0, len(text), 2)], Faults())
    assert (list(block.devices), block.values["power"].tolist()) == (["0", "1"], [230.5, 240.0])


def test_the_example_of_a_redaction_rule_finds_a_key() -> None:
    (rule,) = tomllib.loads(shown("contributing/redaction", "toml"))["rule"]
    assert regex.search(rule["pattern"], f"key exsvc-{'0' * 32}")
