"""Badges: a small file per result, in the form that shields.io draws from an address.

Source: https://shields.io/badges/endpoint-badge
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from ingest.words import Words, phrase, word_for

FOLDER = "data/badges"
#: A site with more results has badges for those measured last.
AT_MOST = 500
_COLOUR, _DIVERGED = "blue", "orange"


def badges(found: Sequence[Mapping[str, Any]], words: Words) -> dict[str, bytes]:
    """Path to content of every badge.

    Args:
        found: records of results; those without a figure, and those that others published, have no badge.
        words: a badge is in English.
    """
    return {path(each): _content(each, words) for each in shown(found)}


def shown(found: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """The results that have a badge, by id; of too many, those whose last run is youngest."""
    known = [each for each in found if each["origin"] == "measured" and each["value"] is not None]
    youngest = sorted(sorted(known, key=_id), key=_date, reverse=True)[:AT_MOST]
    return sorted(youngest, key=_id)


def path(found: Mapping[str, Any]) -> str:
    """Where the badge of a result lies, below the site's folder."""
    return f"{FOLDER}/{found['id']}.json"


def label(found: Mapping[str, Any], words: Words) -> str:
    """What a badge says of the case: `ResNet-50 v1.5, PyTorch 2.13.0, 8 × 64, AMP`."""
    unknown = words.text("en", "site.unknown")
    framework = " ".join(filter(None, (found["framework"], found["framework_version"])))
    size = phrase("table.case_of", devices=found["devices"] or unknown, batch_size=found["batch_size"] or unknown)
    precision = word_for("precision", found["precision"]) if found["precision"] else ""
    said = [found["model"] or "", framework, words.say("en", size), words.say("en", precision), found["round"] or ""]
    return ", ".join(filter(None, said))


def _content(found: Mapping[str, Any], words: Words) -> bytes:
    badge = {
        "schemaVersion": 1,
        "label": label(found, words),
        "message": f"{found['text']} {found['unit'] or ''}".strip(),
        "color": _DIVERGED if found["diverged"] else _COLOUR,
    }
    return json.dumps(badge, ensure_ascii=False).encode() + b"\n"


def _id(found: Mapping[str, Any]) -> str:
    return str(found["id"])


def _date(found: Mapping[str, Any]) -> str:
    return max((str(run["date"] or "") for run in found["runs"]), default="")
