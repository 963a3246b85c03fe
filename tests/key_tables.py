"""The tables of keys in the guide: keys and defaults come from the types, and meanings from `docs/guide/keys.toml`.

`python -m tests.key_tables` writes the tables into the pages.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import UnionType
from typing import Any, NamedTuple, get_args, get_origin, get_type_hints

from msgspec import NODEFAULT, Struct
from msgspec.structs import fields

from perfledger.runners.job import NODE_VARIABLES
from perfledger.runners.matrix import COMPUTED
from perfledger.runners.recipes import RecipeFile
from perfledger.runners.settings import SitePlace
from perfledger.schema.run_json import RunJson

GUIDE = Path(__file__).resolve().parents[1] / "docs" / "guide"
#: Files that have keys, by the name of their table.
FILES: Mapping[str, type[Struct]] = {"recipe": RecipeFile, "site": SitePlace, "run": RunJson}
PAGES = dict.fromkeys(("recipes.md", "runs.md"), "en") | dict.fromkeys(("recipes.zh.md", "runs.zh.md"), "zh")
WORDS = {
    "en": {"key": "key", "meaning": "meaning", "default": "default", "needed": "required", "slot": "slot"},
    "zh": {"key": "键", "meaning": "含义", "default": "默认值", "needed": "必填", "slot": "占位符"},
}


class Key(NamedTuple):
    """A key of a file: its name, in a record `outer.inner`; whether it must be there; and its default."""

    name: str
    is_required: bool
    default: object


def keys(kind: type[Struct]) -> Iterator[Key]:
    """Yield the keys of a record, and those of the records in it."""
    hints = get_type_hints(kind)
    for field in fields(kind):
        inner = _record(hints[field.name])
        for each in keys(inner) if inner else ():
            yield Key(f"{field.name}.{each.name}", field.required and each.is_required, each.default)
        if not inner:
            yield Key(field.name, field.required, field.default)


def _record(hint: Any) -> type[Struct] | None:
    """Return the record that a type is, or may be."""
    choices = get_args(hint) if get_origin(hint) is UnionType else (hint,)
    return next((each for each in choices if isinstance(each, type) and issubclass(each, Struct)), None)


def meanings() -> Mapping[str, Mapping[str, Mapping[str, str]]]:
    """Return the meaning of each key in each language, by table."""
    return tomllib.loads((GUIDE / "keys.toml").read_text("utf-8"))


def names(table: str) -> list[str]:
    """Return the keys that a table must have."""
    return (
        [key.name for key in keys(FILES[table])] if table in FILES else [*dict.fromkeys((*COMPUTED, *NODE_VARIABLES))]
    )


def rows(table: str, language: str) -> list[str]:
    """Return the lines of a table."""
    words, texts = WORDS[language], meanings()[table]
    if table == "slot":
        return _table(["slot", "meaning"], [[f"`{{{name}}}`", texts[name][language]] for name in names(table)], words)
    found = [[f"`{key.name}`", texts[key.name][language], _default(key, words)] for key in keys(FILES[table])]
    heads = ["key", "meaning", "default"]
    if table == "run":  # a writer leaves out what is unknown
        return _table(heads[:2], [each[:2] for each in found], words)
    return _table(heads, found, words)


def _table(heads: list[str], cells: list[list[str]], words: Mapping[str, str]) -> list[str]:
    lines = [[words[each] for each in heads], ["---"] * len(heads), *cells]
    return [f"| {' | '.join(each)} |" for each in lines]


def _default(key: Key, words: Mapping[str, str]) -> str:
    if key.is_required:
        return words["needed"]
    value = str(key.default).lower() if isinstance(key.default, bool) else key.default
    return f"`{value}`" if value and isinstance(value, str | int) and key.default is not NODEFAULT else ""


def with_tables(text: str, language: str) -> str:
    """Return a page with its tables written again."""
    return re.sub(
        r"(<!-- keys: (\w+) -->\n).*?(?=<!-- end -->)",
        lambda found: f"{found[1]}\n" + "\n".join(rows(found[2], language)) + "\n\n",
        text,
        flags=re.DOTALL,
    )


if __name__ == "__main__":
    for page, written_in in PAGES.items():
        path = GUIDE / page
        path.write_text(with_tables(path.read_text("utf-8"), written_in), "utf-8")
