"""All problems for programs: as JSON lines or, of many logs, as a table, with the same sentences."""

from __future__ import annotations

import json
from collections.abc import Iterable
from functools import partial

from perfledger.ingest.common.frame import DataColumn, fields
from perfledger.ingest.common.words import LANGUAGES, Words, coded
from perfledger.schema.records import Problem, to_json


def document(found: Iterable[Problem], words: Words) -> bytes:
    """Return problems as JSON lines, each with its sentence in each language as `said`."""
    objects = ({**to_json(each), "said": {name: _said(words, name, each) for name in LANGUAGES}} for each in found)
    return "".join(f"{_json(each)}\n" for each in objects).encode()


def columns(words: Words) -> tuple[DataColumn[Problem], ...]:
    """Return the columns of the table of problems."""
    return (
        *fields(Problem, "code", "path", "line"),
        DataColumn("args", str, lambda each: _json(each.args)),
        *(DataColumn(f"said_{name}", str, partial(_said, words, name)) for name in LANGUAGES),
    )


def _said(words: Words, language: str, problem: Problem) -> str:
    return words.say(language, coded("problem", problem))


def _json(value: object) -> str:
    return json.dumps(value, sort_keys=True, ensure_ascii=False)
