"""`problems.jsonl`: every problem as a line, with its sentence in each language; of many, pages show only some."""

from __future__ import annotations

import json
from collections.abc import Iterable

from ingest.common.words import LANGUAGES, Words, coded
from schema.records import Problem, to_json


def document(found: Iterable[Problem], words: Words) -> bytes:
    """Problems as JSON Lines, in the given order."""
    lines = (
        {**to_json(each), "said": {name: words.say(name, coded("problem", each)) for name in LANGUAGES}}
        for each in found
    )
    return "".join(f"{json.dumps(each, sort_keys=True, ensure_ascii=False)}\n" for each in lines).encode()
