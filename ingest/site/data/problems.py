"""All problems for programs: as JSON lines or, of many logs, as a table. Both are made of the same records."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from perfledger.ingest.common.words import LANGUAGES, Words, coded
from perfledger.ingest.site.model import Site
from perfledger.schema.records import to_json


def records(site: Site, words: Words) -> Iterator[dict[str, Any]]:
    """Yield each problem by path and line, with its sentence in each language as `said`."""
    for each in site.all_problems:
        yield {**to_json(each), "said": {name: words.say(name, coded("problem", each)) for name in LANGUAGES}}


def document(found: Iterable[Mapping[str, Any]]) -> bytes:
    """Return records as JSON lines."""
    return "".join(json.dumps(each, sort_keys=True, ensure_ascii=False) + "\n" for each in found).encode()
