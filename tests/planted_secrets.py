"""Texts with secrets, by kind (`planted_secrets.toml`), with random keys that are not real."""

from __future__ import annotations

import base64
import random
import re
import string
import tomllib
import uuid
from pathlib import Path
from typing import NamedTuple


class Planted(NamedTuple):
    """A text, and the parts of it that must be removed."""

    kind: str
    text: str
    secrets: tuple[str, ...]


_ALPHABETS = {
    "62": string.ascii_letters + string.digits,
    "64": string.ascii_letters + string.digits + "_-",
    "36": string.ascii_lowercase + string.digits,
    "A": string.ascii_uppercase + string.digits,
    "hex": "0123456789abcdef",
}
_random = random.Random(53)


def _filled(match: re.Match[str]) -> str:
    return str(uuid.UUID(int=_random.getrandbits(128))) if match[0] == "{uuid}" else drawn(match[1], int(match[2]))


def drawn(alphabet: str, count: int) -> str:
    """Return random letters."""
    if alphabet == "wide":
        return "".join(chr(ord(each) + 0xFEE0) for each in drawn("62", count))
    return "".join(_random.choices(_ALPHABETS[alphabet], k=count))


def _planted(kind: str, template: str) -> Planted:
    template = template.replace("\u200b", "")
    text = re.sub(r"\{(?:uuid|(62|64|36|A|hex|wide):(\d+))\}", _filled, template)
    text = re.sub(r"\{b64:(.*)\}»", lambda match: base64.b64encode(match[1].encode()).decode() + "»", text)
    return Planted(kind, text.replace("«", "").replace("»", ""), tuple(re.findall("«(.*?)»", text)))


_TABLES = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))
#: Planted texts by the kind of their secret: "key", "path", "host", "user", "address".
PLANTED = {
    group: tuple(_planted(kind, each) for kind, texts in kinds.items() for each in texts)
    for group, kinds in _TABLES.items()
}
KEYS = PLANTED["key"]
#: A key that every test may use.
TOKEN = f"ghp_{drawn('62', 36)}"
