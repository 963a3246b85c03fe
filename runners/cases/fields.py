"""Reads the tables of a recipe key by key; whatever is wrong is said with the key's full name."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any

Value = str | int | float | bool

SLUG = re.compile(r"[a-z0-9][a-z0-9._-]*")


class FieldError(Exception):
    """What is wrong with a key, without the path of the file."""


@dataclass(frozen=True)
class Table:
    """A table of a TOML file. `prefix` is what its keys are called by, such as `records.`."""

    values: Mapping[str, Any]
    prefix: str = ""

    def only(self, required: Iterable[str], optional: Iterable[str]) -> Table:
        """The table itself; raises FieldError where a key is missing or unknown."""
        known = (*required, *optional)
        for key in required:
            if key not in self.values:
                raise FieldError(f"the key `{self.prefix}{key}` is missing; add it")
        for key in self.values:
            if key not in known:
                raise FieldError(f"`{self.prefix}{key}` is no key of a recipe; the keys here are {', '.join(known)}")
        return self

    def table(self, key: str) -> Table:
        """A table below this one, empty where it is not stated."""
        return Table(self._typed(key, dict, {}), f"{self.prefix}{key}.")

    def text(self, key: str, default: str | None = None) -> str:
        """A string; one that is required is not empty."""
        value = str(self._typed(key, str, default)).strip()
        if default is None and not value:
            raise self.wrong(key, value, "must not be empty")
        return value

    def truth(self, key: str, default: bool) -> bool:
        """true or false."""
        return bool(self._typed(key, bool, default))

    def count(self, key: str, default: int | None = None, least: int = 1) -> int:
        """A whole number, at least `least`."""
        value = int(self._typed(key, int, default))
        if value < least:
            raise self.wrong(key, value, f"must be at least {least}")
        return value

    def one_of(self, key: str, allowed: Iterable[str], default: str | None = None) -> str:
        """One of the texts allowed."""
        value = self.text(key, default)
        if value not in allowed:
            raise self.wrong(key, value, f"must be one of {', '.join(allowed)}")
        return value

    def slug(self, key: str, default: str | None = None) -> str:
        """A text that can be a part of a folder's name, or the default."""
        value = self.text(key, default)
        if value != default and not SLUG.fullmatch(value):
            raise self.wrong(key, value, "names a folder: use a-z, 0-9, '.', '_' and '-'")
        return value

    def words(self, key: str, default: tuple[str, ...] | None = None) -> tuple[str, ...]:
        """A list of strings; one that is required holds at least one."""
        value = self._typed(key, list, None if default is None else list(default))
        if not all(isinstance(each, str) for each in value) or (default is None and not value):
            raise self.wrong(key, value, "must be a list of words, the program first")
        return tuple(value)

    def scalars(self) -> dict[str, Value]:
        """All of the table, which holds strings, numbers and truth values only."""
        return {key: self.scalar(key, value) for key, value in self.values.items()}

    def scalar(self, key: str, value: object) -> Value:
        """A string, a finite number or a truth value; `value` is what stands below the key."""
        if not isinstance(value, str | int | float) or (isinstance(value, float) and not math.isfinite(value)):
            raise self.wrong(key, value, "must be a string, a number or a truth value")
        return value

    def relative(self, key: str, path: str) -> str:
        """A path that stays below the folder it starts from."""
        if not path or path.startswith("/") or ".." in PurePosixPath(path).parts:
            raise self.wrong(key, path, "must be a path without a leading / and without ..")
        return path

    def wrong(self, key: str, value: object, why: str) -> FieldError:
        """What to raise where the value of a key is not as it must be."""
        return FieldError(f"`{self.prefix}{key}` is {value!r}, but {why}")

    def _typed(self, key: str, kind: type[Any], default: Any) -> Any:
        value = self.values.get(key, default)
        if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
            raise self.wrong(key, value, f"must be of type {kind.__name__}")
        return value


def refuse_nul(value: object, key: str = "") -> None:
    """Raises FieldError for a NUL byte in whatever stands below a key."""
    if isinstance(value, dict):
        for name, each in value.items():
            refuse_nul(name, key)
            refuse_nul(each, f"{key}.{name}".lstrip("."))
    elif isinstance(value, list):
        for each in value:
            refuse_nul(each, key)
    elif isinstance(value, str) and "\0" in value:
        raise FieldError(f"`{key}` holds a NUL byte, which no command line can; take it out")
