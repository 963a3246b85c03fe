"""`problems.jsonl`: every problem as a line, with its sentence in each language; of many, pages show only some."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from ingest.common.words import LANGUAGES, Words
from ingest.site import tables


def document(found: Iterable[Mapping[str, Any]], words: Words) -> bytes:
    """Problems as JSON Lines, in the given order."""
    lines = ({**each, "said": {name: words.say(name, tables.problem(each)) for name in LANGUAGES}} for each in found)
    return "".join(f"{json.dumps(each, sort_keys=True, ensure_ascii=False)}\n" for each in lines).encode()
