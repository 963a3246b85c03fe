"""A fact that a log states once, and how its word is read."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from perfledger.parsers.contract.clue import Sought
from perfledger.parsers.contract.conditions import Condition
from perfledger.parsers.contract.patterns import FormatError
from perfledger.schema import vocabulary

#: Meaning of each fact that a format may state, by name.
FACTS: Mapping[str, str] = MappingProxyType(
    {name: fact.meaning for name, fact in vocabulary.FACTS.items() if fact.in_log}
)
#: A count of devices, samples or steps that no job reaches.
_MORE_THAN_ANY = 10**9
#: Parameters that no model has.
_MORE_PARAMETERS = 10**15


def text(printed: bytes) -> str:
    """Decode a printed word."""
    return printed.decode("utf-8", "replace").strip()


#: A model in the cache of the Hugging Face Hub: `models--acme--tiny-lm/snapshots/` and a hash.
_CACHED = re.compile(r"/models--([\w.-]+?)--([\w.-]+)/snapshots/")

#: Folders that contain a model, and do not name it.
_UNNAMED = re.compile(
    r"(?:checkpoint|ckpt|(?:global_?)?step|iter|epoch)[-_]?[0-9]*|models?|weights|hf|huggingface|outputs?|final|merged|latest|actor",
    re.IGNORECASE,
)


def without_folders(model: str) -> str:
    """Remove the folders of a machine from the name of a model: `/data/tiny-lm` becomes `tiny-lm`.

    Redaction would remove the whole path, so that two models would have the same name. `acme/tiny-lm` is a name and stays.
    Return an empty name if the last folder may be a checkpoint of any model.
    """
    if not model.startswith(("/", "./", "../", "~/")):
        return model
    cached = _CACHED.search(model)
    name = "/".join(cached.groups()) if cached else model.rstrip("/").rpartition("/")[2]
    return "" if _UNNAMED.fullmatch(name) else name


def listed(printed: bytes) -> int:
    """Count the items of a printed, comma-separated list: `0,1,2,3` is 4."""
    return printed.count(b",") + 1


def grouped(printed: bytes) -> int:
    """Convert a whole number with separators of thousands: `1,024` is 1024."""
    return int(printed.replace(b",", b""))


def product(printed: bytes) -> int:
    """Multiply the whole numbers of a printed text: `2 processes x 4 devices` is 8."""
    return math.prod(map(int, re.findall(rb"[0-9]++", printed)))


@dataclass(frozen=True)
class Fact(Sought):
    """A fact that a log states.

    A program may print a setting several times: first from its configuration file, then as it uses it. The last value
    before the first record counts.

    Attributes:
        name: one of FACTS. Several facts of one name are tried in their order.
        pattern: a template with one `{}`, or a pattern whose group 1 is the printed word.
        read: converts the printed word; the word is ignored if this raises a ValueError. A template needs no function:
            it contains `{:int}` or `{:,}`.
        words: our words for the printed ones, such as `{b"True": "amp", b"False": "fp32"}`, instead of `read`. Other
            printed words are ignored.
        first: the first value counts, since later lines of this form mean something else, such as validation data.
        where: a condition that the session must meet, or the fact is ignored.
    """

    name: str
    pattern: str | bytes
    read: Callable[[bytes], int | str] = text
    words: Mapping[bytes, str] | None = None
    first: bool = False
    where: Condition | None = None

    def __post_init__(self) -> None:
        """Refuse an unknown name."""
        if self.name not in FACTS:
            raise FormatError(f"no such fact: {self.name}. Facts are {', '.join(FACTS)} (parsers.contract.FACTS)")

    @property
    def _reader(self) -> Callable[[bytes], int | str]:
        if self.read is text and isinstance(self.pattern, str):
            return int if "{:int}" in self.pattern else grouped if "{:,}" in self.pattern else text
        return self.read

    def value(self, printed: bytes) -> int | str | None:
        """Return the value of a printed word; None if the word is unknown or the count is impossible."""
        try:
            value = self.words.get(printed) if self.words is not None else self._reader(printed)
        except (ValueError, OverflowError):  # such as `1.2.3` or `4, ,2`, from a garbled line
            return None
        if self.name == "model" and isinstance(value, str):
            return without_folders(value) or None
        most = _MORE_PARAMETERS if self.name == "parameters" else _MORE_THAN_ANY
        return None if isinstance(value, int) and not 0 < value < most else value
